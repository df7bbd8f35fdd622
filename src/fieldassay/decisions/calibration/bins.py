"""Reliability bins, and the calibration error that is read off them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.decisions.calibration.result import Bin

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

MOST_BINS, LEAST_VALUES = 10, 20
NULL_DRAWS = 1000
LIMIT = 0.95
"""The quantile of the calibration errors that a calibrated scorer shows by chance."""

_AT_ONCE = 1 << 22


def cut_bins(ordered: Floats) -> Ints:
    """Return the starts of the bins of ascending confidences: at most 10, with 20 values in each.

    Sizes are equal as far as ties allow: equal confidences are never split. Fewer than 20 values are one bin.

    >>> cut_bins(np.repeat([0.1, 0.5, 0.9], [30, 25, 30])).tolist()
    [0, 30, 55]
    >>> cut_bins(np.full(500, 0.9)).tolist()
    [0]
    """
    n = len(ordered)
    wanted = max(1, min(MOST_BINS, n // LEAST_VALUES))
    goals = -(-np.arange(1, wanted + 1) * n // wanted)
    starts, start = [0], 0
    while True:
        goal = max(start + LEAST_VALUES, int(goals[np.searchsorted(goals, start, side="right")]))
        if goal >= n:
            break
        start = int(np.searchsorted(ordered, ordered[goal - 1], side="right"))
        if n - start < LEAST_VALUES:
            break
        starts.append(start)
    return np.array(starts, np.int64)


def list_bins(ordered: Floats, is_correct: Bools, starts: Ints) -> tuple[Bin, ...]:
    """Return the bins of ascending confidences."""
    ends = np.append(starts[1:], len(ordered))
    sizes = ends - starts
    means = np.add.reduceat(ordered, starts) / sizes
    shares = np.add.reduceat(is_correct.astype(np.float64), starts) / sizes
    return tuple(
        Bin(float(ordered[first]), float(ordered[end - 1]), int(end - first), float(mean), float(share))
        for first, end, mean, share in zip(starts, ends, means, shares, strict=True)
    )


def calibration_error(ordered: Floats, is_correct: Bools, starts: Ints) -> float:
    """Return the expected calibration error: the mean over values of |share right - mean confidence| by bin.

    >>> confidences, is_correct = np.array([0.25, 0.25, 0.75, 0.75]), np.array([True, False, True, True])
    >>> calibration_error(confidences, is_correct, np.array([0, 2]))
    0.25
    """
    return float(np.abs(np.add.reduceat(is_correct - ordered, starts)).sum() / len(ordered))


def draw_errors(ordered: Floats, starts: Ints, seed: int, draws: int = NULL_DRAWS) -> Floats:
    """Return calibration errors of a perfectly calibrated scorer with these confidences.

    Each value is drawn as right with the probability of its confidence.
    """
    generator = np.random.default_rng(seed)
    n = len(ordered)
    expected = np.add.reduceat(ordered, starts)
    narrow = ordered.astype(np.float32)
    found = np.empty(draws)
    block = max(1, _AT_ONCE // n)
    for first in range(0, draws, block):
        count = min(block, draws - first)
        is_right = generator.random((count, n), dtype=np.float32) < narrow
        sums = np.add.reduceat(is_right, starts, axis=1, dtype=np.int64)
        found[first : first + count] = np.abs(sums - expected).sum(axis=1) / n
    return found
