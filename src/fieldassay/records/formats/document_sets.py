"""All documents in one JSON value: records under their ids, a list under a key, the columns of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from fieldassay.io.json_value import Json, id_text
from fieldassay.records.envelope import META_SHAPES
from fieldassay.records.ids import find_id
from fieldassay.records.options import SourceOptions
from fieldassay.spec.language.names import ID_NAMES

_NAMES = frozenset((
    "data", "docs", "documents", "examples", "extractions", "gold", "predictions", "records", "results",
    "samples",
))  # fmt: skip
"""Keys whose value is a set of records, where no spec says what a record has."""
_DEEPEST = 3
_MANY = 5
"""Objects that are alike and so many are records, whatever their keys look like."""


class DocumentSet(Struct, frozen=True):
    """The records of a JSON value and their ids (None: none), with how it was read and the place in it."""

    form: str
    names: Sequence[str | None]
    records: Sequence[Json]
    place: str = ""


def find_set(
    values: Sequence[Json], options: SourceOptions, is_named: bool = False, depth: int = 0
) -> DocumentSet | None:
    """Return the documents in the values of a file of which none has an id; None if these are the records.

    `is_named` says that the values stand under a key of `_NAMES`.

    >>> found = find_set([{"results": {"inv-1": {"total": 5}, "inv-2": {"total": 6}}}], SourceOptions())
    >>> found.form, found.names
    ("records under their ids, in 'results'", ['inv-1', 'inv-2'])
    """
    couples = [value for value in values if isinstance(value, list) and len(value) == 2]
    if couples and len(couples) == len(values) and options.wrap is None:
        return _keyed([(id_text(key) or "", record) for key, record in couples], options, is_named)
    objects = [value for value in values if isinstance(value, dict)]
    if len(objects) < len(values) or not objects:
        return None
    pairs = [pair for value in objects for pair in value.items()]
    found = _keyed(pairs, options, is_named)
    if found is not None or len(objects) > 1:
        return found
    [value] = objects
    found = _in_columns(value, options)
    if found is not None or depth == _DEEPEST or not _own_keys(options).isdisjoint(value):
        return found
    sets = {key: inner for key in value if (inner := _under(value, key, options, depth)) is not None}
    lists = {key: inner for key, inner in sets.items() if isinstance(value[key], list)}
    chosen = list((lists or sets).items())
    if len(chosen) != 1:
        return None
    [(key, inner)] = chosen
    form = f"{inner.form}, in {key!r}"
    return DocumentSet(form, inner.names, inner.records, f".{key}{inner.place}")


def _under(value: dict[str, Json], key: str, options: SourceOptions, depth: int) -> DocumentSet | None:
    """Return the documents in the value of one of an object's keys."""
    inside, is_named = value[key], key.casefold() in _NAMES
    if isinstance(inside, dict):
        return find_set([inside], options, is_named, depth + 1)
    records = [record for record in inside if isinstance(record, dict)] if isinstance(inside, list) else []
    if not records or not isinstance(inside, list) or len(records) < len(inside):
        return None
    schema = value.get("schema")
    if isinstance(schema, dict) and schema.get("primaryKey") == ["index"]:  # of pandas, not of the records
        records = [{name: one for name, one in record.items() if name != "index"} for record in records]
    names = [find_id(record, options.names or ID_NAMES) for record in records]
    if _fields(options):
        is_set = _are_alike(records, options)
    elif options.is_tree:
        is_set = is_named and None not in names
    else:
        has_ids = None not in names and any(name != "id" for name in ID_NAMES if name in records[0])
        is_set = is_named or has_ids or len(value) == 1
    return DocumentSet("a list of records", names, records) if is_set else None


def _keyed(pairs: Sequence[tuple[str, Json]], options: SourceOptions, is_named: bool) -> DocumentSet | None:
    """Return records under their ids; numbers of rows give way to ids that all records have."""
    keys, records = [key for key, _ in pairs], [record for _, record in pairs]
    kinds: tuple[type, ...] = (dict, type(None)) if options.wrap is None else (dict, type(None), list)
    has_texts = bool(_fields(options)) and not options.is_gold
    are_records = (
        isinstance(record, kinds) or (has_texts and isinstance(record, str) and "{" in record)
        for record in records
    )
    is_set = len(set(keys)) * 2 > len(keys) and all(are_records) and _are_alike(records, options)
    if not is_set or not (_own_keys(options) | META_SHAPES.keys()).isdisjoint(keys):
        return None
    is_sure = bool(_fields(options)) or ((is_named or len(keys) >= _MANY) and not options.is_tree)
    if (options.is_tree and not is_named) or not ((is_sure and len(keys) > 1) or _look_like_ids(keys)):
        return None
    own = [
        find_id(record, options.names or ID_NAMES) if isinstance(record, dict) else None for record in records
    ]
    is_numbered = None not in own and all(key.isdigit() for key in keys)
    return DocumentSet("records under their ids", own if is_numbered else list(map(id_text, keys)), records)


def _in_columns(value: dict[str, Any], options: SourceOptions) -> DocumentSet | None:
    """Return the rows of a table: names of columns beside rows of cells, or columns of lists or objects."""
    names, cells = options.names or ID_NAMES, list(value.values())
    columns, data = value.get("columns"), value.get("data")
    labels: Sequence[Any] = ()
    if isinstance(columns, list) and isinstance(data, list):
        labels = value.get("index") or ()
        is_table = bool(data) and all(isinstance(row, list) and len(row) == len(columns) for row in data)
        rows = [dict(zip(map(str, columns), row, strict=True)) for row in data] if is_table else []
    elif cells and all(isinstance(cell, list) and len(cell) == len(cells[0]) for cell in cells):
        is_table = not set(names).isdisjoint(value)
        rows = [dict(zip(value, row, strict=True)) for row in zip(*cells, strict=True)]
    elif cells and all(isinstance(cell, dict) and cell.keys() == cells[0].keys() for cell in cells):
        labels = list(cells[0])
        fields = _fields(options)
        are_rows = labels == list(map(str, range(len(labels)))) or not all(map(str.isdigit, labels))
        holds_objects = any(isinstance(one, dict) for cell in cells for one in cell.values())
        is_table = are_rows and not (holds_objects or options.is_tree or _look_like_ids(list(value)))
        if fields:
            is_table = not (fields - options.nested).isdisjoint(value)
        is_table = is_table and _look_like_ids(labels)
        rows = [{column: cell[label] for column, cell in value.items()} for label in labels]
    else:
        return None
    own = [find_id(row, names) for row in rows]
    if len(labels) == len(rows) and None in own:
        own = list(map(id_text, labels))
    return DocumentSet("the columns of a table", own, rows) if is_table and rows else None


def _are_alike(records: Sequence[Json], options: SourceOptions) -> bool:
    """Return whether most objects have a key in common: with a spec, one that its records have."""
    filled = [record for record in records if isinstance(record, dict) and record]
    counts = Counter(key for record in filled for key in record)
    common = {key for key, count in counts.items() if 2 * count > len(filled)}
    if _fields(options):
        return not common.isdisjoint(_own_keys(options) | META_SHAPES.keys()) or (not filled and any(records))
    return bool(common)


def _fields(options: SourceOptions) -> frozenset[str]:
    """Return the names of the fields of a record, where the spec has them."""
    return frozenset() if options.is_tree else options.declared


def _own_keys(options: SourceOptions) -> frozenset[str]:
    """Return the keys of which a row has one: fields, ids, the places of records."""
    places = (*options.data_keys, *filter(None, (options.data_key, options.systems_key)))
    return frozenset(
        (*_fields(options), *(options.names or ID_NAMES), *(key.partition(".")[0] for key in places), "raw")
    )


def _look_like_ids(keys: Sequence[str]) -> bool:
    """Return whether most keys look like no names of fields: with a digit, a dot, a slash or a dash."""
    return 2 * sum(any(char.isdigit() or char in "./\\-" for char in key) for key in keys) > len(keys)
