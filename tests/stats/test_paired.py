from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.stats.corrections import adjust_benjamini_hochberg, adjust_holm, adjust_min_p
from fieldassay.stats.paired import PValue, count_wins, effect_size, mcnemar_mid_p, sign_flip, tail_share
from fieldassay.stats.power import documents_needed, mcnemar_power, minimum_detectable_effect
from fieldassay.stats.signs import DRAWS, MOST_SIGNS, enumerate_sums, group_columns, sign_keys, signed_sums


def names(count: int) -> list[str]:
    return [f"d{number}" for number in range(count)]


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        pytest.param([1, 2, 3, 4, 5], 2 / 32, id="five, all in one direction"),
        pytest.param([0.1, 0.2, 0.3, 0, 0], 2 / 8, id="zeros do not count"),
        pytest.param([3, 1], 2 / 4, id="two patterns of four are as far"),
        pytest.param([3, -1], 1.0, id="all four are as far"),
        pytest.param([1, -1], 1.0, id="no difference in the sum"),
        pytest.param([1 / 3, 1 / 3, -2 / 3], 1.0, id="a sum that is 0 but for rounding"),
        pytest.param([0.1, 0.2, -0.3], 1.0, id="another one"),
        pytest.param([1, 1, -1], 1.0, id="all eight are as far as 1"),
        pytest.param([5, 1, 1, 1, -1], 10 / 32, id="counted by hand"),
        pytest.param([0, 0], 1.0, id="identical"),
        pytest.param([], 1.0, id="no documents"),
        pytest.param([math.nan, 1, 2], 2 / 4, id="an undefined difference is left out"),
        pytest.param([1] * 16, 2 / 2**16, id="sixteen are still gone through"),
    ],
)
def test_few_differences_are_tested_by_all_patterns_of_signs(differences: list[float], p: float) -> None:
    assert sign_flip(differences, names(len(differences))) == PValue(p, True)


def test_the_exact_p_value_is_that_of_counting() -> None:
    differences = [0.5, -0.25, 0.125, 1.0, -0.75, 0.5]
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=6)
    ]
    assert sign_flip(differences, names(6)).p == sum(found >= abs(sum(differences)) for found in sums) / 64


def test_many_differences_are_tested_by_9999_random_patterns() -> None:
    tested = sign_flip([1.0] * 17, names(17))
    assert not tested.is_exact
    assert tested.p == pytest.approx(2 / 2**17, abs=4e-4)
    assert tested.p >= 1 / (DRAWS + 1)
    assert sign_flip([1.0] * 60, names(60)).p == 1 / 10000


def test_random_p_values_are_near_the_exact_ones() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        differences = rng.normal(0.3, 1.0, 14)
        exact = sign_flip(differences, names(14)).p
        far = np.concatenate(
            [differences, 1e-7 * rng.normal(size=10)]
        )  # more than 16 now, and next to nothing changed
        assert sign_flip(far, names(24)).p == pytest.approx(exact, abs=0.02)


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=60), st.randoms(use_true_random=False))
def test_neither_order_nor_direction_matters(differences: list[float], random: object) -> None:
    documents = names(len(differences))
    tested = sign_flip(differences, documents, seed=7)
    assert sign_flip([-value for value in differences], documents, seed=7) == tested
    order = list(range(len(differences)))
    random.shuffle(order)  # type: ignore[attr-defined]
    assert sign_flip([differences[at] for at in order], [documents[at] for at in order], seed=7) == tested
    assert 0 < tested.p <= 1


@given(st.lists(st.sampled_from([-1, 0, 1]), max_size=16))
def test_mcnemar_is_the_sign_flip_of_yes_and_no_with_half_of_what_was_seen(differences: list[int]) -> None:
    b, c = differences.count(-1), differences.count(1)
    seen = 0.0 if b == c else math.comb(b + c, b) / 2 ** (b + c)
    assert mcnemar_mid_p(b, c) == pytest.approx(sign_flip(differences, names(len(differences))).p - seen)


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


@pytest.mark.parametrize(("lost", "won"), [(0.2, 0.05), (0.1, 0.0), (0.5, 0.3)])
@pytest.mark.parametrize("size", [6, 11, 40])
@pytest.mark.parametrize("is_mid_p", [True, False], ids=["mid-p", "sign flip"])
def test_power_is_that_of_the_test_that_is_used(size: int, lost: float, won: float, is_mid_p: bool) -> None:
    """Every count of lost and won documents, each with its chance and the p value that the test gives it."""
    found = 0.0
    for b in range(size + 1):
        for c in range(size - b + 1):
            seen = 0.0 if b == c else math.comb(b + c, b) / 2 ** (b + c)
            p = mcnemar_mid_p(b, c) + (0.0 if is_mid_p else seen)
            ways = math.comb(size, b) * math.comb(size - b, c)
            chance = ways * lost**b * won**c * (1 - lost - won) ** (size - b - c)
            found += chance if b > c and p <= 0.05 else 0.0
    assert mcnemar_power(size, lost, won, is_mid_p=is_mid_p) == pytest.approx(found, abs=1e-12)


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
    assert sorted(map(abs, enumerate_sums(columns)[1].tolist())) == sorted(2 * [10, 8, 6, 4, 2, 4, 2, 0])


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


def test_undefined_draws_count_as_far() -> None:
    assert tail_share(0.5, np.array([0.1, np.nan, 0.2, 0.3]), is_exact=True) == 0.25


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


@pytest.mark.parametrize(
    ("given_p", "adjusted"),
    [([0.01, 0.04, 0.03, 0.005], [0.02, 0.04, 0.04, 0.02]), ([0.9, 0.5], [0.9, 0.9]), ([], [])],
)
def test_benjamini_hochberg(given_p: list[float], adjusted: list[float]) -> None:
    assert adjust_benjamini_hochberg(given_p) == pytest.approx(adjusted)


@given(st.lists(st.floats(1e-6, 1), max_size=20))
def test_corrections_never_help_and_holm_is_the_stricter(given_p: list[float]) -> None:
    holm, bh = adjust_holm(given_p), adjust_benjamini_hochberg(given_p)
    assert all(
        p <= b + 1e-12 and b <= h + 1e-12 and h <= 1 for p, b, h in zip(given_p, bh, holm, strict=True)
    )


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


def test_what_could_be_seen_and_what_it_takes_to_see_more() -> None:
    assert minimum_detectable_effect(0.01) == pytest.approx((1.959964 + 0.841621) * 0.01, abs=1e-7)
    assert minimum_detectable_effect(0.0) == 0.0
    assert documents_needed(100, 0.04, 0.01) == 1600
    assert documents_needed(100, 0.04, 0.03) == 178
    assert documents_needed(100, 0.04, 0.0) is None


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
