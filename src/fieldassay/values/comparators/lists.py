"""Lists judged as one value: by common items, by position, by order."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.comparators.base import Comparator, Scores
from fieldassay.values.comparators.common_items import common_counts
from fieldassay.values.comparators.equality import Floats, Mask, unequal_positions
from fieldassay.values.comparators.exact import Contains, Exact
from fieldassay.values.comparators.items import (
    Candidates,
    Ints,
    Items,
    all_pairs,
    best_by,
    items_of,
    same_positions,
    similarities,
    total_by,
)
from fieldassay.values.types.column import Column, Indices

LIST_REASONS = (
    *("equal", "different", "same_items", "some_items", "too_many_items", "items_not_judged"),
    "matching_items",
)

MOST_CANDIDATES = 25_000_000
"""List pairs with more candidate pairs (5,000 against 5,000 items) are not judged: too much memory."""

_AT_ONCE = 4_000_000


class ListComparator(Comparator, Struct, frozen=True):
    """Compares two lists of readings as one value.

    `items` is the comparator of two items, which match if their score reaches its acceptance threshold.
    """

    items: Comparator = Exact()
    reasons: ClassVar[tuple[str, ...]] = LIST_REASONS
    is_distinct: ClassVar[bool] = False
    """True if lists are sets: repeated items count once."""
    needs_all_pairs: ClassVar[bool] = True

    def compare(self, gold: Column, pred: Column) -> Scores:
        scores = Scores(np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16))
        at = unequal_positions(gold, pred)
        needs_matrix = self.needs_all_pairs and not self.items.by_canonical
        for part, is_judgeable in portions(gold, pred, at) if needs_matrix else [(at, True)]:
            if not is_judgeable:
                scores.score[part], scores.reason[part] = np.nan, LIST_REASONS.index("too_many_items")
                continue
            given, found = (items_of(side.take(part), self.is_distinct) for side in (gold, pred))
            scores.score[part], scores.reason[part] = self.judge(given, found)
        return scores

    def judge(self, gold: Items, pred: Items) -> tuple[Floats, npt.NDArray[np.int16]]:
        """Return the scores of unequal lists, and their positions in `reasons`."""
        score = self.share(gold, pred)
        reason = list_reasons(score)
        whole = reason == LIST_REASONS.index("same_items")
        if whole.any() and not self.items.by_canonical:
            is_other = _same_counts(gold, pred) < np.maximum(gold.counts, pred.counts)
            reason[whole & is_other] = LIST_REASONS.index("matching_items")
        return score, reason

    @abstractmethod
    def share(self, gold: Items, pred: Items) -> Floats:
        """Return the score of every pair of lists; NaN where an item comparison was not judged."""


def list_reasons(score: Floats) -> npt.NDArray[np.int16]:
    """Return positions in `LIST_REASONS` for the scores of unequal lists."""
    reason = np.where(score >= 1, 2, np.where(score > 0, 3, 1))
    return np.where(np.isnan(score), LIST_REASONS.index("items_not_judged"), reason).astype(np.int16)


def portions(
    gold: Column, pred: Column, at: npt.NDArray[np.intp]
) -> Iterator[tuple[npt.NDArray[np.intp], bool]]:
    """Yield positions in groups whose candidate pairs fit in memory, last those too large alone (False)."""
    sizes = np.array(
        [_length(gold.values[index]) * _length(pred.values[index]) for index in at.tolist()], dtype=np.int64
    )
    fits = sizes <= MOST_CANDIDATES
    group = (np.cumsum(np.where(fits, sizes, 0)) - 1) // _AT_ONCE
    for number in np.unique(group[fits]).tolist():
        yield at[fits & (group == number)], True
    if not fits.all():
        yield at[~fits], False


def _length(value: object) -> int:
    return len(value) if isinstance(value, Column) else 1


def _ratio(part: Floats, whole: Floats | Ints) -> Floats:
    """Return part / whole, 0 where the whole is 0."""
    return np.divide(part, whole, out=np.zeros(len(whole)), where=whole != 0)


def _unless_unjudged(matched: Floats, pairs: Candidates, similarity: Floats) -> Floats:
    """Return the counts, NaN for pairs of lists with an item comparison that was not judged."""
    matched[pairs.owner[np.isnan(similarity)]] = np.nan
    return matched


def matched_counts(gold: Items, pred: Items, comparator: Comparator) -> Floats:
    """Return the largest number of items of each two lists that match one to one."""
    if comparator.by_canonical:
        return _same_counts(gold, pred)
    pairs = all_pairs(gold, pred)
    similarity = similarities(gold, pred, pairs, comparator)
    hits = similarity >= comparator.accept
    matched = [_matching(matrix) for matrix in _matrices(hits, gold, pred)]
    return _unless_unjudged(np.array(matched, dtype=np.float64), pairs, similarity)


def _same_counts(gold: Items, pred: Items) -> Floats:
    """Return the number of items of each two lists that are the same, one to one."""
    both = zip(gold.canonical_lists(), pred.canonical_lists(), strict=True)
    return np.fromiter(
        ((Counter(given) & Counter(found)).total() for given, found in both),
        dtype=np.float64,
        count=len(gold.counts),
    )


def _matrices(hits: Mask, gold: Items, pred: Items) -> Iterator[Mask]:
    """Yield the hits as one matrix per pair of lists, gold items by predicted items."""
    ends = np.cumsum(gold.counts * pred.counts)
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    for start, end, rows, columns in zip(
        starts.tolist(), ends.tolist(), gold.counts.tolist(), pred.counts.tolist(), strict=True
    ):
        yield hits[start:end].reshape(rows, columns)


def _matching(hits: Mask) -> int:
    """Return the size of the largest one-to-one matching among the hits."""
    if not hits.any():
        return 0
    if hits.sum(axis=0).max() <= 1 and hits.sum(axis=1).max() <= 1:
        return int(hits.sum())
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import maximum_bipartite_matching

    return int((maximum_bipartite_matching(csr_matrix(hits)) >= 0).sum())


class SetComparator(ListComparator, frozen=True):
    """Compares two lists as sets by the number of common items; repeated items count once."""

    is_distinct: ClassVar[bool] = True
    is_symmetric: ClassVar[bool] = True

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        """Return the same as `compare`; each distinct set of exact items is prepared once."""
        if not self.items.by_canonical:
            return super().compare_at(column, gold, pred)
        scores = Scores(np.ones(len(gold)), np.zeros(len(gold), dtype=np.int16))
        at = np.flatnonzero(column.canonical[gold] != column.canonical[pred])
        is_used = np.zeros(len(column), dtype=np.bool_)
        is_used[gold[at]] = is_used[pred[at]] = True
        place = np.cumsum(is_used) - 1
        left, right = place[gold[at]], place[pred[at]]
        sets = items_of(column.take(np.flatnonzero(is_used)), is_distinct=True)
        score = self.rate(common_counts(sets, left, right), sets.counts[left], sets.counts[right])
        scores.score[at], scores.reason[at] = score, list_reasons(score)
        return scores

    def share(self, gold: Items, pred: Items) -> Floats:
        return self.rate(matched_counts(gold, pred, self.items), gold.counts, pred.counts)

    @abstractmethod
    def rate(self, matched: Floats, gold: Ints, pred: Ints) -> Floats:
        """Return the scores for the numbers of matched items and of the items of each side."""


class SetIou(SetComparator, frozen=True):
    """Items in both over items in either; repeated items count once."""

    def rate(self, matched: Floats, gold: Ints, pred: Ints) -> Floats:
        return _ratio(matched, gold + pred - matched)


class SetOverlap(SetComparator, frozen=True):
    """Items in both over the items of the smaller side: 1 if one set contains the other.

    Repeated items count once.
    """

    def rate(self, matched: Floats, gold: Ints, pred: Ints) -> Floats:
        return _ratio(matched, np.minimum(gold, pred))


class Bag(ListComparator, frozen=True):
    """Items that match one to one, in any order, repeats included.

    They are divided by the length of the longer list (`share`), or combined into F1 of the two lists (`f1`).
    """

    measure: Literal["share", "f1"] = "share"
    is_symmetric: ClassVar[bool] = True

    def share(self, gold: Items, pred: Items) -> Floats:
        matched = matched_counts(gold, pred, self.items)
        if self.measure == "f1":
            return _ratio(2 * matched, gold.counts + pred.counts)
        return _ratio(matched, np.maximum(gold.counts, pred.counts))


class ContainedItems(ListComparator, frozen=True):
    """Predicted items that match any gold item, over the length of the longer list.

    By default an item matches if one contains the other. Several predicted items may match the same gold
    item. The reason names what is no agreement of items one to one: `shared_items` (one item of gold stands
    for several predicted ones), else `contained_items` (some match only by containment). Source: the list
    rule of the business documents guide.
    """

    items: Comparator = Contains()
    reasons: ClassVar[tuple[str, ...]] = (*LIST_REASONS, "contained_items", "shared_items")

    def share(self, gold: Items, pred: Items) -> Floats:
        return self.judge(gold, pred)[0]

    def judge(self, gold: Items, pred: Items) -> tuple[Floats, npt.NDArray[np.int16]]:
        pairs = all_pairs(gold, pred)
        similarity = similarities(gold, pred, pairs, self.items)
        hits = best_by(pairs.pred, similarity, len(pred.column)) >= self.items.accept
        owner = np.repeat(np.arange(len(pred.counts)), pred.counts)
        matched = total_by(owner, hits.astype(np.float64), len(pred.counts))
        score = _ratio(_unless_unjudged(matched, pairs, similarity), np.maximum(gold.counts, pred.counts))
        reason, counts = list_reasons(score), np.nan_to_num(matched)
        reason[counts > _same_counts(gold, pred)] = self.reasons.index("contained_items")
        apart = [_matching(matrix) for matrix in _matrices(similarity >= self.items.accept, gold, pred)]
        reason[counts > apart] = self.reasons.index("shared_items")
        return score, reason


class ByPosition(ListComparator, frozen=True):
    """Positions whose items match, over the length of the longer list.

    Source: the transaction lists of the business documents guide.
    """

    needs_all_pairs: ClassVar[bool] = False
    is_symmetric: ClassVar[bool] = True

    def share(self, gold: Items, pred: Items) -> Floats:
        pairs = same_positions(gold, pred)
        similarity = similarities(gold, pred, pairs, self.items)
        matched = total_by(
            pairs.owner, (similarity >= self.items.accept).astype(np.float64), len(gold.counts)
        )
        return _ratio(_unless_unjudged(matched, pairs, similarity), np.maximum(gold.counts, pred.counts))


class Sequence(ListComparator, frozen=True):
    """The longest common subsequence of matching items, over the length of the longer list."""

    is_symmetric: ClassVar[bool] = True

    def share(self, gold: Items, pred: Items) -> Floats:
        longest = np.maximum(gold.counts, pred.counts)
        return _ratio(self._common(gold, pred), longest)

    def _common(self, gold: Items, pred: Items) -> Floats:
        if self.items.by_canonical:
            return _common_lengths(gold, pred)
        pairs = all_pairs(gold, pred)
        similarity = similarities(gold, pred, pairs, self.items)
        chains = [_longest_chain(matrix) for matrix in _matrices(similarity >= self.items.accept, gold, pred)]
        return _unless_unjudged(np.array(chains, dtype=np.float64), pairs, similarity)


def _common_lengths(gold: Items, pred: Items) -> Floats:
    from rapidfuzz.distance import LCSseq

    codes: dict[str, int] = {}
    given, found = (
        [[codes.setdefault(text, len(codes)) for text in texts] for texts in side.canonical_lists()]
        for side in (gold, pred)
    )
    return np.array(
        [LCSseq.similarity(left, right) for left, right in zip(given, found, strict=True)], dtype=np.float64
    )


def _longest_chain(hits: Mask) -> int:
    best = np.zeros(hits.shape[1] + 1, dtype=np.int64)
    for row in hits:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + row))
    return int(best[-1])
