"""The pairing with the largest total similarity."""

from __future__ import annotations

from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.aligners.base import Aligner, Positions
from fieldassay.values.aligners.threshold import checked_threshold, least_floor

Matrix = npt.NDArray[np.float64]

_LARGEST_BIASED = 64
_TIE = 1e-9


class Assignment(Aligner, Struct, frozen=True):
    """Pairs items one-to-one with the largest sum of similarities.

    Uses the Kuhn-Munkres algorithm (`scipy.optimize.linear_sum_assignment`). `min_similarity` restricts the
    pairs: by default a similarity above 0, a number for at least that similarity, `none` for all pairs. Among
    pairings whose totals differ by less than 1e-9, the one that keeps the order of the items is taken (lists
    of at most 64 items; longer ones: scipy's choice). Raises ValueError for NaN.

    >>> Assignment().pair(np.array([[0.2, 0.9], [0.8, 0.7]]))
    (array([0, 1]), array([1, 0]))
    """

    maximizes_total: ClassVar[bool] = True

    min_similarity: float | Literal["none"] | None = None

    def __post_init__(self) -> None:
        if self.min_similarity != "none":
            checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return (
            0.0
            if self.min_similarity is None
            else None
            if self.min_similarity == "none"
            else least_floor(self.min_similarity)
        )

    def pair(self, similarity: Matrix) -> tuple[Positions, Positions]:
        floor = self.floor
        if floor == 0:
            gold, pred = assign(similarity)
            keep = similarity[gold, pred] > 0
            return (gold, pred) if keep.all() else (gold[keep], pred[keep])
        return assign_at_least(similarity, floor)


def assign(similarity: Matrix) -> tuple[Positions, Positions]:
    """Return the (gold, predicted) positions of the pairing with the largest total.

    It has as many pairs as the shorter side has items.
    """
    from scipy.optimize import linear_sum_assignment

    m, n = similarity.shape
    if m == 1 and n == 1 and similarity[0, 0] == similarity[0, 0]:
        return np.zeros(1, dtype=np.intp), np.zeros(1, dtype=np.intp)
    biased = similarity + _order_bias(m, n) if m and n and max(m, n) <= _LARGEST_BIASED else similarity
    try:
        gold, pred = linear_sum_assignment(biased, maximize=True)
    except ValueError as error:
        raise ValueError("the matrix of similarities holds NaN or infinite values") from error
    return gold, pred


def assign_at_least(similarity: Matrix, floor: float | None) -> tuple[Positions, Positions]:
    """Return the best pairing among pairs with a similarity of at least `floor` (None: all pairs).

    Raises ValueError for NaN.
    """
    if floor is None:
        return assign(similarity)
    # An excluded pair adds nothing to the total, as if left unpaired, and is dropped afterwards.
    gold, pred = assign(np.where(similarity < floor, 0.0, similarity))
    keep = similarity[gold, pred] >= floor
    return gold[keep], pred[keep]


@lru_cache(maxsize=1024)
def _order_bias(m: int, n: int) -> Matrix:
    """Return a penalty of -(i - j)^2, scaled to decide ties only: its sum over a pairing is below 1e-9.

    The sum is largest for the order-keeping pairing, since the square is convex.
    """
    distance = np.arange(m, dtype=np.float64)[:, None] - np.arange(n, dtype=np.float64)[None, :]
    bias: Matrix = -(_TIE / (min(m, n) * max(m, n) ** 2)) * distance**2
    bias.setflags(write=False)
    return bias
