"""The results of shards: whatever a spec asks for, they come back from another process as they were."""

from __future__ import annotations

import gc
import pickle
from typing import Any

import pytest

from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

GOLD = [
    {
        "id": str(at),
        "a": at,
        "b": f"t{at % 7}",
        "lines": [{"x": at}, {"x": 2}],
        "tags": ["even"] if at % 2 else [],
    }
    for at in range(450)
]
PRED = [
    {
        "id": row["id"],
        "data": {**row, "a": row["a"] + (row["a"] % 5 == 0), "b": None},
        "confidence": {"a": 0.5, "b": 0.75},
        "usage": {"input_tokens": 5, "output_tokens": 7},
        "timing": {"duration_ms": 12.5 * row["a"]},
    }
    for row in GOLD
]


def able_metrics() -> tuple[str, ...]:
    """Return the metrics of the catalogue without a parameter that must be given."""
    needy = (
        "mean",
        "percentile",
        "total",
        "share_at_least",
        "value_pass_at",
        "value_pass_hat",
        "pass_at",
        "pass_hat",
    )
    return tuple(name for name in list_metrics() if name not in needy)


@pytest.mark.parametrize(
    ("spec", "predictions", "options"),
    [
        pytest.param("fields: {a: integer, b: text}", PRED, {"metrics": able_metrics()}, id="all metrics"),
        pytest.param("fields: {a: integer, b: text}", [PRED, PRED[:9] + PRED[10:]], {}, id="repeated runs"),
        pytest.param(
            "{fields: {a: integer, lines: {items: {fields: {x: integer}}}}, checks: {a: {range: {most: 300}}}}",
            PRED,
            {"slices": ("tags",), "keeps_statistics": True},
            id="checks, slices, statistics",
        ),
        pytest.param(
            "{fields: {a: integer, b: text}, definitions: {quality: 0.5 * accuracy + 0.5 * f1}, metrics: [quality, f1]}",
            PRED,
            {},
            id="own metrics",
        ),
        pytest.param(
            "{fields: {b: text}, metrics: [accuracy, latency_p95]}", PRED, {"replicates": 0}, id="quantiles"
        ),
    ],
)
def test_results_that_travelled_are_the_same(
    spec: str, predictions: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work and results are pickled on their way to a worker and back."""
    given = ScoreOptions(**{"replicates": 20, "batch": 40, **options})
    here, travelled = score(GOLD, {"m": predictions}, spec, given), []

    def run_here(function: Any, works: Any, workers: int) -> Any:
        for work in works:
            travelled.append(work.number)
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(work)))))

    monkeypatch.setattr("fieldassay.io.workers.pool.run_pool", run_here)
    apart = score(GOLD, {"m": predictions}, spec, given, workers=2)
    assert travelled == [0, 1, 2]
    assert apart.estimates == here.estimates and apart.counts == here.counts
    assert apart.checks == here.checks and apart.repeats == here.repeats
    assert apart.documents.equals(here.documents) and apart.run == here.run


def test_scoring_leaves_the_garbage_collector_as_it_was() -> None:
    gc.freeze()
    frozen = gc.get_freeze_count()
    score(GOLD[:3], {"m": GOLD[:3]}, "fields: {a: integer, b: text}")
    assert gc.isenabled()
    assert 0.9 * frozen < gc.get_freeze_count() <= frozen
