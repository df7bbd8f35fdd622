"""Single documents and values, explained step by step; records without gold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.errors import nearest, problem
from fieldassay.io.json_value import record_data
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.costs import find_costs
from fieldassay.metrics.evidence import evidence_schema
from fieldassay.paths import Pattern, Step, is_within, join_path, split_path
from fieldassay.public import public
from fieldassay.records.matching import batches, unknown_document
from fieldassay.records.record import Record, to_json
from fieldassay.records.source import Source
from fieldassay.scoring.engine.assemble import Identity, assemble
from fieldassay.scoring.engine.judge import judge
from fieldassay.scoring.engine.scopes import applicability
from fieldassay.scoring.fit import fold_keys_of_matching, fold_keys_of_sources
from fieldassay.scoring.shards import EvidenceRows, judge_batch
from fieldassay.spec.plan.compile import bind_score, read_plan
from fieldassay.spec.plan.nodes import (
    AnyNode,
    Leaf,
    ListNode,
    Node,
    ObjectNode,
    Plan,
    describe,
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
    given, found = (
        (reading.value if isinstance(reading.value, Column) else Column.of([reading]))
        for reading in (gold, pred)
    )
    trials = []
    for place in range(
        min(MOST_ITEMS, len(found) if isinstance(comparator, ContainedItems) else max(len(given), len(found)))
    ):
        candidates = given if isinstance(comparator, ContainedItems) else given.take(_at(place, given))
        trials.append(_try_item(comparator.items, candidates, found.take(_at(place, found)), place))
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
    rows = judge_rows(plan, _alone(steps, to_json(gold)), _alone(steps, to_json(pred)))
    return tuple(
        explain_row(plan, row) for row in rows if row["kind"] == "value" and _is_under(row["field"], path)
    )


def _steps_to(plan: Plan, field: str) -> tuple[Step, ...]:
    """Return the steps to a nested field."""
    known = {info.path for info in plan.fields if info.path}
    try:
        steps = split_path(field)
    except ValueError as error:
        raise problem("field", str(error), "write one such as lines[].amount", "invalid_path") from None
    path = plan.field_of(join_path(steps))
    if not steps or isinstance(steps[0], int) or (path not in known and find_leaf(plan, path)[0] is None):
        raise problem(
            "field",
            f"no field {field[:200]!r}",
            nearest(field[:200], known or {"a.path.of.the.tree"}),
            "unknown_name",
        )
    return steps


def _alone(steps: Sequence[Step], value: Any) -> dict[str, Any]:
    """Return a record with nothing but a value, under the steps that lead to it; one item in each list."""
    for step in reversed(steps):
        value = [value] if isinstance(step, int) else {step: value}
    record: dict[str, Any] = value
    return record


def judge_rows(plan: Plan, gold: Mapping[str, Any], pred: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of evidence of one pair of records."""

    evidence = assemble(plan, judge(plan, [gold], [pred], {}), Identity("prediction", ("document",)), [None])
    return [] if evidence.table is None else evidence.table().to_dicts()


def explain_row(plan: Plan, row: Mapping[str, Any]) -> Explanation:
    """Return the steps behind a row of evidence about a value."""
    leaf, told = find_leaf(plan, row["field"])
    return Explanation(
        row["field"], row["gold_path"], row["pred_path"], row["type"],
        told.get("read", ""), told.get("compared", ""), told.get("accept", ""),
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
    found = (_find(child, path) for child in children)
    return next(
        (inner for inner in found if inner is not None),
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


def choose_field(plan: Plan, found: DocumentExplanation, path: str) -> DocumentExplanation:
    """Return the explanation of only one field (`lines[].amount`) or value (`lines[3].amount`), with steps.

    Values below the path are included. Raises `ProblemsError` with the nearest field if the document has
    nothing there.
    """
    try:
        wanted = plan.field_of(path)
    except ValueError as error:
        raise problem("field", str(error), "write one such as lines[].amount", "invalid_path") from None
    keys = ("field",) if wanted == path else ("gold_path", "pred_path")
    rows = tuple(row for row in found.rows if any(_is_under(row[key], path) for key in keys))
    known = {row["field"] for row in found.rows} | {info.path for info in plan.fields}
    if not rows and wanted not in known:
        raise problem("field", f"no field {path[:200]!r}", nearest(path[:200], known), "unknown_name")
    steps = tuple(explain_row(plan, row) for row in rows if row["kind"] == "value")
    return replace(found, field=path, rows=rows, steps=steps)


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
