"""Where in a text JSON may stand."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fieldassay.records.decode import MAX_DEPTH
from fieldassay.values.json import Json

MAX_SPANS = 200
MAX_OPEN = 16
"""Brackets that may be found to stay open before the search ends; each costs a walk to the end of the text."""

_START = re.compile(
    r"""\{(?=\s{0,200}(?:["'“„}]|u'|//|/\*|\#|[A-Za-z_]\w{0,99}\s{0,9}:))"""
    r"""|\[(?=\s{0,200}(?:[\[{"']|-?\d|true\b|false\b|null\b))"""
)
_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]]', re.DOTALL)
_DECODER = json.JSONDecoder(parse_int=len)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text that looks like JSON, from its opening bracket to its closing one, or to the end of the text if that is missing."""

    start: int
    end: int
    is_valid: bool
    is_closed: bool = True
    rank: int = 0
    """How likely it is the answer: 3 an object with content or a list of objects, 2 an empty object, 1 any other list."""


def find_spans(text: str) -> list[Span]:
    """Return the outermost pieces of the text that look like JSON, in order; at most `MAX_SPANS`. Linear in the length of the text.

    >>> [(span.start, span.end, span.is_valid) for span in find_spans('see [470]: {"a": {"b": 1}} or {"a": 1,}')]
    [(4, 9, True), (11, 26, True), (30, 39, False)]
    """
    return list(_search(text))


def _search(text: str) -> Iterator[Span]:
    position, found, still_open = 0, 0, 0
    while found < MAX_SPANS and still_open < MAX_OPEN:
        start = _START.search(text, position)
        if start is None:
            return
        span = _read_span(text, start.start())
        if not span.is_closed:
            still_open += 1
            if text[span.start] == "[" and span.rank < 3:
                position = span.start + 1
                continue
        yield span
        found += 1
        position = span.end


def _read_span(text: str, start: int) -> Span:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Span(start, end, True, True, _rank(value))
    except (ValueError, RecursionError):
        end, is_closed = _find_end(text, start)
    return Span(start, end, False, is_closed, _guess_rank(text, start))


def _find_end(text: str, start: int) -> tuple[int, bool]:
    depth = 0
    for found in _BRACKET.finditer(text, start):
        bracket = found[0][0]
        if bracket in "{[":
            depth += 1
        elif bracket in "}]":
            depth -= 1
        if depth == 0:
            return found.end(), True
        if depth > MAX_DEPTH:
            break
    return len(text), False


def _rank(value: Json) -> int:
    if isinstance(value, dict):
        return 3 if value else 2
    return 3 if isinstance(value, list) and any(isinstance(item, dict) for item in value) else 1


def _guess_rank(text: str, start: int) -> int:
    if text[start] == "{":
        return 3
    return 3 if re.compile(r"\[\s{0,200}\{").match(text, start) else 1
