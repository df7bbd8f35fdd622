"""Numbers and quantities with a unit, read from text."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from functools import lru_cache
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import (
    Column,
    Reader,
    Reading,
    UnreadableError,
    unreadable,
)
from fieldassay.values.types.locales import Convention, convention
from fieldassay.values.types.numbers.amounts import (
    MIN_NOISY,
    WIDE,
    AmountValue,
    FormReader,
    Money,
    NumberRange,
    Quantity,
    Signs,
    canonical_amount,
    canonical_money,
    canonical_quantity,
    check_signs,
    decimal_of,
    doubts,
    float_column,
    has_noise,
    json_number,
    looks_like_fraction,
    map_amount,
    remedy,
    stripped,
    without_noise,
)
from fieldassay.values.types.numbers.unit_spellings import POWERS_OF_TEN
from fieldassay.values.types.numbers.units import canonical_unit, conversion, convert, unit_flags, without_ten

# The meaning of the separators inside one run of digits.

_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]{1,2}|\.[0-9]{4,})?\Z")
_THREES = re.compile(r"[1-9][0-9]{0,2}(?P<separator>[.,' ٬])[0-9]{3}(?:(?P=separator)[0-9]{3})*\Z")
_INDIAN = re.compile(r"[1-9][0-9]?,(?:[0-9]{2},)+[0-9]{3}\Z")
_DIGITS = re.compile(r"[0-9]*\Z")
_SHOWN = 40


def shown(text: str) -> str:
    """Return a text as quoted in messages: in quotes, escaped, cut after 40 characters.

    >>> shown("kg")
    "'kg'"
    """
    cut = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
    return repr(cut)


@lru_cache(maxsize=4096)
def resolve(run: str, convention: Convention) -> tuple[Decimal, bool]:
    """Return the number of a run of digits and separators, and whether only the convention decided it.

    Raises `UnreadableError` for a malformed run.

    >>> [resolve(run, Convention()) for run in ("5.000,50", "12,34,567")], resolve("5.000", Convention(","))
    ([(Decimal('5000.50'), False), (Decimal('1234567'), False)], (Decimal('5000'), True))
    """
    if _PLAIN.match(run):
        return Decimal(run), False
    grouped = _ungrouped(run)
    pointed = _split(run)
    if grouped is not None and pointed is not None:
        separator = run.strip("0123456789")
        is_grouping = convention.groups_first or separator != convention.decimal
        return (grouped if is_grouping else pointed), True
    number = grouped if grouped is not None else pointed
    if number is None:
        raise UnreadableError(f"separators that group no number: {shown(run)}")
    return number, False


def _ungrouped(run: str) -> Decimal | None:
    """Return the whole number of a well-grouped run, else None."""
    if _THREES.match(run) or _INDIAN.match(run):
        return Decimal("".join(filter(str.isdigit, run)))
    return Decimal(run) if run.isdigit() else None


def _split(run: str) -> Decimal | None:
    """Return the number of a run whose last separator is the decimal one, else None."""
    position = max(run.rfind(mark) for mark in ".,٫")
    if position < 0:
        return None
    whole, fraction = run[:position], run[position + 1 :]
    if run[position] in whole or not _DIGITS.match(fraction):
        return None
    number = Decimal(0) if not whole else _ungrouped(whole)
    return None if number is None else Decimal(f"{number}.{fraction or 0}")


# Numbers in text: characters folded to one spelling, then numerals with any separators and scripts.

LENGTH_LIMIT = 200
"""The maximum of characters in a number."""
EXPONENT_LIMIT = 6144
"""The largest power of ten, either way (the range of IEEE decimal128)."""

DASHES = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"
_APOSTROPHES = "\u2018\u2019\u02bc\u2032`\u00b4\uff07"
_INVISIBLE = "\u200b\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
_SPELLED = {
    **dict.fromkeys(map(ord, DASHES), "-"),
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _INVISIBLE)),
    **{
        ord("\uff0c"): ",",
        ord("\uff0e"): ".",
        ord("\uff0b"): "+",
        ord("\uff05"): "%",
        ord("\u066a"): "%",
        ord("\u2044"): "/",
        ord("\u2215"): "/",
    },
}

_POWER = r"(?:\^|\*\*)[ ]?(?P<{0}>[+-]?\d{{1,9}})|(?P<{1}>[⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{{1,9}})"
_NUMERAL = re.compile(
    rf"10(?:{_POWER.format('bare_caret', 'bare_super')})"
    r"|(?P<run>(?:[.,٫](?=\d))?\d+(?:[.,'٫٬]\d+|[ ]\d{3}(?!\d))*)"
    r"(?:(?P<dash>[.,:]-{1,2}(?!\d))|(?P<point>\.(?![.\d]))?)"
    rf"(?:[eE](?P<e>[+-]?\d{{1,9}})(?!\d)|[ ]?[x×*·⋅✕][ ]?10(?:{_POWER.format('caret', 'super')}))?"
)
_FRACTION = re.compile(
    r"(?:(?P<whole>\d{1,9})[ ]+)?(?P<top>\d{1,3})(?P<stroke>⁄|[ ]?/[ ]?)(?P<bottom>\d{1,3})(?![\d/.,⁄])"
)
STROKE = re.compile(r"(?<=[^ /])[ ]*/[ ]*(?=[+-]?[.,٫]?\d)")
"""The stroke between two values."""
_RANGE = re.compile(
    r"[ ]*(?:-|\.{2,3}|…|~|〜|(?:to|bis|à|a|hasta|until)(?= ))[ ]*(?=[+-]?[.,٫]?\d)", re.IGNORECASE
)
_TOLERANCE = re.compile(r"[ ]*(?:±|\+/-|\+-)[ ]*(?=[.,٫]?\d)")
_SIGN = re.compile(r"[+-][ ]?")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")

_THIRDS = Context(prec=28)
_EXACT = Context(prec=LENGTH_LIMIT, traps=[])


class Numeral(Struct, frozen=True):
    """A number found in a text, and its end.

    `is_ambiguous` means that only a convention decided the meaning of its separator. `power` is the power of
    ten that is written behind its digits.
    """

    value: Decimal
    end: int
    is_ambiguous: bool = False
    power: int = 0


class Amount(Struct, frozen=True):
    """A number or a range at the start of a text, or several numbers, and the trimmed rest."""

    value: AmountValue
    rest: str
    is_ambiguous: bool = False


def fold(text: str) -> str:
    """Return a short text with one spelling of digits, spaces, dashes and apostrophes.

    Invisible marks are removed, and vulgar fractions written out: no other text has their stroke (U+2044).

    >>> fold("−١٬٢٣٤٫٥"), fold("1½ kg")
    ('-1٬234٫5', '1 1⁄2 kg')
    """
    if len(text) > LENGTH_LIMIT:
        raise UnreadableError(f"longer than {LENGTH_LIMIT} characters")
    if "\\" in text or "{," in text or "^{" in text:
        text = _without_latex(text)
    if text.isascii():
        return text.strip(" ")
    return "".join(map(_folded, text.translate(_SPELLED))).strip(" ")


_BRACED_POWER = re.compile(r"\^\{([^{}\\]*)\}")
_MATH = re.compile(r"\$(?=.*[\\{])(?P<dollars>.*)\$|\\[(\[](?P<brackets>.*)\\[)\]]", re.DOTALL)
_LATEX = re.compile(r"\^\{?\\(?:circ|degree)\b\}?|\\(?:text|mathrm|mathbf)\b|\\(?P<name>[A-Za-z]+|.)|[{}]")
_COMMANDS = {
    **dict.fromkeys((",", ";", ":", " ", "quad"), " "), "!": "", "times": "x",
    "cdot": "·", "pm": "±", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "lt": "<", "gt": ">", "degree": "°",
}  # fmt: skip


def _without_latex(text: str) -> str:
    r"""Return a text without the marks of LaTeX; a command that is not known stays as it is.

    >>> [_without_latex(text) for text in (r"$\$ 6{,}000.00$", r"5 \times 10^{9}", r"20^{\circ}C")]
    ['$ 6,000.00', '5 x 10^9', '20°C']
    """

    def read(command: re.Match[str]) -> str:
        name = command["name"]
        if name is None:
            return "°" if command[0][:1] == "^" else ""
        return name if name in "$%&#" else _COMMANDS.get(name, command[0])

    if text.count("{") != text.count("}"):
        return text
    math = _MATH.fullmatch(text.strip())
    plain = (math["dollars"] or math["brackets"] or "") if math else text
    return _LATEX.sub(read, _BRACED_POWER.sub(r"^\1 ", plain).replace("~", " ")).strip()


def _folded(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    if unicodedata.category(char) == "Zs":
        return " "
    if unicodedata.decomposition(char).startswith("<fraction>"):
        return " " + unicodedata.normalize("NFKC", char)
    return char


def signed_at(text: str, start: int, convention: Convention) -> Numeral:
    """Return the numeral, signed or not, at a position of a folded text; raises `UnreadableError`."""
    sign = _SIGN.match(text, start)
    numeral = numeral_at(text, sign.end() if sign else start, convention)
    if sign and sign[0][0] == "-":
        return replace(numeral, value=numeral.value.copy_negate())
    return numeral


def numeral_at(text: str, start: int, convention: Convention) -> Numeral:
    """Return the unsigned numeral at a position of a folded text; raises `UnreadableError`."""
    fraction = _fraction(text, start)
    if fraction is not None:
        return fraction
    match = _NUMERAL.match(text, start)
    if match is None:
        raise UnreadableError(
            f"does not start with a number: {shown(text[start:])}" if text[start:] else "there is no number"
        )
    if not match["run"]:
        return Numeral(_shift(Decimal(1), _exponent(match["bare_caret"] or match["bare_super"])), match.end())
    exponent = match["e"] or match["caret"] or match["super"]
    run = match["run"] + (
        f"{match['dash'][0]}00".replace(":", ",") if match["dash"] else match["point"] or ""
    )
    value, is_ambiguous = resolve(run, Convention(run_decimal(run)) if exponent else convention)
    is_ambiguous |= match["e"] is not None and not match["e"].strip("0")  # an `e` that changes nothing
    power = _exponent(exponent) if exponent else 0
    if not power and len(run) > MIN_NOISY and has_noise(value):
        value, is_ambiguous = decimal_of(without_noise(float(value))), True
    return Numeral(_shift(value, power) if power else value, match.end(), is_ambiguous, power)


def run_decimal(run: str) -> str:
    """Return the decimal separator of a mantissa.

    The only separator before an exponent is decimal in every locale.
    """
    return "," if "," in run and "." not in run else "."


def check_single(text: str, start: int = 0) -> None:
    """Raise `UnreadableError` for a folded text of several values with strokes between them."""
    if "/" in text and STROKE.search(text, start):
        raise UnreadableError(f"several values where one is expected: {shown(text)}")


_BOUNDS = {
    sign: bound
    for bound, signs in {
        "<": "<|less than|under|below|kleiner als|kleiner|weniger als|unter|moins de|menos de",
        "≤": "≤|⩽|<=|=<|up to|at most|bis zu|höchstens|max.|au plus|como máximo",
        ">": ">|more than|greater than|over|above|größer als|größer|mehr als|über|plus de",
        "≥": "≥|⩾|>=|=>|at least|mindestens|min.|au moins|al menos|como mínimo",
    }.items()
    for sign in signs.split("|")
}
"""Signs and words before a number that is the end of what a value may be."""
_BOUND = re.compile(
    rf"({'|'.join(map(re.escape, sorted(_BOUNDS, key=len, reverse=True)))})[ ]*(?=[+-]?[.,٫]?\d)",
    re.IGNORECASE,
)
_BASIS_POINTS = re.compile(r"(bps)|bp|basis[ -]points?", re.IGNORECASE)
"""`bps` may be bits per second."""


def amount(text: str, convention: Convention) -> Amount:
    """Return the number, range, tolerance or bound at the start of a folded text.

    Ranges are `100-500` and `100 to 500`, tolerances `20±5` and `50 ±10%`, which is a share of 50: doubtful
    without a unit behind it. Bounds are `<0.5` and `at least 3`. Basis points are hundredths of a percent.
    Raises `UnreadableError`.
    """
    bound = None if text[:1].isdecimal() else _BOUND.match(text)
    number = _interval(text[bound.end() :] if bound else text, convention)
    if bound:
        if not isinstance(number.value, Decimal):
            raise UnreadableError("a bound of a range")
        sign = _BOUNDS[bound[1].lower()]
        low, high = (None, number.value) if sign in "<≤" else (number.value, None)
        number = replace(number, value=NumberRange(low, high, is_strict=sign in "<>"))
    basis = _BASIS_POINTS.fullmatch(number.rest) if number.rest[:1] in ("b", "B") else None
    if basis:
        doubt = number.is_ambiguous or bool(basis[1])
        number = Amount(map_amount(hundredth, number.value), "%", doubt)
    return number


def _interval(text: str, convention: Convention) -> Amount:
    """Return the number, range or tolerance at the start of a folded text; raises `UnreadableError`."""
    first = signed_at(text, 0, convention)
    margin = _TOLERANCE.match(text, first.end)
    if margin:
        second = numeral_at(text, margin.end(), convention)
    elif to := _RANGE.match(text, first.end):
        second = signed_at(text, to.end(), convention)
    else:
        return Amount(first.value, text[first.end :].strip(" "), first.is_ambiguous)
    low, is_doubtful = _with_power(first, second, is_tolerance=margin is not None)
    rest = text[second.end :].strip(" ")
    if margin and rest[:1] == "%":
        rest = rest[1:].strip(" ")
        value, is_doubtful = around(low, share(low, second.value)), is_doubtful or not rest
    else:
        value = around(low, second.value) if margin else ordered(low, second.value)
    return Amount(value, rest, first.is_ambiguous or second.is_ambiguous or is_doubtful)


def _with_power(first: Numeral, second: Numeral, *, is_tolerance: bool) -> tuple[Decimal, bool]:
    """Return the first of two numbers, times a power of ten that is written behind both, and any doubt.

    `4-11 x10^9` has the power at both ends, since 4 is less than 11. In `500-1 x10^3` only the second has it
    for certain.
    """
    if not second.power or first.power:
        return first.value, False
    mantissa = _shift(second.value, -second.power)
    is_shared = abs(first.value) >= mantissa if is_tolerance else first.value <= mantissa
    return (_shift(first.value, second.power), False) if is_shared else (first.value, bool(first.value))


def share(value: Decimal, percent: Decimal) -> Decimal:
    """Return the percentage of a value, without its sign.

    >>> share(Decimal(-50), Decimal(10))
    Decimal('5.00')
    """
    return hundredth(_EXACT.multiply(value.copy_abs(), percent))


def around(middle: Decimal, margin: Decimal) -> NumberRange:
    """Return the range of a tolerance; raises `UnreadableError` for a negative margin."""
    return ordered(_EXACT.subtract(middle, margin), _EXACT.add(middle, margin), is_tolerance=True)


def ordered(low: Decimal, high: Decimal, *, is_tolerance: bool = False) -> NumberRange:
    """Return the range; raises `UnreadableError` if `low` is above `high`."""
    if low > high:
        raise UnreadableError(f"a range from {low} down to {high}")
    return NumberRange(low, high, is_tolerance)


def _fraction(text: str, start: int) -> Numeral | None:
    match = _FRACTION.match(text, start) if "/" in text or "⁄" in text else None
    if match is None:
        return None
    whole, top, bottom = (int(match[name] or 0) for name in ("whole", "top", "bottom"))
    if match["stroke"] != "⁄" and not looks_like_fraction(top, bottom):
        return None
    return Numeral(_THIRDS.divide(Decimal(whole * bottom + top), Decimal(bottom)), match.end())


def _exponent(text: str) -> int:
    exponent = int(text.translate(_SUPERSCRIPTS))
    if abs(exponent) > EXPONENT_LIMIT:
        raise UnreadableError(f"a power of ten beyond {EXPONENT_LIMIT}")
    return exponent


def _shift(value: Decimal, exponent: int) -> Decimal:
    sign, digits, power = value.as_tuple()
    return Decimal((sign, digits, int(power) + exponent))


# The readers of numbers and of whole numbers.


def whole_amount(text: str, options: Convention) -> tuple[Amount, bool]:
    """Return the number of the folded text, and whether it is a percentage.

    Besides the forms of `amount` it accepts accounting parentheses and a trailing minus. Raises
    `UnreadableError` if anything is left over.
    """
    is_negative = text[:1] == "(" and text[-1:] == ")"
    number = amount(text[1:-1].strip(" ") if is_negative else text, options)
    rest, value, is_percent = number.rest, number.value, False
    if rest[:1] == "-" and text[0] not in "+-(":
        is_negative, rest = True, rest[1:].strip(" ")
    if rest == "%":
        is_percent, rest = True, ""
    if rest:
        check_single(text)
        raise UnreadableError(f"left over after the number: {shown(rest)}{remedy(rest)}")
    if is_negative:
        if not isinstance(value, Decimal) or (text[0] == "(" and text[1:].strip(" ")[0] in "+-"):
            raise UnreadableError("two signs, or a sign around a range")
        value = value.copy_negate()
    return Amount(value, "", number.is_ambiguous), is_percent


class NumberReader(FormReader, Struct, frozen=True):
    """Reads whole texts as numbers; digits are never extracted from other text.

    `locale` or `decimal` decide the meaning of `1.234`; the default is English. With `percent: fraction`,
    `12%` is 0.12, else 12. `ranges` reads `100-500` and `20±5`. `strip` are texts to drop before or behind
    the number (`@`, `x`).

    >>> NumberReader(locale="de_DE").read("1.234,50").canonical
    '1234.5'
    >>> NumberReader().read("12 pcs").problem
    "left over after the number: 'pcs'; `strip` drops it"
    """

    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    percent: Literal["as_is", "fraction"] = "as_is"
    ranges: bool = False
    strip: tuple[str, ...] = ()
    signs: Signs = ()

    def __post_init__(self) -> None:
        check_signs(self.signs)
        convention(self.locale, self.decimal)

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            return json_number(raw)
        text = raw.strip()
        number, is_percent = whole_amount(
            stripped(fold(text), self.strip, self.signs), convention(self.locale, self.decimal)
        )
        if isinstance(number.value, NumberRange) and not self.ranges:
            what = "a bound" if None in (number.value.low, number.value.high) else "a range"
            raise UnreadableError(f"{what} where one number is expected (set `ranges: true` to read ranges)")
        is_fraction = is_percent and self.percent == "fraction"
        value = map_amount(hundredth, number.value) if is_fraction else number.value
        return Reading(
            text,
            value,
            canonical_amount(value),
            doubts(self, text, number.is_ambiguous),
        )

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        numbers = float_column(raws)
        return super().read_column(raws) if numbers is None else numbers


def hundredth(value: Decimal) -> Decimal:
    """Return a number divided by 100, exactly."""
    sign, digits, power = value.as_tuple()
    return Decimal((sign, digits, int(power) - 2))


class IntegerReader(FormReader, Struct, frozen=True):
    """Reads whole numbers; `5.0` is whole, `5.5` is not.

    Without `locale` or `decimal` a separator before exactly three digits groups: `5.000` is 5000.

    >>> IntegerReader().read("1.234").canonical, IntegerReader().read("5.5").problem
    ('1234', 'not a whole number')
    """

    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    strip: tuple[str, ...] = ()
    signs: Signs = ()

    def __post_init__(self) -> None:
        check_signs(self.signs)
        convention(self.locale, self.decimal)

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            return self._whole(json_number(raw))
        text = raw.strip()
        folded = stripped(fold(text), self.strip, self.signs)
        check_single(folded)
        number, is_percent = whole_amount(folded, convention(self.locale, self.decimal, groups_first=True))
        if is_percent or isinstance(number.value, NumberRange):
            return unreadable(text, "a percentage or a range where a whole number is expected")
        return self._whole(
            Reading(
                text,
                number.value,
                canonical_amount(number.value),
                doubts(self, text, number.is_ambiguous),
            )
        )

    def _whole(self, reading: Reading) -> Reading:
        value: Any = reading.value
        if value is None or value == value.to_integral_value():
            return reading
        return unreadable(reading.text, "not a whole number")


# The readers of quantities (amount and unit) and of units.

_SECOND = re.compile(
    r"(?P<unit>[^±]{1,64}?)"
    r"(?:[ ]+(?P<to>-|to|bis|à|a|hasta|until)[ ]+|[ ]*(?P<margin>±|\+/-)[ ]*|(?<=[%CFK])-)"
    r"(?P<second>[+-]?[.,٫]?\d.*)\Z"
)
_ENCLOSED = re.compile(r"\((?P<amount>[^()]*)\)(?P<unit>.*)\Z")


class QuantityReader(FormReader, Struct, frozen=True):
    """Reads amounts with a unit: `5000m3/h`, `20±5 °C`, `100 to 500 mg/Nm³`, `120/80 mmHg`.

    `unit` is the unit of an amount without one. `canonical` is the unit to convert to; units of another
    dimension are unreadable. `ranges: false` refuses ranges, tolerances and several values. `locale` and
    `decimal` are as for numbers.

    >>> reader = QuantityReader(canonical="m3/h")
    >>> [reader.read(raw).canonical for raw in ("5.000,5 m³/h", "1000 L/min", "20±5 m3 per hour")]
    ['5000.5 m3/h', '60 m3/h', '15 to 25 m3/h']
    """

    unit: str | None = None
    canonical: str | None = None
    locale: str | None = None
    decimal: Literal[".", ","] | None = None
    ranges: bool = True

    def __post_init__(self) -> None:
        convention(self.locale, self.decimal)
        for option, unit in (("unit", self.unit), ("canonical", self.canonical)):
            if unit is not None and canonical_unit(str(unit)) is None:
                raise problem(
                    option, f"unknown unit {unit!r}", "give a unit such as 'm3/h' or 'degC'", "invalid_option"
                )

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            number = json_number(raw)
            return number if number.value is None else self._reading(number.text, Amount(number.value, ""))
        text = raw.strip()
        return self._reading(text, self._amount(text))

    def _amount(self, text: str) -> Amount:
        """Return the amount and its unit's text; in a range the unit stands once or at both ends."""
        options, folded = convention(self.locale, self.decimal), fold(text)
        enclosed = _ENCLOSED.match(folded)
        if enclosed:
            first = amount(enclosed["amount"].strip(" "), options)
            if first.rest or not isinstance(first.value, NumberRange):
                raise UnreadableError("parentheses around something other than a range")
            return Amount(first.value, enclosed["unit"].strip(" "), first.is_ambiguous)
        first = amount(folded, options)
        second = _SECOND.match(first.rest)
        if STROKE.search(folded, len(folded) - len(first.rest) - 1) and canonical_unit(first.rest) is None:
            return _several(folded, options)
        if second is None or not isinstance(first.value, Decimal):
            return first
        other, unit = amount(second["second"], options), canonical_unit(second["unit"])
        if second["margin"] and isinstance(other.value, Decimal) and other.rest == "%" != unit:
            return Amount(
                around(first.value, share(first.value, other.value)),
                second["unit"],
                first.is_ambiguous or other.is_ambiguous,
            )
        if not isinstance(other.value, Decimal) or unit != canonical_unit(other.rest):
            raise UnreadableError(f"two amounts: {shown(folded)}")
        value = other.value
        both = around(first.value, value) if second["margin"] else ordered(first.value, value)
        return Amount(both, other.rest, first.is_ambiguous or other.is_ambiguous)

    def _reading(self, text: str, amount: Amount) -> Reading:
        if not isinstance(amount.value, Decimal) and not self.ranges:
            what = "a range" if isinstance(amount.value, NumberRange) else "several values"
            return unreadable(text, f"{what} where one amount is expected (`ranges: false`)")
        written = canonical_unit(amount.rest or self.unit or "")
        if written is None and amount.rest:
            return unreadable(text, f"unknown unit {shown(amount.rest)}")
        value = Quantity(amount.value, written)
        if written is not None and (tens := without_ten(written)) != (0, written):
            value = Quantity(map_amount(lambda number: number.scaleb(tens[0], WIDE), amount.value), tens[1])
        if self.canonical is not None and written is not None:
            steps = conversion(written, self.canonical)
            if steps is None:
                return unreadable(text, f"{written} does not convert to {self.canonical}")
            value = Quantity(convert(amount.value, steps), canonical_unit(self.canonical))
        flags = ("ambiguous",) if amount.is_ambiguous else unit_flags(amount.rest)
        return Reading(text, value, canonical_quantity(value), flags)


def _several(text: str, options: Convention) -> Amount:
    """Return the values between strokes, in their order; they share the unit of the last."""
    parts = [amount(part, options) for part in STROKE.split(text)]
    if _BASIS_POINTS.search(text):
        raise UnreadableError(f"several values in basis points: {shown(text)}")
    unit = parts[-1].rest
    if any(part.rest and canonical_unit(part.rest) != canonical_unit(unit) for part in parts):
        raise UnreadableError(f"several values with different units: {shown(text)}")
    values = [part.value for part in parts if isinstance(part.value, Decimal)]
    if len(values) < len(parts):
        raise UnreadableError(f"several values, one of them a range: {shown(text)}")
    return Amount(tuple(values), unit, any(part.is_ambiguous for part in parts))


class UnitReader(Reader, Struct, frozen=True):
    """Reads units as their canonical text (`m³ h⁻¹` is `m3/h`).

    With `spelling: canonical` only that text is the unit, whatever its letter case and white space: another
    spelling is another value.

    >>> UnitReader().read("m³ h⁻¹").canonical, UnitReader().read("boxes").problem
    ('m3/h', "unknown unit 'boxes'")
    >>> [UnitReader(spelling="canonical").read(text).canonical for text in ("M3 / h", "m³/h")]
    ['m3/h', 'm³/h']
    """

    spelling: Literal["any", "canonical"] = "any"

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str):
            number = json_number(raw)
            return unreadable(number.text, "not a unit")
        text = raw.strip()
        unit = canonical_unit(text)
        if unit is None:
            return unreadable(text, f"unknown unit {shown(text)}")
        written = "".join(text.split())
        is_other = self.spelling == "canonical" and written.lower() != unit.lower()
        return Reading(text, unit, written if is_other else unit, unit_flags(text))


# Amounts with a word for thousands, millions or billions.

_WORDS = {**POWERS_OF_TEN, "k": 3, "m": 6, "mm": 6, "cr": 7, "b": 9}
"""The letters are also units, and therefore scale only numbers and money."""
_LONGEST = 1_000


def _pattern(words: Iterable[str]) -> re.Pattern[str]:
    named = "|".join(sorted(map(re.escape, words), key=len, reverse=True))
    return re.compile(rf"(?<![^\W\d_])(?:in\s+)?({named})\.?(?![^\W_])", re.IGNORECASE)


_SCALE, _LONG_SCALE = _pattern(_WORDS), _pattern(POWERS_OF_TEN)


_POWER_MARK = "\0"
_INSIDE = re.compile(rf"\d\s*{_POWER_MARK}[{_POWER_MARK}\s]*\d")


class ScaledReader(FormReader, Struct, frozen=True):
    """Reads amounts by another reader, times the scale named in the text.

    A text with two different scales is unreadable.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> reader = ScaledReader(NumberReader())
    >>> [reader.read(text).canonical for text in ("3464.2 millions", "3.46 bn", "12 crore", "7")]
    ['3464200000', '3460000000', '120000000', '7']
    """

    inner: Reader
    takes_letters: bool = True
    """True: single letters such as k and m are scales."""

    def read(self, raw: Scalar) -> Reading:
        if not isinstance(raw, str) or len(raw) > _LONGEST:
            return self.inner.read(raw)
        pattern = self._pattern()
        powers = {_WORDS[match[1].casefold()] for match in pattern.finditer(raw)}
        if not powers:
            return self.inner.read(raw)
        text = raw.strip()
        marked = pattern.sub(_POWER_MARK, raw)
        if len(powers) > 1 or _INSIDE.search(marked):
            return Reading(text, None, text, problem="names two scales, or one inside a number")
        reading = self.inner.read(" ".join(marked.replace(_POWER_MARK, " ").split()))
        if reading.value is None:
            return replace(reading, text=text, canonical=text)
        value, canonical = _scale_value(reading.value, powers.pop())
        return replace(reading, text=text, value=value, canonical=canonical)

    def _pattern(self) -> re.Pattern[str]:
        """Return the pattern of scales; without letters where `signs` may name one of them (`CR`)."""
        return _SCALE if self.takes_letters and not getattr(self.inner, "signs", ()) else _LONG_SCALE


def _scale_value(value: Any, power: int) -> tuple[Any, str]:
    """Return an amount times a power of ten, with its canonical text."""

    def times(number: Any) -> Decimal:
        return (number if isinstance(number, Decimal) else Decimal(repr(number))).scaleb(power, WIDE)

    if isinstance(value, Money):
        money = Money(times(value.amount), value.currency)
        return money, canonical_money(money)
    if isinstance(value, Quantity):
        quantity = Quantity(map_amount(times, value.amount), value.unit)
        return quantity, canonical_quantity(quantity)
    amount = map_amount(times, value)
    return amount, canonical_amount(amount)
