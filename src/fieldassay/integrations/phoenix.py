"""An evaluator of Phoenix: `expected` of an example is gold, `output` the answer."""

from typing import Any

from phoenix.evals import create_evaluator
from phoenix.evals.evaluators import Evaluator

from fieldassay.commands.judge import Judge


def extraction(spec: Any = None) -> Evaluator:
    """Return an evaluator of outputs against what is expected.

    `spec` is all that `fieldassay.Judge` takes. The label says whether all critical values are right. Where
    nothing is to be judged, the score is missing.

    >>> evaluator = extraction("fields: {total: money, paid: boolean}")
    >>> [score] = evaluator.evaluate({"output": {"total": 5.5}, "expected": {"total": "5.50", "paid": True}})
    >>> score.score, score.label, score.explanation
    (0.5, 'failed', 'paid: the prediction has no value, gold is true')
    """
    judge = Judge(spec)

    @create_evaluator(name="extraction", kind="code")
    def extraction(output: Any, expected: Any) -> dict[str, Any]:
        judgement = judge(expected, output)
        label = "passed" if judgement.passed else "failed"
        return {"score": judgement.score, "label": label, "explanation": judgement.explanation}

    return extraction
