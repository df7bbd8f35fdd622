"""What a spec will do and what the data hold, before anything is scored: every problem of both at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from pathlib import Path
from typing import Any

import numpy as np

from fieldassay.api.facts import document_types
from fieldassay.api.inputs import Records, gold_options, open_inputs
from fieldassay.api.options import InputOptions
from fieldassay.engine.applicability import applicability
from fieldassay.engine.coding import json_text
from fieldassay.engine.judge import Judged, judge
from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError
from fieldassay.evidence import Kind
from fieldassay.metrics.selection import DEFAULT_METRICS
from fieldassay.plan.compile import plan_of
from fieldassay.plan.describe import describe
from fieldassay.plan.nodes import ObjectNode, Plan
from fieldassay.records.matching import Matching, batches, match
from fieldassay.records.memory import hold_records
from fieldassay.records.source import open_source
from fieldassay.spec.model import Spec
from fieldassay.spec.parse import parse_spec
from fieldassay.values.column import Reading

MOST_EXAMPLES = 3
_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Example:
    """One value, as JSON text, with its document and what is to be said of it."""

    document: str
    value: str
    why: str


@dataclass(slots=True)
class Finding:
    """What one side holds in one field: how many values, how many of them cannot be read or can be read in two ways."""

    field: str
    present: int = 0
    unreadable: int = 0
    ambiguous: int = 0
    examples: list[Example] = default(default_factory=list)
    """Some of the unreadable values."""
    unclear: list[Example] = default(default_factory=list)
    """Some of the ambiguous values."""


@dataclass(slots=True)
class Survey:
    """What one side holds: findings by field, records that cannot be used at all, and keys that the spec does not declare, with their counts."""

    findings: dict[str, Finding] = default(default_factory=dict)
    invalid: int = 0
    examples: list[Example] = default(default_factory=list)
    undeclared: Counter[str] = default(default_factory=Counter)


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """What was found. `fields` are the rows of `fieldassay.plan.describe`; `documents` is None where no data was given."""

    problems: tuple[Problem, ...]
    fields: tuple[dict[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    documents: int | None = None
    surveys: Mapping[str, Survey] = default(default_factory=dict)
    """What each side holds; gold under the empty name, then the systems."""
    missing: Mapping[str, int] = default(default_factory=dict)
    unmatched: Mapping[str, tuple[str, ...]] = default(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the validation as plain data."""
        problems = [
            {"where": problem.where, "what": problem.what, "remedy": problem.remedy, "kind": problem.kind} for problem in self.problems
        ]
        return {
            "problems": problems,
            "fields": list(self.fields),
            "metrics": list(self.metrics),
            "documents": self.documents,
            "gold": _survey_data(self.surveys[""]) if "" in self.surveys else None,
            "predictions": {
                name: {"missing": self.missing.get(name, 0), "unmatched": list(self.unmatched.get(name, ())), **_survey_data(survey)}
                for name, survey in self.surveys.items()
                if name
            },
            "notes": list(self.notes),
        }


def validate(
    spec: Any, gold: Records | None = None, predictions: Mapping[str, Records] | None = None, inputs: InputOptions | None = None
) -> Validation:
    """Return what is wrong with a spec and with data, and what would be done; raises nothing that a user can cause.

    >>> found = validate("fields: {total: number}", [{"id": 1, "total": "5"}, {"id": 2, "total": "five"}])
    >>> [(example.document, example.value) for example in found.surveys[""].findings["total"].examples]
    [('2', '"five"')]
    >>> print(validate("fields: {total: mony}").problems[0].what)
    unknown type 'mony'
    """
    problems: list[Problem] = []
    plan, is_sound = _read(spec, problems)
    fields = tuple(describe(plan)) if is_sound else ()
    metrics = (plan.spec.metrics or DEFAULT_METRICS) if is_sound else ()
    matching = _open(plan, gold, predictions or {}, inputs or InputOptions(), problems) if gold is not None or predictions else None
    if matching is None or not is_sound:
        return Validation(tuple(problems), fields, tuple(metrics), None if matching is None else len(matching))
    try:
        surveys = survey(plan, matching)
    except ProblemsError as error:
        return Validation((*problems, *error.problems), fields, tuple(metrics), len(matching))
    notes = tuple(map(str, matching.notes))
    return Validation(tuple(problems), fields, tuple(metrics), len(matching), surveys, matching.missing, matching.unmatched, notes)


def _read(spec: Any, problems: list[Problem]) -> tuple[Plan, bool]:
    """Return the plan; where the spec is unsound, one with its names only, so that the data can be looked at all the same."""
    try:
        parsed = parse_spec(spec)
    except ProblemsError as error:
        problems += error.problems
        return Plan(Spec("", ()), ObjectNode("", "", -1, ()), (), ()), False
    try:
        return plan_of(parsed), True
    except ProblemsError as error:
        problems += error.problems
        names = tuple(top.name for top in parsed.spec.fields)
        return Plan(parsed.spec, ObjectNode("", "", -1, ()), (), names), False


def _open(
    plan: Plan, gold: Records | None, predictions: Mapping[str, Records], inputs: InputOptions, problems: list[Problem]
) -> Matching | None:
    try:
        if gold is None:
            raise ProblemsError([Problem("gold", "is not given", "add --gold: predictions are looked at beside gold", "no_gold")])
        if predictions:
            return open_inputs(plan, gold, predictions, inputs)
        options = gold_options(plan, inputs)
        if isinstance(gold, (str, Path)):
            return match(open_source(gold, options), {})
        return match(hold_records(gold, options, "gold"), {})
    except ProblemsError as error:
        problems += error.problems
    except NothingEvaluatedError as error:
        problems.append(Problem("predictions", str(error), "", "no_match"))
    return None


def survey(plan: Plan, matching: Matching) -> dict[str, Survey]:
    """Return what gold (under the empty name) and each system hold, by the readers that scoring uses."""
    surveys = {name: Survey() for name in ("", *matching.predictions)}
    for batch in batches(matching, _BATCH):
        applies = applicability(plan, document_types(plan, batch.gold))
        nothing: list[dict[str, Any]] = [{} for _ in batch.ids]
        for name, records in (("", batch.gold), *batch.predictions.items()):
            found = surveys[name]
            for record in records:
                if record is not None and record.data is None:
                    found.invalid += 1
                    _add(found.examples, Example(record.id, "", f"{record.place}: {record.invalid or 'no answer'}"))
            data = [(record.data or {}) if record is not None else {} for record in records]
            judged = judge(plan, nothing, data, applies)
            found.undeclared.update(judged.undeclared)
            _count(judged, batch.ids, found.findings)
    return surveys


def _count(judged: Judged, ids: tuple[str, ...], findings: dict[str, Finding]) -> None:
    for block in judged.blocks:
        if block.kind != Kind.VALUE:
            continue
        finding = findings.setdefault(judged.fields[block.field].path, Finding(judged.fields[block.field].path))
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
            _look(finding, ids[block.pairs.doc[row]], block.coded.raws[code], column.reading(code))


def _look(finding: Finding, document: str, raw: Any, reading: Reading) -> None:
    if reading.problem is not None and raw is not None:
        finding.unreadable += 1
        _add(finding.examples, Example(document, json_text(raw), reading.problem))
    if "ambiguous" in reading.flags:
        finding.ambiguous += 1
        _add(finding.unclear, Example(document, json_text(raw), f"read as {reading.canonical}"))


def _count_wrong(raws: Mapping[int, Any], documents: Any, ids: tuple[str, ...], finding: Finding) -> None:
    for row, raw in raws.items():
        finding.present += 1
        finding.unreadable += 1
        _add(finding.examples, Example(ids[documents[row]], json_text(raw), "is another kind of JSON than the spec declares"))


def _add(examples: list[Example], example: Example) -> None:
    """Keep a few examples; of a value that was seen already only the first."""
    if len(examples) < MOST_EXAMPLES and all((known.value, known.why) != (example.value, example.why) for known in examples):
        examples.append(example)


def _survey_data(found: Survey) -> dict[str, Any]:
    def plain(examples: list[Example]) -> list[dict[str, str]]:
        return [{"document": example.document, "value": example.value, "why": example.why} for example in examples]

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
