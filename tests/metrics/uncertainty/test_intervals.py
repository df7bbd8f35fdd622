"""Intervals: weights of documents, halves, and bounds."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fieldassay.metrics.uncertainty.bootstrap import (
    STEPS,
    count_table,
    document_keys,
    percentile_intervals,
    quantile_interval,
    unseen_weights,
    weight_table,
    weights,
)
from fieldassay.metrics.uncertainty.paired import (
    DRAWS,
    MOST_SIGNS,
    Halves,
    group_columns,
    mcnemar_mid_p,
    sign_keys,
    signed_sums,
    sums_of_halves,
    widen,
)

# Intervals against known values, and how often they cover


def test_percentiles_are_those_of_numpy_on_the_defined_replicates():
    values = np.random.default_rng(1).normal(size=(5, 301))
    values[1, ::3] = np.nan
    values[2, 1:] = np.nan
    values[3, :] = np.nan
    found = percentile_intervals(values, 0.9)
    for row in (0, 1, 2, 4):
        assert [found.low[row], found.high[row]] == pytest.approx(np.nanquantile(values[row], [0.05, 0.95]))
    assert np.isnan([found.low[3], found.high[3]]).all()
    assert found.dropped.tolist() == [0, 101, 300, 301, 0]


QUANTILES = {
    (100, 0.5): (40.0, 61.0),
    (1000, 0.5): (469.0, 532.0),
    (1000, 0.9): (881.0, 919.0),
    (6, 0.5): (1.0, 6.0),
}
"""Ranks of the order statistics; the median's are those of tables (Conover)."""


@pytest.mark.parametrize(("n", "share"), QUANTILES)
def test_order_statistics_bound_a_quantile(n, share):
    assert quantile_interval(np.arange(1.0, n + 1), share, 0.95) == QUANTILES[n, share]


@pytest.mark.parametrize("n", [60, 777, 1_000_000])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_ranks_are_those_of_the_binomial_distribution(n, share):
    from scipy.stats import binom

    interval = quantile_interval(np.arange(float(n)), share, 0.9)
    low, high = int(interval.low), int(interval.high)
    assert binom.cdf(low, n, share) <= 0.05 < binom.cdf(low + 1, n, share)
    assert binom.cdf(high - 1, n, share) < 0.95 <= binom.cdf(high, n, share)


@pytest.mark.parametrize(("n", "share"), [(5, 0.5), (50, 0.99), (1, 0.9)])
def test_too_few_values_bound_nothing(n, share):
    assert quantile_interval(np.arange(float(n)), share, 0.95) is None


# The halves of the documents: their test is the sign flip, and their interval is what that test leaves

Floats = npt.NDArray[np.float64]


def names(count):
    return [f"d{number}" for number in range(count)]


def all_halves(differences, sizes=None):
    """Return the mean difference in every half of documents of these sizes."""
    patterns = sums_of_halves(np.eye(len(differences), dtype=np.int64))
    top = np.array(differences) @ patterns
    bottom = np.array(sizes or [1] * len(differences)) @ patterns
    with np.errstate(invalid="ignore", divide="ignore"):
        return Halves.of(top / bottom)


def flip_signs(differences):
    """Return the two-sided mid-p of the sign flip, by counting all patterns of signs."""
    total = abs(sum(differences))
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    if total == 0:
        return Fraction(1)
    return Fraction(sum(one > total for one in sums) * 2 + sum(one == total for one in sums), 2 * len(sums))


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        pytest.param([1, 2, 3, 4, 5], 1 / 32, id="five, all in one direction: what was seen counts half"),
        pytest.param([3, 1], 1 / 4, id="two patterns of four are as far"),
        pytest.param([3, -1], (2 * 2 + 2) / 8, id="two are farther, two as far"),
        pytest.param([1, -1], 1.0, id="no difference in the sum"),
        pytest.param([1, 1, -1], (2 * 2 + 6) / 16, id="two are farther, six as far"),
    ],
)
def test_p_is_the_mid_p_of_the_sign_flip_by_hand(differences, p):
    assert float(flip_signs(differences)) == p
    assert all_halves(differences).p_value() == p


@pytest.mark.parametrize("documents", [5, 7, 12, 40])
def test_yes_and_no_have_the_p_value_of_mcnemar_for_all_small_tables(documents):
    """Ties do not matter: their halves say the same, or nothing at all."""
    for lost in range(min(documents, 8) + 1):
        for won in range(min(documents - lost, 8) + 1):
            if lost + won:
                differences = [-1] * lost + [1] * won
                assert all_halves(differences).p_value() == pytest.approx(mcnemar_mid_p(lost, won), abs=1e-12)


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 9)), min_size=2, max_size=9),
    st.sampled_from([0.01, 0.05, 0.1, 0.3]),
)
def test_the_interval_excludes_0_exactly_where_the_test_shows_a_difference(documents, alpha):
    halves = all_halves([one for one, _ in documents], [size for _, size in documents])
    low, high = halves.interval(alpha)
    assert low <= high
    assert (low > 0.0 or high < 0.0) == (halves.p_value() <= alpha + 1e-9)


@given(
    st.lists(st.integers(-5, 5), min_size=8, max_size=11),
    st.sampled_from([0.05, 0.1, 0.3]),
    st.integers(-20, 20),
)
def test_the_interval_holds_what_its_test_does_not_refuse(differences, alpha, step):
    halves, delta = all_halves(differences), step / 4 + 0.01  # between the values of a lattice
    low, high = halves.interval(alpha)
    assume(min(abs(delta - low), abs(delta - high)) > 1e-6)
    assume(not (low <= 0.0 <= high and halves.p_value() > alpha))  # it was stretched to hold 0
    assume(not (0.0 < delta < low or high < delta < 0.0))  # an end at a refused 0 goes to the next difference
    assert (low < delta < high) == (halves.p_value(delta) > alpha + 1e-9)


def test_where_0_ends_the_interval_of_a_shown_difference_the_next_difference_is_its_end():
    halves = Halves.of(np.array([-0.1] * 1 + [0.0] * 1 + [0.2] * 20 + [0.4] * 78))
    assert halves.interval(0.05) == (0.2, 0.4)
    assert Halves.of(-halves.ordered).interval(0.05) == (-0.4, -0.2)


def test_an_interval_of_a_shown_difference_is_never_widened_across_0():
    assert widen((0.1, 0.3), (-0.2, 0.4), is_shown=True) == (0.1, 0.4)
    assert widen((-0.3, -0.1), (-0.4, 0.0), is_shown=True) == (-0.4, -0.1)
    assert widen((-0.1, 0.3), (-0.2, 0.1), is_shown=True) == (-0.2, 0.3)


def test_signs_are_pinned():
    assert signed_sums(np.array([[1, 10, 100]]), sign_keys(["a", "b", "ü"], 0), 8).tolist() == [
        [109, 89, 89, 89, 111, -89, -109, -91]
    ]
    assert [hex(key) for key in sign_keys(["a"], 5)] == ["0x78cf2347e4b4b1ab"]


@pytest.mark.parametrize(
    "size", [1, 2**20, 2**45, 2**57], ids=["narrow", "float32 and 64", "two limbs", "the largest"]
)
def test_signed_sums_are_exact(size):
    columns = np.array([[size, -3 * size // 2, 7, 1], [1, 2, 3, 4]])
    found = signed_sums(columns, sign_keys(names(4), 0), 200)
    signs = np.stack(
        [signed_sums(np.eye(4, dtype=np.int64)[[at]], sign_keys(names(4), 0), 200)[0] for at in range(4)]
    )
    expected = [
        [sum(int(sign) * int(value) for sign, value in zip(pattern, row, strict=True)) for pattern in signs.T]
        for row in columns
    ]
    assert set(signs.ravel().tolist()) == {-1, 1}
    assert found.tolist() == expected


def test_signs_are_fair_and_independent_of_the_bootstrap():
    signs = signed_sums(np.eye(40, dtype=np.int64), sign_keys(names(40), 0))
    assert abs(signs.mean()) < 4 / math.sqrt(signs.size)
    assert np.abs(np.corrcoef(signs) - np.eye(40)).max() < 5 / math.sqrt(DRAWS)


def test_very_many_documents_share_signs_in_groups_that_order_does_not_change():
    count = MOST_SIGNS + 5000
    values = np.arange(count)[None, :]
    columns, keys = group_columns(values, names(count), 0)
    assert columns.shape[1] == len(keys) <= MOST_SIGNS
    assert columns.sum() == values.sum()
    turned, same = group_columns(values[:, ::-1], names(count)[::-1], 0)
    assert (turned == columns).all()
    assert (same == keys).all()


# Bootstrap weights are the same everywhere and for ever, and those of the law that they are named after

IDS = ["invoice-0001", "a", "", "Ω/é.png", "\ud800"]

COUNTS = {
    0: ["3002120113533320", "0132000210120330", "1312021111000211", "1001021011110102", "0021001001001000"],
    7: ["0002100101100101", "0310131001113100", "3100111222200011", "1102011021111110", "2231101001012001"],
}
"""Poisson counts, pinned since the first version: the draws behind both tables."""

PINNED = [[45, 6, 7, 29, 10, 22, 2, 10], [5, 16, 58, 22, 1, 3, 4, 38]]
"""Sixteenths of the first two ids under seed 0."""


@pytest.mark.parametrize("seed", COUNTS)
def test_draws_are_the_ones_of_the_first_version(seed):
    drawn = weights(document_keys(IDS, seed), 0, 16, count_table())
    assert ["".join(map(str, row)) for row in drawn] == COUNTS[seed]


def test_weights_are_pinned():
    assert weights(document_keys(IDS[:2], 0), 0, 8, weight_table()).tolist() == PINNED


def test_the_key_of_an_id_is_pinned_and_wraps_negative_seeds():
    assert [hex(key) for key in document_keys(["a"], 0)] == ["0x2a2ad578af9eb97b"]
    assert document_keys(["a"], -1) == document_keys(["a"], 2**64 - 1)


def test_order_batch_and_block_do_not_matter():
    table, keys = weight_table(), document_keys(IDS, 3)
    whole = weights(keys, 0, 40, table)
    backwards = weights(keys[::-1], 0, 40, table)[::-1]
    in_parts = np.concatenate([weights(keys[:2], 0, 40, table), weights(keys[2:], 0, 40, table)])
    in_blocks = np.concatenate([weights(keys, first, 8, table) for first in range(0, 40, 8)], axis=1)
    for other in (backwards, in_parts, in_blocks, weights(keys, 0, 40, weight_table(np.float64))):
        assert np.array_equal(whole, other)


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5, 0.9, 0.99, 0.999])
def test_the_table_is_exponential_to_half_a_step(share):
    """A step is a sixteenth: at the quantile of each share the weight is the exact one, rounded."""
    exact = -math.log1p(-share)
    assert abs(float(weight_table()[int(share * 65536)]) / STEPS - exact) <= 0.5 / STEPS + 0.002


@pytest.mark.parametrize(("table", "unit"), [(weight_table, STEPS), (count_table, 1)])
def test_drawn_weights_have_mean_and_variance_one_and_documents_are_uncorrelated(table, unit):
    keys = document_keys([f"doc-{number}" for number in range(200)], 0)
    drawn = weights(keys, 0, 4000, table(np.float64)) / unit
    assert drawn.mean() == pytest.approx(1.0, abs=0.005)
    assert drawn.var() == pytest.approx(1.0, abs=0.015)
    assert np.abs(np.corrcoef(drawn[:40])[np.triu_indices(40, 1)]).max() < 5 / math.sqrt(4000)


@pytest.mark.parametrize("replicates", [1, 2, 999, 2000])
def test_the_unseen_document_is_a_coin_and_an_exponential_weight_by_quantiles(replicates):
    """The set of draws does not depend on the seed, so that the bounds of a perfect run do not."""
    drawn, again = unseen_weights(0, replicates), unseen_weights(1, replicates)
    assert np.array_equal(np.sort(drawn), np.sort(again))
    assert replicates < 3 or not np.array_equal(drawn, again)
    ordered = np.sort(np.abs(drawn))[::-1]
    assert abs(int((drawn > 0).sum()) - int((drawn < 0).sum())) <= replicates % 2
    for rank in range(0, replicates, max(1, replicates // 7)):  # P(|g| > x) = exp(-x)
        assert math.exp(-ordered[rank]) == pytest.approx((rank + 1) / replicates, abs=1.01 / replicates)


@pytest.mark.parametrize("away", [-np.inf, np.inf])
def test_the_last_bit_of_a_logarithm_which_processors_round_differently_does_not_show(away, monkeypatch):
    made, log1p = (weight_table.__wrapped__(), unseen_weights(0, 2000)), np.log1p
    monkeypatch.setattr(np, "log1p", lambda values: np.nextafter(log1p(values), away))
    for one, other in zip(made, (weight_table.__wrapped__(), unseen_weights(0, 2000)), strict=True):
        assert np.array_equal(one, other)
