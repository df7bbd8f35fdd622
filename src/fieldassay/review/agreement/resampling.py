"""Replicates over documents: the bootstrap weights of the project, ratios of sums, and their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import (
    STEPS,
    contraharmonic_mean,
    document_keys,
    percentile_intervals,
    unseen_weights,
    weight_table,
    weights,
)
from fieldassay.review.agreement.ratings import Floats

_ROWS = 4096
_AT_ONCE = 1 << 23
"""Weights at once in memory as numbers of 8 bytes."""


class Weights(Struct, frozen=True, eq=False):
    """The weight of d documents in 1 + r replicates, in the first of which each document weighs 1.

    `unseen` is the signed weight of the unseen document, positive where all answers to it agree: r + 1
    numbers, 0 in the first replicate.
    """

    table: npt.NDArray[np.uint8]
    """Documents x replicates in sixteenths, a byte each: 100,000 documents take 200 MB."""
    unseen: Floats

    @classmethod
    def single(cls, documents: int) -> Weights:
        """Return the weights without replicates."""
        return cls(np.full((documents, 1), STEPS, np.uint8), np.zeros(1))

    @classmethod
    def draw(cls, documents: Sequence[str], replicates: int, seed: int) -> Weights:
        """Return the bootstrap weights of documents, which depend on their ids and the seed alone."""
        if not replicates:
            return cls.single(len(documents))
        table = np.full((len(documents), 1 + replicates), STEPS, np.uint8)
        keys, drawn = document_keys(documents, seed), weight_table()
        for start in range(0, len(documents), _ROWS):
            rows = slice(start, start + _ROWS)
            table[rows, 1:] = weights(keys[rows], 0, replicates, drawn)
        return cls(table, np.concatenate([[0.0], unseen_weights(seed, replicates)]))

    def __len__(self) -> int:
        return int(self.table.shape[1])

    def of(self, documents: npt.NDArray[np.intp], start: int, stop: int) -> Floats:
        """Return the weights of some documents, in order, in some replicates."""
        return self.table[documents, start:stop] / STEPS

    def sums(self, values: Floats) -> Floats:
        """Return the weighted sum of a value per document in each replicate."""
        step, shares = max(1, _AT_ONCE // max(len(values), 1)), values / STEPS
        return np.concatenate(
            [shares @ self.table[:, start : start + step] for start in range(0, len(self), step)]
        )


class Resampled(Struct, frozen=True, eq=False):
    """A number in 1 + r replicates, the value itself first; NaN where it is undefined.

    `all` are the replicates of the documents alone, `guarded` those with the unseen document.
    """

    all: Floats
    guarded: Floats

    @property
    def value(self) -> float:
        return float(self.all[0])

    @property
    def dropped(self) -> int:
        """Return in how many replicates the number is undefined."""
        return int(np.isnan(self.guarded[1:]).sum())

    def interval(self, level: float) -> tuple[float, float] | None:
        """Return the percentile interval of the guarded replicates; None without replicates."""
        if len(self.all) == 1:
            return None
        found = percentile_intervals(self.guarded[None, 1:], level)
        low, high = float(found.low[0]), float(found.high[0])
        return None if np.isnan(low) else (min(low, self.value), max(high, self.value))


def ratio(numerator: Floats, denominator: Floats, table: Weights) -> Resampled:
    """Return a ratio of sums over documents; numerators are at most their denominators.

    >>> ratio(np.array([1.0, 0.0]), np.array([1.0, 1.0]), Weights.single(2)).value
    0.5
    """
    size = contraharmonic_mean(denominator)
    upper, lower = table.sums(numerator), table.sums(denominator)
    with np.errstate(invalid="ignore", divide="ignore"):
        plain = np.where(lower > 0, upper / lower, np.nan)
        whole = lower + size * np.abs(table.unseen)
        right = upper + size * table.unseen.clip(0.0)
        return Resampled(plain, np.where(whole > 0, np.minimum(right / whole, 1.0), np.nan))
