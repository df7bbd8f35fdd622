"""What a person looks at in new predictions, by a review policy and without gold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.decisions.calibration.checking import list_items
from fieldassay.decisions.calibration.observations import is_judged
from fieldassay.decisions.calibration.policy import ReviewPlan, ReviewPolicy, plan_review
from fieldassay.decisions.calibration.result import PromiseKind
from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.spreadsheets import Sheet, csv_text, show_names, workbook_bytes
from fieldassay.io.files.whole_files import write_whole
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs.open_inputs import open_predictions
from fieldassay.scoring.inputs.options import InputOptions
from fieldassay.scoring.without_gold import judge_without_gold
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl

COLUMNS = ("order", "document", "path", "field", "value", "confidence", "reason", "margin", "probability")
FORMATS = (".csv", ".json", ".jsonl", ".xlsx")


class Queue(Struct, frozen=True, eq=False):
    """A system's values for review: `rows` have a value for each of `COLUMNS`, first reviews, then audits."""

    system: str
    rows: tuple[tuple[Any, ...], ...]
    documents: int
    values: int
    accepted: int
    notes: tuple[str, ...] = ()

    def count_reasons(self) -> dict[str, int]:
        """Return how many values are looked at, by reason."""
        return dict(Counter(row[COLUMNS.index("reason")] for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the queue as plain data."""
        counts = {"documents": self.documents, "values": self.values, "accepted": self.accepted}
        return {
            "system": self.system,
            **counts,
            "reasons": self.count_reasons(),
            "notes": list(self.notes),
            "queue": list(self._objects()),
        }

    def write(self, target: Path) -> None:
        """Write the queue as CSV, JSON, JSON lines or an Excel workbook, by the file's ending.

        Raises `ProblemsError` for another ending.
        """
        write_whole(target, self._portions(check_ending(target)))

    def _portions(self, ending: str) -> Iterator[str | bytes]:
        if ending == ".xlsx":
            yield from workbook_bytes([Sheet("queue", COLUMNS, self.rows)])
        elif ending == ".csv":
            yield csv_text([COLUMNS, *map(show_names, self.rows)])
        elif ending == ".json":
            yield json.dumps(self.to_dict(), ensure_ascii=False, indent=1) + "\n"
        else:
            yield from (json.dumps(row, ensure_ascii=False) + "\n" for row in self._objects())

    def _objects(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(COLUMNS, row, strict=True)) for row in self.rows)


def check_ending(target: Path) -> str:
    """Return the ending of a file that a queue can be written to. Raises `ProblemsError` for another."""
    ending = target.suffix.lower()
    if ending not in FORMATS:
        what = f"no form of a queue has the ending {ending[:20]!r}"
        raise problem(target, what, f"use one of: {', '.join(FORMATS)}", "export_target")
    return ending


def queue_reviews(
    policy: ReviewPolicy, predictions: Any, spec: Any = None, inputs: InputOptions | None = None
) -> Queue:
    """Return the predicted values for review, the most worthwhile first, then the audited ones.

    `spec` must be the spec of the policy (None: that of the run in `policy.basis`, if it still exists).
    Values below no threshold count as accepted. Raises `ProblemsError` for another spec, and for predictions
    of several systems, without any confidence, or with no field of the policy.
    """
    plan = find_plan(policy, spec)
    sources = open_predictions(plan, {policy.system: predictions}, inputs or InputOptions())
    source = sources.get(policy.system)
    if source is None or len(sources) > 1:
        what = (
            f"has the systems {', '.join(sources)}"[:300] + f", and the policy is for {policy.system!r} alone"
        )
        raise problem(
            next(iter(sources.values())).label, what, "give the predictions of that system", "policy_mismatch"
        )
    rows, unread = judge_without_gold(plan, source)
    rows = rows.filter(is_judged())
    _check_rows(policy, rows, source.label)
    found = plan_review(policy, list_items(rows, policy.scale))
    values = {(doc, path): value for doc, path, value in rows.select("doc", "pred_path", "pred").iter_rows()}
    notes = [str(note) for note in source.notes]
    if unread:
        what = (
            f"{len(unread):,} answers could not be read, such as that of {unread[0]!r}: "
            "look at these documents as a whole"
        )
        notes.append(f"{source.label}: {what}")
    empty = len(source) - rows["doc"].n_unique()
    if policy.promise.kind is PromiseKind.DOCUMENT and empty:
        notes.append(f"{source.label}: {empty:,} documents have no predicted value: look at them as a whole")
    return Queue(
        policy.system, tuple(_lines(found, values)), len(source), rows.height, found.accepted, tuple(notes)
    )


def find_plan(policy: ReviewPolicy, spec: Any) -> Plan:
    """Return the plan of the spec that the policy was made with."""
    if spec is not None:
        plan = spec if isinstance(spec, Plan) else read_plan(spec)
    else:
        try:
            plan = Run.open(Path(policy.basis.run)).plan
        except ProblemsError:
            what = (
                f"the run that it was computed from is not there ({policy.basis.run[:200]}), "
                "so its spec is not known"
            )
            raise problem("policy", what, "give the spec", "missing_option") from None
    if plan.digest != policy.digests.get("spec"):
        what = (
            f"is another spec ({plan.digest[:12]}) than the one of the policy "
            f"({policy.digests.get('spec', '')[:12]})"
        )
        raise problem(f"spec {plan.spec.name}", what, "give that spec, or calibrate anew", "policy_mismatch")
    return plan


def _check_rows(policy: ReviewPolicy, rows: pl.DataFrame, label: str) -> None:
    if not rows.height or rows["confidence"].null_count() == rows.height:
        what = (
            "no predicted value has a confidence"
            if rows.height
            else "no field of the spec has a predicted value"
        )
        raise problem(label, what, "give `confidence` with the predictions", "no_confidence")
    known = dict.fromkeys(name for rule in policy.rules for name in rule.fields)
    if not set(known) & set(rows["field"].unique()):
        what = f"no predicted value is in a field of the policy ({', '.join(known)})"[:300]
        raise problem(label, what, "give predictions of these fields, or calibrate anew", "policy_mismatch")


def _lines(found: ReviewPlan, values: dict[tuple[str, str], str | None]) -> Iterator[tuple[Any, ...]]:
    for order, task in enumerate((*found.reviews, *found.audits), 1):
        item = task.item
        value = values[item.document, item.path]
        numbers = (item.confidence, task.reason.value, round(task.margin, 9), task.probability)
        yield order, item.document, item.path, item.field, value, *numbers
