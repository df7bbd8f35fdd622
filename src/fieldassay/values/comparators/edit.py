"""Similarities of texts by edit distance (rapidfuzz)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from rapidfuzz.distance import Indel as IndelDistance
from rapidfuzz.distance import JaroWinkler as JaroWinklerDistance
from rapidfuzz.distance import Levenshtein as LevenshteinDistance
from rapidfuzz.process import cpdist

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import Floats, equal_pairs, graded
from fieldassay.values.comparators.shares import share_of
from fieldassay.values.types.column import Column, Objects, objects

Lengths = npt.NDArray[np.int64]

LONGEST_PRODUCT = 10**11
"""Pairs whose lengths multiply to more (300,000 characters each) are not judged: too slow, many seconds."""

TEXT_REASONS = ("equal", "different", "similar", "too_long")


def text_lengths(texts: Objects) -> Lengths:
    """Return the number of characters of each text."""
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def judged_texts(gold: Column, pred: Column, limit: int, similarity: Any) -> Scores:
    """Return graded scores of the canonical texts.

    `similarity(gold texts, pred texts)` returns those of unequal pairs within the limit. A pair beyond the
    limit scores NaN with the reason `too_long`.
    """
    equal = equal_pairs(gold, pred)
    too_long = ~equal & (text_lengths(gold.canonical) * text_lengths(pred.canonical) > limit)
    at = np.flatnonzero(~equal & ~too_long)
    score = np.ones(len(gold))
    if len(at) == len(gold):
        score = similarity(gold.canonical, pred.canonical)
    elif len(at):
        score[at] = similarity(gold.canonical[at], pred.canonical[at])
    scores = graded(score, equal)
    scores.score[too_long], scores.reason[too_long] = np.nan, TEXT_REASONS.index("too_long")
    return scores


def _share_kept(distance: npt.NDArray[np.integer[Any]], most: Lengths) -> Floats:
    """Return 1 - distance / most, rounded once, so that 9 of 10 is 0.9."""
    return np.divide(most - distance, most, out=np.ones(len(most)), where=most > 0)


def levenshtein_similarity(gold: Objects, pred: Objects) -> Floats:
    """Return 1 - Levenshtein distance / length of the longer text, for every pair; 1 for two empty texts.

    >>> levenshtein_similarity(objects(["kitten"]), objects(["sitting"])).round(4).tolist()
    [0.5714]
    """
    distance = cpdist(gold, pred, scorer=LevenshteinDistance.distance, dtype=np.int64)
    return _share_kept(distance, np.maximum(text_lengths(gold), text_lengths(pred)))


def indel_similarity(gold: Objects, pred: Objects) -> Floats:
    """Return 1 - (insertions and deletions) / sum of the lengths, for every pair; 1 for two empty texts.

    >>> indel_similarity(objects(["tide"]), objects(["diet"])).tolist()
    [0.5]
    """
    distance = cpdist(gold, pred, scorer=IndelDistance.distance, dtype=np.int64)
    return _share_kept(distance, text_lengths(gold) + text_lengths(pred))


class Levenshtein(Comparator, Struct, frozen=True):
    """1 - Levenshtein distance / length of the longer text. Symmetric.

    >>> from fieldassay.values.types.column import Reading
    >>> Levenshtein().compare_one(*(Reading(text, text, text) for text in ("Dupont", "Dupond")))
    (0.8333333333333334, 'similar')
    """

    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        return judged_texts(gold, pred, LONGEST_PRODUCT, levenshtein_similarity)


class Indel(Comparator, Struct, frozen=True):
    """1 - (insertions and deletions) / sum of the lengths. Symmetric.

    >>> from fieldassay.values.types.column import Reading
    >>> Indel().compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.5, 'similar')
    """

    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        return judged_texts(gold, pred, LONGEST_PRODUCT, indel_similarity)


class JaroWinkler(Comparator, Struct, frozen=True):
    """Jaro-Winkler similarity. Symmetric.

    Jaro's similarity, raised by `prefix_weight` for every equal character at the start (four at most) where
    Jaro's exceeds 0.7.

    >>> from fieldassay.values.types.column import Reading
    >>> score, _ = JaroWinkler().compare_one(*(Reading(text, text, text) for text in ("MARTHA", "MARHTA")))
    >>> round(score, 4)
    0.9611
    """

    prefix_weight: float = 0.1
    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_symmetric: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.prefix_weight <= 0.25:
            raise ValueError(
                f"jaro_winkler: prefix_weight is {self.prefix_weight}; give a number from 0 to 0.25"
            )

    def compare(self, gold: Column, pred: Column) -> Scores:
        return judged_texts(gold, pred, LONGEST_PRODUCT, self._similarity)

    def _similarity(self, gold: Objects, pred: Objects) -> Floats:
        weight = {"prefix_weight": self.prefix_weight}
        similarity: Floats = cpdist(
            gold, pred, scorer=JaroWinklerDistance.similarity, scorer_kwargs=weight, dtype=np.float64
        )
        return similarity


class Anls(Comparator, Struct, frozen=True):
    """Levenshtein similarity, and 0 where it is below `threshold`. Symmetric.

    Its mean is the average normalized Levenshtein similarity of document question answering; `ignore_case` is
    on, as published.

    >>> from fieldassay.values.types.column import Reading
    >>> Anls().compare_one(*(Reading(text, text, text) for text in ("ACME", "acne")))
    (0.75, 'similar')
    """

    threshold: Decimal = Decimal("0.5")
    ignore_case: bool = True
    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.5
    is_symmetric: ClassVar[bool] = True
    is_expensive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        share_of("anls: threshold", self.threshold)

    def compare(self, gold: Column, pred: Column) -> Scores:
        return judged_texts(gold, pred, LONGEST_PRODUCT, self._similarity)

    def _similarity(self, gold: Objects, pred: Objects) -> Floats:
        if self.ignore_case:
            gold, pred = (objects([text.lower() for text in texts]) for texts in (gold, pred))
        similarity = levenshtein_similarity(gold, pred)
        return np.where(similarity >= float(self.threshold), similarity, 0.0)
