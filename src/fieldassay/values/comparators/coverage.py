"""Sets of texts scored by soft coverage, the measure of slot filling."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.equality import Floats, unequal_positions
from fieldassay.values.comparators.exact import Exact
from fieldassay.values.comparators.items import Items, all_pairs, best_by, items_of, similarities, total_by
from fieldassay.values.comparators.lists import LIST_REASONS, list_reasons, portions
from fieldassay.values.types.column import Column


class SoftCoverage(Comparator, Struct, frozen=True):
    """The mutual coverage of two sets, by the similarities of their items.

    Coverage is the mean over gold items of the best similarity to a predicted one, specificity the mean over
    predicted items of the best similarity to a gold one, Chamfer their mean, SF1 their harmonic mean (0 where
    either is 0 or less). All four are extras (`coverage`, `specificity`, `chamfer`, `sf1`); `score` selects
    the score. Repeated items count once; a value that is no list is a set of one. Similarities are not
    clipped: with a comparator of items that can be negative, so can everything but SF1.
    Source: the slot-filling protocol.

    >>> from fieldassay.values.comparators.edit import Indel
    >>> from fieldassay.values.types.column import Reading
    >>> SoftCoverage(items=Indel()).compare_one(*(Reading(text, text, text) for text in ("tide", "diet")))
    (0.5, 'some_items')
    """

    items: Comparator = Exact()
    score: Literal["sf1", "chamfer"] = "sf1"
    reasons: ClassVar[tuple[str, ...]] = LIST_REASONS
    accept: ClassVar[float] = 0.8
    skips_equal: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = True
    extra_names: ClassVar[tuple[str, ...]] = ("coverage", "specificity", "chamfer", "sf1")

    def compare(self, gold: Column, pred: Column) -> Scores:
        coverage, specificity = np.ones(len(gold)), np.ones(len(gold))
        reason = np.zeros(len(gold), dtype=np.int16)
        for part, is_judgeable in portions(gold, pred, unequal_positions(gold, pred)):
            if is_judgeable:
                given, found = (
                    items_of(gold.take(part), is_distinct=True),
                    items_of(pred.take(part), is_distinct=True),
                )
                coverage[part], specificity[part] = self._coverages(given, found)
            else:
                coverage[part] = specificity[part] = np.nan
                reason[part] = LIST_REASONS.index("too_many_items")
        extras = {"coverage": coverage, "specificity": specificity, "chamfer": (coverage + specificity) / 2}
        extras["sf1"] = _harmonic_mean(coverage, specificity)
        score = extras[self.score].copy()
        at = unequal_positions(gold, pred)
        at = at[reason[at] == 0]
        reason[at] = list_reasons(score[at])
        return Scores(score, reason, extras)

    def _coverages(self, gold: Items, pred: Items) -> tuple[Floats, Floats]:
        pairs = all_pairs(gold, pred)
        similarity = similarities(gold, pred, pairs, self.items)
        best_of_gold = best_by(pairs.gold, similarity, len(gold.column))
        best_of_pred = best_by(pairs.pred, similarity, len(pred.column))
        return _means(gold, best_of_gold, pred), _means(pred, best_of_pred, gold)


def _means(items: Items, best: Floats, others: Items) -> Floats:
    """Return the mean of the best similarities of each set; 0 where either set is empty."""
    is_defined = (items.counts > 0) & (others.counts > 0)
    owner = np.repeat(np.arange(len(items.counts)), items.counts)
    total = total_by(owner, np.where(np.isneginf(best), 0.0, best), len(items.counts))
    return np.divide(total, items.counts, out=np.zeros(len(total)), where=is_defined)


def _harmonic_mean(left: Floats, right: Floats) -> Floats:
    is_positive = ~((left <= 0) | (right <= 0))
    return np.divide(2 * left * right, left + right, out=np.zeros(len(left)), where=is_positive)
