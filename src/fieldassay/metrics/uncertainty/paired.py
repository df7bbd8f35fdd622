"""Two systems on the same documents: counts of documents, McNemar's test, the effect size."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_LONGEST_EXACT = 1000
"""Up to so many discordant documents binomial sums are added as whole numbers."""


class Wins(NamedTuple):
    """In how many documents the second system has the higher value, the lower, and neither."""

    higher: int
    lower: int
    ties: int


def mcnemar_mid_p(first_only: int, second_only: int) -> float:
    """Return the two-sided mid-p McNemar test of b documents right in the first system only, c in the other.

    2 sum over i < min(b, c) of C(b + c, i) / 2^(b + c), and C(b + c, min(b, c)) / 2^(b + c) once: the
    observed count weighs half, which makes up for the steps of the binomial distribution. McNemar (1947);
    Fagerland, Lydersen and Laake (2013).

    >>> mcnemar_mid_p(1, 8) == (2 * 1 + 9) / 2**9, mcnemar_mid_p(3, 3), mcnemar_mid_p(0, 0)
    (True, 1.0, 1.0)
    """
    n, least = first_only + second_only, min(first_only, second_only)
    if n <= _LONGEST_EXACT:
        below: int = sum(math.comb(n, i) for i in range(least))
        return (2 * below + math.comb(n, least)) / (1 << n)
    from scipy.special import bdtr

    return min(1.0, float(bdtr(least, n, 0.5)) + (float(bdtr(least - 1, n, 0.5)) if least else 0.0))


def effect_size(differences: Floats) -> float | None:
    """Return mean / standard deviation of per-document differences (n - 1 below); NaN ones are left out.

    0 where all are 0; None where there are fewer than two, or where all are equal and not 0.

    >>> effect_size(np.array([0.0, 1.0])), effect_size(np.array([1.0, 1.0])), effect_size(np.zeros(3))
    (0.7071067811865475, None, 0.0)
    """
    known = differences[~np.isnan(differences)]
    if len(known) and not known.any():
        return 0.0
    if len(known) < 2 or np.ptp(known) <= 1e-12 * float(np.abs(known).max()):
        return None
    ordered = np.sort(known)  # adding rounds, and no order of documents may show
    return float(ordered.mean() / ordered.std(ddof=1))


def count_wins(first: Floats, second: Floats, slack: float = 1e-9) -> Wins:
    """Return the documents with a higher, a lower, or neither value in the second system.

    Documents that are undefined for both are not counted.

    >>> count_wins(np.array([0.5, 0.5, np.nan]), np.array([1.0, 0.5, np.nan]))
    Wins(higher=1, lower=0, ties=1)
    """
    documents = int(np.count_nonzero(~(np.isnan(first) & np.isnan(second))))
    higher, lower = (
        int(np.count_nonzero(second - first > slack)),
        int(np.count_nonzero(first - second > slack)),
    )
    return Wins(higher, lower, documents - higher - lower)
