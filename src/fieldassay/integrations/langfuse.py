"""An evaluator of Langfuse's experiments: the expected output of an item is gold."""

from collections.abc import Callable
from typing import Any

from langfuse import Evaluation

from fieldassay.commands.judge import Judge


def extraction(spec: Any = None) -> Callable[..., list[Evaluation]]:
    """Return an evaluator of outputs against the expected output of their item.

    `spec` is all that `fieldassay.Judge` takes. The evaluation `extraction` is the score, with the scores of
    the fields as its metadata; `extraction_passed` says whether all critical values are right. Where nothing
    is to be judged there is none.

    >>> evaluate = extraction("fields: {total: money, paid: boolean}")
    >>> gold, answer = {"total": "5.50", "paid": True}, {"total": 5.5}
    >>> for evaluation in evaluate(input="5.50 paid", output=answer, expected_output=gold):
    ...     print(evaluation.name, evaluation.value, evaluation.comment)
    extraction 0.5 paid: the prediction has no value, gold is true
    extraction_passed False paid: the prediction has no value, gold is true
    """
    judge = Judge(spec)

    def evaluate(*, output: Any, expected_output: Any = None, **_: Any) -> list[Evaluation]:
        judgement = judge(expected_output, output)
        if judgement.score is None:
            return []
        explanation = judgement.explanation
        return [
            Evaluation(
                name="extraction", value=judgement.score, comment=explanation, metadata=judgement.by_field()
            ),
            Evaluation(
                name="extraction_passed", value=judgement.passed, comment=explanation, data_type="BOOLEAN"
            ),
        ]

    return evaluate
