"""The items common to two sets, for many pairs of few sets at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fieldassay.values.comparators.equality import Floats
from fieldassay.values.comparators.items import Ints, Items
from fieldassay.values.types.column import Indices

_AT_ONCE = 4_000_000
"""The number of items per lookup."""


def common_counts(sets: Items, gold: Indices, pred: Indices) -> Floats:
    """Return the number of common canonical texts of `sets[gold[i]]` and `sets[pred[i]]` for every i.

    No set may repeat an item.

    >>> from fieldassay.values.comparators.items import items_of
    >>> from fieldassay.values.types.column import Column, Reading
    >>> lists = [Column.of([Reading(text, text, text) for text in texts]) for texts in ("ab", "bc", "c")]
    >>> sets = items_of(Column.of([Reading("", value, "") for value in lists]))
    >>> common_counts(sets, np.array([0, 0, 1]), np.array([1, 2, 2])).tolist()
    [1.0, 0.0, 1.0]
    """
    numbers: dict[str, int] = {}
    item = np.fromiter(
        (numbers.setdefault(text, len(numbers)) for text in sets.column.canonical),
        dtype=np.int64,
        count=len(sets.column),
    )
    width = np.int64(max(len(numbers), 1))
    held = np.sort(np.repeat(np.arange(len(sets.counts)), sets.counts) * width + item)
    common = np.zeros(len(gold))
    for part in _portions(sets.counts[gold]):
        sizes = sets.counts[gold[part]]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        at = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes - sets.starts[gold[part]], sizes)
        wanted = pred[part][owner] * width + item[at]
        place = np.minimum(np.searchsorted(held, wanted), len(held) - 1)
        common[part] = np.bincount(owner[held[place] == wanted], minlength=len(sizes))
    return common


def _portions(sizes: Ints) -> Iterator[slice]:
    """Yield consecutive pairs whose items fit in memory together, at least one pair each."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + _AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop
