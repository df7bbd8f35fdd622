"""Periods: two dates with a connector, where one may leave to the other what they share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from fieldassay.readers.date_parts import Found, Parts, Style, find, split
from fieldassay.readers.unreadable import UnreadableError
from fieldassay.values.period import Period

_OPENING = re.compile(r"^(?:from|between|von|vom|du|des|dal|dall|del|desde|de|van|od|fran|fra|period)\b[\s:'’]*")
_WORDS = r"to|until|till|til|till och med|through|thru|and|und|bis zum|bis|au|al|a|ate|tot en met|tot|hasta|e|y|et|do"
_CONNECTORS = tuple(
    map(re.compile, (rf"\s+(?:{_WORDS})\s+", r"\s*\.\.\.?\s*", r"\s+[-–—~/]+\s+", r"\s*(?:[–—~]|--)\s*", r"\s*-\s*", r"\s*/\s*")),
)  # fmt: skip
_MOST_SPLITS = 8


def find_period(text: str, style: Style) -> tuple[Period, bool] | None:
    """Return the period that a folded text means and whether it was ambiguous; None if it means none.

    Raises `UnreadableError` if the period would end before it starts.
    """
    for left, right in _splits(_OPENING.sub("", text)):
        try:
            start, end = _sides(split(left, style.locale), split(right, style.locale), style)
            period = Period(start.date(), end.date())
        except UnreadableError:
            continue
        if (start.year is None) != (end.year is None) or (start.year is None and (start.is_bare or end.is_bare) and style.order is None):
            continue
        first, last = period.first(), period.last()
        if first and last and first > last:
            raise UnreadableError("the period ends before it starts")
        return period, start.is_ambiguous or end.is_ambiguous
    return None


def _splits(text: str) -> Iterator[tuple[str, str]]:
    for connector in _CONNECTORS:
        for count, match in enumerate(connector.finditer(text)):
            if count == _MOST_SPLITS:
                break
            if text[: match.start()].strip() and text[match.end() :].strip():
                yield text[: match.start()], text[match.end() :]


def _sides(left: Parts, right: Parts, style: Style) -> tuple[Found, Found]:
    if left.month is not None and not left.years:
        left = replace(left, numbers_before_month=1)
        if right.month is None and len(right.numbers) <= 2:
            right = replace(right, month=left.month, numbers_before_month=1)  # March 1-15, 2025
    start, end = find(left, style), find(right, style)
    shown = start.shown or end.shown
    if shown is not None:
        start, end = find(left, replace(style, shown=shown)), find(right, replace(style, shown=shown))
    return _in_years(_completed(start, end), _completed(end, start), start.year is None, end.year is None)


def _completed(found: Found, other: Found) -> Found:
    if found.day is not None and found.month is None:
        if other.day is None:
            raise UnreadableError("has no month")
        return replace(found, month=other.month, year=other.year)
    if found.year is not None or other.year is None or other.month is None or found.month is None:
        return found
    if (found.day is None) != (other.day is None):
        raise UnreadableError("has a day on one side only")
    return replace(found, year=other.year)


def _in_years(start: Found, end: Found, is_start_open: bool, is_end_open: bool) -> tuple[Found, Found]:
    if start.year is None or start.year != end.year or (start.month or 1) <= (end.month or 12):
        return start, end
    if is_start_open:  # 15 December - 3 January 2025
        return replace(start, year=start.year - 1), end
    return (start, replace(end, year=start.year + 1)) if is_end_open else (start, end)
