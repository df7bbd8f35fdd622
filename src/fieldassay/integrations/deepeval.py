"""A metric of DeepEval: the expected output of a test case is gold as JSON, the actual output the answer."""

from typing import Any

from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase, SingleTurnParams

from fieldassay.commands.judge import Judge


class ExtractionMetric(BaseMetric):
    """Judges an answer against the expected output.

    `spec` is all that `fieldassay.Judge` takes. A test case succeeds with a score of `threshold`, which
    DeepEval wants: 1 unless you say otherwise. `score_breakdown` has the scores of the fields. A test case in
    which nothing is to be judged scores 1.

    >>> case = LLMTestCase(input="5.50 paid", expected_output='{"total": "5.50", "paid": true}',
    ...     actual_output='{"total": 5.5, "paid": false}')
    >>> metric = ExtractionMetric("fields: {total: money, paid: boolean}")
    >>> metric.measure(case), metric.is_successful(), metric.score_breakdown
    (0.5, False, {'total': 1.0, 'paid': 0.0})
    """

    _required_params = [SingleTurnParams.EXPECTED_OUTPUT, SingleTurnParams.ACTUAL_OUTPUT]

    def __init__(self, spec: Any = None, threshold: float = 1.0) -> None:
        self.threshold = threshold
        self.spec, self.async_mode = spec, False  # DeepEval copies a metric by the attributes of these names
        self._judge = Judge(spec)

    @property
    def __name__(self) -> str:
        return "Extraction"

    def measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Return the score of a test case, and keep its reason and the scores of the fields."""
        judgement = self._judge(test_case.expected_output, test_case.actual_output)
        self.score = 1.0 if judgement.score is None else judgement.score
        self.reason, self.score_breakdown = judgement.explanation, judgement.by_field()
        self.success = self.score >= self.threshold
        return self.score

    async def a_measure(self, test_case: LLMTestCase, *_: Any, **__: Any) -> float:
        """Return the score of a test case."""
        return self.measure(test_case)

    def is_successful(self) -> bool:
        """Return whether the test case that was measured last has passed."""
        return bool(self.success)
