"""Sources: records by position, from files, standard input or memory, and the systems in one of them."""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names, nearest, problem
from fieldassay.io.files.folders import Listing
from fieldassay.io.json_value import id_text
from fieldassay.records.answers.answer import KINDS, find_misplaced
from fieldassay.records.envelope import open_rows
from fieldassay.records.files import Input, find_predictions, is_extraction, is_url
from fieldassay.records.keys import (
    MAX_LISTED,
    Positions,
    SourceOptions,
    cap_problems,
    deepest,
    find_id,
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
from fieldassay.records.rows import PROBED, Rows, hold_rows, read_records
from fieldassay.records.services import BATCH_ID, read_response
from fieldassay.regex import lazy_regex

# Sources: records by position, from files, standard input or memory.

CHUNK = 1000
_BRACKET = lazy_regex(r"[{\[]")
_Reader: TypeAlias = Callable[[Input, SourceOptions], tuple[Rows, tuple[Problem, ...]]]
_READERS: Mapping[str, _Reader] = {"jsonl": read_records, "json": read_records}
_TABLE_READERS: Mapping[str, str] = {
    "csv": "fieldassay.records.tables:read_table",
    "tsv": "fieldassay.records.tables:read_table",
    "parquet": "fieldassay.records.tables:read_parquet",
    "xlsx": "fieldassay.records.workbooks:read_workbook",
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
        from fieldassay.records.files import list_urls
        from fieldassay.records.rows import read_folder

        listed = list_urls(str(path))
        if listed is not None:
            rows, problems, _ = read_folder(str(path), options, Listing(tuple(listed)))
            return make_source(str(path), rows, problems, options)
    if str(path) != "-" and not options.is_gold and is_extraction(Path(path)):
        path = find_predictions(Path(path))
    if str(path) != "-" and _is_folder(Path(path)):
        from fieldassay.records.rows import read_folder

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


# Records that are in memory already.


def hold_records(records: Any, options: SourceOptions | None = None, label: str = "records") -> Source:
    """Return the records of objects in a list, a mapping by id, a frame, or any iterable.

    Frames are those of Polars, pandas (the ids are its index, if no column has them and it is no plain range)
    and whatever has the Arrow interface (pyarrow, DuckDB).

    >>> source = hold_records({"a": {"total": 5}, "b": {"total": None}})
    >>> list(source.ids()), source.fetch([0])[0].data
    (['a', 'b'], {'total': 5})
    """
    options = options or SourceOptions()
    kind = type(records).__module__.partition(".")[0]
    if kind == "polars" and hasattr(records, "collect"):
        records = records.collect()
    is_polars_frame = kind == "polars" and hasattr(records, "iter_rows")
    if is_polars_frame or (kind not in ("polars", "pandas") and hasattr(records, "__arrow_c_stream__")):
        import polars as pl

        from fieldassay.records.tables import hold_frame

        return make_source(label, *hold_frame(label, pl.DataFrame(records), options), options)
    if kind == "pandas" and hasattr(records, "columns"):
        names = list(map(str, records.columns))
        if options.group:
            from fieldassay.records.tables import hold_table, table_of

            table = table_of(label, names, records.itertuples(index=False, name=None))
            return make_source(label, *hold_table(table, options), options)
        objects = [dict(zip(names, row, strict=True)) for row in records.itertuples(index=False, name=None)]
        if type(records.index).__name__ != "RangeIndex" and not set(names) & set(options.names):
            found = [id_text(_plain_key(key)) for key in records.index]
            return _hold(label, to_rows(objects, options.read_keys), found, options)
        records = objects
    elif kind == "pandas" and hasattr(records, "to_dict"):
        records = dict(records.items()) if type(records.index).__name__ != "RangeIndex" else list(records)
    if isinstance(records, Mapping):
        return _hold_mapping(records, options, label)
    is_scalar = isinstance(records, str | bytes) or getattr(records, "ndim", 1) == 0
    if is_scalar or not isinstance(records, Iterable):
        what = f"is a {type(records).__name__}, not records"
        raise problem(label, what, "give a path, a list of objects, a mapping or a frame", "not_records")
    records = list(records)
    rows = to_rows(records, options.read_keys)
    found = [_find_id(record, row, options) for record, row in zip(records, rows, strict=True)]
    return _hold(label, rows, found, options)


def _hold_mapping(records: Mapping[Any, Any], options: SourceOptions, label: str) -> Source:
    return _hold(
        label,
        to_rows(list(records.values()), options.read_keys),
        [id_text(_plain_key(key)) for key in records],
        options,
    )


def _find_id(record: Any, row: Row, options: SourceOptions) -> str | None:
    """Return a record's id, also where the rest of the record cannot be read."""
    value = row.value if row.problem is None else record
    return find_id(value, options.names) if isinstance(value, dict) else None


def _plain_key(key: Any) -> Any:
    try:
        return to_json(key)
    except UnplainError:
        return None


def _hold(label: str, rows: list[Row], found: list[str | None], options: SourceOptions) -> Source:
    problems = [
        Problem(f"{label}[{at}]", row.problem, "correct the record", "not_json")
        for at, row in enumerate(rows)
        if row.problem
    ]
    places = [f"[{at}]" for at in range(len(rows))]
    held, lost = hold_rows(label, found, rows, places, problems if options.is_gold else ())
    return make_source(label, held, lost, options)


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
        and all(isinstance(one, str | Path | list | tuple) or hasattr(one, "columns") for one in records)
        and not any(hasattr(one, "_fields") for one in records)
    )


def split_runs(system: str, source: Source) -> list[Source] | None:
    """Return the runs in one source with repeated ids and named runs; None for any other source.

    Every record needs `repeat` or `run`, beside its data or in it, and no id may repeat within a run.
    """
    ids = source.ids()
    if source.is_numbered or len(set(ids)) == len(ids):
        return None
    for key in RUN_KEYS:
        places = _places_of_runs(source, key)
        if (
            places is not None
            and len(places) > 1
            and all(len({ids[position] for position in found}) == len(found) for found in places.values())
        ):
            parts = [source.take(np.array(places[name], np.int64)) for name in sorted(places, key=_order)]
            what = f"has ids once per {key}: {len(parts)} repeated runs of {system}"
            note = Problem(source.label, what, kind="repeats")
            first, *others = (replace(part, notes=()) for part in parts)
            return [replace(first, notes=(*source.notes, note)), *others]
    return None


def _places_of_runs(source: Source, key: str) -> Mapping[str, Sequence[int]] | None:
    """Return the positions of records by run; None if one names no run."""
    places: dict[str, list[int]] = {}
    for position, record in enumerate(source):
        name = _name_run(record, key, source.options.declared)
        if name is None:
            return None
        places.setdefault(name, []).append(position)
    return places


def _name_run(record: Record, key: str, declared: Collection[str]) -> str | None:
    """Return the run that a record names beside its data, or in it under a key that is no field."""
    beside = record.meta.attributes.get(key)
    if beside is not None or key in declared:
        return beside
    within = (record.data or {}).get(key)
    return str(within) if isinstance(within, str | int) else None


def _order(name: str) -> tuple[int, str]:
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
    ids = source.ids()
    is_repeating = len(set(ids)) < len(ids)
    if source.is_numbered or not (is_repeating or "/" in system):
        return {system: source}
    places, lost = _places_of_variants(source)
    unnamed = places.pop(None, [])
    own = next((found for variant, found in places.items() if system.endswith(f"/{variant}")), None)
    is_apart = all(len({ids[position] for position in found}) == len(found) for found in places.values())
    if not is_apart or len(unnamed) >= sum(map(len, places.values())) or not (is_repeating or own):
        return {system: source}
    if unnamed:
        what, remedy = "names no variant, as most records here do", "add `variant`, or leave it out"
        raise ProblemsError(
            cap_problems([Problem(source.place(at), what, remedy, "variants") for at in unnamed])
        )
    named = {f"{system}/{variant}": found for variant, found in places.items()}
    if own is not None:
        named = {system: own}
    parts = {name: source.take(np.array(found, dtype=np.int64)) for name, found in named.items()}
    notes = [*source.notes, *cap_problems(lost), *([] if own is not None else [_note(source, list(parts))])]
    first, *others = parts
    return {first: replace(parts[first], notes=tuple(notes))} | {
        name: replace(parts[name], notes=()) for name in others
    }


def _places_of_variants(source: Source) -> tuple[dict[str | None, list[int]], list[Problem]]:
    """Return the positions of records by variant, and a problem for each unreadable one without a variant."""
    places: defaultdict[str | None, list[int]] = defaultdict(list)
    lost = []
    for position, record in enumerate(source):
        if record.data is None and record.meta.variant is None:
            what = f"cannot be read ({record.invalid}), so its variant cannot be seen, and it is left out"
            lost.append(Problem(record.place, what, "correct the line", "variants"))
        else:
            places[record.meta.variant].append(position)
    return dict(places), lost


def _note(source: Source, names: list[str]) -> Problem:
    what = f"has ids once per variant, so each variant is a system: {list_names(names, MAX_LISTED)}"
    return Problem(source.label, what, kind="variants")
