"""Replicates over documents: the bootstrap weights of the project, ratios of sums, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldassay.agreement.ratings import Floats
from fieldassay.stats.intervals import percentile_intervals
from fieldassay.stats.poisson import document_keys, unseen_weights, weight_table, weights


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """The weight of d documents in 1 + r replicates, the first of which has each document once.

    `unseen` is the weight of the unseen document: r + 1 numbers, 0 in the first replicate.
    """

    table: Floats
    unseen: Floats

    @classmethod
    def single(cls, documents: int) -> Weights:
        """Return the weights without replicates."""
        return cls(np.ones((documents, 1)), np.zeros(1))

    @classmethod
    def draw(cls, documents: Sequence[str], replicates: int, seed: int) -> Weights:
        """Return the bootstrap weights of documents, which depend on their ids and the seed alone."""
        if not replicates:
            return cls.single(len(documents))
        drawn = weights(document_keys(documents, seed), 0, replicates, weight_table(np.float64))
        table = np.concatenate([np.ones((len(documents), 1)), drawn.astype(np.float64)], axis=1)
        return cls(table, np.concatenate([[0.0], unseen_weights(seed, replicates)]))

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of a value per document in each replicate."""
        return values @ self.table


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
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
