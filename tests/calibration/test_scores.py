"""Brier score, log loss, AUROC and the curve: worked by hand, and by the laws they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.calibration.bins import cut_bins
from fieldassay.calibration.measure import Observed, auroc, auroc_replicates, brier_parts, log_loss, select

pairs = st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=120)


def arrays(values: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([number / 20 for number, _ in values]), np.array([right for _, right in values])


def sides(values: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    ordered = sorted(values)
    return arrays(ordered)


def test_the_brier_score_is_that_worked_by_hand() -> None:
    # (0.2 - 0)^2, (0.4 - 1)^2, (0.9 - 1)^2, (0.9 - 0)^2: 0.04 + 0.36 + 0.01 + 0.81 = 1.22; two bins of two,
    # both half right
    found = brier_parts(
        np.array([0.2, 0.4, 0.9, 0.9]), np.array([False, True, True, False]), np.array([0, 2])
    )
    assert found.score == pytest.approx(1.22 / 4)
    assert found.reliability == pytest.approx((0.2**2 + 0.4**2) / 2)
    assert found.resolution == 0.0
    assert found.uncertainty == 0.25
    # 2 * 0.1^2 - 2 * (-0.1 * -0.5 + 0.1 * 0.5), of four values
    assert found.within == pytest.approx((0.02 - 0.2) / 4)


@given(pairs)
def test_the_parts_of_the_brier_score_add_up(values: list[tuple[int, bool]]) -> None:
    ordered, is_right = sides(values)
    for starts in (cut_bins(ordered), np.unique(ordered, return_index=True)[1]):
        found = brier_parts(ordered, is_right, starts)
        assert found.reliability - found.resolution + found.uncertainty + found.within == pytest.approx(
            found.score, abs=1e-12
        )
    assert found.within == pytest.approx(0.0, abs=1e-12)  # every bin has one confidence


def test_log_loss_is_that_worked_by_hand_and_says_what_it_clipped() -> None:
    loss, clipped = log_loss(np.array([0.8, 0.5, 1.0]), np.array([True, False, False]))
    assert loss == pytest.approx((-math.log(0.8) - math.log(0.5) - math.log(1e-6)) / 3, rel=1e-9)
    assert clipped == 1


AREAS = {
    "perfect": ([0.9, 0.8, 0.2], [1, 1, 0], 1.0),
    "reversed": ([0.1, 0.8], [1, 0], 0.0),
    "all equal": ([0.5] * 4, [1, 0, 1, 0], 0.5),
    # right 0.9, 0.5, 0.3 against wrong 0.5, 0.2: won 2, 1.5, 1 of 2 each
    "a tie": ([0.9, 0.5, 0.3, 0.5, 0.2], [1, 1, 1, 0, 0], 4.5 / 6),
}


@pytest.mark.parametrize("case", AREAS)
def test_the_area_counts_pairs(case: str) -> None:
    confidence, right, area = AREAS[case]
    assert auroc(np.array(confidence), np.array(right, bool)) == pytest.approx(area)


@pytest.mark.parametrize("right", [True, False])
def test_the_area_is_undefined_without_both_kinds(right: bool) -> None:
    assert auroc(np.array([0.1, 0.9]), np.array([right, right])) is None


def test_replicates_are_areas_under_the_documents_weights() -> None:
    generator = np.random.default_rng(1)
    confidence, is_right = np.round(generator.random(60), 1), generator.random(60) < 0.6
    doc, names = np.repeat(np.arange(20, dtype=np.int32), 3), [f"d{number}" for number in range(20)]
    found = auroc_replicates(Observed(confidence, is_right, doc, names), 0, 40)
    from fieldassay.stats.poisson import document_keys, weight_table, weights

    weight = weights(document_keys(names, 0), 0, 40, weight_table(np.int64))[doc].astype(int)
    expected = [
        auroc(np.repeat(confidence, weight[:, column]), np.repeat(is_right, weight[:, column]))
        for column in range(40)
    ]
    assert found.tolist() == pytest.approx(expected)


def test_intervals_are_wider_where_documents_hold_several_values() -> None:
    generator = np.random.default_rng(1)
    base, is_right = generator.random(50), generator.random(50) < 0.7
    alone = Observed(base, is_right, np.arange(50), [f"d{number}" for number in range(50)])
    copied = Observed(
        np.tile(base, 8),
        np.tile(is_right, 8),
        np.tile(np.arange(50), 8),
        [f"d{number}" for number in range(50)],
    )
    assert auroc_replicates(copied, 0, 200).std() == pytest.approx(auroc_replicates(alone, 0, 200).std())


def test_intervals_hold_the_true_area_about_as_often_as_they_say() -> None:
    # each document moves all of its five confidences up or down together; the true area is that of a large
    # draw
    generator, held = np.random.default_rng(3), 0

    def draw(documents: int) -> tuple[np.ndarray, np.ndarray]:
        right = generator.random((documents, 5)) < np.where(generator.random((documents, 1)) < 0.2, 0.3, 0.9)
        return (
            right + generator.normal(0, 1, (documents, 1)) + generator.normal(0, 1, (documents, 5))
        ).ravel(), right.ravel()

    true = auroc(*draw(100_000))
    names, doc = [f"d{number}" for number in range(80)], np.repeat(np.arange(80), 5)
    for trial in range(200):
        low, high = np.quantile(auroc_replicates(Observed(*draw(80), doc, names), trial, 400), [0.025, 0.975])
        held += low <= true <= high
    assert 0.89 <= held / 200 <= 0.99


def test_the_curve_is_that_worked_by_hand() -> None:
    # from the top: 0.9 right, then 0.7 right and 0.7 wrong, then 0.4 wrong
    found = select(np.array([0.7, 0.9, 0.4, 0.7]), np.array([True, True, False, False]), (0.25, 0.5, 1.0))
    assert [(point.threshold, point.accepted, point.errors) for point in found.points] == [
        (0.9, 1, 0),
        (0.7, 3, 1),
        (0.4, 4, 2),
    ]
    assert [point.selective_risk for point in found.points] == pytest.approx([0, 1 / 3, 0.5])
    assert [point.joint_risk for point in found.points] == pytest.approx([0, 0.25, 0.5])
    # after 1 .. 4 values, the tie in average order: 0, 0.5 / 2, 1 / 3, 2 / 4
    assert found.aurc == pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)
    # under joint risk: 0, a straight line from 0 to 0.25 over half of the coverage, one from 0.25 to 0.5 over
    # a quarter
    assert found.augrc == pytest.approx(0.5 * 0.125 + 0.25 * 0.375)
    assert [one.share for one in found.captures] == pytest.approx([0.5, 0.75, 1.0])


def test_without_errors_there_is_nothing_to_capture_and_no_area() -> None:
    found = select(np.array([0.9, 0.8]), np.array([True, True]))
    assert (found.aurc, found.augrc, found.captures[0].share) == (0.0, 0.0, None)


@given(pairs)
def test_the_area_under_joint_risk_follows_from_auroc_and_accuracy(values: list[tuple[int, bool]]) -> None:
    confidence, is_right = arrays(values)
    area, accuracy = auroc(confidence, is_right), is_right.mean()
    ranked = 0.0 if area is None else (1 - area) * accuracy * (1 - accuracy)
    assert select(confidence, is_right).augrc == pytest.approx(ranked + (1 - accuracy) ** 2 / 2, abs=1e-12)


@given(pairs)
def test_only_the_order_of_confidences_matters_for_ranking(values: list[tuple[int, bool]]) -> None:
    confidence, is_right = arrays(values)
    before, after = select(confidence, is_right), select(confidence**3 / 2, is_right)
    assert auroc(confidence, is_right) == auroc(confidence**3 / 2, is_right)
    assert (before.aurc, before.augrc, before.captures) == (after.aurc, after.augrc, after.captures)
    assert [(p.accepted, p.errors) for p in before.points] == [(p.accepted, p.errors) for p in after.points]


@given(pairs, st.randoms(use_true_random=False))
def test_the_order_of_values_does_not_matter(values: list[tuple[int, bool]], random: object) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert select(*arrays(values)) == select(*arrays(shuffled))
    assert auroc(*arrays(values)) == auroc(*arrays(shuffled))


@given(pairs)
def test_the_curve_ends_with_everything_accepted(values: list[tuple[int, bool]]) -> None:
    confidence, is_right = arrays(values)
    last = select(confidence, is_right).points[-1]
    assert (last.accepted, last.errors, last.coverage) == (len(values), int((~is_right).sum()), 1.0)
    assert last.selective_risk == last.joint_risk
