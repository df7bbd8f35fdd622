"""Records that are in memory already."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fieldassay.errors import Problem, problem
from fieldassay.io.json_value import id_text
from fieldassay.records.formats.plain import UnplainError, to_json, to_rows
from fieldassay.records.formats.rows import hold_rows
from fieldassay.records.ids import find_id
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import Row
from fieldassay.records.sources.source import Source, make_source


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

        from fieldassay.records.formats.frames import hold_frame

        return make_source(label, *hold_frame(label, pl.DataFrame(records), options), options)
    if kind == "pandas" and hasattr(records, "columns"):
        names = list(map(str, records.columns))
        if options.group:
            from fieldassay.records.formats.frames import table_of
            from fieldassay.records.formats.tables import hold_table

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
