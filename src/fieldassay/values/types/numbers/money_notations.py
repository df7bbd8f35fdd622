"""Other notations of amounts, rewritten before they are read: `5 crore`, `$1.2M`, `500/-`, `12€50`, `75¢`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from fieldassay.regex import lazy_regex
from fieldassay.values.types.locales import find_locale
from fieldassay.values.types.numbers.unit_spellings import POWERS_OF_TEN

_LETTERS = {"k": 3, "m": 6, "mm": 6, "b": 9}
_SHORT = 3
_NO_SCALES = frozenset({"cr"})  # crore or credit
_COMPACT = lazy_regex(r"(0+)(?:[ \u00a0\u202f]?)([^\d\s]+)")
_NO_CENTS = lazy_regex(r"(?<=\d) ?/[-=](?=\Z|[^\W\d_]| )")
_SIGN_AS_POINT = lazy_regex(r"(?P<run>\d[\d.,' ]*)(?P<sign>[€$£])(?P<cents>\d\d)\Z")
_CENTS = lazy_regex(r"(?P<run>[-+]?[\d.,]+) ?¢\Z")


class Notation(Struct, frozen=True):
    """An amount as it is usually written, and the power of ten that it is to be raised by.

    `needs_currency`: it is no amount without one. `no_pounds`: in pounds it says something else.
    """

    text: str
    power: int = 0
    is_ambiguous: bool = False
    needs_currency: bool = False
    no_pounds: bool = False


def plain_notation(text: str, locale: str | None) -> Notation | None:
    """Return the amount that a folded text has in another notation; None if it has none.

    >>> [plain_notation(text, None).text for text in ("Rs. 500/-", "12€50", "75¢", "$1.2M")]
    ['Rs. 500', '€12,50', '$75', '$1.2']
    >>> plain_notation("5 Billion", "de").power, plain_notation("5 billion", "en").power
    (12, 9)
    """
    if _NO_CENTS.search(text):
        return Notation(_NO_CENTS.sub("", text), no_pounds=True)
    if found := _SIGN_AS_POINT.match(text):
        return Notation(f"{found['sign']}{found['run']}{'.' if ',' in found['run'] else ','}{found['cents']}")
    if found := _CENTS.match(text):
        return Notation(f"${found['run']}", -2)
    words, doubtful = scale_words(locale)
    found = _scale(tuple(words)).search(text)
    before, behind = (text[: found.start()], text[found.end() :]) if found else ("", "")
    if found is None or not re.search(r"\d", before) or re.search(r"\d", behind):
        return None
    word = found[0].lower().strip(" .")
    is_short = len(word) < _SHORT and word.isascii()
    return Notation(before + behind, words[word], word in doubtful, needs_currency=is_short)


@lru_cache(maxsize=64)
def scale_words(locale: str | None) -> tuple[Mapping[str, int], frozenset[str]]:
    """Return words for powers of ten, and those that mean another power in other languages.

    Those of the locale are from the compact numbers of CLDR.

    >>> scale_words("hi_IN")[0]["लाख"], scale_words("sv")[0]["tn"], "tn" in scale_words("sv")[1]
    (5, 3, True)
    """
    shared = {**POWERS_OF_TEN, **_LETTERS}
    own = {} if locale is None else dict(_own_words(locale))
    doubtful = frozenset(word for word, power in own.items() if shared.get(word, power) != power)
    letters = doubtful & _LETTERS.keys()
    words = {word: power for word, power in {**shared, **own}.items() if word not in letters}
    return words, doubtful


def _own_words(locale: str) -> Iterator[tuple[str, int]]:
    for width in find_locale(locale).compact_decimal_formats.values():
        for patterns in width.values():
            for number, pattern in patterns.items():
                found = _COMPACT.fullmatch(str(pattern.pattern).replace("'", "").rstrip("."))
                word = found[2].lower() if found else ""
                is_word = len(word) > 1 or word.upper() == word or word in _LETTERS
                if found and is_word and word not in _NO_SCALES:
                    yield word, len(number) - len(found[1])


@lru_cache(maxsize=64)
def _scale(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a word by itself, or right behind a number if it is short or has no capitals."""

    def one_of(kind: Callable[[str], bool]) -> str:
        return "|".join(sorted(map(re.escape, filter(kind, words)), key=len, reverse=True)) or r"\b\B"

    is_cased = {word: word.upper() != word for word in words}
    long = one_of(lambda word: is_cased[word] and len(word) > _SHORT)
    short = one_of(lambda word: is_cased[word] and len(word) <= _SHORT)
    others = one_of(lambda word: not is_cased[word])
    pattern = rf"(?<![^\W\d_])(?:{long})\.?(?![^\W_])|(?<=\d) ?(?:(?:{short})\.?(?![^\W_])|(?:{others}))"
    return re.compile(pattern, re.IGNORECASE)
