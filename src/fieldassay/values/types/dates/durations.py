"""Lengths of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import NO_RULE, Reader, Token
from fieldassay.values.types.column import Column, Reading
from fieldassay.values.types.dates import common_words
from fieldassay.values.types.dates.names import fold, locale_data
from fieldassay.values.types.dates.period import Duration
from fieldassay.values.types.dates.times import MOST_CHARACTERS
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.text import json_text
from fieldassay.values.types.unreadable import UnreadableError, unreadable

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
_ISO = lazy_regex(
    rf"p(?!$)(?:({_NUMBER})y)?(?:({_NUMBER})m)?(?:({_NUMBER})w)?(?:({_NUMBER})d)?"
    rf"(?:t(?!$)(?:({_NUMBER})h)?(?:({_NUMBER})m)?(?:({_NUMBER})s)?)?"
)
_ISO_UNITS = ("year", "month", "week", "day", "hour", "minute", "second")
_CLOCK = lazy_regex(r"(\d{1,6}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?")
_CONNECTORS = "and|und|et|y|e|og|och|en|ja|i|a|dan|ve"
_PART = lazy_regex(
    rf"\s*+(?:(?:[,;+&]|\b(?:{_CONNECTORS})\b)\s*+)?({_NUMBER})"
    r"\s*+([^\d\s,;+&.]+(?:\s[^\d\s,;+&.]+)?)?(?:\.(?!\d))?"
)
_GROUPED = lazy_regex(r"[1-9]\d{0,2}[.,]\d{3}")


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
        sign = -1 if plain.startswith("-") else 1
        try:
            parts, is_ambiguous = self._parts(plain.lstrip("+-") if plain[1:2] not in {"+", "-"} else plain)
            value = _sum(parts, sign)
        except UnreadableError as why:
            return unreadable(text, why)
        return Reading(text, value, str(value), ("ambiguous",) if is_ambiguous else ())

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        return read_distinct(self.read, raws)

    def tokens(self, raw: Scalar) -> tuple[Token, ...]:
        words, text = unit_words(self.locale)[0], fold(raw[:MOST_CHARACTERS]) if isinstance(raw, str) else ""
        is_iso = _ISO.fullmatch(text.strip(" +-")) is not None
        return tuple(
            (
                token,
                "a number" if token[0].isdecimal()
                else "a mark of ISO 8601" if is_iso
                else f"the unit {words[token]}" if token in words
                else "and" if token in _CONNECTORS.split("|") else NO_RULE,
            )
            for token in re.findall(r"\d+(?:[.,]\d+)?|[^\W\d_]+", text)
        )  # fmt: skip

    def _parts(self, text: str) -> tuple[list[tuple[Decimal, str]], bool]:
        iso = _ISO.fullmatch(text)
        if iso:
            numbers = zip(iso.groups(), _ISO_UNITS, strict=True)
            return [
                (Decimal(number.replace(",", ".")), unit) for number, unit in numbers if number is not None
            ], False
        clock = _CLOCK.fullmatch(text)
        if clock:
            hours, minutes, seconds, fraction = clock.groups()
            parts = [
                (Decimal(hours), "hour"),
                (Decimal(minutes), "minute"),
                (Decimal(f"{seconds or 0}.{fraction or 0}"), "second"),
            ]
            return parts, seconds is None
        return self._from_words(text)

    def _from_words(self, text: str) -> tuple[list[tuple[Decimal, str]], bool]:
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
    found = match[2]
    if found is None:
        return "", match.end()
    if found in words:
        return found, match.end()
    first = found.split()[0]
    if first in words:
        return first, match.start(2) + len(first)
    raise UnreadableError(f"{first[:40]!r} is not a unit of time")


def _sum(parts: list[tuple[Decimal, str]], sign: int) -> Duration:
    seconds = sum((number * SECONDS[unit] for number, unit in parts if unit in SECONDS), Decimal(0))
    months = sum((number * MONTHS[unit] for number, unit in parts if unit in MONTHS), Decimal(0))
    if months != int(months):
        raise UnreadableError("a fraction of a month has no fixed length")
    return Duration(sign * seconds, sign * int(months))
