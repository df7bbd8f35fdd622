"""The unseen document: what it adds to, and that one more error never raises a bound."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_rows import documents, evidence, value
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay.metrics.catalogue.definitions import CATALOGUE, Definition, Vocabulary
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.catalogue.selection import bind_metric, select_metrics
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.fold import FoldPlan, estimates, fold
from fieldassay.metrics.statistics.unseen_document import find_highest
from fieldassay.metrics.uncertainty.power import unseen_reach
from fieldassay.metrics.uncertainty.weights import unseen_weights

PATHS = ("x", "y", "z")
FIELDS = [value(path, at) for at, path in enumerate(PATHS)]
METRICS = (
    "accuracy",
    "accuracy_strict",
    "accuracy_pooled",
    "accuracy_by_field",
    "f1",
    "soft_f1",
    "macro_f1",
    "recall",
    "perfect_documents",
    "critical_accuracy",
)


def measure(table: list[list[str]], replicates: int = 800) -> dict[tuple[str, str | None], Estimate]:
    """Return the estimates of documents whose fields have these outcomes (empty: not there)."""
    rows = [
        (f"d{at}", path, outcome)
        for at, row in enumerate(table)
        for path, outcome in zip(PATHS, row, strict=True)
        if outcome
    ]
    judged = evidence(rows, FIELDS, [f"d{at}" for at in range(len(table))])
    plan = FoldPlan(select_metrics(METRICS), replicates=replicates)
    found = estimates(plan, fold(plan, judged, documents(judged.documents)))
    return {(one.metric, one.field): one for one in found}


TABLES = st.lists(
    st.lists(
        st.sampled_from(["match", "match", "match", "partial", "mismatch", "missing", ""]),
        min_size=3,
        max_size=3,
    ),
    min_size=1,
    max_size=12,
)


@few_examples()
@given(TABLES, st.data())
def test_one_more_error_never_raises_a_bound(table: list[list[str]], data: st.DataObject) -> None:
    right = [
        (at, place) for at, row in enumerate(table) for place, outcome in enumerate(row) if outcome == "match"
    ]
    if not right:
        return
    at, place = data.draw(st.sampled_from(right))
    error = data.draw(st.sampled_from(["mismatch", "missing", "partial"]))
    worse = [
        [*row[:place], error, *row[place + 1 :]] if number == at else row for number, row in enumerate(table)
    ]
    before, now = measure(table), measure(worse)
    for key, one in now.items():
        bounds, old = one.interval, before[key].interval
        is_praised = (
            error == "missing" and "precision" in key[0]
        )  # what is left out is not in the denominator
        if bounds is not None and old is not None and not is_praised:
            assert bounds[0] <= old[0] + 1e-12, (key, old, bounds)
            assert bounds[1] <= old[1] + 1e-12, (key, old, bounds)


@settings(max_examples=25)
@given(TABLES)
def test_an_interval_holds_its_value_and_lies_within_the_bounds_of_the_metric(table: list[list[str]]) -> None:
    for key, one in measure(table).items():
        if one.interval is not None:
            assert 0.0 <= one.interval[0] <= one.value <= one.interval[1] <= 1.0, key  # type: ignore[operator]


def test_a_perfect_run_has_no_lower_bound_than_the_same_run_with_an_error() -> None:
    perfect = [["match"] * 3] * 100
    before, now = measure(perfect), measure([["mismatch", "match", "match"], *perfect[1:]])
    bounds = [(before[key].interval, now[key].interval) for key in before if before[key].value is not None]
    assert len(bounds) > len(METRICS)
    assert all(one is not None and more is not None and one[0] >= more[0] for one, more in bounds)


@pytest.mark.parametrize(("n", "level"), [(50, 0.95), (500, 0.95), (200, 0.8)])
def test_documents_without_an_error_leave_room_for_three_bad_ones(n: int, level: float) -> None:
    """The rule of three at 95%; generally - log(1 - level)."""
    unseen = unseen_weights(1, 40_000)
    drawn = (n + np.maximum(unseen, 0.0)) / (n + np.abs(unseen))
    low = float(np.quantile(drawn, (1.0 - level) / 2.0))
    assert n * (1.0 - low) / low == pytest.approx(unseen_reach(1.0 - level), rel=0.05)


HIGHEST = [
    ("accuracy", 1.0),
    ("f1", 1.0),
    ("macro_f1", 1.0),
    ("latency_mean", None),
    ("throughput", None),
    ("cost_usd", None),
    ("mean(column=coverage)", 1.0),
    ("mean(column=score)", 1.0),
    ("mean(column=words_of_a_plugin)", None),
    ("total(column=similarity, granularity=item)", None),
    ("u", 1.0),
    ("v", 1.0),
    ("p", 100.0),
    ("q", 1.0),
    ("r", 100.0),
]


@pytest.mark.parametrize(("metric", "highest"), HIGHEST)
def test_the_largest_value_of_a_metric_follows_from_what_it_is_made_of(
    metric: str, highest: float | None
) -> None:
    own = Vocabulary(
        (
            Definition("p", "100 * document_mean(correct / (correct + wrong))", unit="percent"),
            Definition("q", "document_mean(otherwise(recall, 1) * (1 - documents_missing))"),
            Definition(
                "r", "document_mean((0.7 * recall + 0.3 * otherwise(precision, 0)) * 100)", unit="percent"
            ),
            Definition("u", "total(column=similarity, granularity=item) / (items_matched + items_missing)"),
            Definition("v", "document_mean(u)"),
        )
    )
    vocabulary = own if metric in "pqruv" else CATALOGUE
    assert find_highest(bind_metric(parse_metric(metric), vocabulary).recipe) == highest
