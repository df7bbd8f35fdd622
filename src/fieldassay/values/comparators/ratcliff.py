"""Similarity of texts by matching blocks, as in Python's difflib."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from cydifflib import SequenceMatcher
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.edit import TEXT_REASONS, text_lengths
from fieldassay.values.comparators.equality import Floats, graded
from fieldassay.values.types.column import Column, Indices, Objects

LONGEST_MATCHED_PRODUCT = 4 * 10**8
"""Pairs whose lengths multiply to more (20,000 characters each) are not judged: too slow, several seconds."""


class Ratcliff(Comparator, Struct, frozen=True):
    """Ratcliff/Obershelp similarity, identical to difflib's.

    It is `difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()` to the last digit. Two empty
    texts score 1. It is not symmetric: do not swap the sides.
    Source: the integrated matching quality of index entries.

    >>> from fieldassay.values.types.column import Reading
    >>> Ratcliff().compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.25, 'similar')
    """

    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_expensive: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        positions = np.arange(len(gold))
        return self.compare_at(gold.join(pred), positions, positions + len(gold))

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        texts, lengths = column.canonical, text_lengths(column.canonical)
        equal = np.asarray(texts[gold] == texts[pred], dtype=np.bool_)
        too_long = ~equal & (lengths[gold] * lengths[pred] > LONGEST_MATCHED_PRODUCT)
        at = np.flatnonzero(~equal & ~too_long)
        score = np.ones(len(gold))
        score[at] = ratcliff_similarity(texts, gold[at], pred[at])
        scores = graded(score, equal)
        scores.score[too_long], scores.reason[too_long] = np.nan, TEXT_REASONS.index("too_long")
        return scores


def ratcliff_similarity(texts: Objects, gold: Indices, pred: Indices) -> Floats:
    """Return difflib's ratio of `texts[gold[i]]` and `texts[pred[i]]`, without its junk heuristic.

    >>> from fieldassay.values.types.column import objects
    >>> ratcliff_similarity(objects(["tide", "diet", ""]), np.array([0, 1, 2]), np.array([1, 0, 2])).tolist()
    [0.25, 0.5, 1.0]
    """
    ratio = np.ones(len(gold))
    matcher, current = SequenceMatcher(None, "", "", autojunk=False), -1
    for at in np.argsort(pred, kind="stable").tolist():  # the matcher keeps an index of its second text
        if pred[at] != current:
            current = int(pred[at])
            matcher.set_seq2(texts[current])
        matcher.set_seq1(texts[gold[at]])
        ratio[at] = matcher.ratio()
    return ratio
