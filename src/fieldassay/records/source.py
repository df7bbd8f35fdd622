"""Sources: records by position, from files, standard input or memory, and the systems in one of them."""

import os
import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names, nearest, problem
from fieldassay.io.files.whole_files import FileListing
from fieldassay.io.json_value import id_text
from fieldassay.records.answers.answer import KINDS, find_misplaced
from fieldassay.records.envelope import open_rows
from fieldassay.records.files import Input, find_predictions, is_extraction, is_url, list_urls
from fieldassay.records.keys import (
    MAX_ID,
    MAX_LISTED,
    Positions,
    SourceOptions,
    cap_problems,
    deepest,
    locate,
)
from fieldassay.records.record import (
    GOLD_ID,
    Record,
    Repeat,
    Row,
    UnplainError,
    is_prediction,
    to_json,
    to_rows,
)
from fieldassay.records.rows import (
    PROBED,
    Contents,
    HeldRows,
    SourceRows,
    find_ids,
    read_folder,
    read_log,
    read_records,
)
from fieldassay.records.services import BATCH_ID, read_response
from fieldassay.records.tables import hold_frame, hold_table, read_parquet, read_table, table_of
from fieldassay.records.workbooks import read_workbook
from fieldassay.spec.language.names import ID_NAMES

# Sources: records by position, from files, standard input or memory.

CHUNK = 1000
_BRACKET = re.compile(r"[{\[]")
_READERS: Mapping[str, Callable[[Input, SourceOptions], Contents]] = {
    "jsonl": read_records,
    "json": read_records,
    "csv": read_table,
    "tsv": read_table,
    "parquet": read_parquet,
    "xlsx": read_workbook,
    "inspect": read_log,
}
"""The function that reads each format of a file."""


class Source(Struct, frozen=True, eq=False):
    """The records of one side: their ids in order, not necessarily distinct, and each record on demand.

    `notes` are problems that keep no other record from being judged. It pickles, and reads its file again in
    another process.
    """

    label: str
    rows: SourceRows
    options: SourceOptions
    ids: Sequence[str]
    is_numbered: bool = False
    """Whether no row has an id, so that ids are only numbers of rows."""
    notes: tuple[Problem, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def gold_ids(self) -> Sequence[str]:
        """Return the ids of the gold records of all records, which those of several documents name."""
        first = self.rows.read([0])[0].value if len(self) else None
        if not isinstance(first, dict) or GOLD_ID not in first or self.options.is_gold:
            return self.ids
        named = [row.value.get(GOLD_ID) if isinstance(row.value, dict) else None for _, row in self.walk()]
        return [id_text(own) or name for own, name in zip(named, self.ids, strict=True)]

    def place(self, position: int) -> str:
        """Return the place of a record: `preds.jsonl:17`."""
        return self.rows.place(position)

    def head(self) -> list[Row]:
        """Return the first rows, few enough to look at before anything is read."""
        return self.rows.read(range(min(PROBED, len(self))))

    def walk(self) -> Iterator[tuple[int, Row]]:
        """Yield the position of each row and the row, in order, with few of them in memory at a time."""
        for start in range(0, len(self), CHUNK):
            positions = range(start, min(start + CHUNK, len(self)))
            yield from zip(positions, self.rows.read(positions), strict=True)

    def fetch(self, positions: Sequence[int]) -> list[Record]:
        """Return the records at the positions, in that order."""
        return self.open(positions, self.rows.read(positions))

    def open(self, positions: Sequence[int], rows: Sequence[Row]) -> list[Record]:
        """Return the records of rows already read; systems in one file share them."""
        ids, place = self.ids, self.rows.place
        pairs = zip(positions, rows, strict=True)
        return open_rows(((ids[position], row, place(position)) for position, row in pairs), self.options)

    def batches(self) -> Iterator[list[Record]]:
        """Yield all records in their order, at most `CHUNK` of them at a time."""
        for start in range(0, len(self), CHUNK):
            yield self.fetch(range(start, min(start + CHUNK, len(self))))

    def __iter__(self) -> Iterator[Record]:
        """Yield all records in their order, with few of them in memory at a time."""
        return (record for batch in self.batches() for record in batch)

    def take(self, positions: Positions) -> "Source":
        """Return the records at the positions as a source of their own, as small as they are."""
        ids = tuple(self.ids[position] for position in positions.tolist())
        return replace(self, rows=self.rows.take(positions), ids=ids)


def open_source(records: Any, options: SourceOptions | None = None, label: str = "records") -> Source:
    """Return the records of a path, or of what is in memory: a list, a mapping by id, a frame, an iterable.

    A path leads to a file, a directory with a file per document, an extraction, an object in storage or, as
    `-`, to standard input. Raises `ProblemsError` if it cannot be read at all, and for gold if any row of it
    cannot.

    >>> source = open_source({"a": {"total": 5}, "b": {"total": None}})
    >>> list(source.ids), source.fetch([0])[0].data
    (['a', 'b'], {'total': 5})
    """
    options = options or SourceOptions()
    if isinstance(records, str | Path):
        label, contents = _read_path(records, options)
    else:
        contents = read_memory(label, records, options)
    source = _settle_ids(label, contents, options)
    rows = source.head()
    objects = [row.value for row in rows if isinstance(row.value, dict)]
    if options.id_names and source.is_numbered and rows:
        raise ProblemsError([_no_id_key(label, objects, options.id_names)])
    if options.is_gold and options.data_key is None:
        source = replace(source, options=_settle_key(label, objects, options))
    if source.options.data_key is not None:
        _check_key(label, objects, source.options.data_key, "data")
        if not options.is_gold:
            _check_values(label, objects, source.options, source.options.data_key)
    services = () if options.is_gold else _describe_responses(label, rows, source.options.data_key)
    return replace(source, notes=(*source.notes, *services, *contents.notes))


def _read_path(path: str | Path, options: SourceOptions) -> tuple[str, Contents]:
    """Return the name of an input for messages, and its contents."""
    if is_url(path):
        listed = list_urls(str(path))
        if listed is not None:
            return str(path), read_folder(str(path), options, FileListing(tuple(listed)))
    elif str(path) != "-":
        if not options.is_gold and is_extraction(Path(path)):
            path = find_predictions(Path(path))
        if os.path.isdir(path):  # noqa: PTH112 - a Path raises for one that no system call takes
            return str(path), read_folder(Path(path), options)
    file = Input(path, options)
    contents = _READERS[file.format](file, options)
    return file.label, replace(contents, notes=(*contents.notes, *file.notes))


def _settle_ids(label: str, contents: Contents, options: SourceOptions) -> Source:
    """Return the rows that have an id, each row without one a problem; numbers are ids where no row has one.

    For gold every problem is an error, for predictions it is a note.
    """
    rows, ids, problems = contents.rows, contents.ids, [*contents.problems]
    is_numbered = not any(name is not None for name in ids)
    lost = [] if is_numbered else [at for at, name in enumerate(ids) if name is None or len(name) > MAX_ID]
    if lost:
        places = {problem.where for problem in problems}
        problems += [
            Problem(rows.place(at), what, "give every record an id", "no_id")
            for at in lost
            for what in ("has no id" if ids[at] is None else "its id is too long",)
            if rows.place(at) not in places
        ]
        what = f"{len(lost):,} of {len(ids):,} records have no id that can be read, and are left out"
        left_out = Problem(
            label, f"{what} (first in {rows.place(lost[0])})", "give every record an id", "unmatched"
        )
        problems = problems if options.is_gold else [left_out, *problems]
        positions = np.delete(np.arange(len(ids), dtype=np.int64), lost)
        rows, ids = rows.take(positions), [ids[position] for position in positions.tolist()]
    if problems and options.is_gold:
        raise ProblemsError(cap_problems(problems))
    if options.is_gold and not ids:
        raise problem(label, "has no records", "give at least one record", "empty_input")
    names = tuple(f"#{at}" if name is None else name for at, name in enumerate(ids, 1))
    return Source(label, rows, options, names, is_numbered, tuple(cap_problems(problems)))


def _no_id_key(label: str, rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Problem:
    """Return the problem of a source without ids under the given names; positions never match rows then."""
    keys = dict.fromkeys(key for row in rows for key in row)
    named = (
        f"the id key {names[0]!r}"
        if len(names) == 1
        else f"one of the id keys {', '.join(map(repr, names[:8]))}"
    )
    is_missing = bool(keys) and names[0] not in keys
    remedy = nearest(names[0], keys) if is_missing else "give every record an id: text or number"
    if usual := [name for name in ID_NAMES if name in keys and name not in names][:1]:
        id_options = " ".join(f"--id-key {shlex.quote(name)}" for name in (*names[:8], *usual))
        near = f"; {remedy}" if remedy.startswith("did you mean") else ""
        remedy = f"if {usual[0]!r} is the id there: {id_options}{near}"
    remedy = remedy.replace("one of: ", "its keys: ")
    if len(rows) == 1:
        remedy += "; or give a folder of files that are named by their ids"
    return Problem(label, f"no row has {named}", remedy, "no_id_key")


def _settle_key(label: str, rows: Sequence[Mapping[str, Any]], options: SourceOptions) -> SourceOptions:
    """Return the options by which the key of gold's first rows is that of every row, if they have one.

    A near-miss of the key is an error: a misspelled envelope would be judged as data.
    """
    key = next((key for row in rows if (key := options.key_of(row)) is not None), None)
    if key is not None:
        return replace(options, data_key=key, data_keys=())
    advice = (nearest(key, row) for row in rows for key in options.data_keys)
    near = next((remedy for remedy in advice if remedy.startswith("did you mean")), None)
    if near is not None:
        raise problem(label, f"no data key {options.data_keys[0]!r} in the first rows", near, "no_data_key")
    return options


def open_systems(path: str | Path, options: SourceOptions) -> dict[str, Source]:
    """Return the predictions of several systems in one file, by system, in order of appearance.

    `options.systems_key` names an object whose keys are systems and whose values are their answers. The
    sources share one index; a system has no prediction where it has no key, and an invalid one where its
    value is null.
    """
    key = options.systems_key
    if key is None:
        raise problem(path, "the key of the systems is missing", "name it", "no_systems_key")
    shared = open_source(path, replace(options, systems_key=None, data_key=None))
    objects = [row.value for row in shared.head() if isinstance(row.value, dict)]
    _check_key(shared.label, objects, key, "systems")
    positions: dict[str, list[int]] = {}
    for position, row in shared.walk():
        systems = locate(row.value, key)[1]
        for name in systems if isinstance(systems, dict) else ():
            positions.setdefault(name, []).append(position)
    if not positions:
        raise problem(
            shared.label, f"no system under {key!r}", "give an object with a key per system", "no_systems"
        )
    return {name: _view(shared, f"{key}.{name}", options, where) for name, where in positions.items()}


def _view(shared: Source, key: str, options: SourceOptions, where: list[int]) -> Source:
    view = replace(shared, options=replace(options, systems_key=None, data_key=key))
    return view if len(where) == len(shared) else view.take(np.array(where, dtype=np.int64))


def _check_key(label: str, rows: Sequence[Mapping[str, Any]], key: str, what: str) -> None:
    rows = [row for row in rows if not (row.get("raw") or row.get("error") or is_prediction(row))]
    if not rows or any(locate(row, key)[0] for row in rows):
        return
    seen = "the first row" if len(rows) == 1 else f"the first {len(rows)} rows"
    raise problem(
        label, f"no key {key!r} (the {what} key) in {seen}", _remedy_of_key(key, rows), "no_data_key"
    )


def _check_values(label: str, rows: Sequence[Mapping[str, Any]], options: SourceOptions, key: str) -> None:
    """Raise `ProblemsError` if the key has no record in any first row, but another place has, or none can."""
    answers = (locate(row, key)[1] for row in rows if not row.get("raw") and not row.get("error"))
    values = [value for value in answers if value is not None]
    if not values or any(
        isinstance(value, dict | list) or (isinstance(value, str) and _BRACKET.search(value))
        for value in values
    ):
        return
    declared = options.expected_keys
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
    raise problem(
        label,
        f"{key!r} holds no record in the first rows: it is {KINDS[type(values[0])]}",
        remedy or "name the key that holds the record",
        "no_data_key",
    )


def _remedy_of_key(key: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the keys at the deepest place of a path reached by any of the rows."""
    place, value = max((deepest(row, key) for row in rows), key=lambda pair: len(pair[0]))
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


def _describe_responses(label: str, rows: Sequence[Row], key: str | None) -> list[Problem]:
    """Return a note if the first rows are responses of a service, or hold them under the data key."""
    for row in rows:
        value = row.value if key is None else locate(row.value, key)[1]
        response = read_response(value)
        if response is not None:
            ids = f", ids are under {BATCH_ID!r}" if isinstance(value, dict) and BATCH_ID in value else ""
            what = (
                f"holds responses of the kind {response.kind}: answer, usage and errors were taken from "
                f"them{ids}"
            )
            return [Problem(label, what, kind="responses")]
    return []


def read_memory(label: str, records: Any, options: SourceOptions) -> Contents:
    """Return the contents of a list of objects, a mapping by id, a frame, or any iterable.

    Frames are those of Polars, pandas (the ids are its index, if no column has them and it is no plain range)
    and whatever has the Arrow interface (pyarrow, DuckDB).
    """
    kind = type(records).__module__.partition(".")[0]
    if kind == "polars" and hasattr(records, "collect"):
        records = records.collect()
    is_polars_frame = kind == "polars" and hasattr(records, "iter_rows")
    if is_polars_frame or (kind not in ("polars", "pandas") and hasattr(records, "__arrow_c_stream__")):
        import polars as pl

        return hold_frame(label, pl.DataFrame(records), options)
    index: Iterable[Any] | None = None
    if kind == "pandas" and hasattr(records, "index"):
        is_indexed = type(records.index).__name__ != "RangeIndex"
        if hasattr(records, "columns"):
            names, cells = list(map(str, records.columns)), records.itertuples(index=False, name=None)
            if options.group:
                return hold_table(table_of(label, names, cells), options)
            index = records.index if is_indexed and set(names).isdisjoint(options.names) else None
            records = [dict(zip(names, row, strict=True)) for row in cells]
        else:
            index, records = records.index if is_indexed else None, list(records)
    elif isinstance(records, Mapping):
        index, records = records, list(records.values())
    is_scalar = isinstance(records, bytes) or getattr(records, "ndim", 1) == 0
    if is_scalar or not isinstance(records, Iterable):
        raise problem(
            label,
            f"is a {type(records).__name__}, not records",
            "give a path, a list of objects, a mapping or a frame",
            "not_records",
        )
    records = list(records)
    rows = to_rows(records, options.read_keys)
    if index is not None:
        ids = [id_text(_plain_key(key)) for key in index]
    else:  # a record has an id, also where the rest of it cannot be read
        whole = [
            row if row.problem is None else Row(record) for row, record in zip(rows, records, strict=True)
        ]
        ids = find_ids(whole, options.names)
    problems = [
        Problem(f"{label}[{at}]", row.problem, "correct the record", "not_json")
        for at, row in enumerate(rows)
        if row.problem and options.is_gold
    ]
    places = tuple(f"[{at}]" for at in range(len(rows)))
    return Contents(HeldRows(label, tuple(rows), places), ids, problems)


def _plain_key(key: Any) -> Any:
    try:
        return to_json(key)
    except UnplainError:
        return None


# Repeated runs of one system: several sources under one name, or one source with a run in each record.

RUN_KEYS = ("repeat", "run")
"""The keys beside a record that name its run, where ids repeat."""


def name_repeats(system: str, runs: int) -> tuple[Repeat, ...]:
    """Return the runs of a system."""
    return tuple(Repeat(system, number, runs) for number in range(1, runs + 1))


def are_runs(records: Any) -> bool:
    """Return whether the predictions given for a system are several sources rather than one.

    They are a list or a tuple of paths, of lists of records, or of data frames; a list of objects,
    named tuples too, is one source.

    >>> are_runs(["a.jsonl", "b.jsonl"]), are_runs([[{"id": 1}], [{"id": 1}]]), are_runs([{"id": 1}])
    (True, True, False)
    """
    return (
        isinstance(records, list | tuple)
        and bool(records)
        and all(isinstance(run, str | Path | list | tuple) or hasattr(run, "columns") for run in records)
        and not any(hasattr(run, "_fields") for run in records)
    )


def split_runs(system: str, source: Source) -> list[Source] | None:
    """Return the runs in one source with repeated ids and named runs; None for any other source.

    Every record needs `repeat` or `run`, beside its data or in it, and no id may repeat within a run.
    """
    if source.is_numbered or len(set(source.ids)) == len(source.ids):
        return None
    for key in RUN_KEYS:
        runs = _group(source, partial(_name_run, key=key, declared=source.options.declared))
        if None not in runs and len(runs) > 1 and _are_apart(source, runs):
            what = f"has ids once per {key}: {len(runs)} repeated runs of {system}"
            note = Problem(source.label, what, kind="repeats")
            ordered = {name: runs[name] for name in sorted(map(str, runs), key=_order)}
            return list(_split(source, ordered, (*source.notes, note)).values())
    return None


def _group(source: Source, name: Callable[[Record], str | None]) -> dict[str | None, list[int]]:
    """Return the positions of records by the name that each has; None: it has none."""
    groups: defaultdict[str | None, list[int]] = defaultdict(list)
    for position, record in enumerate(source):
        groups[name(record)].append(position)
    return dict(groups)


def _are_apart(source: Source, groups: Mapping[str | None, Sequence[int]]) -> bool:
    """Return whether no id repeats within a group."""
    return all(len({source.ids[at] for at in positions}) == len(positions) for positions in groups.values())


def _split(
    source: Source, places: Mapping[str, Sequence[int]], notes: Iterable[Problem]
) -> dict[str, Source]:
    """Return the parts of a source by their names; the notes are the first one's."""
    parts = {
        name: replace(source.take(np.array(positions, np.int64)), notes=())
        for name, positions in places.items()
    }
    first = next(iter(parts))
    return parts | {first: replace(parts[first], notes=tuple(notes))}


def _name_run(record: Record, key: str, declared: Collection[str]) -> str | None:
    """Return the run that a record names beside its data, or in it under a key that is no field."""
    beside = record.meta.attributes.get(key)
    if beside is not None or key in declared:
        return beside
    within = (record.data or {}).get(key)
    return str(within) if isinstance(within, str | int) else None


def _order(name: str) -> tuple[int, str]:
    """Return the place of a run among the others: numbers by their size, after names by their letters."""
    return (int(name) if name.isascii() and name.isdigit() and len(name) < 19 else 0, name)


# Predictions given once per variant: one source with repeated ids, as one system per variant.


def split_variants(system: str, source: Source) -> dict[str, Source]:
    """Return the predictions of each variant as a system named SYSTEM/VARIANT, in order of appearance.

    That is, where ids repeat, every readable record names its variant, and no id repeats within one; any
    other source is returned whole, under its own name. A system that is itself named after one of the
    variants (`model/raw`) has that one alone, whether ids repeat or not. Records that cannot be read, and
    whose variant is unknown, are left out with a note. Raises `ProblemsError` with the places of records
    without a variant where most name theirs.
    """
    ids = source.ids
    is_repeating = len(set(ids)) < len(ids)
    if source.is_numbered or not (is_repeating or "/" in system):
        return {system: source}
    variants = _group(source, lambda record: record.meta.variant)
    records = source.fetch(variants.pop(None, [])) if len(variants) > 1 else []
    lost = [record for record in records if record.data is None]
    unnamed = [record for record in records if record.data is not None]
    own = next((positions for variant, positions in variants.items() if system.endswith(f"/{variant}")), None)
    is_named = len(unnamed) < sum(map(len, variants.values()))
    if None in variants or not is_named or not _are_apart(source, variants) or not (is_repeating or own):
        return {system: source}
    if unnamed:
        what, remedy = "names no variant, as most records here do", "add `variant`, or leave it out"
        raise ProblemsError(
            cap_problems([Problem(record.place, what, remedy, "variants") for record in unnamed])
        )
    systems = (
        {f"{system}/{variant}": positions for variant, positions in variants.items()}
        if own is None
        else {system: own}
    )
    left_out = [
        Problem(
            record.place,
            f"cannot be read ({record.invalid}), so its variant cannot be seen, and it is left out",
            "correct the line",
            "variants",
        )
        for record in lost
    ]
    what = f"has ids once per variant, so each variant is a system: {list_names(list(systems), MAX_LISTED)}"
    note = () if own is not None else (Problem(source.label, what, kind="variants"),)
    return _split(source, systems, (*source.notes, *cap_problems(left_out), *note))
