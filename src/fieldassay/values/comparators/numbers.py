"""Comparators of numbers, amounts of money and quantities, within a tolerance."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from functools import partial
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import (
    Codes,
    ColumnComparator,
    Comparator,
    Floats,
    Mask,
    Scores,
    scores_by_code,
)
from fieldassay.values.types.column import Column, Indices, Objects, objects
from fieldassay.values.types.numbers.amounts import Money, NumberRange, Quantity, map_amount
from fieldassay.values.types.numbers.currencies import GENERIC
from fieldassay.values.types.numbers.units import conversion

# The accepted distance of two numbers, in exact arithmetic.

EXACT = Context(prec=20_000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
"""Precise enough that sums and products of readable numbers are never rounded."""

_LONGEST_NUMBER = 400
_LONGEST_TEXT = 2_000
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?")
_PRINTED_NUMBER = re.compile(r"[.,]?[0-9][0-9.,'’_ \u00a0\u2009\u202f]*")


@dataclass(frozen=True, slots=True)
class Tolerance:
    """The accepted distance of a prediction from gold: within any of the given limits, limit included.

    `relative` is a share of |gold|, or of max(|gold|, 1) with `scale: at_least_one`. `absolute` is in the
    value's own unit, `ulp` in units of the last place printed in gold's text (0.01 for `1,234.50`), `zero` is
    an absolute limit for gold 0 only.
    """

    relative: Decimal | None = None
    absolute: Decimal | None = None
    ulp: Decimal | None = None
    zero: Decimal | None = None
    scale: Literal["gold", "at_least_one"] = "gold"
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    def __post_init__(self) -> None:
        for name in ("relative", "absolute", "ulp", "zero"):
            limit = getattr(self, name)
            if limit is not None:
                object.__setattr__(self, name, _limit(name, limit))
        if self.scale not in ("gold", "at_least_one"):
            raise ValueError(f"tolerance: scale is {self.scale!r}; write `gold` or `at_least_one`")
        if self.scale != "gold" and self.relative is None:
            raise ValueError(
                "tolerance: `scale` works only with `relative`; give `relative`, or leave `scale` out"
            )

    def accepts(self, gold: Decimal, pred: Decimal, text: str) -> bool:
        """Return whether two finite numbers are within the tolerance, exactly; `text` is gold's.

        >>> Tolerance(relative=Decimal("0.02")).accepts(Decimal("5.0"), Decimal("5.1"), "5,0")
        True
        """
        distance = EXACT.abs(EXACT.subtract(pred, gold))
        if self.relative is not None and distance <= EXACT.multiply(self.relative, self.magnitude(gold)):
            return True
        if self.absolute is not None and distance <= self.absolute:
            return True
        if self.zero is not None and gold == 0 and distance <= self.zero:
            return True
        return self.ulp is not None and distance <= EXACT.multiply(self.ulp, printed_unit(text, gold))

    def magnitude(self, gold: Decimal) -> Decimal:
        """Return the number that `relative` is a share of."""
        size = EXACT.abs(gold)
        return size if self.scale == "gold" else max(size, Decimal(1))


ToleranceOption: TypeAlias = (
    Tolerance | Decimal | dict[str, Decimal | str] | tuple[tuple[str, Decimal | str], ...] | None
)
"""A tolerance in a spec: nothing, a relative one (`0.01`), or parts (`{relative: 0.01, zero: 0.01}`)."""


def tolerance_of(option: Any) -> Tolerance:
    """Return the tolerance of an option; None is no tolerance.

    >>> tolerance_of(0.01) == tolerance_of({"relative": "0.01"})
    True
    """
    if isinstance(option, Tolerance):
        return option
    if option is None:
        return Tolerance()
    if isinstance(option, Mapping | tuple | list):
        parts = dict(option)
        names = [entry.name for entry in fields(Tolerance)]
        unknown = sorted(set(parts) - set(names))
        if unknown:
            raise ValueError(f"tolerance: unknown part {unknown[0]!r}; one of: {', '.join(names)}")
        return Tolerance(**parts)
    return Tolerance(relative=option)


def _limit(name: str, limit: Any) -> Decimal:
    number = None if isinstance(limit, bool) else decimal_of(limit)
    if number is None or not number.is_finite() or number < 0:
        raise ValueError(f"tolerance: {name} is {limit}; give a number that is 0 or more")
    return number


def decimal_of(value: Any) -> Decimal | None:
    """Return the number of a value, or None.

    A float stands for its shortest text; a string must be in plain decimal notation.

    >>> decimal_of(0.1), decimal_of("1,5"), decimal_of("-2.50")
    (Decimal('0.1'), None, Decimal('-2.50'))
    """
    if isinstance(value, Decimal):
        return None if value.is_nan() else value
    if isinstance(value, int):
        return None if isinstance(value, bool) else Decimal(value)
    if isinstance(value, float):
        return None if value != value else Decimal(repr(float(value)))
    if isinstance(value, str) and len(value) <= _LONGEST_NUMBER and _PLAIN_NUMBER.fullmatch(value):
        return Decimal(value)
    return None


def printed_unit(text: str, number: Decimal) -> Decimal:
    """Return one unit of the last place of the number as printed in the text.

    The first run of digits in the text that spells the number decides, else the number's own exponent.

    >>> printed_unit("1.234,50 EUR", Decimal("1234.5")), printed_unit("1.5E+03", Decimal(1500))
    (Decimal('0.01'), Decimal('1E+2'))
    """
    _, digits, exponent = EXACT.abs(number).as_tuple()
    if not isinstance(exponent, int):
        raise ValueError(f"{number} has no last place")
    coefficient = "".join(map(str, digits)).lstrip("0")
    significant = coefficient.rstrip("0")
    lowest = exponent + len(coefficient) - len(significant)
    for match in _PRINTED_NUMBER.finditer(text[:_LONGEST_TEXT]):
        printed = "".join(filter(str.isdigit, match[0])).lstrip("0")
        if printed.rstrip("0") != significant:
            continue
        places = lowest - (len(printed) - len(significant)) if significant else -_decimals(match[0])
        return Decimal((0, (1,), places))
    return Decimal((0, (1,), exponent))


def _decimals(run: str) -> int:
    tail = re.split(r"[.,]", run.rstrip(" .,"))
    return len("".join(filter(str.isdigit, tail[-1]))) if len(tail) > 1 else 0


# Columns of numbers under a tolerance: float64 where it decides, decimal arithmetic near the limit.

EQUAL, DIFFERENT, WITHIN, NOT_NUMERIC = range(4)
NUMBER_REASONS = ("equal", "different", "within_tolerance", "not_numeric")
NUMBER_SCORES = (1.0, 0.0, 1.0, 0.0)

_SEVERITY = np.array([0, 2, 1, 3])
_ROUNDING = 16 * 2.0**-53
_TINY = 1e-300
_NO_TOLERANCE = Tolerance()
_MACHINE_KINDS = {Decimal, int, float}
NUMERIC_KINDS = frozenset({*_MACHINE_KINDS, NumberRange, type(None)})
"""Types of values that are equal if and only if their canonical texts are."""


class Numbers(Struct, frozen=True, eq=False):
    """A column of numbers prepared for comparison.

    `low` and `high` are the ends in float64 (one array if no value is a range). `values` and `texts` serve
    the pairs that float64 cannot decide; `numeric` marks the numbers.
    """

    values: Objects
    texts: Objects
    low: Floats
    high: Floats
    numeric: Mask
    strict: Mask | None = None
    """The bounds that exclude their end, where there are ranges."""

    @classmethod
    def of(cls, values: Objects, texts: Objects) -> "Numbers":
        """Return the prepared values."""
        kinds = set(map(type, values))
        if NumberRange not in kinds:
            floats, numeric = _floats(values, kinds <= _MACHINE_KINDS)
            return cls(values, texts, floats, floats, numeric)
        (low, numeric), (high, _) = (
            _floats(objects([_end(value, side) for value in values]), False) for side in ("low", "high")
        )
        strict = np.array([getattr(value, "is_strict", False) for value in values], dtype=np.bool_)
        return cls(values, texts, low, high, numeric, strict)

    def codes(self, gold: Indices, pred: Indices, tolerance: Tolerance) -> Codes:
        """Return positions in `NUMBER_REASONS` for pairs of positions.

        Both ends of a range must be within the tolerance, and belong to both or to none.
        """
        low = self._codes(self.low, "low", (gold, pred), tolerance)
        if self.strict is None:
            return low
        codes = _worse(low, self._codes(self.high, "high", (gold, pred), tolerance))
        codes[(self.strict[gold] != self.strict[pred]) & (codes != NOT_NUMERIC)] = DIFFERENT
        return codes

    def _codes(self, ends: Floats, side: str, pairs: tuple[Indices, Indices], tolerance: Tolerance) -> Codes:
        gold, pred = pairs
        accepted, undecided = _clear_cut(ends[gold], ends[pred], tolerance)
        codes = np.where(accepted, np.int16(WITHIN), np.int16(DIFFERENT))
        numeric = self.numeric[gold] & self.numeric[pred]
        codes[~numeric] = NOT_NUMERIC
        for index in np.flatnonzero(undecided & numeric).tolist():
            gold_value, pred_value = self.values[gold[index]], self.values[pred[index]]
            codes[index] = _exact_code(
                _end(gold_value, side), _end(pred_value, side), self.texts[gold[index]], tolerance
            )
        return codes


def number_codes(gold: Objects, pred: Objects, texts: Objects, tolerance: Tolerance) -> Codes:
    """Return positions in `NUMBER_REASONS` for pairs of numbers, ranges or tuples; `texts` are gold's."""
    numbers = Numbers.of(np.concatenate([gold, pred]), texts)
    positions = np.arange(len(gold))
    codes = numbers.codes(positions, positions + len(gold), tolerance)
    for row in np.flatnonzero(~numbers.numeric[: len(gold)] | ~numbers.numeric[len(gold) :]).tolist():
        several = [value for value in (gold[row], pred[row]) if isinstance(value, tuple)]
        if several and len(several[0]) == len(several[-1]) and len(several) == 2:
            left, right = map(objects, several)
            parts = number_codes(left, right, objects([texts[row]] * len(left)), tolerance)
            codes[row] = parts[_SEVERITY[parts].argmax()]
        elif several:
            codes[row] = DIFFERENT
    return codes


def ends_of(value: Any) -> tuple[Decimal, Decimal] | None:
    """Return the lowest and the highest number of a value; None if it is no number.

    An open end of a range is infinite.
    """
    low, high = decimal_of(_end(value, "low")), decimal_of(_end(value, "high"))
    return None if low is None or high is None else (low, high)


def _end(value: Any, side: str) -> Any:
    if not isinstance(value, NumberRange):
        return value
    end = getattr(value, side)
    return Decimal("-Infinity" if side == "low" else "Infinity") if end is None else end


def _worse(low: Codes, high: Codes) -> Codes:
    return np.where(_SEVERITY[low] >= _SEVERITY[high], low, high)


def _clear_cut(gold: Floats, pred: Floats, tolerance: Tolerance) -> tuple[Mask, Mask]:
    """Return the accepted pairs, and those that float64 cannot decide.

    Each of the two numbers, their difference and the limit are off by at most a few units of 2^-53 of
    themselves, and by less than 1e-300 where they underflow. So 16 such units of the sum of the magnitudes
    safely bound the error of `distance - limit`.
    """
    if tolerance == _NO_TOLERANCE:
        with np.errstate(all="ignore"):
            near = np.abs(pred - gold) <= _ROUNDING * (np.abs(gold) + np.abs(pred)) + _TINY
            return np.zeros(len(gold), dtype=np.bool_), near | ~np.isfinite(gold) | ~np.isfinite(pred)
    with np.errstate(all="ignore"):
        size = np.abs(gold)
        distance = np.abs(pred - gold)
        limit = np.zeros_like(distance)
        if tolerance.relative is not None:
            limit = float(tolerance.relative) * (size if tolerance.scale == "gold" else np.maximum(size, 1.0))
        if tolerance.absolute is not None:
            limit = np.maximum(limit, float(tolerance.absolute))
        error = _ROUNDING * (size + np.abs(pred) + limit) + _TINY
        accepted = distance <= limit - error
        undecided = ~accepted & ~(distance > limit + error)
        undecided |= (distance <= error) | ~np.isfinite(distance) | ~np.isfinite(error)
    if tolerance.zero is not None:
        undecided |= ~accepted & (size < _TINY)
    if tolerance.ulp is not None:
        undecided |= ~accepted
    return accepted, undecided


def _exact_code(gold: Any, pred: Any, text: str, tolerance: Tolerance) -> int:
    g, p = decimal_of(gold), decimal_of(pred)
    if g is None or p is None:
        return NOT_NUMERIC
    if g == p:
        return EQUAL
    return WITHIN if g.is_finite() and p.is_finite() and tolerance.accepts(g, p, text) else DIFFERENT


def _floats(values: Objects, are_machine_kinds: bool) -> tuple[Floats, Mask]:
    if are_machine_kinds:
        try:
            return values.astype(np.float64), np.ones(len(values), dtype=np.bool_)
        except (OverflowError, ValueError):
            pass  # an integer beyond float64, or a signaling NaN: one by one
    numbers = [decimal_of(value) for value in values]
    numeric = np.fromiter((number is not None for number in numbers), dtype=np.bool_, count=len(numbers))
    floats = np.fromiter(
        (np.nan if number is None else float(number) for number in numbers),
        dtype=np.float64,
        count=len(numbers),
    )
    return floats, numeric


# Comparison of the numbers left in texts after everything else is deleted.

_LONGEST = 2_000
_REST = re.compile(r"[^\d.-]+")
_NUMBER = re.compile(r"-?(?:\d++(?:\.\d*+)?|\.\d++)")


class NumericComparator(Comparator, Struct, frozen=True):
    """A comparator with a tolerance."""

    tolerance: ToleranceOption = None

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))


class BareNumber(NumericComparator, frozen=True):
    """1 if the bare numbers of the two texts are equal or within the tolerance, else 0.

    Everything but digits, points and minus signs is deleted first, regardless of its meaning: `USD 1,234.50`
    is 1234.50, and so is `(1234.50)`. The rest must be one number with at most one point and a minus sign
    only in front; otherwise the text is not numeric. Source: the money rule of the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> judge = BareNumber(tolerance=Decimal("0.01"))
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("$99.99", "AUD 100.00 incl. GST")))
    (0.0, 'not_numeric')
    >>> judge.compare_one(*(Reading(text, text, text) for text in ("$99.99", "AUD 100.00")))
    (1.0, 'within_tolerance')
    """

    reasons: ClassVar[tuple[str, ...]] = NUMBER_REASONS

    def compare(self, gold: Column, pred: Column) -> Scores:
        numbers = _bare(gold.texts), _bare(pred.texts)
        codes = number_codes(*numbers, gold.texts, tolerance_of(self.tolerance))
        return scores_by_code(codes, NUMBER_SCORES)


def _bare(texts: Objects) -> Objects:
    return objects([bare_number(text) for text in texts])


def bare_number(text: str) -> Decimal | None:
    """Return the number left in a text, or None.

    >>> bare_number("$ -1,234.50"), bare_number("12.50-"), bare_number("2 x 3.5"), bare_number("n/a")
    (Decimal('-1234.50'), None, Decimal('23.5'), None)
    """
    left = _REST.sub("", text)
    return Decimal(left) if len(left) <= _LONGEST and _NUMBER.fullmatch(left) else None


# Numbers and ranges of numbers.


class NumberComparator(ColumnComparator, NumericComparator, frozen=True):
    """1 if two numbers are equal or within the tolerance, else 0; ranges need both ends.

    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Reading("5,0", Decimal("5.0"), "5"), Reading("5.1", Decimal("5.1"), "5.1")
    >>> NumberComparator(tolerance=Decimal("0.02")).compare_one(gold, pred)
    (1.0, 'within_tolerance')
    """

    reasons: ClassVar[tuple[str, ...]] = NUMBER_REASONS

    def is_exact_on(self, column: Column) -> bool:
        return self.tolerance == Tolerance() and set(map(type, column.values.tolist())) <= NUMERIC_KINDS

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        numbers = column.derive(_numbers)
        return scores_by_code(numbers.codes(gold, pred, tolerance_of(self.tolerance)), NUMBER_SCORES)


def _numbers(column: Column) -> Numbers:
    return Numbers.of(column.values, column.texts)


class Range(Comparator, Struct, frozen=True):
    """The agreement of a predicted range (or number) with gold's.

    `by: ends`: 1 if both ends are equal or within the tolerance. `by: inside`: also 1 if the prediction lies
    within gold's range, widened by the tolerance. `by: overlap`: otherwise the length of the intersection
    over the length of the union (0 where either is a point).
    """

    by: Literal["ends", "inside", "overlap"] = "ends"
    tolerance: ToleranceOption = None
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "inside", "overlapping")

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = number_codes(gold.values, pred.values, gold.texts, tolerance_of(self.tolerance))
        scores = scores_by_code(codes, (*NUMBER_SCORES, 1.0, 0.0))
        if self.by == "ends":
            return scores
        for index in np.flatnonzero(scores.reason == NUMBER_REASONS.index("different")).tolist():
            self._look_closer(scores, index, gold, pred)
        return scores

    def _look_closer(self, scores: Scores, index: int, gold: Column, pred: Column) -> None:
        gold_ends, pred_ends = ends_of(gold.values[index]), ends_of(pred.values[index])
        if gold_ends is None or pred_ends is None:
            return
        if self.by == "inside" and self._is_inside(gold_ends, pred_ends, gold.texts[index]):
            scores.score[index], scores.reason[index] = 1.0, self.reasons.index("inside")
        share = _shared(gold_ends, pred_ends) if self.by == "overlap" else 0.0
        if share > 0:
            scores.score[index], scores.reason[index] = share, self.reasons.index("overlapping")

    def _is_inside(self, gold: tuple[Decimal, Decimal], pred: tuple[Decimal, Decimal], text: str) -> bool:
        tolerance = tolerance_of(self.tolerance)
        (low, high), (found_low, found_high) = gold, pred
        return (found_low >= low or _are_near(low, found_low, text, tolerance)) and (
            found_high <= high or _are_near(high, found_high, text, tolerance)
        )


def _are_near(gold: Decimal, pred: Decimal, text: str, tolerance: Tolerance) -> bool:
    return gold.is_finite() and pred.is_finite() and tolerance.accepts(gold, pred, text)


def _shared(gold: tuple[Decimal, Decimal], pred: tuple[Decimal, Decimal]) -> float:
    if not all(end.is_finite() for end in (*gold, *pred)):
        return 0.0
    common = EXACT.subtract(min(gold[1], pred[1]), max(gold[0], pred[0]))
    if common <= 0:
        return 0.0
    lengths = EXACT.add(EXACT.subtract(gold[1], gold[0]), EXACT.subtract(pred[1], pred[0]))
    return min(1.0, float(common / EXACT.subtract(lengths, common)))


# Amounts of money.

_DIFFERS, _UNKNOWN = len(NUMBER_REASONS), len(NUMBER_REASONS) + 1
_ACCEPTED = (EQUAL, WITHIN)


class MoneyAmount(ColumnComparator, NumericComparator, frozen=True):
    """1 if the amounts are equal or within the tolerance and the currencies are compatible, else 0.

    Currencies are compatible if one side has none, or has a symbol that can stand for the other. The reason
    is then `currency_unknown`, and the score 1, or 0 with `currency: strict`.

    >>> from decimal import Decimal
    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Money(Decimal(5), "EUR"), Money(Decimal(5), "USD")
    >>> MoneyAmount().compare_one(Reading("5 EUR", gold, "5 EUR"), Reading("5 USD", pred, "5 USD"))
    (0.0, 'currency_differs')
    """

    currency: Literal["lenient", "strict"] = "lenient"
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "currency_differs", "currency_unknown")

    def is_exact_on(self, column: Column) -> bool:
        if self.tolerance != Tolerance() or not set(map(type, column.values)) <= {Money, type(None)}:
            return False
        return len({value.currency for value in column.values if value is not None}) <= 1

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        numbers, currency, names = column.derive(_split_money)
        codes = numbers.codes(gold, pred, tolerance_of(self.tolerance))
        differing = np.flatnonzero(currency[gold] != currency[pred])
        if len(differing):
            verdicts = np.array(
                [
                    [_DIFFERS if not _may_be_same(name, other) else _UNKNOWN for other in names]
                    for name in names
                ],
                dtype=np.int16,
            )
            currency_codes = verdicts[currency[gold[differing]], currency[pred[differing]]]
            decides = (currency_codes == _DIFFERS) | np.isin(codes[differing], _ACCEPTED)
            codes[differing[decides]] = currency_codes[decides]
        return scores_by_code(codes, (*NUMBER_SCORES, 0.0, 1.0 if self.currency == "lenient" else 0.0))


def _split_money(column: Column) -> tuple[Numbers, Indices, list[str | None]]:
    """Return the amounts of a column, its currencies by number, and their names."""
    values = [value if isinstance(value, Money) else Money(value) for value in column.values.tolist()]
    currencies = [value.currency for value in values]
    names = list(dict.fromkeys(currencies))
    position = {name: index for index, name in enumerate(names)}
    currency = np.fromiter(map(position.__getitem__, currencies), dtype=np.intp, count=len(values))
    return Numbers.of(objects([value.amount for value in values]), column.texts), currency, names


def _may_be_same(first: str | None, second: str | None) -> bool:
    """Return whether two unequal currencies may be the same: one is unknown, or a symbol of the other."""
    return (
        first is None
        or second is None
        or second in GENERIC.get(first, ())
        or first in GENERIC.get(second, ())
    )


# Amounts with units.

_UNIT_DIFFERS, _UNIT_MISSING = len(NUMBER_REASONS), len(NUMBER_REASONS) + 1
_CONVERTED = Context(prec=60)
_LONGEST_EXACT_FACTOR = 20


class Scale(Struct, frozen=True):
    """The conversion of amounts from the prediction's unit to gold's.

    `is_inverse` means that factor and offset lead from gold's unit to the prediction's.
    """

    factor: Decimal
    offset: Decimal
    is_inverse: bool = False

    def convert(self, amount: Decimal) -> Decimal:
        """Return the amount in gold's unit, exact or rounded to 20 digits where the factor is inexact.

        >>> Scale(Decimal(60), Decimal(0), is_inverse=True).convert(Decimal(90))
        Decimal('1.5')
        """
        if self.is_inverse:
            converted = _CONVERTED.divide(_CONVERTED.subtract(amount, self.offset), self.factor)
        else:
            converted = _CONVERTED.add(_CONVERTED.multiply(amount, self.factor), self.offset)
        is_exact = _digits(self.factor) <= _LONGEST_EXACT_FACTOR
        return converted if is_exact else Context(prec=_LONGEST_EXACT_FACTOR).plus(converted)


class QuantityAmount(NumericComparator, frozen=True):
    """1 if the amounts, in gold's unit, are equal or within the tolerance, else 0.

    A range needs both ends, several values each in its place.

    Other units of the same kind are converted; with `strict: true` the canonical units must be the same.
    Units without a conversion differ: a normal cubic meter is never a plain one. `missing_unit` is the rule
    for a unit on only one side: `differs`, or `ignored` (only the amounts are compared).

    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Quantity(Decimal("1.5"), "h"), Quantity(Decimal(90), "min")
    >>> QuantityAmount().compare_one(Reading("1.5 h", gold, "1.5 h"), Reading("90 min", pred, "90 min"))
    (1.0, 'equal')
    """

    strict: bool = False
    missing_unit: Literal["differs", "ignored"] = "differs"
    reasons: ClassVar[tuple[str, ...]] = (*NUMBER_REASONS, "unit_differs", "unit_missing")

    def compare(self, gold: Column, pred: Column) -> Scores:
        gold_units, pred_units = (objects(list(map(_unit, side.values))) for side in (gold, pred))
        expected, actual = (objects(list(map(_amount, side.values))) for side in (gold, pred))
        verdict = np.zeros(len(gold), dtype=np.int16)
        scales: dict[tuple[str | None, str | None], Scale | int] = {}
        for index in np.flatnonzero(gold_units != pred_units).tolist():
            units = (gold_units[index], pred_units[index])
            if units not in scales:
                scales[units] = self._scale(*units)
            scale = scales[units]
            if isinstance(scale, int):
                verdict[index] = scale
            else:
                actual[index] = map_amount(partial(_converted, scale=scale), actual[index])
        codes = number_codes(expected, actual, gold.texts, tolerance_of(self.tolerance))
        return scores_by_code(np.where(verdict > 0, verdict, codes), (*NUMBER_SCORES, 0.0, 0.0))

    def _scale(self, gold: str | None, pred: str | None) -> Scale | int:
        """Return the conversion of the prediction's amounts, or the code of the reason against it."""
        if gold is None or pred is None:
            return Scale(Decimal(1), Decimal(0)) if self.missing_unit == "ignored" else _UNIT_MISSING
        forth, back = (None, None) if self.strict else (conversion(pred, gold), conversion(gold, pred))
        if forth is None or back is None:
            return _UNIT_DIFFERS
        # The direction with the shorter factor is the exact one: h -> min is 60, min -> h is a rounded 1/60.
        return Scale(*back, is_inverse=True) if _digits(back[0]) < _digits(forth[0]) else Scale(*forth)


def _digits(number: Decimal) -> int:
    return len(number.as_tuple().digits)


def _unit(value: Any) -> str | None:
    return value.unit if isinstance(value, Quantity) else None


def _amount(value: Any) -> Any:
    return value.amount if isinstance(value, Quantity) else value


def _converted(value: Any, scale: Scale) -> Any:
    number = decimal_of(value)
    return value if number is None or not number.is_finite() else scale.convert(number)
