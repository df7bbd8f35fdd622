"""Intervals around one number: percentiles of replicates, order statistics."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

FEW_DOCUMENTS = 20
"""Below this many documents the interval of a metric without bounds is marked, because it is too narrow."""


class BootstrapSettings(Struct, frozen=True):
    """The replicates of intervals over documents, the seed of their weights, and their level."""

    replicates: int = 2000
    seed: int = 0
    level: float = 0.95


def are_too_few(replicates: int, level: float) -> bool:
    """Return whether replicates are too few for percentiles at a level: under 20 expected beyond a bound.

    >>> are_too_few(799, 0.95), are_too_few(800, 0.95), are_too_few(2000, 0.99)
    (True, False, True)
    """
    return replicates * (1.0 - level) / 2.0 < 20.0 - 1e-9


def say_too_few(level: float) -> str:
    """Return the reason why an interval from too few replicates decides nothing, and what to do.

    >>> say_too_few(0.99)
    'too few bootstrap replicates to decide by: score again with at least 4,000 (--bootstrap 4000)'
    """
    least = max(2000, math.ceil(40.0 / (1.0 - level) - 1e-6))
    again = f"score again with at least {least:,} (--bootstrap {least})"
    return f"too few bootstrap replicates to decide by: {again}"


class Interval(NamedTuple):
    """A lower and an upper bound."""

    low: float
    high: float


class Percentiles(NamedTuple):
    """Percentile intervals of m metrics: bounds (NaN without a defined replicate), and undefined ones."""

    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    dropped: npt.NDArray[np.int64]


def percentile_intervals(replicates: npt.NDArray[np.float64], level: float) -> Percentiles:
    """Return the percentile bootstrap intervals of m metrics from m x r replicates; NaN is counted apart.

    Quantiles interpolate linearly between order statistics.

    >>> percentile_intervals(np.array([[0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 3.0, np.nan, np.nan, np.nan]]), 0.5)
    Percentiles(low=array([1. , 1.5]), high=array([3. , 2.5]), dropped=array([0, 3]))
    """
    dropped = np.isnan(replicates).sum(axis=1)
    low, high = np.full((2, len(replicates)), np.nan)
    tail = (1.0 - level) / 2.0
    for undefined in sorted(set(dropped.tolist())):
        known, rows = replicates.shape[1] - undefined, np.flatnonzero(dropped == undefined)
        if known:
            chosen = replicates if len(rows) == len(replicates) else replicates[rows]
            low[rows], high[rows] = _quantiles(chosen, known, (tail, 1.0 - tail))
    return Percentiles(low, high, dropped)


def _quantiles(
    values: npt.NDArray[np.float64], known: int, shares: tuple[float, float]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return two quantiles of each row, of which so many are known and the others NaN."""
    positions = [share * (known - 1) for share in shares]
    pairs = [(math.floor(one), min(math.floor(one) + 1, known - 1)) for one in positions]
    ordered = np.partition(values, sorted({at for pair in pairs for at in pair}), axis=1)
    first, second = (
        ordered[:, below] + (ordered[:, above] - ordered[:, below]) * (position - below)
        for position, (below, above) in zip(positions, pairs, strict=True)
    )
    return first, second


def quantile_interval(ordered: npt.NDArray[np.float64], share: float, level: float) -> Interval | None:
    """Return the order-statistic interval of a quantile of ascending values; None if n cannot bound it.

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
    """Return counts k around the mean of binomial(n, share), less than 1e-15 outside, and each P(X <= k)."""
    reach = 12.0 * math.sqrt(n * share * (1.0 - share)) + 40.0
    first, last = max(0, math.floor(n * share - reach)), min(n, math.ceil(n * share + reach))
    counts = np.arange(first, last + 1)
    ratios = np.log((n - counts[:-1]) / (counts[:-1] + 1.0)) + math.log(share / (1.0 - share))
    logs = np.concatenate([[0.0], np.cumsum(ratios)])
    mass = np.exp(logs - logs.max())
    return counts, np.cumsum(mass) / mass.sum()
