"""Judging in one line, for tests: the rows of a spec, gold and predictions in memory."""

from typing import Any

import polars as pl
import pytest

from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.explain import explain_values
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import score
from fieldassay.spec.plan.compile import read_plan


def problems(spec: Any) -> list[str]:
    """Return what is wrong with a spec that is refused."""
    with pytest.raises(ProblemsError) as caught:
        read_plan(spec)
    return [str(problem) for problem in caught.value.problems]


def result_of(spec: Any, gold: Any, pred: Any, **options: Any) -> Result:
    """Return the result of one system `s`; records without an id get their position as one."""
    return score(with_ids(gold), {"s": with_ids(pred)}, spec, **{"bootstrap": 0, **options})


def score_alone(
    gold: Any, predictions: Any, spec: Any, options: ScoreOptions | None = None, **more: Any
) -> Result:
    """Return the result without intervals, which take a third of the time of a small one."""
    return score(gold, predictions, spec, options, **{"bootstrap": 0, **more})


def rows_of(spec: Any, gold: Any, pred: Any) -> pl.DataFrame:
    """Return the evidence of one document, or of several."""
    gold, pred = ([record] if isinstance(record, dict) else record for record in (gold, pred))
    evidence = result_of(spec, gold, pred).evidence
    assert evidence is not None
    return evidence


def outcome_of(type_name: str, gold: Any, pred: Any) -> str:
    """Return the outcome of one value in a field of a type without options."""
    return explain_values(gold, pred, {"type": type_name})[0].outcome


def leaves_of(spec: Any, gold: Any, pred: Any) -> list[tuple[str, str]]:
    """Return the (path, outcome) of every value row, in order; the path is gold's where it has one."""
    rows = rows_of(spec, gold, pred).filter(pl.col("kind") == "value")
    return [
        (row["gold_path"] or row["pred_path"] or row["field"], row["outcome"])
        for row in rows.iter_rows(named=True)
    ]


def with_ids(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records with an `id` each."""
    return [
        record if "id" in record else {"id": str(position), **record}
        for position, record in enumerate(records)
    ]
