"""Conversion between units: factor and offset."""

from __future__ import annotations

from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from fieldassay.values.types.numbers.amounts import AmountValue, map_amount
from fieldassay.values.types.numbers.unit_parsing import TEN
from fieldassay.values.types.numbers.unit_spellings import ATOMS, PREFIXED, SCALES
from fieldassay.values.types.numbers.units import canonical_unit, factors

PRECISION = 20
"""Significant digits of converted amounts: enough to hide the rounding of factors such as 1/3600."""

_WORKING = Context(prec=60, Emax=999999, Emin=-999999, traps=[])
_ROUNDED = Context(prec=PRECISION, Emax=999999, Emin=-999999, traps=[])
_PREFIXES = MappingProxyType(
    {
        "f": ("femto", "1E-15"), "p": ("pico", "1E-12"),
        "n": ("nano", "1E-9"), "u": ("micro", "1E-6"), "m": ("milli", "1E-3"), "c": ("centi", "1E-2"),
        "d": ("deci", "1E-1"), "h": ("hecto", "1E+2"), "k": ("kilo", "1E+3"), "M": ("mega", "1E+6"),
        "G": ("giga", "1E+9"), "T": ("tera", "1E+12"),
    }
)  # fmt: skip
_KELVINS = MappingProxyType(
    {
        "K": (Fraction(1), Fraction(0)),
        "degC": (Fraction(1), Fraction(27315, 100)),
        "degF": (Fraction(5, 9), Fraction(45967, 180)),
    }
)


@lru_cache(maxsize=4096)
def conversion(from_unit: str, to_unit: str) -> tuple[Decimal, Decimal] | None:
    """Return (factor, offset) with `y = x * factor + offset`, or None for incompatible units.

    `x` is in `from_unit`, `y` in `to_unit`; any spelling known to `canonical_unit` is accepted. Normal and
    standard cubic meters, gauge pressures, every sort of percentage, odor units and counts convert only to
    themselves; ppm and ppb to each other. A year has 365.25 days. Factors are exact where a decimal can be,
    else rounded to 28 digits.

    >>> conversion("L/min", "m3/h"), conversion("degC", "degF"), conversion("Nm3/h", "m3/h")
    ((Decimal('0.06'), Decimal('0')), (Decimal('1.8'), Decimal('32')), None)
    """
    origin, target = canonical_unit(from_unit), canonical_unit(to_unit)
    if origin is None or target is None:
        return None
    if origin == target:
        return Decimal(1), Decimal(0)
    if origin in _KELVINS and target in _KELVINS:
        return _temperature(origin, target)
    own, physical, scale = _sized(origin)
    other, wanted, other_scale = _sized(target)
    if own != other:
        return None
    factor = _physical_factor(physical, wanted)
    return None if factor is None else (_tidy(scale / other_scale * factor), Decimal(0))


def convert(amount: AmountValue, steps: tuple[Decimal, Decimal]) -> AmountValue:
    """Return a converted amount, rounded to `PRECISION` digits.

    >>> convert(Decimal(18), conversion("m3/h", "m3/s"))
    Decimal('0.005')
    """
    factor, offset = steps
    if factor == 1 and offset == 0:
        return amount

    def converted(number: Decimal) -> Decimal:
        exact = _WORKING.add(_WORKING.multiply(number, factor), offset)
        return _tidy(_ROUNDED.plus(exact)) if len(exact.as_tuple().digits) > PRECISION else exact

    return map_amount(converted, amount)


def _tidy(number: Decimal) -> Decimal:
    normal = _WORKING.normalize(number)
    _, _, power = normal.as_tuple()
    return _WORKING.quantize(normal, Decimal(1)) if 0 < int(power) <= PRECISION else normal


def _temperature(origin: str, target: str) -> tuple[Decimal, Decimal]:
    (scale, zero), (other_scale, other_zero) = _KELVINS[origin], _KELVINS[target]
    factor, offset = scale / other_scale, (zero - other_zero) / other_scale
    return tuple(_tidy(Decimal(part.numerator) / Decimal(part.denominator)) for part in (factor, offset))  # type: ignore[return-value]


def _sized(unit: str) -> tuple[Counter[str], Counter[str], Decimal]:
    """Return a unit's own dimensions, its physical factors as pint names, and its size.

    The size is in the smallest units of the own dimensions.
    """
    own, physical, scale = Counter[str](), Counter[str](), Decimal(1)
    for symbol, power in factors(unit):
        if symbol == TEN:
            scale *= Decimal(10) ** power
            continue
        name, prefix = _named(symbol)
        if name[0] != "[":
            physical[_PREFIXES[prefix][0] + name if prefix else name] += power
            continue
        own[name] += power
        scale *= (Decimal(SCALES.get(symbol, "1")) * Decimal(_PREFIXES[prefix][1] if prefix else 1)) ** power
    return own, physical, scale


def _named(symbol: str) -> tuple[str, str]:
    """Return the pint name (or own dimension) of a symbol without its prefix, and the prefix."""
    whole = ATOMS.get(symbol) or PREFIXED.get(symbol)
    return (whole, "") if whole else (PREFIXED[symbol[1:]], symbol[0])


def _physical_factor(origin: Counter[str], target: Counter[str]) -> Decimal | None:
    if origin == target:
        return Decimal(1)
    import pint

    registry = _registry()
    try:
        found = registry.Quantity(Decimal(1), registry.UnitsContainer(dict(origin))).to(
            registry.UnitsContainer(dict(target))
        )
    except pint.DimensionalityError:
        return None
    return Decimal(found.magnitude)


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Decimal)
    registry.define("water_millimeter = 9.80665 * pascal")
    registry.define("water_centimeter = 98.0665 * pascal")
    return registry
