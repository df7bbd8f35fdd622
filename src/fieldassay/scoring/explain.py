"""What is judged without a score: values explained step by step, and data checked against a spec."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError, list_names, nearest, problem
from fieldassay.io.json_value import record_data
from fieldassay.io.text.shown import Brief, clip
from fieldassay.metrics.catalogue.definitions import DEFAULT_METRICS
from fieldassay.metrics.evidence import evidence_schema
from fieldassay.metrics.fold import find_costs
from fieldassay.metrics.result.result import CheckCount
from fieldassay.paths import Pattern, Step, is_within, join_path, split_path
from fieldassay.public import public
from fieldassay.records.matching import batches, unknown_document
from fieldassay.records.record import Record, to_json
from fieldassay.records.source import Source
from fieldassay.scoring.checking import Findings, name_idle
from fieldassay.scoring.engine.assemble import Identity, assemble
from fieldassay.scoring.engine.judge import judge, record_of
from fieldassay.scoring.engine.scopes import applicability
from fieldassay.scoring.fit import (
    DataProfile,
    describe_empty,
    describe_misplaced,
    describe_mixed,
    find_misfits,
    fold_keys_of_matching,
    fold_keys_of_sources,
    survey,
    survey_data,
    survey_predictions,
)
from fieldassay.scoring.inputs import Records, ScoreOptions, open_inputs, open_predictions, with_keywords
from fieldassay.scoring.shards import EvidenceRows, judge_batch
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.parse import parse_spec, read_spec
from fieldassay.spec.language.write import emit_flow, spec_data
from fieldassay.spec.language.yaml_text import Steps
from fieldassay.spec.plan.compile import bind_score, plan_of, read_plan
from fieldassay.spec.plan.nodes import (
    AnyNode,
    Leaf,
    ListNode,
    Node,
    ObjectNode,
    Plan,
    describe,
    describe_checks,
    describe_comparator,
)
from fieldassay.values.comparators.base import Cascade, Comparator
from fieldassay.values.comparators.lists import ByPosition, ContainedItems
from fieldassay.values.types.column import Column, Reading

if TYPE_CHECKING:
    import polars as pl

    from fieldassay.records.matching import Matching


# The steps of a comparator on one pair, one after another, and the results of a list's items.

MOST_ITEMS = 50
"""Items of a list that are described one by one."""


class ComparisonStep(Struct, frozen=True):
    """One step of a cascade or one item of a list: both values as read, the score, and the reason.

    `what` is the comparator of the step, or the place of the item.
    """

    what: str
    gold: str
    pred: str
    score: float
    reason: str
    is_item: bool = False


def try_steps(comparator: Comparator, gold: Reading, pred: Reading) -> tuple[ComparisonStep, ...]:
    """Return the steps of a cascade up to the decisive one, and the items of lists.

    Nothing for a comparator of a single step.

    >>> from fieldassay.values.comparators.base import Contains, Exact
    >>> one, other = (Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp"))
    >>> [(trial.what, trial.reason) for trial in try_steps(Cascade((Exact(), Contains())), one, other)]
    [('exact', 'different'), ('contains', 'contained')]
    """
    if not isinstance(comparator, Cascade):
        return _try_items(comparator, gold, pred)
    trials: list[ComparisonStep] = []
    for position, step in enumerate(comparator.steps):
        score, reason = step.compare_one(gold, pred)
        enough = comparator.thresholds[position] if comparator.thresholds else step.accept
        trials.append(
            ComparisonStep(describe_comparator(step), gold.canonical, pred.canonical, score, reason)
        )
        trials += _try_items(step, gold, pred)
        if score >= enough:
            break
    return tuple(trials)


def _try_items(comparator: Comparator, gold: Reading, pred: Reading) -> tuple[ComparisonStep, ...]:
    if not isinstance(comparator, ByPosition | ContainedItems) or gold.canonical == pred.canonical:
        return ()
    gold_items, pred_items = (
        (reading.value if isinstance(reading.value, Column) else Column.of([reading]))
        for reading in (gold, pred)
    )
    trials = []
    for place in range(
        min(
            MOST_ITEMS,
            len(pred_items)
            if isinstance(comparator, ContainedItems)
            else max(len(gold_items), len(pred_items)),
        )
    ):
        candidates = (
            gold_items if isinstance(comparator, ContainedItems) else gold_items.take(_at(place, gold_items))
        )
        trials.append(_try_item(comparator.items, candidates, pred_items.take(_at(place, pred_items)), place))
    return tuple(trials)


def _at(place: int, column: Column) -> Any:
    return np.arange(len(column))[place : place + 1]


def _try_item(comparator: Comparator, candidates: Column, pred: Column, place: int) -> ComparisonStep:
    """Return the best of the gold items for a predicted item."""
    what, shown = f"item {place + 1}", pred.canonical[0] if len(pred) else ""
    if not len(candidates) or not len(pred):
        return ComparisonStep(
            what,
            candidates.canonical[0] if len(candidates) else "",
            shown,
            0.0,
            "missing" if len(candidates) else "spurious",
            True,
        )
    scores = [
        comparator.compare_one(candidates.reading(at), pred.reading(0))
        for at in range(min(MOST_ITEMS, len(candidates)))
    ]
    best = max(range(len(scores)), key=lambda at: scores[at][0])
    return ComparisonStep(
        what,
        candidates.canonical[best] if scores[best][0] > 0 or len(scores) == 1 else "",
        shown,
        *scores[best],
        True,
    )


# Why a value was judged as it was: step by step, from the raw values to the diagnoses.

_NOT_COMPARED = ("equal", "accepted", "unreadable", "wrong_kind", "too_long")

VALUE = "value"
_MOST_NAMED = 20
"""Undeclared keys that are named."""
"""The name of the one field in the spec of a single pair of values."""


class ExplainedSide(Struct, frozen=True):
    """One side of a pair: the value as given (JSON text, None: no value), as read, and the remarks."""

    raw: str | None
    value: str | None = None
    flags: tuple[str, ...] = ()
    problem: str | None = None


class Explanation(Brief, Struct, frozen=True):
    """The steps of one judgement: `read`, `compared` and `accept` are of the field, the rest of the pair."""

    field: str
    gold_path: str | None
    pred_path: str | None
    type: str
    read: str
    compared: str
    accept: str
    gold: ExplainedSide
    pred: ExplainedSide
    score: float | None
    reason: str
    outcome: str
    diagnoses: tuple[str, ...]
    flags: tuple[str, ...]
    trials: tuple[ComparisonStep, ...] = ()
    """The steps of a cascade up to the decisive one, and the items of lists; else empty."""

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        return record_data(self)


class DocumentExplanation(Brief, Struct, frozen=True):
    """The judgements of one document: its rows of evidence in order, and their steps for a chosen field.

    `remarks` are, by system, on the answers themselves: none, not readable, repaired.
    """

    document: str
    field: str | None
    rows: tuple[dict[str, Any], ...]
    steps: tuple[Explanation, ...] = ()
    remarks: Mapping[str, tuple[str, ...]] = default(default_factory=dict)
    systems: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data."""
        remarks = {name: list(said) for name, said in self.remarks.items()}
        shared = {"document": self.document, "field": self.field, "remarks": remarks, "rows": list(self.rows)}
        return {**shared, "steps": [step.to_dict() for step in self.steps]}


@public
def explain_values(
    gold: Any, pred: Any, definition: Mapping[str, Any] | str, spec: Mapping[str, Any] | None = None
) -> tuple[Explanation, ...]:
    """Return the judgement of a pair of raw values by the definition of a field; lists have one per item.

    `definition` is a field of the spec language, or its type; `spec` adds settings such as `locale`.

    >>> [step] = explain_values("$1,234.56", "1234.6", {"type": "money", "currency": "AUD"})
    >>> step.gold.value, step.pred.value, step.outcome, step.diagnoses
    ('1234.56 AUD', '1234.6 AUD', 'mismatch', ('rounding',))
    """
    plan = read_plan({"name": "command line", **(spec or {}), "fields": {VALUE: definition}})
    rows = judge_rows(plan, {VALUE: to_json(gold)}, {VALUE: to_json(pred)})
    return tuple(explain_row(plan, row) for row in rows if row["kind"] == "value")


@public
def explain_field(plan: Plan, field: str, gold: Any, pred: Any) -> tuple[Explanation, ...]:
    """Return the judgement of a pair of raw values in a field; aligned lists have one per item.

    A field inside of others (`lines[].amount`, or any path of a tree) is judged as the only value of its
    record, whatever the document types of the field. Raises `ProblemsError` with the nearest name if there is
    no such field.

    >>> plan = read_plan({"protocol": "business-documents"})
    >>> [step] = explain_field(plan, "TOTAL_AMOUNT", "$1234.56", "$ 1,234.56")
    >>> step.score, step.reason
    (1.0, 'equal_ignoring')
    """
    steps = (field,) if field in plan.slots else _steps_to(plan, field)
    path = plan.field_of(join_path(steps))
    rows = judge_rows(plan, record_of(steps, to_json(gold)), record_of(steps, to_json(pred)))
    return tuple(
        explain_row(plan, row) for row in rows if row["kind"] == "value" and _is_under(row["field"], path)
    )


def _steps_to(plan: Plan, field: str) -> tuple[Step, ...]:
    """Return the steps to a nested field."""
    nested = {info.path for info in plan.fields if info.path}
    try:
        steps = split_path(field)
    except ValueError as error:
        raise problem("field", str(error), "write one such as lines[].amount", "invalid_path") from None
    path = plan.field_of(join_path(steps))
    if not steps or isinstance(steps[0], int) or (path not in nested and find_leaf(plan, path)[0] is None):
        raise problem(
            "field",
            f"no field {field[:200]!r}",
            nearest(field[:200], nested or {"a.path.of.the.tree"}),
            "unknown_name",
        )
    return steps


def judge_rows(plan: Plan, gold: Mapping[str, Any], pred: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of evidence of one pair of records."""

    evidence = assemble(plan, judge(plan, [gold], [pred], {}), Identity("prediction", ("document",)), [None])
    return [] if evidence.table is None else evidence.table().to_dicts()


def explain_row(plan: Plan, row: Mapping[str, Any]) -> Explanation:
    """Return the steps behind a row of evidence about a value."""
    leaf, descriptions = find_leaf(plan, row["field"])
    return Explanation(
        row["field"], row["gold_path"], row["pred_path"], row["type"],
        descriptions.get("read", ""), descriptions.get("compared", ""), descriptions.get("accept", ""),
        _side(leaf, row["gold"], row["gold_value"]), _side(leaf, row["pred"], row["pred_value"]),
        row["score"], row["reason"], row["outcome"],
        tuple(row["diagnoses"] or ()), tuple(row["flags"] or ()), _trials(leaf, row),
    )  # fmt: skip


def _trials(leaf: Leaf | None, row: Mapping[str, Any]) -> tuple[ComparisonStep, ...]:
    """Return the trials of the leaf's comparator on the values of a row; none if it was not used."""
    if leaf is None or row["gold"] is None or row["pred"] is None or row["reason"] in _NOT_COMPARED:
        return ()
    sides = []
    for text in (row["gold"], row["pred"]):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            return ()
        if data is None or isinstance(data, dict) or (isinstance(data, list) and not leaf.is_list):
            return ()
        sides.append(leaf.reader.read(data))
    return () if any(side.problem is not None for side in sides) else try_steps(leaf.comparator, *sides)


def _side(leaf: Leaf | None, raw: str | None, value: str | None) -> ExplainedSide:
    """Return one side, read again for the reason of its unreadability, which evidence does not keep."""
    if raw is None or leaf is None:
        return ExplainedSide(raw, value)
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return ExplainedSide(raw, value)
    if isinstance(data, dict) or data is None or (isinstance(data, list) and not leaf.is_list):
        kind = "null" if data is None else "an object" if isinstance(data, dict) else "a list"
        return ExplainedSide(raw, value, (), f"is {kind}")
    reading = leaf.reader.read(data)
    return ExplainedSide(raw, value, reading.flags, reading.problem)


def find_leaf(plan: Plan, path: str) -> tuple[Leaf | None, dict[str, str]]:
    """Return the leaf of a field and its description; None for structure and undeclared keys."""
    rows = {row["field"]: row for row in describe(plan)}
    node = _find(plan.root, path)
    if isinstance(node, Leaf):
        return node, rows.get(path, {})
    if isinstance(node, AnyNode):
        for pattern, leaf in node.patterns:
            if isinstance(leaf, Leaf) and Pattern(pattern).matches(path):
                return leaf, rows.get(f"{node.path or '(the record)'}: {pattern}", {})
    return None, {}


def _find(node: Node, path: str) -> Node | None:
    if isinstance(node, AnyNode):
        return node if is_within(path, node.path) else None
    if isinstance(node, Leaf):
        return node if node.path == path else None
    children = node.children if isinstance(node, ObjectNode) else (node.items,)
    matches = (_find(child, path) for child in children)
    return next(
        (inner for inner in matches if inner is not None),
        node if isinstance(node, ListNode) and node.path == path else None,
    )


def explain_document(
    plan: Plan, matching: Matching, document: str, slices: tuple[str, ...] = ()
) -> DocumentExplanation:
    """Return the judgements of one document for every system.

    Raises `ProblemsError` with the nearest id if there is no such document.
    """
    ids = {name: position for position, name in enumerate(matching.ids)}
    if document not in ids:
        raise unknown_document(document, ids, matching.gold.label)
    plan = fold_keys_of_matching(plan, matching)
    rows: list[dict[str, Any]] = []
    score_of = bind_score(plan.spec)
    remarks: dict[str, tuple[str, ...]] = {}
    for batch in batches(matching, 1, [ids[document]]):
        for judged in judge_batch(plan, batch, slices):
            costs = partial(find_costs, score_of, judged.evidence, judged.documents)
            rows += EvidenceRows(judged.evidence, False, costs).table().to_dicts()
            system = judged.name
            undeclared = [
                f"the spec does not declare the predicted key {path}"
                for path in sorted(judged.undeclared.pred)[:_MOST_NAMED]
            ]
            remarks[system] = (*_remarks(batch.predictions[system][0]), *undeclared)
    return DocumentExplanation(document, None, tuple(rows), (), remarks, tuple(matching.systems))


def _remarks(record: Record | None) -> list[str]:
    if record is None:
        return ["no prediction for this document; it counts as empty"]
    if record.data is None:
        return [f"{record.place}: {record.invalid or 'no readable answer'}; it counts as empty"]
    return (
        [f"{record.place}: the answer was repaired ({', '.join(record.meta.repairs)})"]
        if record.meta.repairs
        else []
    )


def choose_field(plan: Plan, explanation: DocumentExplanation, path: str) -> DocumentExplanation:
    """Return the explanation of only one field (`lines[].amount`) or value (`lines[3].amount`), with steps.

    Values below the path are included. Raises `ProblemsError` with the nearest field if the document has
    nothing there.
    """
    try:
        wanted = plan.field_of(path)
    except ValueError as error:
        raise problem("field", str(error), "write one such as lines[].amount", "invalid_path") from None
    keys = ("field",) if wanted == path else ("gold_path", "pred_path")
    rows = tuple(row for row in explanation.rows if any(_is_under(row[key], path) for key in keys))
    fields = {row["field"] for row in explanation.rows} | {info.path for info in plan.fields}
    if not rows and wanted not in fields:
        raise problem("field", f"no field {path[:200]!r}", nearest(path[:200], fields), "unknown_name")
    steps = tuple(explain_row(plan, row) for row in rows if row["kind"] == "value")
    return replace(explanation, field=path, rows=rows, steps=steps)


def _is_under(path: str | None, wanted: str) -> bool:
    return path is not None and (path == wanted or path.startswith((f"{wanted}.", f"{wanted}[")))


# Predictions of documents that have no gold.


def judge_without_gold(plan: Plan, source: Source) -> tuple[pl.DataFrame, list[str]]:
    """Return the rows of all predicted values, none known to be right, and the ids of unreadable answers."""
    import polars as pl

    frames, unread = [], []
    plan = fold_keys_of_sources(plan, [source])
    for records in source.batches():
        unread += [record.id for record in records if record.data is None or record.meta.error]
        data = [record.data or {} for record in records]
        judged = judge(plan, [{} for _ in records], data, applicability(plan, [None] * len(records)))
        confidences = [record.meta.confidence for record in records]
        evidence = assemble(plan, judged, Identity("", tuple(record.id for record in records)), confidences)
        assert evidence.table is not None
        frames.append(evidence.table())
    rows = pl.concat(frames, how="diagonal") if frames else pl.DataFrame(schema=evidence_schema())
    return rows.filter(pl.col("kind") == "value"), unread


class Validation(Brief, Struct, frozen=True, eq=False):
    """The findings. `fields` are rows of `spec.plan.describe`; `documents` is None without data."""

    problems: tuple[Problem, ...]
    fields: tuple[dict[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    documents: int | None = None
    surveys: Mapping[str, DataProfile] = default(default_factory=dict)
    """The content of each side; gold under the empty name, then the systems."""
    missing: Mapping[str, int] = default(default_factory=dict)
    unmatched: Mapping[str, tuple[str, ...]] = default(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    """The warnings of scoring: sides without values in any declared field."""
    checks: tuple[dict[str, str], ...] = ()
    """The rows of `fieldassay.spec.plan.nodes.describe_checks`."""
    counts: tuple[CheckCount, ...] = ()
    """How often predictions violate each check."""
    violations: tuple[dict[str, Any], ...] = ()
    """All violations, if requested."""
    protocol: str | None = None
    changes: tuple[str, ...] = ()
    """What the spec changes of its protocol, a line for each key."""

    def to_dict(self) -> dict[str, Any]:
        """Return the validation as plain data."""
        problems = [
            {"where": problem.where, "what": problem.what, "remedy": problem.remedy, "kind": problem.kind}
            for problem in self.problems
        ]
        return {
            "problems": problems,
            "fields": list(self.fields),
            "metrics": list(self.metrics),
            "protocol": self.protocol,
            "changes": list(self.changes),
            "documents": self.documents,
            "gold": survey_data(self.surveys[""]) if "" in self.surveys else None,
            "predictions": {
                name: {
                    "records": survey.records,
                    "missing": self.missing.get(name, 0),
                    "unmatched": list(self.unmatched.get(name, ())),
                    **survey_data(survey),
                }
                for name, survey in self.surveys.items()
                if name
            },
            "notes": list(self.notes),
            "warnings": list(self.warnings),
            "checks": list(self.checks),
            "check_counts": [{"system": count.system, **count.to_dict()} for count in self.counts],
            "violations": list(self.violations),
        }


@public
def validate(
    spec: Any,
    gold: Records | None = None,
    predictions: Mapping[str, Records] | None = None,
    *,
    lists_violations: bool = False,
    **keywords: Any,
) -> Validation:
    """Return the problems of a spec and of data, and the effect of the spec; user mistakes do not raise.

    Predictions need no gold. `lists_violations`: every violation of a check is kept, not only counted.
    `keywords` are as for `score`.

    >>> checked = validate("fields: {total: number}", [{"id": 1, "total": "5"}, {"id": 2, "total": "five"}])
    >>> [(example.document, example.value) for example in checked.surveys[""].findings["total"].examples]
    [('2', '"five"')]
    >>> print(validate("fields: {total: mony}").problems[0].what)
    unknown type 'mony'
    """
    problems: list[Problem] = []
    plan, is_sound = _read(spec, problems)
    plan, options = with_keywords(plan, ScoreOptions(), keywords)
    validation = _of_spec(plan) if is_sound else Validation(())
    findings = Findings(plan, violations=[] if lists_violations else None)
    systems = predictions or {}
    if gold is not None:
        validation = _of_data(validation, gold, systems, options.where, findings, problems)
    elif systems:
        validation = _of_predictions(validation, systems, options.where, findings, problems)
    notes = (*validation.notes, *(name_idle(plan, findings.tallies) if findings.tallies else ()))
    return replace(
        validation,
        problems=tuple(problems),
        notes=notes,
        counts=findings.counts(),
        violations=tuple(findings.violations or ()),
    )


def _of_spec(plan: Plan) -> Validation:
    """Return the validation of a sound spec alone."""
    name = plan.spec.protocol
    changes = () if name is None else tuple(list_changes(plan.spec, read_spec({"protocol": name})))
    return Validation(
        (),
        tuple(describe(plan)),
        tuple(plan.spec.metrics or DEFAULT_METRICS),
        checks=tuple(describe_checks(plan)),
        protocol=name,
        changes=changes,
    )


_UNCOMPARED = ("name", "protocol", "replace", "version", "citation", "description")


def list_changes(spec: Spec, protocol: Spec) -> Iterator[str]:
    """Yield a line for each key in which a spec differs from a protocol; equal changes of fields are one.

    >>> spec, protocol = (read_spec({"fields": fields}) for fields in ({"a": "id", "b": "id"}, {"a": "text"}))
    >>> list(list_changes(spec, protocol))
    ['fields.a: text → id', 'fields.b: added id']
    """
    own, below = (
        {key: value for key, value in spec_data(source).items() if key not in _UNCOMPARED}
        for source in (spec, protocol)
    )
    of_fields: dict[tuple[Steps, str], list[str]] = {}
    for steps, change in _differences(below, own, ()):
        if steps[0] == "fields" and len(steps) > 2:
            of_fields.setdefault((steps[2:], change), []).append(str(steps[1]))
        else:
            yield f"{join_path(steps)}: {change}"
    for (steps, change), names in of_fields.items():
        yield f"fields.{list_names(names, 5)}.{join_path(steps)}: {change}"


def _differences(below: Any, own: Any, steps: Steps) -> Iterator[tuple[Steps, str]]:
    """Yield each place in which two specs as plain data differ, and how."""
    if len(steps) < 2 and dict in (type(below), type(own)):
        below, own = below or {}, own or {}
    if steps and steps[0] in ("metrics", "gates", "slices"):
        before, after = below or [], own or []
        yield from ((steps, f"added {text}") for text in after if text not in before)
        yield from ((steps, f"left out {text}") for text in before if text not in after)
    elif isinstance(below, dict) and isinstance(own, dict):
        for key in dict.fromkeys((*below, *own)):
            if steps[-1:] == ("fields",) and below and key not in below:
                yield (*steps, key), f"added {_compare_with_nearest(own[key], below)}"
            else:
                yield from _differences(below.get(key), own.get(key), (*steps, key))
    elif (
        steps[-1] == "steps" and isinstance(below, list) and isinstance(own, list) and len(below) == len(own)
    ):
        for place, both in enumerate(zip(below, own, strict=True)):
            yield from _differences(*both, (*steps, place))
    elif below != own:
        before, after = _clip_both(*map(emit_flow, (below, own)))
        is_new = f"added {after}" if below is None else f"left out {before}"
        yield steps, is_new if None in (below, own) else f"{before} → {after}"


def _compare_with_nearest(field: Any, others: Mapping[str, Any]) -> str:
    """Return the keys of a new field that the most similar of other fields does not have, with its name."""
    if not isinstance(field, dict):
        return clip(emit_flow(field), 80)
    new = {
        name: {key: value for key, value in field.items() if other.get(key) != value}
        for name, other in others.items()
        if isinstance(other, dict) and other.keys() <= field.keys()
    }
    nearest = min(new, key=lambda name: len(new[name]), default="")
    if not nearest or len(new[nearest]) == len(field):
        return clip(emit_flow(field), 80)
    own = ", ".join(f"{key}: {clip(emit_flow(value), 80)}" for key, value in new[nearest].items())
    return f"as {nearest}" + (f", with {own}" if own else "")


def _clip_both(before: str, after: str) -> tuple[str, str]:
    """Return two texts clipped to the part around their first difference."""
    differing = (at for at, (left, right) in enumerate(zip(before, after, strict=False)) if left != right)
    is_long = max(len(before), len(after)) > 80
    start = max(0, next(differing, 0) - 30) if is_long else 0
    first, second = (f"{'…' if start else ''}{clip(text[start:], 80)}" for text in (before, after))
    return first, second


def _of_predictions(
    validation: Validation,
    predictions: Mapping[str, Records],
    where: Sequence[str],
    findings: Findings,
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of predictions without gold.

    Where the spec is not sound, their files are only opened.
    """
    if where:
        what = "chooses documents by their gold, which is missing"
        problems.append(Problem("--where", what, "add --gold", "no_gold"))
    try:
        sources = open_predictions(findings.plan, predictions)
        if problems:
            return validation
        plan = fold_keys_of_sources(findings.plan, sources.values())
        surveys = survey_predictions(plan, sources, findings)
    except ProblemsError as error:
        problems += error.problems
        return validation
    notes = tuple(str(note) for source in sources.values() for note in source.notes)
    return replace(_with_surveys(validation, findings.plan, sources, surveys, problems), notes=notes)


def _of_data(
    validation: Validation,
    gold: Records,
    predictions: Mapping[str, Records],
    where: Sequence[str],
    findings: Findings,
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of gold and predictions.

    Where the spec is not sound, their files are only opened.
    """
    plan = findings.plan
    try:
        matching = open_inputs(plan, gold, predictions, where)
        validation = replace(validation, documents=len(matching))
        if problems:
            return validation
        surveys = survey(fold_keys_of_matching(plan, matching), matching, findings)
    except ProblemsError as error:
        problems += error.problems
        return validation
    except NothingEvaluatedError as error:
        problems.append(Problem("predictions", str(error), "", "no_match"))
        return validation
    validation = _with_surveys(validation, plan, matching.sources, surveys, problems)
    misplaced = describe_misplaced(matching.gold.label, surveys[""].misplaced)
    return replace(
        validation,
        warnings=(*validation.warnings, *map(str, misplaced)),
        missing=matching.missing,
        unmatched=matching.unmatched,
        notes=(*map(str, matching.notes), *describe_mixed(surveys[""])),
    )


def _with_surveys(
    validation: Validation,
    plan: Plan,
    sources: Mapping[str, Source],
    surveys: Mapping[str, DataProfile],
    problems: list[Problem],
) -> Validation:
    """Return the validation with the content of all sides, and warnings for those without any declared value.

    Where the spec cannot be for any of them, that is a problem, unless its checks look at predictions alone.
    """
    undeclared = {name: survey.undeclared for name, survey in surveys.items()}
    empty = [
        name
        for name, survey in surveys.items()
        if not any(finding.present for finding in survey.findings.values())
    ]
    is_checked = validation.documents is None and bool(plan.checks)
    misfits = [] if is_checked or "" in plan.slots else find_misfits(plan, sources, undeclared, empty)
    if misfits:
        problems += [Problem("spec", misfit, kind="no_match") for misfit in misfits]
        return replace(validation, surveys=surveys)
    warnings = (
        describe_empty(plan, sources[name], name, undeclared[name])
        if undeclared[name]
        else f"{sources[name].label}: no record can be read"
        for name in empty
        if undeclared[name] or surveys[name].invalid == surveys[name].records > 0
    )
    return replace(validation, surveys=surveys, warnings=tuple(warnings))


def _read(spec: Any, problems: list[Problem]) -> tuple[Plan, bool]:
    """Return the plan; of an unsound spec one with its names only, so that the data can still be read."""
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
