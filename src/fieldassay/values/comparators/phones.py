"""Telephone numbers compared by their digits."""

from __future__ import annotations

from decimal import Decimal
from typing import ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from rapidfuzz.distance import Hamming
from rapidfuzz.process import cpdist

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import Floats, unequal_positions
from fieldassay.values.comparators.exact import digits_of
from fieldassay.values.comparators.shares import share_of
from fieldassay.values.types.column import Column, Objects


class PhoneDigits(Comparator, Struct, frozen=True):
    """1 if the digits of the texts are equal, else the score of the first step reached, else 0.

    `steps` are pairs of a share of equal positions and its score; they apply to texts with equally many
    digits. A text without a digit scores 0. Source: the phone rule of the business documents guide.

    >>> from fieldassay.values.types.column import Reading
    >>> PhoneDigits().compare_one(*(Reading(text, text, text) for text in ("02 9374 4000", "(02) 9374-4001")))
    (0.8, 'digits_in_place')
    """

    steps: tuple[tuple[Decimal, float], ...] = ((Decimal("0.8"), 0.8), (Decimal("0.6"), 0.5))
    reasons: ClassVar[tuple[str, ...]] = (
        "equal",
        "different",
        "same_digits",
        "digits_in_place",
        "no_digits",
        "other_length",
    )
    accept: ClassVar[float] = 0.8

    def __post_init__(self) -> None:
        for share, score in self.steps:
            share_of("phone_digits: the share of a step", share)
            share_of("phone_digits: the score of a step", score)
        shares = [share for share, _ in self.steps]
        if shares != sorted(shares, reverse=True):
            raise ValueError("phone_digits: the steps must begin with the largest share; sort them")

    def compare(self, gold: Column, pred: Column) -> Scores:
        scores = Scores(np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16))
        at = unequal_positions(gold, pred)
        if len(at):
            scores.score[at], scores.reason[at] = self._judge(
                digits_of(gold.texts[at]), digits_of(pred.texts[at])
            )
        return scores

    def _judge(self, gold: Objects, pred: Objects) -> tuple[Floats, npt.NDArray[np.int64]]:
        lengths = np.fromiter(map(len, gold), dtype=np.int64, count=len(gold))
        others = np.fromiter(map(len, pred), dtype=np.int64, count=len(pred))
        wrong = cpdist(gold, pred, scorer=Hamming.distance, dtype=np.int64)
        right = np.where(lengths == others, lengths - wrong, 0)
        score = np.zeros(len(gold))
        for share, worth in reversed(self.steps):
            least = share_of("phone_digits: the share of a step", share)
            score[(lengths == others) & (right * least.denominator >= least.numerator * lengths)] = worth
        reason = np.where(score > 0, 3, np.where(lengths == others, 1, 5))
        reason[gold == pred], score[gold == pred] = 2, 1.0
        empty = (lengths == 0) | (others == 0)
        reason[empty], score[empty] = 4, 0.0
        return score, reason
