"""Equality: of canonical texts, of digits, of containment."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.regex import lazy_regex
from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import equal_pairs, scores_by_code, unequal_positions
from fieldassay.values.types.column import Column, Objects, objects

_NO_DIGIT = lazy_regex(r"\D+")


class Exact(Comparator, Struct, frozen=True):
    """1 if the canonical texts are equal, else 0.

    The characters of `ignore` are deleted from both sides first. Two different texts of which nothing is left
    are different, or equal with `nothing_left: equal`.

    >>> from fieldassay.values.types.column import Reading
    >>> Exact(ignore=",$ ").compare_one(*(Reading(text, text, text) for text in ("$1,234.56", "$ 1234.56")))
    (1.0, 'equal_ignoring')
    """

    ignore: str = ""
    nothing_left: Literal["different", "equal"] = "different"
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "equal_ignoring")
    by_canonical: ClassVar[bool] = True  # for an instance with `ignore` it is False, see below

    def __post_init__(self) -> None:
        if self.ignore:
            force_setattr(self, "by_canonical", False)

    def compare(self, gold: Column, pred: Column) -> Scores:
        equal = equal_pairs(gold, pred)
        codes = np.where(equal, 0, 1).astype(np.int16)
        if self.ignore:
            at = np.flatnonzero(~equal)
            given, found = (
                self._without_ignored(gold.canonical[at]),
                self._without_ignored(pred.canonical[at]),
            )
            is_said = (given != "") | (self.nothing_left == "equal")
            codes[at[(given == found) & is_said]] = 2
        return scores_by_code(codes, (1.0, 0.0, 1.0))

    def _without_ignored(self, texts: Objects) -> Objects:
        table = str.maketrans("", "", self.ignore)
        return objects([text.translate(table) for text in texts])


class Digits(Comparator, Struct, frozen=True):
    """1 if the texts as given have the same sequence of digits, else 0, also without any digit.

    >>> from fieldassay.values.types.column import Reading
    >>> Digits().compare_one(*(Reading(text, text, text) for text in ("06 082 698 025", "06-082-698-025")))
    (1.0, 'same_digits')
    """

    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "same_digits", "no_digits")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        at = unequal_positions(gold, pred)
        given, found = digits_of(gold.texts[at]), digits_of(pred.texts[at])
        codes[at] = np.where((given == "") | (found == ""), 3, np.where(given == found, 2, 1))
        return scores_by_code(codes, (1.0, 0.0, 1.0, 0.0))


def digits_of(texts: Objects) -> Objects:
    """Return the digits of each text, in order.

    >>> digits_of(objects(["+61 (2) 93", "none"])).tolist()
    ['61293', '']
    """
    return objects([_NO_DIGIT.sub("", text) for text in texts])


class Contains(Comparator, Struct, frozen=True):
    """`score` if one text contains the other, else 0.

    `inner` restricts which side may be the contained one. An empty text is contained in nothing.

    >>> from fieldassay.values.types.column import Reading
    >>> Contains().compare_one(*(Reading(text, text, text) for text in ("Acme Corp Ltd", "Acme Corp")))
    (1.0, 'contained')
    """

    inner: Literal["either", "gold", "pred"] = "either"
    score: float = 1.0
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "contained")

    def __post_init__(self) -> None:
        if not 0 <= self.score <= 1:
            raise ValueError(f"contains: score is {self.score}; give a score from 0 to 1")

    def compare(self, gold: Column, pred: Column) -> Scores:
        codes = np.zeros(len(gold), dtype=np.int16)
        for index in unequal_positions(gold, pred).tolist():
            codes[index] = 2 if self._is_contained(gold.canonical[index], pred.canonical[index]) else 1
        return scores_by_code(codes, (1.0, 0.0, self.score))

    def _is_contained(self, gold: Any, pred: Any) -> bool:
        return bool(gold and pred) and (
            (self.inner != "pred" and gold in pred) or (self.inner != "gold" and pred in gold)
        )
