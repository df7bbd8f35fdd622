"""Raw answers of language models: the JSON in them, and everything that had to be done to read it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fieldassay.records.decode import TOO_DEEP, decode_json, is_too_deep
from fieldassay.records.mend import MAX_LENGTH, mend_json
from fieldassay.records.record import Row
from fieldassay.records.spans import Span, find_spans
from fieldassay.values.json import Json

MAX_REPAIR = 20_000
"""Characters that json_repair is given at most: its time can grow with the square of the length."""

_LANGUAGE = re.compile(r"\s*[\w+.-]{0,20}[ \t]*\r?\n?")
_KINDS = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a raw answer holds. `data` is None when `problem` says why; `repairs` are short names of what was done, in order, each once."""

    data: dict[str, Json] | None
    repairs: tuple[str, ...] = ()
    problem: str | None = None


def parse_answer(text: str, *, wrap: str | None = None, may_mend: bool = True) -> Answer:
    r"""Return the JSON object in a raw answer.

    Tried in this order: the whole text as it is; the contents of code fences; JSON with prose around; and, if `may_mend`, mending of the most
    promising piece, first by rules that keep every value, then by json_repair. Of several pieces the first object with content counts. A
    top-level list is put under the key `wrap`, or is no answer. Nothing is ever evaluated, and the time is bounded.

    >>> parse_answer('Here it is:\n```json\n{"total": 67,571,}\n```')
    Answer(data={'total': '67,571'}, repairs=('prose_around', 'code_fence', 'thousands_separator', 'trailing_comma'), problem=None)
    >>> parse_answer("I cannot read this page.").problem
    "no JSON in the answer: 'I cannot read this page.'"
    """
    stripped = text.strip("\ufeff\0 \t\r\n")
    if not stripped:
        return Answer(None, problem="empty answer")
    row = decode_json(stripped.encode("utf-8", "replace"))
    if row.problem is None:
        return _settle_whole(row, wrap, may_mend)
    if row.problem == TOO_DEEP:
        return Answer(None, problem=TOO_DEEP)
    body, thought = _drop_thoughts(stripped)
    found = _read_fences(body, wrap, may_mend) or _read_spans(body, wrap, may_mend)
    if isinstance(found, str):
        return Answer(None, problem=found)
    return shape(Row(found.value, (*thought, *found.repairs), found.problem), wrap)


def shape(row: Row, wrap: str | None) -> Answer:
    """Return the row as an answer: an object as it is, a list under the key `wrap`, anything else as a problem."""
    value = row.value
    repairs = tuple(dict.fromkeys(row.repairs))
    if row.problem is not None:
        return Answer(None, repairs, row.problem)
    if isinstance(value, dict):
        return Answer(value, repairs)
    if value is None:
        return Answer(None, repairs, "null answer")
    if isinstance(value, list) and wrap is not None:
        return Answer({wrap: value}, (*repairs, "array_wrapped"))
    return Answer(None, repairs, f"top level is {_KINDS[type(value)]}, expected an object")


def _settle_whole(row: Row, wrap: str | None, may_mend: bool) -> Answer:
    if not isinstance(row.value, str):
        return shape(row, wrap)
    if row.value.lstrip()[:1] not in ("{", "[", "`"):
        return Answer(None, problem=_no_json(row.value))
    inner = parse_answer(row.value, wrap=wrap, may_mend=may_mend)
    return Answer(inner.data, ("double_encoded", *inner.repairs), inner.problem)


def _drop_thoughts(text: str) -> tuple[str, tuple[str, ...]]:
    before, mark, after = text.rpartition("</think>")
    is_thought = before.lstrip().startswith("<think>") or "{" not in before  # else the mark may stand in a string of the answer
    return (after, ("thinking",)) if mark and after.strip() and is_thought else (text, ())


def _read_fences(text: str, wrap: str | None, may_mend: bool) -> Row | None:
    parts = text.split("```")
    if len(parts) < 2:
        return None
    blocks = [_drop_language(part) for part in parts[1::2][:64]]
    around = ("prose_around",) if any(part.strip() for part in parts[0::2]) else ()
    rows = [row for row in (decode_json(block.encode("utf-8", "replace")) for block in blocks) if row.problem is None]
    rows = [row for row in rows if isinstance(row.value, dict) or (wrap is not None and isinstance(row.value, list))]
    if rows:
        best = next((row for row in rows if row.value), rows[0])
        several = ("several_blocks",) if len(rows) > 1 else ()
        return Row(best.value, (*around, "code_fence", *several, *best.repairs))
    for block in blocks:
        if block.startswith(("{", "[")):
            row = _read_spans(block, wrap, may_mend)
            if isinstance(row, Row):
                return Row(row.value, (*around, "code_fence", *row.repairs), row.problem)
    return None


def _drop_language(part: str) -> str:
    tag = _LANGUAGE.match(part)
    body = part[tag.end() :] if tag else part
    return body.strip() if body.lstrip().startswith(("{", "[")) else part.strip()


def _read_spans(text: str, wrap: str | None, may_mend: bool) -> Row | str:
    spans = find_spans(text)
    best = _choose(spans)
    if best is None:
        return _no_json(text)
    around = ("prose_around",) if text[: best.start].strip() or text[best.end :].strip() else ()
    rivals = [span for span in spans if span.rank == 3 and span.is_valid]
    several = ("several_blocks",) if best.is_valid and len(rivals) > 1 else ()
    row = _read_span(text, best, may_mend)
    if isinstance(row, str):
        return row
    if isinstance(row.value, list) and wrap is None and row.value and not any(isinstance(item, dict) for item in row.value):
        return _no_json(text)  # a bracketed reference such as [12] in prose is no answer
    return Row(row.value, (*around, *several, *row.repairs))


def _choose(spans: list[Span]) -> Span | None:
    if not spans:
        return None
    top = max(span.rank for span in spans)
    likely = [span for span in spans if span.rank == top]
    valid = next((span for span in likely if span.is_valid), None)
    broken = next((span for span in likely if not span.is_valid), None)
    if valid is None or broken is None:
        return valid or broken
    is_longer = broken.end - broken.start > valid.end - valid.start
    return broken if broken.start < valid.start and broken.is_closed and is_longer else valid


def _read_span(text: str, span: Span, may_mend: bool) -> Row | str:
    piece = text[span.start : span.end]
    if span.is_valid:
        row = decode_json(piece.encode("utf-8", "replace"))
        return row if row.problem is None else row.problem
    if not may_mend:
        return f"the JSON in the answer is broken: {_opening(piece)}"
    if len(piece) > MAX_LENGTH:
        return f"the JSON in the answer is broken and too long to mend ({len(piece):,} characters)"
    row_or_none = mend_json(piece)
    return row_or_none or _repair(piece)


def _repair(piece: str) -> Row | str:
    end = piece.rfind("}" if piece[0] == "{" else "]")
    piece = piece[: end + 1] if end > 0 else piece
    if len(piece) > MAX_REPAIR:
        return f"the JSON in the answer is broken and too long to repair ({len(piece):,} characters)"
    import json_repair

    try:
        value = json_repair.loads(piece, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, TypeError, KeyError, AttributeError):
        return f"the JSON in the answer is broken: {_opening(piece)}"
    if not isinstance(value, dict | list) or not value or is_too_deep(value):
        return f"the JSON in the answer is broken: {_opening(piece)}"
    return Row(value, ("repaired",))


def _no_json(text: str) -> str:
    return f"no JSON in the answer: {_opening(text)}"


def _opening(text: str) -> str:
    shown = " ".join(text[:200].split())
    return ascii(shown[:80]) if not shown.isprintable() else repr(shown[:80])
