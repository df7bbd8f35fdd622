"""Dates and their parts: periods, years, months and days in any order, and calendars."""

import calendar
import datetime as dt
import re
from decimal import Decimal
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import MissingExtraError, install_line
from fieldassay.values.types.column import UnreadableError
from fieldassay.values.types.dates.names import ORDINALS, TIME, WORD, Names, Order, date_order, fold, names
from fieldassay.values.types.locales import find_locale

# Calendar values: dates, possibly partial, periods and durations.


class Date(Struct, frozen=True):
    """A calendar date at the precision of the document: a day, a month, a year, or a day without a year.

    Its text is ISO 8601: `2025-03-15`, `2025-03`, `2025`, and `--03-15` without a year.

    >>> str(Date(2025, 3)), str(Date(2025, 3, 15)), str(Date(None, 3, 15))
    ('2025-03', '2025-03-15', '--03-15')
    """

    year: int | None
    month: int | None = None
    day: int | None = None

    def __str__(self) -> str:
        if self.year is None:
            return f"--{self.month:02d}-{self.day:02d}"
        text = f"{self.year:04d}"
        if self.month is not None:
            text += f"-{self.month:02d}"
        return text if self.day is None else f"{text}-{self.day:02d}"

    @property
    def is_full(self) -> bool:
        """Return True if year, month and day are all known."""
        return self.year is not None and self.month is not None and self.day is not None

    def first(self) -> dt.date | None:
        """Return the earliest possible day; None without a year.

        >>> Date(2024, 2).first(), Date(2024, 2).last()
        (datetime.date(2024, 2, 1), datetime.date(2024, 2, 29))
        """
        return None if self.year is None else dt.date(self.year, self.month or 1, self.day or 1)

    def last(self) -> dt.date | None:
        """Return the latest possible day; None without a year."""
        if self.year is None:
            return None
        month = self.month or 12
        return dt.date(self.year, month, self.day or calendar.monthrange(self.year, month)[1])


class Period(Struct, frozen=True):
    """The days from `start` to `end`, both included; either may be partial.

    >>> str(Period(Date(2025, 1), Date(2025, 3)))
    '2025-01/2025-03'
    """

    start: Date
    end: Date

    def __str__(self) -> str:
        return f"{self.start}/{self.end}"

    def first(self) -> dt.date | None:
        """Return the first day; None without a year."""
        return self.start.first()

    def last(self) -> dt.date | None:
        """Return the last day; None without a year."""
        return self.end.last()


class Duration(Struct, frozen=True):
    """A length of time in exact seconds and, separately, whole months, which have no fixed length.

    Both have the same sign. A day is 86400 seconds, a week seven days. Its text is ISO 8601, with seconds
    carried over into larger units and months into years.

    >>> str(Duration(Decimal(5400))), str(Duration(Decimal(0), 14)), str(Duration(Decimal("-0.5")))
    ('PT1H30M', 'P1Y2M', '-PT0.5S')
    """

    seconds: Decimal
    months: int = 0

    def __str__(self) -> str:
        years, months = divmod(abs(self.months), 12)
        whole = int(abs(self.seconds))
        fraction = f"{abs(self.seconds) - whole:f}".partition(".")[2].rstrip("0")
        minutes, seconds = divmod(whole, 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        second = f"{seconds}.{fraction}" if fraction else str(seconds)
        dates = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (days, "D")) if n)
        times = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n) + (
            f"{second}S" if second != "0" else ""
        )
        if not dates and not times:
            return "PT0S"
        sign = "-" if self.seconds < 0 or self.months < 0 else ""
        return f"{sign}P{dates}" + (f"T{times}" if times else "")


# Year, month and day from the numbers and words of one date, with every guess flagged.

_TOKEN = re.compile(rf"(\d+)|({TIME})|({WORD.pattern})")
_SEPARATOR = re.compile(r"\s*+(?:[./,\-–—’'\"()](?:\s?[.,'’(])?\s*+)?")
_ORDER = re.compile(r"[WTs]*+[dMyos]*+(?:[WTs]++y)?[WTs]*+")
"""The order of kinds of parts: weekday and time stand outside, or before the year (`Mar 15 10:00 2025`)."""
_PERIODS = {
    "h", "hy", "s", "q", "t", "w", "wk", "kw", "cw", "p", "fy", "half", "quarter", "quartal", "week", "woche",
}  # fmt: skip
_HYPHENS = ("-", "–", "—")
_ABBREVIATED_YEAR = re.compile(r"\s*['’]")
_PARTS_OF_A_DATE, _SHORTEST_WEEKDAY = 3, 2
_NO_DAY = "no calendar has this day"


class Style(Struct, frozen=True):
    """The rules for dates whose text is ambiguous; `shown` is the order proved by a neighboring date.

    `languages` are those of the months or weekdays of the text.
    """

    order: Order | None = None
    locale: str | None = None
    pivot: int = 69
    shown: Order | None = None
    languages: frozenset[str] = frozenset()
    has_month: bool = False
    calendar: str = "gregorian"

    @property
    def preferred(self) -> Order:
        """Return the order to try first."""
        return self.shown or self.order or (date_order(self.locale) if self.locale else "dmy")

    @property
    def day_first(self) -> Order:
        """Return the order to try first where the year comes last."""
        if self.preferred != "ymd":
            return self.preferred
        return "mdy" if self.locale and date_order(self.locale) == "mdy" else "dmy"


class DateReading(Struct, frozen=True):
    """The parts found in the text of a date.

    `shown` is the order of its numbers if only one was possible; `is_bare` means a day and a month, both
    written as numbers; `is_contradictory` that the date is no such weekday.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    is_ambiguous: bool = False
    shown: Order | None = None
    is_bare: bool = False
    is_contradictory: bool = False

    @property
    def flags(self) -> tuple[str, ...]:
        """Return the doubts as flags."""
        return (*("ambiguous",) * self.is_ambiguous, *("contradictory",) * self.is_contradictory)

    def date(self) -> Date:
        """Return the date; raises `UnreadableError` if it is outside the calendar or incomplete."""
        if self.year is None and (self.month is None or self.day is None):
            raise UnreadableError("has no year")
        if self.day is not None and self.month is None:
            raise UnreadableError("has no month")
        if not _is_possible(self):
            raise UnreadableError(_NO_DAY)
        return Date(self.year, self.month, self.day)


class Parts(Struct, frozen=True):
    """The numbers of a date in order, and its month if it is a word.

    Years are recognized by four digits or an apostrophe.
    `is_span` is true of two days or months with another sign between them than the rest: `Sept 26-27`.
    """

    numbers: tuple[str, ...]
    years: frozenset[int]
    month: int | None = None
    numbers_before_month: int = 0
    is_clashing: bool = False
    weekday: int | None = None
    is_span: bool = False


def split(text: str, style: Style) -> Parts:
    """Return the parts of a folded text; raises `UnreadableError` for anything that is no part of a date."""
    locale_names = names(style.locale)
    texts: list[str] = []
    gaps: list[str] = []
    numbers: list[str] = []
    years: set[int] = set()
    months: list[tuple[str, int]] = []
    kinds, end = "", 0
    for token in _TOKEN.finditer(text):
        between, word = text[end : token.start()], token[0]
        if not (_is_separator(between) if end else not between.strip("(., '’")):
            raise UnreadableError(f"{between.strip()!r} does not belong in a date")
        if token.lastindex == 1:
            is_year = len(word) == 4
            if is_year or (len(word) == 2 and kinds[-1:] != "?" and _ABBREVIATED_YEAR.fullmatch(between)):
                years.add(len(numbers))
            numbers.append(word)
            kinds += "y" if is_year else "d"
        elif word in locale_names.months:
            months.append((word, len(numbers)))
            kinds += "M"
        else:
            kinds += "T" if word == TIME else "?"
        texts.append(word)
        gaps.append(between)
        end = token.end()
    if text[end:].strip("., )'’") or not texts:
        raise UnreadableError("is not a date")
    is_doubtful = False
    if "?" in kinds:
        kinds, is_doubtful = _Words(texts, gaps, kinds, style).placed()
    if not _ORDER.fullmatch(kinds):
        raise UnreadableError("has a weekday or a time inside of the date")
    parts = Parts(tuple(numbers), frozenset(years), is_clashing=is_doubtful)
    placed = zip(texts, kinds, strict=True)
    weekdays = {locale_names.days[word] for word, kind in placed if kind == "W" and word in locale_names.days}
    if len(weekdays) == 1:
        parts = replace(parts, weekday=weekdays.pop())
    if is_span(kinds, gaps, numbers):
        parts = replace(parts, is_span=True)
    return _with_month(parts, months, locale_names) if months else parts


def is_span(kinds: str, gaps: list[str], numbers: list[str]) -> bool:
    """Return whether two of the numbers of a date are the ends of a span: no date has two kinds of signs.

    That is a hyphen or a stroke between two short numbers, and another sign, or a space beside a month,
    between the others. `gaps` are what stands before each part.

    >>> is_span("Mdd", ["", " ", "-"], ["26", "27"]), is_span("ydd", ["", "-", "/"], ["2008", "06", "07"])
    (True, True)
    >>> is_span("Mdd", ["", "-", "-"], ["26", "27"]), is_span("ddy", ["", "/", "/"], ["6", "7", "2008"])
    (False, False)
    """
    if kinds.count("d") < 2:
        return False
    signs = [gap.strip() for gap in gaps[1:]]
    between = [sign for sign, pair in zip(signs, pairwise(kinds), strict=True) if pair == ("d", "d")]
    others = [sign for sign, pair in zip(signs, pairwise(kinds), strict=True) if pair != ("d", "d")]
    if kinds in ("Mdd", "ddM"):
        return between[0] in _HYPHENS and others[0] not in _HYPHENS and int(numbers[0]) < int(numbers[1])
    return len(signs) > 1 and set("dy").issuperset(kinds) and {"-", "/"} <= {*between, *others}


@lru_cache(maxsize=256)
def _is_separator(text: str) -> bool:
    return _SEPARATOR.fullmatch(text) is not None


class _Words:
    """The words of a date that are no months: weekdays (W), endings of a day (o) and small words (s)."""

    def __init__(self, texts: list[str], gaps: list[str], kinds: str, style: Style) -> None:
        self.texts, self.gaps, self.kinds, self.style = texts, gaps, kinds, style
        self.names = names(style.locale)
        self.is_doubtful = False

    def placed(self) -> tuple[str, bool]:
        """Return the kinds with those of the words, and whether one may belong to another language."""
        kinds = ""
        for at, kind in enumerate(self.kinds):
            kinds += self._kind(at, kinds) if kind == "?" else kind
        self.kinds = kinds
        for run in re.finditer("s+", kinds):
            self._join(run.start(), run.end())
        return kinds, self.is_doubtful

    def _kind(self, at: int, before: str) -> str:
        word, is_glued = self.texts[at], at > 0 and not self.gaps[at]
        if self.kinds[at + 1 : at + 2] in ("d", "y", "T") and not self.gaps[at + 1]:
            raise self._misplaced(word, " before a number")
        weekday = self.names.weekdays.get(word, frozenset())
        if weekday and not is_glued and (len(word) > _SHORTEST_WEEKDAY or self._may_speak(weekday)):
            return "W"
        endings = ORDINALS.get(word, frozenset())
        if is_glued and before[-1:] == "d" and self.style.has_month and self._may_speak(endings):
            self._allow(endings, word)
            return "o"
        return "s"

    def _join(self, start: int, end: int) -> None:
        """Raise `UnreadableError` unless the small words from start to end are phrases that stand there."""
        before = self.kinds[:start].replace("o", "")
        left, right = before[-1:] or "^", self.kinds[end : end + 1] or "$"
        if left == "d" and sum(kind in "dM" for kind in before) == _PARTS_OF_A_DATE:
            left = "y"
        stop = end
        while stop > start:
            phrase, inner = " ".join(self.texts[start:stop]), right if stop == end else "$"
            places = [
                (rights, language)
                for lefts, rights, language in self.names.phrases.get(phrase, ())
                if _fits(left, lefts, "^") and _fits(inner, rights, "$")
            ]
            if not places:
                stop -= 1
                continue
            languages = frozenset([language for _, language in places])
            is_joint = inner == "T" and any("T" in rights for rights, _ in places)
            is_loose = not start or self.gaps[start][-1:].isspace()
            if (is_joint or left in "WT") and not is_loose:
                raise self._misplaced(phrase, " in its place")
            if not is_joint or (len(phrase) == 1 and not self._may_speak(languages)):
                is_elided = stop < len(self.gaps) and self.gaps[stop][:1] in ("'", "’")
                self._allow(languages, phrase, is_elided, left == "y")
            start, stop, left = stop, end, "^"
        if start < end:
            raise self._misplaced(self.texts[start], " in its place")

    def _allow(
        self, languages: frozenset[str], word: str, is_elided: bool = False, is_behind_year: bool = False
    ) -> None:
        """Raise `UnreadableError` for a word of other languages, and for a lone letter among digits alone."""
        if "*" in languages:
            return
        is_letter, is_own = len(word) == 1 and not is_elided, bool(languages & self.names.own)
        if not self._may_speak(languages) or (
            is_letter and not (self.style.has_month or (is_own and is_behind_year))
        ):
            raise self._misplaced(word, " in its place")
        self.is_doubtful |= is_letter and not is_own and not self.style.languages <= languages

    def _may_speak(self, languages: frozenset[str]) -> bool:
        return not languages.isdisjoint(self.style.languages | self.names.own)

    def _misplaced(self, word: str, where: str) -> UnreadableError:
        if word in _PERIODS:
            what = "is not a date: half-years, quarters, terms, weeks and fiscal years are not read"
        else:
            is_known = word in self.names.phrases or word in ORDINALS
            what = f"is not a month or another word of a date{where if is_known else ''}"
        return UnreadableError(f"{word[:40]!r} {what}")


def _fits(kind: str, kinds: str, end: str) -> bool:
    """Return whether a part is one of the kinds; an end of a date may be followed by a weekday or a time."""
    return (
        kind in kinds
        or (end in kinds and kind in f"{end}WT")
        or (kind == "d" and end == "$" and "y" in kinds)
    )


def _with_month(parts: Parts, months: list[tuple[str, int]], locale_names: Names) -> Parts:
    if len(parts.numbers) == 3 or (len(months) == 2 and months[0][1] == 0 and months[1][1] == 1):
        # Examples: mar. 5 août 2025, mar 5/8/2025.
        months = [(word, before) for word, before in months if word not in locale_names.weekdays]
    if not months:
        return parts
    if len(months) > 1:
        raise UnreadableError("names more than one month")
    word, before = months[0]
    is_clashing = parts.is_clashing or word in locale_names.clashing
    return replace(
        parts, month=locale_names.months[word], numbers_before_month=before, is_clashing=is_clashing
    )


def find(parts: Parts, style: Style) -> DateReading:
    """Return the date of the parts, in the preferred order where several orders are possible.

    A weekday decides between two orders, unless the order is given.
    """
    if parts.is_span:
        raise UnreadableError("has a hyphen or a stroke inside, as a span has")
    reading = _find(parts, style)
    if parts.weekday is None:
        return reading
    if style.order is None and reading.is_ambiguous and parts.month is None:
        others = {_find(parts, replace(style, shown=order)) for order in ("dmy", "mdy")}
        fitting = [other for other in others if _weekday(other) == parts.weekday]
        if len(fitting) == 1:
            return replace(fitting[0], is_ambiguous=parts.is_clashing)
    return replace(reading, is_contradictory=_weekday(reading) not in (parts.weekday, None))


def _weekday(reading: DateReading) -> int | None:
    """Return the weekday of a whole date, 0 for Monday; None of a part, and of a day that does not exist."""
    if reading.year is None or reading.month is None or reading.day is None or not _is_possible(reading):
        return None
    return calendar.weekday(reading.year, reading.month, reading.day)


def _find(parts: Parts, style: Style) -> DateReading:
    if any(len(number) not in (1, 2, 4, 6, 8) for number in parts.numbers):
        what = "has a number that is neither a day, a month nor a year"
        is_roc = len(parts.numbers[0]) == 3
        raise UnreadableError(what + "; `calendar: roc` has years of three digits" * is_roc)
    if parts.month is not None:
        return _around_month(parts, parts.month, style)
    count = len(parts.numbers)
    if count == 1:
        return _from_one(parts.numbers[0], style)
    if count == 2:
        return _from_two(parts.numbers[0], parts.numbers[1], style)
    if count == 3:
        return _from_three(parts.numbers, style)
    raise UnreadableError("has more numbers than a date" if count else "has no number")


def _around_month(parts: Parts, month: int, style: Style) -> DateReading:
    numbers, years = parts.numbers, parts.years
    if len(numbers) > 2 or len(years) > 1:
        raise UnreadableError("has more numbers than a date")
    if not numbers:
        return DateReading(None, month, is_ambiguous=parts.is_clashing)
    if len(numbers) == 1:
        if years:
            return DateReading(_year(numbers[0], style), month, is_ambiguous=parts.is_clashing)
        may_be_year = len(numbers[0]) == 2 and parts.numbers_before_month == 0
        return DateReading(None, month, _small(numbers[0]), is_ambiguous=parts.is_clashing or may_be_year)
    is_year_first = 0 in years or (not years and (style.order == "ymd" or int(numbers[0]) > 31))
    day, year = reversed(numbers) if is_year_first else numbers
    return DateReading(_year(year, style), month, _small(day), is_ambiguous=parts.is_clashing)


def _from_one(number: str, style: Style) -> DateReading:
    if len(number) <= 2:
        return DateReading(day=int(number))
    if len(number) == 4:
        if number.startswith("0"):
            raise UnreadableError("is not a year")
        return DateReading(_year(number, style))
    if len(number) == 6:
        if style.order is None:
            raise UnreadableError("six digits are a date only where the field gives an order")
        return _from_three((number[:2], number[2:4], number[4:]), style)
    compact = DateReading(int(number[:4]), int(number[4:6]), int(number[6:]))
    return compact if _is_possible(compact) else _from_three((number[:2], number[2:4], number[4:]), style)


def _from_two(first: str, second: str, style: Style) -> DateReading:
    if len(first) == 4:
        return DateReading(_year(first, style), _small(second))
    if len(second) == 4:
        return DateReading(_year(second, style), _small(first))
    orders = {
        "dmy": DateReading(None, _small(second), _small(first)),
        "mdy": DateReading(None, _small(first), _small(second)),
    }
    possible = {order: reading for order, reading in orders.items() if _is_possible(reading)}
    wanted = "mdy" if style.preferred == "ymd" else style.preferred
    if not possible:
        raise UnreadableError(_NO_DAY)
    chosen = possible.get(wanted) or next(iter(possible.values()))
    return replace(chosen, is_ambiguous=first != second and len(possible) > 1, is_bare=True)


def _from_three(numbers: tuple[str, ...], style: Style) -> DateReading:
    first, _, last = numbers
    if len(first) == 4:
        possible = _possible(numbers, ("ymd",), style) or _possible(numbers, ("ydm",), style)
    elif len(last) == 4:
        possible = _possible(numbers, ("dmy", "mdy"), style)
    else:
        orders = ("ymd", "dmy", "mdy") if style.preferred == "ymd" else ("dmy", "mdy")
        possible = _possible(numbers, orders, style) or _possible(numbers, ("ymd",), style)
    if not possible:
        raise UnreadableError(_NO_DAY)
    order = next(
        (order for order in (style.preferred, style.day_first) if order in possible), next(iter(possible))
    )
    shown: Order | None = "dmy" if list(possible) == ["dmy"] else "mdy" if list(possible) == ["mdy"] else None
    return replace(
        possible[order], is_ambiguous=_is_ambiguous(possible, order, style, len(last) == 4), shown=shown
    )


def _is_ambiguous(possible: dict[str, DateReading], chosen: str, style: Style, is_year_last: bool) -> bool:
    if chosen == "ydm":
        return True
    if len(set(possible.values())) > 1:
        return chosen != style.shown
    breaks_order = style.order is not None and style.order not in possible
    return (
        breaks_order and list(possible) != ["ymd"]
        if not is_year_last
        else breaks_order and style.order != "ymd"
    )


def _possible(numbers: tuple[str, ...], orders: tuple[str, ...], style: Style) -> dict[str, DateReading]:
    possible = {}
    for order in orders:
        part = dict(zip(order, numbers, strict=True))
        if len(part["d"]) <= 2 and len(part["m"]) <= 2 and len(part["y"]) in (2, 4):
            reading = DateReading(_year(part["y"], style), int(part["m"]), int(part["d"]))
            if _is_possible(reading):
                possible[order] = reading
    return possible


def _is_possible(reading: DateReading) -> bool:
    if reading.year == 0 or (reading.month is not None and not 1 <= reading.month <= 12):
        return False
    if reading.day is None or reading.month is None:
        return True
    leap = 2000 if reading.year is None else reading.year
    return 1 <= reading.day <= calendar.monthrange(leap, reading.month)[1]


def _small(number: str) -> int:
    if len(number) > 2:
        raise UnreadableError(f"{number} is neither a day nor a month")
    return int(number)


def _year(number: str, style: Style) -> int:
    if len(number) == 4:
        return int(number)
    if len(number) != 2:
        raise UnreadableError(f"{number} is not a year")
    return int(number) + (2000 if int(number) < style.pivot else 1900)


# Dates of other calendars: years of eras, and whole dates of the Persian and the Islamic calendar.

Calendar: TypeAlias = Literal["gregorian", "buddhist", "roc", "japanese", "islamic", "persian"]

CALENDARS: tuple[str, ...] = get_args(Calendar)
FLAG = "calendar"
"""The flag of a date whose year is of another calendar than the field's, or not of our times."""
YEARS = frozenset(range(1600, 2201))
"""Years that are plausible in documents."""
_FIRST_PREFERRED = {"TH": "buddhist", "IR": "persian", "AF": "persian"}
"""Territories for which CLDR's `calendarPreferenceData` names another calendar than the Gregorian first."""
_BUDDHIST, _ROC, _CENTURY = 543, 1911, 2500
PLAIN_YEARS = YEARS - {year + _BUDDHIST for year in YEARS}
"""Years that no calendar but the Gregorian has in our times."""
_ERAS = {
    "明治": (1867, 45), "大正": (1911, 15), "昭和": (1925, 64), "平成": (1988, 31), "令和": (2018, 99),
    "m": (1867, 45), "t": (1911, 15), "s": (1925, 64), "h": (1988, 31), "r": (2018, 99),
    "民國": (_ROC, 200), "民国": (_ROC, 200),
}  # fmt: skip
"""Names and letters of eras: the year before their first, and how many they have had."""
_ERA = re.compile(r"(?:中華|中华)?(明治|大正|昭和|平成|令和|民國|民国)\s*(元|\d{1,3})\s*(年|(?=[./-]))")
_ERA_LETTER = re.compile(r"(?<![^\W_])([mtshr])\s?(\d{1,2})(年|(?=[./-]\d{1,2}[./-]\d{1,2}(?!\d)))")
_THAI_ERA = re.compile(r"(พ|ค)\.?\s?ศ\.?\s*(?=\d{4})")
_YEAR = re.compile(r"(?<!\d)(\d{4})(?=\d{4}(?!\d)|(?!\d))")
_SHORT_YEAR = re.compile(r"(?<=[^\d])(\d\d)\Z")
_ROC_YEAR = re.compile(r"\A(\d{2,3})(?=[./-]\d{1,2}[./-]\d{1,2}(?!\d)|年)")
_NUMERIC = re.compile(
    r"(?<!\d)(?:(?P<y>\d{4})(?P<one>[./-])(?P<m>\d{1,2})(?P=one)(?P<d>\d{1,2})"
    r"|(?P<d2>\d{1,2})(?P<two>[./-])(?P<m2>\d{1,2})(?P=two)(?P<y2>\d{4}))(?!\d)"
)
_MARK = re.compile(r"(?<!\s)\s*+(?:ه\W{0,2}\s?(?P<which>ش|ق)|ه|ه‍|هـ)\.?\s*\Z")
_MONTHS = {
    "persian": """فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند
        farvardin ordibehesht khordad tir mordad shahrivar mehr aban azar dey bahman esfand""",
    "islamic": """محرم صفر ربيع_الأول ربيع_الآخر جمادى_الأولى جمادى_الآخرة رجب شعبان رمضان شوال
        ذو_القعدة ذو_الحجة
        muharram safar rabiʻ_i rabiʻ_ii jumada_i jumada_ii rajab shaʻban ramadan shawwal
        dhuʻl-qiʻdah dhuʻl-hijjah""",
}
"""Names of months in the languages of the calendar, and in English, as CLDR has them."""


class Converted(Struct, frozen=True):
    """The text of a date as the Gregorian calendar has it; what the calendar decided, and how safely."""

    text: str
    is_other: bool = False
    is_doubtful: bool = False


@lru_cache(maxsize=64)
def calendar_of(calendar: str | None, locale: str | None) -> str:
    """Return the calendar of a field: its own, else the one that CLDR names first for its locale's country.

    Raises:
        MissingExtraError: If the calendar needs a library that is not installed.

    >>> calendar_of(None, "th_TH"), calendar_of(None, "ja_JP"), calendar_of("roc", "zh_TW")
    ('buddhist', 'gregorian', 'roc')
    """
    name = calendar or _FIRST_PREFERRED.get(_territory(locale), "gregorian")
    if not is_installed(name):
        raise MissingExtraError(
            f"the {name} calendar needs a library that is not installed: {install_line('calendars')}"
            + ("" if calendar else f" (or write `calendar: gregorian` beside the locale {locale})")
        )
    return name


def in_gregorian(text: str, calendar: str, locale: str | None) -> Converted:
    """Return the folded text of a date with its years, or all of it, in the Gregorian calendar.

    Eras by name are read in every calendar. Raises `UnreadableError` for a year that an era has not.

    >>> [in_gregorian(text, "gregorian", None).text for text in ("令和6年6月6日", "民國113年3月15日")]
    ['2024年6月6日', '2024年3月15日']
    >>> in_gregorian("1403/01/01", "persian", None).text, in_gregorian("15/03/2567", "buddhist", None).text
    ('2024-03-20', '15/03/2024')
    """
    has_letters = calendar == "japanese" or _territory(locale) == "JP"
    if text.isascii() and calendar == "gregorian" and not has_letters:
        return Converted(text)
    plain = _ERA.sub(_era_year, text)
    plain = _ERA_LETTER.sub(_era_year, plain) if has_letters else plain
    era = _THAI_ERA.search(plain)
    if era is not None:
        plain = _THAI_ERA.sub("", plain)
        plain = plain if era[1] == "ค" else _YEAR.sub(_buddhist_year, plain)
    mark = _MARK.search(plain)
    if mark is not None:
        calendar, plain = "persian" if mark["which"] == "ش" else "islamic", plain[: mark.start()]
    if plain != text and mark is None:
        return Converted(plain, True)
    if calendar in _MONTHS:
        plain = _whole_dates(plain, calendar)
    elif calendar == "buddhist":
        plain = _YEAR.sub(_buddhist_year, plain)
        if not re.search(r"\d{3}", plain) and len(re.findall(r"[^\W_]+", plain)) > 2:
            short = _SHORT_YEAR.sub(lambda match: str(_CENTURY + int(match[1]) - _BUDDHIST), plain)
            return Converted(short, short != plain, short != plain)
    elif calendar == "roc" and (match := _ROC_YEAR.match(plain)):
        return Converted(f"{int(match[1]) + _ROC}{plain[match.end() :]}", True, len(match[1]) == 2)
    if mark is not None and not re.search(r"\d{4}-\d\d-\d\d", plain):
        raise UnreadableError(f"is not a whole date of the {calendar} calendar")
    return Converted(plain, plain != text)


@lru_cache(maxsize=64)
def _territory(locale: str | None) -> str:
    return str(find_locale(locale).territory) if locale else ""


@lru_cache(maxsize=64)
def is_installed(calendar: str) -> bool:
    """Return whether the library that a calendar needs is there.

    >>> is_installed("buddhist")
    True
    """
    library = {"persian": "convertdate", "islamic": "hijridate"}.get(calendar)
    return library is None or find_spec(library) is not None


def _era_year(match: re.Match[str]) -> str:
    before, years = _ERAS[match[1]]
    number = 1 if match[2] == "元" else int(match[2])
    if not 1 <= number <= years:
        raise UnreadableError(f"the era {match[1]} has no year {number}")
    return f"{before + number}{match[3]}"


def _buddhist_year(match: re.Match[str]) -> str:
    year = int(match[1]) - _BUDDHIST
    return str(year) if year in PLAIN_YEARS else match[1]


def _whole_dates(text: str, calendar: str) -> str:
    """Return a text with the dates of a calendar whose months are no Gregorian ones as ISO 8601."""

    def convert(match: re.Match[str]) -> str:
        parts = match.groupdict()
        year, month, day = (int(parts[name] or parts[f"{name}2"]) for name in "ymd")
        return _iso(year, month, day, calendar) or match[0]

    def convert_named(match: re.Match[str]) -> str:
        return _iso(int(match[3]), _months(calendar)[match[2]], int(match[1]), calendar) or match[0]

    names = "|".join(sorted(map(re.escape, _months(calendar)), key=len, reverse=True))
    plain = re.sub(rf"(?<!\d)(\d{{1,2}})\s+({names})\s+(\d{{4}})(?!\d)", convert_named, text)
    return _NUMERIC.sub(convert, plain)


@lru_cache(maxsize=64)
def _months(calendar: str) -> dict[str, int]:
    words = fold(_MONTHS[calendar].replace("_", "\0")).split()
    return {word.replace("\0", " "): at % 12 + 1 for at, word in enumerate(words)}


def _iso(year: int, month: int, day: int, calendar: str) -> str | None:
    """Return the day in the Gregorian calendar; None for a year that is not of our times in the other."""
    if not is_installed(calendar) or year + (621 if calendar == "persian" else 579) not in YEARS:
        return None
    try:
        if calendar == "persian":
            from convertdate import persian  # type: ignore[import-untyped]

            if not 1 <= month <= 12 or not 1 <= day <= persian.month_length(year, month):
                raise ValueError
            return "{:04d}-{:02d}-{:02d}".format(*persian.to_gregorian(year, month, day))
        from hijridate import Hijri

        return str(Hijri(year, month, day).to_gregorian())
    except (ValueError, OverflowError):
        raise UnreadableError(f"the {calendar} calendar has no such day") from None
