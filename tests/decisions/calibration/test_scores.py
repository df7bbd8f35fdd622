"""Brier score, log loss, AUROC and the curve: worked by hand, and by the laws they keep."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.decisions.calibration.bins import cut_bins
from fieldassay.decisions.calibration.discrimination import Standing, auroc, discriminate
from fieldassay.decisions.calibration.measure import brier_parts, log_loss, select
from fieldassay.decisions.calibration.observations import Observations

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


def seen(confidence: np.ndarray, is_right: np.ndarray) -> Observations:
    """Return values of documents: one row each."""
    n, values = confidence.shape
    doc, names = np.repeat(np.arange(n, dtype=np.int32), values), tuple(f"d{at}" for at in range(n))
    return Observations(
        names, ("f",), doc, doc * 0, confidence.ravel(), is_right.ravel(), np.ones(n * values)
    )


def test_copies_within_documents_do_not_narrow_an_interval() -> None:
    generator = np.random.default_rng(1)
    base, is_right = generator.random((60, 1)), generator.random((60, 1)) < 0.7
    alone, copied = (
        discriminate(seen(np.tile(base, many), np.tile(is_right, many))).interval for many in (1, 8)
    )
    assert alone is not None and copied == pytest.approx(alone)


@pytest.mark.parametrize("wrong", [1, 2, 9])
def test_few_wrong_values_give_no_interval_and_the_reason(wrong: int) -> None:
    found = discriminate(seen(np.linspace(0, 1, 100)[:, None], (np.arange(100) >= wrong)[:, None]))
    assert (found.area, found.interval, found.standing) == (1.0, None, Standing.TOO_FEW)
    assert (
        "too few wrong values to say" in found.sentence and f"documents with one: {wrong}" in found.sentence
    )


def test_many_wrong_values_of_one_document_are_few() -> None:
    is_right = np.ones((50, 20), bool)
    is_right[0] = False
    assert discriminate(seen(np.random.default_rng(1).random((50, 20)), is_right)).interval is None


STANDINGS = [(1.5, Standing.TELLS), (0.0, Standing.USELESS), (-1.5, Standing.UPSIDE_DOWN)]


@pytest.mark.parametrize(("apart", "standing"), STANDINGS)
def test_confidences_are_called_what_they_are(apart: float, standing: Standing) -> None:
    generator = np.random.default_rng(2)
    is_right = generator.random((400, 4)) < 0.9
    found = discriminate(seen(generator.normal(0, 1, (400, 4)) + apart * is_right, is_right))
    assert found.standing is standing
    assert (found.sentence == "") == (standing is Standing.TELLS)


def test_a_field_among_many_takes_more_to_be_called_upside_down() -> None:
    generator = np.random.default_rng(7)
    is_right = generator.random((60, 1)) < 0.7
    values = seen(generator.normal(0, 1, (60, 1)) - 0.7 * is_right, is_right)
    assert discriminate(values).standing is Standing.UPSIDE_DOWN
    assert discriminate(values, fields=40).standing is not Standing.UPSIDE_DOWN


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
