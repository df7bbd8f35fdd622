"""Intervals have about their nominal coverage where the fields of a document depend on each other."""

from __future__ import annotations

import pytest
from measures import COVERED, DIFFERENCES, LARGE_LOST, SHARED, measure_coverage, measure_differences
from rates import Rate, count
from tests.effort import trials
from worlds import World, simulate

TRIALS = trials(150)


@pytest.mark.parametrize("name", [name for name in COVERED if name != LARGE_LOST])
def test_an_interval_holds_the_true_value_as_often_as_its_level_says(name: str) -> None:
    for rate in measure_coverage(TRIALS, 11, (10, 50), (name,)):
        assert rate.is_kept, rate


@pytest.mark.parametrize("name", DIFFERENCES)
def test_an_interval_of_a_difference_holds_the_true_one_as_often_as_its_level_says(name: str) -> None:
    for rate in measure_differences(trials(100), 12, (50, 100), (name,)):
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
    for one in simulate(world, trials(150, 10), 11, ("accuracy_pooled",), replicates=0).estimates(
        "accuracy_pooled", "a"
    ):
        assert one.value is not None
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
