"""Why one document was judged as it was, from a run or from data."""

from __future__ import annotations

from typing import Any

from fieldassay.runs.documents import document_of_run
from fieldassay.runs.run import Run
from fieldassay.scoring.explain import DocumentExplanation, choose_field
from fieldassay.scoring.explain import explain_document as explain
from fieldassay.scoring.inputs.inputs import drop_absent_fields, open_inputs
from fieldassay.scoring.inputs.options import ScoreOptions, with_keywords
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan


def explain_document(
    document: str, field: str | None = None, run: Run | None = None, **data: Any
) -> DocumentExplanation:
    """Return how a document was judged: all of its values, or those of one field.

    It is a document of a `run`, or of `gold`, `predictions` and `spec` as for `score`. Raises `ProblemsError`
    with the nearest id for an unknown document, and with the nearest path for an unknown field.

    >>> import fieldassay as fa
    >>> gold, answers = [{"id": "a", "total": "5.00", "shop": "A"}], [{"id": "a", "total": 6, "shop": "A"}]
    >>> spec = "fields: {total: number, shop: text}"
    >>> found = fa.explain_document("a", "total", gold=gold, predictions=answers, spec=spec)
    >>> [(step.gold.raw, step.pred.raw, step.outcome) for step in found.steps]
    [('"5.00"', '6', 'mismatch')]
    """
    if run is not None:
        plan, found = run.plan, document_of_run(run, document)
    else:
        gold, predictions, spec = (data.pop(name) for name in ("gold", "predictions", "spec"))
        plan = spec if isinstance(spec, Plan) else read_plan(spec)
        matching = open_inputs(plan, gold, predictions, with_keywords(ScoreOptions(), data).inputs)
        found = explain(drop_absent_fields(plan, matching), matching, document)
    return found if field is None else choose_field(plan, found, field)
