"""The power of the verdict: the difference that it would find, and the documents that it takes.

All differences are in units of the metric. A true difference is thought of as made of documents that
differ by as much as those seen, which adds to the variance as well.
"""

import math
from collections.abc import Callable
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.uncertainty.bootstrap import contraharmonic_mean

POWER = 0.8
FEWEST_DIFFERING = 6
"""With fewer differing documents their spread says nothing of other samples, so no power is computed."""

FEWEST_EFFECTIVE = 40
"""A pilot of fewer effective documents does not say how many are needed."""

MARGINS = (0.01, 0.02, 0.03, 0.05, 0.1)
"""The margins that are proposed for regression gates, in shares."""

_MOST_DOCUMENTS = 10**9
_STEPS = 60

Floats = npt.NDArray[np.float64]
_Z_POWER = NormalDist().inv_cdf(POWER)


class Alike(NamedTuple):
    """The fewest differing documents that are called, all to one side, and their p value.

    `expected` is how many must be expected for so many to occur with probability 0.8 (Poisson).
    """

    documents: int
    p: float
    expected: float

    @classmethod
    def at(cls, alpha: float) -> "Alike":
        """Return them at a level: k documents to one side have the mid-p value 2^-k.

        >>> Alike.at(0.05).documents, Alike.at(0.05).p, round(Alike.at(0.05).expected, 1)
        (5, 0.03125, 6.7)
        """
        from scipy.special import gammaincinv

        count = max(1, math.ceil(-math.log2(alpha) - 1e-9))
        return cls(count, 2.0**-count, float(gammaincinv(count, POWER)))


class Spread(Struct, frozen=True, dict=True):
    """How documents of two systems differ: what the power of their comparison follows from.

    `variance` is that of a document's difference, `each` the size of a differing document (sum of squares /
    sum of absolute differences: large ones bring more variance), `whole` the size of a document that one
    system loses (0: the metric has no bounds). `alpha` is the p value needed in the family of tests.
    """

    documents: int
    differing: int
    variance: float
    each: float
    whole: float = 0.0
    alpha: float = 0.05
    effective: float = 0.0
    """The effective number of documents, (sum of sizes)^2 / sum of squares; their number if all are alike."""
    highest: float = math.inf
    """The largest difference that there can be."""

    @classmethod
    def measure(
        cls, differences: Floats, centered: Floats, whole: float = 0.0, effective: float = 0.0
    ) -> "Spread":
        """Return the spread of documents: their differences, and the same less the mean difference.

        >>> found = Spread.measure(np.array([1.0, 0, 0, 0]), np.array([0.75, -0.25, -0.25, -0.25]))
        >>> found.variance, found.each, found.differing, found.effective
        (0.25, 1.0, 1, 4.0)
        """
        n, sizes = len(differences), np.abs(differences)
        differing = int(np.count_nonzero(sizes > 1e-9 * sizes.max(initial=0.0)))
        variance = float((centered**2).sum()) / (n - 1) if n > 1 else 0.0
        return cls(n, differing, variance, contraharmonic_mean(sizes), whole, effective=effective or float(n))

    @cached_property
    def z(self) -> float:
        """Return the normal quantile of the test's level."""
        return NormalDist().inv_cdf(1.0 - self.alpha / 2.0)

    def detectable(self, each: float | None = None, margin: float = 0.0) -> float | None:
        """Return the difference found with probability 0.8; None if fewer than 6 documents differ.

        None, too, if it would be larger than any can be. `each` is the size of the documents that it is made
        of (None: that of those seen); it is found if it is shown to be beyond the margin.

        >>> spread = Spread(150, 30, 0.2, 1.0)
        >>> round(spread.detectable(), 3), round(spread.detectable(margin=0.02), 3)
        (0.13, 0.154)
        """
        size = self.each if each is None else each
        if self.differing < FEWEST_DIFFERING:
            return None

        def lacks(m: float) -> float:
            spread = self.variance + m * size
            here = max(spread - 2.0 * m * margin + margin**2, 0.0)
            return (
                self.z * math.sqrt(here)
                + _Z_POWER * math.sqrt(max(spread - m * m, 0.0))
                - math.sqrt(self.documents) * (m - margin)
            )

        least = margin + Alike.at(self.alpha).expected * size / self.documents
        found = max(_bisect(lacks, margin, margin + 4.0 * max(size, math.sqrt(self.variance), 1e-12)), least)
        return found if found <= self.highest * (1.0 + 1e-9) else None

    def needed(self, difference: float) -> int | None:
        """Return the documents that find a difference with probability 0.8; None where these do not say.

        >>> Spread(150, 30, 0.2, 1.0, effective=150).needed(0.05), Spread(30, 9, 0.2, 1.0).needed(0.05)
        (783, None)
        """
        m = abs(difference)
        if not m or self.differing < FEWEST_DIFFERING or self.effective < FEWEST_EFFECTIVE:
            return None
        spread = self.variance + m * self.each
        root = self.z * math.sqrt(spread) + _Z_POWER * math.sqrt(max(spread - m * m, 0.0))
        found = max((root / m) ** 2, Alike.at(self.alpha).expected * self.each / m)
        return math.ceil(found - 1e-9) if found < _MOST_DOCUMENTS else None

    def to_pass(self, margin: float) -> int | None:
        """Return the documents with which an unchanged system passes a margin 4 times out of 5.

        None for no margin, and where these documents do not say. One more differing document than seen is
        reckoned with.

        >>> Spread(40, 0, 0.0, 0.0, 1.0, effective=40).to_pass(0.05)
        120
        """
        if margin <= 0.0 or self.effective < FEWEST_EFFECTIVE:
            return None
        size = self.each or self.whole
        variance = self.variance + size**2 / self.documents
        return documents_to_show(
            margin, math.sqrt(variance), self.whole * unseen_reach(self.alpha), self.alpha
        )

    def proposed_margin(self) -> float | None:
        """Return the least usual margin that an unchanged system passes 4 times out of 5 with them.

        It is in the unit of the metric. None under 60 effective documents and where none is wide enough: a
        gate is an alarm there.

        >>> Spread(150, 8, 0.005, 0.3, 1.0, effective=150).proposed_margin()
        0.03
        """
        if self.effective < 60:
            return None
        scale = self.highest if math.isfinite(self.highest) else 1.0
        needed = ((margin * scale, self.to_pass(margin * scale)) for margin in MARGINS)
        return next(
            (margin for margin, count in needed if count is not None and count <= self.documents), None
        )


def plan_margin(documents: int, values: int) -> float | None:
    """Return the margin to propose for documents of so many values before any two runs are compared.

    A system that is asked again is thought to change 1 verdict in 100 (5% of values anew, 10% of them wrong).

    >>> [plan_margin(count, 10) for count in (40, 100, 200, 1000)], plan_margin(200, 1)
    ([None, 0.05, 0.02, 0.01], 0.03)
    """
    count, each = max(documents, 1), 1.0 / max(values, 1)
    return Spread(count, count, 0.009 * each, each, 1.0, effective=float(documents)).proposed_margin()


def gap_shown(documents: float, spread: float, unseen: float, alpha: float = 0.05) -> float:
    """Return how far from a threshold a truth must be for its bound to be beyond it in 4 of 5 samples.

    `spread` is the standard deviation of one document, `unseen` the shift of the bound of a single document
    by the unseen one: the bound lies sqrt((z spread)^2 / N + (unseen / N)^2) from the value.

    >>> round(gap_shown(126, 0.2, 0.0), 3), round(gap_shown(150, 0.0, unseen_reach(0.05)), 3)
    (0.05, 0.02)
    """
    error = spread / math.sqrt(documents)
    z = NormalDist().inv_cdf(1.0 - alpha / 2.0)
    return _Z_POWER * error + math.hypot(z * error, unseen / documents)


def documents_to_show(gap: float, spread: float, unseen: float, alpha: float = 0.05) -> int | None:
    """Return how many documents put a bound beyond a number, `gap` from the truth, in 4 of 5 samples.

    >>> documents_to_show(0.02, 0.0, unseen_reach(0.05)), documents_to_show(0.05, 0.2, 0.0)
    (150, 126)
    >>> documents_to_show(0.0, 0.1, 1.0)
    """

    def lacks(count: float) -> float:
        return gap_shown(count, spread, unseen, alpha) - gap

    if gap <= 0.0 or lacks(_MOST_DOCUMENTS) > 0.0:
        return None
    return max(1, math.ceil(_bisect(lacks, 1.0, float(_MOST_DOCUMENTS)) - 1e-6)) if lacks(1.0) > 0.0 else 1


def documents_to_show_share(share: float, threshold: float, alpha: float = 0.05) -> int | None:
    """Return the least documents, right or wrong, whose lower bound reaches a threshold in 4 of 5 samples.

    `share` is right in truth. The bound is that of Clopper and Pearson by mid-p values, in binomial sums; its
    level is a tenth higher, since a bound of 2,000 replicates lies so far from it. None where it takes more
    than 20,000, and where the share is not above the threshold.

    >>> [documents_to_show_share(*case) for case in ((0.98, 0.93), (0.95, 0.90), (1.0, 0.99))]
    [138, 215, 309]
    """
    if not threshold < share <= 1.0:
        return None
    from scipy.stats import binom

    level, wrong = 0.9 * alpha / 2.0, 1.0 - threshold

    def find_least(n: npt.NDArray[np.float64]) -> int | None:
        most = binom.ppf(level, n, wrong)  # the first count of wrong documents whose tail reaches the level
        most -= binom.cdf(most - 1, n, wrong) + 0.5 * binom.pmf(most, n, wrong) > level
        passing = n[(most >= 0) & (binom.cdf(most, n, 1.0 - share) >= POWER)]
        return int(passing[0]) if len(passing) else None

    first = max(1, math.floor(math.log(alpha) / math.log(threshold)) - 1) if threshold > 0.0 else 1
    counts = [first]
    while counts[-1] < 20_000:
        counts.append(max(counts[-1] + 1, counts[-1] * 21 // 20))
    step = find_least(np.array(counts, dtype=np.float64))
    if step is None:
        return None
    return find_least(np.arange(max(first, step * 3 // 4), step + 1, dtype=np.float64))


def unseen_reach(alpha: float) -> float:
    """Return the shift of a bound, in documents, by the unseen document if none is wrong: the rule of three.

    It is the percent point of its weight at `alpha / 2`: an exponential draw with probability one half.

    >>> round(unseen_reach(0.05), 1)
    3.0
    """
    return -math.log(alpha)


def _bisect(lacks: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function becomes 0, the upper end if it does not."""
    for _ in range(_STEPS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if lacks(middle) > 0.0 else (low, middle)
    return high
