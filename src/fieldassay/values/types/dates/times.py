"""Times of day, alone or inside a longer text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader, Token
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates import common_words
from fieldassay.values.types.dates.names import TIME, fold, names
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text
from fieldassay.values.types.unreadable import UnreadableError, unreadable

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
    lazy_regex(_CLOCK),
    lazy_regex(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\s?(?:h|uhr)"
        rf"(?:\s?(?P<minute>\d{{2}})(?:\s?(?:min|m)\b\.?)?)?(?![\d\w]){_ZONE}{_END}"
    ),
    lazy_regex(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\.(?P<minute>\d{{2}})(?:\.(?P<second>\d{{2}}))?\s?(?:uhr|hrs)\b"
        rf"{_ZONE}{_END}"
    ),
    lazy_regex(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})(?:\.(?P<minute>\d{{2}}))?"
        rf"(?:\s*(?P<half>[ap])(?P<m>\.?\s?m)\b\.?|(?P<mark>[ap])\b){_ZONE}{_END}"
    ),
    lazy_regex(
        r"(?<=\d)t(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?"
        rf"(?:[.,](?P<fraction>\d{{1,9}}))?(?!\d){_ZONE}{_END}"
    ),
)
_ALONE = (
    lazy_regex(r"(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?:\.(?P<second>\d{2}))?"),
    lazy_regex(r"(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?:\s?(?:hrs|h))?"),
    lazy_regex(r"(?P<hour>\d{1,2})(?P<minute>\d{2})\s?(?P<half>[ap])(?P<m>\.?\s?m)?\.?"),
)
_ZONE_NAME = lazy_regex(r"\s*([(\[]?)([a-z]{2,6})(?![^\W_])[)\]]?")
_AREA = lazy_regex(r"\s*(?:\[[a-z]+(?:[/_+-][a-z0-9]+)*\]|\([a-z ]+ time\))")
"""A time zone in brackets, as RFC 9557 writes it, or in parentheses, as JavaScript does."""
_SEPARATOR = lazy_regex(r"\dt")
_DESIGNATOR = lazy_regex(r"t(?=\d\d(?::|\d\d))")
_RULES = {
    "hour": "the hour", "minute": "the minute", "second": "the second", "fraction": "a fraction of a second",
    "half": "am or pm", "mark": "am or pm", "zone": "the offset", "name": "a time zone by name",
}  # fmt: skip
_NAMED = {"noon": dt.time(12), "midday": dt.time(12), "midnight": dt.time(0)}


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
        try:
            time = read_time(plain_text(text))
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, time, time_text(time))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        try:
            cut = cut_time(plain_text(raw[:MOST_CHARACTERS])) if isinstance(raw, str) else None
        except UnreadableError:
            return ()
        return () if cut is None else cut.tokens()


def read_time(text: str) -> dt.time:
    """Return the time of a folded text; raises `UnreadableError`."""
    if text in _NAMED:
        return _NAMED[text]
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
    return cut.time


class Cut(Struct, frozen=True):
    """A time of day, and the text from which it was cut, with `TIME` in its place.

    `is_next_day` says that it was 24:00, `zone` is the name of a time zone.
    """

    text: str
    match: re.Match[str]
    time: dt.time
    is_next_day: bool
    zone: str = ""

    def tokens(self) -> tuple[Token, ...]:
        """Return the parts of the time with their rules."""
        groups = {**self.match.groupdict(), "name": self.zone}
        return tuple((groups[name], rule) for name, rule in _RULES.items() if groups.get(name))

    def check_zone(self) -> None:
        """Raise `UnreadableError` if the time zone is known by its name alone."""
        if self.zone and self.time.tzinfo is None:
            raise UnreadableError(
                f"the time zone {self.zone.upper()!r} has no certain offset; one is written as +01:00"
            )


@cache
def _zones() -> frozenset[str]:
    return frozenset(common_words.ZONES.split())


def plain_text(text: str) -> str:
    """Return a text folded; raises `UnreadableError` if it has the sign that stands for a time."""
    if TIME in text:
        raise UnreadableError(f"{TIME!r} does not belong in a date or a time")
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
        if _SEPARATOR.match(text, max(start - 2, 0)) and match["hour"][1:]:  # 2025-03-15T10:00
            start -= 1
        return Cut(f"{text[:start]}{TIME}{text[end:]}", match, *_time(match), zone)
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
