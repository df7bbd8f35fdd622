"""Times of day and durations."""

import datetime as dt
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar
from fieldassay.values.types.column import Reader, Reading, UnreadableError, json_text, unreadable
from fieldassay.values.types.dates import common_words
from fieldassay.values.types.dates.names import TIME, fold, locale_data, names
from fieldassay.values.types.dates.parts import Duration

# Times of day, alone or inside a longer text.

MOST_CHARACTERS = 120
"""The maximum of characters in a date or a time."""

_HALF = r"(?:\s*(?P<half>[ap])(?P<m>\.?\s?m)?(?![^\W_])\.?)?"
_ZONE = r"(?:\s*(?P<zone>z\b|(?:utc|gmt|ut)?[+-]\d{1,2}(?::?\d{2})?\b|(?:utc|gmt|ut)\b))?"
_SECONDS = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_END = r"(?![\w:])(?!\.\d)"
_CLOCK = (
    rf"(?<!\d)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECONDS}"
    rf"(?!\d){_HALF}(?:\s*(?:uhr|hrs|h)\b)?{_ZONE}{_END}"
)
_IN_TEXT = (
    re.compile(_CLOCK),
    re.compile(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\s?(?:h|uhr)"
        rf"(?:\s?(?P<minute>\d{{2}})(?:\s?(?:min|m)\b\.?)?)?(?![\d\w]){_ZONE}{_END}"
    ),
    re.compile(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})(?:\.(?P<second>\d{{2}}))?\s?(?:uhr|hrs)\b"
        rf"{_ZONE}{_END}"
    ),
    re.compile(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})(?:\.(?P<minute>\d{{2}}))?"
        rf"(?:\s*(?P<half>[ap])(?P<m>\.?\s?m)\b\.?|(?P<mark>[ap])\b){_ZONE}{_END}"
    ),
    re.compile(
        r"(?<=\d)t(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?"
        rf"(?:[.,](?P<fraction>\d{{1,9}}))?(?!\d){_ZONE}{_END}"
    ),
)
_ALONE = (
    re.compile(r"(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?:\.(?P<second>\d{2}))?"),
    re.compile(r"(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?:\s?(?:hrs|h))?"),
    re.compile(r"(?P<hour>\d{1,2})(?P<minute>\d{2})\s?(?P<half>[ap])(?P<m>\.?\s?m)?\.?"),
)
_ZONE_NAME = re.compile(r"\s*([(\[]?)([a-z]{2,6})(?![^\W_])[)\]]?")
_AREA = re.compile(r"\s*(?:\[[a-z]+(?:[/_+-][a-z0-9]+)*\]|\([a-z ]+ time\))")
"""A time zone in brackets, as RFC 9557 writes it, or in parentheses, as JavaScript does."""
_SEPARATOR = re.compile(r"\dt")
_DESIGNATOR = re.compile(r"t(?=\d\d(?::|\d\d))")
_NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}
_MINUS_TIME = re.compile(r"-\d{1,2}:\d{2}")
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\b")


class TimeReader(Reader, Struct, frozen=True):
    """Reads times of day (`14:05`, `2:05 pm`, `14h05`, `14.05 Uhr`, `1405`) as `datetime.time`.

    A time with an offset is compared in UTC and never equals one without an offset.

    >>> TimeReader().read("2:05 pm").canonical, TimeReader().read("14:05+02:00").canonical
    ('14:05:00', '12:05:00Z')
    """

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if not isinstance(raw, str):
            return unreadable(text, "a time of day is text, such as 14:05")
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a time")
        cut = read_time(plain_text(text))
        return Reading(text, cut.time, time_text(cut.time), ("ambiguous",) * cut.may_be_span)


class Cut(Struct, frozen=True):
    """A time of day, and the text from which it was cut, with `TIME` in its place.

    `is_next_day` says that it was 24:00, `zone` is the name of a time zone. What follows a time without
    seconds, `09:00-05:00`, may be an offset or the end of a span (`may_be_span`).
    """

    text: str
    match: re.Match[str]
    time: dt.time
    is_next_day: bool
    zone: str = ""
    may_be_span: bool = False

    def check_zone(self) -> None:
        """Raise `UnreadableError` if the zone is known by its name alone, or is a later time of the day."""
        if self.may_be_span and not _ISO_DAY.match(self.text):
            end = self.match["zone"].strip(" -").replace(":", "").zfill(4)
            if end > f"{self.match['hour']:>02}{self.match['minute']}":
                raise UnreadableError("two times of a day, where one is expected")
        if self.zone and self.time.tzinfo is None:
            raise UnreadableError(
                f"the time zone {self.zone.upper()!r} has no certain offset; one is written as +01:00"
            )


def read_time(text: str) -> Cut:
    """Return the time that a folded text is; raises `UnreadableError`."""
    if text in _NAMED:
        text = _NAMED[text]
    plain = text[1:] if _DESIGNATOR.match(text) else text
    cut = cut_time(plain)
    if cut is not None and cut.text == TIME:
        cut.check_zone()
    else:
        matches = (pattern.fullmatch(plain) for pattern in _ALONE)
        cut = next((Cut(TIME, match, *_time(match)) for match in matches if match), None)
    if cut is None:
        raise UnreadableError("is not a time of day")
    if cut.is_next_day:
        raise UnreadableError("24:00 is the next day's 00:00")
    return cut


@cache
def _zones() -> frozenset[str]:
    return frozenset(common_words.ZONES.split())


def plain_text(text: str) -> str:
    """Return a text folded; raises `UnreadableError` if it has the sign that stands for a time."""
    if TIME in text:
        raise UnreadableError(f"{TIME!r} does not belong in a date or a time")
    raised = next((char for char in text if char.isdigit() and not char.isdecimal()), None)
    if raised is not None:
        raise UnreadableError(f"{raised!r} is a mark, or a digit of the date")
    return fold(text).strip()


def cut_time(text: str) -> Cut | None:
    """Return the time in a folded text; None without a time."""
    for pattern in _IN_TEXT:
        match = pattern.search(text)
        if match is None:
            continue
        start, end, zone = match.start(), match.end(), ""
        name = _ZONE_NAME.match(text, end)
        is_zone = name is not None and name[2] in _zones() and name[2] not in names(None).months
        if name and is_zone and (name[1] or not match["zone"] or match["zone"][-1].isdecimal()):
            end, zone = name.end(), name[2]
        elif area := _AREA.match(text, end):
            end, zone = area.end(), area[0].strip(" []()")
        has_t = _SEPARATOR.match(text, max(start - 2, 0)) is not None and bool(match["hour"][1:])
        start -= has_t  # 2025-03-15T10:00
        parts = match.groupdict()
        may_be_span = not has_t and not parts.get("second") and _MINUS_TIME.fullmatch(parts["zone"] or "")
        plain = f"{text[:start]}{TIME}{text[end:]}"
        return Cut(plain, match, *_time(match), zone, may_be_span is not None and bool(may_be_span))
    return None


def time_text(time: dt.time) -> str:
    """Return the canonical text `14:05:00`, with any fraction; in UTC with `Z` if the offset is known."""
    offset = time.utcoffset()
    if offset is None:
        return shortest(time)
    moment = dt.datetime.combine(dt.date(2000, 1, 2), time) - offset
    return shortest(moment.time()) + "Z"


def shortest(time: dt.time | dt.datetime) -> str:
    """Return the ISO text with seconds, only the decimals needed, and no offset."""
    text = time.replace(tzinfo=None).isoformat()
    return text.rstrip("0") if time.microsecond else text


def _time(match: re.Match[str]) -> tuple[dt.time, bool]:
    parts = match.groupdict()
    hour, minute, second = (int(parts.get(name) or 0) for name in ("hour", "minute", "second"))
    half = parts.get("half") or parts.get("mark")
    if half and not parts.get("m") and not 1 <= hour <= 12:
        raise UnreadableError(f"{half!r} is am or pm only behind an hour from 1 to 12")
    hour = _on_24_hours(hour, half)
    fraction = (parts.get("fraction") or "").rstrip("0")
    if len(fraction) > 6:
        raise UnreadableError("is finer than a microsecond")
    is_next_day = hour == 24 and not minute and not second and not fraction
    if minute > 59 or second > 59 or (hour > 23 and not is_next_day):
        raise UnreadableError("no clock shows this time")
    time = dt.time(
        0 if is_next_day else hour,
        minute,
        second,
        int(fraction.ljust(6, "0")) if fraction else 0,
        _zone(parts.get("zone")),
    )
    return time, is_next_day


def _on_24_hours(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    if half == "a":
        if hour > 12:
            raise UnreadableError("an hour after 12 cannot be am")
        return hour % 12
    if hour == 0:
        raise UnreadableError("hour 0 cannot be pm")
    return hour if hour > 12 else hour % 12 + 12


def _zone(text: str | None) -> dt.tzinfo | None:
    if text is None:
        return None
    sign = -1 if "-" in text else 1
    digits = re.sub(r"\D", "", text)
    hours, minutes = (
        (int(digits), 0)
        if len(digits) <= 2 and digits
        else (int(digits[:-2] or 0), int(digits[-2:] or 0))
        if digits
        else (0, 0)
    )
    if hours > 14 or minutes > 59:
        raise UnreadableError("no time zone has this offset")
    return dt.timezone(sign * dt.timedelta(hours=hours, minutes=minutes))


# Lengths of time.

SECONDS = {
    "microsecond": Decimal("0.000001"), "millisecond": Decimal("0.001"), "second": Decimal(1),
    "minute": Decimal(60), "hour": Decimal(3600), "day": Decimal(86400), "week": Decimal(604800),
}  # fmt: skip
"""Units of fixed length, in seconds."""
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""Units of calendar length, in months."""

_UNITS = (*SECONDS, *MONTHS)[::-1]
_SYMBOLS = {
    "microsecond": "us µs μs", "millisecond": "ms msec", "second": "s sec secs second seconds",
    "minute": "m min mins minute minutes", "hour": "h hr hrs hour hours", "day": "d day days",
    "week": "w wk wks week weeks", "month": "mo mos mth mths month months",
    "quarter": "qtr qtrs quarter quarters", "year": "y yr yrs year years",
}  # fmt: skip


@lru_cache(maxsize=64)
def unit_words(locale: str | None) -> tuple[dict[str, str], frozenset[str]]:
    """Return the meanings of folded unit words, the locale's first, and the words with several meanings."""
    own: dict[str, str] = {}
    for word, unit in words_of(locale_data(locale)) if locale is not None else ():
        own.setdefault(word, unit)  # m is minutes before it is months
    for unit, symbols in _SYMBOLS.items():
        for symbol in symbols.split():
            own.setdefault(fold(symbol), unit)
    clashing = frozenset(common_words.AMBIGUOUS_UNITS.split()) - own.keys()
    common = {
        word.replace("_", " "): unit
        for unit, words in common_words.UNITS.items()
        for word in words.split()
        if len(word) > 1 or not word.isascii() or word in clashing
    }
    return {**common, **own}, clashing


def words_of(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the folded words of units of time in one locale, given its data of Babel."""
    from babel.units import format_unit

    for unit in (*SECONDS, *MONTHS):
        for length in ("long", "short", "narrow"):
            for count in (1, 2, 5):
                text = fold(format_unit(count, f"duration-{unit}", length, locale=data)).strip()
                word = text.removeprefix(str(count)).strip(" .")
                if word and not any(char.isdigit() or char in "′″'\"/" for char in word):
                    yield word, unit


_NUMBER = r"\d{1,12}(?:[.,]\d{1,9})?"
_ISO = re.compile(
    rf"p(?!$)(?:({_NUMBER})y)?(?:({_NUMBER})m)?(?:({_NUMBER})w)?(?:({_NUMBER})d)?"
    rf"(?:t(?!$)(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?)?"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
_HOURS_AND_MINUTES = re.compile(r"(\d{1,6}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?")
_CONNECTORS = "and|und|et|y|e|og|och|en|ja|i|a|dan|ve"
_PART = re.compile(
    rf"\s*+(?:(?:[,;+&]|\b(?:{_CONNECTORS})\b)\s*+)?({_NUMBER})"
    r"\s*+([^\d\s,;+&.]+(?:\s[^\d\s,;+&.]+)?)?(?:\.(?!\d))?"
)
_GROUPED = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_CAPITAL_M = re.compile(r"(?<=\d)\s*M(?![^\W_])")
_DAYS = re.compile(rf"\s*+(?:(?:[,;+&]|\b(?:{_CONNECTORS})\b)\s*+)?\d+\s*+(?:d|w)")
"""Days or weeks behind an `m`, which then is a month, as it is behind years."""


class DurationReader(Reader, Struct, frozen=True):
    """Reads durations such as ISO 8601, `1 h 30 min`, `90 minutes` and `01:30:00` as `Duration`.

    `unit` is the unit of a number without one, which is otherwise unreadable. `locale` decides which unit
    words come first and how numbers are written.

    >>> DurationReader().read("90 minutes").canonical, DurationReader().read("1 h 30 min").canonical
    ('PT1H30M', 'PT1H30M')
    >>> DurationReader(unit="day").read(30).canonical
    'P30D'
    """

    unit: str | None = None
    locale: str | None = None

    def __post_init__(self) -> None:
        if self.locale is not None:
            locale_data(self.locale)
        if self.unit is not None and self.unit not in SECONDS and self.unit not in MONTHS:
            raise ValueError(f"unknown unit of time {self.unit!r}; {nearest(self.unit, (*SECONDS, *MONTHS))}")

    def read(self, raw: Scalar) -> Reading:
        text = json_text(raw)
        if isinstance(raw, bool):
            return unreadable(text, "is not a duration")
        if len(text) > MOST_CHARACTERS:
            return unreadable(text, "is too long for a duration")
        plain = fold(text).strip()
        has_capital = _CAPITAL_M.search(text) is not None
        sign = -1 if plain.startswith("-") else 1
        length = plain.lstrip("+-") if plain[1:2] not in {"+", "-"} else plain
        parts, is_ambiguous = self._parts(length, has_capital)
        value = _sum(parts, sign)
        return Reading(text, value, str(value), ("ambiguous",) if is_ambiguous else ())

    def _parts(self, text: str, has_capital: bool) -> tuple[list[tuple[Decimal, str]], bool]:
        iso = _ISO.fullmatch(text)
        if iso:
            numbers = zip(iso.groups(), _ISO_UNITS, strict=True)
            return [
                (Decimal(number.replace(",", ".")), unit) for number, unit in numbers if number is not None
            ], False
        clock = _HOURS_AND_MINUTES.fullmatch(text)
        if clock:
            hours, minutes, seconds, fraction = clock.groups()
            parts = [
                (Decimal(hours), "hour"),
                (Decimal(minutes), "minute"),
                (Decimal(f"{seconds or 0}.{fraction or 0}"), "second"),
            ]
            return parts, seconds is None
        return self._from_words(text, has_capital)

    def _from_words(self, text: str, has_capital: bool) -> tuple[list[tuple[Decimal, str]], bool]:
        words, clashing = unit_words(self.locale)
        parts: list[tuple[Decimal, str]] = []
        is_ambiguous = False
        position = 0
        while position < len(text):
            match = _PART.match(text, position)
            if match is None or (not parts and match.start(1)):
                raise UnreadableError("is not a duration")
            word, end = _word(match, words)
            unit = words[word] if word else self._unit_of_bare(parts, is_last=end == len(text))
            if word == "m":
                larger = parts[-1][1] if parts else ""
                is_month = larger == "year" or (not larger and (has_capital or _DAYS.match(text, end)))
                unit = "month" if is_month else "minute"
                is_ambiguous |= has_capital and not larger
            if parts and _UNITS.index(unit) <= _UNITS.index(parts[-1][1]):
                raise UnreadableError("its units do not go from large to small")
            number, may_be_other = self._number(match[1])
            # 9h0 minutes: a letter may have been put into 90; 1h5
            is_odd = (
                position == match.start(1)
                and bool(parts)
                and (match.start(2) > match.end(1) or len(match[1]) == 1)
            )
            is_ambiguous |= may_be_other or word in clashing or is_odd
            parts.append((number, unit))
            position = end
        if not parts:
            raise UnreadableError("is not a duration")
        return parts, is_ambiguous

    def _unit_of_bare(self, parts: list[tuple[Decimal, str]], is_last: bool) -> str:
        if is_last and parts and parts[-1][1] in {"hour", "minute"}:
            return "minute" if parts[-1][1] == "hour" else "second"  # 1h30
        if parts or self.unit is None or not is_last:
            raise UnreadableError("has a number without a unit of time")
        return self.unit

    def _number(self, text: str) -> tuple[Decimal, bool]:
        if not _GROUPED.fullmatch(text):
            return Decimal(text.replace(",", ".")), False
        decimal = (
            "." if self.locale is None else str(locale_data(self.locale).number_symbols["latn"]["decimal"])
        )
        return Decimal(
            text
            if decimal in text and decimal == "."
            else text.replace(",", ".")
            if decimal in text
            else re.sub(r"\D", "", text)
        ), True


def _word(match: re.Match[str], words: dict[str, str]) -> tuple[str, int]:
    """Return the unit of a word and its end in the text; in `1 h and` the connector is not part of it."""
    word = match[2]
    if word is None:
        return "", match.end()
    if word in words:
        return word, match.end()
    first = word.split()[0]
    if first in words:
        return first, match.start(2) + len(first)
    raise UnreadableError(f"{first[:40]!r} is not a unit of time")


def _sum(parts: list[tuple[Decimal, str]], sign: int) -> Duration:
    seconds = sum((number * SECONDS[unit] for number, unit in parts if unit in SECONDS), Decimal(0))
    months = sum((number * MONTHS[unit] for number, unit in parts if unit in MONTHS), Decimal(0))
    if months != int(months):
        raise UnreadableError("a fraction of a month has no fixed length")
    return Duration(sign * seconds, sign * int(months))
