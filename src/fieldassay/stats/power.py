"""The smallest difference that a comparison could detect, and the documents needed for a smaller one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

POWER = 0.8
FEWEST_DIFFERING = 6
"""With fewer differing documents no sign-flip test at 5% can show anything, so no power is computed."""

MOST_EXACT = 1000
"""Up to so many documents power is computed exactly where each is right or wrong."""

_MOST_DOCUMENTS = 10**9
_STEPS = 50

Floats = npt.NDArray[np.float64]


def minimum_detectable_effect(standard_error: float, level: float = 0.95, power: float = POWER) -> float:
    """Return the distance excluded by an interval at `level` with chance `power`: (z[1 - a/2] + z[power]) SE.

    >>> round(minimum_detectable_effect(0.01), 4)
    0.028
    """
    from statistics import NormalDist

    normal = NormalDist()
    return (normal.inv_cdf(0.5 + level / 2.0) + normal.inv_cdf(power)) * standard_error


def detectable_difference(
    differences: Floats, standard_error: float, level: float = 0.95, *, is_mid_p: bool = False
) -> float | None:
    """Return the true difference found with probability 0.8 on as many documents; None if under 6 differ.

    `differences` are those of the documents, `standard_error` is that of their mean, or of the ratio that
    they are part of. A true difference adds differing documents, and with them variance. Where all differ by
    the same amount, the power of the binomial test is computed exactly: of McNemar's mid-p test if
    `is_mid_p`, else of the sign-flip test.
    """
    known = differences[~np.isnan(differences)]
    size, sizes = len(known), np.abs(known[known != 0.0])
    if len(sizes) < FEWEST_DIFFERING:
        return None
    if np.ptp(sizes) <= 1e-12 * sizes.max() and size <= MOST_EXACT:
        return float(sizes[0]) * _detectable_share(size, len(sizes) / (2.0 * size), level, is_mid_p)
    each, variance, factor = (
        float(sizes.mean()),
        size * standard_error**2,
        minimum_detectable_effect(1.0, level),
    )
    found = _bisect(
        lambda m: factor * math.sqrt(max(variance + m * each - m * m, 0.0) / size) - m,
        0.0,
        max(each, factor * standard_error),
    )
    return max(found, _differing_needed(level) * each / size)


def _differing_needed(level: float) -> float:
    """Return the mean number of differing documents needed for power 0.8: twice 2^-k is at most the error.

    >>> round(_differing_needed(0.95), 1)
    7.9
    """
    from scipy.special import gammaincinv

    return float(gammaincinv(math.ceil(1.0 - math.log2(1.0 - level)), POWER))


def _detectable_share(size: int, chance: float, level: float, is_mid_p: bool) -> float:
    """Return the detectable difference of two shares, with a share `chance` each of wins and losses."""
    most = 1.0 - 2.0 * chance
    return (
        _bisect(
            lambda m: POWER - mcnemar_power(size, chance + m, chance, level, is_mid_p=is_mid_p), 0.0, most
        )
        if most > 0.0
        else 1.0
    )


def mcnemar_power(size: int, lost: float, won: float, level: float = 0.95, *, is_mid_p: bool = True) -> float:
    """Return the chance that McNemar's test shows a loss among so many documents with these shares of each.

    `is_mid_p`: the mid-p test, else the exact one, the sign-flip test of documents that differ by the same
    amount.

    >>> round(mcnemar_power(100, 0.2, 0.05), 2), round(mcnemar_power(10, 0.1, 0.0), 2)
    (0.88, 0.0)
    """
    from scipy.stats import binom

    differing = np.arange(size + 1)
    chances = binom.pmf(differing, size, lost + won)
    shown = binom.sf(_critical_losses(size, level, is_mid_p) - 1, differing, lost / (lost + won))
    return float((chances * shown).sum())


@lru_cache(maxsize=16)
def _critical_losses(size: int, level: float, is_mid_p: bool) -> npt.NDArray[np.int64]:
    """Return the fewest losses that the test shows of n = 0 to `size` differing ones; n + 1 for none."""
    from scipy.stats import binom

    differing = np.arange(size + 1)
    wins = binom.ppf((1.0 - level) / 2.0, differing, 0.5).astype(np.int64)
    for _ in range(3):  # the quantile is at most two off
        seen = binom.pmf(wins, differing, 0.5)
        p = 2.0 * binom.cdf(wins - 1, differing, 0.5) + (seen if is_mid_p else 2.0 * seen)
        wins = np.where((p > 1.0 - level + 1e-12) & (wins >= 0), wins - 1, wins)
    needed: npt.NDArray[np.int64] = differing - wins
    return needed


def documents_needed(documents: int, detectable: float, margin: float) -> int | None:
    """Return the documents that make `margin` detectable if `documents` detect `detectable`; None for 0.

    That is about D (detectable / m)^2.

    >>> documents_needed(100, 0.04, 0.02), documents_needed(100, 0.04, 0)
    (400, None)
    """
    if margin == 0:
        return None
    needed = documents * (detectable / margin) ** 2
    return math.ceil(needed - 1e-9 * needed) if math.isfinite(needed) else None


def documents_to_show(gap: float, spread: float, unseen: float, level: float = 0.95) -> int | None:
    """Return how many documents put a bound beyond a number, `gap` from the truth, in 4 of 5 samples.

    `spread` is the standard deviation of one document, `unseen` the shift of the bound of a single document
    by the unseen one: the bound lies sqrt((z spread)^2 / N + (unseen / N)^2) from the value.

    >>> documents_to_show(0.02, 0.0, unseen_reach(0.95)), documents_to_show(0.05, 0.2, 0.0)
    (150, 126)
    >>> documents_to_show(0.0, 0.1, 1.0)
    """
    from statistics import NormalDist

    normal = NormalDist()
    z, power = normal.inv_cdf(0.5 + level / 2.0), normal.inv_cdf(POWER)

    def lacks(count: float) -> float:
        return (
            power * spread / math.sqrt(count)
            + math.hypot(z * spread / math.sqrt(count), unseen / count)
            - gap
        )

    if gap <= 0.0 or lacks(_MOST_DOCUMENTS) > 0.0:
        return None
    return max(1, math.ceil(_bisect(lacks, 1.0, float(_MOST_DOCUMENTS)) - 1e-6)) if lacks(1.0) > 0.0 else 1


def unseen_reach(level: float) -> float:
    """Return the shift of a bound, in documents, by the unseen document if none is wrong: the rule of three.

    It is the upper percent point of its weight: an exponential draw with probability one half.

    >>> round(unseen_reach(0.95), 1)
    3.0
    """
    return -math.log1p(-level)


def _bisect(lacks: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function becomes 0, the upper end if it does not."""
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if lacks(middle) > 0.0 else (low, middle)
    return high
