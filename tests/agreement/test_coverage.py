"""Intervals of agreement hold the truth as often as they say; resampling values does not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.effort import trials

from fieldassay.agreement.coefficients import agree
from fieldassay.agreement.ratings import Ints, Ratings, differ
from fieldassay.agreement.resampling import Resampled, Weights

FIELDS, BAD, VALUES = 6, 0.15, 4


def label(random: np.random.Generator, documents: int) -> Ints:
    """Return the answers of two reviewers to 6 values of each document; bad documents are guessed."""
    truth = random.integers(0, VALUES, (documents, FIELDS, 1))
    errs = np.where(random.random((documents, 1, 1)) < BAD, 0.7, 0.03)
    guess = random.integers(0, VALUES, (documents, FIELDS, 2))
    return np.where(random.random((documents, FIELDS, 2)) < errs, guess, truth).reshape(-1, 2)


def interval_of(codes: Ints, doc: Ints, seed: int) -> tuple[Resampled, Resampled]:
    size = int(doc.max()) + 1
    weights = Weights.draw([f"{seed}/{name}" for name in range(size)], 400, seed)
    found = agree(ratings := Ratings.of(doc, codes, differ, tuple("abcd"), size), ratings.compare(), weights)
    assert isinstance(found.observed, Resampled)
    assert isinstance(found.alpha, Resampled)
    return found.observed, found.alpha


def truth() -> tuple[float, float]:
    codes = label(np.random.default_rng(0), 60_000)
    ratings = Ratings.of(np.arange(len(codes)), codes, differ, tuple("abcd"), len(codes))
    found = agree(ratings, ratings.compare(), Weights.single(len(codes)))
    assert isinstance(found.observed, Resampled)
    assert isinstance(found.alpha, Resampled)
    return found.observed.value, found.alpha.value


def coverage(documents: int, number: int) -> dict[str, tuple[float, float]]:
    """Return how often the intervals of observed agreement and of alpha hold the truth, by the unit."""
    true = truth()
    held = {"documents": np.zeros(2), "values": np.zeros(2)}
    for trial in range(number):
        codes = label(np.random.default_rng(1000 + trial), documents)
        units = {"documents": np.repeat(np.arange(documents), FIELDS), "values": np.arange(len(codes))}
        for name, doc in units.items():
            for at, one in enumerate(interval_of(codes, doc, trial)):
                low, high = one.interval(0.95) or (0.0, 0.0)
                held[name][at] += low <= true[at] <= high
    return {name: (count[0] / number, count[1] / number) for name, count in held.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("documents", "least"), [(40, 0.95), (100, 0.95)])
def test_intervals_over_documents_hold_the_truth_and_those_over_values_do_not(
    documents: int, least: float
) -> None:
    found = coverage(documents, trials(600))
    slack = 0.03 if trials(600) < 600 else 0.0
    assert min(found["documents"]) > least - slack
    assert max(found["values"]) < 0.87 + slack
