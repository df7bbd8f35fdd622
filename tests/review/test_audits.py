"""The accuracy before review, from reviewed and audited values by inverse probability weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import trials

from fieldassay.decisions.calibration.certificate import clopper_pearson_lower, clopper_pearson_upper
from fieldassay.errors import ProblemsError
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings
from fieldassay.review.audits import ReviewedValue, estimate_accuracy


def test_weights_stand_for_what_was_not_looked_at() -> None:
    # two reviewed (one wrong), three audited at 1 in 10 (one wrong): (1 + 20) / (2 + 30)
    looked = [
        ReviewedValue("a", True, 1.0),
        ReviewedValue("a", False, 1.0),
        ReviewedValue("b", True, 0.1),
        ReviewedValue("c", True, 0.1),
        ReviewedValue("d", False, 0.1),
    ]
    found = estimate_accuracy(looked)
    assert (found.value, found.n, found.documents) == (pytest.approx(21 / 32), 5, 4)
    assert found.interval is not None and found.interval[0] < 21 / 32 < found.interval[1]


def test_a_known_number_of_accepted_values_fixes_what_the_audits_stand_for() -> None:
    # one of two reviewed is wrong, one of four audits: (1 + 98 x 3/4) / 100, and the risk is 1/4
    looked = [ReviewedValue("a", True, 1.0), ReviewedValue("a", False, 1.0)]
    looked += [ReviewedValue(f"b{at}", at > 0, 0.03) for at in range(4)]
    found = estimate_accuracy(looked, accepted=98)
    assert (found.value, found.risk) == (pytest.approx(0.745), 0.25)
    assert found.risk_interval == (
        pytest.approx(clopper_pearson_lower(1, 4, 0.025), abs=1e-6),
        pytest.approx(clopper_pearson_upper(1, 4, 0.025), abs=1e-6),
    )
    low, high = found.risk_interval
    assert found.interval == (pytest.approx(0.01 + 0.98 * (1 - high)), pytest.approx(0.01 + 0.98 * (1 - low)))


def test_audits_without_an_error_still_leave_a_risk() -> None:
    found = estimate_accuracy([ReviewedValue(f"d{at}", True, 0.03) for at in range(100)], accepted=3000)
    assert found.value == 1.0 and found.risk == 0.0
    assert found.risk_interval == (0.0, pytest.approx(clopper_pearson_upper(0, 100, 0.025), abs=1e-6))


def test_without_audits_nothing_is_said_of_accepted_values() -> None:
    found = estimate_accuracy([ReviewedValue("a", True, 1.0)], accepted=10)
    assert (found.value, found.interval, found.risk) == (None, None, None)
    with pytest.raises(ProblemsError, match="cannot have 2 audits"):
        estimate_accuracy([ReviewedValue("a", True, 0.1)] * 2, accepted=1)


def test_intervals_with_a_known_number_of_accepted_values_hold() -> None:
    generator, held = np.random.default_rng(4), 0
    number = trials(200)
    for _ in range(number):
        confidence = generator.random(5000)
        right = generator.random(5000) < 0.9 + confidence / 10
        is_reviewed, is_audited = confidence < 0.2, generator.random(5000) < 0.03
        looked = [ReviewedValue(f"d{at}", bool(right[at]), 1.0) for at in np.flatnonzero(is_reviewed)]
        drawn = np.flatnonzero(~is_reviewed & is_audited)
        looked += [ReviewedValue(f"d{at}", bool(right[at]), 0.03) for at in drawn]
        known = estimate_accuracy(looked, accepted=int((~is_reviewed).sum()))
        assert known.interval is not None
        held += known.interval[0] <= right.mean() <= known.interval[1]
    assert held >= 0.9 * number


def test_nothing_looked_at_says_nothing_and_a_bad_probability_is_refused() -> None:
    assert estimate_accuracy([]).value is None
    for probability in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(ProblemsError):
            estimate_accuracy([ReviewedValue("a", True, probability)])


def test_the_weighted_estimate_is_right_where_reviewed_values_alone_mislead() -> None:
    generator, weighted, plain = np.random.default_rng(1), [], []
    for _ in range(200):
        confidence = generator.random(1000)
        right = generator.random(1000) < 0.5 + confidence / 2
        is_reviewed, is_audited = confidence < 0.3, generator.random(1000) < 0.05
        looked = [ReviewedValue("r", bool(one), 1.0) for one in right[is_reviewed]]
        plain.append(np.mean([one.is_correct for one in looked]))
        looked += [ReviewedValue("a", bool(one), 0.05) for one in right[~is_reviewed & is_audited]]
        weighted.append(estimate_accuracy(looked, BootstrapSettings(replicates=0)).value)
    assert np.mean(weighted) == pytest.approx(0.75, abs=0.01)
    assert np.mean(plain) < 0.6


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from([1.0, 0.5, 0.03])),
        min_size=1,
        max_size=30,
    )
)
def test_an_estimate_lies_from_0_to_1(rows: list[tuple[str, bool, float]]) -> None:
    found = estimate_accuracy([ReviewedValue(*row) for row in rows], BootstrapSettings(replicates=40))
    assert found.value is not None and 0.0 <= found.value <= 1.0
    assert found.interval is None or 0.0 <= found.interval[0] < found.interval[1] <= 1.0
