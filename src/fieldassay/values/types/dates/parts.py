"""Year, month and day from the numbers and words of one date, with every guess flagged."""

from __future__ import annotations

import calendar
import re
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.regex import lazy_regex
from fieldassay.values.types.dates.names import ORDINALS, TIME, WORD, Names, Order, date_order, names
from fieldassay.values.types.dates.period import Date
from fieldassay.values.types.unreadable import UnreadableError

_TOKEN = lazy_regex(rf"(\d+)|({TIME})|({WORD.pattern})")
_SEPARATOR = lazy_regex(r"\s*+(?:[./,\-–—’'\"()](?:\s?[.,'’(])?\s*+)?")
_ORDER = lazy_regex(r"[WTs]*+[dMyos]*+(?:[WTs]++y)?[WTs]*+")
"""The order of kinds of parts: weekday and time stand outside, or before the year (`Mar 15 10:00 2025`)."""
_PERIODS = {
    "h", "hy", "s", "q", "t", "w", "wk", "kw", "cw", "p", "fy", "half", "quarter", "quartal", "week", "woche",
}  # fmt: skip
_ABBREVIATED_YEAR = lazy_regex(r"\s*['’]")
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


class Found(Struct, frozen=True):
    """The parts found in the text of a date.

    `shown` is the order of its numbers if only one was possible; `is_bare` means a day and a month, both
    written as numbers.
    """

    year: int | None = None
    month: int | None = None
    day: int | None = None
    is_ambiguous: bool = False
    shown: Order | None = None
    is_bare: bool = False

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

    Years are recognized by four digits or an apostrophe. `tokens` are all words and numbers with their kinds.
    """

    numbers: tuple[str, ...]
    years: frozenset[int]
    month: int | None = None
    numbers_before_month: int = 0
    is_clashing: bool = False
    tokens: tuple[tuple[str, str], ...] = ()


def split(text: str, style: Style) -> Parts:
    """Return the parts of a folded text; raises `UnreadableError` for anything that is no part of a date."""
    known = names(style.locale)
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
        elif word in known.months:
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
    tokens = tuple(zip(texts, kinds, strict=True))
    parts = Parts(tuple(numbers), frozenset(years), is_clashing=is_doubtful, tokens=tokens)
    return _with_month(parts, months, known) if months else parts


@lru_cache(maxsize=256)
def _is_separator(text: str) -> bool:
    return _SEPARATOR.fullmatch(text) is not None


class _Words:
    """The words of a date that are no months: weekdays (W), endings of a day (o) and small words (s)."""

    def __init__(self, texts: list[str], gaps: list[str], kinds: str, style: Style) -> None:
        self.texts, self.gaps, self.kinds, self.style = texts, gaps, kinds, style
        self.known = names(style.locale)
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
        weekday = self.known.weekdays.get(word, frozenset())
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
                for lefts, rights, language in self.known.phrases.get(phrase, ())
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
        is_letter, is_own = len(word) == 1 and not is_elided, bool(languages & self.known.own)
        if not self._may_speak(languages) or (
            is_letter and not (self.style.has_month or (is_own and is_behind_year))
        ):
            raise self._misplaced(word, " in its place")
        self.is_doubtful |= is_letter and not is_own and not self.style.languages <= languages

    def _may_speak(self, languages: frozenset[str]) -> bool:
        return not languages.isdisjoint(self.style.languages | self.known.own)

    def _misplaced(self, word: str, where: str) -> UnreadableError:
        if word in _PERIODS:
            what = "is no date: half-years, quarters, terms, weeks and fiscal years are not read"
        else:
            is_known = word in self.known.phrases or word in ORDINALS
            what = f"is not a month or another word of a date{where if is_known else ''}"
        return UnreadableError(f"{word[:40]!r} {what}")


def _fits(kind: str, kinds: str, end: str) -> bool:
    """Return whether a part is one of the kinds; an end of a date may be followed by a weekday or a time."""
    return (
        kind in kinds
        or (end in kinds and kind in f"{end}WT")
        or (kind == "d" and end == "$" and "y" in kinds)
    )


def _with_month(parts: Parts, months: list[tuple[str, int]], known: Names) -> Parts:
    if len(parts.numbers) == 3 or (len(months) == 2 and months[0][1] == 0 and months[1][1] == 1):
        # Examples: mar. 5 août 2025, mar 5/8/2025.
        months = [(word, before) for word, before in months if word not in known.weekdays]
    if not months:
        return parts
    if len(months) > 1:
        raise UnreadableError("names more than one month")
    word, before = months[0]
    is_clashing = parts.is_clashing or word in known.clashing
    return replace(parts, month=known.months[word], numbers_before_month=before, is_clashing=is_clashing)


def find(parts: Parts, style: Style) -> Found:
    """Return the date of the parts, in the preferred order where several orders are possible."""
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


def _around_month(parts: Parts, month: int, style: Style) -> Found:
    numbers, years = parts.numbers, parts.years
    if len(numbers) > 2 or len(years) > 1:
        raise UnreadableError("has more numbers than a date")
    if not numbers:
        return Found(None, month, is_ambiguous=parts.is_clashing)
    if len(numbers) == 1:
        if years:
            return Found(_year(numbers[0], style), month, is_ambiguous=parts.is_clashing)
        may_be_year = len(numbers[0]) == 2 and parts.numbers_before_month == 0
        return Found(None, month, _small(numbers[0]), is_ambiguous=parts.is_clashing or may_be_year)
    is_year_first = 0 in years or (not years and (style.order == "ymd" or int(numbers[0]) > 31))
    day, year = reversed(numbers) if is_year_first else numbers
    return Found(_year(year, style), month, _small(day), is_ambiguous=parts.is_clashing)


def _from_one(number: str, style: Style) -> Found:
    if len(number) <= 2:
        return Found(day=int(number))
    if len(number) == 4:
        if number.startswith("0"):
            raise UnreadableError("is not a year")
        return Found(_year(number, style))
    if len(number) == 6:
        if style.order is None:
            raise UnreadableError("six digits are a date only where the field gives an order")
        return _from_three((number[:2], number[2:4], number[4:]), style)
    compact = Found(int(number[:4]), int(number[4:6]), int(number[6:]))
    return compact if _is_possible(compact) else _from_three((number[:2], number[2:4], number[4:]), style)


def _from_two(first: str, second: str, style: Style) -> Found:
    if len(first) == 4:
        return Found(_year(first, style), _small(second))
    if len(second) == 4:
        return Found(_year(second, style), _small(first))
    orders = {
        "dmy": Found(None, _small(second), _small(first)),
        "mdy": Found(None, _small(first), _small(second)),
    }
    possible = {order: found for order, found in orders.items() if _is_possible(found)}
    wanted = "mdy" if style.preferred == "ymd" else style.preferred
    if not possible:
        raise UnreadableError(_NO_DAY)
    chosen = possible.get(wanted) or next(iter(possible.values()))
    return replace(chosen, is_ambiguous=first != second and len(possible) > 1, is_bare=True)


def _from_three(numbers: tuple[str, ...], style: Style) -> Found:
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


def _is_ambiguous(possible: dict[str, Found], chosen: str, style: Style, is_year_last: bool) -> bool:
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


def _possible(numbers: tuple[str, ...], orders: tuple[str, ...], style: Style) -> dict[str, Found]:
    possible = {}
    for order in orders:
        part = dict(zip(order, numbers, strict=True))
        if len(part["d"]) <= 2 and len(part["m"]) <= 2 and len(part["y"]) in (2, 4):
            found = Found(_year(part["y"], style), int(part["m"]), int(part["d"]))
            if _is_possible(found):
                possible[order] = found
    return possible


def _is_possible(found: Found) -> bool:
    if found.year == 0 or (found.month is not None and not 1 <= found.month <= 12):
        return False
    if found.day is None or found.month is None:
        return True
    leap = 2000 if found.year is None else found.year
    return 1 <= found.day <= calendar.monthrange(leap, found.month)[1]


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
