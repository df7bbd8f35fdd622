"""A first spec: from gold data, or from a schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.extraction.examples.example_files import example_options, read_examples
from fieldassay.extraction.strategies.rules.propose import propose_rules, with_rules
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.uncertainty.power import plan_margin
from fieldassay.paths import ITEM
from fieldassay.records.answers.text_values import read_container
from fieldassay.records.envelope import META_SHAPES, read_value
from fieldassay.records.formats.rows import FolderRows
from fieldassay.records.ids import locate
from fieldassay.records.matching import find_duplicates
from fieldassay.records.options import SourceOptions
from fieldassay.records.sources.source import Source, open_source
from fieldassay.spec.drafts.infer import Inferred, infer_seen, with_gold
from fieldassay.spec.drafts.sightings import Sightings, find_document_id, has_id_name, sight
from fieldassay.spec.language.model import Field
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.source import named_source
from fieldassay.spec.language.write import write_spec

_CHUNK = 1000
_MOST_DOCUMENTS = 200
"""Documents that rules are proposed from."""
_HEAD = (
    "# A first spec, written by `fieldassay init` from {source}.\n"
    "# The types are what fits the values seen. Read them through: what is money, what is an id, which "
    "fields are critical?\n"
    "# Text is compared exactly: `{{type: text, normalize: [case, punctuation, white_space]}}` ignores "
    "case, punctuation and spaces.\n"
    "# Then: fieldassay score --check --spec THIS_FILE --gold GOLD\n"
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
    gold: str,
    gold_key: str | None = None,
    id_key: str | None = None,
    schema: str | None = None,
    docs: str | None = None,
) -> Draft:
    """Return a spec that fits gold data, with its records under `gold_key` and its ids under `id_key`.

    With a schema (a file or `module:Model`) the fields and their types are those of the schema, and the
    formats of values those of gold. With documents, the fields have the labels that stand beside their
    values, for the strategy `rules`.

    Raises `ProblemsError` for unreadable gold, and for an id that is missing or repeated.
    """
    declared = None if schema is None else read_spec(named_source(schema, Path.cwd()))
    names = () if id_key is None else (id_key,)
    source = open_source(gold, SourceOptions(id_names=names, data_key=gold_key, is_gold=True))
    rows, count = sight(_records(source))
    root = rows if gold_key is None else sight(_records(source, gold_key))[0]
    document_id = _document_id(source, rows, count, id_key)
    stem = "records" if gold == "-" else Path(gold).name.split(".")[0] or "records"
    inferred = infer_seen(root, count, stem, document_id, source.options.data_key is not None)
    inferred = inferred if declared is None else with_gold(declared, inferred)
    if not inferred.spec.fields:
        raise problem(
            source.label, "no record has a key beside the id", "give records with fields", "bad_gold"
        )
    remarks: tuple[str, ...] = ()
    if gold_key is not None:
        inferred = replace(inferred, spec=replace(inferred.spec, gold_keys=(gold_key,)))
    if docs is not None:
        inferred = _with_rules(inferred, Path(gold), Path(docs))
    if gold_key is None and (remarks := _doubts(rows, count)):
        inferred = replace(inferred, comments={**inferred.comments, ("fieldassay",): remarks[0]})
    margin = plan_margin(count, sum(map(_count_values, inferred.spec.fields)))
    gate = _ALARM if margin is None else _MARGIN
    head = _head(gold) + gate.format(margin=margin, count=format_count(count, "document"))
    text = head + write_spec(inferred.spec, inferred.comments)
    return Draft(text, (*map(str, source.notes), *remarks))


def _with_rules(inferred: Inferred, gold: Path, docs: Path) -> Inferred:
    """Return a spec with the rules that documents propose, and how often they are right in comments."""
    examples, problems = read_examples(gold, docs, example_options(inferred.spec), most=_MOST_DOCUMENTS)
    if not examples:
        raise ProblemsError(problems)
    proposals = propose_rules(inferred.spec, examples)
    comments = dict(inferred.comments)
    for steps, one in proposals.items():
        place = tuple(
            part for step in steps for part in (("items",) if step == ITEM else ("fields", str(step)))
        )
        right = f"`labels` and `find` are right for {one.right} of {one.documents}"
        comments[place] = "; ".join(filter(None, (comments.get(place), right)))
    return replace(inferred, spec=with_rules(inferred.spec, proposals), comments=comments)


def spec_from_schema(schema: str) -> str:
    """Return the text of a spec made from a JSON Schema file or a Pydantic model (`module:Model`)."""
    return _head(schema) + write_spec(read_spec(named_source(schema, Path.cwd())))


def _head(path: str) -> str:
    name = "standard input" if path == "-" else Path(path).name
    return _HEAD.format(source="".join(char if char.isprintable() else "?" for char in name))


def _count_values(field: Field) -> int:
    """Return the values that a field has at least: those of its fields, and of one item of a list."""
    inner = (*field.fields, *((field.items,) if field.items is not None else ()))
    return sum(map(_count_values, inner)) or 1


def _records(source: Source, key: str | None = None) -> Iterator[dict[str, Any]]:
    """Yield the rows, or the records under a key, with the lists and objects that texts hold.

    A row has its ids and metadata: only the user can separate them from data.
    """
    for start in range(0, len(source), _CHUNK):
        positions = range(start, min(start + _CHUNK, len(source)))
        for position, row in zip(positions, source.rows.read(positions), strict=True):
            record: Any = row.value if row.problem is None else None
            what = row.problem or "holds no record"
            if key is not None and isinstance(record, dict):
                record = read_value(locate(record, key)[1], source.options).data
                what = f"holds no record under {key!r}"
            if not isinstance(record, dict):
                raise problem(source.place(position), what, "correct the gold record", "bad_gold")
            texts = {name: text for name, text in record.items() if isinstance(text, str)}
            read = {name: read_container(text, is_gold=True, is_prose=True) for name, text in texts.items()}
            yield record | {name: inner.value for name, inner in read.items() if inner is not None}


def _document_id(source: Source, rows: Sightings, count: int, named: str | None) -> tuple[str | None, str]:
    """Return the key that the user named, or the one with a usual name, and the reason."""
    if named is None:
        is_folder = isinstance(source.rows, FolderRows)
        return find_document_id(rows, count, "file name" if is_folder else "position")
    problems = find_duplicates(source)
    if source.is_numbered:
        what = f"no record has the id {named!r}"
        problems.append(Problem(source.label, what, nearest(named, rows.members), "no_id"))
    if problems:
        raise ProblemsError(problems)
    return named, "named by --id-key"


def _doubts(rows: Sightings, count: int) -> tuple[str, ...]:
    """Return a question if the rows look like envelopes: each with one object beside ids and metadata."""
    inside = [key for key in rows.members if not has_id_name(key) and key not in META_SHAPES]
    if len(inside) != 1 or len(rows.members) == 1 or rows.members[inside[0]].objects < count:
        return ()
    key = inside[0]
    what = f"each row holds one object, {key!r}, beside the id: if that is the record"
    return (f"{what}, did you mean --gold-key {key}?",)
