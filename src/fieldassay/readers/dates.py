"""Dates, whole or partial, and periods of dates."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from fieldassay.readers.base import Reader
from fieldassay.readers.date_names import Order, fold, locale_data
from fieldassay.readers.date_parts import Style, find, split
from fieldassay.readers.date_ranges import find_period
from fieldassay.readers.distinct import read_distinct
from fieldassay.readers.text import json_text
from fieldassay.readers.times import MOST_CHARACTERS, cut_time
from fieldassay.readers.unreadable import UnreadableError, unreadable
from fieldassay.values.column import Column, Reading, objects
from fieldassay.values.json import Scalar
from fieldassay.values.period import Date, Period

_WITHOUT_YEAR = re.compile(r"--(\d{2})-(\d{2})")
_CLOCK = re.compile(r"\d:\d|\dt\d{4}")
ORDERS = ("dmy", "mdy", "ymd")


def check_style(order: str | None, locale: str | None, pivot: int) -> None:
    """Raise ValueError if the options of a date are not valid."""
    if order is not None and order not in ORDERS:
        raise ValueError(f"order cannot be {order!r}; one of: {', '.join(ORDERS)}")
    if not 0 <= pivot <= 100:
        raise ValueError(f"pivot cannot be {pivot}; it is a two-digit year, 0 to 100")
    if locale is not None:
        locale_data(locale)


@dataclass(frozen=True, slots=True)
class DateReader(Reader):
    """Reads dates into `Date`, and ranges of dates into `Period`.

    `order` says how 03/04/2025 is meant; without it the locale does, and without either the day comes first. Wherever that had to decide
    the reading is flagged `ambiguous`. Two-digit years below `pivot` are 20yy, the others 19yy. Without `partial` a date needs its day,
    month and year.

    >>> DateReader().read("15 March 2025").canonical, DateReader().read("1-15 March 2025").canonical
    ('2025-03-15', '2025-03-01/2025-03-15')
    >>> DateReader(order="mdy").read("03/04/2025")
    Reading(text='03/04/2025', value=Date(year=2025, month=3, day=4), canonical='2025-03-04', flags=('ambiguous',), problem=None)
    """

    order: Order | None = None
    locale: str | None = None
    pivot: int = 69
    partial: bool = True

    def __post_init__(self) -> None:
        check_style(self.order, self.locale, self.pivot)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, str):
            iso = _iso(text)
            return Reading(text, iso, text) if iso is not None else self._read_text(text, ())
        if isinstance(raw, bool | float) or not (1000 <= raw <= 9999 or 10_000_000 <= raw <= 99_999_999):
            return unreadable(text, "a number is a date only as YYYY or YYYYMMDD")
        return self._read_text(text, ("coerced",))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        plain: dict[str, Date | None] = {}
        for raw in raws:
            if raw.__class__ is str and raw not in plain:
                plain[raw] = _iso(raw)
        values = [plain[raw] if raw.__class__ is str else None for raw in raws]
        others = [index for index, value in enumerate(values) if value is None]
        if len(others) == len(raws):
            return read_distinct(self.read, raws)
        texts = objects(raws)
        return _patched(Column(texts, objects(values), texts), others, read_distinct(self.read, [raws[index] for index in others]))

    def _read_text(self, text: str, flags: tuple[str, ...]) -> Reading:
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a date")
        try:
            plain, had_time = _without_times(fold(text).strip())
            value, is_ambiguous = read_date(plain, Style(self.order, self.locale, self.pivot))
            if not self.partial:
                _check_whole(value)
        except UnreadableError as why:
            return unreadable(text, why)
        remarks = (*(("ambiguous",) if is_ambiguous else ()), *(("coerced",) if had_time else flags))
        return Reading(text, value, str(value), remarks)


def _patched(column: Column, positions: list[int], others: Column) -> Column:
    if not positions:
        return column
    texts, canonical = column.texts.copy(), column.canonical.copy()
    texts[positions], canonical[positions], column.values[positions] = others.texts, others.canonical, others.values
    flags = {positions[index]: flags for index, flags in others.flags.items()}
    return Column(texts, column.values, canonical, flags, {positions[index]: why for index, why in others.problems.items()})


def read_date(text: str, style: Style) -> tuple[Date | Period, bool]:
    """Return what a folded text means and whether it was ambiguous; raises `UnreadableError`."""
    without_year = _WITHOUT_YEAR.fullmatch(text)
    if without_year:
        text, style = f"{without_year[1]}-{without_year[2]}", Style("mdy", shown="mdy")
    try:
        found = find(split(text, style.locale), style)
        if found.is_bare and style.order is None:
            raise UnreadableError("has no year; a day and a month in numbers need an order")
        return found.date(), found.is_ambiguous and without_year is None
    except UnreadableError as why:
        period = find_period(text, style)
        if period is None:
            raise why from None
        return period


def _iso(text: str) -> Date | None:
    if len(text) == 10 and text[4] == "-" == text[7]:
        try:
            day = dt.date.fromisoformat(text)
        except ValueError:
            return None
        return Date(day.year, day.month, day.day)
    return None


def _without_times(text: str) -> tuple[str, bool]:
    plain = text
    while _CLOCK.search(plain):  # at most as often as the bounded text has digits: every round cuts some
        cut = cut_time(plain)
        if cut is None:
            break
        plain = cut[0]
    return plain, plain != text


def _check_whole(value: Date | Period) -> None:
    for date in (value.start, value.end) if isinstance(value, Period) else (value,):
        if not date.is_full:
            raise UnreadableError("is only a part of a date")
