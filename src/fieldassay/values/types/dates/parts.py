"""Year, month and day from the numbers and words of one date, with every guess flagged."""

from __future__ import annotations

import calendar
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.regex import lazy_regex
from fieldassay.values.types.dates.names import WORD, Names, Order, date_order, names
from fieldassay.values.types.dates.period import Date
from fieldassay.values.types.unreadable import UnreadableError

_TOKEN = lazy_regex(rf"(\d+)|({WORD.pattern})")
_SEPARATOR = lazy_regex(r"\s*[./,\-–—’'\"()]?\s?[.,'’(]?\s*")
_ABBREVIATED_YEAR = lazy_regex(r"\s*['’]")
_NO_DAY = "no calendar has this day"


class Style(Struct, frozen=True):
    """The rules for dates whose text is ambiguous; `shown` is the order proved by a neighboring date."""

    order: Order | None = None
    locale: str | None = None
    pivot: int = 69
    shown: Order | None = None

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

    Years are recognized by four digits or an apostrophe.
    """

    numbers: tuple[str, ...]
    years: frozenset[int]
    month: int | None = None
    numbers_before_month: int = 0
    is_clashing: bool = False


def split(text: str, locale: str | None) -> Parts:
    """Return the parts of a folded text; raises `UnreadableError` for anything that is no part of a date."""
    numbers: list[str] = []
    years: set[int] = set()
    words: list[tuple[str, int]] = []
    end = 0
    known = names(locale)
    for token in _TOKEN.finditer(text):
        between = text[end : token.start()]
        if not (_is_separator(between) if end else not between.strip("(., '’")):
            raise UnreadableError(f"{between.strip()!r} does not belong in a date")
        if token[1]:
            if len(token[1]) == 4 or (len(token[1]) == 2 and _ABBREVIATED_YEAR.fullmatch(between)):
                years.add(len(numbers))
            numbers.append(token[1])
        else:
            words.append((token[2], len(numbers)))
        end = token.end()
    if text[end:].strip("., )'’") or not numbers + words:
        raise UnreadableError("is not a date")
    return _with_word(Parts(tuple(numbers), frozenset(years)), words, known)


@lru_cache(maxsize=256)
def _is_separator(text: str) -> bool:
    return _SEPARATOR.fullmatch(text) is not None


def _with_word(parts: Parts, words: list[tuple[str, int]], known: Names) -> Parts:
    months = []
    for word, before in words:
        if word in known.months:
            months.append((word, before))
        elif word not in known.weekdays and word not in known.fillers:
            raise UnreadableError(f"{word[:40]!r} is not a month or another word of a date")
    if len(parts.numbers) == 3 or (len(months) == 2 and months[0][1] == 0 and months[1][1] == 1):
        # Examples: mar. 5 août 2025, mar 5/8/2025.
        months = [(word, before) for word, before in months if word not in known.weekdays]
    if len(months) > 1:
        raise UnreadableError("names more than one month")
    if not months:
        return parts
    word, before = months[0]
    return replace(
        parts, month=known.months[word], numbers_before_month=before, is_clashing=word in known.clashing
    )


def find(parts: Parts, style: Style) -> Found:
    """Return the date of the parts, in the preferred order where several orders are possible."""
    if any(len(number) not in (1, 2, 4, 6, 8) for number in parts.numbers):
        raise UnreadableError("has a number that is neither a day, a month nor a year")
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
