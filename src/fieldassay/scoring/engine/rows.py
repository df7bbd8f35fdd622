"""Rows of values: pairs of nodes, containers and leaves with their outcomes, and the paths of rows."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.evidence import FLAG, FieldInfo, Kind, Outcome
from fieldassay.paths import is_item_path, join_path
from fieldassay.scoring.engine.coding import (
    ACCEPTED,
    Block,
    Coded,
    CodedList,
    Compared,
    Nodes,
    Pairs,
    Prefix,
    Reasons,
    compare_codes,
    odd_text,
    only_item,
    present_rows,
    relative_path,
)
from fieldassay.scoring.engine.lists import Aligned, Index, PairWorth
from fieldassay.scoring.engine.scopes import (
    GOOD,
    NONE,
    WRONG,
    Codes,
    FieldTable,
    Ints,
    Kinds,
    LeafPlace,
    ListPlace,
    Masks,
    ObjectPlace,
)

# Rows below a prediction accepted in place of gold's object or list: they count like gold itself.

_WRONG = (int(Outcome.PARTIAL), int(Outcome.MISMATCH), int(Outcome.MISSING))
_CLEARED = ~(FLAG["wrong_kind"] | FLAG["under_wrong_kind"] | FLAG["lone_parent"] | FLAG["unreadable_pred"])


def excuse_rows(block: Block, excused: Masks, reasons: Reasons) -> None:
    """Turn gold values into matches and lone predictions into absence on both sides, in the excused rows."""
    right = excused & np.isin(block.outcome, _WRONG)
    accept_rows(block, right, reasons)
    extra = excused & (block.outcome == Outcome.SPURIOUS)
    block.outcome[extra] = Outcome.ABSENT
    block.score[extra] = np.nan if block.kind in (Kind.LIST, Kind.OBJECT) else 0.0
    block.reason[extra] = reasons.position("accepted")
    block.flags[extra] |= FLAG["accepted_variation"]
    block.flags[excused] &= _CLEARED


def accept_rows(block: Block, rows: Masks, reasons: Reasons) -> None:
    """Make the rows matches because of accepted predictions."""
    if not rows.any():
        return
    block.outcome[rows] = Outcome.MATCH
    block.reason[rows] = reasons.position("accepted")
    block.flags[rows] = (block.flags[rows] | FLAG["accepted_variation"]) & _CLEARED
    if block.kind in (Kind.LIST, Kind.OBJECT):
        return
    block.score[rows] = 1.0
    for name, values in block.extras.items():
        if name != "similarity":
            values[rows] = 1.0


def has_gold_row(excused: Masks | None, pairs: Pairs, has_gold: Masks, is_grown: bool) -> Masks | None:
    """Return a mask of the pairs that keep a row: excused ones only where gold has a row; None: all."""
    if excused is None:
        return None
    keeps: Masks = ~excused | has_gold
    return keeps if is_grown else keeps | (pairs.gold >= 0)


# Resolving, top-down: from aligned lists to the pairs of nodes that make rows.


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
    lone_gold = _unpaired_items(aligned.place, "gold", gold, owners[0])
    lone_pred = _unpaired_items(aligned.place, "pred", pred, owners[1])
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
    has_values: Masks = (nodes >= 0) & (leaves[nodes] > 0)
    return has_values


def _unpaired_items(listed: CodedList, side: str, paired: Nodes, owner: Index) -> Nodes:
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
    owners = []
    for nodes, kinds in ((above.gold, place.gold), (above.pred, place.pred)):
        owner = np.full(len(kinds.codes), -1, dtype=np.intp)
        at = np.flatnonzero(nodes >= 0)
        owner[nodes[at]] = at
        owners.append(owner)
    return owners[0], owners[1]


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
    kind_of = kinds.codes[nodes] if len(kinds.codes) else np.zeros(len(nodes), dtype=np.int8)
    return np.where(nodes >= 0, kind_of, np.int8(NONE))


def _either(mask: Masks | None, other: Masks) -> Masks:
    return other if mask is None else mask | other


def _holds(codes: np.ndarray[tuple[int], np.dtype[np.int8]], nodes: Nodes, kind: int) -> Masks:
    """Return a mask of the pairs with a node on this side that holds the kind."""
    if not len(codes):
        return np.zeros(len(nodes), dtype=bool)
    is_of_kind: Masks = (nodes >= 0) & (codes[nodes] == kind)
    return is_of_kind


# Rows of containers: lists, objects and items; one of the wrong kind is one structure mismatch.

Outcomes = npt.NDArray[np.int8]


def container_blocks(place: ListPlace | ObjectPlace, pairs: Pairs, reasons: Reasons) -> list[Block]:
    """Return the rows of a list or an object for a scope's pairs.

    There is one row of structure each, and rows for values of another kind.
    """
    hidden, under = container_masks(pairs, place.ancestors)
    gold, pred = held_kinds(place.gold, pairs.gold), held_kinds(place.pred, pairs.pred)
    shown = np.ones(len(pairs), dtype=bool) if hidden is None else ~hidden
    if place.is_grown:
        shown &= (gold == GOOD) | ((gold == NONE) & (pred == GOOD))
    above, excused = excused_mask(pairs, place.ancestors), excused_mask(pairs, (*place.ancestors, place))
    has_row = has_gold_row(excused, pairs, gold != NONE, place.is_grown)
    shown = shown if has_row is None else shown & has_row
    blocks = []
    below = below_flags(pairs, place.ancestors, under)
    if place.has_row:
        at = np.flatnonzero(shown & (gold != WRONG))
        structure = _structure(place, pairs.take(at), (gold[at], pred[at]), reasons)
        structure.flags[:] |= np.where(structure.outcome == Outcome.ABSENT, 0, below[at])
        if excused is not None:
            excuse_rows(structure, excused[at], reasons)
        blocks.append(structure)
    if place.gold.wrong and not place.is_grown:
        odd = shown & (gold == WRONG)
        blocks.append(_unreadable_gold(place, pairs, odd, reasons))
        if above is not None:
            excuse_rows(blocks[-1], above[odd], reasons)
    if place.pred.wrong:
        extra = shown & (gold != WRONG) & (pred == WRONG)
        blocks.append(_wrong_pred(place, pairs, extra if excused is None else extra & ~excused, reasons))
    return [block for block in blocks if len(block)]


def below_flags(
    pairs: Pairs, containers: tuple[ObjectPlace, ...], under: Masks | None
) -> npt.NDArray[np.int64]:
    """Return the flags of rows below a one-sided node or a node of another kind.

    One-sided are an item without a partner and a container that one side lacks.
    """
    flags: npt.NDArray[np.int64] = np.where((pairs.gold < 0) | (pairs.pred < 0), FLAG["lone_parent"], 0)
    lone = unpaired_mask(pairs, containers)
    if lone is not None:
        flags |= np.where(lone, FLAG["lone_parent"], 0)
    if under is not None:
        flags |= np.where(under, FLAG["under_wrong_kind"], 0)
    return flags


def _structure(
    place: ListPlace | ObjectPlace, pairs: Pairs, kinds: tuple[Outcomes, Outcomes], reasons: Reasons
) -> Block:
    gold, pred = kinds
    is_wrong = pred == WRONG
    both = np.where(is_wrong, Outcome.MISMATCH, Outcome.MATCH)
    outcome = np.where(
        gold == GOOD,
        np.where(pred == NONE, Outcome.MISSING, both),
        np.where(pred == NONE, Outcome.ABSENT, Outcome.SPURIOUS),
    )
    names = ("present", "different", "wrong_kind", "missing", "spurious", "absent")
    reason = reasons.positions(names)[np.where(outcome == Outcome.MISMATCH, 2, outcome)]
    flags = np.where(is_wrong, FLAG["wrong_kind"], 0) | _coerced(place, pairs)
    kind = Kind.LIST if isinstance(place, ListPlace) else Kind.OBJECT
    score = np.full(len(outcome), np.nan)
    return Block(place.node.field, kind, pairs, outcome.astype(np.int8), score, reason, flags)


def _coerced(place: ListPlace | ObjectPlace, pairs: Pairs) -> npt.NDArray[np.int64]:
    flags = np.zeros(len(pairs), dtype=np.int64)
    for kinds, nodes in ((place.gold, pairs.gold), (place.pred, pairs.pred)):
        if kinds.coerced:
            flags[np.isin(nodes, list(kinds.coerced))] |= FLAG["coerced"]
    return flags


def _unreadable_gold(place: ListPlace | ObjectPlace, pairs: Pairs, mask: Masks, reasons: Reasons) -> Block:
    """Return one value row per gold value of another kind than the declared container, compared as text."""
    at = np.flatnonzero(mask)
    unreadable = pairs.take(at)
    gold = {row: place.gold.wrong[int(node)] for row, node in enumerate(unreadable.gold)}
    is_there = held_kinds(place.pred, unreadable.pred) != NONE
    pred = {int(row): place.pred.raws[unreadable.pred[row]] for row in np.flatnonzero(is_there)}
    equal = np.array([row in pred and odd_text(gold[row]) == odd_text(pred[row]) for row in gold], dtype=bool)
    outcome = np.where(equal, Outcome.MATCH, np.where(is_there, Outcome.MISMATCH, Outcome.MISSING)).astype(
        np.int8
    )
    names = ("equal", "different", "wrong_kind", "missing")
    reason = reasons.positions(names)[np.where(outcome == Outcome.MISMATCH, 2, outcome)]
    flags = np.full(len(at), FLAG["unreadable_gold"], dtype=np.int64)
    return Block(
        place.node.field,
        Kind.VALUE,
        unreadable,
        outcome,
        equal.astype(np.float64),
        reason,
        flags,
        gold_raws=gold,
        pred_raws=pred,
    )


def _wrong_pred(place: ListPlace | ObjectPlace, pairs: Pairs, mask: Masks, reasons: Reasons) -> Block:
    """Return one spurious value row per prediction of another kind.

    It keeps the prediction in the denominators of precision.
    """
    if place.is_grown:  # a scalar is judged by the leaf of the same place
        mask = mask & np.array(
            [isinstance(place.pred.wrong.get(int(node)), (dict, list)) for node in pairs.pred], dtype=bool
        )
    at = np.flatnonzero(mask)
    unjudged = pairs.take(at)
    outcome = np.full(len(at), Outcome.SPURIOUS, dtype=np.int8)
    reason = np.full(len(at), reasons.position("wrong_kind"), dtype=np.int32)
    flags = np.full(len(at), FLAG["wrong_kind"], dtype=np.int64)
    raws = {row: place.pred.wrong[int(node)] for row, node in enumerate(unjudged.pred)}
    return Block(
        place.node.field, Kind.VALUE, unjudged, outcome, np.zeros(len(at)), reason, flags, pred_raws=raws
    )


def item_block(listed: CodedList, pairs: Pairs, worth: PairWorth, reasons: Reasons) -> Block:
    """Return one row per item: the agreement of each pair (leaf scores / leaves), and the unpaired items.

    `worth` belongs to the first pairs, those with both sides. An item without any filled value counts as
    absent, unless the list keeps it.
    """
    place, pair_score = listed.place, worth.score
    if place.node.keeps_empty:
        has_gold, has_pred = pairs.gold >= 0, pairs.pred >= 0
    else:
        has_gold, has_pred = (
            holds_any(listed.items.gold_leaves, pairs.gold),
            holds_any(listed.items.pred_leaves, pairs.pred),
        )
    one_sided = np.where(has_gold, Outcome.MISSING, np.where(has_pred, Outcome.SPURIOUS, Outcome.ABSENT))
    outcome = np.where(has_gold & has_pred, Outcome.MATCH, one_sided).astype(np.int8)
    score = np.zeros(len(pairs))
    score[: len(pair_score)] = pair_score
    paired = outcome == Outcome.MATCH
    outcome[paired & (score < 1)] = Outcome.PARTIAL
    outcome[paired & (score == 0)] = Outcome.MISMATCH
    reason = reasons.positions(("paired", "paired", "paired", "missing", "spurious", "absent"))[outcome]
    similarity = np.full(len(pairs), np.nan)
    similarity[: len(pair_score)] = np.where(paired[: len(pair_score)], worth.similarity, np.nan)
    flags = _item_flags(place, pairs)
    keep = (
        _are_items(place, pairs) if pairs.is_hidden is None else _are_items(place, pairs) & ~pairs.is_hidden
    )
    excused = excused_mask(pairs, _at_item(place))
    if excused is not None:
        keep &= ~excused | has_gold
    shown = pairs.take(np.flatnonzero(keep))
    extras = {"similarity": similarity[keep]}
    block = Block(
        place.node.item_field,
        Kind.ITEM,
        shown,
        outcome[keep],
        score[keep],
        reason[keep],
        flags[keep],
        extras=extras,
    )
    if excused is not None:
        excuse_rows(block, excused[keep], reasons)
    return block


def _item_flags(place: ListPlace, pairs: Pairs) -> npt.NDArray[np.int64]:
    flags: npt.NDArray[np.int64] = (
        np.zeros(len(pairs), dtype=np.int64)
        if pairs.is_lone is None
        else np.where(pairs.is_lone, FLAG["lone_parent"], 0)
    )
    if pairs.is_under is not None:
        flags |= np.where(pairs.is_under, FLAG["under_wrong_kind"], 0)
    for item in place.items.objects:
        if item.is_item and item.pred.wrong:
            is_wrong = held_kinds(item.pred, pairs.pred) == WRONG
            if item.is_grown:  # if gold is no object, another branch of the tree judges it
                is_wrong &= held_kinds(item.gold, pairs.gold) == GOOD
            flags |= np.where(is_wrong, FLAG["wrong_kind"], 0)
    return flags


def _at_item(place: ListPlace) -> tuple[ObjectPlace | ListPlace, ...]:
    """Return the object and the list that are themselves the list's items."""
    inner: list[ObjectPlace | ListPlace] = [*place.items.objects, *place.items.lists]
    return tuple(place_of_item for place_of_item in inner if place_of_item.node.path == place.node.items.path)


def _are_items(place: ListPlace, pairs: Pairs) -> Masks:
    """Return a mask of the pairs with a row besides their values.

    In a tree these are only the pairs with a container on either side.
    """
    if not place.is_grown:
        return np.ones(len(pairs), dtype=bool)
    masks = [
        held_kinds(kinds, nodes) == GOOD
        for at_item in _at_item(place)
        for kinds, nodes in ((at_item.gold, pairs.gold), (at_item.pred, pairs.pred))
    ]
    either: Masks = np.logical_or.reduce([np.zeros(len(pairs), dtype=bool), *masks])
    return either


# Rows of leaves: presence, score, outcome, reason and flags of one leaf over one scope's pairs.

Bits = npt.NDArray[np.int64]


def leaf_block(place: LeafPlace, coded: Coded, pairs: Pairs, reasons: Reasons) -> Block:
    """Return the rows of a leaf for a scope's pairs."""
    hidden, under = container_masks(pairs, place.ancestors)
    gold, pred = _codes(coded.gold, pairs.gold), _codes(coded.pred, pairs.pred)
    beside = np.zeros(len(pairs), dtype=bool)
    if place.is_grown:
        beside = _are_marked(coded.is_container, gold)
        gold, pred, dropped = _own_branch(coded, gold, pred)
        hidden = dropped if hidden is None else hidden | dropped
        if place.excuse is not None:
            hidden |= place.excuse.of(pairs.gold, pairs.pred)
    excused = excused_mask(pairs, place.ancestors)
    has_row = has_gold_row(excused, pairs, gold >= 0, place.is_grown)
    if has_row is not None:
        hidden = ~has_row if hidden is None else hidden | ~has_row
    if hidden is not None and hidden.any():
        at = np.flatnonzero(~hidden)
        pairs, gold, pred, beside = pairs.take(at), gold[at], pred[at], beside[at]
        under, excused = (None if mask is None else mask[at] for mask in (under, excused))
    block = _judge(coded, (gold, pred), pairs, under, reasons)
    if place.is_grown:
        block.flags[:] |= np.where(beside, FLAG["wrong_kind"], 0)
    lone = _unpaired_values(place, pairs)
    if lone is not None:
        block.flags[:] |= np.where(lone & (block.outcome != Outcome.FAILED), FLAG["lone_parent"], 0)
    if place.node.takes_only_item:
        block.flags[:] |= np.where(
            _held_in_lists(place.gold, pairs.gold) | _held_in_lists(place.pred, pairs.pred),
            FLAG["coerced"],
            0,
        )
    if excused is not None:
        excuse_rows(block, excused, reasons)
    return block


def _held_in_lists(values: list[Any], nodes: npt.NDArray[np.intp]) -> Masks:
    """Return a mask of the pairs with a value that is the only item of a list."""
    marks = np.array([*(only_item(value) is not value for value in values), False], dtype=bool)
    are_items: Masks = marks[nodes]
    return are_items


def _are_marked(marks: Masks, codes: Codes) -> Masks:
    """Return a mask of the codes of marked values."""
    are_marked: Masks = (codes >= 0) & marks[codes] if len(marks) else np.zeros(len(codes), dtype=bool)
    return are_marked


def _unpaired_values(place: LeafPlace, pairs: Pairs) -> Masks | None:
    """Return a mask of the values below a one-sided node.

    A value that is itself an item has its list above it.
    """
    lone = unpaired_mask(pairs, place.ancestors)
    if pairs.prefix is None or is_item_path(place.node.path):
        return lone
    is_one_sided: Masks = (pairs.gold < 0) | (pairs.pred < 0)
    return is_one_sided if lone is None else is_one_sided | lone


def _codes(codes: Codes, nodes: npt.NDArray[np.intp]) -> Codes:
    code_of = codes[nodes] if len(codes) else np.full(len(nodes), -1, dtype=np.intp)
    return np.where(nodes >= 0, code_of, np.intp(-1))


def split_by_kind(block: Block, table: FieldTable) -> list[Block]:
    """Return the rows of a tree's leaf by kind: values of the type `any` by JSON kind, null values apart.

    Gold decides, or the prediction if gold has no value.
    """
    coded, gold, pred = block.coded, block.gold_code, block.pred_code
    if coded is None or gold is None or pred is None:
        return [block]
    names = [_kind_name(raw, coded.leaf.type) for raw in coded.raws]
    if set(names) <= {coded.leaf.type}:
        return [block]
    order = tuple(dict.fromkeys(names))
    numbers = np.array([order.index(name) for name in names], dtype=np.intp)
    of_row = numbers[np.where(gold >= 0, gold, pred)]
    info = table.fields[block.field]
    parts = []
    for number, name in enumerate(order):
        at = np.flatnonzero(of_row == number)
        if len(at):
            parts.append(
                block.take(at, block.field if name == info.type else table.typed(replace(info, type=name)))
            )
    return parts


def _kind_name(raw: object, declared: str) -> str:
    if raw is None:
        return "null"
    if declared != "any":
        return declared
    return {bool: "boolean", int: "number", float: "number", str: "text"}.get(type(raw), "any")


def _own_branch(coded: Coded, gold: Codes, pred: Codes) -> tuple[Codes, Codes, Masks]:
    """Return the codes of a grown leaf without containers, and a mask of pairs of other branches.

    Other branches judge the containers.

    A predicted container stays if gold has a scalar: it is a value of the wrong kind there.
    """
    gold = np.where(_are_marked(coded.is_container, gold), np.intp(-1), gold)
    pred = np.where(_are_marked(coded.is_container, pred) & (gold < 0), np.intp(-1), pred)
    return gold, pred, (gold < 0) & (pred < 0)


def _judge(
    coded: Coded, codes: tuple[Codes, Codes], pairs: Pairs, under: Masks | None, reasons: Reasons
) -> Block:
    gold, pred = codes
    has_gold, has_pred = gold >= 0, pred >= 0
    at = (has_gold & has_pred).nonzero()[0]
    outcome = np.where(has_gold, _MISSING, np.where(has_pred, _SPURIOUS, _ABSENT))
    score = np.zeros(len(gold))
    reason = reasons.positions(("missing", "spurious", "absent"))[outcome - _MISSING]
    compared = compare_codes(coded, gold[at], pred[at])
    score[at] = compared.score
    partly = np.where(compared.score > 0, _PARTIAL, _MISMATCH)
    judged: Outcomes = np.where(coded.leaf.accept.admits(compared.score), _MATCH, partly)
    outcome[at] = np.where(np.isnan(compared.score), _FAILED, judged)
    reason[at] = _reasons(coded, compared, pred[at], reasons)
    flags = _flags(coded, gold, pred, at)
    if under is not None:
        flags |= np.where(under & has_gold, FLAG["under_wrong_kind"], 0)
    if coded.leaf.is_gold_failable:
        outcome[(flags & FLAG["unreadable_gold"]) != 0] = Outcome.FAILED
        score[outcome == Outcome.FAILED] = np.nan
    extras = {}
    for name, values in compared.extras.items():
        extras[name] = np.full(len(gold), np.nan)
        extras[name][at] = values
    block = Block(
        coded.leaf.field, Kind.VALUE, pairs, outcome, score, reason, flags, coded, gold, pred, extras
    )
    if coded.accepted is not None:
        accepted = outcome == Outcome.MISSING
        accepted &= coded.accepted.of(gold, pred)
        accepted[at[(compared.reason == ACCEPTED) & (outcome[at] == Outcome.MATCH)]] = True
        accept_rows(block, accepted, reasons)
    if coded.spared is not None:
        excuse_rows(block, (outcome == Outcome.SPURIOUS) & coded.spared.of(pairs.gold, pred), reasons)
    return block


_MATCH, _PARTIAL, _MISMATCH, _MISSING, _SPURIOUS, _ABSENT, _FAILED = np.array(list(Outcome), np.int8)


def _reasons(coded: Coded, compared: Compared, pred: Codes, reasons: Reasons) -> Ints:
    names = (*coded.leaf.comparator.reasons, "too_long", "accepted")
    positions = reasons.positions(names)[compared.reason]
    if not coded.is_opaque.any():
        return positions
    unequal = compared.score < 1.0
    positions = np.where(unequal & coded.is_opaque[pred], np.int32(reasons.position("unreadable")), positions)
    return np.where(unequal & coded.is_container[pred], np.int32(reasons.position("wrong_kind")), positions)


def _flags(coded: Coded, gold: Codes, pred: Codes, both: npt.NDArray[np.intp]) -> Bits:
    """Return the flags of the readings, and those of unreadable values."""
    column = coded.column
    flags = np.zeros(len(gold), dtype=np.int64)
    if column.flags:
        of_value = np.zeros(len(column), dtype=np.int64)
        for index, names in column.flags.items():
            of_value[index] = sum(FLAG[name] for name in names if name in FLAG)
        flags |= np.where(gold >= 0, of_value[gold], 0) | np.where(pred >= 0, of_value[pred], 0)
    if column.problems:
        is_null = np.fromiter((raw is None for raw in coded.raws), dtype=bool, count=len(coded.raws))
        bad = coded.is_opaque & ~is_null
        flags |= np.where((gold >= 0) & bad[gold], FLAG["unreadable_gold"], 0)
        readable = (gold < 0) & (pred >= 0)
        readable[both] = ~bad[gold[both]]
        flags |= np.where(readable & bad[pred], FLAG["unreadable_pred"], 0)
        flags |= np.where((pred >= 0) & coded.is_container[pred], FLAG["wrong_kind"], 0)
    return flags


# Concrete paths of rows, such as `lines[3].amount` for a field in an item.

Rows: TypeAlias = npt.NDArray[np.intp] | slice


class RowPaths(Struct, frozen=True, eq=False):
    """Concrete paths of rows, from the paths of their nodes; those of each scope are made once."""

    made: dict[tuple[int, str], list[str]] = field(default_factory=dict)

    def of(self, block: Block, info: FieldInfo, side: str, rows: Rows = slice(None)) -> list[str | None]:
        """Return the paths of a block's rows on one side, None where that side has no value."""
        return self._shown(block, info, side, present_rows(block, side), rows)

    def expected(self, block: Block, info: FieldInfo, rows: Rows) -> list[str | None]:
        """Return the paths of rows in gold, even without a gold value; None for items that gold lacks."""
        return self._shown(block, info, "gold", block.pairs.gold >= 0, rows)

    def _shown(
        self, block: Block, info: FieldInfo, side: str, present: Masks, rows: Rows
    ) -> list[str | None]:
        nodes = np.where(present, getattr(block.pairs, side), -1)[rows].tolist()
        prefix = block.pairs.prefix
        if prefix is None:
            path = make_printable(info.path)
            return [path if node >= 0 else None for node in nodes]
        suffix, paths = relative_path(info.path, prefix), self.nodes(prefix, side)
        return [paths[node] + suffix if node >= 0 else None for node in nodes]

    def nodes(self, prefix: Prefix, side: str) -> list[str]:
        """Return the paths of a scope's nodes on one side."""
        key = (id(prefix.scope), side)
        if key not in self.made:
            own = getattr(prefix.scope, side)
            name = relative_path(prefix.path, prefix.above)
            is_below = bool(name) or prefix.above is not None
            steps = (
                [_member(key, is_below=is_below) for key in own.keys]
                if own.keys
                else [f"[{position}]" for position in own.position.tolist()]
            )
            above = None if prefix.above is None else self.nodes(prefix.above, side)
            self.made[key] = [
                (name if above is None else above[parent] + name) + step
                for parent, step in zip(own.parent.tolist(), steps, strict=True)
            ]
        return self.made[key]


def _member(key: str, *, is_below: bool) -> str:
    """Return what a key adds to the path of its map."""
    return make_printable(join_path(["", key]).removeprefix('[""]') if is_below else join_path([key]))
