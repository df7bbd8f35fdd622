"""Two systems on the same documents: whether the difference is more than chance.

The document is the unit of exchange. If the two systems are equally good, either of the two answers to a
document could be either system's; so the difference is compared with those under other assignments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.stats.signs import MOST_ENUMERATED, Ints, enumerate_sums, group_columns, signed_sums

Floats = npt.NDArray[np.float64]

_LONGEST_EXACT = 1000
"""Up to so many discordant documents binomial sums are added as whole numbers."""


class PValue(NamedTuple):
    """A two-sided p value; `is_exact` if all patterns of signs were counted, else from 9999 random ones."""

    p: float
    is_exact: bool


class Wins(NamedTuple):
    """In how many documents the second system has the higher value, the lower, and neither."""

    higher: int
    lower: int
    ties: int


def sign_flip(differences: Sequence[float] | Floats, documents: Sequence[str], seed: int = 0) -> PValue:
    """Return the sign-flip test of per-document differences: how often random signs give a sum as far from 0.

    p is (1 + count) / (B + 1) with B = 9999 random patterns, keyed by seed and document id; with at most 16
    differences other than 0, all patterns are counted and p is count / 2^k. NaN differences (undefined in one
    of the systems) are left out. The order of documents never matters.

    >>> sign_flip([0.1, 0.2, 0.3, 0.1, 0.2], ["a", "b", "c", "d", "e"])
    PValue(p=0.0625, is_exact=True)
    """
    whole = _whole(np.asarray(differences, np.float64))
    kept = np.flatnonzero(whole)
    if not len(kept):
        return PValue(1.0, True)
    column = whole[None, kept]
    is_exact = len(kept) <= MOST_ENUMERATED
    drawn = (
        enumerate_sums(column)
        if is_exact
        else signed_sums(*group_columns(column, [documents[at] for at in kept.tolist()], seed))
    )
    return PValue(
        tail_share(float(column.sum()), drawn[0].astype(np.float64), is_exact, slack=len(kept)), is_exact
    )


def _whole(values: Floats) -> Ints:
    """Return the values as whole numbers on one scale, fine enough for exact sums in any order."""
    known = np.nan_to_num(values, nan=0.0)
    largest = float(np.abs(known).max(initial=0.0))
    if largest == 0.0:
        return np.zeros(len(known), np.int64)
    bits = 50 - math.ceil(math.log2(len(known) + 1))
    return np.rint(known / largest * 2.0**bits).astype(np.int64)


def tail_share(observed: float, drawn: Floats, is_exact: bool, slack: float = 0.0) -> float:
    """Return the p value of an observed difference: the share of draws as far from 0, within `slack`.

    An undefined (NaN) draw counts as far. The observed difference is one of the random draws, so that p is
    never 0. `slack` is for rounding.

    >>> tail_share(0.5, np.array([0.5, -0.5, 0.1, 0.0]), is_exact=True)
    0.5
    >>> tail_share(0.5, np.array([0.1, 0.2, 0.3]), is_exact=False)
    0.25
    """
    near = int(np.count_nonzero(np.abs(drawn) < abs(observed) - slack))
    far = len(drawn) - near
    return far / len(drawn) if is_exact else (1 + far) / (1 + len(drawn))


def rank_tails(drawn: Floats, known: Floats, slack: float = 0.0) -> Floats:
    """Return the p value of each drawn difference: the share of known draws as far from 0, within `slack`.

    >>> rank_tails(np.array([0.5, -0.1, np.nan]), np.array([0.5, -0.5, 0.1, np.nan])).tolist()
    [0.75, 1.0, 0.25]
    """
    ordered = np.sort(np.nan_to_num(np.abs(known), nan=np.inf, posinf=np.inf))
    far = np.nan_to_num(np.abs(drawn), nan=np.inf, posinf=np.inf)
    found: Floats = 1.0 - np.searchsorted(ordered, far - slack) / len(ordered)
    return found


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


def mcnemar_mid_ps(net: Ints, discordant: int) -> Floats:
    """Return the mid-p McNemar test of so many discordant documents for each difference of the two counts.

    >>> mcnemar_mid_ps(np.array([7, 1]), 9).tolist() == [mcnemar_mid_p(1, 8), mcnemar_mid_p(4, 5)]
    True
    """
    from scipy.special import bdtr

    least = (discordant - np.abs(net)) // 2
    below = np.where(least > 0, bdtr(np.maximum(least - 1, 0), discordant, 0.5), 0.0)
    found: Floats = np.minimum(bdtr(least, discordant, 0.5) + below, 1.0)
    return found


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
