"""Bounds of a risk from documents with several values: by hand, against the exact binomial, and their order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay.decisions.calibration.binomial import (
    allowed_errors,
    chance_of_errors,
    clopper_pearson_lower,
    clopper_pearson_upper,
    passes,
)
from fieldassay.decisions.calibration.bounds import (
    Losses,
    lower_p_value,
    risk_lower,
    risk_p_value,
    risk_upper,
)
from fieldassay.decisions.calibration.labels import Labels
from fieldassay.decisions.calibration.result import PromiseKind


def losses(*documents: tuple[float, float, int]) -> Losses:
    """Return the losses of documents: (share wrong, share accepted, how many) each."""
    wrong, whole, count = (np.array(column, float) for column in zip(*documents, strict=True))
    return Losses(wrong, whole, count)


BY_HAND = [
    # one of two wrong, at most half: P(at most 1 of 2) = 3/4, the exact binomial by either bound
    ("one of two", losses((0, 1, 1), (1, 1, 1)), 0.5, 0.75, 0.75),
    ("two clean", losses((0, 1, 2)), 0.5, 0.25, 0.25),
    # half of its values accepted, clean: P(0.5 G2 > 0.25 G1) = 0.5 / 0.75; one loss of 0.25 where at most 0.5
    # may be: the bet is 0.25 / (0.125 + 0.25^2), its wealth 1 + 4 / 3 x 0.25
    ("half accepted", losses((0, 0.5, 1)), 0.5, 2 / 3, 3 / 4),
    # half of its values wrong, at most a quarter: P(0.25 G1 + 0.75 G2 > 0)
    ("half wrong", losses((0.5, 1, 1)), 0.25, 1.0, 1.0),
]


@pytest.mark.parametrize(("name", "given_", "risk", "gaffke", "proven"), BY_HAND)
def test_p_values_by_hand(name: str, given_: Losses, risk: float, gaffke: float, proven: float) -> None:
    assert risk_p_value(given_, risk) == pytest.approx(gaffke, rel=1e-9)
    assert risk_p_value(given_, risk, is_proven=True) == pytest.approx(proven, rel=1e-7)


def test_the_best_wealth_counts_in_whatever_order_losses_come() -> None:
    late, early = losses((0, 1, 398), (0.5, 1, 2)), losses((0.5, 1, 2), (0, 1, 398))
    assert risk_p_value(late, 0.01, is_proven=True) < 0.05 < risk_p_value(early, 0.01, is_proven=True)
    assert risk_p_value(late, 0.01) == pytest.approx(risk_p_value(early, 0.01))


def test_the_lower_p_value_by_hand() -> None:
    # both wrong, at most a tenth: 0.1^2; one of two at most half: P(0.5 G1 + 0.5 G3 > 0.5 G2) = 3/4
    assert lower_p_value(losses((1, 1, 2)), 0.1) == pytest.approx(0.01)
    assert lower_p_value(losses((0, 1, 1), (1, 1, 1)), 0.5) == pytest.approx(0.75)


@given(st.integers(1, 100_000), st.floats(0, 3), st.floats(1e-5, 0.9))
def test_gaffke_is_clopper_pearson_for_documents_all_right_or_all_wrong(
    n: int, times: float, risk: float
) -> None:
    errors = min(n, int(n * risk * times))
    yes_no = losses((0, 1, n - errors), (1, 1, errors))
    assert risk_p_value(yes_no, risk) == pytest.approx(chance_of_errors(errors, n, risk), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize(("errors", "n"), [(0, 299), (1, 10), (9, 10), (40, 5000)])
def test_its_bounds_are_clopper_pearson_s_too(errors: int, n: int) -> None:
    yes_no = losses((0, 1, n - errors), (1, 1, errors))
    assert risk_upper(yes_no, 0.05) == pytest.approx(clopper_pearson_upper(errors, n, 0.05), abs=1e-7)
    assert risk_lower(yes_no, 0.05) == pytest.approx(clopper_pearson_lower(errors, n, 0.05), abs=1e-7)


def test_the_inversion_is_the_probability_that_simulation_gives() -> None:
    generator = np.random.default_rng(3)
    wrong = np.round(generator.beta(0.3, 3, 30), 2)
    whole = np.maximum(wrong, np.round(generator.random(30), 2))
    drawn = generator.exponential(size=(50_000, 31))
    simulated = (drawn[:, :30] @ (wrong - 0.3 * whole) + 0.7 * drawn[:, 30] > 0).mean()
    found = risk_p_value(Losses(wrong, whole, np.ones(30)), 0.3)
    assert found == pytest.approx(simulated, abs=0.006)


DOCUMENTS = st.lists(
    st.integers(1, 6).flatmap(
        lambda values: st.tuples(st.just(values), st.integers(0, values), st.integers(0, values))
    ),
    min_size=1,
    max_size=40,
)


@few_examples()
@given(DOCUMENTS, st.floats(0.01, 0.9))
def test_one_error_more_never_lowers_a_bound(documents: list[tuple[int, int, int]], risk: float) -> None:
    rows = [(min(wrong, accepted), accepted, values) for values, accepted, wrong in documents]
    base = losses(*((wrong / values, accepted / values, 1) for wrong, accepted, values in rows))
    before = risk_p_value(base, risk)
    assert 0.0 <= before <= 1.0
    for place, (wrong, accepted, values) in enumerate(rows):
        if wrong < accepted:
            more = base.wrong.copy()
            more[place] = (wrong + 1) / values
            after = Losses(more, base.whole, base.count)
            assert risk_p_value(after, risk) >= before - 1e-8
            assert risk_upper(after, 0.05) >= risk_upper(base, 0.05) - 1e-6
            break


@few_examples()
@given(DOCUMENTS, st.floats(0.01, 0.85))
def test_a_larger_risk_is_easier_to_show(documents: list[tuple[int, int, int]], risk: float) -> None:
    rows = [(min(wrong, accepted) / values, accepted / values, 1) for values, accepted, wrong in documents]
    assert risk_p_value(losses(*rows), risk + 0.05) <= risk_p_value(losses(*rows), risk) + 1e-8


@given(st.integers(1, 3000), st.floats(0.002, 0.5))
def test_allowed_errors_are_the_most_that_pass(n: int, risk: float) -> None:
    most = allowed_errors(n, risk, 0.05)
    assert most < 0 or passes(most, n, risk, 0.05)
    assert not passes(most + 1, n, risk, 0.05)


def test_losses_are_shares_of_accepted_values_or_of_all() -> None:
    # a: 0.9 right, 0.8 wrong, 0.1 right; b: 0.7 right. Down to 0.8: a has two accepted, one wrong, b nothing
    labels = Labels(
        np.array([0, 0, 0, 1]), np.array([0.9, 0.8, 0.1, 0.7]), np.array([True, False, True, True])
    )
    found = labels.losses(2, PromiseKind.VALUE)
    assert (found.wrong.tolist(), found.whole.tolist(), found.count.tolist()) == ([0.5], [1.0], [1.0])
    left = labels.losses(2, PromiseKind.RESIDUAL)
    assert math.isclose(left.wrong @ left.count, 1 / 3) and left.size == 2
    assert (found.count_errors(), left.count_errors()) == (1, 1)
