"""Random halves of the documents: a test of two systems and its interval in one.

In half S system B differs from A by r_S. The share of halves with r_S below delta is the one-sided p value of
the sign-flip test of "the difference is delta" (Hartigan's typical values, 1969), so test and interval are
read from the same numbers and cannot disagree. For documents that are right or wrong the p value is McNemar's
mid-p; for means over documents it is the mid-p of the sign-flip test.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Halves(NamedTuple):
    """The differences of two systems in halves of the documents, ascending, and how many are undefined.

    `slack` is how far rounding alone puts two equal differences apart.
    """

    ordered: Floats
    undefined: int = 0
    slack: float = 1e-9

    @classmethod
    def of(cls, differences: Floats, slack: float = 1e-9) -> Halves:
        """Return the differences in order; NaN is undefined."""
        known = np.sort(differences[~np.isnan(differences)])
        return cls(known, len(differences) - len(known), slack)

    def p_value(self, delta: float = 0.0) -> float:
        """Return the two-sided mid-p of the difference `delta`: ties and undefined halves count half.

        >>> Halves.of(np.array([0.0, 0.1, 0.1, 0.2])).p_value(), Halves.of(np.array([0.1, np.nan])).p_value()
        (0.25, 0.5)
        """
        draws = len(self.ordered) + self.undefined
        below = int(np.searchsorted(self.ordered, delta - self.slack, side="left"))
        above = len(self.ordered) - int(np.searchsorted(self.ordered, delta + self.slack, side="right"))
        tied = draws - below - above
        return min(1.0, (2 * min(below, above) + tied) / draws)

    def interval(self, alpha: float, p: float | None = None) -> tuple[float, float]:
        """Return all differences with a p value above `alpha`: their lowest and highest.

        0 is outside exactly if `p` (by default, `p_value()`) is at most `alpha`. Where 0 ends the interval of
        a rejected 0, the end is the next difference that occurs.

        >>> [round(end, 3) for end in Halves.of(np.linspace(-0.1, 0.5, 601)).interval(0.1)]
        [-0.07, 0.47]
        """
        shown = (self.p_value() if p is None else p) <= alpha + 1e-9
        low, high = self._bound(alpha, 1.0), self._bound(alpha, -1.0)
        if not shown:
            return min(low, 0.0), max(high, 0.0)
        is_positive = float(np.sum(np.sign(self.ordered))) > 0.0
        if is_positive and low <= self.slack:
            low = self._next(1.0)
        if not is_positive and high >= -self.slack:
            high = self._next(-1.0)
        return low, high

    def _bound(self, alpha: float, side: float) -> float:
        """Return the end of the interval from below (1) or above (-1)."""
        rank = math.floor(alpha / 2 * (len(self.ordered) + self.undefined) - self.undefined / 2 + 1e-9)
        rank = min(max(rank, 0), len(self.ordered) - 1)
        return float(self.ordered[rank] if side > 0 else self.ordered[-1 - rank])

    def _next(self, side: float) -> float:
        """Return the difference nearest to 0 on one side; 0 if there is none."""
        beyond = self.ordered[side * self.ordered > self.slack]
        return 0.0 if not len(beyond) else float(beyond[0] if side > 0 else beyond[-1])


def widen(
    interval: tuple[float, float], other: tuple[float, float], *, is_shown: bool = False
) -> tuple[float, float]:
    """Return the wider of two intervals; one that excludes 0 by a test (`is_shown`) is not widened across it.

    >>> widen((0.1, 0.2), (-0.1, 0.3)), widen((0.1, 0.2), (-0.1, 0.3), is_shown=True)
    ((-0.1, 0.3), (0.1, 0.3))
    """
    low, high = min(interval[0], other[0]), max(interval[1], other[1])
    if is_shown and interval[0] > 0.0 >= low:
        low = interval[0]
    if is_shown and interval[1] < 0.0 <= high:
        high = interval[1]
    return low, high
