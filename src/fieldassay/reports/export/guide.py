"""A result in the shape of the business documents guide: per field, per image, best and worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.io.json_value import read_given
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.result import POOLED, Result, find_main, find_named, list_fields
from fieldassay.public import public
from fieldassay.reports.findings.losses import JUDGED

if TYPE_CHECKING:
    import polars as pl

MOST_FIELDS = 5
"""How many of the best and of the worst fields are listed."""


@public
def guide_result(result: Result, system: str | None = None) -> dict[str, Any]:
    """Return one system's result as the guide's programmatic evaluation does; any spec will do.

    `overall_accuracy` is the main metric (the spec's score, else the accuracy); `overall_correct` and
    `overall_total` are numerator and denominator of the pooled one: the sum of scores, and the number of
    values; `scores` has every metric of the run. Without `field_accuracy` no field is listed. Each field has
    `accuracy`, `correct` (a sum of scores) and `total`; each image its accuracy and its fields. A missing
    value is None, and so is an undefined figure. `best_fields` and `worst_fields` pair names and figures.

    Raises `ProblemsError` if the system is ambiguous, or if the result kept no evidence or not all of it.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"image_file": "a.png", "SUPPLIER_NAME": "Liberty Oil", "TOTAL_AMOUNT": "$94.87"}]
    >>> pred = [{"image_file": "a.png", "SUPPLIER_NAME": "Liberty Oil Ltd", "TOTAL_AMOUNT": "$94.87"}]
    >>> found = guide_result(score(gold, pred, {"protocol": "business-documents"}))
    >>> round(found["overall_accuracy"], 6), found["images_evaluated"], found["best_performing_image"]
    (0.95, 1, 'a.png')
    >>> found["detailed_results"][0]["fields"]["SUPPLIER_NAME"]
    {'extracted': 'Liberty Oil Ltd', 'ground_truth': 'Liberty Oil', 'correct': True, 'accuracy_score': 0.9}
    """
    name = _choose_system(result, system)
    evidence, documents = result.evidence, result.documents
    if evidence is None or documents is None:
        raise _refusal("the result kept no evidence", "score with `evidence` set to all")
    main = find_main(result)
    overall = None if main is None else find_named(result, name, (main.metric,))
    pooled, fields = find_named(result, name, POOLED), list_fields(result, name)
    table = {
        field: {"accuracy": estimate.value, "correct": _numerator(estimate), "total": estimate.n}
        for field, estimate in fields.items()
    }
    own = documents.filter(documents["system"] == name)
    judged = evidence["outcome"].is_in(JUDGED) & (evidence["kind"] == "value")
    values = evidence.filter(judged & (evidence["system"] == name))
    perfect = find_named(result, name, ("perfect_documents",))
    return {
        "overall_accuracy": None if overall is None else overall.value,
        "overall_correct": float(values["score"].sum()) if pooled is None else _numerator(pooled),
        "overall_total": len(values) if pooled is None else pooled.n,
        "field_accuracies": table,
        "detailed_results": _images(
            own, judge_rows(evidence.lazy(), name, with_silence=counts_silence(result))
        ),
        "images_evaluated": len(own),
        "perfect_documents": _count_perfect(perfect, own),
        **_extremes(own),
        "summary_stats": _summary(table),
        "scores": _scores(result, name),
    }


def _scores(result: Result, system: str) -> dict[str, float | None]:
    """Return the system's value of each metric of the run over all documents and fields, as it is written."""
    found = {text: result.select(parse_metric(text)) for text in result.run.get("metrics", ())}
    return {
        text: one.value
        for text, estimates in found.items()
        for one in estimates
        if (one.system, one.field, one.slice) == (system, None, {})
    }


def _choose_system(result: Result, system: str | None) -> str:
    systems = result.systems
    if system is None and len(systems) == 1:
        return systems[0]
    if system in systems:
        return str(system)
    if system is None:
        raise _refusal("the result has several systems", f"name one of: {', '.join(systems)}")
    raise problem("guide", f"no system {system[:100]!r}", nearest(system[:100], systems), "unknown_name")


def _refusal(what: str, remedy: str) -> ProblemsError:
    return problem("guide", what, remedy, "missing_part")


def _numerator(estimate: Estimate) -> float | None:
    return None if estimate.value is None else estimate.value * estimate.n


def _count_perfect(estimate: Estimate | None, documents: pl.DataFrame) -> int:
    """Return the spec's own count, else the number of documents without errors."""
    if estimate is not None and estimate.unit == "count" and estimate.value is not None:
        return int(estimate.value)
    return int(documents["perfect"].fill_null(0.0).sum())


def judge_rows(evidence: pl.LazyFrame, system: str | None, *, with_silence: bool) -> pl.LazyFrame:
    """Return the judged values, of one system or of all: `correct`, and its `score` (None: failed).

    `field` is the path of the value. With `with_silence` a value that neither side has is one too: correct,
    with the score 1.
    """
    import polars as pl

    outcome = pl.col("outcome")
    chosen = pl.col("kind") == "value"
    chosen &= pl.lit(value=True) if system is None else pl.col("system") == system
    chosen &= pl.lit(value=True) if with_silence else outcome != "absent"
    score = pl.when(outcome == "absent").then(1.0).when(outcome != "failed").then(pl.col("score"))
    return evidence.filter(chosen).with_columns(
        field=pl.coalesce("gold_path", "pred_path", "field"),
        correct=outcome.is_in(["absent", "match"]),
        score=score,
    )


def counts_silence(result: Result) -> bool:
    """Return whether the result's main metric counts values that neither side has."""
    main = find_main(result)
    return main is not None and main.regime == "baseline"


def _images(documents: pl.DataFrame, judged: pl.LazyFrame) -> list[dict[str, Any]]:
    fields: dict[str, dict[str, Any]] = {name: {} for name in documents["doc"]}
    for row in judged.select("doc", "field", "pred", "gold", "correct", "score").collect().iter_rows():
        name, field, pred, gold, correct, score = row
        fields.setdefault(name, {})[field] = {
            "extracted": read_given(pred),
            "ground_truth": read_given(gold),
            "correct": correct,
            "accuracy_score": score,
        }
    scores = dict(zip(documents["doc"], documents["score"], strict=True))
    return [
        {"image_name": name, "overall_accuracy": scores.get(name), "fields": found}
        for name, found in fields.items()
    ]


def _extremes(documents: pl.DataFrame) -> dict[str, Any]:
    """Return the first of the best and the first of the worst documents, with their scores."""
    scored = [
        (name, score)
        for name, score in zip(documents["doc"], documents["score"], strict=True)
        if score is not None
    ]
    best = max(scored, key=lambda pair: pair[1], default=(None, None))
    worst = min(scored, key=lambda pair: pair[1], default=(None, None))
    return {
        "best_performing_image": best[0],
        "best_performance_accuracy": best[1],
        "worst_performing_image": worst[0],
        "worst_performance_accuracy": worst[1],
    }


def _summary(table: dict[str, dict[str, Any]]) -> dict[str, Any]:
    known = [(name, figures) for name, figures in table.items() if figures["accuracy"] is not None]
    ordered = sorted(known, key=lambda pair: -pair[1]["accuracy"])
    worst = sorted(known, key=lambda pair: pair[1]["accuracy"])
    return {
        "best_fields": ordered[:MOST_FIELDS],
        "worst_fields": worst[:MOST_FIELDS],
        "avg_field_accuracy": sum(figures["accuracy"] for _, figures in known) / len(known)
        if known
        else None,
    }
