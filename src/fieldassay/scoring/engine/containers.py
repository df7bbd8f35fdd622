"""Rows of containers: lists, objects and items; one of the wrong kind is one structure mismatch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fieldassay.metrics.evidence import FLAG, Kind, Outcome
from fieldassay.scoring.engine.blocks import Block, Pairs, Reasons
from fieldassay.scoring.engine.coding import CodedList, odd_text
from fieldassay.scoring.engine.excused import excuse_rows, has_gold_row
from fieldassay.scoring.engine.lists import PairWorth
from fieldassay.scoring.engine.resolve import (
    container_masks,
    excused_mask,
    held_kinds,
    holds_any,
    unpaired_mask,
)
from fieldassay.scoring.engine.scopes import GOOD, NONE, WRONG, ListPlace, Masks, ObjectPlace

Codes = npt.NDArray[np.int8]


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
    kept = has_gold_row(excused, pairs, gold != NONE, place.is_grown)
    shown = shown if kept is None else shown & kept
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
    place: ListPlace | ObjectPlace, pairs: Pairs, kinds: tuple[Codes, Codes], reasons: Reasons
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
    kept = pairs.take(at)
    gold = {row: place.gold.wrong[int(node)] for row, node in enumerate(kept.gold)}
    is_there = held_kinds(place.pred, kept.pred) != NONE
    pred = {int(row): place.pred.raws[kept.pred[row]] for row in np.flatnonzero(is_there)}
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
        kept,
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
    kept = pairs.take(at)
    outcome = np.full(len(at), Outcome.SPURIOUS, dtype=np.int8)
    reason = np.full(len(at), reasons.position("wrong_kind"), dtype=np.int32)
    flags = np.full(len(at), FLAG["wrong_kind"], dtype=np.int64)
    raws = {row: place.pred.wrong[int(node)] for row, node in enumerate(kept.pred)}
    return Block(
        place.node.field, Kind.VALUE, kept, outcome, np.zeros(len(at)), reason, flags, pred_raws=raws
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
    kept = pairs.take(np.flatnonzero(keep))
    extras = {"similarity": similarity[keep]}
    block = Block(
        place.node.item_field,
        Kind.ITEM,
        kept,
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
    return tuple(found for found in inner if found.node.path == place.node.items.path)


def _are_items(place: ListPlace, pairs: Pairs) -> Masks:
    """Return a mask of the pairs with a row besides their values.

    In a tree these are only the pairs with a container on either side.
    """
    if not place.is_grown:
        return np.ones(len(pairs), dtype=bool)
    masks = [
        held_kinds(kinds, nodes) == GOOD
        for found in _at_item(place)
        for kinds, nodes in ((found.gold, pairs.gold), (found.pred, pairs.pred))
    ]
    either: Masks = np.logical_or.reduce([np.zeros(len(pairs), dtype=bool), *masks])
    return either
