"""Comparison of codes: pairs with equal meanings are settled, all others compared in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.scoring.engine.coding import Coded
from fieldassay.scoring.engine.scopes import Codes

ACCEPTED, TOO_LONG = -1, -2
"""Reason codes of the engine: the prediction is an accepted value; the two values are too long to compare."""


class Compared(Struct, frozen=True, eq=False):
    """Similarities of pairs of codes.

    `reason` indexes the comparator's reasons (0 equal, 1 different), or is ACCEPTED or TOO_LONG.
    """

    score: npt.NDArray[np.float64]
    reason: npt.NDArray[np.int16]
    extras: Mapping[str, npt.NDArray[np.float64]]


def compare_codes(coded: Coded, gold: Codes, pred: Codes) -> Compared:
    """Return the similarities of the readings `gold[i]` and `pred[i]` (codes, all present).

    Values withheld from comparators (unreadable ones and the like) are equal if they mean the same, else
    different.
    """
    comparator = coded.leaf.comparator
    equal = coded.meaning[gold] == coded.meaning[pred]
    score = equal.astype(np.float64)
    reason = (~equal).astype(np.int16)
    extras = {name: score.copy() for name in comparator.extra_names}
    if not coded.is_exact:
        open_pairs = ~(coded.is_opaque[gold] | coded.is_opaque[pred])
        if comparator.skips_equal:
            open_pairs &= ~equal
        at = np.flatnonzero(open_pairs)
        if len(at):
            _compare_open(coded, (gold, pred, at), (score, reason, extras))
    if coded.accepted is not None:
        accepted = coded.accepted.of(gold, pred) & (score < 1.0)
        score[accepted], reason[accepted] = 1.0, ACCEPTED
        for values in extras.values():
            values[accepted] = 1.0
    return Compared(score, reason, extras)


def _compare_open(
    coded: Coded,
    pairs: tuple[Codes, Codes, npt.NDArray[np.intp]],
    into: tuple[npt.NDArray[np.float64], npt.NDArray[np.int16], dict[str, npt.NDArray[np.float64]]],
) -> None:
    """Compare the pairs at the given positions, each distinct pair once if that is cheaper."""
    comparator = coded.leaf.comparator
    gold, pred, at = pairs
    score, reason, extras = into
    codes = np.stack([gold[at], pred[at]])
    spread: Any = slice(None)
    if comparator.is_expensive:
        codes, spread = distinct_pairs(codes, len(coded.meaning))
    scores = comparator.compare_at(coded.column, codes[0], codes[1])
    found = scores.score[spread]
    reason[at] = scores.reason[spread]
    if not comparator.can_fail:
        too_long = np.isnan(found)
        found, reason[at[too_long]] = np.where(too_long, 0.0, found), TOO_LONG
    score[at] = found
    for name, values in scores.extras.items():
        worth = values[spread] if comparator.can_fail else np.nan_to_num(values[spread], nan=0.0)
        extras.setdefault(name, np.full(len(gold), np.nan))[at] = worth


def distinct_pairs(codes: Codes, size: int) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Return the distinct columns of a 2 x n array of codes below `size`, and the index of each column."""
    keys, inverse = np.unique(codes[0].astype(np.int64) * size + codes[1], return_inverse=True)
    return np.stack([keys // size, keys % size]), inverse
