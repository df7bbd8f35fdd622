"""Small runs with confidences, scored for real."""

from typing import Any, Literal

from fieldassay import score
from fieldassay.metrics.result.result import Result

SPEC = (
    "{fieldassay: 1, name: bills, data: {id_key: id}, fields: {total: money, name: text, tags: {type: list, items: "
    "text}}}"
)


def score_rows(
    gold: list[dict[str, Any]],
    pred: list[dict[str, Any]],
    spec: str = SPEC,
    evidence: Literal["all", "errors", "none"] = "all",
    **options: Any,
) -> Result:
    return score(gold, {"llama": pred}, spec, bootstrap=0, evidence=evidence, **options)


def bills(n: int, wrong: int, first: int = 0) -> Result:
    """Return a run of n documents with one value each, confidences falling from 0.99, the last wrong."""
    gold = [{"id": f"d{first + number}", "total": 5} for number in range(n)]
    pred = [
        {
            "id": f"d{first + number}",
            "total": 5 + (number >= n - wrong),
            "confidence": {"total": 0.99 - 0.9 * number / n},
        }
        for number in range(n)
    ]
    return score_rows(
        gold,
        pred,
        "{fieldassay: 1, name: bills, data: {id_key: id}, fields: {total: money}}",
    )
