"""Units: one ASCII text for all spellings."""

from __future__ import annotations

from functools import lru_cache

from fieldassay.values.types.numbers.unit_parsing import Factors, folded, taken_apart, written
from fieldassay.values.types.numbers.unit_spellings import WHOLE

LENGTH_LIMIT = 64
"""The maximum of characters in a unit."""


def canonical_unit(text: str) -> str | None:
    """Return the ASCII text of a unit in any spelling, or None if it is unknown.

    Everything behind the first stroke or `per` is below it. Factors are in alphabetical order.

    >>> [canonical_unit(text) for text in ("m³ h⁻¹", "m3 per hour", "mg/Nm³", "°C", "Vol.-%", "boxes")]
    ['m3/h', 'm3/h', 'mg/Nm3', 'degC', 'vol%', None]
    """
    return _canonical(text) if len(text) <= LENGTH_LIMIT else None


@lru_cache(maxsize=8192)
def _canonical(text: str) -> str | None:
    unit = folded(text)
    whole = WHOLE.get(unit.lower().replace(" ", ""))
    if whole is not None:
        return whole
    found = taken_apart(unit)
    name = None if found is None else written(*found)
    return name if name is not None and taken_apart(name) == found else None  # `Sm3 Sm3` is not `Sm32`


def factors(unit: str) -> Factors:
    """Return the symbols of a canonical unit with their powers, negative below the stroke.

    >>> factors("W/(K*m2)")
    (('W', 1), ('K', -1), ('m', -2))
    """
    found = taken_apart(unit)
    if found is None:
        raise ValueError(f"not a canonical unit: {unit!r}")
    above, below = found
    return (*above, *((name, -power) for name, power in below))
