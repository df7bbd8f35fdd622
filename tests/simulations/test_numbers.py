"""Promises of numbers, tried many times."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from columns import compare
from means import OTHERS, TIMES, measure_means, measure_others
from measures import (
    COVERED,
    DIFFERENCES,
    EQUAL,
    LARGE_LOST,
    LEVEL,
    NULLS,
    SHARED,
    measure_coverage,
    measure_differences,
    measure_families,
    measure_nulls,
    measure_rankings,
    measure_regressions,
)
from numpy import full, random
from rates import Rate, count
from tests.decisions.gates.test_regression import FAIL, SPEC_OF_TWELVE, TWELVE, Bench, gold, run_of, spoil
from tests.effort import is_full, trials
from verdicts import (
    RARE,
    measure_found,
    measure_gates,
    measure_margins,
    measure_more_systems,
    measure_times,
    measure_unlike,
    measure_verdicts,
)
from worlds import Drawn, Extractor, World, simulate

from fieldassay.metrics.result.result import Result
from fieldassay.metrics.result.verdicts import Comparison
from fieldassay.metrics.uncertainty.bootstrap import document_keys, draw_sums
from fieldassay.scoring.score import score

# Intervals have about their nominal coverage where the fields of a document depend on each other

TRIALS = trials(150)


@pytest.mark.parametrize("name", [name for name in COVERED if name != LARGE_LOST])
def test_an_interval_holds_the_true_value_as_often_as_its_level_says(name: str) -> None:
    for rate in measure_coverage(TRIALS, 11, (10, 50), (name,)):
        assert rate.is_kept, rate


@pytest.mark.parametrize("name", DIFFERENCES)
def test_an_interval_of_a_difference_holds_the_true_one_as_often_as_its_level_says(name: str) -> None:
    for rate in measure_differences(trials(100), 12, (50, 100), (name,)):
        assert rate.is_kept, rate


@pytest.mark.parametrize("name", TIMES)
def test_means_of_times_hold_the_truth_where_that_is_promised(name: str) -> None:
    for rate in measure_means(trials(500), 6, (10, 20, 30), (name,)):
        assert rate.is_kept, rate


@pytest.mark.parametrize("name", OTHERS)
def test_intervals_hold_the_truth_in_worlds_of_others(name: str) -> None:
    for rate in measure_others(trials(500), 6, (10, 50), (name,)):
        assert rate.is_kept, rate


def test_a_wider_level_holds_it_more_often_and_a_narrower_one_less() -> None:
    world, shares = World({"a": SHARED}, documents=60, hard=0.06), []
    for level in (0.5, 0.8, 0.99):
        held = [
            one.interval is not None and one.interval[0] <= world.expect("accuracy", "a") <= one.interval[1]
            for one in simulate(world, trials(100, 10), 13, ("accuracy",), level=level).estimates(
                "accuracy", "a"
            )
        ]
        shares.append(count("levels", f"{level}", held, level - 0.06, level + 0.04))
        assert shares[-1].is_kept, shares[-1]
    assert shares[0].share < shares[1].share < shares[2].share


def test_an_interval_that_takes_fields_for_independent_holds_it_too_rarely() -> None:
    """What shows that the simulation can tell."""
    world = World({"a": SHARED}, documents=100, hard=0.06)
    truth, held = world.expect("accuracy_pooled", "a"), []
    for one in simulate(world, trials(150, 10), 11, ("accuracy_pooled",), bootstrap=0).estimates(
        "accuracy_pooled", "a"
    ):
        half = 1.96 * (one.value * (1 - one.value) / one.n) ** 0.5
        held.append(abs(one.value - truth) <= half)
    rate = count("fields", "naive", held, least=0.92)
    assert not rate.is_kept, rate


@pytest.mark.parametrize(
    ("happened", "least", "most", "is_kept"),
    [
        pytest.param(95, 0.9, 0.975, True, id="near"),
        pytest.param(80, 0.95, 1.0, False, id="too rare"),
        pytest.param(88, 0.95, 1.0, True, id="a little rare"),
        pytest.param(16, 0.0, 0.05, False, id="too often"),
        pytest.param(9, 0.0, 0.05, True, id="a little often"),
        pytest.param(0, 0.0, 0.05, True, id="never, and that is well"),
        pytest.param(100, 0.0, 1.0, True, id="nothing promised"),
    ],
)
def test_a_promise_is_broken_only_where_chance_is_no_excuse(
    happened: int, least: float, most: float, is_kept: bool
) -> None:
    assert Rate("", "", happened, 100, least, most).is_kept is is_kept


# Intervals of the protocols' own means have about their nominal coverage where whole pages are lost

PROTOCOL_INTERVALS_TRIALS = trials(300)
RIGHT, HALF, WRONG, MISSING = range(4)
SHARES = (0.93, 0.03, 0.02, 0.02)
QUALITY = np.array([1.0, 0.5, 0.0, 0.0])
LOST = 0.03
"""The share of pages of which nothing is read."""


def _entry(number: int, kind: int) -> dict[str, Any]:
    name, pages = f"N{number:03}", [number]
    if kind == HALF:
        name, pages = "zzzz", [number, 500 + number]
    if kind == WRONG:
        name, pages = "zzzz", [1000 + number]
    return {"name": name, "pages": pages}


@pytest.mark.parametrize("pages", [10, 50])
def test_an_interval_of_matching_quality_holds_the_true_value_as_often_as_its_level_says(pages: int) -> None:
    rng = np.random.default_rng(pages)
    sizes = rng.integers(1, 9, (PROTOCOL_INTERVALS_TRIALS, pages))
    gold, pred = [], []
    for trial, row in enumerate(sizes.tolist()):
        for page, size in enumerate(row):
            kinds = [MISSING] * size if rng.random() < LOST else rng.choice(4, size, p=SHARES).tolist()
            name = {"id": f"{trial}-{page}"}
            gold.append(
                {**name, "trial": f"{trial:05}", "entries": [_entry(at, RIGHT) for at in range(size)]}
            )
            told = [_entry(at, kind) for at, kind in enumerate(kinds) if kind != MISSING]
            pred.append({**name, "entries": told})
    truth = (1.0 - LOST) * float(QUALITY @ SHARES)
    options = {
        "metrics": ("imq", "macro_imq"),
        "slices": ("trial",),
        "bootstrap": 1000,
        "evidence": "none",
        "compare": (),
    }
    result = score(gold, {"s": pred}, {"protocol": "entry-matching"}, **options)
    for metric in ("imq", "macro_imq"):
        held = [
            one.interval is not None and one.interval[0] <= truth <= one.interval[1]
            for one in result.estimates
            if one.metric == metric and one.slice
        ]
        assert len(held) == PROTOCOL_INTERVALS_TRIALS
        rate = count("matching quality", f"{metric}, {pages} pages", held, least=0.93)
        assert rate.is_kept, rate


# Systems that are equal, or just worse, and families of comparisons: how often one says otherwise

USUAL, *OTHERS = NULLS


def test_equal_extractors_are_rarely_told_apart_by_documents_and_often_by_single_fields() -> None:
    accuracy, f1, documents, naive = measure_nulls(trials(200, 10), 22, (USUAL,))
    for rate in (accuracy, f1, documents):
        assert rate.is_kept, rate
    assert {"halves", "mcnemar"} == {
        rate.what.rsplit("(", 1)[1].rstrip(")") for rate in (accuracy, f1, documents)
    }
    assert min(accuracy.count, f1.count) >= max(accuracy.trials // 100, 1)  # nor are the tests asleep
    assert Rate("", "", naive.count, naive.trials, 0.2, 0.4).is_kept


@pytest.mark.parametrize("name", OTHERS)
def test_equal_extractors_are_rarely_told_apart_whatever_the_documents_are_like(name: str) -> None:
    *proper, naive = measure_nulls(trials(100), 21, (name,))
    assert len(proper) == 3
    for rate in proper:
        assert rate.is_kept, rate
    if (
        is_full() and "hard" not in name
    ):  # given how hard a document is, its fields are independent; a few trials would not show it
        assert not Rate("", naive.what, naive.count, naive.trials, most=LEVEL).is_kept, naive


def test_a_loss_of_the_margin_rarely_passes_and_no_loss_rarely_fails() -> None:
    for rate in measure_regressions(trials(100, 50), 51, (50, 100)):
        assert rate.is_kept, rate


def test_false_alarms_of_twelve_fields_are_rare_and_not_everything_is_refused() -> None:
    alone, adjusted, among_others, found = measure_families(trials(120, 10), 31)
    for rate in (adjusted, among_others):
        assert rate.is_kept, rate
    assert not Rate("", "", alone.count, alone.trials, most=0.05).is_kept, (
        alone
    )  # without adjustment it does not hold
    assert found.share > 0.05


def test_rankings_tell_equal_systems_apart_rarely_and_find_the_better_one() -> None:
    for rate in measure_rankings(trials(70), 32, ("accuracy",)):
        assert rate.is_kept, rate


def test_a_system_that_did_not_change_fails_a_gate_on_each_field_as_seldom_as_one_gate(
    tmp_path: Path,
) -> None:
    rows, bench, failed = gold(60, TWELVE), Bench(tmp_path), 0
    gate = "regression(field_accuracy) >= 0 in each field"
    for seed in range(trials(40)):
        bench.set(run_of(rows, spoil(rows, 0.15, 2 * seed), SPEC_OF_TWELVE))
        failed += bench.judge(gate, rows, spoil(rows, 0.15, 2 * seed + 1), SPEC_OF_TWELVE).verdict is FAIL
    # with twelve tests of their own a quarter
    assert Rate("", "", failed, trials(40), most=0.025).is_kept


# The verdict on two systems keeps its promises, in worlds that it was not made for

MEASURES = {
    "level and intervals": (measure_verdicts, 160),
    "printed power": (measure_found, 120),
    "gates": (measure_gates, 200),
    "margins": (measure_margins, 120),
    "more systems and fields": (measure_more_systems, 200),
    "times and percentiles": (measure_times, 200),
    "systems that fail in unlike ways": (measure_unlike, 160),
}


@pytest.mark.parametrize("name", MEASURES)
def test_what_is_promised_of_the_verdict_is_kept(name: str) -> None:
    measure, size = MEASURES[name]
    for rate in measure(trials(size) if is_full() else size // 64, 2026):
        assert rate.is_kept, rate


def test_the_simulation_can_tell_an_interval_without_the_unseen_document() -> None:
    """Of rare disasters the verdict's own interval says nothing, which is why there is a guarded one."""
    world, [size] = RARE["1 of 75 documents lost in b alone"]
    truth, rng, held = world.truth(), random.default_rng(3), []
    for number in range(trials(200, 10)):
        one = compare(*world.draw(rng, size), seed=number)
        held.append(one.interval is not None and one.interval[0] <= truth <= one.interval[1])
    assert sum(held) / len(held) < 0.9


def test_ten_fields_and_forty_documents_are_found_as_often_as_said() -> None:
    """What was printed as found with probability 0.8 was called in 4% of samples: the interval had the last word."""
    rng, called = random.default_rng(11), []
    size, gaps = full(40, 10), []
    for number in range(trials(160)):
        first = rng.binomial(10, full(40, 0.94))
        second = rng.binomial(first, 1.0 - 0.06 / 0.94)
        one = compare(size, first, second, seed=number)
        called.append(one.verdict == "worse")
        gaps.append(one.detectable or 1.0)
    assert sorted(gaps)[len(gaps) // 2] < 0.06
    assert sum(called) / len(called) > 0.72


# The same predictions, the same numbers: whatever the order, the batches and the workers

METRICS = (
    "accuracy",
    "f1",
    "accuracy_pooled",
    "perfect_documents",
    "hr",
    "correct",
    "macro_f1",
    "field_accuracy[f03]",
)


def draw(documents: int, seed: int = 5, **extractors: Extractor) -> Drawn:
    return World({"a": EQUAL, "b": EQUAL, **extractors}, documents=documents, fewest=3).draw(
        np.random.default_rng(seed), 1
    )


def run(drawn: Drawn, turned: int = 1, **options: Any) -> Result:
    """Return the scored documents; `turned` -1 turns the order of gold and predictions."""
    spec = {"name": "simulated", "fields": dict.fromkeys(drawn.world.names, "boolean")}
    chosen: dict[str, Any] = {
        "metrics": METRICS,
        "compare": METRICS,
        "bootstrap": 200,
        "evidence": "none",
        **options,
    }
    predictions = {name: drawn.predictions(name)[::-turned] for name in drawn.world.extractors}
    return score(drawn.gold()[::turned], predictions, spec, **chosen)


@pytest.mark.parametrize("size", [3, 60], ids=["few documents", "60 documents"])
def test_a_run_against_itself_shows_no_difference_at_all(size: int) -> None:
    drawn = draw(size)
    again = Drawn(
        drawn.world,
        1,
        drawn.present,
        {"a": drawn.wrong["a"], "b": drawn.wrong["a"]},
        {"a": drawn.silent["a"], "b": drawn.silent["a"]},
    )
    made = [one for one in run(again).comparisons if one.values[0] is not None]
    assert len(made) >= len(METRICS) - 1
    for one in made:
        assert (one.difference, one.p, one.p_adjusted, one.effect_size) == (0.0, 1.0, 1.0, 0.0)
        assert (one.verdict, one.method, one.detectable, one.wins, one.losses) == (
            "identical",
            "identical",
            None,
            0,
            0,
        )
        assert set(one.marks) <= {"few_replicates", "few_documents", "few_large_documents"}


@pytest.mark.parametrize(
    ("turned", "options"),
    [(-1, {}), (1, {"batch": 7}), (-1, {"batch": 11, "workers": 2})],
    ids=["turned", "batches of 7", "two workers, batches of 11, turned"],
)
def test_neither_order_nor_partition_nor_workers_change_a_number(
    turned: int, options: dict[str, Any]
) -> None:
    drawn = draw(90, c=Extractor(0.02))
    whole, other = run(drawn), run(drawn, turned, **options)
    assert len(whole.comparisons) == 2 * len(METRICS)
    assert [one.metric for one in whole.rankings] == [name for name in METRICS if "[" not in name]
    assert [one.to_dict() for one in other.estimates] == [one.to_dict() for one in whole.estimates]
    assert [one.to_dict() for one in other.comparisons] == [one.to_dict() for one in whole.comparisons]
    assert [one.to_dict() for one in other.rankings] == [one.to_dict() for one in whole.rankings]


def test_another_seed_draws_anew_and_changes_little() -> None:
    drawn = draw(80, b=Extractor(0.08))
    [first], [second] = (
        run(drawn, seed=seed, compare=("accuracy",), bootstrap=2000).comparisons for seed in (0, 1)
    )
    assert first.interval != second.interval
    assert (first.difference, first.wins, first.effect_size) == (
        second.difference,
        second.wins,
        second.effect_size,
    )
    assert first.p == pytest.approx(second.p, abs=6 * np.sqrt(0.25 / 9999))
    assert first.interval == pytest.approx(
        second.interval, abs=0.15 * (first.interval[1] - first.interval[0])
    )


def test_the_replicates_of_a_whole_are_the_sums_of_those_of_its_parts() -> None:
    """A document's weights depend on the seed, its id and the replicate alone."""
    values, names = (
        np.random.default_rng(6).integers(-(2**40), 2**40, (5, 90)),
        [f"d{number}" for number in range(90)],
    )
    [whole] = draw_sums(values, document_keys(names, 3), 101, [np.arange(90)])
    parts = [
        draw_sums(values[:, at], document_keys([names[one] for one in at], 3), 101, [np.arange(len(at))])[0]
        for at in np.array_split(np.arange(90)[::-1], 7)
    ]
    assert np.array_equal(sum(parts), whole)


def compare_constant(right: int, wrong: int) -> Comparison:
    """Return the comparison of a system with all documents right with one with `wrong` of them wrong."""
    gold = [{"id": f"d{at}", "x": at, "y": at} for at in range(right)]
    bad = [{**row, "x": -1, "y": -1} if at < wrong else row for at, row in enumerate(gold)]
    options = {"metrics": ("accuracy",), "compare": ("accuracy",), "bootstrap": 200, "evidence": "none"}
    return score(gold, {"new": gold, "old": bad}, "fields: {x: integer, y: integer}", **options).comparisons[
        0
    ]


def test_where_all_documents_show_the_same_difference_the_guard_says_how_many_did() -> None:
    few, many = compare_constant(4, 4), compare_constant(200, 200)
    assert (few.p, few.interval, many.interval) == (1 / 16, (-1.0, 0.0), (-1.0, -1.0))
    for one in (few, many):
        assert one.difference == -1.0
        assert one.interval_guarded[0] == -1.0
    assert few.interval_guarded[1] > -0.5  # type: ignore[index]
    assert -1.0 < many.interval_guarded[1] < -0.95  # type: ignore[index]


@pytest.mark.parametrize("wrong", [0, 1, 4, 40])
def test_a_document_more_that_is_lost_moves_the_interval_down(wrong: int) -> None:
    one, more = (compare_constant(60, count).interval_guarded for count in (wrong, wrong + 1))
    assert more[0] < one[0] and more[1] <= one[1]
