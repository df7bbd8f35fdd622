"""Which words may be part of a written amount of money."""

from __future__ import annotations

from functools import cache

from fieldassay.regex import lazy_regex
from fieldassay.values.types.numbers.currencies import COMMON, GENERIC, SYMBOLS

_LETTERS = lazy_regex("[A-Za-z]{2,}")
_CODE = 3


@cache
def _names() -> frozenset[str]:
    """Return the runs of letters in the names, symbols and codes of currencies, in lower case."""
    return frozenset(
        letters.casefold() for name in (*COMMON, *GENERIC, *SYMBOLS) for letters in _LETTERS.findall(name)
    )


def may_be_part_of_money(word: str) -> bool:
    """Return whether a word may be part of an amount: its letters, if it has several, name a currency.

    >>> [may_be_part_of_money(word) for word in ("12.50", "AUD$", "euro", "KWD", "pcs", "No-12")]
    [True, True, True, True, False, False]
    """
    names = _names()
    return not word.isascii() or all(
        letters.casefold() in names
        or (len(letters) == _CODE and letters.isupper())
        or letters[_CODE:].casefold() in names
        for letters in _LETTERS.findall(word)
    )
