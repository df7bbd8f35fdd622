"""The diagnoses of each row, by its outcome, its two values, and the other values of its document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.evidence import FieldInfo, Kind, Outcome
from fieldassay.paths import is_item_path, is_unit_key
from fieldassay.scoring.engine.blocks import Block, Nodes
from fieldassay.scoring.engine.coding import Coded
from fieldassay.scoring.engine.compare import distinct_pairs
from fieldassay.scoring.engine.context import diagnose_context, diagnose_outcomes
from fieldassay.scoring.engine.judge import Judged
from fieldassay.scoring.engine.scopes import Codes, Ints
from fieldassay.values.diagnosis.catalogue import BIT
from fieldassay.values.diagnosis.measures import diagnose_unit_texts
from fieldassay.values.diagnosis.value_rows import ValueRows
from fieldassay.values.diagnosis.values import NUMBER_TYPES, diagnose_pairs

Bits = npt.NDArray[np.int64]
_UNEQUAL = (int(Outcome.MISMATCH), int(Outcome.PARTIAL))
_PREDICTED_WRONG = (*_UNEQUAL, int(Outcome.SPURIOUS))
_DOUBTFUL = {"components_exchanged": "day_month_exchanged"}
"""Reasons by which a comparator accepts values of possibly different meaning, and their diagnoses."""


class Diagnosed(Struct, frozen=True, eq=False):
    """The diagnoses of a block's rows.

    They are bit sets, with the field whose gold value each prediction is (-1: none; None: none in any row).
    """

    bits: Bits
    other_field: Ints | None = None


def diagnose(judged: Judged) -> list[Diagnosed]:
    """Return the diagnoses of every block, in order.

    Rows that are right, absent or failed have none, except for a doubtful reason.
    """
    doubtful = {judged.reasons.position(reason): BIT[name] for reason, name in _DOUBTFUL.items()}
    bits = [_bits(block, judged.fields[block.field].path, doubtful) for block in judged.blocks]
    chosen = [
        at for at, block in enumerate(judged.blocks) if block.kind == Kind.VALUE and block.coded is not None
    ]
    blocks = [judged.blocks[at] for at in chosen]
    wrong = [np.flatnonzero(np.isin(block.outcome, _PREDICTED_WRONG)) for block in blocks]
    others: list[Ints | None] = [None] * len(bits)
    if any(map(len, wrong)):
        order, rank = _ranks(judged)
        fields = [judged.fields[at] for at in order]
        gold = _rows(blocks, list(map(_present, blocks)), "gold", rank)
        predicted = _rows(blocks, wrong, "pred", rank)
        findings = diagnose_context(predicted, gold, _are_items(fields), _are_numbers(fields))
        named = np.append(order, -1)[findings.other_field].astype(np.int32)
        start = 0
        for at, rows in zip(chosen, wrong, strict=True):
            found = slice(start, start + len(rows))
            start += len(rows)
            bits[at][rows] |= findings.bits[found]
            others[at] = np.full(len(bits[at]), -1, dtype=np.int32)
            others[at][rows] = named[found]  # type: ignore[index]
    return [Diagnosed(*pair) for pair in zip(bits, others, strict=True)]


def _ranks(judged: Judged) -> tuple[Codes, Codes]:
    """Return the fields in an order that no other document changes, and the place of each field in it.

    Fields of trees come by their paths, behind those of the plan: they are numbered as they appear.
    """
    grown = range(judged.planned, len(judged.fields))
    order = np.array([*range(judged.planned), *sorted(grown, key=lambda at: judged.fields[at].path)])
    return order, np.argsort(order)


def _bits(block: Block, path: str, doubtful: Mapping[int, int]) -> Bits:
    """Return the diagnoses of a block's rows by their outcomes and their two values."""
    bits = diagnose_outcomes(block.outcome, block.flags)
    for reason, bit in doubtful.items():
        bits[(block.outcome == Outcome.MATCH) & (block.reason == reason)] |= bit
    if block.coded is None:
        is_value = block.kind == Kind.VALUE
        bits[np.isin(block.outcome, _PREDICTED_WRONG) & is_value] |= BIT["wrong_kind"]
        return bits
    assert block.gold_code is not None and block.pred_code is not None
    at = np.flatnonzero(np.isin(block.outcome, _UNEQUAL))
    if not len(at):
        return bits
    pairs, spread = distinct_pairs(
        np.stack([block.gold_code[at], block.pred_code[at]]), len(block.coded.raws)
    )
    kinds = block.coded.is_container
    found = np.where(kinds[pairs[0]] | kinds[pairs[1]], np.int64(BIT["wrong_kind"]), np.int64(0))
    scalar = np.flatnonzero(found == 0)
    found[scalar] = _diagnose_scalars(block.coded, path, pairs[:, scalar])
    bits[at] |= found[spread]
    return bits


def _diagnose_scalars(coded: Coded, path: str, pairs: Codes) -> Bits:
    """Return the diagnoses of pairs of single values.

    A null opposite a value counts as no value.
    """
    gold, pred = (coded.column.take(side) for side in pairs)
    found = diagnose_pairs(coded.leaf.type, gold, pred)
    if coded.leaf.type in ("text", "any") and is_unit_key(path):
        found = diagnose_unit_texts(gold, pred, found)
    if coded.leaf.null_is_value:
        is_null = np.fromiter((raw is None for raw in coded.raws), dtype=bool, count=len(coded.raws))
        found = np.where(
            is_null[pairs[1]], BIT["missing"], np.where(is_null[pairs[0]], BIT["spurious"], found)
        )
    return found


def _present(block: Block) -> Nodes:
    assert block.gold_code is not None
    return np.flatnonzero(block.gold_code >= 0)


def _rows(blocks: Sequence[Block], chosen: Sequence[Nodes], side: str, rank: Codes) -> ValueRows:
    """Return the chosen rows of all blocks: the values of one side, and their gold items; fields by rank."""
    docs, fields, items, texts = [], [], [], []
    for block, rows in zip(blocks, chosen, strict=True):
        assert block.coded is not None
        docs.append(block.pairs.doc[rows])
        fields.append(np.full(len(rows), rank[block.field], dtype=np.int32))
        gold = block.pairs.gold[rows]
        items.append(np.full(len(rows), -1) if block.pairs.prefix is None else gold)
        texts.append(block.coded.column.canonical[getattr(block, f"{side}_code")[rows]])
    return ValueRows(
        np.concatenate(docs),
        np.concatenate(fields),
        np.concatenate(items).astype(np.int32),
        np.concatenate(texts),
    )


def _are_items(fields: Sequence[FieldInfo]) -> npt.NDArray[np.bool_]:
    return np.array([is_item_path(info.path) for info in fields], dtype=bool)


def _are_numbers(fields: Sequence[FieldInfo]) -> npt.NDArray[np.bool_]:
    return np.array([info.type in NUMBER_TYPES for info in fields], dtype=bool)
