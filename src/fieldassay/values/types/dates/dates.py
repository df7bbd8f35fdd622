"""Dates, and dates with a time."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Reader, Reading, UnreadableError, json_text, unreadable
from fieldassay.values.types.dates.names import (
    ORDINALS,
    WORD,
    Order,
    locale_data,
    names,
    text_without_dots,
    unfold_east_asian,
)
from fieldassay.values.types.dates.parts import (
    FLAG,
    PLAIN_YEARS,
    YEARS,
    Calendar,
    Date,
    DateReading,
    Parts,
    Period,
    Style,
    calendar_of,
    find,
    in_gregorian,
    split,
)
from fieldassay.values.types.dates.times import MOST_CHARACTERS, cut_time, plain_text, shortest

# Dates, whole or partial, and periods of dates.

_OPENING = re.compile(r"^(?:from|von|vom|du|des|dal|dall|del|desde|de|van|od|fran|period)\b[\s:'’]*")
_BETWEEN = re.compile(r"^(?:between|zwischen|entre|tra|fra|mellan|mellem|mellom|tussen)\b\s*")
"""What makes `and` the middle of a period: `15 and 17 March` are two dates."""
_AND = "and|und|e|y|et|och|og|en"
_TO = "to|until|till|til|till och med|through|thru|bis zum|bis|au|al|a|ate|tot en met|tot|hasta|do"
_AND_BETWEEN = re.compile(rf"(?<!\s)\s++(?:{_AND})\s++")
_CONNECTORS = (
    re.compile(rf"(?<!\s)\s++(?:{_TO})\s++"),
    re.compile(r"(?:(?<!\s)\s++)?\.\.\.?\s*+"),
    re.compile(r"(?<!\s)\s++[-–—~/]++\s++"),
    re.compile(r"(?:(?<!\s)\s++)?(?:[–—~]|--)\s*+"),
    re.compile(r"(?:(?<!\s)\s++)?-\s*+"),
    re.compile(r"(?:(?<!\s)\s++)?/\s*+"),
)
_MOST_SPLITS = 8


def find_period(text: str, style: Style) -> tuple[Period, tuple[str, ...]] | None:
    """Return the period that a folded text denotes, with its doubts as flags; None if it denotes none.

    Raises `UnreadableError` if the period would end before it starts.
    """
    between = _BETWEEN.sub("", text)
    plain = _OPENING.sub("", between)
    if has_foreign_word(plain, style.locale):
        return None
    return search_splits(_with_whole_end(plain), style, (_AND_BETWEEN,) * (between != text))


_SHORT_END = re.compile(r"(\d{4})([-/])(\d\d?)(?:\2(\d\d?))?\s*([-/–])\s*(\d\d?)(?:\2(\d\d?))?")


def _with_whole_end(text: str) -> str:
    """Return an interval with all parts at its end, which ISO 8601 lets leave out what both ends share.

    >>> _with_whole_end("2008-06/07"), _with_whole_end("2008-06-01/30"), _with_whole_end("2008-06-01/07-15")
    ('2008-06/2008-07', '2008-06-01/2008-06-30', '2008-06-01/2008-07-15')
    """
    match = _SHORT_END.fullmatch(text)
    if match is None or match[5] == match[2]:
        return text
    year, sign, month, day, joint, *end = match.groups()
    start = [part for part in (year, month, day) if part is not None]
    last = [part for part in end if part is not None]
    if len(last) >= len(start):
        return text
    whole = sign.join([*start[: len(start) - len(last)], *last])
    return f"{sign.join(start)}{joint}{whole}"


def has_foreign_word(text: str, locale: str | None) -> bool:
    """Return whether a word stands in neither dates nor connectors: no split of the text gives two dates.

    Words end where a split can be, except at a tilde.
    """
    period_words = _words_of_periods(locale)
    words = WORD.findall(text)
    return any(
        word not in period_words and "~" not in word and not set(word) & set("年月日") for word in words
    )


@lru_cache(maxsize=64)
def _words_of_periods(locale: str | None) -> frozenset[str]:
    locale_names = names(locale)
    phrases = " ".join([*locale_names.phrases, *ORDINALS, f"{_TO}|{_AND}".replace("|", " ")])
    return frozenset(phrases.split()).union(locale_names.months, locale_names.weekdays)


def search_splits(
    text: str, style: Style, more: Sequence[re.Pattern[str]] = ()
) -> tuple[Period, tuple[str, ...]] | None:
    """Return the same for the first split of the text into two dates, at `more` connectors, too."""
    for left, right in _splits(text, (*more, *_CONNECTORS)):
        try:
            first, last = (split(side, style) for side in (left, right))
            start, end = _sides(first, last, style)
            period = Period(start.date(), end.date())
        except UnreadableError:
            continue
        if (start.year is None) != (end.year is None) or (
            start.year is None and (start.is_bare or end.is_bare) and style.order is None
        ):
            continue
        begins, ends = period.first(), period.last()
        if begins and ends and begins > ends:
            raise UnreadableError("the period ends before it starts")
        is_mixed = not {"-", "/"} - set(text) and not _FOUR_DIGITS.search(text)  # 12/23-01/24
        is_yearless = start.year is None and end.year is None  # Sept 26-27 may be a day of 2027
        flags = (*start.flags, *end.flags, *("ambiguous",) * (is_mixed or is_yearless))
        return period, tuple(dict.fromkeys(flags))
    return None


_FOUR_DIGITS = re.compile(r"\d{4}")
_WHOLE_DATE = re.compile(r"(?<!\d)(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{4})(?!\d)")


def _splits(text: str, connectors: Sequence[re.Pattern[str]]) -> Iterator[tuple[str, str]]:
    whole = [(date.start(), date.end()) for date in _WHOLE_DATE.finditer(text)]
    for connector in connectors:
        for count, match in enumerate(connector.finditer(text)):
            if count == _MOST_SPLITS:
                break
            is_inside = any(start < match.start() < end for start, end in whole)
            if not is_inside and text[: match.start()].strip() and text[match.end() :].strip():
                yield text[: match.start()], text[match.end() :]


def _sides(left: Parts, right: Parts, style: Style) -> tuple[DateReading, DateReading]:
    if left.month is not None and not left.years:
        left = replace(left, numbers_before_month=1)
        if right.month is None and len(right.numbers) <= 2:
            right = replace(right, month=left.month, numbers_before_month=1)  # March 1-15, 2025
    start, end = find(left, style), find(right, style)
    shown = start.shown or end.shown
    if shown is not None:
        start, end = find(left, replace(style, shown=shown)), find(right, replace(style, shown=shown))
    return _in_years(_completed(start, end), _completed(end, start), start.year is None, end.year is None)


def _completed(reading: DateReading, other: DateReading) -> DateReading:
    if reading.day is not None and reading.month is None:
        if other.day is None:
            raise UnreadableError("has no month")
        return replace(reading, month=other.month, year=other.year)
    if reading.year is not None or other.year is None or other.month is None or reading.month is None:
        return reading
    if (reading.day is None) != (other.day is None):
        raise UnreadableError("has a day on one side only")
    return replace(reading, year=other.year)


def _in_years(
    start: DateReading, end: DateReading, is_start_open: bool, is_end_open: bool
) -> tuple[DateReading, DateReading]:
    if start.year is None or start.year != end.year or (start.month or 1) <= (end.month or 12):
        return start, end
    if is_start_open:  # 15 December - 3 January 2025
        return replace(start, year=start.year - 1), end
    return (start, replace(end, year=start.year + 1)) if is_end_open else (start, end)


_WITHOUT_YEAR = re.compile(r"--(\d{2})-(\d{2})")
_CLOCK = re.compile(r"\d:\d|\dt\d{4}|\dh\d\d(?!\d)")
ORDERS = ("dmy", "mdy", "ymd")


def check_style(order: str | None, locale: str | None, pivot: int, calendar: str | None) -> None:
    """Raise ValueError if the options of a date are not valid."""
    if order is not None and order not in ORDERS:
        raise ValueError(f"order cannot be {order!r}; one of: {', '.join(ORDERS)}")
    if not 0 <= pivot <= 100:
        raise ValueError(f"pivot cannot be {pivot}; it is a two-digit year, 0 to 100")
    if locale is not None:
        locale_data(locale)
    calendar_of(calendar, locale)


class DateReader(Reader, Struct, frozen=True):
    """Reads dates as `Date` and ranges of dates as `Period`.

    `order` is the order of day, month and year in 03/04/2025; the default is the locale's order, or day first
    without a locale. A reading that needed this rule is flagged `ambiguous`. Two-digit years below `pivot`
    are 20yy, the others 19yy. Without `partial` a date needs a day, a month and a year. `calendar` is that of
    the dates, by default the one that CLDR names first for the locale's country; what is plausible only as a
    Gregorian year is one, flagged `calendar`, as are years before 1600 and after 2200.

    >>> DateReader().read("15 March 2025").canonical, DateReader().read("1-15 March 2025").canonical
    ('2025-03-15', '2025-03-01/2025-03-15')
    >>> reading = DateReader(order="mdy").read("03/04/2025")
    >>> reading.value, reading.canonical, reading.flags
    (Date(year=2025, month=3, day=4), '2025-03-04', ('ambiguous',))
    """

    order: Order | None = None
    locale: str | None = None
    pivot: int = 69
    partial: bool = True
    calendar: Calendar | None = None

    def __post_init__(self) -> None:
        check_style(self.order, self.locale, self.pivot, self.calendar)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, str):
            iso = _iso(text)
            return Reading(text, iso, text) if iso is not None else self._read_text(text, ())
        if isinstance(raw, bool | float) or not (1000 <= raw <= 9999 or 10_000_000 <= raw <= 99_999_999):
            return unreadable(text, "a number is a date only as YYYY or YYYYMMDD")
        return self._read_text(text, ("coerced",))

    def _read_text(self, text: str, flags: tuple[str, ...]) -> Reading:
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a date")
        plain, had_time = _without_times(plain_text(text))
        calendar = calendar_of(self.calendar, self.locale)
        style = Style(self.order, self.locale, self.pivot, calendar=calendar)
        value, doubts = read_date(plain, style)
        if not self.partial:
            _check_whole(value)
        return Reading(text, value, str(value), (*doubts, *(("coerced",) if had_time else flags)))


_NUMERAL = "x?i{1,3}|i?[vx]|vi{1,3}"
_ROMAN = re.compile(
    rf"(?<!\d)(?:(?P<day>\d{{1,2}})(?P<gap>[./ -]) ?(?P<month>{_NUMERAL})(?P=gap) ?(?P<year>\d{{4}})"
    rf"|(?P<year2>\d{{4}})(?P<gap2>[./ -]) ?(?P<month2>{_NUMERAL})(?P=gap2) ?(?P<day2>\d{{1,2}}))(?!\d)"
)
_NUMERALS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii")
_TOWN = re.compile(r"[^\W\d_][^\d,]{0,60}, ?(?:(?:den|am|le|il|el|em|the) )?(?=\d)")
_FOOTNOTES = " *†‡§"


def read_date(text: str, style: Style) -> tuple[Date | Period, tuple[str, ...]]:
    """Return the date or period of a folded text with its doubts as flags; raises `UnreadableError`.

    A month may be a Roman numeral, a town may stand before the date, and a mark of a footnote behind it. A
    town is doubtful: it may be a weekday that is spelled wrong, or words that limit the date.
    """
    try:
        return _read_date(text, style)
    except UnreadableError:
        plain = _ROMAN.sub(_from_roman, text.rstrip(_FOOTNOTES))
        town = _TOWN.match(plain)
        if town is None and plain == text:
            raise
        value, doubts = _read_date(plain[town.end() if town else 0 :], style)
        return value, doubts if town is None or "ambiguous" in doubts else ("ambiguous", *doubts)


def _from_roman(match: re.Match[str]) -> str:
    year, month, day = (match[name] or match[f"{name}2"] for name in ("year", "month", "day"))
    return f"{year}-{_NUMERALS.index(month) + 1:02}-{int(day):02}" if month in _NUMERALS else match[0]


def _read_date(text: str, style: Style) -> tuple[Date | Period, tuple[str, ...]]:
    converted = in_gregorian(text, style.calendar, style.locale)
    value, doubts = _read_gregorian(converted.text, style)
    if converted.is_doubtful and "ambiguous" not in doubts:
        doubts = ("ambiguous", *doubts)
    years = {date.year for date in ends_of(value)} - {None}
    is_own = converted.is_other or style.calendar in ("gregorian", "japanese")
    return value, doubts if years <= YEARS and (is_own or not years) else (*doubts, FLAG)


def _read_gregorian(text: str, style: Style) -> tuple[Date | Period, tuple[str, ...]]:
    text = unfold_east_asian(text_without_dots(text, style.locale))
    words = WORD.findall(text)
    if words:
        languages, has_month = names(style.locale).languages_of(words)
        style = replace(style, languages=languages, has_month=has_month)
    without_year = _WITHOUT_YEAR.fullmatch(text)
    if without_year:
        text, style = f"{without_year[1]}-{without_year[2]}", Style("mdy", shown="mdy")
    try:
        reading = find(split(text, style), style)
        if reading.is_bare and style.order is None:
            raise UnreadableError("has no year; a day and a month in numbers need an order")
        return reading.date(), reading.flags if without_year is None else ()
    except UnreadableError as why:
        period = find_period(text, style)
        if period is None:
            raise why from None
        return period


@lru_cache(maxsize=4096)
def _iso(text: str) -> Date | None:
    if len(text) == 10 and text[4] == "-" == text[7]:
        try:
            day = dt.date.fromisoformat(text)
        except ValueError:
            return None
        return Date(day.year, day.month, day.day) if day.year in PLAIN_YEARS else None
    return None


def _without_times(text: str) -> tuple[str, bool]:
    plain = text
    while _CLOCK.search(plain):  # ends: the text is bounded and every round removes digits
        cut = cut_time(plain)
        if cut is None:
            break
        plain = cut.text
    return plain, plain != text


def ends_of(value: Date | Period) -> tuple[Date, ...]:
    """Return the first and the last date of a period, or the only one."""
    return (value.start, value.end) if isinstance(value, Period) else (value,)


def _check_whole(value: Date | Period) -> None:
    for date in ends_of(value):
        if not date.is_full:
            raise UnreadableError("is only a part of a date")


# Points in time: a date and a time of day, with or without an offset from UTC.


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
        check_style(self.order, self.locale, self.pivot, self.calendar)

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str):
            return unreadable(text, "a point in time is text, such as 2025-03-15T10:00:00Z")
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a point in time")
        moment, doubts = self._moment(plain_text(text))
        return Reading(text, moment, moment_text(moment), doubts)

    def _moment(self, text: str) -> tuple[dt.datetime, tuple[str, ...]]:
        cut = cut_time(text)
        if cut is None:
            raise UnreadableError("has no time of day")
        cut.check_zone()
        style = Style(self.order, self.locale, self.pivot, calendar=calendar_of(self.calendar, self.locale))
        date, doubts = read_date(cut.text, style)
        day = date.first() if isinstance(date, Date) and date.is_full else None
        if day is None:
            raise UnreadableError("needs one whole date with the time")
        try:
            moment = dt.datetime.combine(day, cut.time) + dt.timedelta(days=int(cut.is_next_day))
            return moment, ("ambiguous",) if cut.may_be_span else doubts
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
