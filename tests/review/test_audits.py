"""The share of wrong values among the accepted, from audits by inverse probability weights."""

import numpy as np
import pytest
from tests.effort import trials

from fieldassay.decisions.calibration.certificate import clopper_pearson_lower, clopper_pearson_upper
from fieldassay.review.status import ReviewedValue, wrong_of


@pytest.mark.parametrize("wrong", [0, 5])
def test_audits_alike_have_the_exact_binomial_interval(wrong: int) -> None:
    found = wrong_of([ReviewedValue(f"d{at}", at >= wrong, 0.03) for at in range(100)])
    assert (found.share, found.n) == (wrong / 100, 100)
    bounds = (clopper_pearson_lower(wrong, 100, 0.025), clopper_pearson_upper(wrong, 100, 0.025))
    assert found.interval == pytest.approx(bounds, abs=1e-6)


def test_weights_stand_for_what_was_not_looked_at() -> None:
    # 20 wrong at 1 in 1, 20 right at 1 in 10: 20 of 220
    values = [ReviewedValue(f"d{at}", at % 2 == 0, 0.1 if at % 2 == 0 else 1.0) for at in range(40)]
    assert wrong_of(values).share == pytest.approx(20 / 220)
    assert wrong_of(values[:19]).share is None


def test_intervals_of_audits_hold() -> None:
    generator, number, kept = np.random.default_rng(4), trials(200), 0
    for _ in range(number):
        right = generator.random(5000) < 0.98
        audits = np.flatnonzero(generator.random(5000) < 0.03)
        found = wrong_of([ReviewedValue(f"d{at}", bool(right[at]), 0.03) for at in audits])
        assert found.interval is not None
        kept += found.interval[0] <= 0.02 <= found.interval[1]
    assert kept >= 0.9 * number
