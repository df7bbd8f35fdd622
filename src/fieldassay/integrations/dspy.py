"""A metric of DSPy, with feedback for GEPA: the labels of an example are gold."""

from collections.abc import Callable
from typing import Any

import dspy

from fieldassay.commands.judge import Judge


def extraction_metric(spec: Any = None, field: str | None = None) -> Callable[..., Any]:
    """Return a metric of a prediction against the labels of its example.

    `spec` is all that `fieldassay.Judge` takes. The labels of the example are the gold record, and the same
    fields of the prediction the predicted one; `field` names the one field that holds the whole record, as a
    dict, a Pydantic object or text. An example in which nothing is to be judged scores 1.

    The metric returns a `dspy.Prediction` with `score`, `feedback` and `objective_scores` by field, which
    `dspy.Evaluate` and `dspy.GEPA` take. To a bootstrapping optimizer, which asks whether a
    trace is worth keeping, it returns whether all critical values are right.

    >>> example = dspy.Example(text="5.50 paid", total="5.50", paid=True).with_inputs("text")
    >>> metric = extraction_metric("fields: {total: money, paid: boolean}")
    >>> grade = metric(example, dspy.Prediction(total=5.5, paid=False))
    >>> grade.score, grade.feedback
    (0.5, 'paid: gold true, predicted false (another value)')
    """
    judge = Judge(spec)

    def metric(
        gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """Judge a prediction against an example, as DSPy asks."""
        del pred_trace
        labels = gold.labels().toDict()
        answer = dict(pred.items())
        right, predicted = (
            (labels, {name: answer.get(name) for name in labels})
            if field is None
            else (labels[field], answer.get(field))
        )
        judgement = judge(right, predicted)
        if trace is not None and pred_name is None:
            return judgement.passed
        return dspy.Prediction(
            score=1.0 if judgement.score is None else judgement.score,
            feedback=judgement.explanation,
            objective_scores=judgement.by_field(),
        )

    return metric
