"""Exact bounds, sample sizes, and the fixed sequence with its ties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from calibration.confidence_simulations import certify_single
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.calibration.binomial import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    needed_labels,
    passes,
)
from fieldassay.calibration.certify import plan_sizes
from fieldassay.calibration.planning import plan_labels, simulate
from fieldassay.calibration.result import Promise

BOUNDS = [
    (0, 10, 0.05, 1 - 0.05**0.1),
    (0, 299, 0.05, 1 - 0.05 ** (1 / 299)),
    (10, 10, 0.05, 1.0),
    (0, 0, 0.05, 1.0),
    (1, 2, 0.05, math.sqrt(0.95)),
    (3, 20, 0.025, 0.378927),
]


@pytest.mark.parametrize(("errors", "n", "delta", "bound"), BOUNDS)
def test_upper_bounds_are_exact(errors: int, n: int, delta: float, bound: float) -> None:
    assert clopper_pearson_upper(errors, n, delta) == pytest.approx(bound, abs=1e-6)


@pytest.mark.parametrize(("errors", "n", "delta", "bound"), BOUNDS)
def test_lower_bounds_mirror_upper_bounds(errors: int, n: int, delta: float, bound: float) -> None:
    assert clopper_pearson_lower(n - errors, n, delta) == pytest.approx(1 - bound if n else 0.0, abs=1e-6)


NEEDED = [
    (0.01, 0.05, 0, 299),
    (0.01, 0.05, 1, 473),
    (0.01, 0.05, 2, 628),
    (0.01, 0.05, 3, 773),
    (0.03, 0.05, 0, 99),
    (0.05, 0.05, 0, 59),
    (0.01, 0.01, 0, 459),
    (0.5, 0.25, 0, 2),
    (0.001, 0.05, 0, 2995),
]


@pytest.mark.parametrize(("risk", "delta", "errors", "needed"), NEEDED)
def test_the_labels_that_a_promise_takes(risk: float, delta: float, errors: int, needed: int) -> None:
    assert needed_labels(risk, delta, errors) == needed
    assert passes(errors, needed, risk, delta)
    assert not passes(errors, needed - 1, risk, delta)
    if not errors:
        assert needed == math.ceil(math.log(delta) / math.log1p(-risk))


@given(st.integers(0, 30), st.integers(1, 2000), st.floats(0.002, 0.5), st.floats(0.001, 0.3))
def test_passing_is_the_same_as_an_upper_bound_within_the_risk(
    errors: int, n: int, risk: float, delta: float
) -> None:
    upper = clopper_pearson_upper(errors, n, delta)
    if abs(upper - risk) > 1e-9:
        assert passes(errors, n, risk, delta) == (upper <= risk)


@given(st.integers(0, 3000), st.floats(0.005, 0.4))
def test_planned_sizes_ascend_to_all_labels_and_can_all_be_certified(n: int, risk: float) -> None:
    sizes = plan_sizes(n, risk, 0.05)
    assert list(sizes) == sorted(set(sizes))
    assert (sizes == ()) == (n < needed_labels(risk, 0.05))
    if sizes:
        assert sizes[-1] == n
        assert all(passes(0, size, risk, 0.05) for size in sizes)


def labels(*groups: tuple[float, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return labels from groups of (confidence, right, wrong)."""
    confidence = np.concatenate([np.full(right + wrong, value) for value, right, wrong in groups])
    return confidence, np.concatenate(
        [np.repeat([True, False], [right, wrong]) for _, right, wrong in groups]
    )


def test_clean_labels_are_all_accepted() -> None:
    found = certify_single(np.linspace(0.5, 1, 400), np.ones(400, bool), 0.01, 0.05)
    assert found.last is not None
    assert (found.last.labels, found.last.threshold, found.last.errors) == (400, 0.5, 0)
    assert all(step.passed for step in found.steps)


def test_the_first_failure_ends_a_sequence_even_if_later_steps_would_pass() -> None:
    # the only sequence starts at 149 labels, where no error is allowed, and fails there for good
    confidence = np.linspace(1, 0, 230)
    is_right = np.ones(230, bool)
    is_right[3] = False
    found = certify_single(confidence, is_right, 0.02, 0.05)
    assert [(step.labels, step.errors, step.passed) for step in found.steps] == [(149, 1, False)]
    assert found.last is None


def test_one_early_error_among_many_labels_is_no_obstacle() -> None:
    # the case: 1,400 labels, one error at rank 51, at most 2% wrong
    is_right = np.ones(1400, bool)
    is_right[50] = False
    last = certify_single(np.linspace(1, 0, 1400), is_right, 0.02, 0.05).last
    assert last is not None and (last.labels, last.errors) == (1400, 1)


def test_a_sequence_that_failed_leaves_the_others() -> None:
    # nine errors first: too many at a quarter of 1,500 labels, not at three quarters of them
    is_right = np.ones(1500, bool)
    is_right[:9] = False
    found = certify_single(np.linspace(1, 0, 1500), is_right, 0.02, 0.05)
    assert [(step.labels, step.passed) for step in found.steps][:2] == [
        (359, False),
        (1107, True),
    ]
    assert found.last is not None and found.last.labels == 1500
    assert found.delta == pytest.approx(0.025)


def test_a_share_at_full_confidence_is_certified_without_the_rest() -> None:
    # the case: 970 values at 1.0, three of them wrong, and 30 at 0.9 of which half are wrong
    last = certify_single(*labels((1.0, 967, 3), (0.9, 15, 15)), 0.02, 0.05).last
    assert last is not None and (last.threshold, last.labels, last.errors) == (1.0, 970, 3)


def test_a_large_tie_among_many_confidences_is_tested_as_a_whole() -> None:
    tail = [(0.5 + number / 100, 1, 1) for number in range(25)]
    last = certify_single(*labels((1.0, 947, 3), *tail), 0.02, 0.05).last
    assert last is not None and (last.threshold, last.labels) == (1.0, 950)


def test_the_last_step_that_passed_is_taken() -> None:
    found = certify_single(*labels((0.9, 300, 0), (0.8, 60, 0), (0.7, 20, 20), (0.6, 100, 0)), 0.01, 0.05)
    assert found.last is not None
    assert (found.last.threshold, found.last.labels, found.last.upper) == (
        0.8,
        360,
        pytest.approx(1 - 0.05 ** (1 / 360)),
    )
    assert [step.passed for step in found.steps] == [True, True, False]


def test_few_ties_are_tested_at_each() -> None:
    found = certify_single(*labels((0.99, 150, 0), (0.95, 160, 0), (0.5, 690, 0)), 0.01, 0.05)
    assert [(step.labels, step.threshold) for step in found.steps] == [(310, 0.95), (1000, 0.5)]


def test_supports_that_ties_make_too_small_are_not_tested() -> None:
    found = certify_single(*labels((0.99, 200, 0), (0.5, 100, 40)), 0.01, 0.05)
    assert [(step.labels, step.errors, step.passed) for step in found.steps] == [(340, 40, False)]


def test_all_confidences_equal_leave_all_or_nothing() -> None:
    assert certify_single(*labels((0.9, 400, 0)), 0.01, 0.05).last is not None
    assert certify_single(*labels((0.9, 390, 10)), 0.01, 0.05).last is None


@pytest.mark.parametrize("n", [0, 1, 298])
def test_too_few_labels_certify_nothing(n: int) -> None:
    found = certify_single(np.linspace(0, 1, n), np.ones(n, bool), 0.01, 0.05)
    assert (found.last, found.steps) == (None, ())


@given(
    st.lists(st.tuples(st.integers(0, 40), st.booleans()), min_size=60, max_size=300),
    st.randoms(use_true_random=False),
)
def test_neither_the_order_of_labels_nor_the_scale_of_confidences_matters(
    values: list[tuple[int, bool]], random: object
) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    found = [
        certify_single(
            np.array([c / 40 for c, _ in order]) ** power, np.array([r for _, r in order]), 0.05, 0.05
        )
        for order, power in ((values, 1), (shuffled, 1), (values, 3))
    ]
    told = [[(step.labels, step.errors, step.passed) for step in one.steps] for one in found]
    assert told[0] == told[1] == told[2]


def test_several_thresholds_share_the_confidence() -> None:
    plan = plan_labels(Promise(0.01, 0.95, by_field=True), 5)
    assert plan.delta == pytest.approx(0.01)
    assert plan.needed[0] == 459


PLANNED = [(149, 0.55), (298, 0.76), (745, 0.95)]


@pytest.mark.parametrize(("labels", "chance"), PLANNED)
def test_a_plan_says_what_the_certification_does(labels: int, chance: float) -> None:
    # 0.4% wrong at any confidence, at most 2% promised
    planned = simulate(labels, Promise(0.02), 0.05, 0.004)
    generator, trials = np.random.default_rng(8), 200
    found = [
        certify_single(generator.random(labels), generator.random(labels) >= 0.004, 0.02, 0.05).last
        for _ in range(trials)
    ]
    done = np.mean([step is not None for step in found])
    accepted = np.mean([0 if step is None else step.labels / labels for step in found])
    assert planned.chance == pytest.approx(chance, abs=0.02)
    assert planned.chance == pytest.approx(done, abs=3.5 * (chance * (1 - chance) / trials) ** 0.5 + 0.01)
    assert planned.accepted == pytest.approx(accepted, abs=0.09)


@pytest.mark.parametrize("share", [0.1, 0.2, 0.5])
def test_twice_and_three_times_the_least_labels_make_a_promise_likelier(share: float) -> None:
    chances = [simulate(149 * times, Promise(0.02), 0.05, 0.02 * share).chance for times in (1, 2, 3, 5, 10)]
    assert chances == sorted(chances)


def test_a_plan_is_the_same_every_time() -> None:
    assert plan_labels(Promise(0.03)) == plan_labels(Promise(0.03))
