"""Units of measurement: parsing, dimensions and conversion."""

import re
from collections import Counter
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from fieldassay.values.types.numbers.amounts import AmountValue, map_amount
from fieldassay.values.types.numbers.unit_spellings import (
    ATOMS,
    COMPOUNDS,
    COUNTS,
    DEGREES,
    NORMALS,
    PERS,
    POWERS_AFTER,
    POWERS_BEFORE,
    POWERS_OF_TEN,
    PREFIX_WORDS,
    PREFIXED,
    PREFIXES,
    SCALES,
    SIDE_BY_SIDE,
    SYMBOLS,
    WHOLE,
    WORDS,
)

# Parsing of unit spellings into canonical symbols with powers, and their canonical text.

Factors = tuple[tuple[str, int], ...]
"""Canonical symbols with their powers."""
TEN = "10*"
"""The number ten as the base of powers, by its name in UCUM: `10*9/L`."""
_PER_SURFACE = ("1.73m2", 1)
_BRACKETED = frozenset(name for name in (*ATOMS, *SYMBOLS) if name[0] == "[")
_OTHERS = frozenset({"cmm", "lt", "gr"})
"""Symbols that are another unit in capitals: m³/min, a long ton, a gross."""
_WITH_PREFIX = frozenset({"L", "Ohm", "IU", "eq", "osm"})
"""Units whose other symbols take prefixes, too."""

_SUPERSCRIPTS = dict(zip(map(ord, "⁰¹²³⁴⁵⁶⁷⁸⁹⁻"), "0123456789-", strict=True))
_FOLDED = {
    **_SUPERSCRIPTS,
    **dict.fromkeys(map(ord, "\u00b5\u03bc"), "u"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    **dict.fromkeys(map(ord, "\u00b7\u22c5\u2219\u2022\u00d7"), "*"),
    **dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u200a\u202f"), " "),
    **{
        ord("\u2103"): "degC",
        ord("\u2109"): "degF",
        ord("\u2126"): "Ω",
        ord("\u2215"): "/",
        ord("\u2044"): "/",
        ord("\u33a5"): "m3",
        ord("\u33a1"): "m2",
    },
}
_DEGREES = re.compile(
    r"(?:[°º˚]|\bdeg(?:\.|rees?)?|\bgrad|\bgrados?|\bdegrés?)[ ]*(celsius|fahrenheit|c|f)(?![a-z])",
    re.IGNORECASE,
)
_STROKE = re.compile(
    rf"(?:(?<! )[ ]++)?/[ ]*+|(?:^|(?<! )[ ]++)(?:{'|'.join(sorted(PERS))})[ ]++"
    r"|(?<! )[ ]++an?[ ]++(?=(?:second|minute|hour|day|week|month|year)\b)",
    re.IGNORECASE,
)
_POWER = re.compile(r"([^\d]*[^\d-])(-?\d)\Z")
_CLOSE = re.compile(r"([⁰¹²³⁴⁵⁶⁷⁸⁹])(?=[a-zA-Zµμ°Ω])")
_TEN = re.compile(
    r"(?:(?<![xX×*·⋅✕])[×*·⋅✕][ ]?|(?<![\w.,×*·⋅✕])(?:[xX][ ]?)?)10"
    r"(?:[ ]?(?:\^|\*\*)[ ]?\+?([-−]?[1-9]\d?)|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})"
    r"|(?:\*|[eE]\+?)([-−]?[1-9]\d?)(?=[ ]*(?:[/*.{]|\Z|per[ ]|cells?\b)))(?!\d)(?:\.(?=[a-zA-Z\[]))?"
)
_TENTH = "⏨"
"""The mark of a power of ten in a folded unit."""
_BODY_SURFACE = re.compile(r"1[.,]73[ ]?[*.]?[ ]?(?:m(?:[2²]|\^2|\*\*2)|sq\.?[ ]?m|qm)|\{1\.73_m2\}")
_ANNOTATION = re.compile(r"\{[^{}\s]*\}")
_DAY = re.compile(r"(?<=/)[ ]?(?:\(24\.h\)|24[ .]?(?:h(?:rs?|ours?)?\b))")
_CELLS = re.compile(
    r"(?:\A|(?<![ *])[ *]++|(?<=\d))(?:cells?|zellen?|cellules?|células?|#)[ ]*+\Z|(?<=\b[GTM])(?-i:pt)\Z",
    re.IGNORECASE,
)
_ODOR_UNITS = re.compile(r"\b(?:european )?odou?r[ ]+units?\b", re.IGNORECASE)
_CAPITALS = re.compile(r"(?<![^\W\d_])(?:[GTMD]|\AH|[MP][A-Za-z]+|Cal(?:ories?)?)(?![^\W_])")
_BRACED_POWER = re.compile(r"\^\{([+-]?\d{1,9})\}")
_HYPHEN = re.compile(r"(?<=[a-zA-Z])-(?=[a-zA-Z])")


def folded(text: str) -> str:
    """Return a unit's text in ASCII where possible.

    Powers follow their symbols, every dot is `*`, degrees are `degC` and `degF`. A power of ten is marked;
    annotations of UCUM in braces are dropped, as UCUM says that they have no meaning.

    >>> folded("W/m²·K"), folded("° C"), folded("odor units/m³"), folded("x10⁹{cells}/L")
    ('W/m2*K', 'degC', 'ou/m3', '⏨9 /L')
    """
    text = _BRACED_POWER.sub(r"^\1", text)
    text = _ANNOTATION.sub("", _DAY.sub("d", _BODY_SURFACE.sub("1.73m2", text)))
    text = _TEN.sub(lambda match: f" {_TENTH}{match[1] or match[2] or match[3]} ".replace("⁺", ""), text)
    text = _CLOSE.sub(r"\1*", text)
    plain = text.translate(_FOLDED).strip().replace("**", "").replace("^", "")
    if plain[:1] == "[" and plain[-1:] == "]" and "]" not in plain[:-1] and plain not in _BRACKETED:
        plain = plain[1:-1].strip()
    return _DEGREES.sub(lambda match: DEGREES[match[1].lower()], _ODOR_UNITS.sub("ou", plain))


def taken_apart(unit: str) -> tuple[Factors, Factors] | None:
    """Return the factors above and below the stroke of a folded unit, all powers positive.

    None if a part is unknown.

    >>> taken_apart("mg Nm-3")
    ((('mg', 1),), (('Nm3', 1),))
    """
    above, below = Counter[str](), Counter[str]()
    for place, side in enumerate(_counted(_STROKE.split(unit))):
        if place and side[:1] == "(" and side[-1:] == ")":
            side = side[1:-1]
        product = () if (side.strip() in ("1", "") and not place) else _product(side, is_below=place > 0)
        if product is None or (place and not product):
            return None
        for name, power in product:
            (above if (power > 0) == (place == 0) else below)[name] += abs(power)
    return _watt_hours(tuple(sorted(above.items(), key=_order)), above), tuple(
        sorted(below.items(), key=_order)
    )


def _counted(sides: list[str]) -> list[str]:
    """Return the sides of a stroke, with a power of ten for the word or prefix of a count in a volume."""
    if len(sides) != 2:
        return sides
    head, volume = _CELLS.sub("", sides[0]).strip(), written(_product(sides[1]) or (), ())
    power = POWERS_OF_TEN.get(head.lower().removesuffix("."))
    if volume in ("L", "uL", "mm3") or (volume == "mL" and head in ("k", "K", "M")):
        power = COUNTS.get(head, power)
    if power is not None:
        return [f"{_TENTH}{power}", sides[1]]
    return [head, sides[1]] if not head or head[0] == _TENTH else sides


def _order(factor: tuple[str, int]) -> tuple[str, str]:
    return factor[0].casefold(), factor[0]


def _watt_hours(above: Factors, counts: Counter[str]) -> Factors:
    watt = next((name for name in counts if name[-1:] == "W" and counts[name] == counts["h"] == 1), None)
    if watt is None:
        return above
    return tuple(
        sorted(
            ((name + "h" if name == watt else name, power) for name, power in above if name != "h"),
            key=_order,
        )
    )


def _product(side: str, *, is_below: bool = False) -> Factors | None:
    """Return the factors of one side of a stroke, with their powers as written.

    Two units side by side are a product behind a stroke, with a negative power, and in the few pairs that
    people write so (`kW h`); `mg L` may have lost its stroke, and `m V` may be one unit.
    """
    factors = _HYPHEN.sub("*", side).split("*")
    if not all(map(str.strip, factors)):
        return None
    words = " ".join(factors).split()
    joints = {len(" ".join(factors[:at]).split()) for at in range(1, len(factors))}
    before: Factors = ()
    product: list[tuple[str, int]] = []
    raised, normal = 1, ""
    for at, word in enumerate(words):
        after = POWERS_AFTER.get(word.lower())
        if product and after and product[-1][1] == 1:
            product[-1] = (product[-1][0], after)
        elif product and word in NORMALS and product[-1] == ("m", 3):
            product[-1] = ("Nm3", 1)
        elif word in NORMALS and word is not words[-1] and not normal:
            normal = word
        elif word.lower() in POWERS_BEFORE and raised == 1:
            raised = POWERS_BEFORE[word.lower()]
        else:
            atoms = _atoms(word)
            if atoms is None:
                return None
            if raised != 1:
                atoms, raised = tuple((name, power * raised) for name, power in atoms), 1
            if before and not is_below and at not in joints and not _may_stand_side_by_side(before, atoms):
                return None
            before = atoms
            product.extend(atoms)
    return _normalized(product, normal) if raised == 1 else None


def _may_stand_side_by_side(left: Factors, right: Factors) -> bool:
    if any(name == TEN or power < 0 for name, power in (*left, *right)):
        return True
    return (_without_prefix(left[-1][0]), _without_prefix(right[0][0])) in SIDE_BY_SIDE


def _without_prefix(symbol: str) -> str:
    return symbol if symbol in ATOMS or symbol in PREFIXED or symbol[1:] not in PREFIXED else symbol[1:]


def _normalized(product: list[tuple[str, int]], word: str) -> Factors | None:
    """Return the factors, with a normal cubic meter for the plain one if a word says so.

    A lone `N` beside anything else is a newton.
    """
    if not word:
        return tuple(product)
    if ("m", 3) in product:
        product[product.index(("m", 3))] = ("Nm3", 1)
        return tuple(product)
    return (("N", 1), *product) if word == "N" else None


def _atoms(word: str) -> Factors | None:
    """Return the factors of one word: with a power (`m3`, `h-1`) or a compound (`Nm`, `Kubikmeter`)."""
    if word[0] == _TENTH:
        return ((TEN, int(word[1:])),) if int(word[1:]) else None
    whole = _looked_up(word) or _looked_up(word.removesuffix("."))
    if whole is not None:
        return tuple((_base(part)) for part in whole.split("*"))
    if "." in word[1:-1]:
        parts = [_atoms(part) for part in word.split(".") if part]
        return None if None in parts else tuple(factor for part in parts for factor in part or ())
    if word.lower() == "normkubikmeter":
        return (("Nm3", 1),)
    for start, meaning in COMPOUNDS.items():
        if word.lower().startswith(start):
            length = _looked_up(word[len(start) :].lower())
            if length is not None:
                return ((length, meaning),)
    match = _POWER.match(word)
    if match is None or match[2] in ("0", "-0", "1"):  # `m1` may be `ml`
        return None
    power = int(match[2])
    if match[1] in ("Nm", "Sm") and abs(power) == 3:
        return ((match[1] + "3", power // 3),)
    name = _looked_up(match[1])
    if name is None or "*" in name:
        return None
    base, own = _base(name)
    return ((base, own * power),)


def _base(symbol: str) -> tuple[str, int]:
    """Return a canonical symbol and its power: `cm3` is `cm` to the third, `Nm3` is one symbol."""
    match = _POWER.match(symbol)
    return (symbol, 1) if match is None or symbol in ATOMS else (match[1], int(match[2]))


@lru_cache(maxsize=4096)
def _looked_up(name: str) -> str | None:
    """Return the canonical symbol of one symbol or word."""
    if name in SYMBOLS:
        return SYMBOLS[name]
    if name in ATOMS or name in PREFIXED:
        return name
    small = name.lower()
    symbol = _prefixed(name) or _worded(small)
    if symbol is None and (name.isupper() or name[1:] == small[1:]):  # `mI` is no mile
        symbol = small if small in ATOMS or small in PREFIXED else WORDS.get(small) or _in_capitals(small)
    if symbol is None and name.isupper() and name.capitalize() not in SYMBOLS:  # `NM` may be `Nm`
        symbol = _prefixed(small)
    return symbol


def _in_capitals(small: str) -> str | None:
    """Return the symbol of a unit in the capitals of invoices (`KGS`, `Sqft`), if they say nothing else."""
    return SYMBOLS.get(small) if len(small) > 1 and small.isalpha() and small not in _OTHERS else None


def _prefixed(name: str) -> str | None:
    for start, prefix in PREFIXES.items():
        rest = name.removeprefix(start)
        base = SYMBOLS.get(rest, rest) if rest != name else ""
        if base in PREFIXED and (rest == base or base in _WITH_PREFIX):
            return prefix + base
    return None


def is_doubtful(unit: str) -> bool:
    """Return whether a folded unit was read in small letters, and may mean what its capitals say.

    `MG` may be a megagram, `T` a tesla, `Calories` are kilocalories or not.

    >>> [is_doubtful(unit) for unit in ("MG", "T/h", "M3/H", "Mg", "MIN", "250 Calories")]
    [True, True, False, False, False, True]
    """
    words = [match[0] for match in _CAPITALS.finditer(unit)]
    names = [(word, _looked_up(word) or "") for word in words]
    return any(
        len(word) == 1
        or word[0] == "C"
        or (name[0] != word[0] and name[1:] in PREFIXED and name.lower() == word.lower())
        for word, name in names
        if name
    )


def _worded(word: str) -> str | None:
    for start, prefix in PREFIX_WORDS.items():
        base = WORDS.get(word[len(start) :]) if word.startswith(start) else None
        if base in PREFIXED:
            return f"{prefix}{base}"
    return None


def without_ten(unit: str) -> tuple[int, str | None]:
    """Return the power of ten in a canonical unit, and the unit without it; None if nothing is left.

    >>> without_ten("10*9/L"), without_ten("10*3"), without_ten("mg/L")
    ((9, '1/L'), (3, None), (0, 'mg/L'))
    """
    sides = taken_apart(folded(unit)) if TEN in unit else None
    if sides is None:
        return 0, unit
    above, below = (dict(side) for side in sides)
    power = above.pop(TEN, 0) - below.pop(TEN, 0)
    return power, written(tuple(above.items()), tuple(below.items()))


def written(above: Factors, below: Factors) -> str | None:
    """Return the canonical text of a unit; None without factors.

    >>> written((("kJ", 1),), (("K", 1), ("kg", 1)))
    'kJ/(K*kg)'
    """
    if not above and not below:
        return None
    top = "*".join(map(_raised, above)) or "1"
    if not below:
        return top
    if _PER_SURFACE in below:
        rest = written(above, tuple(factor for factor in below if factor != _PER_SURFACE)) or "1"
        return f"{rest}/{_PER_SURFACE[0]}"
    bottom = "*".join(map(_raised, below))
    return f"{top}/({bottom})" if len(below) > 1 else f"{top}/{bottom}"


def _raised(factor: tuple[str, int]) -> str:
    name, power = factor
    return name if power == 1 and name != TEN else f"{name}{power}"


# Units: one ASCII text for all spellings.

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
    sides = taken_apart(unit)
    name = None if sides is None else written(*sides)
    if name is None or taken_apart(folded(name)) != sides:  # `Sm3 Sm3` is not `Sm32`
        return None, ()
    return name, ("ambiguous",) if name[:3] != "10*" and is_doubtful(unit) else ()


def factors(unit: str) -> Factors:
    """Return the symbols of a canonical unit with their powers, negative below the stroke.

    >>> factors("W/(K*m2)")
    (('W', 1), ('K', -1), ('m', -2))
    """
    sides = taken_apart(folded(unit))
    if sides is None:
        raise ValueError(f"not a canonical unit: {unit!r}")
    above, below = sides
    return (*above, *((name, -power) for name, power in below))


# Conversion between units: factor and offset.

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
        quantity = registry.Quantity(Decimal(1), registry.UnitsContainer(dict(origin))).to(
            registry.UnitsContainer(dict(target))
        )
    except pint.DimensionalityError:
        return None
    return Decimal(quantity.magnitude)


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(non_int_type=Decimal)
    registry.define("water_millimeter = 9.80665 * pascal")
    registry.define("water_centimeter = 98.0665 * pascal")
    return registry
