"""Candidate pairs: every gold item with every predicted item of the same list, as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.scoring.engine.scopes import Ints, Masks
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode
from fieldassay.values.aligners.base import Aligner

Index = npt.NDArray[np.intp]

MOST_PAIRS = 25_000_000
"""Candidate pairs compared at once: of longer lists only parts are, and a batch is judged in portions."""


class Members(Struct, frozen=True, eq=False):
    """The active nodes of one side by parent.

    Those of parent k are `nodes[start[k] : start[k] + size[k]]`.
    """

    nodes: Index
    start: Index
    size: Index

    def under(self, parent: int) -> Index:
        """Return the nodes of a parent."""
        return self.nodes[self.start[parent] : self.start[parent] + self.size[parent]]

    def with_groups(self, groups: Sequence[Index]) -> Members:
        """Return the members with further groups of nodes, as those of parents of their own."""
        size = np.fromiter(map(len, groups), np.intp, len(groups))
        start = len(self.nodes) + np.cumsum(size) - size
        return Members(
            np.concatenate([self.nodes, *groups]),
            np.concatenate([self.start, start]),
            np.concatenate([self.size, size]),
        )


class Cells(Struct, frozen=True, eq=False):
    """Candidate pairs of g groups (pairs of lists, or of parts of them).

    Group k has `rows[k]` x `columns[k]` cells, starting at `offset[k]`, row by row. `gold` and `pred` are the
    nodes of each cell, `owner[k]` is the pair of parents that group k belongs to.
    """

    rows: Index
    columns: Index
    offset: Index
    gold: Index
    pred: Index
    owner: Index

    def __len__(self) -> int:
        return len(self.gold)


def members(parent: Ints, active: Masks, parents: int) -> Members:
    """Return the active nodes grouped by parent, in order."""
    nodes = np.flatnonzero(active)
    size = np.bincount(parent[nodes], minlength=parents).astype(np.intp)
    return Members(nodes, np.cumsum(size) - size, size)


def candidate_cells(
    gold: Members,
    pred: Members,
    pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    parts: Mapping[int, Sequence[tuple[Index, Index]]],
) -> Cells:
    """Return the cells of the lists of each pair of parents, or of the parts that stand for a long pair."""
    owner = np.arange(len(pairs[0]))
    if parts:
        owner = np.setdiff1d(owner, np.array(list(parts), dtype=np.intp))
        further = [part for listed in parts.values() for part in listed]
        numbers = np.arange(len(further))
        pairs = (
            np.concatenate([pairs[0][owner], len(gold.size) + numbers]),
            np.concatenate([pairs[1][owner], len(pred.size) + numbers]),
        )
        gold, pred = (
            side.with_groups([part[at] for part in further]) for at, side in enumerate((gold, pred))
        )
        owner = np.concatenate([owner, np.repeat(list(parts), list(map(len, parts.values())))])
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
    return Cells(rows, columns, offset, gold.nodes[np.repeat(row_node, row_sizes)], pred.nodes[column], owner)


def positional_cells(
    gold: Members, pred: Members, pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]], aligner: Aligner
) -> Cells:
    """Return only the cells that become pairs, for a positional aligner: one column each."""
    counts, of_gold, of_pred = [], [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for one, other in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
        shape = (int(gold.size[one]), int(pred.size[other]))
        rows, columns = aligner.pair(np.broadcast_to(np.float64(0), shape))
        counts.append(len(rows))
        of_gold.append(gold.nodes[gold.start[one] + np.asarray(rows, dtype=np.intp)])
        of_pred.append(pred.nodes[pred.start[other] + np.asarray(columns, dtype=np.intp)])
    sizes = np.array(counts, dtype=np.intp)
    offset = np.cumsum(sizes) - sizes
    return Cells(
        sizes,
        np.ones(len(sizes), dtype=np.intp),
        offset,
        np.concatenate(of_gold),
        np.concatenate(of_pred),
        np.arange(len(sizes)),
    )


def keyed_cells(
    gold: Members,
    pred: Members,
    pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    keys: tuple[Sequence[str], Sequence[str]],
) -> Cells:
    """Return only the cells that become pairs: values of equal keys of each pair of maps, one column each.

    `keys` are those of the nodes of each side.
    """
    codes = {key: code for code, key in enumerate(dict.fromkeys((*keys[0], *keys[1])))}
    found = []
    for side, parents, own in zip((gold, pred), pairs, keys, strict=True):
        size = side.size[parents]
        group = np.repeat(np.arange(len(parents)), size)
        at = np.arange(len(group)) - np.repeat(np.cumsum(size) - size - side.start[parents], size)
        nodes = side.nodes[at]
        code = np.fromiter(map(codes.__getitem__, own), np.int64, len(own))
        found.append((nodes, group * np.int64(len(codes)) + code[nodes]))
    (of_gold, gold_keys), (of_pred, pred_keys) = found
    _, at_gold, at_pred = np.intersect1d(gold_keys, pred_keys, assume_unique=True, return_indices=True)
    order = np.argsort(at_gold)
    at_gold, at_pred = at_gold[order], at_pred[order]
    groups = gold_keys[at_gold] // max(len(codes), 1)
    sizes = np.bincount(groups, minlength=len(pairs[0])).astype(np.intp)
    one_column = np.ones(len(sizes), dtype=np.intp)
    owner = np.arange(len(sizes))
    return Cells(sizes, one_column, np.cumsum(sizes) - sizes, of_gold[at_gold], of_pred[at_pred], owner)


def count_pairs(root: ObjectNode, gold: Sequence[Any], pred: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Return the number of candidate pairs in each document's declared lists.

    Lists inside items are included, trees are not.
    """
    total = np.zeros(len(gold), dtype=np.int64)
    for child in root.children:
        if (
            isinstance(child, ListNode)
            and isinstance(child.items, (Leaf, ObjectNode))
            and not _has_lists(child.items)
        ):
            lengths = (
                np.array([_length(record.get(child.name)) for record in side], dtype=np.int64)
                for side in (gold, pred)
            )
            total += np.prod(list(lengths), axis=0) * child.aligner.needs_similarity
        elif isinstance(child, (ListNode, ObjectNode)):
            total += [
                _count_under(ObjectNode("", "", -1, (child,)), [one], [other])
                for one, other in zip(gold, pred, strict=True)
            ]
    return total


def _has_lists(node: Node) -> bool:
    return isinstance(node, ListNode) or (
        isinstance(node, ObjectNode) and any(map(_has_lists, node.children))
    )


def _length(value: Any) -> int:
    return len(value) if value.__class__ is list else 0


def _count_under(node: Node, gold: list[Any], pred: list[Any]) -> int:
    """Return the number of candidate pairs under all values of a place on each side."""
    if isinstance(node, ObjectNode):
        return sum(
            _count_under(
                child,
                *(
                    [value[child.name] for value in side if isinstance(value, dict) and child.name in value]
                    for side in (gold, pred)
                ),
            )
            for child in node.children
            if isinstance(child, (ObjectNode, ListNode))
        )
    if not isinstance(node, ListNode) or not node.aligner.needs_similarity:
        return 0
    items = [[item for value in side if isinstance(value, list) for item in value] for side in (gold, pred)]
    return len(items[0]) * len(items[1]) + _count_under(node.items, *items)


def is_wanted(leaf: Leaf | ListNode, node: ListNode, wanted: Sequence[str]) -> bool:
    """Return whether a field of the items of `node` is one of the wanted ones; none wanted means all."""
    return not wanted or is_in(leaf, node, wanted)


def is_in(leaf: Leaf | ListNode, node: ListNode, wanted: Sequence[str]) -> bool:
    """Return whether a field of the items of `node` is one of the wanted ones."""
    return leaf.path.removeprefix(f"{node.items.path}.") in wanted
