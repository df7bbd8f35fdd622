"""An evaluator of Strands Evals: the expected output of a case is gold, the actual output the answer."""

from typing import Any

from strands_evals.evaluators import Evaluator
from strands_evals.types.evaluation import NOT_APPLICABLE, EvaluationData, EvaluationOutput

from fieldassay.commands.judge import Judge


class ExtractionEvaluator(Evaluator[Any, Any]):
    """Judges the output of a task against the expected output.

    `spec` is all that `fieldassay.Judge` takes. A case passes if all critical values are right. The metadata
    has the scores of the fields. A case in which nothing is to be judged is not applicable.

    >>> case = EvaluationData(input="5.50 paid", expected_output={"total": "5.50", "paid": True},
    ...     actual_output={"total": 5.5, "paid": False})
    >>> [output] = ExtractionEvaluator("fields: {total: money, paid: boolean}").evaluate(case)
    >>> output.score, output.test_pass, output.metadata
    (0.5, False, {'total': 1.0, 'paid': 0.0})
    """

    def __init__(self, spec: Any = None, name: str | None = None) -> None:
        super().__init__(name=name)
        self._judge = Judge(spec)

    def evaluate(self, evaluation_case: EvaluationData[Any, Any]) -> list[EvaluationOutput]:
        """Return the score of a case, whether it passes, and what is wrong."""
        judgement = self._judge(evaluation_case.expected_output, evaluation_case.actual_output)
        return [
            EvaluationOutput(
                score=judgement.score or 0.0,
                test_pass=judgement.passed,
                reason=judgement.explanation,
                label=NOT_APPLICABLE if judgement.score is None else None,
                metadata=judgement.by_field(),
            )
        ]
