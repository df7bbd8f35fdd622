"""A scorer of MLflow's `genai.evaluate`, and a result as metrics and report of the active run."""

from typing import Any

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from fieldassay.commands.judge import Judge
from fieldassay.commands.runs import report
from fieldassay.metrics.result.result import Result, metrics_json


def extraction(spec: Any = None, gold: str | None = None) -> Scorer:
    """Return a scorer of outputs against the expectations of their row.

    `spec` is all that `fieldassay.Judge` takes. The expectations are the gold record; `gold` names the one of
    them that holds the whole record, such as `expected_response`. The feedback `extraction` is the score, and
    `extraction_passed` says that all critical values are right. Where nothing is to be judged there is none.

    >>> judge = extraction("fields: {total: money, paid: boolean}")
    >>> for feedback in judge(outputs={"total": 5.5}, expectations={"total": "5.50", "paid": True}):
    ...     print(feedback.name, feedback.value, feedback.rationale)
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


def log_result(result: Result, artifact: str = "fieldassay") -> None:
    """Log a result to the active run: its estimates as metrics, its reports and numbers as artifacts.

    A metric is called `accuracy`, of a field `field_accuracy/total`; of several systems, the name of the
    system stands in front. Estimates without a value, and those of slices, are in `metrics.json` alone.
    """
    metrics = {}
    for estimate in result.estimates:
        parts = (estimate.system if len(result.systems) > 1 else "", estimate.metric, estimate.field or "")
        if estimate.value is not None and not estimate.slice:
            name = "/".join(filter(None, parts))
            metrics["".join(char if char.isalnum() or char in "_./ -" else "_" for char in name)] = (
                estimate.value
            )
    mlflow.log_metrics(metrics)
    mlflow.log_text(report(result, "html"), f"{artifact}/report.html")
    mlflow.log_text(metrics_json(result).decode(), f"{artifact}/metrics.json")
