"""An evaluator of Strands Evals: the expected output of a case is gold, the actual output the answer."""

from typing import Any

from strands_evals.evaluators import Evaluator
from strands_evals.types.evaluation import EvaluationData, EvaluationOutput

from fieldassay.commands.judge import Judge


class ExtractionEvaluator(Evaluator[Any, Any]):
    """Judges the output of a task against the expected output.

    `spec` is all that `fieldassay.Judge` takes. A case passes if all critical values are right. The metadata,
    where the installed release has any, has the scores of the fields. The label of a case in which nothing is
    to be judged is `not_applicable`.

    >>> case = EvaluationData(input="5.50 paid", expected_output={"total": "5.50", "paid": True},
    ...     actual_output={"total": 5.5, "paid": False})
    >>> [output] = ExtractionEvaluator("fields: {total: money, paid: boolean}").evaluate(case)
    >>> output.score, output.test_pass, output.reason
    (0.5, False, 'paid: gold true, predicted false (another value)')
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
                label="not_applicable" if judgement.score is None else None,
                **({"metadata": judgement.by_field()} if "metadata" in EvaluationOutput.model_fields else {}),
            )
        ]
