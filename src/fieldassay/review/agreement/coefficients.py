"""Observed agreement, Krippendorff's alpha and Gwet's AC1, in all replicates at once.

Krippendorff (2019), Content Analysis, 4th ed., ch. 12; Gwet (2008), Br. J. Math. Stat. Psychol. 61, 29-48,
with the weights of Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., ch. 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import contraharmonic_mean
from fieldassay.review.agreement.ratings import Compared, Floats, Ints, Ratings, Spread, spread_of
from fieldassay.review.agreement.resampling import Resampled, Weights, ratio

_AT_ONCE = 4_000_000


class Undefined(Struct, frozen=True):
    """The reason for which a coefficient has no value."""

    reason: str


NO_PAIRS = Undefined("no two answers to one value")
NO_VARIATION = Undefined("all answers are the same")
FAILED = Undefined("some answers could not be compared")


class Coefficients(NamedTuple):
    """The coefficients of some ratings."""

    observed: Resampled | Undefined
    alpha: Resampled | Undefined
    alpha_soft: Resampled | Undefined
    ac1: Resampled | Undefined
    is_sampled: bool = False

    def named(self) -> dict[str, Resampled | Undefined]:
        """Return the coefficients by name."""
        return {
            "observed": self.observed,
            "alpha": self.alpha,
            "alpha_soft": self.alpha_soft,
            "ac1": self.ac1,
        }


def agree(ratings: Ratings, pairs: Compared, weights: Weights) -> Coefficients:
    """Return the coefficients of ratings, whose pairs are `pairs`, with their replicates.

    >>> from fieldassay.review.agreement.ratings import differ
    >>> codes = np.array([[0, 0]] * 4 + [[0, 1]] + [[1, 1]] * 3)
    >>> ratings = Ratings.of(np.arange(8), codes, differ, ("a", "b"), 8)
    >>> found = agree(ratings, ratings.compare(), Weights.single(8))
    >>> found.observed.value, round(found.alpha.value, 4), round(found.ac1.value, 4)
    (0.875, 0.7619, 0.7538)
    """
    if not len(pairs.units):
        return Coefficients(NO_PAIRS, NO_PAIRS, NO_PAIRS, NO_PAIRS)
    if pairs.has_failed:
        return Coefficients(FAILED, FAILED, FAILED, FAILED)
    observed = ratio(share_of_pairs(ratings, pairs, 1.0 - pairs.strict), units_compared(ratings), weights)
    spread = spread_of(ratings)
    if spread.has_failed:
        return Coefficients(observed, FAILED, FAILED, FAILED, spread.is_sampled)
    alphas = _alphas(ratings, spread, pairs, weights)
    return Coefficients(observed, *alphas, _ac1(ratings, spread, observed, weights), spread.is_sampled)


def share_of_pairs(ratings: Ratings, pairs: Compared, values: Floats) -> Floats:
    """Return the sum over the units of each document of the mean of a value over the unit's pairs."""
    answers = ratings.answers[pairs.units]
    return by_document(ratings, pairs.units, values * 2.0 / (answers * (answers - 1.0)))


def units_compared(ratings: Ratings) -> Floats:
    """Return how many units of each document have two answers."""
    units = np.flatnonzero(ratings.answers >= 2)
    return by_document(ratings, units, np.ones(len(units)))


def by_document(ratings: Ratings, units: Ints, values: Floats) -> Floats:
    """Return the sums over the documents of values of units."""
    sums: Floats = np.bincount(ratings.doc[units], weights=values, minlength=ratings.documents).astype(
        np.float64
    )
    return sums


def _alphas(
    ratings: Ratings, spread: Spread, pairs: Compared, weights: Weights
) -> tuple[Resampled | Undefined, Resampled | Undefined]:
    """Return alpha by the strict and by the soft distance: 1 - observed / expected distance.

    All answers to the unseen document are one that nobody gave, at distance 1 from all others; where it is
    wrong, only every second one is, and the others are spread as those of all documents.
    """
    answers = ratings.answers
    held = np.where((answers >= 2)[:, None], ratings.codes, -1)
    pairable = np.flatnonzero(answers >= 2)
    size = by_document(ratings, pairable, answers[pairable].astype(np.float64))
    number = weights.sums(size)
    expected: tuple[list[Floats], list[Floats]] = ([], [])
    for counts in _counts(ratings, held, weights):
        for is_soft, parts in enumerate(expected):
            parts.append(spread.expected(counts, bool(is_soft)))
    found: list[Resampled | Undefined] = []
    others = (answers - 1.0)[pairs.units]
    mass = contraharmonic_mean(size) * np.abs(weights.unseen)
    is_wrong = weights.unseen < 0
    for measured, parts in zip((pairs.strict, pairs.soft), expected, strict=True):
        distance = weights.sums(by_document(ratings, pairs.units, measured * 2.0 / others))
        spread_sum = np.concatenate(parts)
        if not spread_sum[0] > 0:
            found.append(NO_VARIATION)
            continue
        chance = spread_sum / (number * (number - 1.0)).clip(1.0)
        beside = np.where(is_wrong, number * (1.0 + chance) / 2.0 + mass / 4.0, number)
        found.append(
            Resampled(
                _alpha(distance, spread_sum, number),
                _alpha(distance + mass * is_wrong, spread_sum + 2.0 * mass * beside, number + mass),
            )
        )
    return found[0], found[1]


def _alpha(distance: Floats, spread_sum: Floats, number: Floats) -> Floats:
    """Return alpha from the sum of distances within units and that over all ordered pairs of answers."""
    with np.errstate(invalid="ignore", divide="ignore"):
        expected = spread_sum / (number * (number - 1.0)).clip(1.0)
        alpha: Floats = 1.0 - (distance / number) / np.where(expected > 0, expected, np.nan)
    return alpha


def _counts(ratings: Ratings, codes: Ints, weights: Weights) -> Iterator[Floats]:
    """Yield how often each answer was given, replicates x q, in parts of some replicates."""
    units, columns = np.nonzero(codes >= 0)
    given, doc = codes[units, columns], ratings.doc[units]
    order = np.argsort(given, kind="stable")
    given, doc = given[order], doc[order]
    present, starts = np.unique(given, return_index=True)
    step = max(1, _AT_ONCE // max(len(given), 1))
    for start in range(0, len(weights), step):
        stop = min(start + step, len(weights))
        counts = np.zeros((stop - start, len(ratings.texts)))
        if len(given):
            counts[:, present] = np.add.reduceat(weights.of(doc, start, stop), starts, axis=0).T
        yield counts


def _ac1(ratings: Ratings, spread: Spread, observed: Resampled, weights: Weights) -> Resampled | Undefined:
    """Return AC1, with the weights of the strict distance: (p_a - p_e) / (1 - p_e).

    p_e is the sum of all weights of q categories / (q (q - 1)), times the sum of share (1 - share) over the
    categories; the share of a category is its mean over all units with an answer.
    """
    answers = ratings.answers
    codes = np.where(ratings.codes >= 0, ratings.category[ratings.codes], -1)
    present, places = np.unique(codes[codes >= 0], return_inverse=True)
    q = len(present)
    if q < 2:
        return NO_VARIATION
    units = np.nonzero(codes >= 0)[0]
    share = 1.0 / answers[units]
    squares = np.zeros(len(weights))
    order = np.argsort(places, kind="stable")
    starts = np.searchsorted(places[order], np.arange(q))
    number = weights.sums(np.bincount(ratings.doc[answers > 0], minlength=ratings.documents).astype(float))
    step = max(1, _AT_ONCE // len(order))
    for start in range(0, len(squares), step):
        part = weights.of(ratings.doc[units[order]], start, start + step) * share[order, None]
        squares[start : start + step] = (np.add.reduceat(part, starts, axis=0) ** 2).sum(axis=0)
    first = np.searchsorted(ratings.category[_by_category(ratings)], present)
    factor = spread.acceptance(_by_category(ratings)[first]) / (q * (q - 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        chance = factor * (1.0 - squares / number**2)
        rest = np.where(chance < 1.0, 1.0 - chance, np.nan)
        parts = [(part - chance) / rest for part in (observed.all, observed.guarded)]
    return Resampled(*parts) if np.isfinite(parts[0][0]) else NO_VARIATION


def _by_category(ratings: Ratings) -> Ints:
    """Return the answers by their category; the first of each represents it."""
    return np.argsort(ratings.category, kind="stable")
