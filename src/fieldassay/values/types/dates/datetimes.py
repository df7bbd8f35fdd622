"""Points in time: a date and a time of day, with or without an offset from UTC."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates.calendars import Calendar, calendar_of
from fieldassay.values.types.dates.dates import check_style, read_date
from fieldassay.values.types.dates.names import Order
from fieldassay.values.types.dates.parts import Style
from fieldassay.values.types.dates.period import Date
from fieldassay.values.types.dates.times import MOST_CHARACTERS, cut_time, plain_text, shortest
from fieldassay.values.types.dates.tokens import read_tokens
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text
from fieldassay.values.types.unreadable import UnreadableError, unreadable


class DateTimeReader(Reader, Struct, frozen=True):
    """Reads a date with a time of day as a `datetime.datetime`.

    The date follows the rules and options of `DateReader`. Two values with offsets are equal if they denote
    the same instant; a value without an offset never equals one with an offset.

    >>> DateTimeReader().read("2025-03-15T10:00:00+02:00").canonical
    '2025-03-15T08:00:00Z'
    >>> DateTimeReader().read("15/03/2025 2:05 pm").canonical
    '2025-03-15T14:05:00'
    """

    order: Order | None = None
    locale: str | None = None
    pivot: int = 69
    calendar: Calendar | None = None

    def __post_init__(self) -> None:
        check_style(self.order, self.locale, self.pivot)
        calendar_of(self.calendar, self.locale)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str):
            return unreadable(text, "a point in time is text, such as 2025-03-15T10:00:00Z")
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a point in time")
        try:
            moment, doubts = self._moment(plain_text(text))
            canonical = moment_text(moment)
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, moment, canonical, doubts)

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        value = self.read(raw).value
        dates = () if value is None else (Date(value.year, value.month, value.day),)
        return read_tokens(raw, dates, Style(locale=self.locale)) if isinstance(raw, str) else ()

    def _moment(self, text: str) -> tuple[dt.datetime, tuple[str, ...]]:
        cut = cut_time(text)
        if cut is None:
            raise UnreadableError("has no time of day")
        cut.check_zone()
        style = Style(self.order, self.locale, self.pivot, calendar=calendar_of(self.calendar, self.locale))
        date, doubts = read_date(cut.text, style)
        day = date.first() if isinstance(date, Date) and date.is_full else None
        if day is None:
            raise UnreadableError("needs one whole date beside the time")
        try:
            return dt.datetime.combine(day, cut.time) + dt.timedelta(days=int(cut.is_next_day)), doubts
        except OverflowError:
            raise UnreadableError("is after the year 9999") from None


def moment_text(moment: dt.datetime) -> str:
    """Return the canonical text of a point in time, in UTC with `Z` if its offset is known.

    Raises `UnreadableError` if the UTC time is outside the calendar.
    """
    if moment.tzinfo is None:
        return shortest(moment)
    try:
        return shortest(moment.astimezone(dt.UTC)) + "Z"
    except OverflowError:
        raise UnreadableError("is outside the years 1 to 9999 in UTC") from None
