"""Numbers and ranges of numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.closeness import (
    NUMBER_REASONS,
    NUMBER_SCORES,
    NUMERIC_KINDS,
    Numbers,
    ends_of,
    number_codes,
)
from fieldassay.values.comparators.equality import Codes, scores_by_code, unequal_positions
from fieldassay.values.comparators.tolerance import EXACT, Tolerance, ToleranceOption, tolerance_of
from fieldassay.values.types.column import Column, Indices


class Number(Comparator, Struct, frozen=True):
    """1 if two numbers are equal or within the tolerance, else 0; ranges need both ends.

    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Reading("5,0", Decimal("5.0"), "5"), Reading("5.1", Decimal("5.1"), "5.1")
    >>> Number(tolerance=Decimal("0.02")).compare_one(gold, pred)
    (1.0, 'within_tolerance')
    """

    tolerance: ToleranceOption = None
    reasons: ClassVar[tuple[str, ...]] = NUMBER_REASONS

    def __post_init__(self) -> None:
        force_setattr(self, "tolerance", tolerance_of(self.tolerance))

    def compare(self, gold: Column, pred: Column) -> Scores:
        return scores_by_code(column_codes(gold, pred, tolerance_of(self.tolerance)), NUMBER_SCORES)

    def is_exact_on(self, column: Column) -> bool:
        return self.tolerance == Tolerance() and set(map(type, column.values.tolist())) <= NUMERIC_KINDS

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        numbers = Numbers.of(column.values, column.texts)
        return scores_by_code(numbers.codes(gold, pred, tolerance_of(self.tolerance)), NUMBER_SCORES)


def column_codes(gold: Column, pred: Column, tolerance: Tolerance) -> Codes:
    """Return positions in `NUMBER_REASONS` for every pair of the columns."""
    codes = np.zeros(len(gold), dtype=np.int16)
    at = unequal_positions(gold, pred)
    if len(at) == len(gold):
        return number_codes(gold.values, pred.values, gold.texts, tolerance)
    codes[at] = number_codes(gold.values[at], pred.values[at], gold.texts[at], tolerance)
    return codes


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
        scores = scores_by_code(
            column_codes(gold, pred, tolerance_of(self.tolerance)), (*NUMBER_SCORES, 1.0, 0.0)
        )
        if self.by == "ends":
            return scores
        for index in np.flatnonzero(scores.reason == NUMBER_REASONS.index("different")).tolist():
            self._look_closer(scores, index, gold, pred)
        return scores

    def _look_closer(self, scores: Scores, index: int, gold: Column, pred: Column) -> None:
        given, found = ends_of(gold.values[index]), ends_of(pred.values[index])
        if given is None or found is None:
            return
        if self.by == "inside" and self._is_inside(given, found, gold.texts[index]):
            scores.score[index], scores.reason[index] = 1.0, self.reasons.index("inside")
        share = _shared(given, found) if self.by == "overlap" else 0.0
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
