"""Ratios of sums over documents, with percentile intervals from resampled documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.decisions.calibration.bins import Floats
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings, percentile_intervals
from fieldassay.metrics.uncertainty.weights import (
    STEPS,
    contraharmonic_mean,
    document_keys,
    unseen_weights,
    weight_table,
    weights,
)

_AT_ONCE = 1 << 22


def ratio_interval(
    sums: Floats, documents: Sequence[str], chance: BootstrapSettings, *, is_guarded: bool = False
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two sums (rows) over documents (columns).

    None without replicates, or if it has no width. `is_guarded`: one unseen document is in each replicate,
    right or wrong as a whole, of the size sum of squares / sum.

    >>> clean = np.array([[0.0] * 40, [1.0] * 40])
    >>> names = [str(number) for number in range(40)]
    >>> ratio_interval(clean, names, BootstrapSettings()) is None
    True
    >>> low, high = ratio_interval(clean, names, BootstrapSettings(), is_guarded=True)
    >>> low, round(high, 2)
    (0.0, 0.07)
    """
    if not chance.replicates:
        return None
    replicates = ratio_replicates(sums, documents, chance, is_guarded=is_guarded)
    bounds = percentile_intervals(replicates[None, :], chance.level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if low < high else None


def ratio_replicates(
    sums: Floats, documents: Sequence[str], chance: BootstrapSettings, *, is_guarded: bool = False
) -> Floats:
    """Return the ratio in every replicate; NaN where the second sum is 0."""
    keys, table = document_keys(documents, chance.seed), weight_table(np.float64)
    width = max(4, _AT_ONCE // max(1, len(documents)) // 4 * 4)
    size = STEPS * contraharmonic_mean(sums[1]) if is_guarded else 0.0
    unseen = unseen_weights(chance.seed, chance.replicates) * size
    found = np.empty(chance.replicates)
    for first in range(0, chance.replicates, width):
        count = min(width, chance.replicates - first)
        above, below = sums @ weights(keys, first, count, table).astype(np.float64, copy=False)
        drawn = unseen[first : first + count]
        above, below = above + np.maximum(-drawn, 0.0), below + np.abs(drawn)
        found[first : first + count] = np.divide(above, below, out=np.full(count, np.nan), where=below > 0)
    return found
