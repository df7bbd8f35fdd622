"""The content of gold and predictions as scoring reads them: counts and examples, field by field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec import field as default

from fieldassay.metrics.evidence import Kind
from fieldassay.options import with_options
from fieldassay.records.matching import Matching, batches
from fieldassay.records.record import Record
from fieldassay.records.source import Source
from fieldassay.scoring.engine.applicability import applicability
from fieldassay.scoring.engine.coding import json_text
from fieldassay.scoring.engine.judge import Judged, judge
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.scoring.inputs.document_metadata import document_types
from fieldassay.scoring.validation.checking import Findings
from fieldassay.spec.plan.nodes import Plan
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Reading
from fieldassay.values.types.numbers.amounts import Money
from fieldassay.values.types.numbers.readings import drops_words

MOST_EXAMPLES = 3
_BATCH = 1000


class Example(Struct, frozen=True):
    """One value, as JSON text, with its document and a remark."""

    document: str
    value: str
    why: str


class Finding(Struct):
    """The content of one side in one field: numbers of values, unreadable ones and ambiguous ones."""

    field: str
    present: int = 0
    unreadable: int = 0
    ambiguous: int = 0
    examples: list[Example] = default(default_factory=list)
    """Some of the unreadable values."""
    unclear: list[Example] = default(default_factory=list)
    """Some of the ambiguous values."""


class DataProfile(Struct):
    """The content of one side: findings by field, unusable records, and undeclared keys with their counts."""

    findings: dict[str, Finding] = default(default_factory=dict)
    records: int = 0
    invalid: int = 0
    examples: list[Example] = default(default_factory=list)
    undeclared: Counter[str] = default(default_factory=Counter)


def survey(plan: Plan, matching: Matching, findings: Findings) -> dict[str, DataProfile]:
    """Return the content of gold (under the empty name) and of each system, as scoring reads them.

    All of them go into `findings`.
    """
    surveys = {name: DataProfile() for name in ("", *matching.predictions)}
    for batch in batches(matching, _BATCH):
        applies = applicability(plan, document_types(plan, batch.gold))
        _add_records(plan, batch.gold, applies, surveys[""])
        findings.look_at_gold(batch.gold)
        for name, records in batch.predictions.items():
            _add_records(plan, records, applies, surveys[name], batch.ids)
            findings.look(name, records)
    return surveys


def survey_predictions(
    plan: Plan, sources: Mapping[str, Source], findings: Findings
) -> dict[str, DataProfile]:
    """Return the content of each system without gold; `findings` gets all records.

    Every field counts, whatever the document's type.
    """
    surveys = {name: DataProfile() for name in sources}
    for name, source in sources.items():
        for records in source.batches():
            _add_records(plan, records, applicability(plan, [None] * len(records)), surveys[name])
            findings.look(name, records)
    return surveys


def _add_records(
    plan: Plan,
    records: Sequence[Record | None],
    applies: dict[str, Masks],
    found: DataProfile,
    ids: tuple[str, ...] | None = None,
) -> None:
    """Add more records of one side; `ids` are those of the documents, of which some may have no record."""
    for record in records:
        found.records += record is not None
        if record is not None and record.data is None:
            found.invalid += 1
            _add(found.examples, Example(record.id, "", f"{record.place}: {record.invalid or 'no answer'}"))
    data = [(record.data or {}) if record is not None else {} for record in records]
    judged = judge(plan, [{} for _ in records], data, applies)
    found.undeclared.update(judged.undeclared.pred)
    _count(
        judged, ids or tuple(record.id if record is not None else "" for record in records), found.findings
    )


def _count(judged: Judged, ids: tuple[str, ...], findings: dict[str, Finding]) -> None:
    for block in judged.blocks:
        if block.kind != Kind.VALUE:
            continue
        finding = findings.setdefault(
            judged.fields[block.field].path, Finding(judged.fields[block.field].path)
        )
        if block.coded is None or block.pred_code is None:
            _count_wrong(block.pred_raws, block.pairs.doc, ids, finding)
            continue
        at = np.flatnonzero(block.pred_code >= 0)
        finding.present += len(at)
        column = block.coded.column
        if not column.problems and not column.flags:
            continue
        for row in at.tolist():
            code = int(block.pred_code[row])
            _look(
                finding,
                ids[block.pairs.doc[row]],
                block.coded.raws[code],
                column.reading(code),
                block.coded.leaf.reader,
            )


def _look(finding: Finding, document: str, raw: Any, reading: Reading, reader: Reader) -> None:
    if reading.problem is not None and raw is not None:
        finding.unreadable += 1
        _add(finding.examples, Example(document, json_text(raw), reading.problem))
    is_strange = "calendar" in reading.flags and not getattr(reader, "calendar", None)
    if is_strange or ("ambiguous" in reading.flags and not is_decided(reader, raw, reading)):
        finding.ambiguous += 1
        hint = "; is the year of another `calendar`?" if is_strange else ""
        hint = "; `signs` would tell the dropped words apart" if drops_words(reader) else hint
        _add(finding.unclear, Example(document, json_text(raw), f"read as {reading.canonical}{hint}"))


DECIDING: Mapping[str, tuple[str | None, ...]] = {
    "order": ("dmy", "mdy"),
    "decimal": (".", ","),
    "currency": (None,),
}
"""Options of a field that decide between two readings, and their alternatives."""


def is_decided(reader: Any, raw: Any, reading: Reading) -> bool:
    """Return whether an option given with the field decides the reading of an ambiguous value.

    Without the option, the value would be another.

    >>> from fieldassay.values.types.dates.dates import DateReader
    >>> reader = DateReader(order="dmy")
    >>> [is_decided(reader, text, reader.read(text)) for text in ("03/04/2025", "03/15/2025")]
    [True, False]
    """
    given = {option: value for option in DECIDING if (value := getattr(reader, option, None)) is not None}
    others = (
        with_options(reader, **{option: other})
        for option, value in given.items()
        for other in DECIDING[option]
        if other != value
    )
    found = (other.read(raw).value for other in others)
    return any(value is not None and _unmarked(value) != _unmarked(reading.value) for value in found)


def _unmarked(value: Any) -> Any:
    """Return the amount of money without its currency, any other value as it is."""
    return value.amount if isinstance(value, Money) else value


def _count_wrong(raws: Mapping[int, Any], documents: Any, ids: tuple[str, ...], finding: Finding) -> None:
    for row, raw in raws.items():
        finding.present += 1
        finding.unreadable += 1
        _add(
            finding.examples,
            Example(ids[documents[row]], json_text(raw), "is another kind of JSON than the spec declares"),
        )


def _add(examples: list[Example], example: Example) -> None:
    """Keep a few examples; of a value that was seen already only the first."""
    if len(examples) < MOST_EXAMPLES and all(
        (known.value, known.why) != (example.value, example.why) for known in examples
    ):
        examples.append(example)


def survey_data(found: DataProfile) -> dict[str, Any]:
    """Return a survey as plain data."""

    def plain(examples: list[Example]) -> list[dict[str, str]]:
        return [
            {"document": example.document, "value": example.value, "why": example.why} for example in examples
        ]

    fields = [
        {
            "field": finding.field,
            "present": finding.present,
            "unreadable": finding.unreadable,
            "ambiguous": finding.ambiguous,
            "examples": plain(finding.examples),
            "ambiguous_examples": plain(finding.unclear),
        }
        for finding in found.findings.values()
    ]
    return {
        "fields": fields,
        "invalid": found.invalid,
        "invalid_examples": plain(found.examples),
        "undeclared": dict(found.undeclared.most_common()),
    }
