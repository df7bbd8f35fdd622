"""Pairs settled without a comparator, and scores from reason codes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.values.comparators.base import Scores
from fieldassay.values.types.column import Column

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int16]


def equal_pairs(gold: Column, pred: Column) -> Mask:
    """Return a mask of the equal canonical texts.

    >>> from fieldassay.values.types.column import Reading
    >>> column = Column.of([Reading("a", "a", "a"), Reading("b", "b", "b")])
    >>> equal_pairs(column, column.take(np.array([0, 0]))).tolist()
    [True, False]
    """
    return np.asarray(gold.canonical == pred.canonical, dtype=np.bool_)


def unequal_positions(gold: Column, pred: Column) -> npt.NDArray[np.intp]:
    """Return the positions of the pairs whose canonical texts differ."""
    return np.flatnonzero(~equal_pairs(gold, pred))


def scores_by_code(codes: npt.NDArray[np.integer[Any]], table: Sequence[float]) -> Scores:
    """Return the scores `table[code]`, for reasons with one score each.

    >>> scores_by_code(np.array([0, 2]), (1.0, 0.0, 0.8)).score.tolist()
    [1.0, 0.8]
    """
    reason = codes.astype(np.int16)
    return Scores(np.asarray(table, dtype=np.float64)[reason], reason)


def graded(score: Floats, equal: Mask) -> Scores:
    """Return scores with the reasons `equal` (0), `different` (1: score 0 or less) and `similar` (2)."""
    graded_score = np.where(equal, 1.0, score)
    reason = np.where(equal, 0, np.where(graded_score > 0, 2, 1)).astype(np.int16)
    return Scores(graded_score, reason)
