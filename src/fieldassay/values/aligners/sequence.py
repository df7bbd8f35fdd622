"""The pairing that keeps the order of both lists."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.aligners.base import Aligner, Positions
from fieldassay.values.aligners.threshold import checked_threshold, least_floor

Matrix = npt.NDArray[np.float64]


class Sequence(Aligner, Struct, frozen=True):
    """Pairs items without crossings, with the largest sum of similarities.

    This is Needleman-Wunsch without gap cost. `min_similarity` is the least similarity of a pair; by default
    anything above 0. Among equal pairings the earliest items are paired. A pair of similarity 0 is never
    made. Raises ValueError for NaN. Time and memory are m x n.

    >>> Sequence().pair(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    (array([0, 2]), array([1, 2]))
    """

    uses_order: ClassVar[bool] = True

    min_similarity: float | None = None

    def __post_init__(self) -> None:
        checked_threshold(self.min_similarity)

    @property
    def floor(self) -> float | None:
        return 0.0 if self.min_similarity is None else least_floor(self.min_similarity)

    def pair(self, similarity: Matrix) -> tuple[Positions, Positions]:
        if np.isnan(similarity).any():
            raise ValueError("the matrix of similarities holds NaN")
        floor = self.floor
        allowed = np.where(similarity < floor, 0.0, similarity) if floor else similarity
        return _trace(_totals(allowed), allowed)


def _totals(similarity: Matrix) -> Matrix:
    """Return the (m + 1) x (n + 1) best totals of all pairs of prefixes."""
    m, n = similarity.shape
    totals = np.zeros((m + 1, n + 1))
    for row in range(m):
        best = np.maximum(totals[row, 1:], totals[row, :-1] + similarity[row])
        np.maximum.accumulate(best, out=totals[row + 1, 1:])
    return totals


def _trace(totals: Matrix, similarity: Matrix) -> tuple[Positions, Positions]:
    row, column = similarity.shape
    gold: list[int] = []
    pred: list[int] = []
    while row and column:
        here = totals[row, column]
        if here == totals[row - 1, column]:
            row -= 1
        elif here == totals[row, column - 1]:
            column -= 1
        else:
            row, column = row - 1, column - 1
            gold.append(row)
            pred.append(column)
    return np.array(gold[::-1], dtype=np.intp), np.array(pred[::-1], dtype=np.intp)
