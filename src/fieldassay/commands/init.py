"""A first spec: from gold data, or from a schema."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.uncertainty.power import plan_margin
from fieldassay.records.answers.text_values import read_container
from fieldassay.records.envelope import META_SHAPES, read_value
from fieldassay.records.formats.rows import FolderRows
from fieldassay.records.ids import locate
from fieldassay.records.matching import find_duplicates
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import Source, open_source
from fieldassay.spec.drafts.document_id import DocumentId, find_document_id, has_id_name
from fieldassay.spec.drafts.field_summaries import FieldSummary, sight
from fieldassay.spec.drafts.infer import infer_seen, with_gold
from fieldassay.spec.language.model import Field
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.source import named_source
from fieldassay.spec.language.write import write_spec

_CHUNK = 1000
_HEAD = (
    "# A first spec, written by `fieldassay init` from {source}.\n"
    "# The types are what fits the values seen. Read them through: what is money, what is an id, which "
    "fields are critical?\n"
    "# Text is compared exactly: `{{type: text, normalize: [case, punctuation, white_space]}}` ignores "
    "case, punctuation and spaces.\n"
    "# Then: fieldassay validate --spec THIS_FILE --gold GOLD\n"
)
_MARGIN = (
    "# Against a baseline: `gates: [regression(accuracy) > -{margin:g}]`, the least usual margin that an "
    "unchanged system passes 4 times out of 5 with {count}.\n"
)
_ALARM = (
    "# Against a baseline: `gates: [regression(accuracy) >= 0]` fails if a loss is shown; for a margin "
    "{count} would be too few.\n"
)


class Draft(Struct, frozen=True):
    """The text of a first spec, with comments, and remarks that its reader should see at once."""

    text: str
    remarks: tuple[str, ...] = ()


def spec_from_gold(
    gold: str, gold_key: str | None = None, id_key: str | None = None, schema: str | None = None
) -> Draft:
    """Return a spec that fits gold data, with its records under `gold_key` and its ids under `id_key`.

    With a schema (a file or `module:Model`) the fields and their types are those of the schema, and the
    formats of values those of gold. Raises `ProblemsError` for unreadable gold, and for an id that is missing
    or repeated.
    """
    declared = None if schema is None else read_spec(named_source(schema, Path.cwd()))
    names = () if id_key is None else (id_key,)
    source = open_source(gold, SourceOptions(id_names=names, data_key=gold_key, is_gold=True))
    rows, count = sight(_with_lists(_rows(source)), has_id_name)
    root = rows if gold_key is None else sight(_with_lists(_records(source, gold_key)))[0]
    found = infer_seen(root, count, _document_id(source, rows, count, id_key), _stem(gold))
    remarks = _remarks(rows, count) if gold_key is None else ()
    if declared is not None:
        found = with_gold(declared, found)
    if gold_key is not None:
        found = replace(found, spec=replace(found.spec, gold_keys=(gold_key,)))
    elif remarks:
        found = replace(found, comments={**found.comments, ("fieldassay",): "\n".join(remarks)})
    margin = plan_margin(count, sum(map(_count_values, found.spec.fields)))
    proposed = (_ALARM if margin is None else _MARGIN).format(
        margin=margin, count=format_count(count, "document")
    )
    return Draft(
        _head(gold) + proposed + write_spec(found.spec, found.comments), (*map(str, source.notes), *remarks)
    )


def _count_values(field: Field) -> int:
    """Return the values that a field has at least: those of its fields, and of one item of a list."""
    inner = (*field.fields, *((field.items,) if field.items is not None else ()))
    return sum(map(_count_values, inner)) or 1


def spec_from_schema(schema: str) -> str:
    """Return the text of a spec made from a JSON Schema file or a Pydantic model (`module:Model`)."""
    return _head(schema) + write_spec(read_spec(named_source(schema, Path.cwd())))


def _head(path: str) -> str:
    name = "standard input" if path == "-" else Path(path).name
    return _HEAD.format(source="".join(char if char.isprintable() else "?" for char in name))


def _rows(source: Source) -> Iterator[dict[str, Any]]:
    """Yield the rows unchanged, with ids and possible metadata: only the user can separate them from data."""
    for start in range(0, len(source), _CHUNK):
        positions = range(start, min(start + _CHUNK, len(source)))
        for position, row in zip(positions, source.rows.read(positions), strict=True):
            if row.problem is not None or not isinstance(row.value, dict):
                what = row.problem or "holds no record"
                raise problem(source.place(position), what, "correct the gold record", "bad_gold")
            yield row.value


def _with_lists(records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the records with the lists and objects that texts hold, as Python writes them or in a fence."""
    for record in records:
        read = {
            key: read_container(value, is_gold=True, is_prose=True)
            for key, value in record.items()
            if isinstance(value, str)
        }
        yield record | {key: row.value for key, row in read.items() if row is not None}


def _records(source: Source, key: str) -> Iterator[dict[str, Any]]:
    """Yield the records under a key of the rows."""
    for position, row in enumerate(_rows(source)):
        answer = read_value(locate(row, key)[1], source.options)
        if answer.data is None:
            what = f"holds no record under {key!r}"
            raise problem(source.place(position), what, "correct the gold record", "bad_gold")
        yield answer.data


def _document_id(source: Source, rows: FieldSummary, count: int, named: str | None) -> DocumentId:
    """Return the document's id: the key that the user named, or the one with a usual name."""
    is_beside = source.options.data_key is not None
    if named is None:
        found = find_document_id(
            rows, count, "file name" if isinstance(source.rows, FolderRows) else "position"
        )
        return replace(found, is_beside=is_beside)
    problems = find_duplicates(source)
    if source.is_numbered:
        problems.append(
            Problem(source.label, f"no record has the id {named!r}", nearest(named, rows.members), "no_id")
        )
    if problems:
        raise ProblemsError(problems)
    return DocumentId(named, "named by --id-key", is_beside)


def _remarks(rows: FieldSummary, count: int) -> tuple[str, ...]:
    """Return a question if the rows look like envelopes: each with one object beside ids and metadata."""
    beside = {key for key in rows.members if has_id_name(key) or key in META_SHAPES}
    inside = [key for key in rows.members if key not in beside]
    if len(inside) != 1 or not beside or rows.members[inside[0]].objects < count:
        return ()
    key = inside[0]
    return (
        f"each row holds one object, {key!r}, beside the id: if that is the record, did you mean "
        f"--gold-key {key}?",
    )


def _stem(path: str) -> str:
    return "records" if path == "-" else Path(path).name.split(".")[0] or "records"
