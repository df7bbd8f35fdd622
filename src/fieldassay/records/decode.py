"""JSON text to values: strictly first, then tolerant of non-standard text with only one meaning."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import accumulate, repeat
from typing import Any

import msgspec
import numpy as np

from fieldassay.io.json_value import Json
from fieldassay.records.record import CONFIDENCE, Row

MAX_DEPTH = 100
"""Levels of nesting allowed in a record; deeper data is hostile or broken, and would exhaust the stack."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
MAX_DIGITS = 4000

_STRICT = msgspec.json.Decoder()
_ENCODE = msgspec.json.Encoder().encode
_AT_ONCE = 25
"""Texts decoded together: if one of them is irregular, all of them are decoded again."""


def decode_json(data: bytes) -> Row:
    """Return the value of a JSON text, or a row whose `problem` gives the place of the error.

    Common deviations from the standard are accepted and named in `repairs`: `non_finite_number` (NaN, which
    is no value; Infinity, numbers beyond the range of a float), `control_character` (raw in a string),
    `lone_surrogate` (replaced), `not_utf8` (read as cp1252), `duplicate_key` (the last one counts),
    `long_number` (kept as text).

    >>> decode_json(b'{"a": 1, "a": NaN}')
    Row(value={'a': None}, repairs=('non_finite_number', 'duplicate_key'))
    >>> decode_json(b'{"a": 1 "b": 2}').problem
    "not JSON (Expecting ',' delimiter, column 9)"
    """
    try:
        value = _STRICT.decode(data)
    except RecursionError:
        return Row(None, problem=TOO_DEEP)
    except (msgspec.MsgspecError, ValueError):
        return _decode_leniently(data)
    if not isinstance(value, dict | list):
        return Row(value)
    if data.count(b"{") + data.count(b"[") > MAX_DEPTH and is_too_deep(value):
        return Row(None, problem=TOO_DEEP)
    if _may_repeat_keys(data, value):
        return _decode_leniently(data)
    return Row(value)


def decode_rows(texts: Sequence[bytes]) -> list[Row]:
    """Return `decode_json` of each JSON text, faster where all texts are by the standard."""
    parts = (texts[at : at + _AT_ONCE] for at in range(0, len(texts), _AT_ONCE))
    return [row for part in parts for row in _decode_regular(part) or map(decode_json, part)]


def _decode_regular(texts: Sequence[bytes]) -> list[Row] | None:
    """Return the rows of some texts; None if one may be too deep, may repeat a key, or is no JSON."""
    try:
        values = list(map(_STRICT.decode, texts))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    joined = b"".join(texts)
    marks = np.frombuffer(joined, np.uint8)
    openings = np.flatnonzero((marks | 0x20) == ord("{"))  # those of lists differ in that bit only
    before = np.searchsorted(openings, [0, *accumulate(map(len, texts))])
    encoded = np.frombuffer(_ENCODE(values), np.uint8)
    are_quotes_lost = np.count_nonzero(marks == ord('"')) != np.count_nonzero(encoded == ord('"'))
    if np.diff(before).max() > MAX_DEPTH or are_quotes_lost or (b"\\" in joined and b"\\u0022" in joined):
        return None  # see `_may_repeat_keys`
    may_name_confidence = CONFIDENCE.encode() in joined or b"\\u" in joined
    return list(map(Row, values, repeat(()), repeat(None), repeat(may_name_confidence)))


def read_number(value: Any) -> float | None:
    """Return a finite number that is given as one or as short text, or None.

    >>> read_number("1.5"), read_number(True), read_number("NaN")
    (1.5, None, None)
    """
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float | str)
        or (isinstance(value, str) and len(value) > 100)
    ):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def is_too_deep(value: Json) -> bool:
    """Return whether the value has more than `MAX_DEPTH` levels of lists and objects."""
    level: list[Any] = [value] if type(value) in (dict, list) else []
    depth = 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            return True
        level = [
            child
            for node in level
            for child in (node.values() if type(node) is dict else node)
            if type(child) is dict or type(child) is list
        ]
    return False


def replace_surrogates(value: Json) -> Json:
    """Return the value, not too deep, with every surrogate without a partner replaced by U+FFFD."""
    text = json.dumps(value, ensure_ascii=False)
    cleaned: Json = json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return cleaned


def _may_repeat_keys(data: bytes, value: Json) -> bool:
    # Both texts hold the same strings, and a quotation mark in one of them as \", so they hold equally many
    # unless a key was dropped; the only other spelling of one is sent to the slow and exact way.
    return b"\\u0022" in data or data.count(b'"') != _ENCODE(value).count(b'"')


def _decode_leniently(data: bytes) -> Row:
    repairs: list[str] = []
    text = _to_text(data, repairs).strip("\ufeff\0 \t\r\n")
    try:
        value = _load(text, repairs)
    except RecursionError:
        return Row(None, problem=TOO_DEEP)
    except json.JSONDecodeError as error:
        return Row(None, problem=_describe(error, text))
    if is_too_deep(value):
        return Row(None, problem=TOO_DEEP)
    if "\\ud" in text or "\\uD" in text:
        cleaned = replace_surrogates(value)
        if cleaned != value:
            value = cleaned
            repairs.append("lone_surrogate")
    return Row(value, tuple(dict.fromkeys(repairs)))


def _to_text(data: bytes, repairs: list[str]) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        repairs.append("not_utf8")
        return data.decode("cp1252", "replace")


def _load(text: str, repairs: list[str]) -> Json:
    hooks = _hooks(repairs)
    try:
        value: Json = json.loads(text, **hooks)
    except json.JSONDecodeError:
        repairs[:] = [name for name in repairs if name == "not_utf8"]
        value = json.loads(text, strict=False, **hooks)
        repairs.append("control_character")
    return value


def _hooks(repairs: list[str]) -> dict[str, Any]:
    def read_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        read = dict(pairs)
        if len(read) < len(pairs):
            repairs.append("duplicate_key")
        return read

    def read_float(text: str) -> float:
        number = float(text)
        if number in (float("inf"), float("-inf")):
            repairs.append("non_finite_number")
        return number

    def read_int(text: str) -> int | str:
        if len(text) > MAX_DIGITS:
            repairs.append("long_number")
            return text
        return int(text)

    def read_constant(name: str) -> float | None:
        repairs.append("non_finite_number")
        return None if name == "NaN" else float(name)

    return {
        "object_pairs_hook": read_pairs,
        "parse_float": read_float,
        "parse_int": read_int,
        "parse_constant": read_constant,
    }


def _describe(error: json.JSONDecodeError, text: str) -> str:
    if not text:
        return "is empty"
    place = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno}, column {error.colno}"
    return f"not JSON ({error.msg}, {place})"
