"""Comparators of texts: edit distances, words, and phone numbers."""

from abc import abstractmethod
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from cydifflib import SequenceMatcher
from msgspec import Struct
from rapidfuzz.distance import Hamming
from rapidfuzz.distance import Indel as IndelDistance
from rapidfuzz.distance import JaroWinkler as JaroWinklerDistance
from rapidfuzz.distance import Levenshtein as LevenshteinDistance
from rapidfuzz.process import cpdist

from fieldassay.values.comparators.base import (
    ColumnComparator,
    Comparator,
    Floats,
    Scores,
    digits_of,
    graded,
)
from fieldassay.values.types.column import Column, Indices, Objects, lengths, objects

# Shares compared without rounding.


def share_of(name: str, threshold: Any) -> Fraction:
    """Return a threshold from 0 to 1 as the exact fraction of its decimal text (0.8 is 4/5).

    `name` is for the message of an invalid one.

    >>> share_of("words: threshold", 0.8)
    Fraction(4, 5)
    """
    share = Fraction(str(Decimal(str(threshold)))) if Decimal(str(threshold)).is_finite() else Fraction(-1)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} is {threshold}; give a number from 0 to 1")
    return share


# Similarities of texts by edit distance (rapidfuzz).

Lengths = npt.NDArray[np.int64]

LONGEST_PRODUCT = 10**11
"""Pairs whose lengths multiply to more (300,000 characters each) are not judged: too slow, many seconds."""

TEXT_REASONS = ("equal", "different", "similar", "too_long")


class TextSimilarity(ColumnComparator):
    """Grades the canonical texts by a similarity from 0 to 1.

    A pair whose lengths multiply to more than `most` scores NaN with the reason `too_long`.
    """

    reasons: ClassVar[tuple[str, ...]] = TEXT_REASONS
    accept: ClassVar[float] = 0.8
    is_expensive: ClassVar[bool] = True
    most: ClassVar[int] = LONGEST_PRODUCT

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        sizes = lengths(column.canonical)
        too_long = sizes[gold] * sizes[pred] > self.most
        score = np.full(len(gold), np.nan)
        score[~too_long] = self.similarity(column.canonical, gold[~too_long], pred[~too_long])
        scores = graded(score)
        scores.reason[too_long] = TEXT_REASONS.index("too_long")
        return scores

    @abstractmethod
    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        """Return the similarities of `texts[gold[i]]` and `texts[pred[i]]`."""


def _share_kept(distance: npt.NDArray[np.integer[Any]], most: Lengths) -> Floats:
    """Return 1 - distance / most, rounded once, so that 9 of 10 is 0.9."""
    return np.divide(most - distance, most, out=np.ones(len(most)), where=most > 0)


def levenshtein_similarity(gold: Objects, pred: Objects) -> Floats:
    """Return 1 - Levenshtein distance / length of the longer text, for every pair; 1 for two empty texts.

    >>> levenshtein_similarity(objects(["kitten"]), objects(["sitting"])).round(4).tolist()
    [0.5714]
    """
    distance = cpdist(gold, pred, scorer=LevenshteinDistance.distance, dtype=np.int64)
    return _share_kept(distance, np.maximum(lengths(gold), lengths(pred)))


def indel_similarity(gold: Objects, pred: Objects) -> Floats:
    """Return 1 - (insertions and deletions) / sum of the lengths, for every pair; 1 for two empty texts.

    >>> indel_similarity(objects(["tide"]), objects(["diet"])).tolist()
    [0.5]
    """
    distance = cpdist(gold, pred, scorer=IndelDistance.distance, dtype=np.int64)
    return _share_kept(distance, lengths(gold) + lengths(pred))


class Levenshtein(TextSimilarity, Struct, frozen=True):
    """1 - Levenshtein distance / length of the longer text. Symmetric.

    >>> from fieldassay.values.types.column import Reading
    >>> Levenshtein().compare_one(*(Reading(text, text, text) for text in ("Dupont", "Dupond")))
    (0.8333333333333334, 'similar')
    """

    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        return levenshtein_similarity(texts[gold], texts[pred])


class Indel(TextSimilarity, Struct, frozen=True):
    """1 - (insertions and deletions) / sum of the lengths. Symmetric.

    >>> from fieldassay.values.types.column import Reading
    >>> Indel().compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.5, 'similar')
    """

    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        return indel_similarity(texts[gold], texts[pred])


class JaroWinkler(TextSimilarity, Struct, frozen=True):
    """Jaro-Winkler similarity. Symmetric.

    Jaro's similarity, raised by `prefix_weight` for every equal character at the start (four at most) where
    Jaro's exceeds 0.7.

    >>> from fieldassay.values.types.column import Reading
    >>> score, _ = JaroWinkler().compare_one(*(Reading(text, text, text) for text in ("MARTHA", "MARHTA")))
    >>> round(score, 4)
    0.9611
    """

    prefix_weight: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.prefix_weight <= 0.25:
            raise ValueError(
                f"jaro_winkler: prefix_weight is {self.prefix_weight}; give a number from 0 to 0.25"
            )

    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        weight, scorer = {"prefix_weight": self.prefix_weight}, JaroWinklerDistance.similarity
        similarity: Floats = cpdist(
            texts[gold], texts[pred], scorer=scorer, scorer_kwargs=weight, dtype=np.float64
        )
        return similarity


class Anls(TextSimilarity, Struct, frozen=True):
    """Levenshtein similarity, and 0 where it is below `threshold`. Symmetric.

    Its mean is the average normalized Levenshtein similarity of document question answering; `ignore_case` is
    on, as published.

    >>> from fieldassay.values.types.column import Reading
    >>> Anls().compare_one(*(Reading(text, text, text) for text in ("ACME", "acne")))
    (0.75, 'similar')
    """

    threshold: Decimal = Decimal("0.5")
    ignore_case: bool = True
    accept: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        share_of("anls: threshold", self.threshold)

    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        if self.ignore_case:
            texts = objects([text.lower() for text in texts])
        similarity = levenshtein_similarity(texts[gold], texts[pred])
        return np.where(similarity >= float(self.threshold), similarity, 0.0)


# Similarity of texts by matching blocks, as in Python's difflib.

LONGEST_MATCHED_PRODUCT = 4 * 10**8
"""Pairs whose lengths multiply to more (20,000 characters each) are not judged: too slow, several seconds."""


class Ratcliff(TextSimilarity, Struct, frozen=True):
    """Ratcliff/Obershelp similarity, identical to difflib's.

    It is `difflib.SequenceMatcher(None, gold, pred, autojunk=False).ratio()` to the last digit. Two empty
    texts score 1. It is not symmetric: do not swap the sides.
    Source: the integrated matching quality of index entries.

    >>> from fieldassay.values.types.column import Reading
    >>> Ratcliff().compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.25, 'similar')
    """

    most: ClassVar[int] = LONGEST_MATCHED_PRODUCT

    def similarity(self, texts: Objects, gold: Indices, pred: Indices) -> Floats:
        return ratcliff_similarity(texts, gold, pred)


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


# Texts by their words.


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
        scores = Scores(np.zeros(len(gold)), np.zeros(len(gold), dtype=np.int16))
        for index, texts in enumerate(zip(gold.canonical, pred.canonical, strict=True)):
            scores.score[index], scores.reason[index] = self._judge(*texts, threshold)
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

    def compare(self, gold: Column, pred: Column) -> Scores:
        texts = map(self._similarity, gold.canonical, pred.canonical)
        return graded(np.fromiter(texts, dtype=np.float64, count=len(gold)))

    def _similarity(self, gold_text: str, pred_text: str) -> float:
        gold, pred = gold_text.split(), pred_text.split()
        if self.repeats:
            common, both = (Counter(gold) & Counter(pred)).total(), len(gold) + len(pred)
        else:
            gold_words, pred_words = set(gold), set(pred)
            common, both = len(gold_words & pred_words), len(gold_words) + len(pred_words)
        if not common:
            return 0.0
        return common / (both - common) if self.measure == "jaccard" else 2 * common / both


# Telephone numbers compared by their digits.


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
        gold_digits, pred_digits = digits_of(gold.texts), digits_of(pred.texts)
        size, other = lengths(gold_digits), lengths(pred_digits)
        wrong = cpdist(gold_digits, pred_digits, scorer=Hamming.distance, dtype=np.int64)
        right = np.where(size == other, size - wrong, 0)
        score = np.zeros(len(gold))
        for share, worth in reversed(self.steps):
            least = share_of("phone_digits: the share of a step", share)
            score[(size == other) & (right * least.denominator >= least.numerator * size)] = worth
        reason = np.where(score > 0, 3, np.where(size == other, 1, 5)).astype(np.int16)
        reason[gold_digits == pred_digits], score[gold_digits == pred_digits] = 2, 1.0
        empty = (size == 0) | (other == 0)
        reason[empty], score[empty] = 4, 0.0
        return Scores(score, reason)
