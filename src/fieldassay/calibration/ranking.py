"""How well confidences tell right from wrong: the area under the ROC curve, with an interval over documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fieldassay.calibration.bins import Bools, Floats, Ints
from fieldassay.stats.intervals import percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

_AT_ONCE = 1 << 22


def auroc(confidence: Floats, is_correct: Bools) -> float | None:
    """Return the probability that a right value has more confidence than a wrong one, ties counted half; None unless there are both.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    0.875
    """
    order = np.argsort(confidence, kind="stable")
    area = _areas(
        _starts(confidence[order]), is_correct[order].astype(np.float64)[:, None], (~is_correct[order]).astype(np.float64)[:, None]
    )
    return None if np.isnan(area[0]) else float(area[0])


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
    starts, table = _starts(observed.ordered), weight_table(np.float32)
    found = np.empty(replicates)
    width = max(4, _AT_ONCE // max(1, len(doc)) // 4 * 4)
    for first in range(0, replicates, width):
        count = min(width, replicates - first)
        weight = weights(keys, first, count, table)[doc].astype(np.float64)
        right = weight * observed.is_correct[:, None]
        found[first : first + count] = _areas(starts, right, weight - right)
    return found


def _starts(ordered: Floats) -> Ints:
    """Return where each distinct confidence begins."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])).astype(np.int64)


def _areas(starts: Ints, right: Floats, wrong: Floats) -> Floats:
    """Return the area of each column of weights; rows ascend by confidence."""
    right, wrong = np.add.reduceat(right, starts, axis=0), np.add.reduceat(wrong, starts, axis=0)
    below = np.cumsum(wrong, axis=0) - wrong / 2
    pairs = right.sum(axis=0) * wrong.sum(axis=0)
    total: Floats = (right * below).sum(axis=0)
    found: Floats = np.divide(total, pairs, out=np.full(len(total), np.nan), where=pairs > 0)
    return found
