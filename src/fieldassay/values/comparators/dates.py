"""Comparators of dates, as days and as text."""

import datetime as dt
import re
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.comparators.base import Codes, Comparator, Scores, judge_each, scores_by_code
from fieldassay.values.types.column import Column, Objects
from fieldassay.values.types.dates.parts import Date, Period

# Dates by the calendar.

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
        codes = self._end_codes(_parts(gold.values, "start"), _parts(pred.values, "start"))
        if Period in {*map(type, gold.values), *map(type, pred.values)}:
            last = self._end_codes(_parts(gold.values, "end"), _parts(pred.values, "end"))
            codes = np.where(_RANK[codes] >= _RANK[last], codes, last)
        return scores_by_code(codes, _SCORES)

    def _end_codes(self, gold: Parts, pred: Parts) -> Codes:
        is_in_both = (gold > 0) & (pred > 0)
        agree = ((gold == pred) | ~is_in_both).all(axis=1) & is_in_both.any(axis=1)
        same_parts = ((gold > 0) == (pred > 0)).all(axis=1)
        swapped = (gold > 0).all(axis=1) & (gold == pred[:, [0, 2, 1]]).all(axis=1)
        codes = np.where(swapped, _SWAPPED, _DIFFERENT)
        codes = np.where(agree, _COARSER if self.precision == "coarsest" else _PRECISION, codes)
        if self.days:
            full = np.asarray(((gold > 0) & (pred > 0)).all(axis=1), dtype=np.bool_)
            apart = np.full(len(gold), np.inf)
            apart[full] = np.abs(_ordinals(gold[full]) - _ordinals(pred[full]))
            codes = np.where(apart <= self.days, _WITHIN, codes)
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


def _ordinals(parts: Parts) -> npt.NDArray[np.int64]:
    months = (parts[:, 0] - 1970) * 12 + parts[:, 1] - 1
    days: npt.NDArray[np.int64] = (
        months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + parts[:, 2]
    )
    return days


# Dates compared as written: runs of digits, or the parts present on both sides.

_DIGIT_RUN = re.compile(r"\d+")
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+")
_LONGEST_DATE = 200
_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)


class DateComponents(Comparator, Struct, frozen=True):
    """The digit runs of the two texts as sets: 1 if equal, `partial` if at least two are in common, else 0.

    The order of the runs does not count: 04/05/2025 and 05/04/2025 are equal. The reason is then
    `components_exchanged`, unless one text begins with the year and the other ends with it. A text without a
    digit scores 0. Source: the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> DateComponents().compare_one(*(Reading(text, None, text) for text in ("15/03/2025", "15 March 2025")))
    (0.8, 'two_components')
    """

    partial: float = 0.8
    reasons: ClassVar[tuple[str, ...]] = (
        "equal",
        "different",
        "same_components",
        "two_components",
        "no_digits",
        "components_exchanged",
    )
    accept: ClassVar[float] = 0.8

    def __post_init__(self) -> None:
        if not 0 <= self.partial <= 1:
            raise ValueError(f"date_components: partial is {self.partial}; give a score from 0 to 1")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = judge_each(_component_code, gold.texts, pred.texts)
        return scores_by_code(codes, (1.0, 0.0, 1.0, self.partial, 0.0, 1.0))


def _component_code(gold: str, pred: str) -> int:
    written, read = _DIGIT_RUN.findall(gold), _DIGIT_RUN.findall(pred)
    gold_runs, pred_runs = set(written), set(read)
    if not gold_runs or not pred_runs:
        return 4
    if gold_runs == pred_runs:
        return 2 if _year_last(written) == _year_last(read) else 5
    return 3 if len(gold_runs & pred_runs) >= 2 else 1


def _year_last(runs: list[str]) -> list[str]:
    """Return the runs in an order that ends with the year."""
    return runs[::-1] if len(runs[0]) == 4 else runs


class DateParts(Comparator, Struct, frozen=True):
    """1 if the date parts present on both sides, at least two, agree; else 0.

    The parts are day, month and year. Typed dates are taken as read. In other texts a four-digit number is
    the year, English month names and their abbreviations count, other numbers go by `order`. A number that
    can be no part of a date (of three or of more than four digits, or of four outside 1000 to 2999)
    contradicts a text without it. Source: the transaction dates of the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> DateParts().compare_one(*(Reading(text, text, text) for text in ("15/03/2025", "15 Mar")))
    (1.0, 'parts_agree')
    """

    order: Literal["dmy", "mdy", "ymd"] = "dmy"
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "parts_agree", "too_few_parts")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        for index in range(len(gold)):
            (gold_parts, gold_strange), (pred_parts, pred_strange) = (
                self._parts(gold, index),
                self._parts(pred, index),
            )
            codes[index] = 1 if gold_strange != pred_strange else _part_code(gold_parts, pred_parts)
        return scores_by_code(codes, (1.0, 0.0, 1.0, 0.0))

    def _parts(self, column: Column, index: int) -> tuple[dict[str, int], set[str]]:
        """Return the parts of a date, and the numbers that can be no part of it."""
        value: Any = column.values[index]
        if isinstance(value, Date | dt.date):
            parts = {"d": value.day, "m": value.month, "y": value.year}
            return {part: number for part, number in parts.items() if number is not None}, set()
        return _written_parts(column.texts[index][:_LONGEST_DATE], self.order)


def _part_code(gold: dict[str, int], pred: dict[str, int]) -> int:
    shared = gold.keys() & pred.keys()
    if any(not _agree(part, gold[part], pred[part]) for part in shared):
        return 1
    return 2 if len(shared) >= 2 else 3


def _agree(part: str, gold: int, pred: int) -> bool:
    is_short_year = part == "y" and (gold < 100 or pred < 100)
    return gold % 100 == pred % 100 if is_short_year else gold == pred


def _written_parts(text: str, order: str) -> tuple[dict[str, int], set[str]]:
    tokens = _TOKEN.findall(text)
    numbers = [token for token in tokens if token.isdecimal()]
    months = [month for token in tokens if (month := _month(token))]
    parts = {"m": months[0]} if months else {}
    years = [token for token in numbers if len(token) == 4 and "1000" <= token < "3000"]
    if years:
        parts["y"] = int(years[0])
    if numbers and numbers[0] in years:
        order = "ymd"
    open_parts = [part for part in ("dmy" if "m" in parts else order) if part not in parts]
    rest = [int(token) for token in numbers if len(token) <= 2]
    strange = {token for token in numbers if len(token) > 2 and token not in years}
    return parts | dict(zip(_fitting(open_parts, rest), rest, strict=False)), strange


def _fitting(parts: list[str], numbers: list[int]) -> list[str]:
    """Return the parts for that many numbers.

    A single number is the day; two never include a year unless the month is named.
    """
    if len(numbers) == 1 and "d" in parts:
        return ["d"]
    return [part for part in parts if part != "y"] if len(numbers) == 2 and len(parts) == 3 else parts


def _month(token: str) -> int | None:
    name = token.lower()
    if len(name) < 3:
        return None
    return next(
        (number for number, month in enumerate(_MONTHS, 1) if month.startswith(name) or name == month[:4]),
        None,
    )
