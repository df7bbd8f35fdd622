"""What locales call units of time, from babel's locale data, loaded when first needed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

from fieldassay.readers.date_names import LANGUAGES, fold, locale_data

SECONDS = {
    "microsecond": Decimal("0.000001"), "millisecond": Decimal("0.001"), "second": Decimal(1), "minute": Decimal(60),
    "hour": Decimal(3600), "day": Decimal(86400), "week": Decimal(604800),
}  # fmt: skip
"""Units of fixed length, in seconds."""
MONTHS = {"month": 1, "quarter": 3, "year": 12}
"""Units of calendar length, in months."""

_SYMBOLS = {
    "microsecond": "us µs μs", "millisecond": "ms msec", "second": "s sec secs second seconds", "minute": "m min mins minute minutes",
    "hour": "h hr hrs hour hours", "day": "d day days", "week": "w wk wks week weeks", "month": "mo mos mth mths month months",
    "quarter": "qtr qtrs quarter quarters", "year": "y yr yrs year years",
}  # fmt: skip


@cache
def unit_words(locale: str | None) -> tuple[dict[str, str], frozenset[str]]:
    """Return folded words of units and what they mean, and the words that languages disagree about; the locale's own words come first."""
    words = dict(_words_of(locale_data(locale))) if locale is not None else {}
    settled = set(words)
    for unit, symbols in _SYMBOLS.items():
        for symbol in symbols.split():
            words.setdefault(fold(symbol), unit)
            settled.add(fold(symbol))
    clashing = set()
    for language in LANGUAGES:
        for word, unit in _words_of(locale_data(language)):
            if words.setdefault(word, unit) != unit and word not in settled:
                clashing.add(word)
    return words, frozenset(clashing)


def _words_of(data: Any) -> Iterator[tuple[str, str]]:
    from babel.units import format_unit

    for unit in (*SECONDS, *MONTHS):
        for length in ("long", "short", "narrow"):
            for count in (1, 2, 5):
                text = fold(format_unit(count, f"duration-{unit}", length, locale=data)).strip()
                word = text.removeprefix(str(count)).strip(" .")
                if word and not any(char.isdigit() or char in "′″'\"/" for char in word):
                    yield word, unit
