"""Repeated runs of one system: the document stays the unit, whatever the number of runs."""

import random
from collections.abc import Mapping
from functools import cache
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fieldassay.errors import ProblemsError
from fieldassay.scoring.score import score

# Repeated runs of one system: the document stays the unit, whatever the number of runs.

SPEC = "fields: {total: number, name: text, items: {type: list, items: {type: object, fields: {sku: id, amount: number}}}}"
GOLD = [
    {
        "id": f"d{at}",
        "total": at,
        "name": f"n{at}",
        "items": [{"sku": f"s{at}", "amount": at}, {"sku": "t", "amount": 1}],
    }
    for at in range(30)
]


def make_run(seed):
    draw, run = random.Random(seed), []
    for gold in GOLD:
        record = dict(gold)
        if draw.random() < 0.2:
            record["total"] = record["total"] + draw.choice([1, 2])
        if draw.random() < 0.1:
            record["items"] = record["items"][:1]
        if draw.random() < 0.05:
            continue
        run.append({**record, "timing": {"duration_ms": draw.randrange(100, 900)}})
    return run


RUNS = [make_run(seed) for seed in range(5)]
FEW: Mapping[str, Any] = {"bootstrap": 200}


def yes_no(outcomes):
    """Return gold and runs with one value a document: rows of documents, columns of runs, 1 for right."""
    rows = outcomes.split()
    gold = [{"id": f"d{at}", "total": 1} for at in range(len(rows))]
    return gold, [
        [{"id": f"d{at}", "total": int(row[run])} for at, row in enumerate(rows)]
        for run in range(len(rows[0]))
    ]


def numbers(result):
    """Return the numbers of estimates; quantiles are left out, which interpolate between more answers."""
    return [
        (one.metric, one.field, one.value, one.interval, one.documents)
        for one in result.estimates
        if not one.metric.startswith("latency_p")
    ]


@pytest.mark.parametrize("copies", [2, 4])
def test_copies_of_a_run_have_the_values_and_intervals_of_that_run(copies):
    single = score(GOLD, {"a": RUNS[0]}, SPEC, **FEW)
    copied = score(GOLD, {"a": [RUNS[0]] * copies}, SPEC, **FEW)
    for found, wanted in zip(numbers(copied), numbers(single), strict=False):
        assert (found[:3], found[4]) == (wanted[:3], wanted[4])
        assert found[3] == (wanted[3] and pytest.approx(wanted[3], abs=1e-8))  # weights are sixteenths


@pytest.mark.parametrize("copies", [3, 5])
def test_copies_of_two_runs_compare_as_the_runs_do(copies):
    metrics = ("accuracy", "f1", "accuracy_by_field", "perfect_documents", "items_missing", "latency_mean")
    single = score(GOLD, {"a": RUNS[0], "b": RUNS[1]}, SPEC, compare=metrics, **FEW)
    copied = score(GOLD, {"a": [RUNS[0]] * copies, "b": [RUNS[1]] * copies}, SPEC, compare=metrics, **FEW)
    assert copied.comparisons == single.comparisons


def test_the_value_is_the_mean_over_runs_and_the_documents_are_counted_once():
    metrics = ("accuracy", "perfect_documents", "items_missing", "documents_missing", "recall")
    singles = [score(GOLD, {"a": run}, SPEC, bootstrap=0, metrics=metrics) for run in RUNS]
    repeated = score(GOLD, {"a": RUNS}, SPEC, bootstrap=0, metrics=metrics)
    for metric in metrics:
        mean = sum(float(one.value(metric) or 0) for one in singles) / len(RUNS)
        assert repeated.value(metric) == pytest.approx(mean, abs=1e-9), metric
    assert repeated.estimate("accuracy").documents == len(GOLD)
    assert repeated.estimate("accuracy").n == len(GOLD) * len(RUNS)
    assert repeated.counts["systems"]["a"]["repeats"] == 5
    assert repeated.counts["systems"]["a"]["missing"] == sum(len(GOLD) - len(run) for run in RUNS)


@cache
def of_three_systems(**options):
    systems = {"a": RUNS, "b": RUNS[1:3], "c": RUNS[3]}
    return score(GOLD, systems, SPEC, evidence="none", **FEW, **options)


@pytest.mark.parametrize(("batch", "workers"), [(7, 1), (1, 1), (2000, 2)])
def test_any_partition_gives_the_same_numbers(batch, workers):
    whole, parts = of_three_systems(), of_three_systems(batch=batch, workers=workers)
    assert (parts.estimates, parts.repeats, parts.comparisons) == (
        whole.estimates,
        whole.repeats,
        whole.comparisons,
    )


HAND = "1110 1100 1111 0000"  # right in 3, 2, 4 and 0 of 4 runs


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("pass_hat(k=1)", 9 / 16),
        ("pass_hat(k=2)", (3 / 6 + 1 / 6 + 1 + 0) / 4),
        ("pass_hat(k=3)", (1 / 4 + 0 + 1 + 0) / 4),
        ("pass_hat(k=4)", 1 / 4),
        ("pass_hat", 1 / 4),
        ("pass_at(k=1)", 9 / 16),
        ("pass_at(k=2)", (1 + 5 / 6 + 1 + 0) / 4),
        ("pass_at(k=4)", 3 / 4),
        ("value_pass_hat(k=2)", (3 / 6 + 1 / 6 + 1 + 0) / 4),
        ("value_pass_at(k=2)", (1 + 5 / 6 + 1 + 0) / 4),
        ("majority_accuracy", (1 + 0.5 + 1 + 0) / 4),
        ("majority_ties", 1 / 4),
        ("flaky_values", 2 / 4),
        ("perfect_documents", 9 / 16),
    ],
)
def test_formulas_worked_by_hand(metric, expected):
    gold, runs = yes_no(HAND)
    result = score(
        gold, {"a": runs}, "fields: {total: number}", metrics=("accuracy", "perfect_documents", metric)
    )
    assert result.value(metric) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(2, 5).flatmap(
        lambda runs: st.lists(st.text("01", min_size=runs, max_size=runs), min_size=1, max_size=6)
    )
)
def test_pass_hat_falls_and_pass_at_rises_with_k_from_the_accuracy(rows):
    gold, runs = yes_no(" ".join(rows))
    result = score(gold, {"a": runs}, "fields: {total: number}", bootstrap=0)
    for prefix in ("", "value_"):
        hat, at = (
            [float(result.value(f"{prefix}{name}(k={k})") or 0) for k in range(1, len(runs) + 1)]
            for name in ("pass_hat", "pass_at")
        )
        assert hat[0] == at[0] == pytest.approx(result.value("accuracy"), abs=1e-9)
        assert hat == sorted(hat, reverse=True)
        assert at == sorted(at)
        exact = [
            sum(comb(row.count("1"), k) for row in rows) / comb(len(runs), k) / len(rows)
            for k in range(1, len(runs) + 1)
        ]
        assert hat == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("answers", "majority", "vote"),
    [
        (["100", "103", "103.5"], 0, "wrong"),  # 103 and 103.5 are one answer, within 1 of each other
        (["100", "100.5", "103"], 1, "right"),
        (["103", "105", "107"], 0, "tied"),
        (["100", "105", "100.9", "105.2"], 0.5, "tied"),
        (["100", None, None], 0, "wrong"),
        (["100", "ten", "ten"], 0, "wrong"),
    ],
)
def test_answers_are_counted_together_by_the_equality_of_the_spec(answers, majority, vote):
    runs = [[{"id": "d", "total": answer}] for answer in answers]
    spec = {"fields": {"total": {"type": "number", "tolerance": {"absolute": 1}}}}
    result = score([{"id": "d", "total": 100}], {"a": runs}, spec, bootstrap=0)
    assert result.value("majority_accuracy") == majority
    assert [one.vote for one in result.repeats[0].flaky] == [vote]


def test_flaky_values_are_listed_with_their_answers_and_the_most_divided_first():
    gold = [{"id": "d", "name": "Acme", "total": 5, "date": "x"}]
    runs = [
        [{"id": "d", "name": name, "total": total, "date": "x"}]
        for name, total in (("Acme", 5), ("Acne", 5), ("Acme", 6), (None, 5))
    ]
    [found] = score(gold, {"a": runs}, "fields: {name: text, total: number, date: text}", bootstrap=0).repeats
    assert [(one.path, one.right) for one in found.flaky] == [("name", 2), ("total", 3)]
    told = [[(each.answer, each.runs, each.is_right) for each in one.answers or ()] for one in found.flaky]
    assert told == [
        [('"Acme"', 2, True), ('"Acne"', 1, False), (None, 1, False)],
        [("5", 3, True), ("6", 1, False)],
    ]


def test_a_metric_of_runs_is_undefined_for_a_single_run():
    assert score(GOLD, {"a": RUNS[0]}, SPEC, metrics=("pass_hat(k=2)",), **FEW).value("pass_hat(k=2)") is None


def test_more_draws_than_runs_are_undefined():
    result = score(GOLD, {"a": RUNS[:2]}, SPEC, metrics=("accuracy", "pass_hat(k=3)"), **FEW)
    assert result.value("pass_hat(k=3)") is None
    assert result.value("pass_hat(k=2)") is not None


@pytest.mark.parametrize("k", ["0", "1.5", "-1"])
def test_draws_are_whole_numbers_of_runs(k):
    with pytest.raises(ProblemsError, match="expected a whole number of runs"):
        score(GOLD, {"a": RUNS[:2]}, SPEC, metrics=(f"pass_at(k={k})",), **FEW)


def test_all_problems_of_all_runs_are_reported(tmp_path):
    with pytest.raises(ProblemsError) as caught:
        score(GOLD, {"a": [tmp_path / "x.jsonl", RUNS[0], tmp_path / "y.jsonl"]}, SPEC)
    assert [name in str(caught.value) for name in ("x.jsonl", "y.jsonl")] == [True, True]


# Intervals of systems with repeated runs hold the value of all documents and runs, by simulation.
