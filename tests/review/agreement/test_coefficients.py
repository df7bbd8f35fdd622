"""Coefficients: published values as fractions, laws, and what has no value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.review.agreement import ratings as of_ratings
from fieldassay.review.agreement.coefficients import (
    FAILED,
    NO_PAIRS,
    NO_VARIATION,
    Coefficients,
    Undefined,
    agree,
)
from fieldassay.review.agreement.ratings import Floats, Ints, Measure, Ratings, differ, spread_of
from fieldassay.review.agreement.resampling import Resampled, Weights

_ = -1
KRIPPENDORFF = [
    [0, 0, _, 0], [1, 1, 2, 1], [2, 2, 2, 2], [2, 2, 2, 2], [1, 1, 1, 1], [0, 1, 2, 3],
    [3, 3, 3, 3], [0, 0, 1, 0], [1, 1, 1, 1], [_, 4, 4, 4], [_, _, 0, 0], [_, _, 2, _],
]  # fmt: skip
"""Four raters, 12 units, 7 answers missing: Krippendorff (2019), and Gwet (2014)."""

PARADOX = [[0, 0]] * 118 + [[0, 1]] * 5 + [[1, 0]] * 2


def interval(first: Ints, second: Ints) -> tuple[Floats, Floats]:
    distance = (first - second) ** 2 / 16.0
    return distance, distance


def ratio_scale(first: Ints, second: Ints) -> tuple[Floats, Floats]:
    distance = ((first - second) / (first + second + 2.0)) ** 2
    return distance, distance


def ordinal(first: Ints, second: Ints) -> tuple[Floats, Floats]:
    """The distance of ranks by the counts of the 40 pairable answers of KRIPPENDORFF."""
    counts = np.array([9.0, 13.0, 10.0, 5.0, 3.0])
    ends = np.cumsum(counts) - counts / 2.0
    distance = ((ends[first] - ends[second]) / 40.0) ** 2
    return distance, distance


def coefficients(codes: Any, measure: Measure = differ) -> Coefficients:
    table = np.array(codes)
    texts = tuple(str(code) for code in range(max(int(table.max()) + 1, 2)))
    ratings = Ratings.of(np.arange(len(table)), table, measure, texts, len(table))
    return agree(ratings, ratings.compare(), Weights.single(len(table)))


def number(found: Resampled | Undefined) -> float:
    assert isinstance(found, Resampled), found
    return found.value


@pytest.mark.parametrize(
    ("codes", "measure", "coefficient", "expected"),
    [
        pytest.param(KRIPPENDORFF, differ, "alpha", Fraction(113, 152), id="alpha, nominal"),
        pytest.param(KRIPPENDORFF, interval, "alpha", Fraction(951, 1120), id="alpha, interval"),
        pytest.param(KRIPPENDORFF, ordinal, "alpha", 0.8153875038, id="alpha, ordinal"),
        pytest.param(KRIPPENDORFF, ratio_scale, "alpha", 0.7974027747, id="alpha, ratio"),
        pytest.param(
            KRIPPENDORFF, differ, "observed", Fraction(9, 11), id="observed, units with two answers"
        ),
        pytest.param(KRIPPENDORFF, differ, "ac1", Fraction(31825, 41041), id="AC1"),
        pytest.param(KRIPPENDORFF, interval, "ac1", 0.91400, id="AC2, quadratic weights"),
        pytest.param(PARADOX, differ, "observed", Fraction(118, 125), id="observed, the paradox"),
        pytest.param(PARADOX, differ, "alpha", Fraction(-2, 81), id="alpha, the paradox"),
        pytest.param(PARADOX, differ, "ac1", Fraction(27799, 29549), id="AC1, the paradox"),
    ],
)
def test_published_values_come_out(
    codes: Any, measure: Measure, coefficient: str, expected: Fraction | float
) -> None:
    digits = 1e-12 if isinstance(expected, Fraction) else 6e-6 if expected == 0.914 else 6e-11
    assert number(getattr(coefficients(codes, measure), coefficient)) == pytest.approx(
        float(expected), abs=digits
    )


def exact_alpha(codes: list[list[int]]) -> Fraction | None:
    """Return nominal alpha by its definition, over all pairs of single answers."""
    units = [[code for code in row if code >= 0] for row in codes]
    units = [row for row in units if len(row) > 1]
    answers = [code for row in units for code in row]
    n = len(answers)
    if n < 2:
        return None
    observed = sum(
        Fraction(sum(one != two for one in row for two in row), len(row) - 1) for row in units
    ) / Fraction(n)
    expected = Fraction(sum(one != two for one in answers for two in answers), n * (n - 1))
    return 1 - observed / expected if expected else None


tables = st.integers(2, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(-1, 3), min_size=columns, max_size=columns), min_size=1, max_size=8
    )
)


@given(tables)
def test_alpha_is_its_definition(codes: list[list[int]]) -> None:
    found, expected = coefficients(codes).alpha, exact_alpha(codes)
    if expected is None:
        assert found in (NO_PAIRS, NO_VARIATION)
    else:
        assert number(found) == pytest.approx(float(expected), abs=1e-12)


@given(tables, st.randoms())
def test_neither_the_order_of_reviewers_nor_of_answers_changes_a_bit(
    codes: list[list[int]], random: Any
) -> None:
    turned = [random.sample(row, len(row)) for row in codes]
    for one, two in zip(coefficients(codes)[:4], coefficients(turned)[:4], strict=True):
        assert one == two if isinstance(one, Undefined) else number(one) == number(two)


@given(tables)
def test_numbers_are_in_their_bounds(codes: list[list[int]]) -> None:
    found = coefficients(codes)
    for one in found[:4]:
        assert isinstance(one, Undefined) or number(one) <= 1.0
    assert isinstance(found.observed, Undefined) or number(found.observed) >= 0.0


@pytest.mark.parametrize(
    ("codes", "coefficient", "reason"),
    [
        pytest.param([[0, 0], [0, 0]], "alpha", NO_VARIATION, id="alpha of one answer"),
        pytest.param([[0, 0], [0, 0]], "ac1", NO_VARIATION, id="AC1 of one answer"),
        pytest.param([[0, _], [_, 1]], "observed", NO_PAIRS, id="no value with two answers"),
        pytest.param([[0, _], [_, 1]], "alpha", NO_PAIRS, id="alpha without pairs"),
    ],
)
def test_what_is_undefined_has_a_reason_and_no_value(codes: Any, coefficient: str, reason: Undefined) -> None:
    assert getattr(coefficients(codes), coefficient) == reason


def test_one_answer_everywhere_is_observed_agreement_nevertheless() -> None:
    assert number(coefficients([[0, 0], [0, 0]]).observed) == 1.0


def test_a_pair_that_cannot_be_compared_leaves_nothing_that_could_be_wrong() -> None:
    def fails(first: Ints, _second: Ints) -> tuple[Floats, Floats]:
        return np.full(len(first), np.nan), np.full(len(first), np.nan)

    assert set(coefficients([[0, 1], [1, 1]], fails)[:4]) == {FAILED}


def test_a_sample_of_pairs_estimates_the_chance_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    codes = random.integers(0, 40, (300, 2))
    codes[:150, 1] = codes[:150, 0]
    whole = {measure: coefficients(codes, measure) for measure in (differ, near_by)}
    monkeypatch.setattr(of_ratings, "MOST_COMPARED", 20)
    monkeypatch.setattr(of_ratings, "SAMPLED_PAIRS", 200)
    sampled = {measure: coefficients(codes, measure) for measure in whole}
    assert [one.is_sampled for one in (*whole.values(), *sampled.values())] == [False, False, True, True]
    assert number(sampled[differ].alpha) == pytest.approx(number(whole[differ].alpha), abs=1e-12)
    assert number(sampled[near_by].alpha) == pytest.approx(number(whole[near_by].alpha), abs=0.02)


def near_by(first: Ints, second: Ints) -> tuple[Floats, Floats]:
    distance = (np.abs(first - second) > 8).astype(np.float64)
    return distance, distance


def test_a_sample_does_not_depend_on_the_order_of_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_ratings, "MOST_COMPARED", 5)
    ratings = Ratings.of(np.array([0]), np.array([[0, 1]]), differ, tuple("abcdefgh"), 1)
    order = spread_of(ratings).order
    assert order is not None
    turned = Ratings.of(np.array([0]), np.array([[0, 1]]), differ, tuple("hgfedcba"), 1)
    other = spread_of(turned).order
    assert other is not None
    assert [ratings.texts[at] for at in order] == [turned.texts[at] for at in other]


def test_the_weights_of_many_documents_take_a_byte_each() -> None:
    import tracemalloc

    from fieldassay.review.agreement.resampling import Weights

    documents = [f"doc-{number}" for number in range(20_000)]
    tracemalloc.start()
    drawn = Weights.draw(documents, 2000, 0)
    sums = drawn.sums(np.ones(len(documents)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 180e6
    assert sums[0] == len(documents)
    assert drawn.table[:4, 1:7].tolist() == Weights.draw(documents[:4], 6, 0).table[:, 1:].tolist()
