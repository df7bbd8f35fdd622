"""Resolving, top-down: from aligned lists to the pairs of nodes that make rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.scoring.engine.blocks import Nodes, Pairs, Prefix
from fieldassay.scoring.engine.candidates import Index
from fieldassay.scoring.engine.coding import CodedList
from fieldassay.scoring.engine.lists import Aligned
from fieldassay.scoring.engine.scopes import GOOD, NONE, WRONG, Kinds, ListPlace, Masks, ObjectPlace


def resolve(aligned: Aligned, above: Pairs, parents: Index | None) -> tuple[Pairs, Index]:
    """Return the pairs of the list's items, and the chosen cells they come from.

    `parents` are the positions (in the aligned groups) of the chosen parent pairs, increasing; None: all of
    them. Paired items come first, then those only in gold, then those only in the prediction. Items that are
    empty on both sides make no pair, unless the list keeps them.
    """
    place = aligned.place.place
    selected = _selected(aligned, parents)
    cells = aligned.chosen[selected]
    gold, pred = aligned.cells.gold[cells], aligned.cells.pred[cells]
    owners = _owners(above, place)
    lone_gold = _unpaired(aligned.place, "gold", gold, owners[0])
    lone_pred = _unpaired(aligned.place, "pred", pred, owners[1])
    if not place.node.keeps_empty:
        filled = is_filled(aligned.place, gold, pred)
        cells, gold, pred = cells[filled], gold[filled], pred[filled]
    no_gold, no_pred = np.full(len(lone_pred), -1, dtype=np.intp), np.full(len(lone_gold), -1, dtype=np.intp)
    all_gold = np.concatenate([gold, lone_gold, no_gold])
    all_pred = np.concatenate([pred, no_pred, lone_pred])
    gold_side, pred_side = place.items.gold, place.items.pred
    doc = np.concatenate([gold_side.doc[gold], gold_side.doc[lone_gold], pred_side.doc[lone_pred]])
    owner = np.concatenate(
        [
            owners[0][gold_side.parent[gold]],
            owners[0][gold_side.parent[lone_gold]],
            owners[1][pred_side.parent[lone_pred]],
        ]
    )
    hidden, under = _masks(above, place, owner, all_pred)
    prefix = Prefix(above.prefix, place.items, place.node.path, place.node.items.path)
    lone = unpaired_mask(above, (*place.ancestors, place))
    excused = excused_mask(above, (*place.ancestors, place))
    inherited = (None if mask is None else mask[owner] for mask in (lone, excused))
    return Pairs(place.items, all_gold, all_pred, doc, hidden, under, prefix, *inherited), cells


def _selected(aligned: Aligned, parents: Index | None) -> Masks:
    if parents is None:
        return np.ones(len(aligned.chosen), dtype=bool)
    is_chosen = np.isin(aligned.cells.owner, parents)
    sizes = aligned.cells.rows * aligned.cells.columns
    group: Index = np.searchsorted(np.cumsum(sizes), aligned.chosen, side="right")
    return is_chosen[group]


def is_filled(listed: CodedList, gold: Nodes, pred: Nodes) -> Masks:
    """Return a mask of the pairs of items with any value on either side."""
    return holds_any(listed.items.gold_leaves, gold) | holds_any(listed.items.pred_leaves, pred)


def holds_any(leaves: npt.NDArray[np.int64], nodes: Nodes) -> Masks:
    """Return a mask of the pairs with a node on this side that holds any value."""
    if not len(leaves):
        return np.zeros(len(nodes), dtype=bool)
    held: Masks = (nodes >= 0) & (leaves[nodes] > 0)
    return held


def _unpaired(listed: CodedList, side: str, paired: Nodes, owner: Index) -> Nodes:
    """Return the items of one side without a partner.

    Items outside all pairs of parents, and items left out, are not among them.
    """
    left = getattr(listed, f"{side}_active").copy()
    left[paired] = False
    if not listed.place.node.keeps_empty:
        left &= getattr(listed.items, f"{side}_leaves") > 0
    nodes: Nodes = np.flatnonzero(left)
    has_parents: Masks = owner[getattr(listed.place.items, side).parent[nodes]] >= 0
    return nodes[has_parents]


def _owners(above: Pairs, place: ListPlace) -> tuple[Index, Index]:
    """Return, for each node of the scope above, the position of its pair (-1: none), gold and prediction."""
    found = []
    for nodes, kinds in ((above.gold, place.gold), (above.pred, place.pred)):
        owner = np.full(len(kinds.codes), -1, dtype=np.intp)
        at = np.flatnonzero(nodes >= 0)
        owner[nodes[at]] = at
        found.append(owner)
    return found[0], found[1]


def _masks(above: Pairs, place: ListPlace, owner: Index, pred: Nodes) -> tuple[Masks | None, Masks | None]:
    """Return masks of the hidden pairs (gold is no list) and of those under a prediction of another kind."""
    hidden, under = container_masks(above, (*place.ancestors, place))
    is_hidden = None if hidden is None else hidden[owner] & (pred >= 0)
    return is_hidden, None if under is None else under[owner]


def container_masks(
    pairs: Pairs, containers: tuple[ObjectPlace | ListPlace, ...]
) -> tuple[Masks | None, Masks | None]:
    """Return masks of the pairs hidden by, and of those under, one of the containers; None for no pair."""
    hidden, under = pairs.is_hidden, pairs.is_under
    for place in containers:
        if place.gold.wrong:
            hidden = _either(hidden, _holds(place.gold.codes, pairs.gold, WRONG))
        if place.pred.wrong:
            is_wrong = _holds(place.pred.codes, pairs.pred, WRONG) & _holds(
                place.gold.codes, pairs.gold, GOOD
            )
            under = _either(under, is_wrong)
    return hidden, under


def unpaired_mask(pairs: Pairs, containers: tuple[ObjectPlace | ListPlace, ...]) -> Masks | None:
    """Return a mask of the pairs below a one-sided node; None without any.

    The node is above the scope, or one of the containers.
    """
    lone = pairs.is_lone
    for place in containers:
        gold, pred = held_kinds(place.gold, pairs.gold), held_kinds(place.pred, pairs.pred)
        one_sided = ((gold == GOOD) & (pred == NONE)) | ((gold == NONE) & (pred == GOOD))
        if one_sided.any():
            lone = _either(lone, one_sided)
    return lone


def excused_mask(pairs: Pairs, containers: tuple[ObjectPlace | ListPlace, ...]) -> Masks | None:
    """Return a mask of the pairs below a prediction accepted in place of gold's; None without any.

    The prediction is above the scope, or at one of the containers.
    """
    excused = pairs.is_excused
    for place in containers:
        if place.excuse is not None:
            excused = _either(excused, place.excuse.of(pairs.gold, pairs.pred))
    return excused


def held_kinds(kinds: Kinds, nodes: Nodes) -> npt.NDArray[np.int8]:
    """Return the kind of each pair's node at a container's place on one side."""
    found = kinds.codes[nodes] if len(kinds.codes) else np.zeros(len(nodes), dtype=np.int8)
    return np.where(nodes >= 0, found, np.int8(NONE))


def _either(mask: Masks | None, other: Masks) -> Masks:
    return other if mask is None else mask | other


def _holds(codes: np.ndarray[tuple[int], np.dtype[np.int8]], nodes: Nodes, kind: int) -> Masks:
    """Return a mask of the pairs with a node on this side that holds the kind."""
    if not len(codes):
        return np.zeros(len(nodes), dtype=bool)
    held: Masks = (nodes >= 0) & (codes[nodes] == kind)
    return held
