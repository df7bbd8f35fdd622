"""Whole-file JSON: an array of records, or one record."""

from __future__ import annotations

from typing import Any

import msgspec

from fieldassay.errors import Problem, ProblemsError
from fieldassay.records.decode import decode_json
from fieldassay.records.files import Input
from fieldassay.records.ids import find_id, settle_ids
from fieldassay.records.lines import id_reader, read_lines
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import Row
from fieldassay.records.rows import HeldRows, Rows


def read_array(source: Input, options: SourceOptions) -> tuple[Rows, tuple[Problem, ...]]:
    """Return the rows of a file that is one JSON array of records, or one record; or JSON lines if it is several values.

    A single record without an id is a source of one numbered row.
    """
    data = source.as_utf8().read_bytes().removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")
    if data.startswith(b"["):
        return _hold(source, options, _split(source, data))
    row = decode_json(data)
    if row.problem is not None and b"\n" in data and decode_json(data.partition(b"\n")[0]).problem is None:
        return read_lines(source, options)
    if row.problem is not None or not isinstance(row.value, dict):
        what = row.problem or "is neither a list of records nor a record"
        raise ProblemsError([Problem(source.label, what, "write an array of objects, or one object per line", "not_json")])
    index = settle_ids([find_id(row.value, options.names)], (), lambda _: source.label)
    return HeldRows(source.label, index.ids, (row,), ("",), index.is_numbered), index.problems


def _split(source: Input, data: bytes) -> list[Any]:
    try:
        return [bytes(raw) for raw in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        row = decode_json(data)
    if row.problem is not None:
        raise ProblemsError([Problem(source.label, row.problem, "correct the file", "not_json")])
    return [Row(item, row.repairs) for item in row.value] if isinstance(row.value, list) else []


def _hold(source: Input, options: SourceOptions, items: list[Any]) -> tuple[HeldRows, tuple[Problem, ...]]:
    read_id = id_reader(options.names)
    found: list[str | None] = []
    problems: list[Problem] = []
    for position, item in enumerate(items):
        if isinstance(item, Row):
            name, problem = (find_id(item.value, options.names) if isinstance(item.value, dict) else None), None
        else:
            name, problem = read_id(item)
        found.append(name)
        if problem is not None:
            problems.append(Problem(f"{source.label}[{position}]", problem, "correct or remove the item", "not_json"))
    index = settle_ids(found, problems if options.is_gold else (), lambda position: f"{source.label}[{position}]")
    kept = index.kept.tolist()
    places = tuple(f"[{position}]" for position in kept)
    return HeldRows(source.label, index.ids, tuple(items[at] for at in kept), places, index.is_numbered), index.problems
