"""Marks and intervals of estimates, and the table of documents."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_rows import documents, estimate, evidence, value
from scipy.stats import binom

from fieldassay.metrics.catalogue.selection import select_metrics
from fieldassay.metrics.fold import FoldPlan, documents_frame, fold
from fieldassay.metrics.uncertainty.weights import document_keys, weight_table, weights


@pytest.mark.parametrize(
    "metric", ["perfect_documents", "accuracy(regime=baseline)", "recall", "f1", "macro_f1"]
)
@pytest.mark.parametrize("n", [1, 3, 50])
def test_perfect_documents_do_not_look_certain(metric: str, n: int) -> None:
    """With many documents up to 3 / n of others could be bad; the documents alone show nothing else than perfection."""
    judged = evidence([(f"d{number}", "x", "match") for number in range(n)], [value("x")])
    found = estimate(metric, judged, replicates=2000)
    assert found.value == 1.0 and found.interval is not None and found.marks == ()
    least = n / (n + 3.0)
    assert found.interval[1] == 1.0 and found.interval[0] < least + 0.01
    assert n < 50 or found.interval[0] > least - 0.01
    assert n > 1 or found.interval[0] == pytest.approx(0.05, abs=0.02)  # Clopper and Pearson, mid-p
    assert found.interval_resampled == (1.0, 1.0)


@pytest.mark.parametrize(("n", "wrong"), [(10, 3), (10, 1), (50, 3), (3, 3), (120, 1), (120, 60)])
def test_right_and_wrong_documents_have_the_bounds_of_clopper_and_pearson_by_mid_p_values(
    n: int, wrong: int
) -> None:
    """Three wrong of ten cannot be a perfect system: the upper bound is .917, and 1.000 under Poisson weights."""
    judged = evidence(
        [(f"d{at}", "x", "mismatch" if at < wrong else "match") for at in range(n)], [value("x")]
    )
    found = estimate("accuracy", judged, replicates=8000)
    share = np.linspace(0.0, 1.0, 20_001)
    below = (binom.cdf(n - wrong, n, share) + binom.cdf(n - wrong - 1, n, share)) / 2
    held = share[(below >= 0.025) & (below <= 0.975)]
    assert found.interval == pytest.approx((held[0], held[-1]), abs=0.012 if n < 100 else 0.006)


def test_undefined_replicates_are_counted_where_no_unseen_document_can_define_them() -> None:
    names = ["a", "b", "c"]
    judged = evidence([(name, "x", "match") for name in names], [value("x")])
    table = documents(names, {"duration_ms": [np.nan, np.nan, 5.0]})
    found = estimate("latency_mean", judged, table, replicates=1000)
    dropped = np.count_nonzero(weights(document_keys(["c"], 0), 0, 1000, weight_table()) == 0)
    assert found.marks == ("few_documents", f"undefined_replicates={dropped}")


def test_the_interval_of_a_percentile_comes_from_order_statistics() -> None:
    names = [f"d{number}" for number in range(100)]
    judged = evidence([(name, "x", "match") for name in names], [value("x")])
    table = documents(names, {"duration_ms": [float(number + 1) for number in range(100)]})
    found = estimate("latency_p50", judged, table, replicates=10)
    assert (found.value, found.interval, found.marks) == (50.5, (40.0, 61.0), ("order_statistics",))
    assert estimate("latency_max", judged, table, replicates=10).interval is None


def test_documents_frame_has_one_row_per_document_sorted_with_its_values() -> None:
    plan = FoldPlan(select_metrics(["accuracy(regime=baseline)", "critical_accuracy"]), (), 0)
    rows = [
        ("b", "x", "match"),
        ("b", "y", "mismatch"),
        ("a", "x", "match"),
        ("a", "y", "absent"),
        ("c", "x", "absent"),
        ("c", "y", "absent"),
    ]
    judged = evidence(rows, [value("x", 0, critical=True), value("y", 1)])
    table = documents(
        judged.documents,
        {"cost_usd": [1.0, np.nan, 2.0]},
        groups={"type": [["k"], [], ["k"]], "tag": [["p", "q"], [], []]},
    )
    frame = documents_frame([fold(plan, judged, table)])
    assert frame.columns[:6] == [
        "system",
        "doc",
        "score",
        "accuracy",
        "accuracy_strict",
        "accuracy(regime=baseline)",
    ]
    wanted = {
        "doc": ["a", "b", "c"],
        "score": [1.0, 0.5, 1.0],
        "accuracy": [1.0, 0.5, None],
        "critical_accuracy": [1.0, 1.0, None],
        "leaves": [1.0, 2.0, 0.0],
        "matches": [1.0, 1.0, 0.0],
        "perfect": [1.0, 0.0, None],
        "cost_usd": [None, 1.0, 2.0],
        "has_prediction": [True, True, True],
        "type": [None, "k", "k"],
        "tag": [[], ["p", "q"], []],
    }
    assert {name: frame[name].to_list() for name in wanted} == wanted
    assert documents_frame([]).height == 0
