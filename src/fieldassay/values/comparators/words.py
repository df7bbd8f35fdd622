"""Texts by their words."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import equal_pairs, graded, unequal_positions
from fieldassay.values.comparators.shares import share_of
from fieldassay.values.types.column import Column


class Words(Comparator, Struct, frozen=True):
    """`contained` if one text contains the other, else the share of gold's words in the prediction.

    A share below `threshold` is 0. Words are separated by white space and counted once. Source: the text rule
    of the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> texts = "acme corp pty ltd perth", "perth acme corp ltd"
    >>> Words().compare_one(*(Reading(text, text, text) for text in texts))
    (0.8, 'words_in_common')
    """

    contained: float = 0.9
    threshold: Decimal = Decimal("0.8")
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "contained", "words_in_common")
    accept: ClassVar[float] = 0.8

    def __post_init__(self) -> None:
        share_of("words: contained", self.contained)
        share_of("words: threshold", self.threshold)

    def compare(self, gold: Column, pred: Column) -> Scores:
        threshold = share_of("words: threshold", self.threshold)
        scores = Scores(np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16))
        for index in unequal_positions(gold, pred).tolist():
            scores.score[index], scores.reason[index] = self._judge(
                gold.canonical[index], pred.canonical[index], threshold
            )
        return scores

    def _judge(self, gold: str, pred: str, threshold: Fraction) -> tuple[float, int]:
        if gold and pred and (gold in pred or pred in gold):
            return self.contained, 2
        words = set(gold.split())
        common = len(words.intersection(pred.split()))
        if not common or common * threshold.denominator < threshold.numerator * len(words):
            return 0.0, 1
        return common / len(words), 3


class TokenSet(Comparator, Struct, frozen=True):
    """The overlap of the words of two texts, in any order.

    `jaccard` is common / all, `dice` (token F1) is 2 common / sum of both. With `repeats: true` a word counts
    as often as it occurs. Words are separated by white space. Symmetric.

    >>> from fieldassay.values.types.column import Reading
    >>> texts = "red green", "green blue"
    >>> TokenSet(measure="dice").compare_one(*(Reading(text, text, text) for text in texts))
    (0.5, 'similar')
    """

    measure: Literal["jaccard", "dice"] = "jaccard"
    repeats: bool = False
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "similar")
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        score = np.ones(len(gold))
        for index in unequal_positions(gold, pred).tolist():
            score[index] = self._similarity(gold.canonical[index].split(), pred.canonical[index].split())
        return graded(score, equal_pairs(gold, pred))

    def _similarity(self, gold: list[str], pred: list[str]) -> float:
        if self.repeats:
            common, both = (Counter(gold) & Counter(pred)).total(), len(gold) + len(pred)
        else:
            one, other = set(gold), set(pred)
            common, both = len(one & other), len(one) + len(other)
        if not common:
            return 0.0
        return common / (both - common) if self.measure == "jaccard" else 2 * common / both
