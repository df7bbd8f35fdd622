"""Lists: candidate pairs of items, and which of them are chosen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.scoring.engine.coding import (
    Coded,
    CodedList,
    CodedScope,
    ContentKeys,
    WrongKindValues,
    compare_codes,
    content_keys,
)
from fieldassay.scoring.engine.scopes import Ints, ListPlace, Masks, ObjectPlace
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode
from fieldassay.values.aligners import Aligner, SequenceAligner

# Candidate pairs: every gold item with every predicted item of the same list, as flat arrays.

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
    for gold_parent, pred_parent in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True):
        shape = (int(gold.size[gold_parent]), int(pred.size[pred_parent]))
        rows, columns = aligner.pair(np.broadcast_to(np.float64(0), shape))
        counts.append(len(rows))
        of_gold.append(gold.nodes[gold.start[gold_parent] + np.asarray(rows, dtype=np.intp)])
        of_pred.append(pred.nodes[pred.start[pred_parent] + np.asarray(columns, dtype=np.intp)])
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
    keyed_nodes = []
    for side, parents, own in zip((gold, pred), pairs, keys, strict=True):
        size = side.size[parents]
        group = np.repeat(np.arange(len(parents)), size)
        at = np.arange(len(group)) - np.repeat(np.cumsum(size) - size - side.start[parents], size)
        nodes = side.nodes[at]
        code = np.fromiter(map(codes.__getitem__, own), np.int64, len(own))
        keyed_nodes.append((nodes, group * np.int64(len(codes)) + code[nodes]))
    (of_gold, gold_keys), (of_pred, pred_keys) = keyed_nodes
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
                _count_under(ObjectNode("", "", -1, (child,)), [gold_list], [pred_list])
                for gold_list, pred_list in zip(gold, pred, strict=True)
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


# Lists with too many pairs of items to compare: equal items are paired first, and the rest is compared.
# Where a similarity is 0 or 1, or equal keys decide, no pairing has a larger total. Elsewhere one may: an
# item that has an equal can be worth more as the partner of another, and several pairings can have one
# total. So lists that are short enough are never split.

_EQUAL = 1 - 1e-6
"""The least floor of an aligner under which only equal values can be paired."""
Part = tuple[Index, Index]
"""Gold and predicted items, of which any may be paired with any."""


class TooLong(Struct, frozen=True):
    """Two lists of document number `doc` of the batch that have too many pairs of items."""

    doc: int
    path: str
    why: str


def split_long(
    coded: CodedList, gold: Members, pred: Members, pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]]
) -> tuple[dict[int, list[Part]], list[TooLong]]:
    """Return the parts of each pair of lists with more than `MOST_PAIRS` pairs of items, by its position.

    Items of different parts are not paired. Pairs of lists that no part makes short enough have none.
    """
    parts_of: dict[int, list[Part]] = {}
    too_long = []
    for at in np.flatnonzero(gold.size[pairs[0]] * pred.size[pairs[1]] > MOST_PAIRS).tolist():
        items = gold.under(pairs[0][at]), pred.under(pairs[1][at])
        parts = _split(coded, *items)
        parts_of[at] = parts
        if _count(parts) > MOST_PAIRS:
            parts_of[at] = []
            keys = ", ".join(coded.place.node.aligner.key_fields)
            left = (sum(len(part[side]) for part in parts if _count([part]) > 1) for side in (0, 1))
            why = (
                f"{len(items[0]):,} gold items and {len(items[1]):,} predicted items are too many to pair by "
                f"{keys or 'similarity'}, since {' and '.join(f'{size:,}' for size in left)} are left when "
                f"equal {'keys' if keys else 'items'} are paired first"
            )
            doc = int(coded.place.items.gold.doc[items[0][0]])
            too_long.append(TooLong(doc, coded.place.node.path, why))
    return parts_of, too_long


def _count(parts: list[Part]) -> int:
    return sum(len(gold) * len(pred) for gold, pred in parts)


def _split(coded: CodedList, gold: Index, pred: Index) -> list[Part]:
    """Return the parts of two lists; of an aligner that may not pair equal items, both as they are."""
    aligner = coded.place.node.aligner
    if isinstance(aligner, SequenceAligner):
        ours, theirs = _contents(coded, gold, 0), _contents(coded, pred, 1)
        shared = min(len(ours), len(theirs))
        first = next((at for at in range(shared) if ours[at] != theirs[at]), shared)
        last = next((at for at in range(shared - first) if ours[-1 - at] != theirs[-1 - at]), shared - first)
        pairs = [(gold[[at]], pred[[at]]) for at in (*range(first), *range(-last, 0))]
        return [*pairs, (gold[first : len(gold) - last], pred[first : len(pred) - last])]
    if not aligner.maximizes_total:
        return [(gold, pred)]
    is_sure = _pairs_only_equal(coded)
    parts = [(gold, pred)]
    if aligner.key_fields:
        parts = [*_matched(coded, gold, pred, True)] if is_sure else _equal_first(coded, gold, pred, True)
    if _count(parts) > MOST_PAIRS:
        parts = [part for long in parts for part in _equal_first(coded, *long)]
    return parts[:-1] if is_sure and not aligner.key_fields else parts


def _pairs_only_equal(coded: CodedList) -> bool:
    """Return whether only items with equal keys can be paired, or without keys only equal items."""
    node, items, floor = coded.place.node, coded.items, coded.place.node.aligner.floor
    keys = node.aligner.key_fields
    if floor is None or items.odd or any(is_wanted(inner.place.node, node, keys) for inner in items.lists):
        return False
    leaves = [
        leaf.is_exact and leaf.accepted is None and all(above.excuse is None for above in place.ancestors)
        for leaf, place in zip(items.leaves, items.scope.leaves, strict=True)
        if is_wanted(leaf.leaf, node, keys)
    ]
    return all(leaves) and (floor >= _EQUAL if keys else len(leaves) == 1)


def _equal_first(coded: CodedList, gold: Index, pred: Index, by_key: bool = False) -> list[Part]:
    """Return equal items as pairs, the first with the first, and the rest as one part.

    `by_key`: items with equal keys that stand once on either side.
    """
    pairs: list[Part] = []
    rest = [gold[:0]], [pred[:0]]
    for ours, theirs in _matched(coded, gold, pred, by_key):
        shared = min(len(ours), len(theirs)) if not by_key or len(ours) == len(theirs) == 1 else 0
        pairs += [(ours[[at]], theirs[[at]]) for at in range(shared)]
        rest[0].append(ours[shared:])
        rest[1].append(theirs[shared:])
    return [*pairs, (np.concatenate(rest[0]), np.concatenate(rest[1]))]


def _matched(coded: CodedList, gold: Index, pred: Index, by_key: bool) -> list[Part]:
    """Return the items of both sides that are equal, or have equal keys, in order; one side may have none."""
    sides_of: dict[str, tuple[list[int], list[int]]] = {}
    for side, nodes in enumerate((gold, pred)):
        for node, content in zip(nodes.tolist(), _contents(coded, nodes, side, by_key), strict=True):
            sides_of.setdefault(content, ([], []))[side].append(node)
    return [(np.array(ours, np.intp), np.array(theirs, np.intp)) for ours, theirs in sides_of.values()]


def _contents(coded: CodedList, nodes: Index, side: int, by_key: bool = False) -> list[str]:
    node = coded.place.node
    keys = node.aligner.key_fields if by_key else ()
    contents = content_keys(coded.items, ("gold", "pred")[side], lambda of: is_wanted(of, node, keys))
    return list(map(repr, contents(nodes)))


# Alignment, bottom-up: all candidate item pairs of a batch are compared at once, then paired by list.


class PairWorth(Struct, frozen=True, eq=False):
    """The agreement of pairs of items.

    It is leaf scores / leaves present on either side, and the similarity used for pairing (else NaN).
    """

    score: Floats
    similarity: Floats

    def take(self, at: Index) -> PairWorth:
        """Return the worth of the pairs at the positions."""
        return PairWorth(self.score[at], self.similarity[at])


class Aligned(Struct, frozen=True, eq=False):
    """The alignment of one list field for p pairs of parents.

    `cells` are the candidates of all pairs of parents, `chosen` the cells that became item pairs; `nested`
    are the alignments of the lists inside the items, whose pairs of parents are `cells`. `score` and `union`
    are per pair of parents: the sum of leaf scores under the list, and the number of leaves present on either
    side.
    """

    place: CodedList
    cells: Cells
    chosen: Index
    nested: tuple[Aligned, ...]
    score: Floats
    union: Floats
    worth: PairWorth
    """The agreement of each chosen cell."""
    too_long: tuple[TooLong, ...]
    """The pairs of lists, here and inside the items, that are too long and were left unpaired."""


def align(coded: CodedList, pairs: tuple[npt.NDArray[Any], npt.NDArray[Any]]) -> Aligned:
    """Return the alignment of a list field for the pairs of parent nodes."""
    node, items = coded.place.node, coded.items
    gold_side, pred_side = coded.place.items.gold, coded.place.items.pred
    gold = members(gold_side.parent, coded.gold_active, len(coded.place.gold.codes))
    pred = members(pred_side.parent, coded.pred_active, len(coded.place.pred.codes))
    too_long: list[TooLong] = []
    if node.aligner.needs_similarity:
        parts, too_long = split_long(coded, gold, pred, pairs)
        cells = candidate_cells(gold, pred, pairs, parts)
    else:
        cells = (
            keyed_cells(gold, pred, pairs, (gold_side.keys, pred_side.keys))
            if node.is_map
            else positional_cells(gold, pred, pairs, node.aligner)
        )
    nested = tuple(_excused(align(inner, (cells.gold, cells.pred)), cells) for inner in items.lists)
    sums = _CellSums(cells, items, nested)
    if node.aligner.needs_similarity:
        keys = (content_keys(items, "gold", bool), content_keys(items, "pred", bool))
        similarity = sums.similarity(node)
        chosen = pair_cells(cells, similarity, node.aligner, keys)
        paired_by = np.minimum(similarity[chosen], 1.0)
    else:
        chosen = np.arange(len(cells))
        paired_by = np.full(len(cells), np.nan)
    groups = np.repeat(cells.owner, cells.rows * cells.columns)[chosen]
    score, both = sums.score_and_both(chosen)
    of_gold = np.bincount(
        gold_side.parent, weights=items.gold_leaves * coded.gold_active, minlength=len(gold.size)
    )[pairs[0]]
    of_pred = np.bincount(
        pred_side.parent, weights=items.pred_leaves * coded.pred_active, minlength=len(pred.size)
    )[pairs[1]]
    total = np.bincount(groups, weights=score, minlength=len(pairs[0])).astype(np.float64)
    shared = np.bincount(groups, weights=both, minlength=len(pairs[0]))
    leaves = items.gold_leaves[cells.gold[chosen]] + items.pred_leaves[cells.pred[chosen]] - both
    pair_score = np.divide(score, leaves, out=np.zeros(len(score)), where=leaves > 0)
    return Aligned(
        coded,
        cells,
        chosen,
        nested,
        total,
        of_gold + of_pred - shared,
        PairWorth(pair_score, paired_by),
        (*too_long, *(pair for inner in nested for pair in inner.too_long)),
    )


def _agreeing(share: Floats, is_there: Masks) -> tuple[Floats, Masks]:
    return np.where(is_there, share, 1.0), np.ones_like(is_there)


class _CellSums(Struct, frozen=True, eq=False):
    """The agreement of candidate pairs: leaf by leaf, and each list inside the items as one component."""

    cells: Cells
    items: CodedScope
    nested: tuple[Aligned, ...]

    def similarity(self, node: ListNode) -> Floats:
        """Return the pair similarity of every cell: of the aligner's key fields if any, else of all."""
        whole = self._combined(node, self._parts(node, ()))
        return self._by_key(node, whole) if node.aligner.key_fields else whole

    def _by_key(self, node: ListNode, whole: Floats) -> Floats:
        """Return the similarity of the keys.

        Anything but an object has no keys and is similar only to an equal value.
        """
        parts = self._parts(node, node.aligner.key_fields)
        has_key = reduce(np.logical_or, [is_there for _, (_, is_there) in parts], _NOWHERE)
        keyless = 1.0 + _KEY_TIE * whole if node.aligner.pairs_keyless else whole
        similarity = np.where(has_key, self._mean(parts) + _KEY_TIE * whole, keyless)
        for values in self.items.odd:
            same, is_odd = self._odd(values, slice(None))
            similarity = np.where(is_odd, same, similarity)
        return similarity

    def _parts(self, node: ListNode, wanted: tuple[str, ...]) -> list[tuple[float, tuple[Floats, Masks]]]:
        """Return the components of the similarity: weight, score per cell, and a mask of presence.

        Scores of 0 and 1 are a mask, too; presence in every cell is the mask `_EVERYWHERE`. Of all fields,
        those that agree where both sides lack them are in every cell.
        """
        both = zip(self.items.leaves, self.items.scope.leaves, strict=True)
        leaves = ((coded, place) for coded, place in both if is_wanted(coded.leaf, node, wanted))
        nested = (inner for inner in self.nested if is_wanted(inner.place.place.node, node, wanted))
        filled = node.aligner.filled_fields
        components: list[tuple[Leaf | ListNode, tuple[Floats, Masks]]] = []
        components += [
            (
                coded.leaf,
                (self._filled if is_in(coded.leaf, node, filled) else self._leaf)(coded, place.ancestors),
            )
            for coded, place in leaves
        ]
        components += [(inner.place.place.node, _share(inner)) for inner in nested]
        return [
            (
                of.weight if node.combine == "weighted" else 1.0,
                _agreeing(*part) if of.agrees_if_empty and not wanted else part,
            )
            for of, part in components
        ]

    def _combined(self, node: ListNode, parts: list[tuple[float, tuple[Floats, Masks]]]) -> Floats:
        """Return the combination of the components under the list's `combine` rule."""
        if not node.has_agreeing:  # where empty fields agree, a value of another kind is no field
            parts = [*parts, *((1.0, self._odd(values, slice(None))) for values in self.items.odd)]
        if node.combine != "product":
            return self._mean(parts)
        distance, has_any = np.ones(len(self.cells)), np.zeros(len(self.cells), np.bool_)
        for _, (share, is_there) in parts:
            distance *= np.where(is_there, 1 - share, 1.0)
            has_any |= is_there
        return np.where(has_any, 1 - distance, 1.0)

    def _mean(self, parts: list[tuple[float, tuple[Floats, Masks]]]) -> Floats:
        """Return the weighted mean of the components; masks alone are counted in bytes."""
        are_masks = len(parts) < 128 and all(
            factor == 1 and share.dtype == np.bool_ for factor, (share, _) in parts
        )
        total: npt.NDArray[Any] = np.zeros(len(self.cells), np.int8 if are_masks else np.float64)
        weight = np.zeros(())
        for factor, (share, is_there) in parts:
            total += share.view(np.int8) if are_masks else share if factor == 1 else factor * share
            weight = weight + (is_there if factor == 1 else factor * is_there)
        mean = total.astype(np.float64, copy=False)
        return np.divide(mean, weight, out=mean, where=weight > 0)

    def _odd(self, odd: WrongKindValues, chosen: Index | slice) -> tuple[Floats, Masks]:
        gold, pred = odd.gold[self.cells.gold[chosen]], odd.pred[self.cells.pred[chosen]]
        is_there = (gold >= 0) | (pred >= 0)
        excused = self._are_excused((*odd.place.ancestors, odd.place), chosen)
        if excused is not None:
            is_there &= ~excused
        return ((gold == pred) & is_there).astype(np.float64), is_there

    def _are_excused(
        self, containers: tuple[ObjectPlace | ListPlace, ...], chosen: Index | slice
    ) -> Masks | None:
        """Return a mask of the cells with a container accepted as a whole; None without any."""
        masks = [
            place.excuse.of(self.cells.gold[chosen], self.cells.pred[chosen])
            for place in containers
            if place.excuse is not None
        ]
        accepted: Masks | None = np.logical_or.reduce(masks) if masks else None
        return accepted

    def _leaf(self, coded: Coded, ancestors: tuple[ObjectPlace, ...]) -> tuple[Floats, Masks]:
        """Return a leaf's score in every cell, and a mask of presence on either side.

        The score is 0 unless both sides have the leaf, or it is accepted.
        """
        score, is_there = self._compared(coded)
        excused = self._are_excused(ancestors, slice(None))
        if excused is not None:
            has_gold = coded.gold[self.cells.gold] >= 0
            score, is_there = np.where(excused, has_gold, score), np.where(excused, has_gold, is_there)
        return score, is_there

    def _compared(self, coded: Coded) -> tuple[Floats, Masks]:
        if coded.is_exact and coded.accepted is None:
            of_gold, of_pred = (coded.meanings(side).astype(np.int32) for side in ("gold", "pred"))
            right, read = _spread(self.cells, of_gold, of_pred)
            same = right == read
            if (of_gold >= 0).all():
                return same, _EVERYWHERE
            is_there = (right >= 0) | (read >= 0)
            return same & is_there, is_there
        gold, pred = coded.gold[self.cells.gold], coded.pred[self.cells.pred]
        has_gold, has_pred = gold >= 0, pred >= 0
        score = np.zeros(len(gold))
        at = np.flatnonzero(has_gold & has_pred)
        if len(at) == len(gold):
            score = np.nan_to_num(compare_codes(coded, gold, pred).score, copy=False)
        else:
            score[at] = np.nan_to_num(compare_codes(coded, gold[at], pred[at]).score, copy=False)
        if coded.accepted is not None:
            score[coded.accepted.of(gold, pred) & ~has_pred] = 1.0
        return score, has_gold | has_pred

    def _filled(self, coded: Coded, ancestors: tuple[ObjectPlace, ...]) -> tuple[Floats, Masks]:
        """Return the same for a field whose absence on both sides is no agreement.

        A field that gold lacks gets a tiny worth, so that it only breaks ties.
        """
        score, is_there = self._leaf(coded, ancestors)
        return np.where(coded.gold[self.cells.gold] < 0, _LACKING, score), np.ones_like(is_there)

    def score_and_both(self, chosen: Index) -> tuple[Floats, Floats]:
        """Return the sum of leaf scores and the number of leaves on both sides, for the chosen cells."""
        score, both = np.zeros(len(chosen)), np.zeros(len(chosen))
        for coded, place in zip(self.items.leaves, self.items.scope.leaves, strict=True):
            gold, pred = coded.gold[self.cells.gold[chosen]], coded.pred[self.cells.pred[chosen]]
            at = np.flatnonzero((gold >= 0) & (pred >= 0))
            own, shared = np.zeros(len(chosen)), np.zeros(len(chosen))
            own[at], shared[at] = in_units(compare_codes(coded, gold[at], pred[at]).score), 1
            if coded.accepted is not None:
                own[coded.accepted.of(gold, pred) & (pred < 0)] = 1
            excused = self._are_excused(place.ancestors, chosen)
            if excused is not None:  # as many leaves as gold has
                own, shared = np.where(excused, gold >= 0, own), np.where(excused, pred >= 0, shared)
            score += own
            both += shared
        for odd in self.items.odd:
            score += self._odd(odd, chosen)[0]
            excused = self._are_excused((*odd.place.ancestors, odd.place), chosen)
            has_gold, has_pred = (
                odd.gold[self.cells.gold[chosen]] >= 0,
                odd.pred[self.cells.pred[chosen]] >= 0,
            )
            both += has_gold & has_pred if excused is None else has_pred & (has_gold | excused)
        for inner in self.nested:
            gold_leaves = _under(inner, self.cells.gold[chosen], "gold")
            pred_leaves = _under(inner, self.cells.pred[chosen], "pred")
            score += inner.score[chosen]
            both += gold_leaves + pred_leaves - inner.union[chosen]
        return score, both


_NOWHERE, _EVERYWHERE = np.zeros((), dtype=bool), np.ones((), dtype=bool)
_KEY_TIE = 1e-6
"""The weight of the whole items' similarity beside their keys': it decides only between equal keys."""
_LACKING = 0.02
"""The worth of a field that gold lacks, where absence is no agreement: less than any field that is right."""


def _spread(cells: Cells, of_gold: Ints, of_pred: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of the gold and predicted nodes of each candidate cell."""
    if len(cells.rows) != 1:
        return of_gold[cells.gold], of_pred[cells.pred]
    m, n = int(cells.rows[0]), int(cells.columns[0])  # one group, whose rows and columns follow each other
    return np.repeat(of_gold[cells.gold[:: max(n, 1)]], n), np.tile(of_pred[cells.pred[:n]], m)


def _excused(inner: Aligned, cells: Cells) -> Aligned:
    """Return the alignment of an inner list, with all of gold right where the prediction is accepted."""
    place = inner.place.place
    containers: tuple[ObjectPlace | ListPlace, ...] = (*place.ancestors, place)
    masks = [place.excuse.of(cells.gold, cells.pred) for place in containers if place.excuse is not None]
    if not masks:
        return inner
    excused, leaves = np.logical_or.reduce(masks), _under(inner, cells.gold, "gold")
    return replace(
        inner, score=np.where(excused, leaves, inner.score), union=np.where(excused, leaves, inner.union)
    )


def _share(inner: Aligned) -> tuple[Floats, Masks]:
    """Return the share of an inner list in every cell (leaf scores / leaves), and a mask of any leaf."""
    is_there = inner.union > 0
    return np.divide(inner.score, inner.union, out=np.zeros(len(inner.score)), where=is_there), is_there


def _under(inner: Aligned, nodes: Index, side: str) -> Floats:
    """Return the number of active leaves under each node's list."""
    place = inner.place.place
    parent = getattr(place.items, side).parent
    leaves = getattr(inner.place.items, f"{side}_leaves") * getattr(inner.place, f"{side}_active")
    count = np.bincount(parent, weights=leaves, minlength=len(getattr(place, side).codes)).astype(np.float64)
    return count[nodes]


def in_units(score: Floats) -> Floats:
    """Return scores as multiples of 2^-32, NaN as 0.

    Their sums are exact and therefore independent of the order of addition.
    """
    return np.nan_to_num(np.rint(score * 2.0**32) * 2.0**-32)


Floats = npt.NDArray[np.float64]


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
    claims = np.bincount(column, minlength=int(cells.columns.sum()))
    settled[group_of[claims[column] > 1]] = False
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
