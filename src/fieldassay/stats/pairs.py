"""The difference of two systems on the same documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldassay.stats.intervals import percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference over documents, its interval (None: no replicate), and the number of documents."""

    value: float
    interval: tuple[float, float] | None
    documents: int

    @property
    def excludes_zero(self) -> bool:
        """Return whether the interval lies on one side of 0."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def paired_difference(
    differences: npt.NDArray[np.float64], documents: Sequence[str], *, seed: int = 0, replicates: int = 2000, level: float = 0.95
) -> Difference:
    """Return the mean of per-document differences with its percentile bootstrap interval; at least one document.

    Documents are drawn with the same weights as those of all other intervals under this seed, so that the comparison is paired.

    >>> found = paired_difference(np.full(30, 0.25), [str(number) for number in range(30)])
    >>> found.value, found.interval, found.excludes_zero
    (0.25, (0.25, 0.25), True)
    """
    keys, table = document_keys(documents, seed), weight_table(np.float64)
    width = max(4, _BLOCK // max(1, len(documents)) // 4 * 4)
    means = [np.zeros(0)]
    for first in range(0, replicates, width):
        drawn = weights(keys, first, min(width, replicates - first), table)
        total = drawn.sum(axis=0, dtype=np.float64)
        weighted = differences @ np.asarray(drawn, dtype=np.float64)
        means.append(np.divide(weighted, total, out=np.full(len(total), np.nan), where=total > 0))
    found = percentile_intervals(np.concatenate(means)[None, :], level)
    interval = None if np.isnan(found.low[0]) else (float(found.low[0]), float(found.high[0]))
    return Difference(float(differences.mean()), interval, len(documents))
