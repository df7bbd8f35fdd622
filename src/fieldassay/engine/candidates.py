"""Candidate pairs: every gold item with every predicted item of the same list, as flat arrays over a whole batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.engine.scopes import Ints, Masks

Index = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The active nodes of one side by parent: those of parent k are `nodes[start[k] : start[k] + size[k]]`."""

    nodes: Index
    start: Index
    size: Index


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Candidate pairs of g groups (pairs of lists). Group k has `rows[k]` x `columns[k]` cells from `offset[k]` on, row by row.

    `gold` and `pred` are the nodes of each cell.
    """

    rows: Index
    columns: Index
    offset: Index
    gold: Index
    pred: Index

    def __len__(self) -> int:
        return len(self.gold)


def members(parent: Ints, active: Masks, parents: int) -> Members:
    """Return the active nodes grouped by parent, in order."""
    nodes = np.flatnonzero(active)
    size = np.bincount(parent[nodes], minlength=parents).astype(np.intp)
    return Members(nodes, np.cumsum(size) - size, size)


def candidate_cells(gold: Members, pred: Members, pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> Cells:
    """Return the cells of the lists that each pair of parents holds."""
    gold_parent, pred_parent = pairs
    rows, columns = gold.size[gold_parent], pred.size[pred_parent]
    sizes = rows * columns
    offset = np.cumsum(sizes) - sizes
    row_sizes = np.repeat(columns, rows)  # one entry per row of every group
    first_row = np.cumsum(rows) - rows
    row_in_group = np.arange(len(row_sizes)) - np.repeat(first_row, rows)
    row_node = np.repeat(gold.start[gold_parent], rows) + row_in_group
    row_start = np.cumsum(row_sizes) - row_sizes
    column_start = np.repeat(pred.start[pred_parent], rows)
    total = int(sizes.sum())
    column = np.arange(total) - np.repeat(row_start - column_start, row_sizes)
    return Cells(rows, columns, offset, gold.nodes[np.repeat(row_node, row_sizes)], pred.nodes[column])
