"""Rows of leaves: presence, score, outcome, reason and flags of one leaf over one scope's pairs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.metrics.evidence import FLAG, Kind, Outcome
from fieldassay.paths import is_item_path
from fieldassay.scoring.engine.blocks import Block, Pairs, Reasons
from fieldassay.scoring.engine.coding import Coded, only_item
from fieldassay.scoring.engine.compare import ACCEPTED, Compared, compare_codes
from fieldassay.scoring.engine.excused import accept_rows, excuse_rows, has_gold_row
from fieldassay.scoring.engine.resolve import container_masks, excused_mask, unpaired_mask
from fieldassay.scoring.engine.scopes import Codes, FieldTable, Ints, LeafPlace, Masks
from fieldassay.spec.language.model import Accept

Bits = npt.NDArray[np.int64]


def leaf_block(place: LeafPlace, coded: Coded, pairs: Pairs, reasons: Reasons) -> Block:
    """Return the rows of a leaf for a scope's pairs."""
    hidden, under = container_masks(pairs, place.ancestors)
    gold, pred = _codes(coded.gold, pairs.gold), _codes(coded.pred, pairs.pred)
    beside = np.zeros(len(pairs), dtype=bool)
    if place.is_grown:
        beside = _held(coded.is_container, gold)
        gold, pred, dropped = _own_branch(coded, gold, pred)
        hidden = dropped if hidden is None else hidden | dropped
        if place.excuse is not None:
            hidden |= place.excuse.of(pairs.gold, pairs.pred)
    excused = excused_mask(pairs, place.ancestors)
    kept = has_gold_row(excused, pairs, gold >= 0, place.is_grown)
    if kept is not None:
        hidden = ~kept if hidden is None else hidden | ~kept
    if hidden is not None and hidden.any():
        at = np.flatnonzero(~hidden)
        pairs, gold, pred, beside = pairs.take(at), gold[at], pred[at], beside[at]
        under, excused = (None if mask is None else mask[at] for mask in (under, excused))
    block = _judge(coded, (gold, pred), pairs, under, reasons)
    block.flags[:] |= np.where(beside, FLAG["wrong_kind"], 0)
    lone = _unpaired(place, pairs)
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
    held: Masks = marks[nodes]
    return held


def _held(marks: Masks, codes: Codes) -> Masks:
    """Return a mask of the codes of marked values."""
    held: Masks = (codes >= 0) & marks[codes] if len(marks) else np.zeros(len(codes), dtype=bool)
    return held


def _unpaired(place: LeafPlace, pairs: Pairs) -> Masks | None:
    """Return a mask of the values below a one-sided node.

    A value that is itself an item has its list above it.
    """
    lone = unpaired_mask(pairs, place.ancestors)
    if pairs.prefix is None or is_item_path(place.node.path):
        return lone
    alone: Masks = (pairs.gold < 0) | (pairs.pred < 0)
    return alone if lone is None else alone | lone


def _codes(codes: Codes, nodes: npt.NDArray[np.intp]) -> Codes:
    found = codes[nodes] if len(codes) else np.full(len(nodes), -1, dtype=np.intp)
    return np.where(nodes >= 0, found, np.intp(-1))


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
    gold = np.where(_held(coded.is_container, gold), np.intp(-1), gold)
    pred = np.where(_held(coded.is_container, pred) & (gold < 0), np.intp(-1), pred)
    return gold, pred, (gold < 0) & (pred < 0)


def _judge(
    coded: Coded, codes: tuple[Codes, Codes], pairs: Pairs, under: Masks | None, reasons: Reasons
) -> Block:
    gold, pred = codes
    has_gold, has_pred = gold >= 0, pred >= 0
    at = np.flatnonzero(has_gold & has_pred)
    outcome = np.where(
        has_gold, Outcome.MISSING, np.where(has_pred, Outcome.SPURIOUS, Outcome.ABSENT)
    ).astype(np.int8)
    score = np.zeros(len(gold))
    reason = reasons.positions(("missing", "spurious", "absent"))[outcome - Outcome.MISSING]
    compared = compare_codes(coded, gold[at], pred[at])
    score[at] = compared.score
    outcome[at] = _outcomes(compared.score, coded.leaf.accept)
    reason[at] = _reasons(coded, compared, pred[at], reasons)
    flags = _flags(coded, gold, pred, at)
    if under is not None:
        flags |= np.where(under & has_gold, FLAG["under_wrong_kind"], 0)
    if coded.leaf.is_gold_failable:
        outcome[(flags & FLAG["unreadable_gold"]) != 0] = Outcome.FAILED
    score[outcome == Outcome.FAILED] = np.nan
    extras = _spread(compared.extras, at, len(gold))
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


def _outcomes(score: npt.NDArray[np.float64], accept: Accept) -> npt.NDArray[np.int8]:
    partly = np.where(score > 0, Outcome.PARTIAL, Outcome.MISMATCH)
    judged = np.where(accept.admits(score), Outcome.MATCH, partly)
    return np.where(np.isnan(score), Outcome.FAILED, judged).astype(np.int8)


def _reasons(coded: Coded, compared: Compared, pred: Codes, reasons: Reasons) -> Ints:
    names = (*coded.leaf.comparator.reasons, "too_long", "accepted")
    found = reasons.positions(names)[compared.reason]
    unequal = compared.score < 1.0
    found = np.where(unequal & coded.is_opaque[pred], np.int32(reasons.position("unreadable")), found)
    return np.where(unequal & coded.is_container[pred], np.int32(reasons.position("wrong_kind")), found)


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


def _spread(
    extras: Mapping[str, npt.NDArray[np.float64]], at: npt.NDArray[np.intp], size: int
) -> dict[str, npt.NDArray[np.float64]]:
    spread = {}
    for name, values in extras.items():
        spread[name] = np.full(size, np.nan)
        spread[name][at] = values
    return spread
