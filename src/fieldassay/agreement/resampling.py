"""Replicates over documents: the bootstrap weights of the project, ratios of sums, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.agreement.ratings import Floats
from fieldassay.stats.intervals import percentile_intervals
from fieldassay.stats.poisson import document_keys, unseen_weights, weight_table, weights

_ROWS = 4096
_AT_ONCE = 1 << 23
"""Weights at once in memory as numbers of 8 bytes."""


class Weights(Struct, frozen=True, eq=False):
    """The weight of d documents in 1 + r replicates, the first of which has each document once.

    `unseen` is the weight of the unseen document: r + 1 numbers, 0 in the first replicate.
    """

    table: npt.NDArray[np.uint8]
    """Documents x replicates, a byte each: 100,000 documents take 200 MB."""
    unseen: Floats

    @classmethod
    def single(cls, documents: int) -> Weights:
        """Return the weights without replicates."""
        return cls(np.ones((documents, 1), np.uint8), np.zeros(1))

    @classmethod
    def draw(cls, documents: Sequence[str], replicates: int, seed: int) -> Weights:
        """Return the bootstrap weights of documents, which depend on their ids and the seed alone."""
        if not replicates:
            return cls.single(len(documents))
        table = np.ones((len(documents), 1 + replicates), np.uint8)
        keys, drawn = document_keys(documents, seed), weight_table()
        for start in range(0, len(documents), _ROWS):
            rows = slice(start, start + _ROWS)
            table[rows, 1:] = weights(keys[rows], 0, replicates, drawn)
        return cls(table, np.concatenate([[0.0], unseen_weights(seed, replicates)]))

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def of(self, documents: npt.NDArray[np.intp], start: int, stop: int) -> Floats:
        """Return the weights of some documents, in order, in some replicates."""
        return self.table[documents, start:stop].astype(np.float64)

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of a value per document in each replicate."""
        step = max(1, _AT_ONCE // max(len(values), 1))
        return np.concatenate(
            [values @ self.table[:, start : start + step] for start in range(0, len(self), step)]
        )


class Resampled(Struct, frozen=True, eq=False):
    """A number in 1 + r replicates, the value itself first; NaN where it is undefined.

    `low` and `high` are the replicates with the unseen document all wrong, and all right.
    """

    all: Floats
    low: Floats
    high: Floats

    @property
    def value(self) -> float:
        return float(self.all[0])

    @property
    def dropped(self) -> int:
        """Return in how many replicates the number is undefined."""
        return int(np.isnan(self.all[1:]).sum())

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the percentile interval; None without replicates."""
        if len(self.all) == 1:
            return None
        found = percentile_intervals(np.stack([self.low[1:], self.high[1:]]), level)
        low, high = float(found.low[0]), float(found.high[1])
        return None if np.isnan(low) or np.isnan(high) else (low, high)


def ratio(numerator: Floats, denominator: Floats, table: Weights) -> Resampled:
    """Return a ratio of sums over documents; numerators are at most their denominators.

    The unseen document has the size sum of squares / sum of the denominators, as in every interval.

    >>> ratio(np.array([1.0, 0.0]), np.array([1.0, 1.0]), Weights.single(2)).value
    0.5
    """
    total = float(denominator.sum())
    size = float((denominator**2).sum()) / total if total else 0.0
    upper, lower = table.sums(numerator), table.sums(denominator)
    with np.errstate(invalid="ignore", divide="ignore"):
        plain = np.where(lower > 0, upper / lower, np.nan)
        whole = lower + size * table.unseen
        low = np.where(whole > 0, upper / whole, np.nan)
        high = np.where(whole > 0, (upper + size * table.unseen) / whole, np.nan)
    return Resampled(plain, low, high)
