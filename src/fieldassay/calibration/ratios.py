"""Ratios of sums over documents, with percentile intervals from resampled documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.calibration.bins import Floats
from fieldassay.stats.intervals import BootstrapSettings, percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

_AT_ONCE = 1 << 22


def ratio_interval(
    sums: Floats, documents: Sequence[str], chance: BootstrapSettings
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two sums (rows) over documents (columns).

    None without replicates, or if it has no width.

    >>> ratio_interval(np.array([[0.0, 0.0], [1.0, 1.0]]), ["a", "b"], BootstrapSettings()) is None
    True
    """
    if not chance.replicates:
        return None
    bounds = percentile_intervals(ratio_replicates(sums, documents, chance)[None, :], chance.level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if low < high else None


def ratio_replicates(sums: Floats, documents: Sequence[str], chance: BootstrapSettings) -> Floats:
    """Return the ratio in every replicate; NaN where the second sum is 0."""
    keys, table = document_keys(documents, chance.seed), weight_table(np.float64)
    width = max(4, _AT_ONCE // max(1, len(documents)) // 4 * 4)
    found = np.empty(chance.replicates)
    for first in range(0, chance.replicates, width):
        count = min(width, chance.replicates - first)
        above, below = sums @ weights(keys, first, count, table).astype(np.float64, copy=False)
        found[first : first + count] = np.divide(above, below, out=np.full(count, np.nan), where=below > 0)
    return found
