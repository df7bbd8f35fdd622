"""Dates by the calendar."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import Codes, scores_by_code, unequal_positions
from fieldassay.values.types.column import Column, Objects
from fieldassay.values.types.dates.period import Date, Period

_REASONS = (
    "equal",
    "different",
    "within_days",
    "coarser",
    "precision_differs",
    "day_month_swapped",
    "not_a_date",
)
_SCORES = (1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
_EQUAL, _DIFFERENT, _WITHIN, _COARSER, _PRECISION, _SWAPPED, _NO_DATE = range(7)
_RANK = np.array([0, 5, 1, 2, 3, 4, 6])
"""The rank of each code from equal to worst, for the two ends of a period."""

Parts = npt.NDArray[np.int64]


class CalendarDate(Comparator, Struct, frozen=True):
    """1 if two dates (or both ends of two periods) are the same days, else 0.

    `days` is an accepted distance in days, for dates with a day. `precision: same` requires the same known
    parts on both sides; `coarsest` compares only the parts that both sides have, so that `2025-03` equals
    `2025-03-15`.

    >>> from fieldassay.values.types.column import Reading
    >>> gold, pred = Date(2025, 5, 4), Date(2025, 4, 5)
    >>> gold, pred = Reading("04/05/2025", gold, str(gold)), Reading("05/04/2025", pred, str(pred))
    >>> CalendarDate().compare_one(gold, pred)
    (0.0, 'day_month_swapped')
    """

    days: int = 0
    precision: Literal["same", "coarsest"] = "same"
    reasons: ClassVar[tuple[str, ...]] = _REASONS

    def __post_init__(self) -> None:
        if self.days < 0:
            raise ValueError(f"date: days is {self.days}; give 0 or more")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        at = unequal_positions(gold, pred)
        if len(at):
            codes[at] = self._codes(gold.values[at], pred.values[at])
        return scores_by_code(codes, _SCORES)

    def _codes(self, gold: Objects, pred: Objects) -> Codes:
        codes = self._end_codes(_parts(gold, "start"), _parts(pred, "start"))
        if Period in set(map(type, gold)) or Period in set(map(type, pred)):
            last = self._end_codes(_parts(gold, "end"), _parts(pred, "end"))
            codes = np.where(_RANK[codes] >= _RANK[last], codes, last)
        return codes

    def _end_codes(self, gold: Parts, pred: Parts) -> Codes:
        known = (gold > 0) & (pred > 0)
        agree = ((gold == pred) | ~known).all(axis=1) & known.any(axis=1)
        same_parts = ((gold > 0) == (pred > 0)).all(axis=1)
        swapped = (gold > 0).all(axis=1) & (gold == pred[:, [0, 2, 1]]).all(axis=1)
        codes = np.where(swapped, _SWAPPED, _DIFFERENT)
        codes = np.where(agree, _COARSER if self.precision == "coarsest" else _PRECISION, codes)
        if self.days:
            codes = np.where(_days_apart(gold, pred) <= self.days, _WITHIN, codes)
        codes = np.where(agree & same_parts, _EQUAL, codes)
        unknown = ~(gold > 0).any(axis=1) | ~(pred > 0).any(axis=1)
        return np.where(unknown, _NO_DATE, codes).astype(np.int16)


def _parts(values: Objects, end: str) -> Parts:
    """Return year, month and day of every value, 0 where unknown; three zeros for anything but a date."""
    rows = [_date_parts(getattr(value, end) if isinstance(value, Period) else value) for value in values]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _date_parts(value: Any) -> tuple[int, int, int]:
    if isinstance(value, Date | dt.date):
        return value.year or 0, value.month or 0, value.day or 0
    return 0, 0, 0


def _days_apart(gold: Parts, pred: Parts) -> npt.NDArray[np.float64]:
    full = np.asarray(((gold > 0) & (pred > 0)).all(axis=1), dtype=np.bool_)
    apart = np.full(len(gold), np.inf)
    apart[full] = np.abs(_ordinals(gold[full]) - _ordinals(pred[full]))
    return apart


def _ordinals(parts: Parts) -> npt.NDArray[np.int64]:
    months = (parts[:, 0] - 1970) * 12 + parts[:, 1] - 1
    days: npt.NDArray[np.int64] = (
        months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + parts[:, 2]
    )
    return days
