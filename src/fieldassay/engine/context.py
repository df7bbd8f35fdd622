"""Diagnoses that need the whole document: the value of another field or item, a repeated, split or joined item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from fieldassay.diagnosis.context import diagnose_context
from fieldassay.diagnosis.value_rows import ValueRows
from fieldassay.engine.blocks import Block, Nodes
from fieldassay.engine.judge import Judged
from fieldassay.evidence import FieldInfo, Kind, Outcome

_WRONG = (int(Outcome.MISMATCH), int(Outcome.PARTIAL), int(Outcome.SPURIOUS))


def diagnose_in_context(judged: Judged) -> Judged:
    """Return the judgements with what the other values of each document say of the wrong and the spurious ones."""
    blocks = [block for block in judged.blocks if block.kind == Kind.VALUE and block.coded is not None]
    wrong = [np.flatnonzero(np.isin(block.outcome, _WRONG)) for block in blocks]
    if not any(map(len, wrong)):
        return judged
    present = [_present(block) for block in blocks]
    findings = diagnose_context(_rows(blocks, wrong, "pred"), _rows(blocks, present, "gold"), _are_items(judged.fields))
    told: dict[int, Block] = {}
    start = 0
    for block, rows in zip(blocks, wrong, strict=True):
        found = slice(start, start + len(rows))
        start += len(rows)
        told[id(block)] = _told(block, rows, findings.bits[found], findings.other_field[found])
    return replace(judged, blocks=tuple(told.get(id(block), block) for block in judged.blocks))


def _present(block: Block) -> Nodes:
    assert block.gold_code is not None
    return np.flatnonzero(block.gold_code >= 0)


def _rows(blocks: Sequence[Block], chosen: Sequence[Nodes], side: str) -> ValueRows:
    """Return the chosen rows of all blocks: the values of one side, and the items of gold that they belong to."""
    docs, fields, items, texts = [], [], [], []
    for block, rows in zip(blocks, chosen, strict=True):
        assert block.coded is not None
        docs.append(block.pairs.doc[rows])
        fields.append(np.full(len(rows), block.field, dtype=np.int32))
        gold = block.pairs.gold[rows]
        items.append(np.full(len(rows), -1) if block.pairs.prefix is None else gold)
        texts.append(block.coded.column.canonical[getattr(block, f"{side}_code")[rows]])
    return ValueRows(np.concatenate(docs), np.concatenate(fields), np.concatenate(items).astype(np.int32), np.concatenate(texts))


def _are_items(fields: Sequence[FieldInfo]) -> npt.NDArray[np.bool_]:
    return np.array([info.path.endswith("[]") for info in fields], dtype=bool)


def _told(block: Block, rows: Nodes, bits: npt.NDArray[np.int64], other: npt.NDArray[np.int32]) -> Block:
    block.diagnoses[rows] |= bits
    if not (other >= 0).any():
        return block
    named = np.full(len(block), -1, dtype=np.int32)
    named[rows] = other
    return replace(block, other_field=named)
