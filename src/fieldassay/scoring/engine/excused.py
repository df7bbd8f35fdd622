"""Rows below a prediction accepted in place of gold's object or list: they count like gold itself."""

from __future__ import annotations

import numpy as np

from fieldassay.metrics.evidence import FLAG, Kind, Outcome
from fieldassay.scoring.engine.blocks import Block, Pairs, Reasons
from fieldassay.scoring.engine.scopes import Masks

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
