"""Shards and their results."""

from __future__ import annotations

import gc
import pickle
from random import Random
from typing import Any

import polars as pl
import pytest
from tests.judging import result_of

from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.result.result import Result
from fieldassay.scoring.engine import lists
from fieldassay.scoring.score import score

# The results of shards: whatever a spec asks for, they come back from another process as they were

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
            "{fields: {b: text}, metrics: [accuracy, latency_p95]}", PRED, {"bootstrap": 0}, id="quantiles"
        ),
    ],
)
def test_results_that_travelled_are_the_same(
    spec: str, predictions: Any, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work and results are pickled on their way to a worker and back."""
    given = {**{"bootstrap": 20, "batch": 40, **options}}
    here, travelled = score(GOLD, {"m": predictions}, spec, **given), []

    def run_here(function: Any, works: Any, workers: int) -> Any:
        for work in works:
            travelled.append(work.number)
            yield pickle.loads(pickle.dumps(function(pickle.loads(pickle.dumps(work)))))

    monkeypatch.setattr("fieldassay.io.workers.pool.run_pool", run_here)
    apart = score(GOLD, {"m": predictions}, spec, **given, workers=2)
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


# Lists with too many pairs of items: what is equal is paired first, and what is left decides about failing

_ITEM = {"fields": {"k": "id", "a": "number"}}
SPECS: dict[str, dict[str, Any]] = {
    "values": {"items": "id"},
    "values in order": {"items": "id", "align": "sequence"},
    "objects": {"items": _ITEM},
    "objects in order": {"items": _ITEM, "align": "sequence"},
    "keys": {"items": _ITEM, "align": {"key": "k"}},
    "keys that may differ": {
        "items": {"fields": {"k": {"type": "text", "compare": "indel"}, "a": "number"}},
        "align": {"key": {"fields": "k", "min_similarity": 0.9}},
    },
}


def judged(listed: dict[str, Any], gold: list[Any], pred: list[Any]) -> Result:
    spec = {"fields": {"x": {"type": "list", **listed}, "y": "text"}}
    other = {"id": "other", "y": "1"}
    return result_of(spec, [{"id": "long", "x": gold}, other], [{"id": "long", "x": pred}, other])


def totals(spec: dict[str, Any], records: list[tuple[list[Any], list[Any]]]) -> dict[str, Any]:
    """Return the outcomes of the values and the similarity of the pairs, by document; None for a failed one."""
    sides = ([{"x": record[side]} for record in records] for side in (0, 1))
    rows = result_of({"fields": {"x": {"type": "list", **spec}}}, *sides).evidence
    assert rows is not None
    found = rows.group_by("doc").agg(
        pl.col("outcome").filter(pl.col("kind") == "value").sort(),
        *(pl.col(name).sum().round(6) for name in rows.columns if name == "similarity"),
    )
    # Objects that agree in part have several pairings with one total: an equal one, or two in part.
    has_ties = spec is SPECS["objects"]
    return {
        doc: None if "failed" in outcomes else (outcomes.count("match") if has_ties else outcomes, more)
        for doc, outcomes, *more in found.rows()
    }


def drawn_item(draw: Random, spec: dict[str, Any]) -> Any:
    return (
        {"k": str(draw.randint(1, 9)), "a": draw.randint(1, 2)}
        if "fields" in spec["items"]
        else draw.choice("abcdef")
    )


@pytest.mark.parametrize("name", SPECS)
def test_long_lists_are_judged_as_short_ones_are(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    draw, records = Random(name), []
    for _ in range(200):
        gold, other = ([drawn_item(draw, SPECS[name]) for _ in range(draw.randint(2, 7))] for _ in range(2))
        records.append(
            (gold, draw.choice([other, gold[::-1], [*gold[1:], *other[:2]], [*gold[:-1], other[0]]]))
        )
    whole = totals(SPECS[name], records)
    monkeypatch.setattr(lists, "MOST_PAIRS", 8)
    split = {doc: found for doc, found in totals(SPECS[name], records).items() if found is not None}
    assert split == {doc: whole[doc] for doc in split}
    assert len(split) > 50


@pytest.mark.parametrize("name", ["values", "objects", "keys"])
def test_20_000_equal_items_are_paired(name: str) -> None:
    gold: list[Any] = [str(at) for at in range(20_000)]
    if name != "values":
        gold = [{"k": at, "a": int(at) % 50} for at in gold]
    pred = [*gold[:-2], gold[-1] if name == "values" else {"k": "1x", "a": 7}][::-1]
    result = judged(SPECS[name], gold, pred)
    assert result.counts["systems"]["s"]["classes"]["scored"] == 2
    assert result.value("recall") > 0.999


def test_a_list_with_too_much_left_fails_alone_and_says_why() -> None:
    gold = [{"k": str(at), "a": 1} for at in range(6_000)]
    pred = [{"k": f"x{at}", "a": at} for at in range(2, 6_002)]
    result = judged(SPECS["objects"], gold, pred)
    assert result.counts["systems"]["s"]["classes"] | {"attempted": 0} == {
        **dict.fromkeys(("attempted", "missing", "invalid", "error", "timeout"), 0),
        "scored": 1,
        "failed": 1,
    }
    assert result.value("accuracy") == 1
    assert result.evidence is not None
    assert set(result.evidence.filter(pl.col("doc") == "long", pl.col("field") != "y")["reason"]) == {
        "too_many_items"
    }
    (warning,) = result.warnings
    assert "document 'long' of s: x is not judged: 6,000 gold items and 6,000 predicted items" in warning
    keyed = judged(
        {
            "items": {"fields": {"k": {"type": "text", "compare": "indel"}, "a": "number"}},
            "align": {"key": "a"},
        },
        gold,
        [{"k": "y", "a": 1}] * 6_000,
    )
    assert "similarity" not in str(keyed.warnings)
    assert "too many to pair by a, since 6,000 and 6,000 are left when equal keys are paired first" in str(
        keyed.warnings
    )
