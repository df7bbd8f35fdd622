"""The promise of a certified threshold, by simulation: it is kept, and what breaks it is seen to break it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.decisions.calibration.confidence_simulations import Floats, Scorer, certify_single, clustered
from tests.effort import trials

from fieldassay.decisions.calibration.certificate import Promise, make_certificate
from fieldassay.decisions.calibration.measures import count_accepted
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings

TRIALS = trials(1000)
BROKEN_BY_CHANCE = 70 if TRIALS == 1000 else 23
"""Of 1000 or 250 trials at 5%: more than this happens once in 400 times."""

SCORERS = {
    "continuous": Scorer(2, 1, 2),
    "two decimals": Scorer(2, 1, 2, 2),
    "one decimal": Scorer(2, 1, 2, 1),
    "hard": Scorer(5, 1, 1),
    "flat at the target": Scorer(50, 1.5, 1),
}


@pytest.mark.parametrize("name", SCORERS)
def test_at_most_delta_of_the_trials_break_the_promise(name: str) -> None:
    scorer, generator = SCORERS[name], np.random.default_rng(1)
    found = [certify_single(*scorer.draw(generator, 800), 0.03, 0.05).last for _ in range(TRIALS)]
    thresholds = np.array([step.threshold for step in found if step is not None])
    assert len(thresholds) > 0
    assert np.count_nonzero(scorer.true_risk(thresholds) > 0.03) <= BROKEN_BY_CHANCE


def test_a_scorer_that_is_exactly_too_bad_everywhere_is_certified_in_at_most_delta_of_the_trials() -> None:
    generator = np.random.default_rng(2)
    passed = [
        certify_single(generator.random(800), generator.random(800) >= 0.0301, 0.03, 0.05).last is not None
        for _ in range(TRIALS)
    ]
    assert sum(passed) <= BROKEN_BY_CHANCE


def test_a_good_scorer_is_certified_almost_always_and_with_much_coverage() -> None:
    scorer, generator = Scorer(9, 1, 2), np.random.default_rng(3)
    found = [certify_single(*scorer.draw(generator, 800), 0.03, 0.05).last for _ in range(200)]
    assert sum(step is not None for step in found) > 190
    assert np.mean([step.labels / 800 for step in found if step is not None]) > 0.9


def lowest_that_seems_good(confidence: Floats, is_right: np.ndarray, risk: float) -> float:
    values, accepted, errors = count_accepted(confidence, is_right)
    good = np.flatnonzero(errors / accepted <= risk)
    return float(values[good[-1]]) if len(good) else 2.0


def test_taking_the_lowest_threshold_that_seems_good_breaks_the_promise_about_half_of_the_time() -> None:
    scorer, generator = Scorer(2, 1, 2), np.random.default_rng(4)
    taken = np.array([lowest_that_seems_good(*scorer.draw(generator, 800), 0.03) for _ in range(TRIALS)])
    assert 0.40 < np.mean(scorer.true_risk(taken) > 0.03) < 0.60


def share_certified(bad: float, number: int = trials(200)) -> float:
    """Return how often documents with this share of bad ones are certified for a risk of 3%.

    The share does not depend on the confidence.
    """
    generator = np.random.default_rng(5)
    drawn = (clustered(generator, 400, 10, bad) for _ in range(number))
    found = [
        make_certificate(("total",), one, Promise(0.03), BootstrapSettings(0)).threshold for one in drawn
    ]
    return sum(threshold is not None for threshold in found) / number


def test_errors_that_come_together_do_not_break_the_promise() -> None:
    assert share_certified(0.0301) <= 0.12


def test_good_documents_are_certified() -> None:
    assert share_certified(0.0005, 20) > 0.85
