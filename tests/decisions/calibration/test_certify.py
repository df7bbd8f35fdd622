"""Exact bounds, sample sizes, the sequence of tests with its starts, and what more labels would bring."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.decisions.calibration.certificate import (
    CertificationSteps,
    Guarantee,
    RankedLabels,
    certify,
    chance_to_certify,
    clopper_pearson_lower,
    clopper_pearson_upper,
    find_enough,
    list_tests,
    needed_labels,
    passes,
    start_sizes,
)
from fieldassay.decisions.calibration.observations import Observations


def certify_single(
    confidence: np.ndarray, is_right: np.ndarray, risk: float, delta: float
) -> CertificationSteps:
    """Return what labels of one value a document certify."""
    return certify(
        RankedLabels(np.arange(len(confidence)), confidence, is_right), Guarantee(risk, 1.0 - delta)
    )


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
def test_the_labels_that_a_guarantee_takes(risk: float, delta: float, errors: int, needed: int) -> None:
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


STARTS = {
    149: [(149, 0.05)],
    240: [(149, 0.05)],
    300: [(166, 0.041), (243, 0.009)],
    500: [(176, 0.029), (226, 0.0105), (415, 0.0105)],
    1000: [(185, 0.024), (481, 0.013), (843, 0.013)],
    2000: [(445, 0.022), (971, 0.014), (1794, 0.014)],
}


@pytest.mark.parametrize("n", STARTS)
def test_sequences_start_early_and_late_with_shares_of_the_level_that_grow(n: int) -> None:
    found = start_sizes(n, 0.02, 0.05)
    assert [size for size, _ in found] == [size for size, _ in STARTS[n]]
    assert [level for _, level in found] == pytest.approx([level for _, level in STARTS[n]], abs=2e-4)


@given(st.integers(0, 3000), st.floats(0.005, 0.4))
def test_starts_share_the_level_and_can_all_be_certified(n: int, risk: float) -> None:
    starts = start_sizes(n, risk, 0.05)
    assert (starts == ()) == (n < needed_labels(risk, 0.05))
    if starts:
        assert sum(level for _, level in starts) == pytest.approx(0.05)
        assert all(size <= n and passes(0, size, risk, level * (1 + 1e-9)) for size, level in starts)


@given(st.integers(1, 600), st.integers(1, 3), st.floats(0.01, 0.4))
def test_tests_ascend_from_the_first_start_to_everything_and_hold_all_of_the_level(
    n: int, values: int, risk: float
) -> None:
    confidence = np.round(np.random.default_rng(n).random(n * values), 2)
    held = RankedLabels(np.repeat(np.arange(n), values), confidence, np.ones(n * values, bool))
    tests = list_tests(held, risk, 0.05)
    assert bool(tests) == (n >= needed_labels(risk, 0.05))
    if tests:
        counts = [count for count, _ in tests]
        assert counts == sorted(set(counts)) and counts[-1] == n * values
        assert sum(level for _, level in tests) == pytest.approx(0.05)
        assert tests[0][1] > 0.0


def labels(*groups: tuple[float, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return labels from groups of (confidence, right, wrong)."""
    confidence = np.concatenate([np.full(right + wrong, value) for value, right, wrong in groups])
    return confidence, np.concatenate(
        [np.repeat([True, False], [right, wrong]) for _, right, wrong in groups]
    )


def test_the_first_failure_ends_a_sequence_even_if_later_steps_would_pass() -> None:
    # the only sequence starts at 149 labels, where no error is allowed, and fails there for good
    confidence = np.linspace(1, 0, 230)
    is_right = np.ones(230, bool)
    is_right[3] = False
    found = certify_single(confidence, is_right, 0.02, 0.05)
    assert [(step.labels, step.errors, step.passed) for step in found.steps] == [(149, 1, False)]
    assert found.last is None


def test_a_share_at_full_confidence_is_certified_without_the_rest() -> None:
    # the case: 970 values at 1.0, three of them wrong, and 30 at 0.9 of which half are wrong
    last = certify_single(*labels((1.0, 967, 3), (0.9, 15, 15)), 0.02, 0.05).last
    assert last is not None and (last.threshold, last.labels, last.errors) == (1.0, 970, 3)


def test_a_large_tie_among_many_confidences_is_tested_as_a_whole() -> None:
    tail = [(0.5 + number / 100, 1, 1) for number in range(25)]
    last = certify_single(*labels((1.0, 947, 3), *tail), 0.02, 0.05).last
    assert last is not None and (last.threshold, last.labels) == (1.0, 950)


def test_documents_are_counted_not_values() -> None:
    # 160 documents with four values, of which one is sure and right: 160 of them suffice for 2%
    confidence = np.tile([0.99, 0.3, 0.2, 0.1], 160) + np.linspace(0, 0.001, 640)
    is_right = np.tile([True, False, True, False], 160)
    held = RankedLabels(np.repeat(np.arange(160), 4), confidence, is_right)
    last = certify(held, Guarantee(0.02)).last
    assert last is not None and last.labels == 160 and held.share(held.count_from(last.threshold)) == 0.25


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


def test_documents_drawn_again_are_whole_and_one_may_be_unseen() -> None:
    held = RankedLabels(np.array([0, 0, 1, 1, 1]), np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.ones(5, bool))
    wrong = 0
    for seed in range(60):
        drawn = held.resample(3, np.random.default_rng(seed))
        assert drawn.documents == 3 and set(drawn.values.tolist()) <= {2, 3}
        by_document = [drawn.is_wrong[drawn.doc == at] for at in range(3)]
        assert all(lost.all() or not lost.any() for lost in by_document)
        wrong += any(lost.any() for lost in by_document)
    assert 10 <= wrong <= 40  # the unseen one is among three of three in 19 of 27 cases, half of them wrong


def test_families_drawn_again_are_whole_and_take_more_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRAWS", "FEW_DRAWS"):
        monkeypatch.setattr(f"fieldassay.decisions.calibration.certificate.{name}", 24)
    names = tuple(f"{at // 5}/{at % 5}" for at in range(280))
    confidence, doc = np.random.default_rng(4).random(280), np.arange(280, dtype=np.int32)
    right = (confidence > 0.3) | (doc // 5 % 3 > 0)
    families = tuple(name.partition("/")[0] for name in names)
    labels = RankedLabels.of(Observations(names, ("f",), doc, doc * 0, confidence, right, families))
    drawn = labels.resample(600, np.random.default_rng(0))
    assert (drawn.documents, drawn.families, drawn.largest) == (600, 120, 5)
    assert set(drawn.confidence.tolist()) <= set(confidence.tolist())
    alone = RankedLabels(doc, confidence, right)
    chances = [chance_to_certify(one, Guarantee(0.05), 420) for one in (labels, alone)]
    assert 0.3 < chances[0] < 0.75 < chances[1]
    assert (find_enough(labels, Guarantee(0.05)), find_enough(alone, Guarantee(0.05))) == (None, 350)
