"""Items of lists: all candidate pairs of a batch in one comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator
from fieldassay.values.comparators.equality import Floats
from fieldassay.values.types.column import Column, Objects, objects

Ints = npt.NDArray[np.int64]


class Items(Struct, frozen=True, eq=False):
    """The items of all lists of a column, end to end.

    List i has `counts[i]` items, starting at `starts[i]`.
    """

    column: Column
    starts: Ints
    counts: Ints

    def canonical_lists(self) -> list[list[str]]:
        """Return the canonical texts of the items, list by list."""
        texts = self.column.canonical.tolist()
        return [
            texts[start : start + count]
            for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True)
        ]


def items_of(column: Column, is_distinct: bool = False) -> Items:
    """Return the items of every value; anything but a list is its own only item.

    `is_distinct` drops repeated canonical texts.

    >>> from fieldassay.values.types.column import Reading
    >>> column = Column.of([Reading(text, text, text) for text in ("a", "b", "a")])
    >>> items_of(Column.of([Reading("[]", column, "[]")]), is_distinct=True).counts.tolist()
    [2]
    """
    parts: list[Column] = []
    for index, value in enumerate(column.values):
        inner = value if isinstance(value, Column) else column.take(np.array([index]))
        parts.append(_distinct(inner) if is_distinct else inner)
    counts = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    starts = np.cumsum(counts) - counts
    joined = Column(
        _joined([part.texts for part in parts]),
        _joined([part.values for part in parts]),
        _joined([part.canonical for part in parts]),
    )
    return Items(joined, starts, counts)


def _joined(arrays: list[Objects]) -> Objects:
    return np.concatenate(arrays) if arrays else objects([])


def _distinct(column: Column) -> Column:
    first: dict[Any, int] = {}
    for index, text in enumerate(column.canonical):
        first.setdefault(text, index)
    return (
        column
        if len(first) == len(column)
        else column.take(np.fromiter(first.values(), dtype=np.int64, count=len(first)))
    )


class Candidates(Struct, frozen=True, eq=False):
    """Pairs of items of list pairs.

    `gold[k]` and `pred[k]` are positions in the joined columns, `owner[k]` is the list pair.
    """

    gold: Ints
    pred: Ints
    owner: Ints

    def __len__(self) -> int:
        return len(self.gold)


def all_pairs(gold: Items, pred: Items) -> Candidates:
    """Return every gold item with every predicted item of the same list pair, row by row, lists in order."""
    sizes = gold.counts * pred.counts
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row, column = np.divmod(within, np.maximum(pred.counts[owner], 1))
    return Candidates(gold.starts[owner] + row, pred.starts[owner] + column, owner)


def same_positions(gold: Items, pred: Items) -> Candidates:
    """Return the pairs of items at the same position of both lists."""
    sizes = np.minimum(gold.counts, pred.counts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Candidates(gold.starts[owner] + within, pred.starts[owner] + within, owner)


def similarities(gold: Items, pred: Items, pairs: Candidates, comparator: Comparator) -> Floats:
    """Return the comparator's score of every candidate pair, from one call on the distinct pairs."""
    if not len(pairs):
        return np.zeros(0)
    if comparator.by_canonical:
        return np.asarray(
            gold.column.canonical[pairs.gold] == pred.column.canonical[pairs.pred], dtype=np.float64
        )
    given, found = _meanings(gold.column), _meanings(pred.column)
    key = given[pairs.gold] * np.int64(len(pred.column) + 1) + found[pairs.pred]
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    scores = comparator.compare(gold.column.take(pairs.gold[first]), pred.column.take(pairs.pred[first]))
    return scores.score[back]


def _meanings(column: Column) -> Ints:
    """Return a number for each item, equal for items with equal canonical texts and equal texts."""
    numbers: dict[tuple[Any, Any], int] = {}
    both = zip(column.canonical, column.texts, strict=True)
    return np.fromiter(
        (numbers.setdefault(pair, len(numbers)) for pair in both), dtype=np.int64, count=len(column)
    )


def total_by(positions: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values at each position, 0 where there is none."""
    return np.bincount(positions, weights=values, minlength=size).astype(np.float64)


def best_by(positions: Ints, values: Floats, size: int) -> Floats:
    """Return the largest value at each position, -inf where there is none."""
    best = np.full(size, -np.inf)
    with np.errstate(invalid="ignore"):  # NaN, not judged, wins
        np.maximum.at(best, positions, values)
    return best
