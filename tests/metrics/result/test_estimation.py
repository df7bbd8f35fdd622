"""Estimates and p values of a result."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from tests.evidence_rows import documents, estimate, evidence, value
from scipy.stats import binom

from fieldassay.metrics.catalogue.definitions import select_metrics
from fieldassay.metrics.comparisons.pairwise import can_rank
from fieldassay.metrics.fold import FoldPlan, documents_frame, fold
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.bootstrap import document_keys, weight_table, weights
from fieldassay.reports.content.run.comparisons import count_tested
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.content.run.terminal import render_terminal
from fieldassay.reports.findings.ranking import order_systems
from fieldassay.reports.writers.page import Screen
from fieldassay import score

# Marks and intervals of estimates, and the table of documents


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


# Two systems have one p value in a metric, wherever it stands, and nothing that is said contradicts it

FIELDS = tuple("abcdef")
SPEC = "fields: {" + ", ".join(f"{name}: text" for name in FIELDS) + "}"
WRONG = {
    "seven documents": {
        "model-a": [0] * 7,
        "model-b": [1, 0, 1, 0, 0, 1, 0],
        "model-c": [1, 1, 2, 1, 1, 0, 1],
    },
    "one is the same": {"model-a": [1, 2, 0] * 8, "model-b": [1, 2, 0] * 8, "model-c": [2, 3, 2] * 8},
    "many documents": {
        "model-a": [0, 1, 0] * 12,
        "model-b": [1, 0, 1] * 12,
        "model-c": [3, 2, 3] * 12,
        "model-d": [0, 1, 1] * 12,
    },
}


def _scored(wrong: dict[str, list[int]], **options: object) -> Result:
    gold = [{"id": f"d{at}", **dict.fromkeys(FIELDS, "x")} for at in range(len(next(iter(wrong.values()))))]
    systems = {
        name: [{**row, **dict.fromkeys(FIELDS[:count], "y")} for row, count in zip(gold, counts, strict=True)]
        for name, counts in wrong.items()
    }
    return score(gold, systems, SPEC, bootstrap=50, **options)  # type: ignore[arg-type]


@pytest.fixture(params=WRONG.values(), ids=list(WRONG), scope="module")
def contested(request: pytest.FixtureRequest) -> Result:
    return _scored(request.param)


def test_pairs_of_a_ranking_have_the_p_value_of_their_comparison(contested: Result) -> None:
    ranked = {
        (ranking.metric, frozenset(pair.systems)): pair.p_adjusted
        for ranking in contested.rankings
        for pair in ranking.pairs
    }
    assert len(ranked) == len(contested.rankings) * len(list(combinations(contested.systems, 2))) > 0
    for one in contested.comparisons:
        assert one.p_adjusted == ranked[one.metric, frozenset(one.systems)]


def test_pairs_of_a_ranking_are_guarded_where_their_comparison_is(contested: Result) -> None:
    ranked = {
        (ranking.metric, frozenset(pair.systems)): (pair.is_shown, pair.is_guarded)
        for ranking in contested.rankings
        for pair in ranking.pairs
    }
    for one in contested.comparisons:
        is_shown = one.verdict in ("better", "worse")
        assert ranked[one.metric, frozenset(one.systems)] == (is_shown, one.is_guarded)


def test_no_adjusted_p_value_is_below_the_one_of_the_test_alone(contested: Result) -> None:
    assert all(
        one.p_adjusted >= one.p
        for one in contested.comparisons
        if one.p is not None and one.p_adjusted is not None
    )


def test_places_follow_from_the_verdicts(contested: Result) -> None:
    for ranking in contested.rankings:
        apart = {pair.systems for pair in ranking.pairs if pair.is_shown}
        assert all(pair.p_adjusted <= 0.05 and pair.difference for pair in ranking.pairs if pair.is_shown)
        for place in ranking.places:
            assert place.first == 1 + sum(worse == place.system for _, worse in apart)
            assert place.last == len(ranking.places) - sum(better == place.system for better, _ in apart)
        verdicts = {
            frozenset(one.systems): one.verdict for one in contested.comparisons if one.metric == ranking.metric
        }
        assert all(
            (verdict in ("better", "worse")) == any(set(pair) == names for pair in apart)
            for names, verdict in verdicts.items()
        )


def test_every_report_says_how_many_tests_there_were(contested: Result) -> None:
    tests = len(contested.rankings) * len(list(combinations(contested.systems, 2)))
    assert count_tested(contested.comparisons, contested.rankings) == tests
    assert f"counting that {tests} were looked at" in render_terminal(summarize(contested, None), Screen(160))


def test_the_executive_report_takes_the_same_p_value(contested: Result) -> None:
    found = {name: contested.estimate("accuracy", system=name) for name in contested.systems}
    order = order_systems(contested, found)
    assert order is not None
    of_pair = {frozenset(pair.systems): pair.p_adjusted for pair in contested.rankings[0].pairs}
    assert all(lead.p == of_pair[frozenset((order.first, lead.other))] for lead in order.leads)


def test_metrics_that_agree_in_every_document_count_once() -> None:
    chosen = {name: WRONG["seven documents"][name] for name in ("model-a", "model-c")}
    result = _scored(chosen)
    assert [(one.p, one.p_adjusted) for one in result.comparisons] == [(0.015625, 0.015625)] * 2
    assert not result.rankings
    assert [one.p_adjusted for one in _scored(chosen, correction="holm").comparisons] == [0.03125, 0.03125]


@pytest.mark.parametrize(
    ("systems", "metrics", "is_ranked"),
    [(3, 2, True), (32, 2, True), (32, 1, True), (33, 1, False)],
)
def test_systems_are_ranked_only_where_a_difference_could_be_shown(
    systems: int, metrics: int, is_ranked: bool
) -> None:
    assert can_rank(systems, metrics, 0.95) is is_ranked


def test_a_ranking_that_is_not_made_is_told() -> None:
    result = _scored({f"m{at:02}": [at % 3, 1] for at in range(33)})
    assert not result.rankings and any("33 systems are not ranked" in warning for warning in result.warnings)
