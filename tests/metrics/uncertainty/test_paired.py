from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.metrics.comparisons.families import adjust_holm, adjust_min_p
from fieldassay.metrics.uncertainty.paired import count_wins, effect_size, mcnemar_mid_p


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        pytest.param(1, 8, (2 * 1 + 9) / 512, id="by hand: 0 of 9 twice, 1 of 9 once"),
        pytest.param(0, 5, 1 / 32, id="five lost and none won"),
        (0, 4, 1 / 16),
        (0, 0, 1.0),
        (3, 3, 1.0),
        (0, 1, 0.5),
        (2, 10, (2 * 13 + 66) / 4096),
        (10, 2, (2 * 13 + 66) / 4096),
    ],
)
def test_mcnemar_is_binomial_and_counts_what_was_seen_half(b: int, c: int, p: float) -> None:
    assert mcnemar_mid_p(b, c) == p


def test_mcnemar_of_many_documents_goes_on_where_counting_ends() -> None:
    exact = (2 * sum(math.comb(1001, i) for i in range(450)) + math.comb(1001, 450)) / 2**1001
    assert mcnemar_mid_p(450, 551) == pytest.approx(exact, rel=1e-9)
    assert 0.0 <= mcnemar_mid_p(10_000, 1_000_000) < 1e-300
    assert mcnemar_mid_p(0, 2000) < 1e-300


@pytest.mark.parametrize(
    ("given_p", "adjusted"),
    [
        pytest.param([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02], id="by hand"),
        pytest.param([0.4, 0.9], [0.8, 0.9], id="large"),
        pytest.param([0.6, 0.7], [1.0, 1.0], id="never above 1"),
        pytest.param([0.02, 0.02], [0.04, 0.04], id="ties"),
        pytest.param([0.2], [0.2], id="one"),
        pytest.param([], [], id="none"),
    ],
)
def test_holm(given_p: list[float], adjusted: list[float]) -> None:
    assert adjust_holm(given_p) == pytest.approx(adjusted)


@given(st.lists(st.floats(1e-6, 1), max_size=20))
def test_a_correction_never_helps(given_p: list[float]) -> None:
    assert all(p <= adjusted <= 1 for p, adjusted in zip(given_p, adjust_holm(given_p), strict=True))


@pytest.mark.parametrize(
    ("differences", "size"),
    [
        ([0, 1], math.sqrt(0.5)),
        ([0.5, 0.5], None),
        ([0.0, 0.0], 0.0),
        ([0.3], None),
        ([], None),
        ([math.nan, 0, 1], math.sqrt(0.5)),
    ],
)
def test_effect_size(differences: list[float], size: float | None) -> None:
    assert effect_size(np.array(differences, np.float64)) == (size if size is None else pytest.approx(size))


def test_wins_losses_and_ties_are_of_documents_that_count() -> None:
    first, second = (
        np.array([0.5, 0.9, 0.2, 0.1, np.nan, np.nan]),
        np.array([0.6, 0.8, 0.2, 0.1 + 1e-11, 1.0, np.nan]),
    )
    assert count_wins(first, second) == (1, 1, 3)


def test_holm_counts_groups_of_tests_that_are_adjusted_already() -> None:
    """By hand: three groups are left for the first, three for the second, two once the last of "a" is decided."""
    p_values, groups = [0.001, 0.002, 0.01, 0.3, 0.02], ["a", "a", "b", "c", "b"]
    assert adjust_holm(p_values, groups) == pytest.approx([0.003, 0.006, 0.02, 0.3, 0.04])


def test_min_p_counts_the_draws_in_which_any_test_left_is_as_small() -> None:
    """By hand, of nine draws: the first test stands against three others, the last one alone."""
    drawn = [
        np.array([0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.array([0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.array([0.1, 0.9, 0.2, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.ones(9),
    ]
    assert adjust_min_p([0.1, 0.2, 0.4, 1.0], drawn) == pytest.approx([0.2, 0.5, 0.5, 1.0])


@given(st.lists(st.sampled_from([0.01, 0.02, 0.2, 0.7, 1.0]), min_size=1, max_size=6), st.integers(0, 99))
def test_min_p_never_helps_and_is_never_stricter_than_counting_all_tests(
    given_p: list[float], seed: int
) -> None:
    drawn = list(np.random.default_rng(seed).choice([0.01, 0.02, 0.2, 0.7, 1.0], (len(given_p), 50)))
    adjusted = adjust_min_p(given_p, drawn)
    assert all(p <= one <= 1 for p, one in zip(given_p, adjusted, strict=True))
    assert adjust_min_p(given_p, [drawn[0]] * len(given_p)) == pytest.approx(given_p)  # all the same test
    assert adjust_min_p(given_p, [np.ones(50)] * len(given_p)) == given_p  # no other can ever be small
