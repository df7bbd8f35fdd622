"""The results of shards: whatever a spec asks for, they come back from disk as they were written."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from fieldassay.metrics.catalogue import list_metrics
from fieldassay.scoring import shard_runs
from fieldassay.scoring.options import ScoreOptions
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
def test_kept_results_are_the_same(
    spec: str, predictions: Any, options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fieldassay.scoring.score._facts", lambda run: {"all": "equal"})
    rows = tmp_path / "rows"
    rows.mkdir()
    folders = {"shards_folder": tmp_path / "kept", "evidence_folder": rows}
    kept = ScoreOptions(**{"replicates": 20, "batch": 40, **options, **folders})
    first = score(GOLD, {"m": predictions}, spec, kept)
    monkeypatch.setattr(shard_runs, "do_work", None)
    second = score(GOLD, {"m": predictions}, spec, kept, resume=True)
    assert len(list((tmp_path / "kept").glob("shard-*"))) == 3
    assert second.estimates == first.estimates and second.counts == first.counts
    assert second.checks == first.checks and second.repeats == first.repeats
    assert second.documents.equals(first.documents) and second.run == first.run


@pytest.mark.parametrize("is_frozen", [False, True], ids=["nothing frozen", "the program froze its objects"])
def test_scoring_leaves_the_garbage_collector_as_it_was(is_frozen: bool) -> None:
    if is_frozen:
        gc.freeze()
    try:
        score(GOLD[:3], {"m": GOLD[:3]}, "fields: {a: integer, b: text}")
        assert gc.isenabled()
        assert (gc.get_freeze_count() > 0) == is_frozen
    finally:
        gc.unfreeze()
