"""Paired comparisons."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, poisson

from fieldassay.metrics.comparisons.pairwise import adjust_holm, adjust_min_p
from fieldassay.metrics.uncertainty.paired import (
    FEWEST_DIFFERING,
    Alike,
    Spread,
    count_wins,
    documents_to_show,
    documents_to_show_share,
    effect_size,
    gap_shown,
    mcnemar_mid_p,
    unseen_reach,
)

# Paired comparisons, and what they find

#


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
def test_mcnemar_is_binomial_and_counts_what_was_seen_half(b, c, p):
    assert mcnemar_mid_p(b, c) == p


def test_mcnemar_of_many_documents_goes_on_where_counting_ends():
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
def test_holm(given_p, adjusted):
    assert adjust_holm(given_p) == pytest.approx(adjusted)


@given(st.lists(st.floats(1e-6, 1), max_size=20))
def test_a_correction_never_helps(given_p):
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
def test_effect_size(differences, size):
    assert effect_size(np.array(differences, np.float64)) == (size if size is None else pytest.approx(size))


def test_wins_losses_and_ties_are_of_documents_that_count():
    first, second = (
        np.array([0.5, 0.9, 0.2, 0.1, np.nan, np.nan]),
        np.array([0.6, 0.8, 0.2, 0.1 + 1e-11, 1.0, np.nan]),
    )
    assert count_wins(first, second) == (1, 1, 3)


def test_holm_counts_groups_of_tests_that_are_adjusted_already():
    """By hand: three groups are left for the first, three for the second, two once the last of "a" is decided."""
    p_values, groups = [0.001, 0.002, 0.01, 0.3, 0.02], ["a", "a", "b", "c", "b"]
    assert adjust_holm(p_values, groups) == pytest.approx([0.003, 0.006, 0.02, 0.3, 0.04])


def test_min_p_counts_the_draws_in_which_any_test_left_is_as_small():
    """By hand, of nine draws: the first test stands against three others, the last one alone."""
    drawn = [
        np.array([0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.array([0.9, 0.1, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.array([0.1, 0.9, 0.2, 0.2, 0.9, 0.9, 0.9, 0.9, 0.9]),
        np.ones(9),
    ]
    assert adjust_min_p([0.1, 0.2, 0.4, 1.0], drawn) == pytest.approx([0.2, 0.5, 0.5, 1.0])


@given(st.lists(st.sampled_from([0.01, 0.02, 0.2, 0.7, 1.0]), min_size=1, max_size=6), st.integers(0, 99))
def test_min_p_never_helps_and_is_never_stricter_than_counting_all_tests(given_p, seed):
    drawn = list(np.random.default_rng(seed).choice([0.01, 0.02, 0.2, 0.7, 1.0], (len(given_p), 50)))
    assert all(p <= one <= 1 for p, one in zip(given_p, adjust_min_p(given_p, drawn), strict=True))
    assert adjust_min_p(given_p, [drawn[0]] * len(given_p)) == pytest.approx(given_p)  # all the same test
    assert adjust_min_p(given_p, [np.ones(50)] * len(given_p)) == given_p  # no other can ever be small


# The power of the verdict: by hand where documents are alike, by binomial sums where they are right or wrong

spreads = st.builds(
    lambda n, v, c, w: Spread(n, FEWEST_DIFFERING, v * c * c, c, max(c, w), effective=float(n)),
    st.integers(40, 5000),
    st.floats(0.001, 1.0),
    st.floats(0.01, 1.0),
    st.floats(0.01, 1.0),
)


def test_five_documents_to_one_side_are_called_and_7_are_expected_for_five():
    least = Alike.at(0.05)
    assert (least.documents, least.p) == (5, 1 / 32)
    assert poisson.sf(least.documents - 1, least.expected) == pytest.approx(0.8)
    assert Alike.at(0.01).documents == 7


def test_the_spread_of_ten_documents_by_hand():
    """Two differ by 1, one by -.5: sums 1.5, absolute 2.5, squares 2.25."""
    differences = np.array([1, 1, -0.5] + [0] * 7)
    spread = Spread.measure(differences, differences - 0.15)
    assert spread.differing == 3
    assert spread.variance == pytest.approx((2.25 - 10 * 0.15**2) / 9)
    assert spread.each == pytest.approx(2.25 / 2.5)


@pytest.mark.parametrize(("each", "margin"), [(1.0, 0.0), (1.0, 0.3), (100.0, 0.0), (100.0, 30.0)])
def test_a_detectable_difference_solves_the_equation_of_power(each, margin):
    """sqrt(n) (m - d) = z sqrt(V - 2 m d + d^2) + .8416 sqrt(V - m^2), with V = v + m c."""
    found = Spread(150, 30, 0.2 * each**2, each).detectable(margin=margin)
    spread = 0.2 * each**2 + found * each
    beyond = spread - 2 * found * margin + margin**2
    right = 1.959964 * math.sqrt(beyond) + 0.841621 * math.sqrt(spread - found**2)
    assert math.sqrt(150) * (found - margin) == pytest.approx(right, rel=1e-5)


@given(spreads)
def test_a_margin_asks_for_more_and_whole_documents_are_harder_to_find(spread):
    found, beyond, whole = (
        spread.detectable(),
        spread.detectable(margin=0.02),
        spread.detectable(spread.whole),
    )
    assert beyond > 0.02
    assert beyond >= found - 1e-9 or found > 0.3
    assert whole >= found - 1e-9


@given(spreads)
def test_what_is_detectable_needs_the_documents_that_there_are(spread):
    assert spread.needed(spread.detectable()) == pytest.approx(spread.documents, rel=0.01, abs=1)


@given(spreads, st.floats(0.005, 0.2))
def test_a_wider_margin_is_passed_with_fewer_documents(spread, margin):
    more, less = spread.to_pass(margin), spread.to_pass(1.5 * margin)
    assert less <= more


def test_no_number_of_documents_passes_a_margin_of_0_and_few_have_no_margin():
    spread = Spread(150, 30, 0.01, 0.2, 1.0, effective=150.0)
    assert spread.to_pass(0.0) is None
    assert spread.proposed_margin() in (0.03, 0.05)
    assert Spread(59, 30, 0.01, 0.2, 1.0, effective=59.0).proposed_margin() is None


@pytest.mark.parametrize(("share", "threshold"), [(0.98, 0.93), (0.95, 0.9), (0.98, 0.95), (1.0, 0.99)])
def test_a_share_of_documents_is_shown_by_the_number_that_binomial_sums_say(share, threshold):
    def chance(n, alpha=0.045):
        """Return how often the lower bound by mid-p values reaches the threshold, counted table by table."""
        return sum(
            float(binom.pmf(wrong, n, 1 - share))
            for wrong in range(n + 1)
            if binom.cdf(wrong, n, 1 - threshold) - binom.pmf(wrong, n, 1 - threshold) / 2 <= alpha / 2
        )

    found = documents_to_show_share(share, threshold)
    assert chance(found) >= 0.8 > chance(found - 1)


def test_one_right_document_lifts_the_bound_above_0_and_of_3_drawn_one_is_right_in_4_of_5_samples():
    assert [1 - 0.5**n >= 0.8 for n in (2, 3)] == [False, True]
    assert documents_to_show_share(0.5, 0.0) == 3


@pytest.mark.parametrize(("share", "threshold"), [(0.9, 0.9), (0.8, 0.9), (0.90001, 0.9)])
def test_a_share_that_is_no_better_is_never_shown(share, threshold):
    assert documents_to_show_share(share, threshold) is None


def test_the_gap_of_so_many_documents_is_shown_by_so_many():
    for count in (20, 150, 3000):
        gap = gap_shown(count, 0.3, unseen_reach(0.05))
        assert documents_to_show(gap, 0.3, unseen_reach(0.05)) == count
    assert documents_to_show(0.0, 0.3, 3.0) is None
