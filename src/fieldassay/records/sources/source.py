"""Sources: records by position, from files, standard input or memory."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.whole_files import Listing
from fieldassay.io.json_value import id_text
from fieldassay.records.answers.answer import KINDS
from fieldassay.records.answers.misplaced import find_misplaced
from fieldassay.records.decode import decode_json
from fieldassay.records.envelope import open_rows
from fieldassay.records.formats.document_sets import DocumentSet, find_set
from fieldassay.records.formats.extractions import find_predictions, is_extraction
from fieldassay.records.formats.files import Input
from fieldassay.records.formats.find_format import is_url
from fieldassay.records.formats.lines import id_reader, read_lines
from fieldassay.records.formats.rows import HeldRows, Rows, hold_rows
from fieldassay.records.ids import Positions, cap_problems, deepest, find_id, locate
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import GOLD_ID, Record, Row, is_prediction
from fieldassay.records.responses import BATCH_ID, read_response
from fieldassay.regex import lazy_regex


def read_records(source: Input, options: SourceOptions) -> tuple[Rows, tuple[Problem, ...]]:
    """Return the rows of a file of JSON: a value per line, an array, or objects behind one another.

    Where no row has an id, all documents may stand in one value, or each under its id: see `find_set`.
    """
    has_lines = source.format == "jsonl" and _has_lines(source)
    rows, problems = (read_lines if has_lines else read_array)(source, options)
    found: DocumentSet | None = None
    every: list[Row] = []
    for count in (min(PROBED, len(rows)), len(rows)) if rows.is_numbered else ():
        every = rows.read(range(count))
        found = find_set([row.value for row in every], options)
        if found is None:
            break
    if found is None:
        return rows, problems
    _note_form(source, found.form)
    repairs = tuple(dict.fromkeys(repair for row in every for repair in row.repairs))
    places = [f"{found.place}[{at if name is None else name}]" for at, name in enumerate(found.names)]
    held = [Row(record, repairs) for record in found.records]
    return hold_rows(source.label, found.names, held, places, problems)


def _note_form(source: Input, form: str) -> None:
    source.notes.append(Problem(source.label, f"was read as {form}", kind="document_set"))


def _has_lines(source: Input) -> bool:
    """Return whether a file has a JSON value per line, judged by its first; broken lines are lines, too."""
    text = source.head.decode(source.encoding, "replace").lstrip("\ufeff\0 \t\r\n")
    first, _, rest = text.partition("\n")
    is_value = decode_json(first.encode("utf-8", "replace")).problem is None
    if is_value or text.startswith("["):
        return is_value and (bool(rest.strip()) or not text.startswith("["))
    return _values_of(text, 1) is None


def _values_of(text: str, most: int | None = None) -> list[bytes] | None:
    """Return the objects that stand behind one another in a text, the first ones only if there is a limit."""
    decoder, at = json.JSONDecoder(), 0
    found: list[bytes] = []
    try:
        while at < len(text) and len(found) != most:
            value, end = decoder.raw_decode(text, at)
            if not isinstance(value, dict):
                return None
            found.append(text[at:end].encode("utf-8", "replace"))
            at = _GAP.match(text, end).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return found


def read_array(source: Input, options: SourceOptions) -> tuple[Rows, tuple[Problem, ...]]:
    """Return the rows of a file that is a JSON array of records, one record, or several values.

    A single record without an id is a source of one numbered row.
    """
    data = source.as_utf8().read_bytes().removeprefix(b"\xef\xbb\xbf").strip(b"\0 \t\r\n")
    items = _split(data)
    row = decode_json(data) if items is None else Row(None)
    if row.problem is not None:
        if b"\n" in data and decode_json(data.partition(b"\n")[0]).problem is None:
            return read_lines(source, options)
        items = _values_of(data.decode("utf-8", "replace"))
        if items is not None:
            _note_form(source, "objects behind one another")
    if items is None and isinstance(row.value, list):
        items = [Row(item, row.repairs) for item in row.value]
    if items is not None:
        if source.format == "jsonl" and row.problem is None:
            _note_form(source, "one JSON array")
        return _hold(source, options, items)
    if row.problem is not None or not isinstance(row.value, dict):
        what = row.problem or "is neither a list of records nor a record"
        raise problem(source.label, what, "write an array of objects, or one object per line", "not_json")
    return hold_rows(source.label, [find_id(row.value, options.names)], [row], [""])


def _split(data: bytes) -> list[Any] | None:
    """Return the items of an array by the standard as texts."""
    if not data.startswith(b"["):
        return None
    try:
        return [bytes(raw) for raw in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _hold(source: Input, options: SourceOptions, items: list[Any]) -> tuple[HeldRows, tuple[Problem, ...]]:
    read_id = id_reader(options.names)
    named = [read_id(item) if isinstance(item, bytes) else (_find_id(item, options), None) for item in items]
    problems = [
        Problem(f"{source.label}[{at}]", why, "correct or remove the item", "not_json")
        for at, (_, why) in enumerate(named)
        if why is not None and options.is_gold
    ]
    places = [f"[{at}]" for at in range(len(items))]
    return hold_rows(source.label, [name for name, _ in named], items, places, problems)


def _find_id(row: Row, options: SourceOptions) -> str | None:
    return find_id(row.value, options.names) if isinstance(row.value, dict) else None


PROBED = 20
"""Rows that are looked at to see whether the key of the data exists at all."""

CHUNK = 1000
_BRACKET = lazy_regex(r"[{\[]")
_GAP = lazy_regex(r"[\s,\0\x1e]*")
_Reader: TypeAlias = Callable[[Input, SourceOptions], tuple[Rows, tuple[Problem, ...]]]
_READERS: Mapping[str, _Reader] = {"jsonl": read_records, "json": read_records}
_TABLE_READERS: Mapping[str, str] = {
    "csv": "fieldassay.records.formats.tables:read_table",
    "tsv": "fieldassay.records.formats.tables:read_table",
    "parquet": "fieldassay.records.formats.frames:read_parquet",
    "xlsx": "fieldassay.records.formats.workbooks:read_workbook",
}
"""The readers of tables, loaded on first use."""


class Source(Struct, frozen=True, eq=False):
    """The records of one side: their ids in order, and each record on demand.

    `notes` are problems that keep no other record from being judged. It pickles, and reads its file again in
    another process.
    """

    label: str
    rows: Rows
    options: SourceOptions
    notes: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def is_numbered(self) -> bool:
        """Return whether no row has an id, so that ids are only numbers of rows."""
        return self.rows.is_numbered

    def ids(self) -> Sequence[str]:
        """Return the ids of all records, in order; not necessarily distinct."""
        return self.rows.ids

    def gold_ids(self) -> Sequence[str]:
        """Return the ids of the gold records of all records, which those of several documents name."""
        first = self.rows.read([0])[0].value if len(self) else None
        if not isinstance(first, dict) or GOLD_ID not in first or self.options.is_gold:
            return self.ids()
        rows = self.rows.read(range(len(self)))
        named = [row.value.get(GOLD_ID) if isinstance(row.value, dict) else None for row in rows]
        return [id_text(own) or name for own, name in zip(named, self.ids(), strict=True)]

    def place(self, position: int) -> str:
        """Return the place of a record: `preds.jsonl:17`."""
        return self.rows.place(position)

    def fetch(self, positions: Sequence[int]) -> list[Record]:
        """Return the records at the positions, in that order."""
        return self.open(positions, self.rows.read(positions))

    def open(self, positions: Sequence[int], rows: Sequence[Row]) -> list[Record]:
        """Return the records of rows already read; systems in one file share them."""
        names, place = self.rows.ids, self.rows.place
        pairs = zip(positions, rows, strict=True)
        return open_rows(((names[position], row, place(position)) for position, row in pairs), self.options)

    def batches(self) -> Iterator[list[Record]]:
        """Yield all records in their order, at most `CHUNK` of them at a time."""
        for start in range(0, len(self), CHUNK):
            yield self.fetch(range(start, min(start + CHUNK, len(self))))

    def __iter__(self) -> Iterator[Record]:
        """Yield all records in their order, with few of them in memory at a time."""
        return (record for batch in self.batches() for record in batch)

    def take(self, positions: Positions) -> Source:
        """Return the records at the positions as a source of their own, as small as they are."""
        return replace(self, rows=self.rows.take(positions))


def open_source(path: str | Path, options: SourceOptions | None = None) -> Source:
    """Return the records of a file, a directory of JSON files, an extraction, or standard input (`-`).

    Raises `ProblemsError` if it cannot be read at all, and for gold if any row of it cannot.
    """
    options = options or SourceOptions()
    if is_url(path):
        from fieldassay.records.formats.folders import read_folder
        from fieldassay.records.formats.storage import list_urls

        listed = list_urls(str(path))
        if listed is not None:
            rows, problems, _ = read_folder(str(path), options, Listing(tuple(listed)))
            return make_source(str(path), rows, problems, options)
    if str(path) != "-" and not options.is_gold and is_extraction(Path(path)):
        path = find_predictions(Path(path))
    if str(path) != "-" and _is_folder(Path(path)):
        from fieldassay.records.formats.folders import read_folder

        rows, problems, notes = read_folder(Path(path), options)
        source = make_source(str(path), rows, problems, options)
        return replace(source, notes=(*source.notes, *notes))
    file = Input(path, options)
    source = make_source(file.label, *_reader(file.format)(file, options), options)
    return replace(source, notes=(*source.notes, *file.notes))


def _reader(form: str) -> _Reader:
    if form in _READERS:
        return _READERS[form]
    module, _, name = _TABLE_READERS[form].partition(":")
    found: _Reader = getattr(importlib.import_module(module), name)
    return found


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a path that no system call takes; opening it says so
        return False


def make_source(label: str, rows: Rows, problems: Sequence[Problem], options: SourceOptions) -> Source:
    """Return a source of the rows; for gold every problem is an error, for predictions it is a note."""
    if problems and options.is_gold:
        raise ProblemsError(cap_problems(problems))
    if options.is_gold and not len(rows):
        raise problem(label, "has no records", "give at least one record", "empty_input")
    source = Source(label, rows, options, tuple(cap_problems(problems)))
    if options.id_names and len(rows) and rows.is_numbered:
        raise ProblemsError([_no_id_key(source, options.id_names)])
    if options.is_gold and options.data_key is None:
        source = _settle_key(source)
    if options.data_key is not None:
        _check_key(source, options.data_key, "data")
        if not options.is_gold:
            _check_values(source, options.data_key)
    return replace(source, notes=(*source.notes, *_describe_responses(source)))


def _no_id_key(source: Source, names: Sequence[str]) -> Problem:
    """Return the problem of a source without ids under the given names; positions never match rows then."""
    keys = [
        key
        for row in source.rows.read(range(min(PROBED, len(source))))
        if isinstance(row.value, dict)
        for key in row.value
    ]
    named = (
        f"the id key {names[0]!r}"
        if len(names) == 1
        else f"one of the id keys {', '.join(map(repr, names[:8]))}"
    )
    is_missing = bool(keys) and names[0] not in keys
    remedy = (
        nearest(names[0], dict.fromkeys(keys)) if is_missing else "give every record an id: text or number"
    )
    return Problem(source.label, f"no row has {named}", remedy.replace("one of: ", "its keys: "), "no_id_key")


def _settle_key(source: Source) -> Source:
    """Return gold with the key of its first rows as the key of every row; without one, rows are the records.

    A near-miss of the key is an error: a misspelled envelope would be judged as data.
    """
    rows = [
        row.value for row in source.rows.read(range(min(PROBED, len(source)))) if isinstance(row.value, dict)
    ]
    keys = source.options.data_keys
    found = next((key for row in rows if (key := source.options.key_of(row)) is not None), None)
    if found is not None:
        return replace(source, options=replace(source.options, data_key=found, data_keys=()))
    near = next(
        (told for row in rows for key in keys if (told := nearest(key, row)).startswith("did you mean")), None
    )
    if near is not None:
        raise problem(source.label, f"no data key {keys[0]!r} in the first rows", near, "no_data_key")
    return source


def open_systems(path: str | Path, options: SourceOptions) -> dict[str, Source]:
    """Return the predictions of several systems in one file, by system, in order of appearance.

    `options.systems_key` names an object whose keys are systems and whose values are their answers. The
    sources share one index; a system has no prediction where it has no key, and an invalid one where its
    value is null.
    """
    key = options.systems_key
    if key is None:
        raise problem(path, "the key of the systems is not given", "name it", "no_systems_key")
    shared = open_source(path, replace(options, systems_key=None, data_key=None))
    _check_key(shared, key, "systems")
    positions = _find_systems(shared, key)
    if not positions:
        raise problem(
            shared.label, f"no system under {key!r}", "give an object with a key per system", "no_systems"
        )
    return {name: _view(shared, f"{key}.{name}", options, where) for name, where in positions.items()}


def _view(shared: Source, key: str, options: SourceOptions, where: list[int]) -> Source:
    view = replace(shared, options=replace(options, systems_key=None, data_key=key))
    return view if len(where) == len(shared) else view.take(np.array(where, dtype=np.int64))


def _find_systems(source: Source, key: str) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for start in range(0, len(source), CHUNK):
        positions = range(start, min(start + CHUNK, len(source)))
        for position, row in zip(positions, source.rows.read(positions), strict=True):
            systems = locate(row.value, key)[1]
            for name in systems if isinstance(systems, dict) else ():
                found.setdefault(name, []).append(position)
    return found


def _check_key(source: Source, key: str, what: str) -> None:
    probed = source.rows.read(range(min(PROBED, len(source))))
    rows = [
        row.value
        for row in probed
        if isinstance(row.value, dict)
        and not (row.value.get("raw") or row.value.get("error") or is_prediction(row.value))
    ]
    if not rows or any(locate(row, key)[0] for row in rows):
        return
    seen = "the first row" if len(rows) == 1 else f"the first {len(rows)} rows"
    raise problem(source.label, f"no {what} key {key!r} in {seen}", _remedy_of_key(key, rows), "no_data_key")


def _check_values(source: Source, key: str) -> None:
    """Raise `ProblemsError` if the key has no record in any first row, but another place has, or none can."""
    rows = [
        row.value for row in source.rows.read(range(min(PROBED, len(source)))) if isinstance(row.value, dict)
    ]
    values = [
        value
        for row in rows
        if not row.get("raw") and not row.get("error")
        for value in (locate(row, key)[1],)
        if value is not None
    ]
    if not values or any(
        isinstance(value, dict | list) or (isinstance(value, str) and _BRACKET.search(value))
        for value in values
    ):
        return
    declared = source.options.expected_keys
    other = find_misplaced(rows, declared, (key, "raw"))
    is_record = any(not declared.isdisjoint(row) for row in rows)
    if other is None and not is_record and any(isinstance(value, str) for value in values):
        return  # a system may well have refused every document
    remedy = (
        f"did you mean {other!r}?"
        if other is not None
        else "leave the key out: the rows are the records"
        if is_record
        else ""
    )
    what = f"{key!r} holds no record in the first rows: it is {KINDS[type(values[0])]}"
    raise problem(source.label, what, remedy or "name the key that holds the record", "no_data_key")


def _remedy_of_key(key: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the keys at the deepest place of a path reached by any of the rows."""
    place, value = max((deepest(row, key) for row in rows), key=lambda found: len(found[0]))
    if not place:
        return nearest(key, {name for row in rows for name in row}) if any(rows) else ""
    if isinstance(value, dict):
        rest = key[len(place) :].strip(".").partition(".")[0]
        return (
            f"{place!r} has the keys {', '.join(sorted(value)[:20])}; {nearest(rest, value)}"
            if value
            else f"{place!r} is empty"
        )
    if isinstance(value, list):
        return f"{place!r} is a list of {len(value)}: name an item, such as {place}[0]"
    return f"{place!r} is {KINDS[type(value)]}" if value is not None else f"{place!r} is null"


def _describe_responses(source: Source) -> list[Problem]:
    """Return a note if the first rows are responses of a service, or hold them under the data key."""
    if source.options.is_gold:
        return []
    key = source.options.data_key
    for row in source.rows.read(range(min(PROBED, len(source)))):
        value = row.value if key is None else locate(row.value, key)[1]
        found = read_response(value)
        if found is not None:
            ids = f", ids are under {BATCH_ID!r}" if isinstance(value, dict) and BATCH_ID in value else ""
            what = (
                f"holds responses of the kind {found.kind}: answer, usage and errors were taken from "
                f"them{ids}"
            )
            return [Problem(source.label, what, kind="responses")]
    return []
