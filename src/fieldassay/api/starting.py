"""A first spec: from gold data, or from a schema."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.records.envelope import read_value
from fieldassay.records.ids import id_text, locate
from fieldassay.records.options import ID_NAMES, SourceOptions
from fieldassay.records.source import Source, open_source
from fieldassay.spec.infer import Inferred, infer, render_spec_with_comments
from fieldassay.spec.parse import read_spec
from fieldassay.spec.write import write_spec

_CHUNK = 1000
_HEAD = (
    "# A first spec, written by `fieldassay init` from {source}.\n"
    "# The types are what fits the values seen. Read them through: what is money, what is an id, which fields are critical?\n"
    "# Then: fieldassay validate --spec THIS_FILE --gold GOLD\n"
)


def spec_from_gold(gold: str, gold_key: str | None = None) -> str:
    """Return the text of a spec that fits gold data, with comments; `gold_key` says where in a row the record is."""
    options = SourceOptions(id_names=(), data_key=gold_key, is_gold=True)
    source = open_source(gold, options)
    found = infer(_records(source, gold_key), _stem(gold))
    if gold_key is not None:
        found = _with_outer_id(found, source)
    return _HEAD.format(source=Path(gold).name if gold != "-" else "standard input") + render_spec_with_comments(found)


def spec_from_schema(schema: str) -> str:
    """Return the text of a spec made from a JSON Schema file or a Pydantic model (`module:Model`)."""
    source: Any = Path(schema) if Path(schema).exists() or ":" not in schema else schema
    return _HEAD.format(source=Path(schema).name) + write_spec(read_spec(source))


def _records(source: Source, key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the records as they stand, ids and what may be meta included: only the user knows what is data."""
    for start in range(0, len(source), _CHUNK):
        positions = range(start, min(start + _CHUNK, len(source)))
        for position, row in zip(positions, source.rows.read(positions), strict=True):
            value = row.value if key is None else read_value(locate(row.value, key)[1], source.options).data
            if row.problem is not None or not isinstance(value, dict):
                what = row.problem or "holds no record"
                raise ProblemsError([Problem(source.place(position), what, "mend the gold record", "bad_gold")])
            yield value


def _with_outer_id(found: Inferred, source: Source) -> Inferred:
    """Return the spec with the id that stands beside the records, if there is one."""
    [first] = source.rows.read([0])
    row = first.value if isinstance(first.value, dict) else {}
    name = next((name for name in ID_NAMES if id_text(row.get(name)) is not None), None)
    if name is None:
        return found
    comments = {place: text for place, text in found.comments.items() if place != ("id",)}
    return Inferred(replace(found.spec, id=(name,)), comments)


def _stem(path: str) -> str:
    return "records" if path == "-" else Path(path).name.split(".")[0] or "records"
