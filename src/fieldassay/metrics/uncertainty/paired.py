"""Tests of paired documents: halves, signs and exact enumeration."""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.io.workers.blas_threads import one_blas_thread
from fieldassay.metrics.uncertainty.bootstrap import document_keys, draw_words

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
