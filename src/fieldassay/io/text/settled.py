"""One Unicode form for all texts: composed, and without characters that nobody can see."""

from __future__ import annotations

import unicodedata

from fieldassay.regex import lazy_regex

LONGEST_NULL = 200
"""The maximum of characters in a null value."""
_DASHES = frozenset("-\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d") | {
    "--",
    "---",
    "\u2014\u2014",
}
_IGNORABLE = lazy_regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 16, whole."""


def settle(text: str) -> str:
    """Return a text in form NFC without default-ignorable characters.

    >>> settle("Cafe\\u0301 1\\u00ad000\\u200b") == "Café 1000"
    True
    """
    return text if text.isascii() else unicodedata.normalize("NFC", _IGNORABLE.sub("", text))


def is_settled(text: str) -> bool:
    """Return whether `settle` changes neither the text nor any part of it."""
    return text.isascii() or (unicodedata.is_normalized("NFC", text) and not _IGNORABLE.search(text))


def is_empty_text(text: str, null_values: frozenset[str] = frozenset(), is_exact: bool = False) -> bool:
    """Return whether nothing in a text can be seen, or it is one of the null values, which are casefolded.

    If it is exact, characters that nobody can see count.

    >>> is_empty_text(" \\u200b"), is_empty_text("N/A", frozenset({"n/a"})), is_empty_text("0")
    (True, True, False)
    """
    if not text or text.isspace():
        return True
    is_plain = is_exact or text.isascii()
    if is_plain and not null_values:
        return False
    plain = (text if is_plain else settle(text)).strip()
    return not plain or (len(plain) <= LONGEST_NULL and plain.casefold() in null_values)


def fold_null_values(texts: tuple[str, ...]) -> frozenset[str]:
    """Return null values as `is_empty_text` takes them; a dash stands for dashes of any width.

    >>> "–" in fold_null_values(("-",)), "–" in fold_null_values(("N/A",))
    (True, False)
    """
    folded = frozenset(settle(text).strip().casefold() for text in texts)
    return folded | _DASHES if folded & _DASHES else folded
