"""Similarity of texts by matching blocks, as Python's difflib has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from cydifflib import SequenceMatcher

from fieldassay.comparators.base import Comparator, Scores
from fieldassay.comparators.edit import TEXT_REASONS, judged_texts
from fieldassay.comparators.settled import Floats
from fieldassay.values.column import Column, Objects

LONGEST_MATCHED_PRODUCT = 4 * 10**8
"""Two texts whose lengths multiply to more than this (20,000 characters against as many) are not judged: it would take several seconds."""


@dataclass(frozen=True)
class Ratcliff(Comparator):
    """Ratcliff/Obershelp similarity, to the digit that of `difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()`.

    Two empty texts score 1. It is not symmetric, so the sides must not be swapped.
    Source: the integrated matching quality of index entries.

    >>> from fieldassay.values.column import Reading
    >>> Ratcliff().compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.25, 'similar')
    """

    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_dear: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        return judged_texts(gold, pred, LONGEST_MATCHED_PRODUCT, ratcliff_similarity)


def ratcliff_similarity(gold: Objects, pred: Objects) -> Floats:
    """Return difflib's ratio of every pair, without its heuristic for popular characters."""
    ratios = (SequenceMatcher(None, given, found, autojunk=False).ratio() for given, found in zip(gold, pred, strict=True))
    return np.fromiter(ratios, dtype=np.float64, count=len(gold))
