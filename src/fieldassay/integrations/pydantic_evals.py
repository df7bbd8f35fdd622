"""An evaluator of pydantic-evals: the expected output of a case is gold."""

from dataclasses import dataclass
from typing import Any

from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from fieldassay.commands.judge import Judge


@dataclass
class ExtractionJudge(Evaluator[Any, Any, Any]):
    """Judges the output of a task against the expected output of its case.

    `spec` is all that `fieldassay.Judge` takes; a path or a text can be written into the file of a dataset.
    The score is `extraction`, and the assertion `extraction_passed` says that all critical values are right.
    With `by_field` each field has a score of its own. Where nothing is to be judged there is no score.

    >>> from pydantic_evals import Case, Dataset
    >>> case = Case(name="a", inputs="5.50 paid", expected_output={"total": "5.50", "paid": True})
    >>> judge = ExtractionJudge("fields: {total: money, paid: boolean}")
    >>> dataset = Dataset(name="bills", cases=[case], evaluators=[judge])
    >>> report = dataset.evaluate_sync(lambda text: {"total": 5.5}, progress=False)
    >>> report.cases[0].scores["extraction"].value, report.cases[0].scores["extraction"].reason
    (0.5, 'paid: the prediction has no value, gold is true')
    """

    spec: Any = None
    by_field: bool = False

    def __post_init__(self) -> None:
        self._judge = Judge(self.spec)

    def evaluate(self, ctx: EvaluatorContext[Any, Any, Any]) -> dict[str, Any]:
        """Return the score, the assertion, and on request the scores of the fields."""
        judgement = self._judge(ctx.expected_output, ctx.output)
        if judgement.score is None:
            return {}
        whole = {"extraction": judgement.score, "extraction_passed": judgement.passed}
        reasons: dict[str, Any] = {
            name: EvaluationReason(value, judgement.explanation) for name, value in whole.items()
        }
        return reasons | (judgement.by_field() if self.by_field else {})
