"""Identifiers: texts in which every character counts."""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from msgspec import Struct

from fieldassay.errors import nearest
from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading, objects
from fieldassay.values.types.distinct import read_distinct
from fieldassay.values.types.normalizers import Normalizer
from fieldassay.values.types.text import coerced, json_text, whole_number

_MOST_CHARACTERS = 200
_SHORT_ISBN, _GTIN, _FEWEST_DIGITS = 10, 13, 5
_LONGEST_HINT = 200
_NAME = lazy_regex(r"[a-z][a-z0-9_]{0,40}(?:\.[a-z0-9_]{1,40}){0,2}")


class IdReader(Reader, Struct, frozen=True):
    """Reads identifiers as text: trimmed, white space collapsed, otherwise unchanged (`000123` is not `123`).

    `checksum` names a number format of python-stdnum (`au.abn`, `iban`, `isbn`). Separators that the format
    ignores are then ignored, and a value that fails the check stays comparable and is flagged
    `invalid_checksum`. With `ean` and `isbn` the number counts, not its length: a bar code is read with 13
    digits, an ISBN-10 as its ISBN-13, flagged `other_length`.

    >>> IdReader().read(" INV  0012 ").canonical
    'INV 0012'
    >>> reading = IdReader(checksum="au.abn").read("06 082 698 025")
    >>> reading.canonical, reading.flags
    ('06082698025', ('invalid_checksum',))
    """

    checksum: str | None = None
    case_sensitive: bool = True
    normalize: tuple[Normalizer, ...] = ()

    def __post_init__(self) -> None:
        if self.checksum is not None and _module(self.checksum) is None:
            hint = nearest(self.checksum, checksum_names())
            raise ValueError(
                f"unknown checksum {self.checksum!r}; "
                f"{hint if len(hint) < _LONGEST_HINT else 'name a module of python-stdnum, such as au.abn'}"
            )

    def read(self, raw: Scalar) -> Reading:
        number = whole_number(raw)
        text = json_text(raw)
        plain = " ".join((text if number is None else json_text(number)).split())
        for normalizer in self.normalize:
            plain = normalizer.apply(plain)
        flags = coerced(raw)
        if self.checksum is not None:
            written, is_valid = _checked(_module(self.checksum), plain)
            plain = _in_one_length(self.checksum, written)
            is_valid |= plain != written
            flags = (*("other_length",) * (plain != written), *("invalid_checksum",) * (not is_valid), *flags)
        canonical = plain if self.case_sensitive else plain.casefold()
        return Reading(text, canonical, canonical, flags)

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        if self.checksum is not None or self.normalize or not set(map(type, raws)) <= {str}:
            return read_distinct(self.read, raws)
        given: list[str] = list(raws)  # type: ignore[arg-type]
        texts, plain = given.copy(), given.copy()
        for at in _find_spaced(given):
            texts[at], plain[at] = given[at].strip(), " ".join(given[at].split())
        canonical = objects(plain if self.case_sensitive else [text.casefold() for text in plain])
        return Column(objects(texts), canonical, canonical)


def _find_spaced(texts: Sequence[str]) -> Iterable[int]:
    """Return the positions of the texts with white space, and perhaps those of the first and the last."""
    joined = "\0".join(texts)
    if joined.count("\0") != len(texts) - 1:
        return range(len(texts))
    *words, _ = ["", *joined.split()]
    return {0, len(texts) - 1, *accumulate(word.count("\0") for word in words)}


def checksum_names() -> tuple[str, ...]:
    """Return the valid names for `checksum`: every number format of python-stdnum, such as `au.abn`."""
    import stdnum

    found = [
        module.name.removeprefix("stdnum.") for module in pkgutil.walk_packages(stdnum.__path__, "stdnum.")
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # renamed modules of python-stdnum
        return tuple(name.replace("_.", ".") for name in found if _module(name) is not None)


def _module(name: str) -> Any:
    if not _NAME.fullmatch(name):
        return None
    for spelling in (name, name.replace(".", "_.", 1)):  # stdnum calls India's package in_
        try:
            module = importlib.import_module(f"stdnum.{spelling}")
        except ImportError:
            continue
        if hasattr(module, "is_valid"):
            return module
    return None


def _in_one_length(checksum: str, written: str) -> str:
    """Return a number that has several lengths in its longest usual one; any other text unchanged.

    >>> _in_one_length("ean", "36000291452"), _in_one_length("isbn", "0306406152")
    ('0036000291452', '9780306406157')
    """
    if checksum == "isbn" and len(written) == _SHORT_ISBN and (module := _module("isbn")).is_valid(written):
        return str(module.to_isbn13(written))
    if checksum == "ean" and written.isdecimal() and written.isascii():
        padded = written.lstrip("0").rjust(_GTIN, "0")
        if len(written) > _FEWEST_DIGITS and _module("ean").is_valid(padded):
            return padded
    return written


def _checked(module: Any, text: str) -> tuple[str, bool]:
    if len(text) > _MOST_CHARACTERS:
        return text, False
    try:
        if not hasattr(module, "compact"):
            compact = text.replace(" ", "").replace("-", "")
            return compact or text, bool(module.is_valid(compact))
        compact = str(module.compact(text))
        is_stable = bool(compact) and str(module.compact(compact)) == compact  # eu.vat drops one PT of PTPT…
        return compact if is_stable else text, bool(module.is_valid(text))
    except Exception:  # formats raise anything on hostile text, which is then invalid
        return text, False
