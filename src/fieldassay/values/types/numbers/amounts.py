"""Exact amounts, the forms in which a text may be read, their columns, and what these tell."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from functools import lru_cache
from itertools import repeat
from math import gcd, isfinite, ulp
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Column, Reader, Reading, objects, unreadable

# Numbers with a range, a currency or a unit, and their canonical texts.

Number: TypeAlias = Union[int, float, Decimal]
"""A number value. A finite float has the value of its shortest decimal text: 0.1 is one tenth."""

PLAIN_LIMIT = 40
"""The largest power of ten, either way, written without scientific notation."""

WIDE = Context(prec=200)
"""Precise enough for every readable number."""
_DENOMINATORS = frozenset({2, 3, 4, 5, 6, 8, 10, 16, 32, 64})
"""Of shares, and of inches."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """All numbers from `low` to `high`, both included; `low` is never above `high`.

    None is an open end: a bound, such as `≤5`, or with `is_strict` `<5`. `is_tolerance` marks a range written
    as a middle and a margin (20±5). It does not affect equality: 20±5 is 15 to 25.

    >>> NumberRange(Decimal(15), Decimal(25)) == NumberRange(Decimal(15), Decimal(25), is_tolerance=True)
    True
    """

    low: Decimal | None
    high: Decimal | None
    is_tolerance: bool = field(default=False, compare=False)
    is_strict: bool = False


AmountValue: TypeAlias = Decimal | NumberRange | tuple[Decimal, ...]
"""A number, a range, or several numbers in their order (`120/80`)."""


def map_amount(change: Callable[[Decimal], Decimal], amount: AmountValue) -> AmountValue:
    """Return an amount with every number in it changed.

    >>> map_amount(Decimal(2).__mul__, (Decimal(60), Decimal(40)))
    (Decimal('120'), Decimal('80'))
    """
    if isinstance(amount, NumberRange):
        low, high = (None if end is None else change(end) for end in (amount.low, amount.high))
        return replace(amount, low=low, high=high)
    return tuple(map(change, amount)) if isinstance(amount, tuple) else change(amount)


class Money(Struct, frozen=True, gc=False):
    """An amount in a currency.

    The currency is an ISO 4217 code, a symbol shared by several currencies (`$`), or None if unknown.
    """

    amount: Decimal
    currency: str | None = None


class Quantity(Struct, frozen=True, gc=False):
    """An amount in a canonical unit (see `types.numbers.units`), or without a unit."""

    amount: AmountValue
    unit: str | None = None


def decimal_of(value: Number) -> Decimal:
    """Return a finite number as the decimal of its shortest text.

    >>> decimal_of(0.1)
    Decimal('0.1')
    """
    if isinstance(value, Decimal):
        return value
    return Decimal(value) if isinstance(value, int) else Decimal(repr(value))


_NOISE_DIGITS, _SURE_DIGITS = 12, 15
_NOISE_UNITS = 8
MIN_NOISY = 15
"""Texts of more characters may be those of a float with noise."""


def without_noise(value: float) -> float:
    """Return the number of twelve digits that a float differs from by rounding alone, else the float.

    A sum or a percentage leaves such floats. A double holds fifteen digits. A whole number stays as it is.

    >>> without_noise(3.1 + 2.95), without_noise(0.1 + 0.2), without_noise(100 / 3) == 100 / 3
    (6.05, 0.3, True)
    """
    if value.is_integer():
        return value
    short = float(f"{value:.{_NOISE_DIGITS}g}")
    is_near = short != value and abs(short - value) <= _NOISE_UNITS * ulp(value)
    return short if is_near and float(f"{value:.{_SURE_DIGITS}g}") != value else value


def may_have_noise(values: npt.NDArray[np.float64]) -> bool:
    """Return whether any of some finite floats may differ from a short number by rounding alone."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        scale = 10.0 ** (_NOISE_DIGITS - 1 - np.floor(np.log10(np.abs(values))))
        short = np.rint(values * scale) / scale
        return bool(
            (
                (short != values) & (np.abs(short - values) <= 2 * _NOISE_UNITS * np.spacing(np.abs(values)))
            ).any()
        )


def canonical_number(value: Number) -> str:
    """Return the canonical text of a finite number: no exponent, no superfluous zeros, no `-0`.

    Beyond 10^40 and below 10^-40 it is scientific (`1.5E+60`), which bounds its length.

    >>> [canonical_number(number) for number in (Decimal("007.50"), -0.0, 1e22, Decimal("15E+59"))]
    ['7.5', '0', '10000000000000000000000', '1.5E+60']
    """
    number = decimal_of(value)
    if not number:
        return "0"
    power = number.adjusted()
    if abs(power) > PLAIN_LIMIT:
        sign, digits, _ = number.as_tuple()
        shown = "".join(map(str, digits)).rstrip("0")
        mantissa = f"{shown[0]}.{shown[1:]}" if len(shown) > 1 else shown
        return f"{'-' if sign else ''}{mantissa}E{power:+d}"
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def canonical_amount(value: Number | AmountValue) -> str:
    """Return the canonical text of a number, a range or several numbers.

    The first of several has a point, if they would else be a fraction.

    >>> canonical_amount(NumberRange(Decimal("15.0"), Decimal(25), is_tolerance=True))
    '15 to 25'
    >>> canonical_amount(NumberRange(None, Decimal(5), is_strict=True))
    '<5'
    >>> canonical_amount((Decimal(120), Decimal(80))), canonical_amount((Decimal(1), Decimal(2)))
    ('120/80', '1.0/2')
    """
    if isinstance(value, tuple):
        first, *others = map(canonical_number, value)
        is_like_fraction = len(value) == 2 and looks_like_fraction(*value)
        return "/".join([f"{first}.0" if is_like_fraction else first, *others])
    if not isinstance(value, NumberRange):
        return canonical_number(value)
    low, high = ("" if end is None else canonical_number(end) for end in (value.low, value.high))
    if low and high:
        return f"{low} to {high}"
    below, above = ("<", ">") if value.is_strict else ("≤", "≥")
    return f"{above}{low}" if low else f"{below}{high}"


def looks_like_fraction(top: Number, bottom: Number) -> bool:
    """Return whether two numbers with a stroke are a fraction: proper, in lowest terms, denominator usual.

    >>> [looks_like_fraction(*pair) for pair in ((3, 4), (5, 10), (120, 80), (1, 7))]
    [True, False, False, False]
    """
    return (
        bottom in _DENOMINATORS and 0 < top < bottom and top == int(top) and gcd(int(top), int(bottom)) == 1
    )


def canonical_money(value: Money) -> str:
    """Return the canonical text of an amount of money.

    >>> canonical_money(Money(Decimal("1234.50"), "AUD")), canonical_money(Money(Decimal(5)))
    ('1234.5 AUD', '5')
    """
    amount = canonical_number(value.amount)
    return amount if value.currency is None else f"{amount} {value.currency}"


def canonical_quantity(value: Quantity) -> str:
    """Return the canonical text of a quantity.

    >>> canonical_quantity(Quantity(Decimal("5000.0"), "m3/h"))
    '5000 m3/h'
    """
    amount = canonical_amount(value.amount)
    return amount if value.unit is None else f"{amount} {value.unit}"


# Columns of JSON floats, whose texts are written when they are needed.

_PLAIN_FLOATS = (1e-3, 1e15)
"""Between these magnitudes the shortest digits of a float are always written without an exponent."""


def float_column(raws: Sequence[Scalar]) -> Column | None:
    """Return the column of finite JSON floats; None if any value is not one, or has noise.

    >>> float_column([1.5, -2.0, 1e-7]).canonical.tolist()
    ['1.5', '-2', '0.0000001']
    >>> float_column([0.1 + 0.2]), float_column([1]), float_column([float("nan")])
    (None, None, None)
    """
    if set(map(type, raws)) != {float}:
        return None
    floats = np.array(raws, dtype=np.float64)
    if not np.isfinite(floats).all() or may_have_noise(floats):
        return None
    return Column.on_demand(objects(raws), _write)


def _write(values: list[float]) -> tuple[list[str], list[str]]:
    """Return the JSON texts and the canonical texts of floats without noise."""
    size, texts = np.abs(values), list(map(repr, values))
    if ((size >= _PLAIN_FLOATS[0]) & (size < _PLAIN_FLOATS[1])).all():
        return texts, [text.removesuffix(".0") for text in texts]
    return texts, list(map(canonical_number, values))


def has_noise(number: Decimal) -> bool:
    """Return whether a number is the text of a float that differs from a short one by rounding alone.

    >>> has_noise(Decimal("6.050000000000001")), has_noise(Decimal("6.05"))
    (True, False)
    """
    value = float(number)
    return isfinite(value) and without_noise(value) != value and decimal_of(value) == number


# Readings shared by all numeric readers.

Signs: TypeAlias = tuple[tuple[str, str], ...]
"""Words for a minus or a plus beside an amount: `CR` and `-`."""
DIGIT_LIMIT = 4000
"""Integers with more digits are unreadable (Python itself does not print them)."""


def json_number(raw: Scalar) -> Reading:
    """Return the reading of a JSON scalar other than text; booleans and NaN are unreadable.

    >>> json_number(2.50).canonical, json_number(True).problem
    ('2.5', 'a boolean is not a number')
    """
    if isinstance(raw, bool):
        return unreadable(json.dumps(raw), "a boolean is not a number")
    if isinstance(raw, int) and raw.bit_length() > DIGIT_LIMIT * 3:
        return unreadable(f"an integer of {raw.bit_length()} bits", "too long for a number")
    if not isinstance(raw, (int, float)):
        return unreadable(str(raw), "not a number")
    if isinstance(raw, float) and not float("-inf") < raw < float("inf"):
        return unreadable(json.dumps(raw), "not a finite number")
    short = without_noise(raw) if isinstance(raw, float) else raw
    value = decimal_of(short)
    return Reading(repr(raw), value, canonical_number(value), ("coerced",) if short != raw else ())


def stripped(text: str, marks: Sequence[str], signs: Signs = ()) -> str:
    """Return a folded text without the longest fitting mark before it and the longest behind it.

    Case and a final point of a word do not count, and no part of a longer word is dropped. A word of `signs`
    at either end gives way to its sign before the text.

    >>> stripped("2 x", ("@", "x")), stripped("@11000", ("@", "x")), stripped("108 Cr.", (), (("CR", "-"),))
    ('2', '11000', '-108')
    """
    for word, sign in signs:
        rest = _without((word,))(text)
        if rest != text:
            text = sign + rest
            break
    return _without((marks,) if isinstance(marks, str) else tuple(marks))(text) if marks else text


def drops_words(reader: Any) -> bool:
    """Return whether a reader drops different words, which may make two amounts one.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> drops_words(NumberReader(strip=("CR", "DR"))), drops_words(NumberReader(strip=("x", "X", "@")))
    (True, False)
    """
    return len({mark.casefold() for mark in getattr(reader, "strip", ()) if mark.isalpha()}) > 1


def doubts(reader: Any, text: str, is_ambiguous: bool) -> tuple[str, ...]:
    """Return the flags of a reading: for doubtful separators, or the loss of one of different words."""
    is_shorter = drops_words(reader) and _without(tuple(filter(str.isalpha, reader.strip)))(text) != text
    return ("ambiguous",) if is_ambiguous or is_shorter else ()


@lru_cache(maxsize=256)
def _without(marks: tuple[str, ...]) -> Callable[[str], str]:
    """Return what drops a mark before a text and one behind it."""
    words = sorted(filter(None, marks), key=len, reverse=True)
    start, end = (
        "|".join(
            (r"(?<![^\W\d_])" if is_end and word[0].isalpha() else "")
            + re.escape(word)
            + ((r"\.?" if is_end else r"(?![^\W\d_]|\.\d|[$£¥])\.?") if word[-1].isalpha() else "")
            for word in words
        )
        for is_end in (False, True)
    )
    before = re.compile(rf"\A(?:{start})", re.IGNORECASE)
    behind = re.compile(rf"(?:{end})\Z", re.IGNORECASE)
    return lambda text: behind.sub("", before.sub("", text).strip(" "), count=1).strip(" ")


def remedy(rest: str) -> str:
    """Return what to do about a word or a mark beside a number, to be put behind a problem.

    >>> remedy("pcs"), remedy("Dr."), remedy("%")
    ('; `strip` drops it', '; `signs` says what sign it is, `strip` drops it', '')
    """
    word = rest.casefold().rstrip(".")
    if word in _CREDITS:
        return "; `signs` says what sign it is, `strip` drops it"
    return "; `strip` drops it" if word.isalpha() or word == "@" else ""


_CREDITS = frozenset({"cr", "dr", "db", "s", "h", "soll", "haben", "credit", "debit"})


def check_signs(signs: Signs) -> None:
    """Raise `ProblemsError` if a word stands for neither a minus nor a plus, or for both."""
    folded = [word.casefold() for word, _ in signs]
    for word, sign in signs:
        if sign not in ("-", "+") or not word.strip() or folded.count(word.casefold()) > 1:
            what = f"{word!r}: {sign!r} is not a word with one sign"
            raise problem("signs", what, "write for example {CR: -, DR: +}", "invalid_option")


_LONGEST = 60
_MOST_DIGITS, _MOST_BITS = 14, 46
"""A number of more may be that of a float with noise, which its digits tell."""
_FEWEST = 2
"""Fewer texts of one form are not worth more than their own readings."""
_MASK = bytes(ord("0") if chr(byte).isdigit() else byte for byte in range(128)) + bytes(range(128, 256))
_OTHERS = bytes(byte for byte in range(256) if byte not in b"0123456789\n")
_RUN = re.compile(r"[^0]*0(?:[0.,'’٬\u00a0\u202f ]*0)?[^0]*")
_PROBES = "12345678912345", "98765432198765"


class WrittenForm(Struct, frozen=True):
    """What all texts of one form mean: their digits times a power of ten.

    `sign` is `-` or nothing. `like` is a value of the form with the amount 0, `tail` the end of its canonical
    texts.
    """

    sign: str
    power: int
    like: Any
    tail: str
    flags: tuple[str, ...]

    def read(self, digits: Sequence[str]) -> tuple[list[Any], list[str]]:
        """Return the values and the canonical texts of texts with these digits, one or more each."""
        sign, power, tail = self.sign, self.power, self.tail
        amounts = [Decimal(f"{sign}{run}E{power}") for run in digits]
        whole = len(digits[0]) + power
        if digits[0][0] == "0" or not 0 < whole <= PLAIN_LIMIT:
            written = [canonical_number(amount) + tail for amount in amounts]
        elif power < 0:
            written = [f"{sign}{run[:whole]}.{run[whole:]}".rstrip("0").rstrip(".") + tail for run in digits]
        else:
            written = [f"{sign}{run}{'0' * power}{tail}" for run in digits]
        return _with_amounts(self.like, amounts), written


class FormReader(Reader):
    """A reader of numbers, money or quantities, which reads a column by the forms of its texts.

    The form of a text is what stands around and between its digits. What a form means, two texts of it with
    other digits tell, read in full. Texts in which more than the form counts are read in full themselves:
    ranges, fractions, exponents, other digits than 0 to 9, and long numbers.

    >>> from fieldassay.values.types.numbers.money import MoneyReader
    >>> MoneyReader().read_column(["€ 1.250,00", "€ 3.470,50", "€ 9.000,00"]).canonical.tolist()
    ['1250 EUR', '3470.5 EUR', '9000 EUR']
    """

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        texts = [_written(raw) for raw in raws]
        trimmed, values, canonical = (
            objects([text.strip() for text in texts]),
            *np.empty((2, len(texts)), object),
        )
        flags: dict[int, tuple[str, ...]] = {}
        problems: dict[int, str] = {}
        is_left = np.ones(len(texts), dtype=np.bool_)
        for form, places, digits in _find_forms(self, texts, list(map(type, raws))):
            rows = np.array(places)
            values[rows], canonical[rows] = map(objects, form.read(digits))
            is_left[rows] = False
            if form.flags:
                flags |= dict.fromkeys(places, form.flags)
        for at in np.flatnonzero(is_left).tolist():
            reading = self.read(raws[at])
            trimmed[at], values[at], canonical[at] = reading.text, reading.value, reading.canonical
            if reading.flags:
                flags[at] = reading.flags
            if reading.problem is not None:
                problems[at] = reading.problem
        return Column(trimmed, values, canonical, flags, problems)


def _written(raw: Scalar) -> str:
    """Return the text of a value; nothing for one that no form has."""
    if isinstance(raw, str):
        return "" if "\n" in raw else raw
    return (
        repr(raw)
        if raw.__class__ is float or (raw.__class__ is int and raw.bit_length() <= _MOST_BITS)
        else ""
    )


def _find_forms(
    reader: Reader, texts: Sequence[str], kinds: Sequence[type]
) -> Iterator[tuple[WrittenForm, list[int], list[str]]]:
    """Yield the forms that several texts have, with their positions and their digits."""
    joined = "\n".join(texts).encode("utf-8", "surrogatepass")
    shapes = joined.translate(_MASK).decode("utf-8", "surrogatepass").split("\n")
    digits = joined.translate(None, _OTHERS).decode().split("\n")
    places: defaultdict[tuple[str, bool, type], list[int]] = defaultdict(list)
    for at, (shape, run, kind) in enumerate(zip(shapes, digits, kinds, strict=False)):
        places[shape, run[:1] == "0", kind].append(at)
    for key, positions in places.items():
        if len(positions) >= _FEWEST and (form := find_form(reader, *key)) is not None:
            yield form, positions, [digits[at] for at in positions]


@lru_cache(maxsize=10_000)
def find_form(reader: Reader, shape: str, leads_zero: bool, kind: type = str) -> WrittenForm | None:
    """Return what texts of a shape mean, whose digits are all written 0; None if that depends on the digits.

    `leads_zero` tells texts whose first digit is a zero, which begins no group; `kind` what JSON has them as.

    >>> from fieldassay.values.types.numbers.numbers import NumberReader
    >>> find_form(NumberReader(), "0,000.00", False).read(["432150"])
    ([Decimal('4321.50')], ['4321.5'])
    """
    count, inner = shape.count("0"), getattr(reader, "inner", reader)
    if any(map(str.isdigit, "".join((*getattr(inner, "strip", ()), *dict(getattr(inner, "signs", ())))))):
        return None
    if len(shape) > _LONGEST or count > _MOST_DIGITS or (leads_zero and count == 1):
        return None
    if _RUN.fullmatch(shape) is None or any(mark.isnumeric() for mark in shape.replace("0", "")):
        return None
    first, second = (_probe(reader, shape, probe[:count], leads_zero, kind) for probe in _PROBES)
    return first if first == second else None


def _probe(reader: Reader, shape: str, digits: str, leads_zero: bool, kind: type) -> WrittenForm | None:
    """Return the form as one text of it has it."""
    digits = "0" + digits[1:] if leads_zero else digits
    left = iter(digits)
    text = "".join(next(left) if mark == "0" else mark for mark in shape)
    reading = reader.read(kind(text))
    value = reading.value
    amount = value.amount if isinstance(value, Money | Quantity) else value
    if not isinstance(amount, Decimal) or reading.text != text.strip():
        return None
    sign, own, power = amount.as_tuple()
    written = canonical_number(amount)
    if "".join(map(str, own)) != digits.lstrip("0") or not reading.canonical.startswith(written):
        return None
    [like] = _with_amounts(value, [Decimal(0)])
    return WrittenForm(
        "-" if sign else "", int(power), like, reading.canonical[len(written) :], reading.flags
    )


def _with_amounts(value: Any, amounts: list[Decimal]) -> list[Any]:
    """Return a value with each of the amounts."""
    if isinstance(value, Money):
        return list(map(Money, amounts, repeat(value.currency)))
    return list(map(Quantity, amounts, repeat(value.unit))) if isinstance(value, Quantity) else amounts
