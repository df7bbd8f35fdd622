"""Pairing: the cells of each group's similarity matrix that become pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.aligners.base import Aligner
from fieldassay.engine.candidates import Cells, Index
from fieldassay.engine.scopes import Masks

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
    parts = [_pair_group(cells, similarity, aligner, keys, group) for group in open_groups.tolist()]
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


def _pair_group(
    cells: Cells, similarity: Floats, aligner: Aligner, keys: tuple[ContentKeys, ContentKeys], group: int
) -> Index:
    m, n, offset = int(cells.rows[group]), int(cells.columns[group]), int(cells.offset[group])
    block = similarity[offset : offset + m * n].reshape(m, n)
    if aligner.uses_order or not aligner.needs_similarity:
        rows, columns = aligner.pair(block)
        return offset + np.asarray(rows, dtype=np.intp) * n + np.asarray(columns, dtype=np.intp)
    row_order = _sorted(cells.gold[offset : offset + m * n : n], keys[0])
    column_order = _sorted(cells.pred[offset : offset + n], keys[1])
    rows, columns = aligner.pair(block[np.ix_(row_order, column_order)])
    return offset + row_order[rows] * n + column_order[columns]


def _sorted(nodes: Index, list_keys: ContentKeys) -> Index:
    keys = list_keys(nodes)
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.intp)
