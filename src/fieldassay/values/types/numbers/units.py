"""Units: one ASCII text for all spellings."""

from __future__ import annotations

from functools import lru_cache

from fieldassay.values.types.numbers.unit_parsing import Factors, folded, is_doubtful, taken_apart, written
from fieldassay.values.types.numbers.unit_spellings import WHOLE

LENGTH_LIMIT = 64
"""The maximum of characters in a unit."""


def canonical_unit(text: str) -> str | None:
    """Return the ASCII text of a unit in any spelling, or None if it is unknown.

    Everything behind the first stroke or `per` is below it. Factors are in alphabetical order.

    >>> [canonical_unit(text) for text in ("m³ h⁻¹", "m3 per hour", "mg/Nm³", "°C", "Vol.-%", "boxes")]
    ['m3/h', 'm3/h', 'mg/Nm3', 'degC', 'vol%', None]
    """
    return _canonical(text)[0] if len(text) <= LENGTH_LIMIT else None


def unit_flags(text: str) -> tuple[str, ...]:
    """Return the flag of a unit that its letter case makes doubtful.

    >>> unit_flags("MG/dL"), unit_flags("mg"), unit_flags("G/L")
    (('ambiguous',), (), ())
    """
    return _canonical(text)[1] if len(text) <= LENGTH_LIMIT else ()


@lru_cache(maxsize=8192)
def _canonical(text: str) -> tuple[str | None, tuple[str, ...]]:
    unit = folded(text)
    whole = WHOLE.get(unit.lower().replace(" ", ""))
    if whole is not None:
        return whole, ()
    found = taken_apart(unit)
    name = None if found is None else written(*found)
    if name is None or taken_apart(folded(name)) != found:  # `Sm3 Sm3` is not `Sm32`
        return None, ()
    return name, ("ambiguous",) if name[:3] != "10*" and is_doubtful(unit) else ()


def factors(unit: str) -> Factors:
    """Return the symbols of a canonical unit with their powers, negative below the stroke.

    >>> factors("W/(K*m2)")
    (('W', 1), ('K', -1), ('m', -2))
    """
    found = taken_apart(folded(unit))
    if found is None:
        raise ValueError(f"not a canonical unit: {unit!r}")
    above, below = found
    return (*above, *((name, -power) for name, power in below))
