"""Columns of numbers under a tolerance: float64 where it decides, decimal arithmetic near the limit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from msgspec import Struct

from fieldassay.values.comparators.equality import Codes, Floats, Mask
from fieldassay.values.comparators.tolerance import Tolerance, decimal_of
from fieldassay.values.types.column import Indices, Objects, objects
from fieldassay.values.types.numbers.amounts import NumberRange

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

    @classmethod
    def of(cls, values: Objects, texts: Objects) -> Numbers:
        """Return the prepared values."""
        kinds = set(map(type, values))
        if NumberRange not in kinds:
            floats, numeric = _floats(values, kinds <= _MACHINE_KINDS)
            return cls(values, texts, floats, floats, numeric)
        (low, numeric), (high, _) = (
            _floats(objects([_end(value, side) for value in values]), False) for side in ("low", "high")
        )
        return cls(values, texts, low, high, numeric)

    @property
    def have_ranges(self) -> bool:
        """Return whether any value is a range."""
        return self.low is not self.high

    def codes(self, gold: Indices, pred: Indices, tolerance: Tolerance) -> Codes:
        """Return positions in `NUMBER_REASONS` for pairs of positions.

        Both ends of a range must be within the tolerance.
        """
        low = self._codes(self.low, "low", (gold, pred), tolerance)
        return (
            _worse(low, self._codes(self.high, "high", (gold, pred), tolerance)) if self.have_ranges else low
        )

    def _codes(self, ends: Floats, side: str, pairs: tuple[Indices, Indices], tolerance: Tolerance) -> Codes:
        gold, pred = pairs
        accepted, undecided = _clear_cut(ends[gold], ends[pred], tolerance)
        codes = np.where(accepted, np.int16(WITHIN), np.int16(DIFFERENT))
        numeric = self.numeric[gold] & self.numeric[pred]
        codes[~numeric] = NOT_NUMERIC
        for index in np.flatnonzero(undecided & numeric).tolist():
            one, other = self.values[gold[index]], self.values[pred[index]]
            codes[index] = _exact_code(_end(one, side), _end(other, side), self.texts[gold[index]], tolerance)
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
