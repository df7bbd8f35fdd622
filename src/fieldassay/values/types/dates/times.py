"""Times of day, alone or inside a longer text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence

from msgspec import Struct

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates.names import fold
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text
from fieldassay.values.types.unreadable import UnreadableError, unreadable

MOST_CHARACTERS = 120
"""The maximum of characters in a date or a time."""

_HALF = r"(?:\s*(?P<half>[ap])\.?\s?m\b\.?)?"
_ZONE = r"(?:\s*(?P<zone>z\b|(?:utc|gmt)?[+-]\d{1,2}(?::?\d{2})?\b|(?:utc|gmt)\b))?"
_SECONDS = r"(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d{1,9}))?)?"
_CLOCK = (
    rf"(?<!\d)(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECONDS}(?!\d){_HALF}(?:\s*(?:uhr|hrs|h)\b)?{_ZONE}"
)
_IN_TEXT = (
    lazy_regex(_CLOCK),
    lazy_regex(
        rf"(?<![\d.:])(?P<hour>\d{{1,2}})\s?(?:h|uhr)"
        rf"(?:\s?(?P<minute>\d{{2}})(?:\s?(?:min|m)\b\.?)?)?(?![\d\w]){_ZONE}"
    ),
    lazy_regex(r"(?<![\d.:])(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?:\.(?P<second>\d{2}))?\s?(?:uhr|hrs)\b"),
    lazy_regex(rf"(?<![\d.:])(?P<hour>\d{{1,2}})(?:\.(?P<minute>\d{{2}}))?{_HALF.removesuffix('?')}{_ZONE}"),
    lazy_regex(
        r"(?<=\d)t(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?"
        rf"(?:[.,](?P<fraction>\d{{1,9}}))?(?!\d){_ZONE}"
    ),
)
_ALONE = (
    lazy_regex(r"(?P<hour>\d{1,2})\.(?P<minute>\d{2})(?:\.(?P<second>\d{2}))?"),
    lazy_regex(r"(?P<hour>\d{2})(?P<minute>\d{2})(?P<second>\d{2})?(?:\s?(?:hrs|h))?"),
)
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
            time = read_time(fold(text).strip())
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, time, time_text(time))

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)


def read_time(text: str) -> dt.time:
    """Return the time of a folded text; raises `UnreadableError`."""
    if text in _NAMED:
        return _NAMED[text]
    for pattern in (*_IN_TEXT, *_ALONE):
        match = pattern.fullmatch(text.removeprefix("t"))
        if match:
            time, is_next_day = _time(match)
            if is_next_day:
                raise UnreadableError("24:00 is the next day's 00:00")
            return time
    raise UnreadableError("is not a time of day")


def cut_time(text: str) -> tuple[str, dt.time, bool] | None:
    """Return a folded text without its time, the time, and whether it is 24:00; None without a time."""
    for pattern in _IN_TEXT:
        match = pattern.search(text)
        if match:
            before, after = text[: match.start()].rstrip(" ,t"), text[match.end() :].strip(" ,")
            return f"{before} {after}".strip(), *_time(match)
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
    hour = _on_24_hours(hour, parts.get("half"))
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
