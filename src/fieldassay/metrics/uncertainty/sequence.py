"""Confidence sequences: intervals of a mean that hold at every look at documents that keep coming."""

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.uncertainty.bootstrap import Interval

Floats = npt.NDArray[np.float64]

BETS = 0.95 * 0.5 ** np.arange(10)
"""Ten bets against a value, each half of the one before: large for few documents, small for many."""

_HALVINGS = 40


def sequence_interval(part: Floats, whole: Floats, level: float = 0.95) -> Interval:
    """Return the interval of sum(part) / sum(whole), 0 <= part <= whole, that holds at every look.

    Each entry is a document, or a family of documents. The chance that the true ratio is ever outside, at
    whatever looks, is at most 1 - level: someone who bets against the truth has more than 2 / (1 - level)
    times the money at any time that seldom (Ville 1939; Waudby-Smith and Ramdas 2024). A mean of bets that
    are fixed in advance does not depend on the sequence of the documents. Where sizes (`whole`) differ, the
    largest one so far counts as the largest there is. Without any size the interval is (0, 1).

    >>> low, high = sequence_interval(np.ones(100), np.ones(100))
    >>> round(low, 3), high
    (0.94, 1.0)
    """
    low, high = (_lowest(side, whole, (1.0 - level) / 2.0) for side in (part, whole - part))
    return Interval(low, 1.0 - high)


def _lowest(part: Floats, whole: Floats, alpha: float) -> float:
    """Return the largest value that the bets against it refuse, 0 for none."""
    pairs, counts = np.unique(np.stack([part, whole]), axis=1, return_counts=True)
    low, high, largest = 0.0, 1.0, pairs[1].max(initial=0.0)
    for _ in range(_HALVINGS if largest > 0.0 else 0):
        middle = (low + high) / 2.0
        gains = np.log1p(BETS[:, None] * (pairs[0] - middle * pairs[1]) / (middle * largest)) @ counts
        is_refused = np.logaddexp.reduce(gains) - np.log(len(BETS)) >= -np.log(alpha)
        low, high = (middle, high) if is_refused else (low, middle)
    return low
