"""Other notations of amounts, rewritten before they are read: `5 crore`, `$1.2M`, `500/-`, `12€50`, `75¢`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct

from fieldassay.regex import lazy_regex
from fieldassay.values.types.locales import find_locale
from fieldassay.values.types.numbers.unit_spellings import POWERS_OF_TEN

_LETTERS = {"k": 3, "m": 6, "mm": 6, "b": 9}
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
    matches = list(_scale(tuple(words)).finditer(text))
    if len(matches) != 1:
        return None
    before, behind = text[: matches[0].start()], text[matches[0].end() :]
    word = matches[0][0].lower().strip(" .")
    if any(map(str.isdigit, before)) == any(map(str.isdigit, behind)):
        return None
    rest = " ".join((before, behind)).strip(" ")
    return Notation(rest, words[word], word in doubtful, needs_currency=word in _LETTERS)


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
                is_letter = len(word) == 1 and word.upper() != word and word not in _LETTERS
                if found and word not in _NO_SCALES and not is_letter:
                    yield word, len(number) - len(found[1])


@lru_cache(maxsize=64)
def _scale(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a word by itself, or of a letter or character right behind a number."""
    by_kind = (
        [word for word in words if word not in _LETTERS and word.upper() != word.lower()],
        [word for word in words if word in _LETTERS],
        [word for word in words if word.upper() == word.lower()],
    )
    plain, letters, others = (
        "|".join(sorted(map(re.escape, kind), key=len, reverse=True)) for kind in by_kind
    )
    stands = [rf"(?<![^\W\d_])(?:{plain})\.?(?![^\W_])", rf"(?<=\d) ?(?:{letters})(?![^\W_])"]
    return re.compile("|".join(stands + [rf"(?<=\d) ?(?:{others})"] * bool(others)), re.IGNORECASE)
