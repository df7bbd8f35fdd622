"""Reliability bins and calibration error: the cuts, worked examples, uniform p values if calibrated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.decisions.calibration.bins import calibration_error, cut_bins, draw_errors, list_bins

confidences = st.lists(st.integers(0, 30).map(lambda number: number / 30), min_size=1, max_size=300)

CUTS = {
    "one value": ([0.5], [0]),
    "19 values": ([0.1] * 19, [0]),
    "39 values": (sorted(np.linspace(0, 1, 39)), [0]),
    "40 values": (sorted(np.linspace(0, 1, 40)), [0, 20]),
    "100 values": (sorted(np.linspace(0, 1, 100)), [0, 20, 40, 60, 80]),
    "1000 values": (sorted(np.linspace(0, 1, 1000)), list(range(0, 1000, 100))),
    "a tie over the border": ([0.1] * 15 + [0.5] * 10 + [0.9] * 25, [0, 25]),
    "a tie at the end": ([0.1] * 25 + [0.9] * 15, [0]),
    "all equal": ([0.9] * 500, [0]),
}


@pytest.mark.parametrize("case", CUTS)
def test_bins_are_of_equal_size_as_far_as_ties_allow(case: str) -> None:
    ordered, starts = CUTS[case]
    assert cut_bins(np.array(ordered)).tolist() == starts


@given(confidences)
def test_no_bin_splits_a_tie_or_is_too_small(values: list[float]) -> None:
    ordered = np.sort(values)
    starts = cut_bins(ordered)
    sizes = np.diff(np.append(starts, len(ordered)))
    assert 1 <= len(starts) <= 10
    assert all(ordered[start - 1] < ordered[start] for start in starts[1:])
    assert sizes.min() >= min(20, len(ordered))


def test_the_calibration_error_is_that_worked_by_hand() -> None:
    # bin 1: 0.2 and 0.4, one of two right: |0.5 - 0.3| = 0.2; bin 2: 0.7, 0.8, 0.9, two of three right:
    # |0.6667 - 0.8| = 0.1333
    ordered, is_right = np.array([0.2, 0.4, 0.7, 0.8, 0.9]), np.array([False, True, True, False, True])
    assert calibration_error(ordered, is_right, np.array([0, 2])) == pytest.approx(
        (2 * 0.2 + 3 * (0.8 - 2 / 3)) / 5
    )
    bins = list_bins(ordered, is_right, np.array([0, 2]))
    assert [(one.low, one.high, one.n) for one in bins] == [(0.2, 0.4, 2), (0.7, 0.9, 3)]
    assert [one.confidence for one in bins] == pytest.approx([0.3, 0.8])
    assert [one.accuracy for one in bins] == pytest.approx([0.5, 2 / 3])


def test_a_calibrated_scorer_shows_an_error_of_about_0_07_at_100_values() -> None:
    ordered = np.sort(np.random.default_rng(1).random(100))
    drawn = draw_errors(ordered, cut_bins(ordered), 0)
    assert len(drawn) == 1000
    assert drawn.mean() == pytest.approx(0.068, abs=0.006)


def test_sure_values_leave_nothing_to_chance() -> None:
    ordered = np.repeat([0.0, 1.0], 50)
    assert draw_errors(ordered, cut_bins(ordered), 0).max() == 0.0


def test_the_draws_depend_on_the_seed_alone() -> None:
    ordered = np.sort(np.random.default_rng(1).random(100))
    starts = cut_bins(ordered)
    assert (draw_errors(ordered, starts, 3) == draw_errors(ordered, starts, 3)).all()
    assert (draw_errors(ordered, starts, 3) != draw_errors(ordered, starts, 4)).any()


def p_values(right: float, trials: int = 300) -> np.ndarray:
    """Return p values of scorers whose values are right with the probability `c ** right`."""
    generator, found = np.random.default_rng(2), []
    for trial in range(trials):
        ordered = np.sort(generator.beta(5, 1, 200))
        is_right, starts = generator.random(200) < ordered**right, cut_bins(ordered)
        drawn = draw_errors(ordered, starts, trial, 199)
        found.append(
            (1 + np.count_nonzero(drawn >= calibration_error(ordered, is_right, starts) - 1e-12)) / 200
        )
    return np.array(found)


def test_p_values_are_uniform_where_the_scorer_is_calibrated() -> None:
    found = p_values(1.0)
    for share in (0.05, 0.25, 0.5, 0.75):
        assert np.mean(found <= share) == pytest.approx(share, abs=3.5 * (share * (1 - share) / 300) ** 0.5)


def test_p_values_are_small_where_the_scorer_is_too_sure_of_itself() -> None:
    assert np.mean(p_values(2.0, 60) <= 0.05) > 0.9
