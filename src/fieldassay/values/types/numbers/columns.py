"""Fast paths for columns of JSON numbers and of texts that read the same in every locale."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from fieldassay.io.json_value import Scalar
from fieldassay.regex import lazy_regex
from fieldassay.values.types.column import Column, objects
from fieldassay.values.types.numbers.amounts import PLAIN_LIMIT, canonical_number

_PLAIN = lazy_regex(
    r"-?(?:[0-9]{1,30}|[0-9]{1,30}\.(?:[0-9]{1,2}|[0-9]{4,30})|(?:[0-9]{4,30}|0)\.[0-9]{3})\Z"
)
_NUMBERS = frozenset({int, float})
_PLAIN_FLOATS = (1e-3, 1e15)
"""Between these magnitudes the shortest digits of a float are always written without an exponent."""
_MANY = 1000
"""Fewer numbers are not worth loading Polars, which writes them faster."""


def number_column(raws: Sequence[Scalar]) -> Column | None:
    """Return the column of finite JSON numbers; None if any value is not one.

    The texts of floats are written when they are needed.
    """
    if set(map(type, raws)) == {float} and np.isfinite(np.array(raws, dtype=np.float64)).all():
        return Column.on_demand(objects(raws), lambda values: json_columns(values) or ([], []))
    written = json_columns(raws)
    return None if written is None else Column(objects(written[0]), objects(raws), objects(written[1]))


def json_columns(raws: Sequence[Scalar]) -> tuple[list[str], list[str]] | None:
    """Return the JSON texts and the canonical texts of finite numbers; None if any value is not one.

    >>> json_columns([1.5, -2.0, 0.25])
    (['1.5', '-2.0', '0.25'], ['1.5', '-2', '0.25'])
    >>> json_columns([10**20, 1e-7])
    (['100000000000000000000', '1e-07'], ['100000000000000000000', '0.0000001'])
    """
    if len(raws) >= _MANY and set(map(type, raws)) == {float}:
        floats = np.array(raws, dtype=np.float64)
        size = np.abs(floats)
        is_plain = ((size >= _PLAIN_FLOATS[0]) & (size < _PLAIN_FLOATS[1])) | (
            (size == 0) & ~np.signbit(floats)
        )
        if bool(is_plain.all()):
            import polars as pl

            written = pl.Series(floats).cast(pl.String)
            return written.to_list(), written.str.strip_suffix(".0").to_list()
    texts = json_texts(raws)
    return None if texts is None else (texts, canonical_texts(texts))


def json_texts(raws: Sequence[Scalar]) -> list[str] | None:
    """Return the JSON texts of finite numbers; None if any value is not one.

    >>> json_texts([1, 2.50]), json_texts([1, "2"]), json_texts([float("nan")])
    (['1', '2.5'], None, None)
    """
    kinds = set(map(type, raws))
    if not kinds <= _NUMBERS:
        return None
    try:
        texts = list(map(repr, raws))
    except ValueError:  # an integer beyond Python's limit of digits
        return None
    return None if float in kinds and any("n" in text for text in texts) else texts


def canonical_texts(texts: Sequence[str]) -> list[str]:
    """Return the canonical texts of JSON numbers in Python's notation.

    >>> canonical_texts(["5.0", "1e-07", "-0.0"])
    ['5', '0.0000001', '0']
    """
    return [_canonical(text) for text in texts]


def _canonical(text: str) -> str:
    if text[-2:] == ".0":
        text = text[:-2]
        return text if text != "-0" else "0"
    return canonical_number(Decimal(text)) if "e" in text or len(text) > PLAIN_LIMIT else text


def plain_number(text: str) -> str | None:
    """Return the canonical text of a plain number that reads the same in every locale (`-12.50`), else None.

    >>> plain_number("-12.50"), plain_number("1.234"), plain_number("007")
    ('-12.5', None, '7')
    """
    if not _PLAIN.match(text):
        return None
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    if text[:2] == "-0" or (text[0] == "0" and text[1:2] != "."):
        return canonical_number(Decimal(text))
    return text
