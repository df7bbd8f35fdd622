"""Packed sums, and documents that were not seen."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.evidence_rows import documents, evidence, value
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from tests.effort import few_examples

from fieldassay.metrics.catalogue.definitions import (
    CATALOGUE,
    Definition,
    Vocabulary,
    bind_metric,
    select_metrics,
)
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.fold import FoldPlan, estimates, fold
from fieldassay.metrics.result.estimation import find_highest
from fieldassay.metrics.statistics.columns import PackedFloats, PackedInts, PackedSum
from fieldassay.metrics.statistics.statistics import LIMIT, Sum
from fieldassay.metrics.uncertainty.bootstrap import unseen_weights
from fieldassay.metrics.uncertainty.power import unseen_reach

# Numbers of documents are held narrow, and come back to the bit

SHARES = st.fractions(0, 1, max_denominator=12).map(float) | st.just(math.nan) | st.sampled_from([0.0, -0.0])
ANY = st.floats(width=64, allow_nan=False) | st.just(math.nan)
UNITS = st.integers(-(2**20), 2**20).map(lambda value: value << 32)
WHOLE = st.integers(-LIMIT, LIMIT)


@given(st.lists(SHARES) | st.lists(ANY))
def test_floats_come_back_to_the_bit(values: list[float]) -> None:
    wide = np.array(values, np.float64)
    found = PackedFloats.pack(wide).unpack()
    assert found.dtype == np.float64
    assert found.tobytes() == wide.tobytes()


@given(st.lists(UNITS) | st.lists(WHOLE) | st.lists(st.integers(-130, 130)))
def test_whole_numbers_come_back(values: list[int]) -> None:
    found = PackedInts.pack(np.array(values, np.int64)).unpack()
    assert found.dtype == np.int64
    assert found.tolist() == values


@given(arrays.arrays(np.int64, st.tuples(st.integers(0, 4), st.integers(0, 9)), elements=WHOLE))
def test_sums_come_back_field_by_field(values: np.ndarray) -> None:
    fields = tuple(f"f{at}" for at in range(len(values)))
    packed = PackedSum.pack(Sum(fields, values))
    found = packed.unpack()
    assert found.fields == fields
    assert found.values.shape == values.shape
    assert (found.values == values).all()
    assert all((packed.row(name) == row).all() for name, row in zip(fields, values, strict=True))
    assert not packed.row("another").any()


HELD = {
    "nothing known": (np.full(9, np.nan), 2),
    "yes and no": (np.array([0.0, 1.0]), 2),
    "thirds": (np.array([1 / 3, 1.0]), 8),
    "milliseconds": (np.array([1234.5, 65_000.25]), 4),
}


@pytest.mark.parametrize(("values", "size"), HELD.values(), ids=HELD)
def test_a_column_takes_the_bytes_that_its_values_need(values: np.ndarray, size: int) -> None:
    assert PackedFloats.pack(values).held.itemsize == size


UNITS_HELD = {
    "counts": ([0, 3], 1),
    "units of a fixed point": ([0, 201 << 32], 2),
    "large": ([0, 2**40 + 1], 8),
}


@pytest.mark.parametrize(("values", "size"), UNITS_HELD.values(), ids=UNITS_HELD)
def test_whole_numbers_take_the_bytes_that_they_need(values: list[int], size: int) -> None:
    assert PackedInts.pack(np.array(values)).held.itemsize == size


# The unseen document: what it adds to, and that one more error never raises a bound

PATHS = ("x", "y", "z")
FIELDS = [value(path, at) for at, path in enumerate(PATHS)]
METRICS = (
    "accuracy",
    "accuracy_strict",
    "accuracy_pooled",
    "accuracy_by_field",
    "precision",
    "f1(granularity=leaf)",
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
