"""JSON lines: an index of ids and offsets, made in one pass that decodes nothing but ids."""

from __future__ import annotations

import operator
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.json_value import id_text
from fieldassay.records.decode import decode_json
from fieldassay.records.formats.files import Input
from fieldassay.records.formats.rows import SlicedRows, int64
from fieldassay.records.ids import cap_problems, find_id, settle_ids
from fieldassay.records.options import SourceOptions
from fieldassay.records.responses import ID_KEYS
from fieldassay.regex import lazy_regex

_UNUSUAL = lazy_regex(r'[\\"\0-\x1f\ud800-\udfff]')
_NO_SERVICE = (None,) * len(ID_KEYS)
BLANK = b"\0 \t\r\n\xef\xbb\xbf"


def read_lines(source: Input, options: SourceOptions) -> tuple[SlicedRows, tuple[Problem, ...]]:
    """Return the rows of a file with one JSON value per line, and its problems. Blank lines are skipped."""
    path = source.as_utf8()
    starts, lengths, numbers = array("q"), array("q"), array("q")
    found: list[str | None] = []
    problems: list[Problem] = []
    read_id = id_reader(options.names)
    size = 0
    for start, number, line in _walk(path):
        size = start + len(line)
        name, problem = read_id(line)
        starts.append(start)
        lengths.append(len(line))
        numbers.append(number)
        found.append(name)
        if problem is not None and (options.is_gold or name is None):
            problems.append(
                Problem(f"{source.label}:{number}", problem, "correct or remove the line", "not_json")
            )
    if problems and len(problems) == len(found):
        raise ProblemsError(cap_problems(problems))
    index = settle_ids(found, problems, lambda position: f"{source.label}:{numbers[position]}")
    kept = index.kept
    arrays = (int64(starts)[kept], int64(lengths)[kept], int64(numbers)[kept])
    return SlicedRows(
        path, source.label, index.ids, *arrays, index.is_numbered, source.spool, size, url=source.url
    ), index.problems


def _walk(path: Path) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.isspace() and line.lstrip(BLANK):
                mark = 3 if offset == 0 and line.startswith(b"\xef\xbb\xbf") else 0
                yield offset + mark, number, line[mark:]
            offset += len(line)


def id_reader(names: Sequence[str]) -> Callable[[bytes], tuple[str | None, str | None]]:
    """Return a function from a JSON text to its id (None: no id) and its problem (None: no problem).

    >>> id_reader(["doc_id"])(b'{"doc_id": 7, "x": [1, 2]}')
    ('7', None)
    """
    if any(_UNUSUAL.search(name) for name in names):  # no struct can have such a field
        return lambda line: _read_slowly(line, names)
    keys = [*dict.fromkeys((*names, *sorted(ID_KEYS)))]
    fields: list[Any] = [
        (f"n{at}", Any, msgspec.field(default=None, name=key)) for at, key in enumerate(keys)
    ]
    decode = msgspec.json.Decoder(msgspec.defstruct("Ids", fields, gc=False)).decode
    of_names = [f"n{keys.index(name)}" for name in names]
    of_services = operator.attrgetter(*(f"n{keys.index(key)}" for key in ID_KEYS))
    may_have_more = "id" not in names or any("." in name for name in names)

    def read(line: bytes) -> tuple[str | None, str | None]:
        try:
            row = decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return _read_slowly(line, names)
        if of_services(row) != _NO_SERVICE:  # a response of a service has ids of its own
            return _read_slowly(line, names)
        for attribute in of_names:
            name = id_text(getattr(row, attribute))
            if name is not None:
                return name, None
        return _read_slowly(line, names) if may_have_more else (None, None)

    return read


def _read_slowly(line: bytes, names: Sequence[str]) -> tuple[str | None, str | None]:
    row = decode_json(line)
    if row.problem is None:
        return (find_id(row.value, names), None) if isinstance(row.value, dict) else (None, None)
    return recover_id(line, names), row.problem


def recover_id(line: bytes, names: Sequence[str]) -> str | None:
    """Return the id in a line that is not JSON, if it can be seen near either end of it.

    >>> recover_id(b'{"id": "a7", "x": [1, 2', ["id"])
    'a7'
    """
    for part in (line[:10_000], line[-10_000:]):
        for name in names:
            pattern = rb'"%s"\s{0,20}:\s{0,20}("[^"\\]{0,1000}"|-?\d{1,30}(?=[,}\s]))' % re.escape(
                name.encode("utf-8", "replace")
            )
            found = re.search(pattern, part)
            if found:
                return id_text(decode_json(found[1]).value)
    return None
