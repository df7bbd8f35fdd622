"""Paired comparisons on the same documents, and what so many documents can show."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.metrics.uncertainty.bootstrap import contraharmonic_mean, document_keys, draw_words

# Tests of paired documents: halves, signs and exact enumeration.

# Random halves of the documents: a test of two systems and its interval in one. In half S system B differs
# from A by r_S. The share of halves with r_S below delta is the one-sided p value of the sign-flip test of
# "the difference is delta" (Hartigan's typical values, 1969), so test and interval are read from the same
# numbers and cannot disagree. For documents that are right or wrong the p value is McNemar's mid-p; for
# means over documents it is the mid-p of the sign-flip test.

Floats = npt.NDArray[np.float64]


class Halves(NamedTuple):
    """The differences of two systems in halves of the documents, ascending, and how many are undefined.

    `slack` is how far rounding alone puts two equal differences apart.
    """

    ordered: Floats
    undefined: int = 0
    slack: float = 1e-9

    @classmethod
    def of(cls, differences: Floats, slack: float = 1e-9) -> "Halves":
        """Return the differences in order; NaN is undefined."""
        ordered = np.sort(differences[~np.isnan(differences)])
        return cls(ordered, len(differences) - len(ordered), slack)

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


# Two systems on the same documents: counts of documents, McNemar's test, the effect size.

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
    defined = differences[~np.isnan(differences)]
    if len(defined) and not defined.any():
        return 0.0
    if len(defined) < 2 or np.ptp(defined) <= 1e-12 * float(np.abs(defined).max()):
        return None
    ordered = np.sort(defined)  # adding rounds, and no order of documents may show
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


# Random signs of documents, drawn by seed, document id and draw number alone, and exact sums under them.

DRAWS = 9999
"""Random halves of the documents of a test that cannot go through all of them; each has a complement."""

MOST_ENUMERATED = 16
"""Up to so many documents in which two systems differ, all their halves are gone through."""

MOST_SIGNS = 2**14
"""More documents than this share signs: each belongs to one of so many groups, by its key."""

_STREAM = np.uint64(0x5349474E53000001)
"""Keeps signs apart from the bootstrap's weights, which are drawn from the same keys."""

_BITS = 64
_BLOCK = 1 << 20
_NARROW, _WIDE, _LIMB = 2**24, 2**53, 26

Ints = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]


def sign_keys(documents: Sequence[str], seed: int) -> Keys:
    """Return the key of each document's signs."""
    return document_keys(documents, seed) ^ _STREAM


def are_grouped(documents: int) -> bool:
    """Return whether so many documents share signs."""
    return documents > MOST_SIGNS


def group_columns(
    columns: Ints, documents: Sequence[str], seed: int, *, is_grouped: bool | None = None
) -> tuple[Ints, Keys]:
    """Return the columns (columns x documents) with documents of equal signs added up, and the signs' keys.

    Up to `MOST_SIGNS` documents each has signs of its own; more are grouped by their keys. The groups do not
    depend on the data, so flipping whole groups is as valid as flipping documents. A part of the documents is
    grouped as the whole is (`is_grouped`), so that a document has the same signs in both.

    >>> group_columns(np.array([[5, 7]]), ["a", "b"], 0)[0].tolist()
    [[5, 7]]
    """
    keys = sign_keys(documents, seed)
    if not (are_grouped(len(keys)) if is_grouped is None else is_grouped):
        return columns, keys
    group = (keys % np.uint64(MOST_SIGNS)).astype(np.int64)
    order = np.argsort(group, kind="stable")
    present, starts = np.unique(group[order], return_index=True)
    return np.add.reduceat(columns[:, order], starts, axis=1), sign_keys(
        [f"group {number}" for number in present.tolist()], seed
    )


@one_blas_thread()
def signed_sums(columns: Ints, keys: Keys, draws: int | range = DRAWS) -> Ints:
    """Return the exact sums of the columns under each draw's signs, columns x draws.

    A range of draws begins with a multiple of 64.

    >>> signed_sums(np.array([[1, 10]]), sign_keys(["a", "b"], 0), 6).tolist()
    [[9, -11, -11, -11, 11, 11]]
    """
    start, draws = (0, draws) if isinstance(draws, int) else (draws.start, len(draws))
    plus = np.zeros((len(columns), draws), np.int64)
    parts = list(_exact_parts(columns))
    words = -(-draws // _BITS)
    width = max(1, _BLOCK // (_BITS * max(1, len(keys))))
    for first in range(0, words, width):
        bits = _sign_bits(keys, start // _BITS + first, min(width, words - first))[:, : draws - first * _BITS]
        at = slice(first * _BITS, first * _BITS + bits.shape[1])
        for rows, shift, values in parts:
            plus[rows, at] += (values @ bits.astype(values.dtype)).astype(np.int64) << shift
    return np.asarray(2 * plus - columns.sum(axis=1, keepdims=True))


def split_halves(columns: Ints, most: int) -> Iterator[Ints]:
    """Yield the sums over all halves in parts of at most `most` numbers, a column for each half.

    >>> [part.tolist() for part in split_halves(np.array([[1, 10]]), 2)]
    [[[0, 1]], [[10, 11]]]
    """
    low = max(0, (most // max(1, len(columns))).bit_length() - 1)
    first = sums_of_halves(columns[:, :low])
    for rest in sums_of_halves(columns[:, low:]).T:
        yield first + rest[:, None]


def sums_of_halves(columns: Ints) -> Ints:
    """Return the sums of the columns (columns x k documents) over each of the 2^k halves of the documents.

    >>> sums_of_halves(np.array([[1, 10]])).tolist()
    [[0, 1, 10, 11]]
    """
    sums = np.zeros((len(columns), 1), np.int64)
    for document in columns.T:
        sums = np.concatenate([sums, sums + document[:, None]], axis=1)
    return sums


def _sign_bits(keys: Keys, first: int, count: int) -> npt.NDArray[np.uint8]:
    """Return the bits of words `first` to `first + count - 1` of each key, the lowest first: 1 is a plus."""
    words = draw_words(keys, first, count)
    return np.unpackbits(words.astype("<u8", copy=False).view(np.uint8), axis=1, bitorder="little")


def _exact_parts(columns: Ints) -> Iterator[tuple[npt.NDArray[np.intp], int, npt.NDArray[np.floating]]]:
    """Yield rows, a shift and their values in a floating-point type that holds every sum exactly."""
    bounds = np.abs(columns).sum(axis=1, dtype=np.float64) * (1 + 1e-9)
    narrow, large = bounds < _NARROW, bounds >= _WIDE
    middle = ~narrow & ~large
    for rows, dtype in ((np.flatnonzero(narrow), np.float32), (np.flatnonzero(middle), np.float64)):
        if len(rows):
            yield rows, 0, columns[rows].astype(dtype)
    if large.any():
        rows = np.flatnonzero(large)
        yield rows, 0, (columns[rows] & ((1 << _LIMB) - 1)).astype(np.float64)
        yield rows, _LIMB, (columns[rows] >> _LIMB).astype(np.float64)


# The power of the verdict: the difference that it would find, and the documents that it takes. All
# differences are in units of the metric. A true difference is thought of as made of documents that differ
# by as much as those seen, which adds to the variance as well.

POWER = 0.8
FEWEST_DIFFERING = 6
"""With fewer differing documents their spread says nothing of other samples, so no power is computed."""

FEWEST_EFFECTIVE = 40
"""A pilot of fewer effective documents does not say how many are needed."""

MARGINS = (0.01, 0.02, 0.03, 0.05, 0.1)
"""The margins that are proposed for regression gates, in shares."""

_MOST_DOCUMENTS = 10**9
_STEPS = 60

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

        >>> spread = Spread.measure(np.array([1.0, 0, 0, 0]), np.array([0.75, -0.25, -0.25, -0.25]))
        >>> spread.variance, spread.each, spread.differing, spread.effective
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
        difference = max(
            _bisect(lacks, margin, margin + 4.0 * max(size, math.sqrt(self.variance), 1e-12)), least
        )
        return difference if difference <= self.highest * (1.0 + 1e-9) else None

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
        documents = max((root / m) ** 2, Alike.at(self.alpha).expected * self.each / m)
        return math.ceil(documents - 1e-9) if documents < _MOST_DOCUMENTS else None

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
