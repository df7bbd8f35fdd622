"""Names of months, weekdays and the small words of dates by locale: the common ones from a table."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from fieldassay.regex import lazy_regex
from fieldassay.values.types.dates import common_words

Order: TypeAlias = Literal["dmy", "mdy", "ymd"]

LANGUAGES = (
    "en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "nb", "fi", "pl", "cs", "id", "tr", "ro", "hu",
    "sk", "ca", "et", "lv", "lt", "sl", "hr", "el", "ru", "uk", "bg",
)  # fmt: skip
"""Languages whose names are known without a locale; an earlier one wins where two disagree (ambiguous)."""

WORD = lazy_regex(r"[^\d\s.,;:/()\-–—'’\"_]+")
_FILLERS = "thang thg of de del d den der dem le la el the on st nd rd th er ere re eme o a ª º °"
_MORE_MONTHS = {"sept": 9, "mrz": 3, "maerz": 3, "jaenner": 1, "fevr": 2, "fev": 2, "aout": 8, "set": 9}
_MARKERS = str.maketrans(
    {
        "年": ".",
        "月": ".",
        "日": " ",
        "년": ".",
        "월": ".",
        "일": " ",
        "٫": ".",
        "،": ",",
        "−": "-",
        "‐": "-",
        "‑": "-",
        "ı": "i",
    }
)


class Names(Struct, frozen=True):
    """Folded words of dates: months by name, weekdays and other words without meaning for the date.

    `clashing` are the month names on which languages disagree.
    """

    months: Mapping[str, int]
    weekdays: frozenset[str]
    fillers: frozenset[str]
    clashing: frozenset[str] = frozenset()


def fold(text: str) -> str:
    """Return the text without case, accents, invisible marks and local digits.

    >>> fold("15 MÄRZ ２０２５"), fold("٢٠٢٥")
    ('15 marz 2025', '2025')
    """
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_MARKERS)
    chars = [
        char
        for char in unicodedata.normalize("NFKD", plain)
        if not unicodedata.combining(char) and unicodedata.category(char) != "Cf"
    ]
    return "".join([str(unicodedata.decimal(char)) if char.isdecimal() else char for char in chars])


@lru_cache(maxsize=64)
def locale_data(locale: str) -> Any:
    """Return babel's data of a locale, `en-AU` or `en_AU`.

    Raises ValueError for a locale unknown to babel.
    """
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(locale.replace("-", "_"))
    except (UnknownLocaleError, ValueError, TypeError) as error:
        raise ValueError(f"unknown locale {locale!r}; write it like en_AU or de") from error


@lru_cache(maxsize=64)
def date_order(locale: str) -> Order:
    """Return the order in which the locale writes a short date.

    >>> date_order("en_AU"), date_order("en_US"), date_order("sv")
    ('dmy', 'mdy', 'ymd')
    """
    pattern = re.sub(r"'[^']*'", "", locale_data(locale).date_formats["short"].pattern).lower()
    order = "".join(sorted("dmy", key=pattern.index))
    return "mdy" if order == "mdy" else "ymd" if order[0] == "y" else "dmy"


@lru_cache(maxsize=64)
def names(locale: str | None) -> Names:
    """Return the words of the locale, followed by those of all `LANGUAGES`."""
    if locale is None:
        return _common()
    own, common = names_of(locale_data(locale)), _common()
    months = {**dict(_shortened(own.months)), **common.months, **own.months}
    return Names(
        months,
        common.weekdays | own.weekdays,
        common.fillers | own.fillers,
        common.clashing - own.months.keys(),
    )


@cache
def _common() -> Names:
    months = {word: month for month, words in common_words.MONTHS.items() for word in words.split()}
    weekdays, fillers = common_words.WEEKDAYS.split(), (*common_words.FILLERS.split(), *_FILLERS.split())
    return Names(
        months,
        frozenset(weekdays) - months.keys() | _DOUBLE,
        frozenset(fillers) - months.keys(),
        frozenset(common_words.CLASHING_MONTHS.split()),
    )


_DOUBLE = frozenset({"mar"})  # Tuesday in French, Spanish and Italian, and March


def names_of(data: Any) -> Names:
    """Return the words of one locale, given its data of Babel."""
    months: dict[str, int] = {}
    for name, month in _calendar_words(data.months):
        words = WORD.findall(fold(name))
        if words and not re.search(r"\d", name):
            months.setdefault(max(words, key=len), month)
    for word, month in _MORE_MONTHS.items():
        months.setdefault(word, month)
    weekdays = {word for name, _ in _calendar_words(data.days) for word in WORD.findall(fold(name))}
    return Names(months, frozenset(weekdays), frozenset(_small_words(data)) - months.keys())


def _shortened(months: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for word, month in months.items():
        for length in (3, 4):
            same = {other for name, other in months.items() if name[:length] == word[:length]}
            if len(word) > length and len(same) == 1 and word.isascii():
                yield word[:length], month


def _calendar_words(calendar: Any) -> Iterator[tuple[str, int]]:
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            for number, name in calendar[context][width].items():
                yield name, int(number)


def _small_words(data: Any) -> Iterator[str]:
    for pattern in data.date_formats.values():
        for literal in re.findall(r"'([^']*)'", pattern.pattern):
            yield from WORD.findall(fold(literal))
    for name in (*data.months["format"]["wide"].values(), *data.days["format"]["wide"].values()):
        yield from sorted(WORD.findall(fold(name)), key=len)[:-1]
