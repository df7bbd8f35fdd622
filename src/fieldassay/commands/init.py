"""A first spec: from gold data, or from a schema."""

import shlex
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.json_value import id_text
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.uncertainty.paired import plan_margin
from fieldassay.options import option_names
from fieldassay.paths import ITEM
from fieldassay.records.envelope import META_SHAPES, data_options, gold_options, read_container, read_value
from fieldassay.records.keys import SourceOptions, locate
from fieldassay.records.matching import find_duplicates, join_names
from fieldassay.records.source import Source, open_source
from fieldassay.scoring.fit import find_record_key
from fieldassay.scoring.inputs import Records, name_systems, open_inputs
from fieldassay.scoring.proposals import propose, sample_pairs, with_proposals
from fieldassay.spec.drafts import (
    Inferred,
    Place,
    Sightings,
    find_document_id,
    guess_type,
    has_id_name,
    infer_seen,
    sight,
    with_gold,
)
from fieldassay.spec.language.model import DataOptions, Field, Spec
from fieldassay.spec.language.names import ID_NAMES
from fieldassay.spec.language.parse import named_source, parse_spec, read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import compile_plan, read_plan
from fieldassay.spec.plan.nodes import ListNode, Node, ObjectNode, Plan, describe

_MOST_LINES = 6
_MOST_DOCUMENTS, _MOST_PROBED = 200, 20
"""Documents that rules are proposed from, and those whose keys may be an id."""
_HEAD = (
    "# A first spec, written by `fieldassay init` from {source}.\n"
    "# The types fit the values seen. Check them: what is money, what is an id, which fields are critical?\n"
    "# Text forgives letter case and runs of white space: `{{type: text, case: exact, white_space: exact}}` "
    "does not, and `normalize: [accents, punctuation]` forgives more.\n"
    "# Then: fieldassay score --check --spec THIS_FILE --gold GOLD\n"
)
_MARGIN = (
    "# Against a baseline, with {count}, use a margin of {margin:g} or more: "
    "`gates: [regression(accuracy) > -{margin:g}]`\n"
)
_ALARM = (
    "# Against a baseline: `gates: [regression(accuracy) >= 0]` fails on a clear loss; {count} are too few "
    "for a margin.\n"
)


class Draft(Struct, frozen=True, dict=True):
    """The text of a first spec, with comments, and remarks that its reader should see at once."""

    text: str
    remarks: tuple[str, ...] = ()

    @cached_property
    def plan(self) -> Plan:
        """Return the plan of the spec."""
        return read_plan(self.text)

    @property
    def guess(self) -> str:
        """Return how each value is read, in at most six lines of 80 columns.

        >>> print(spec_from_gold([{"id": 1, "total": "5.50", "paid": True, "day": "13/04/2025"}]).guess)
        guessed: locale en_GB, total money, paid boolean, day date (order=dmy)
        """
        locale = self.plan.spec.locale
        words = [] if locale is None else [f"locale {locale}"]
        names = dict(_names(self.plan.root))
        for row in describe(self.plan):
            options = ", ".join(option for option in row["read"].split(", ") if option != f"locale={locale}")
            options = ", ".join(filter(None, (options, names.get(row["field"]))))
            if row["type"] not in ("list", "object", "map") or options:
                words.append(f"{row['field']} {row['type']}" + (f" ({options})" if options else ""))
        return textwrap.fill(f"guessed: {', '.join(words)}", 80, max_lines=_MOST_LINES, placeholder=" …")


def _names(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the path of each field that has other names, and these in words."""
    for child, (_, *others) in node.keyed() if isinstance(node, ObjectNode) else ():
        if others:
            yield child.path, f"named {' or '.join(others)}"
        yield from _names(child)
    if isinstance(node, ListNode):
        yield from _names(node.items)


def spec_from_gold(
    gold: Records,
    schema: str | None = None,
    docs: str | Path | None = None,
    predictions: Mapping[str, Records] | Records | None = None,
    sections: Mapping[str, Any] = MappingProxyType({}),
) -> Draft:
    """Return a spec that fits gold data, with a `data:` by which `score` reads the gold as it was read here.

    Gold is a path, or records in memory. With predictions, fields have the names and types under which these
    agree with gold. `sections` are options of the spec's sections in place of the defaults.

    With a schema (a file or `module:Model`) the fields and their types are those of the schema, and the
    formats of values those of gold. A spec with `data:` and without fields says only how gold is read. With
    documents, the fields have the labels that stand beside their values, for the strategy `rules`.

    Raises `ProblemsError` for unreadable gold, and for an id that is missing or repeated.
    """
    systems = None if predictions is None else name_systems(predictions)
    begun = None if schema is None else _read_begun(schema)
    data = DataOptions() if begun is None else begun.data
    data = replace(
        data, **{name: sections[name] for name in option_names(DataOptions) if sections.get(name) is not None}
    )
    source = _open_gold(gold, data)
    rows, count = sight(_records(source))
    if systems is not None and not data.id_key and source.rows.kind != "folder":
        data = replace(data, id_key=_shared_ids(rows, count, systems))
        source = _open_gold(gold, data)
    if source.rows.kind == "table" and not data.group and _repeats_ids(rows, count, data.id_key):
        with suppress(ProblemsError):  # ids that repeat in rows that are no items are told as such
            source = _open_gold(gold, replace(data, group=True))
            data = replace(data, group=True)
            rows, count = sight(_records(source))
    remarks: tuple[str, ...] = ()
    if not data.gold_key and (envelope := _find_envelope(rows, count)) is not None:
        remarks = (_ENVELOPE.format(key=envelope),)
        data = replace(data, gold_key=envelope)
        source = _open_gold(gold, data)
    key = source.options.data_key
    root = rows if key is None else sight(_records(source, key))[0]
    document_id = _document_id(source, rows, count, data.id_key)
    name = str(gold) if isinstance(gold, str | Path) else "-"
    stem = "records" if name == "-" else Path(name).name.split(".")[0] or "records"
    inferred = infer_seen(root, count, stem, document_id, key is not None)
    data = replace(data, id_key=data.id_key or inferred.spec.data.id_key)
    inferred = replace(inferred, spec=replace(inferred.spec, data=data))
    if begun is not None and begun.fields:
        inferred = with_gold(begun, inferred)
    if not inferred.spec.fields:
        raise problem(
            source.label, "no record has a key besides the id", "give records with fields", "bad_gold"
        )
    if systems is not None:
        inferred = _with_predictions(inferred, gold, systems)
    if docs is not None:
        inferred = _with_rules(inferred, Path(name), Path(docs))
    if remarks:
        inferred = replace(inferred, comments={**inferred.comments, ("fieldassay",): remarks[0]})
    margin = plan_margin(count, sum(map(_count_values, inferred.spec.fields)))
    gate = _ALARM if margin is None else _MARGIN
    head = _head(name) + gate.format(margin=margin, count=format_count(count, "document"))
    text = head + write_spec(inferred.spec, inferred.comments)
    return Draft(text, (*map(str, source.notes), *remarks))


_ENVELOPE = "read the record from {key!r}; if that is a field, remove `gold_key` and declare it as an object"


def _read_begun(schema: str) -> Spec:
    """Return the spec of a schema; one with `data:` needs no fields. Raises `ProblemsError`."""
    parsed = parse_spec(named_source(schema, Path.cwd()))
    lacks_fields = not parsed.spec.fields and parsed.spec.data != DataOptions()
    problems = [fault for fault in parsed.problems if not (lacks_fields and fault.kind == "missing_key")]
    if problems:
        raise ProblemsError(problems)
    return parsed.spec


def keeping(gold: Records, predictions: Mapping[str, Records] | Records) -> str:
    """Return the command that writes the spec guessed from gold and predictions."""
    sources = name_systems(predictions).values()
    paths = [path for source in sources for path in (source if isinstance(source, tuple) else (source,))]
    preds = [f"--pred {_place(path, 'PRED')}" for path in paths if isinstance(path, str | Path)]
    return f"fieldassay init --gold {_place(gold, 'GOLD')} {' '.join(preds) or '--pred PRED'} -o spec.yaml"


def _place(source: Records, otherwise: str) -> str:
    return shlex.quote(str(source)) if isinstance(source, str | Path) else otherwise


def _with_predictions(inferred: Inferred, gold: Records, predictions: Mapping[str, Records]) -> Inferred:
    """Return the spec with the names and types under which predictions agree with gold, and the reasons."""
    matching = open_inputs(compile_plan(inferred.spec), gold, predictions)
    keys = [find_record_key(source) for source in matching.predictions.values()]
    if any(keys):
        data = replace(inferred.spec.data, pred_key=tuple(filter(None, dict.fromkeys(keys))))
        inferred = replace(inferred, spec=replace(inferred.spec, data=data))
        matching = open_inputs(compile_plan(inferred.spec), gold, predictions)
    systems = sample_pairs(matching)
    nulls = sight(record for pairs in systems.values() for _, (record,) in pairs)[0].nulls
    inferred = replace(
        inferred, spec=replace(inferred.spec, null_values=tuple(sorted({*inferred.spec.null_values, *nulls})))
    )
    proposals = propose(inferred.spec, systems)
    spec, comments = with_proposals(inferred.spec, proposals), dict(inferred.comments)
    for proposal in proposals:
        why = (
            f"{proposal.changes['names'][-1]}: {proposal.why}"
            if "names" in proposal.changes
            else proposal.why
        )
        _comment(comments, proposal.place, why)
    return replace(inferred, spec=spec, comments=comments)


def _open_gold(gold: Records, data: DataOptions) -> Source:
    options = data_options(data)
    if not data.group:
        options = replace(options, id_names=data.id_key)  # without any: rows are seen before their ids
    return open_source(gold, options, "gold")


def _repeats_ids(rows: Sightings, count: int, names: tuple[str, ...]) -> bool:
    """Return whether the first of the names of an id that the rows have is not different in each of them."""
    key = next((name for name in names or ID_NAMES if name in rows.members), None)
    return key is not None and len(set(map(str, rows.members[key].scalars))) < count


def _shared_ids(rows: Sightings, count: int, predictions: Mapping[str, Records]) -> tuple[str, ...]:
    """Return the key of gold that has the ids of predictions, and theirs; () where usual names do.

    The key may repeat in a table of items. Where predictions have no ids, a key of theirs must hold codes.
    """
    usual = [key for key in rows.members if has_id_name(key)][:1]
    whole = usual or [key for key, seen in rows.members.items() if seen.present == count == len(seen.scalars)]
    ids = {key: [*dict.fromkeys(map(str, rows.members[key].scalars))] for key in whole}
    names: dict[str | None, None] = {}
    for prediction in predictions.values():
        source = open_source(
            prediction[0] if isinstance(prediction, tuple) else prediction, SourceOptions(), "predictions"
        )
        columns: dict[str | None, list[str]]
        if source.is_numbered:
            records = [record.data or {} for record in source.fetch(range(min(len(source), _MOST_DOCUMENTS)))]
            keys = dict.fromkeys(key for record in records[:_MOST_PROBED] for key in record)
            columns = {key: [id_text(record.get(key)) or "" for record in records] for key in keys}
        else:
            head = [row.value for row in source.head() if isinstance(row.value, dict)]
            own = next((name for name in ID_NAMES if any(name in row for row in head)), None)
            columns = {own: [*source.ids]}
        joined = {
            (ours, key): len(join_names(column, ids[ours], may_be_part=False).owners) / len(column)
            for ours in whole
            if usual or not source.is_numbered or guess_type(ours, ids[ours]).type == "id"
            for key, column in columns.items()
            if column and len({*column}) == len(column)
        }
        best = max(joined, key=joined.__getitem__, default=("", None))
        if joined and joined[best] > 0.5 and usual != [best[1]]:
            names |= dict.fromkeys(best)
    return tuple(name for name in names if name is not None)


def _with_rules(inferred: Inferred, gold: Path, docs: Path) -> Inferred:
    """Return a spec with the rules that documents propose, and how often they are right in comments."""
    from fieldassay.extraction.strategies.rules.propose import propose_rules, with_rules
    from fieldassay.extraction.systems import read_examples

    examples, problems = read_examples(
        gold, docs, gold_options(compile_plan(inferred.spec)), most=_MOST_DOCUMENTS
    )
    if not examples:
        raise ProblemsError(problems)
    proposals = propose_rules(inferred.spec, examples)
    comments = dict(inferred.comments)
    for steps, proposal in proposals.items():
        place = tuple(
            part for step in steps for part in (("items",) if step == ITEM else ("fields", str(step)))
        )
        _comment(
            comments, place, f"`labels` and `find` are right for {proposal.right} of {proposal.documents}"
        )
    return replace(inferred, spec=with_rules(inferred.spec, proposals), comments=comments)


def _comment(comments: dict[Place, str], place: Place, text: str) -> None:
    """Add a sentence to the comment of a place."""
    comments[place] = "; ".join(filter(None, (comments.get(place), text)))


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
    for position, row in source.walk():
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


def _document_id(
    source: Source, rows: Sightings, count: int, named: tuple[str, ...]
) -> tuple[str | None, str]:
    """Return the key that the user named, or the one with a usual name, and the reason."""
    if not named:
        return find_document_id(rows, count, "file name" if source.rows.kind == "folder" else "position")
    if problems := find_duplicates(source):
        raise ProblemsError(problems)
    return next(
        name for name in named if name in rows.members
    ), "the id, which is not scored: add it to `fields:` if it was extracted"


def _find_envelope(rows: Sightings, count: int) -> str | None:
    """Return the key that holds one object in each row, beside ids and metadata alone; None without one."""
    inside = [key for key in rows.members if not has_id_name(key) and key not in META_SHAPES]
    is_one = len(inside) == 1 < len(rows.members) and rows.members[inside[0]].objects == count
    return inside[0] if is_one else None
