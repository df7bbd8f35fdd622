"""How well confidences tell right from wrong: the area under the ROC curve, with an interval over documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.calibration.bins import Bools, Floats, Ints
from fieldassay.stats.intervals import percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

_AT_ONCE = 1 << 18


def auroc(confidence: Floats, is_correct: Bools) -> float | None:
    """Return the probability that a right value has more confidence than a wrong one, ties counted half; None unless there are both.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    0.875
    """
    right, wrong = np.sort(confidence[is_correct]), confidence[~is_correct]
    pairs = len(right) * len(wrong)
    if not pairs:
        return None
    below = np.searchsorted(right, wrong, side="left") + np.searchsorted(right, wrong, side="right")
    return float((2 * pairs - below.sum()) / (2 * pairs))


def auroc_interval(observed: Observed, seed: int, replicates: int, level: float) -> tuple[float, float] | None:
    """Return the percentile interval from resampled documents; None if it has no width or no replicate is defined."""
    if not replicates:
        return None
    bounds = percentile_intervals(auroc_replicates(observed, seed, replicates)[None, :], level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if low < high else None


class Observed:
    """Confidences and outcomes by ascending confidence, and the document (a position in `documents`) of each."""

    def __init__(self, confidence: Floats, is_correct: Bools, doc: npt.NDArray[np.integer], documents: Sequence[str]) -> None:
        order = np.argsort(confidence, kind="stable")
        self.ordered = confidence[order]
        self.is_correct = is_correct[order]
        self.doc = doc[order]
        self.documents = documents


def auroc_replicates(observed: Observed, seed: int, replicates: int) -> Floats:
    """Return the area under the weights of every replicate; NaN where no right or no wrong value has a weight."""
    present, doc = np.unique(observed.doc, return_inverse=True)
    keys = document_keys([observed.documents[position] for position in present], seed)
    right, table = observed.ordered[observed.is_correct], weight_table(np.uint8)
    wrong = observed.ordered[~observed.is_correct]
    parts = _Parts(
        doc[observed.is_correct], doc[~observed.is_correct], np.searchsorted(right, wrong, "left"), np.searchsorted(right, wrong, "right")
    )
    found = np.empty(replicates)
    width = max(4, _AT_ONCE // max(1, len(present)) // 4 * 4)
    inner = max(1, _AT_ONCE // max(1, len(doc)))
    for first in range(0, replicates, width):
        count = min(width, replicates - first)
        block = np.ascontiguousarray(weights(keys, first, count, table).T)
        for start in range(0, count, inner):
            part = block[start : start + inner]
            found[first + start : first + start + len(part)] = _areas(parts, part)
    return found


class _Parts(NamedTuple):
    """The documents of right values by ascending confidence, those of wrong ones, and how many right values lie below, or not above, each."""

    right: Ints
    wrong: Ints
    below: Ints
    not_above: Ints


def _areas(parts: _Parts, weight: npt.NDArray[np.generic]) -> Floats:
    """Return the area for each row of weights (replicates x documents); sums are whole numbers, so they are exact."""
    sums = np.zeros((len(weight), len(parts.right) + 1), np.int64)
    np.cumsum(np.take(weight, parts.right, axis=1), axis=1, dtype=np.int64, out=sums[:, 1:])
    wrong = np.take(weight, parts.wrong, axis=1).astype(np.int64)
    twice = 2 * sums[:, -1:] - np.take(sums, parts.below, axis=1) - np.take(sums, parts.not_above, axis=1)
    pairs = sums[:, -1] * wrong.sum(axis=1)
    found: Floats = np.divide((wrong * twice).sum(axis=1), 2 * pairs, out=np.full(len(weight), np.nan), where=pairs > 0)
    return found
