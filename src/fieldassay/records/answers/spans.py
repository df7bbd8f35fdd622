"""The places of JSON in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from msgspec import Struct

from fieldassay.io.json_value import Json
from fieldassay.records.decode import MAX_DEPTH
from fieldassay.regex import lazy_regex

MAX_SPANS = 5_000
MAX_BROKEN = 16
"""Limit on broken pieces searched for others, and on brackets found open: each costs a walk over the rest."""

FENCE = "```"

_LIST = r"""\[(?=\s{0,200}(?:[\[{"'“„]|-?\d|true\b|false\b|null\b))"""
_START = lazy_regex(r"""\{(?=\s{0,200}(?:["'“„}]|u'|//|/\*|\#|[A-Za-z_]\w{0,99}\s{0,9}:))""" rf"|{_LIST}")
_ANY_START = lazy_regex(rf"\{{|{_LIST}")
_TEXT = r'"[^"\\\n]*+(?:(?:\\.|\n(?![ \t]{0,20}```))[^"\\\n]*+)*+"'
_MARKS = r"(?P<open>[{\[])|(?P<close>[}\]])|(?P<fence>```)|(?P<quote>\")"
_TOKEN = lazy_regex(rf"(?:[^\"{{}}\[\]`]++|{_TEXT}|`(?!``))*+(?:{_MARKS})", re.DOTALL)
_UNQUOTED = lazy_regex(rf"(?:[^{{}}\[\]`]++|`(?!``))*+(?:{_MARKS})", re.DOTALL)
_OBJECTS = lazy_regex(r"\[\s{0,200}\{")
_DECODER = json.JSONDecoder(parse_int=len)


class Span(Struct, frozen=True):
    """A piece of text that looks like JSON, from its opening bracket to its closing one.

    Without a closing bracket it ends with a code fence or the text.
    """

    start: int
    end: int
    is_valid: bool
    is_closed: bool = True
    rank: int = 0
    """Likelihood of being the answer: 3 object with content or list of objects, 2 empty object, 1 other."""
    is_inner: bool = False
    """True if it is within a broken piece."""


def find_spans(text: str, *, any_brace: bool = False) -> list[Span]:
    """Return the pieces of the text that look like JSON, in order, at most `MAX_SPANS`, in linear time.

    They are the outermost ones; pieces within a broken piece follow it, in case it is none. With `any_brace`,
    an object begins at a brace whatever follows.

    >>> spans = find_spans('see [470]: {"a": {"b": 1}} or {"a": 1,}')
    >>> [(span.start, span.end, span.is_valid) for span in spans]
    [(4, 9, True), (11, 26, True), (30, 39, False)]
    """
    return list(_search(text, _ANY_START if any_brace else _START))


def find_enclosing(text: str, inner: Span) -> str | None:
    """Return the text from an earlier brace, with something like a key behind it, to beyond a piece.

    >>> text = '{: "a": 1, "b": {"c": 2}}'
    >>> find_enclosing(text, find_spans(text)[0]) == text
    True
    """
    for brace, _ in zip(re.finditer(r"\{", text[: inner.start]), range(MAX_BROKEN), strict=False):
        end, _ = _find_end(text, brace.start())
        if end > inner.end and re.search("[:：]", text[brace.end() : inner.start]):
            return text[brace.start() : end]
    return None


def _search(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    position, found, broken, outer_end = 0, 0, 0, 0
    while found < MAX_SPANS:
        start = pattern.search(text, position)
        if start is None:
            return
        span = _read_span(text, start.start(), start.start() < outer_end)
        is_list = text[span.start] == "[" and span.rank < 3
        if span.is_closed or not is_list:
            yield span
            found += 1
        if span.is_valid or (span.is_closed and broken >= MAX_BROKEN):
            position = span.end
            continue
        if broken >= MAX_BROKEN:
            return
        broken += 1
        outer_end = max(outer_end, 0 if is_list and not span.is_closed else span.end)
        position = span.start + 1


def _read_span(text: str, start: int, is_inner: bool) -> Span:
    try:
        value, end = _DECODER.raw_decode(text, start)
        return Span(start, end, True, True, _rank(value), is_inner)
    except (ValueError, RecursionError):
        end, is_closed = _find_end(text, start)
    return Span(
        start, end, False, is_closed, 3 if text[start] == "{" or _OBJECTS.match(text, start) else 1, is_inner
    )


def _find_end(text: str, start: int) -> tuple[int, bool]:
    depth, position, match_token = 0, start, _TOKEN.match
    while found := match_token(text, position):
        position = found.end()
        match found.lastgroup:
            case "fence":
                return found.start("fence"), False
            case "open":
                depth += 1
            case "close":
                depth -= 1
            case _:  # no later quote can end a text either, so they are no quotes
                match_token = _UNQUOTED.match
        if depth == 0:
            return position, True
        if depth > MAX_DEPTH:
            break
    return len(text), False


def _rank(value: Json) -> int:
    if isinstance(value, dict):
        return 3 if value else 2
    return 3 if isinstance(value, list) and any(isinstance(item, dict) for item in value) else 1
