"""A scorer of MLflow's `genai.evaluate`: the expectations of a row are gold."""

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from fieldassay.commands.judge import Judge


def extraction(spec: Any = None, gold: str | None = None) -> Scorer:
    """Return a scorer of outputs against the expectations of their row.

    `spec` is all that `fieldassay.Judge` takes. The expectations are the gold record; `gold` names the one of
    them that holds the whole record, such as `expected_response`. The feedback `extraction` is the score, and
    `extraction_passed` says that all critical values are right. Where nothing is to be judged there is none.

    >>> judge = extraction("fields: {total: money, paid: boolean}")
    >>> for one in judge(outputs={"total": 5.5}, expectations={"total": "5.50", "paid": True}):
    ...     print(one.name, one.value, one.rationale)
    extraction 0.5 paid: the prediction has no value, gold is true
    extraction_passed False paid: the prediction has no value, gold is true
    """
    judge = Judge(spec)

    @scorer(name="extraction")
    def score(outputs: Any, expectations: dict[str, Any]) -> list[Feedback]:
        judgement = judge(expectations if gold is None else expectations[gold], outputs)
        if judgement.score is None:
            return []
        whole = {"extraction": judgement.score, "extraction_passed": judgement.passed}
        return [
            Feedback(name=name, value=value, rationale=judgement.explanation) for name, value in whole.items()
        ]

    return score
