"""Text folding by the list: a whole list is joined, folded in one pass in C, and split again."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.values.types.normalizers import BARE_LETTERS

Flags = npt.NDArray[np.bool_]

_END = "\0"
_UNKNOWN, _KEPT, _PUNCTUATION, _MARK = 0, 1, 2, 3
_MINUS = "\N{MINUS SIGN}"
# Code 0 ends a text.
_ASCII_PUNCTUATION = bytes(code for code in range(1, 128) if unicodedata.category(chr(code))[0] in "PZC")
_CONFUSABLE = bytes.maketrans(b"oOQDlI|iSsBZzGbgq", b"00001111558226699")
_CONFUSABLE_PAIRS = ((b"rn", b"m"), (b"cl", b"d"), (b"vv", b"w"))


class _Classes:
    """The class of every code point (kept, punctuation, mark), computed on first use."""

    def __init__(self) -> None:
        self.table = np.zeros(0x110000, dtype=np.uint8)
        self.table[0] = _KEPT

    def of(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint8]:
        classes = self.table[codes]
        if not classes.all():
            for code in set(codes[classes == _UNKNOWN].tolist()):
                self.table[code] = _class_of(chr(code))
            classes = self.table[codes]
        return classes


def _class_of(character: str) -> int:
    major = unicodedata.category(character)[0]
    if major == "M":
        return _MARK
    return _PUNCTUATION if major in "PZC" or character == _MINUS else _KEPT


_classes = _Classes()


def fold(texts: Sequence[str], change: Callable[[str], str]) -> list[str]:
    """Return every text changed by a function that works character by character.

    The function is called once, on the joined texts.

    >>> fold(["Ab", "", "C"], str.casefold)
    ['ab', '', 'c']
    """
    if not texts:
        return []
    joined = _END.join(texts)
    if joined.count(_END) != len(texts) - 1:
        return [change(text) for text in texts]
    return change(joined).split(_END)


def fold_case(texts: Sequence[str]) -> list[str]:
    """Return the texts casefolded.

    >>> fold_case(["Straße"])
    ['strasse']
    """
    return fold(texts, str.casefold)


def match_keys(texts: Sequence[str]) -> list[str]:
    """Return the texts reduced to match keys; symbols stay.

    Case, accents, compatibility forms, white space, punctuation and invisible characters are removed.

    >>> match_keys(["Ação, Ltd.", "5 m³", "<5"])
    ['acaoltd', '5m3', '<5']
    """
    return fold(texts, _match_key)


def squeeze(texts: Sequence[str]) -> list[str]:
    """Return the texts without white space, punctuation and invisible characters.

    >>> squeeze(["A-1, b"])
    ['A1b']
    """
    return fold(texts, lambda joined: _without(joined, _PUNCTUATION))


def strip_accents(texts: Sequence[str]) -> list[str]:
    """Return the texts without combining marks, strokes and ligatures.

    >>> strip_accents(["Ação", "Tromsø"])
    ['Acao', 'Tromso']
    """
    return fold(
        texts,
        lambda joined: _without(unicodedata.normalize("NFD", joined), _MARK).translate(BARE_LETTERS),
    )


def compose(texts: Sequence[str]) -> list[str]:
    """Return the texts in normalization form NFC."""
    return fold(texts, lambda joined: unicodedata.normalize("NFC", joined))


def unify_forms(texts: Sequence[str]) -> list[str]:
    """Return the texts in normalization form NFKC.

    >>> unify_forms(["ﬁne", "m³"])
    ['fine', 'm3']
    """
    return fold(texts, lambda joined: unicodedata.normalize("NFKC", joined))


def fold_confusable(texts: Sequence[str]) -> list[str]:
    """Return the texts with one character for every class of characters that OCR confuses.

    >>> fold_confusable(["INV-1O5", "lNV-I0S", "rnodern"])
    ['1NV-105', '1NV-105', 'm0dem']
    """
    return fold(texts, _without_confusables)


def equal(left: Sequence[object], right: Sequence[object]) -> Flags:
    """Return a mask of equal elements of two sequences of equal length."""
    return np.fromiter(map(operator.eq, left, right), dtype=np.bool_, count=len(left))


def contained(wholes: Sequence[str], parts: Sequence[str]) -> Flags:
    """Return a mask of the wholes that contain their parts.

    >>> contained(["abc", "ab"], ["b", "abc"]).tolist()
    [True, False]
    """
    return np.fromiter(map(operator.contains, wholes, parts), dtype=np.bool_, count=len(wholes))


def holds(claim: Callable[[Any], object], values: Sequence[Any]) -> Flags:
    """Return a mask of the values for which the claim holds."""
    return np.fromiter(map(claim, values), dtype=np.bool_, count=len(values))


def lengths(texts: Sequence[Sequence[object]]) -> npt.NDArray[np.int64]:
    """Return the number of characters of every text, of items of every sequence."""
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def code_sums(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return the sum of the code points of every text, equal for texts with the same characters in any order.

    >>> code_sums(["ab", "ba", ""]).tolist()
    [195, 195, 0]
    """
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    totals = np.concatenate([[0], np.cumsum(codes, dtype=np.int64)])
    return np.asarray(np.diff(totals[np.concatenate([[0], np.cumsum(lengths(texts))])]))


def pick(texts: Sequence[str], rows: npt.NDArray[np.intp]) -> list[str]:
    """Return the texts at the rows, which are distinct and ascending."""
    if rows.size < 2 or rows.size == len(texts):
        return list(texts) if rows.size == len(texts) else [texts[row] for row in rows.tolist()]
    return list(operator.itemgetter(*rows.tolist())(texts))


def _match_key(joined: str) -> str:
    if joined.isascii():
        return joined.encode("ascii").lower().translate(None, _ASCII_PUNCTUATION).decode("ascii")
    folded = unicodedata.normalize("NFKD", joined).translate(BARE_LETTERS).casefold()
    return _without(folded, _PUNCTUATION, _MARK)


def _without(joined: str, *unwanted: int) -> str:
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    is_wanted = np.ones(4, dtype=np.bool_)
    is_wanted[list(unwanted)] = False
    kept = codes[is_wanted[_classes.of(codes)]]
    return kept.tobytes().decode("utf-32-le", "surrogatepass")


def _without_confusables(joined: str) -> str:
    # Bytes below 128 occur in UTF-8 only as themselves, so ASCII classes can be folded on the bytes.
    encoded = joined.encode("utf-8", "surrogatepass")
    for pair, single in _CONFUSABLE_PAIRS:
        encoded = encoded.replace(pair, single)
    return encoded.translate(_CONFUSABLE).decode("utf-8", "surrogatepass")
