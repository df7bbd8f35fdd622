"""Plain data as canonical text, and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec import Struct

from fieldassay.regex import lazy_regex

_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=True, separators=(",", ":"))
_SORTED = msgspec.json.Encoder(order="sorted")
_EXPONENT = lazy_regex(rb"e[0-9-]")
_REFUSED = (TypeError, ValueError, OverflowError, RecursionError)
_MOST_BITS = 10_000  # Python refuses str() of integers above 4300 digits


class Part(Struct, frozen=True):
    """One part of a basis: plain data, and the SHA-256 of its canonical text."""

    digest: str
    content: Any


def part_of(content: Any) -> Part:
    """Return plain data with its digest.

    >>> part_of([]).digest[:16]
    '4f53cda18c2baa0c'
    """
    return Part(hashlib.sha256(canonical(content)).hexdigest(), content)


def canonical(value: Any) -> bytes:
    """Return JSON data as canonical text: sorted keys, no white space, ASCII; equal on every machine.

    Numbers and text differ (`1`, `"1"`), and so do whole numbers and fractions (`1`, `1.0`), since a text
    field distinguishes them.

    >>> canonical({"b": [1, 1.0, "1", None], "a": "é"})
    b'{"a":"\\\\u00e9","b":[1,1.0,"1",null]}'
    """
    try:
        text = _ENCODER.encode(value)
    except ValueError:
        text = _ENCODER.encode(_without_long_numbers(value))
    return text.encode("ascii")


def canonical_record(value: Any) -> bytes:
    """Return `canonical` of plain JSON data whose keys are text, by a faster encoder where both agree.

    They differ in characters beyond ASCII, small fractions, exponents and numbers that are not finite.

    >>> canonical_record({"b": [1, 1.0, 1e-7], "a": "é"}) == canonical({"b": [1, 1.0, 1e-7], "a": "é"})
    True
    """
    try:
        text = _SORTED.encode(value)
    except _REFUSED:
        return canonical(value)
    return text if _is_same(text) and (b"null" not in text or _is_finite(value)) else canonical(value)


def canonical_records(values: Sequence[Any]) -> list[bytes]:
    """Return `canonical_record` of each value; differences of the encoders are looked for in all at once."""
    try:
        text = _SORTED.encode_lines(values)
    except _REFUSED:
        return list(map(canonical_record, values))
    if not _is_same(text):
        return list(map(canonical_record, values))
    texts = text.split(b"\n")[:-1]
    if b"null" not in text:
        return texts
    return [
        one if b"null" not in one or _is_finite(value) else canonical(value)
        for one, value in zip(texts, values, strict=True)
    ]


def _is_same(text: bytes) -> bool:
    return text.isascii() and b"0.0000" not in text and b"\x7f" not in text and not _EXPONENT.search(text)


def _is_finite(value: Any) -> bool:
    """Return whether all numbers of the data are finite; the others would be written as null."""
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _without_long_numbers(value: Any) -> Any:
    """Return the data with integers too long to be written as objects that hold their digits as text."""
    if isinstance(value, dict):
        return {key: _without_long_numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_long_numbers(item) for item in value]
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return {"\0integer": str(Decimal(value))}
    return value
