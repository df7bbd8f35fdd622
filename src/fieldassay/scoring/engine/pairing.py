"""Pairing: the cells of each group's similarity matrix that become pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.scoring.engine.candidates import Cells, Index
from fieldassay.scoring.engine.scopes import Masks
from fieldassay.values.aligners.base import Aligner

Floats = npt.NDArray[np.float64]
ContentKeys = Callable[[Index], list[Any]]
"""The sort keys of nodes."""


def pair_cells(
    cells: Cells, similarity: Floats, aligner: Aligner, keys: tuple[ContentKeys, ContentKeys]
) -> Index:
    """Return the chosen cells, in increasing order.

    Groups in which every row's best cell is unique and no two rows share a column have only one best pairing,
    which is taken at once. The others go to the aligner with their items sorted by content (`keys` gives
    the sort keys of nodes), so that ties cannot depend on order.
    """
    if aligner.maximizes_total and aligner.floor is not None:
        settled, chosen = _dominant(cells, similarity, aligner.floor)
    else:
        settled, chosen = np.zeros(len(cells.rows), dtype=bool), np.zeros(0, dtype=np.intp)
    open_groups = np.flatnonzero(~settled & (cells.rows > 0) & (cells.columns > 0))
    parts = _pair_groups(cells, similarity, aligner, keys, open_groups.tolist())
    return np.sort(np.concatenate([chosen, *parts])).astype(np.intp)


def _dominant(cells: Cells, similarity: Floats, floor: float) -> tuple[Masks, Index]:
    """Return a mask of the groups with one evident best pairing, and the cells of those."""
    groups = len(cells.rows)
    rows = np.where(cells.columns > 0, cells.rows, 0)
    row_group = np.repeat(np.arange(groups), rows)
    if not len(row_group):
        return np.ones(groups, dtype=bool), np.zeros(0, dtype=np.intp)
    row_sizes = cells.columns[row_group]
    starts = np.cumsum(row_sizes) - row_sizes
    best = np.maximum.reduceat(similarity, starts)
    is_best = similarity == np.repeat(best, row_sizes)
    ties = np.add.reduceat(is_best, starts, dtype=np.int64)
    counts = (best > 0) if floor == 0 else (best >= floor)
    settled = np.ones(groups, dtype=bool)
    settled[row_group[counts & (ties > 1)]] = False
    best_cells = np.flatnonzero(is_best & np.repeat(counts & (ties == 1), row_sizes))
    cell_row = np.repeat(np.arange(len(row_group)), row_sizes)[best_cells]
    group_of = row_group[cell_row]
    column_offset = np.cumsum(cells.columns) - cells.columns
    column = column_offset[group_of] + best_cells - starts[cell_row]
    taken = np.bincount(column, minlength=int(cells.columns.sum()))
    settled[group_of[taken[column] > 1]] = False
    return settled, best_cells[settled[group_of]]


def _pair_groups(
    cells: Cells,
    similarity: Floats,
    aligner: Aligner,
    keys: tuple[ContentKeys, ContentKeys],
    groups: list[int],
) -> Iterator[Index]:
    """Yield the cells that the aligner chooses in each group."""
    shapes = [(int(cells.rows[at]), int(cells.columns[at]), int(cells.offset[at])) for at in groups]
    if aligner.uses_order or not aligner.needs_similarity:
        orders = ([np.arange(m) for m, _, _ in shapes], [np.arange(n) for _, n, _ in shapes])
    else:
        orders = (
            _sorted([cells.gold[offset : offset + m * n : n] for m, n, offset in shapes], keys[0]),
            _sorted([cells.pred[offset : offset + n] for _, n, offset in shapes], keys[1]),
        )
    for (m, n, offset), row_order, column_order in zip(shapes, *orders, strict=True):
        block = similarity[offset : offset + m * n].reshape(m, n)
        rows, columns = aligner.pair(block[np.ix_(row_order, column_order)])
        yield offset + row_order[rows] * n + column_order[columns]


def _sorted(groups: list[Index], list_keys: ContentKeys) -> list[Index]:
    """Return the positions of the nodes of each group in the order of their content."""
    keys = iter(list_keys(np.concatenate(groups)) if groups else ())
    parts = (list(islice(keys, len(nodes))) for nodes in groups)
    return [np.array(sorted(range(len(part)), key=part.__getitem__), dtype=np.intp) for part in parts]
