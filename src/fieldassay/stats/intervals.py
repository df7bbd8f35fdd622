"""Intervals around one number: percentile bootstrap, Wilson score, order statistics."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FEW_DOCUMENTS = 20
"""Below this many documents a bootstrap interval is marked, because it is too narrow."""

FEW_DIFFERENCES = 5
"""Where two systems differ in fewer documents, what the others might have shown weighs more than what these show, and resampling cannot know it."""


def are_too_few(replicates: int, level: float) -> bool:
    """Return whether there are too few replicates for percentiles at a level: not one is expected beyond each bound, so that it is no bound.

    >>> are_too_few(39, 0.95), are_too_few(40, 0.95), are_too_few(2000, 0.9999)
    (True, False, True)
    """
    return replicates * (1.0 - level) / 2.0 < 1.0 - 1e-9


class Interval(NamedTuple):
    """A lower and an upper bound."""

    low: float
    high: float


class Percentiles(NamedTuple):
    """Percentile intervals of m metrics: bounds (NaN where no replicate is defined) and how many replicates were undefined."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    dropped: npt.NDArray[np.int64]


def percentile_intervals(replicates: npt.NDArray[np.float64], level: float) -> Percentiles:
    """Return the percentile bootstrap intervals of m metrics from their m x r replicates; NaN replicates are dropped and counted.

    Quantiles interpolate linearly between order statistics.

    >>> percentile_intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.0, np.nan, np.nan, np.nan]]), 0.5)
    Percentiles(low=array([1. , 1.5]), high=array([3. , 2.5]), dropped=array([0, 3]))
    """
    ordered = np.sort(replicates, axis=1)
    defined = np.count_nonzero(~np.isnan(ordered), axis=1)
    tail = (1.0 - level) / 2.0
    return Percentiles(
        _quantiles(ordered, defined, tail),
        _quantiles(ordered, defined, 1.0 - tail),
        ordered.shape[1] - defined,
    )


def _quantiles(
    ordered: npt.NDArray[np.float64], defined: npt.NDArray[np.int64], share: float
) -> npt.NDArray[np.float64]:
    if ordered.shape[1] == 0:
        return np.full(len(ordered), np.nan)
    position = share * np.maximum(defined - 1, 0)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(defined - 1, 0))
    rows = np.arange(len(ordered))
    low, high = ordered[rows, below], ordered[rows, above]
    found: npt.NDArray[np.float64] = low + (high - low) * (position - below)
    return found


def wilson_interval(successes: float, n: int, level: float) -> Interval:
    """Return the Wilson score interval of a proportion (Wilson 1927); n must be positive.

    >>> low, high = wilson_interval(3, 3, 0.95)
    >>> round(low, 4), high
    (0.4385, 1.0)
    """
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    share = successes / n
    scale = 1.0 + z * z / n
    center = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1.0 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if successes == 0 else max(0.0, center - half)
    high = 1.0 if successes == n else min(1.0, center + half)
    return Interval(low, high)


def same_difference_interval(difference: float, documents: int, level: float, highest: float) -> Interval:
    """Return an interval of a mean difference that all of n documents show alike, so that no resampling of them can vary.

    At least the share of all documents that Wilson's lower bound of n out of n says would show it too; of the others nothing is known, except that
    a difference lies between -`highest` and `highest`. n must be positive.

    >>> low, high = same_difference_interval(-1.0, 100, 0.95, 1.0)
    >>> low, round(high, 4)
    (-1.0, -0.926)
    """
    share = wilson_interval(documents, documents, level).low
    reach = (1.0 - share) * highest
    return Interval(max(-highest, share * difference - reach), min(highest, share * difference + reach))


def quantile_interval(ordered: npt.NDArray[np.float64], share: float, level: float) -> Interval | None:
    """Return the order-statistic interval of a quantile; `ordered` is ascending, and None means that n values cannot bound it at this level.

    It assumes no distribution: the number of values below the true quantile is binomial(n, share).

    >>> quantile_interval(np.arange(1.0, 101.0), 0.5, 0.95)
    Interval(low=40.0, high=61.0)
    >>> quantile_interval(np.arange(5.0), 0.99, 0.95) is None
    True
    """
    n = len(ordered)
    tail = (1.0 - level) / 2.0
    counts, below = _binomial_below(n, share)
    under = counts[below <= tail]
    over = counts[below >= 1.0 - tail]
    if not len(under) or not len(over) or over[0] >= n:
        return None
    return Interval(float(ordered[under[-1]]), float(ordered[over[0]]))


def _binomial_below(n: int, share: float) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return counts k around the mean of binomial(n, share) and P(X <= k) for each; what lies outside has less than 1e-15."""
    reach = 12.0 * math.sqrt(n * share * (1.0 - share)) + 40.0
    first, last = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    counts = np.arange(first, last + 1)
    ratios = np.log((n - counts[:-1]) / (counts[:-1] + 1.0)) + math.log(share / (1.0 - share))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    mass = np.exp(logs - logs.max())
    return counts, np.cumsum(mass) / mass.sum()
