"""The halves of the documents: their test is the sign flip, and their interval is what that test leaves."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from fieldassay.metrics.uncertainty.halves import Halves, widen
from fieldassay.metrics.uncertainty.paired import mcnemar_mid_p
from fieldassay.metrics.uncertainty.signs import (
    DRAWS,
    MOST_SIGNS,
    group_columns,
    sign_keys,
    signed_sums,
    sums_of_halves,
)

Floats = npt.NDArray[np.float64]


def names(count: int) -> list[str]:
    return [f"d{number}" for number in range(count)]


def all_halves(differences: list[int], sizes: list[int] | None = None) -> Halves:
    """Return the mean difference in every half of documents of these sizes."""
    patterns = sums_of_halves(np.eye(len(differences), dtype=np.int64))
    top = np.array(differences) @ patterns
    bottom = np.array(sizes or [1] * len(differences)) @ patterns
    with np.errstate(invalid="ignore", divide="ignore"):
        return Halves.of(top / bottom)


def flip_signs(differences: list[int]) -> Fraction:
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
def test_p_is_the_mid_p_of_the_sign_flip_by_hand(differences: list[int], p: float) -> None:
    assert float(flip_signs(differences)) == p
    assert all_halves(differences).p_value() == p


@given(st.lists(st.integers(-4, 4).filter(bool), min_size=1, max_size=9))
def test_p_is_the_mid_p_of_the_sign_flip(differences: list[int]) -> None:
    assert all_halves(differences).p_value() == pytest.approx(float(flip_signs(differences)), abs=1e-12)


@pytest.mark.parametrize("documents", [5, 7, 12, 40])
def test_yes_and_no_have_the_p_value_of_mcnemar_for_all_small_tables(documents: int) -> None:
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
def test_the_interval_excludes_0_exactly_where_the_test_shows_a_difference(
    documents: list[tuple[int, int]], alpha: float
) -> None:
    halves = all_halves([one for one, _ in documents], [size for _, size in documents])
    low, high = halves.interval(alpha)
    assert low <= high
    assert (low > 0.0 or high < 0.0) == (halves.p_value() <= alpha + 1e-9)


@given(
    st.lists(st.integers(-5, 5), min_size=8, max_size=11),
    st.sampled_from([0.05, 0.1, 0.3]),
    st.integers(-20, 20),
)
def test_the_interval_holds_what_its_test_does_not_refuse(
    differences: list[int], alpha: float, step: int
) -> None:
    halves, delta = all_halves(differences), step / 4 + 0.01  # between the values of a lattice
    low, high = halves.interval(alpha)
    assume(min(abs(delta - low), abs(delta - high)) > 1e-6)
    assume(not (low <= 0.0 <= high and halves.p_value() > alpha))  # it was stretched to hold 0
    assume(not (0.0 < delta < low or high < delta < 0.0))  # an end at a refused 0 goes to the next difference
    assert (low < delta < high) == (halves.p_value(delta) > alpha + 1e-9)


def test_where_0_ends_the_interval_of_a_shown_difference_the_next_difference_is_its_end() -> None:
    halves = Halves.of(np.array([-0.1] * 1 + [0.0] * 1 + [0.2] * 20 + [0.4] * 78))
    assert halves.interval(0.05) == (0.2, 0.4)
    turned = Halves.of(-halves.ordered)
    assert turned.interval(0.05) == (-0.4, -0.2)


def test_undefined_halves_count_half_on_either_side() -> None:
    halves = Halves.of(np.array([0.1] * 39 + [np.nan]))
    assert halves.p_value() == 1 / 40
    assert halves.interval(0.02) == (0.0, 0.1)


def test_an_interval_of_a_shown_difference_is_never_widened_across_0() -> None:
    assert widen((0.1, 0.3), (-0.2, 0.4), is_shown=True) == (0.1, 0.4)
    assert widen((-0.3, -0.1), (-0.4, 0.0), is_shown=True) == (-0.4, -0.1)
    assert widen((-0.1, 0.3), (-0.2, 0.1), is_shown=True) == (-0.2, 0.3)


def test_signs_are_pinned() -> None:
    assert signed_sums(np.array([[1, 10, 100]]), sign_keys(["a", "b", "ü"], 0), 8).tolist() == [
        [109, 89, 89, 89, 111, -89, -109, -91]
    ]
    assert [hex(key) for key in sign_keys(["a"], 5)] == ["0x78cf2347e4b4b1ab"]


@pytest.mark.parametrize(
    "size", [1, 2**20, 2**45, 2**57], ids=["narrow", "float32 and 64", "two limbs", "the largest"]
)
def test_signed_sums_are_exact(size: int) -> None:
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


def test_all_halves_of_documents_are_each_half_once() -> None:
    patterns = sums_of_halves(np.eye(5, dtype=np.int64))
    assert {tuple(column) for column in patterns.T.tolist()} == set(product((0, 1), repeat=5))


def test_signs_are_fair_and_independent_of_the_bootstrap() -> None:
    signs = signed_sums(np.eye(40, dtype=np.int64), sign_keys(names(40), 0))
    assert abs(signs.mean()) < 4 / math.sqrt(signs.size)
    assert np.abs(np.corrcoef(signs) - np.eye(40)).max() < 5 / math.sqrt(DRAWS)


def test_very_many_documents_share_signs_in_groups_that_order_does_not_change() -> None:
    count = MOST_SIGNS + 5000
    values = np.arange(count)[None, :]
    columns, keys = group_columns(values, names(count), 0)
    assert columns.shape[1] == len(keys) <= MOST_SIGNS
    assert columns.sum() == values.sum()
    turned, same = group_columns(values[:, ::-1], names(count)[::-1], 0)
    assert (turned == columns).all()
    assert (same == keys).all()
