"""Values of any kind, each judged by the comparator for its kind of JSON."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from msgspec import Struct
from msgspec.structs import force_setattr

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import Mask
from fieldassay.values.comparators.exact import Exact
from fieldassay.values.types.column import Column, Objects


class ByKind(Comparator, Struct, frozen=True):
    """The score of the comparator for gold's kind of JSON, `number` or `text`; otherwise equality.

    Values of different kinds must be equal too. A boolean is not a number. Intended for trees without a
    schema. Source: the engineering extractor's strategy.

    >>> from fieldassay.values.comparators.numbers import Number
    >>> from fieldassay.values.types.column import Reading
    >>> judge = ByKind(number=Number(tolerance=0.01))
    >>> judge.compare_one(Reading("100", 100, "100"), Reading("100.5", 100.5, "100.5"))
    (1.0, 'within_tolerance')
    >>> judge.compare_one(Reading("100", 100, "100"), Reading("100", "100", '"100"'))
    (0.0, 'other_kind')
    """

    number: Comparator = Exact()
    text: Comparator = Exact()
    # An instance has those of its comparators (see `__post_init__`).
    reasons: ClassVar[tuple[str, ...]] = ("equal", "different", "other_kind")

    def __post_init__(self) -> None:
        inner = (*self.number.reasons, *self.text.reasons)
        force_setattr(self, "reasons", tuple(dict.fromkeys(("equal", "different", "other_kind", *inner))))
        force_setattr(self, "is_dear", self.number.is_expensive or self.text.is_expensive)

    def compare(self, gold: Column, pred: Column) -> Scores:
        score = np.asarray(gold.canonical == pred.canonical, dtype=np.float64)
        reason = np.where(score == 1, 0, 1).astype(np.int16)
        kinds = tuple((_are_numbers(column.values), _are_texts(column.values)) for column in (gold, pred))
        reason[(score < 1) & (kinds[0][0] != kinds[1][0]) | (score < 1) & (kinds[0][1] != kinds[1][1])] = 2
        for judge, position in ((self.number, 0), (self.text, 1)):
            at = np.flatnonzero((score < 1) & kinds[0][position] & kinds[1][position])
            if len(at):
                found = judge.compare(gold.take(at), pred.take(at))
                names = np.array([self.reasons.index(name) for name in judge.reasons], dtype=np.int16)
                score[at], reason[at] = found.score, names[found.reason]
        return Scores(score, reason)


def _are_numbers(values: Objects) -> Mask:
    return _are(values, (int, float))


def _are_texts(values: Objects) -> Mask:
    return _are(values, (str,))


def _are(values: Objects, kinds: tuple[type[Any], ...]) -> Mask:
    return np.fromiter((value.__class__ in kinds for value in values), dtype=np.bool_, count=len(values))
