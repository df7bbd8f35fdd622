"""Comparators of lists of values."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.values.comparators.base import (
    Comparator,
    Contains,
    Exact,
    Floats,
    Mask,
    Scores,
)
from fieldassay.values.types.column import Column, Indices, Objects, objects

# Items of lists: all candidate pairs of a batch in one comparison.

Ints = npt.NDArray[np.int64]


class Items(Struct, frozen=True, eq=False):
    """The items of all lists of a column, end to end.

    List i has `counts[i]` items, starting at `starts[i]`.
    """

    column: Column
    starts: Ints
    counts: Ints

    def canonical_lists(self) -> list[list[str]]:
        """Return the canonical texts of the items, list by list."""
        texts = self.column.canonical.tolist()
        return [
            texts[start : start + count]
            for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True)
        ]


def items_of(column: Column, is_distinct: bool = False) -> Items:
    """Return the items of every value; anything but a list is its own only item.

    `is_distinct` drops repeated canonical texts.

    >>> from fieldassay.values.types.column import Reading
    >>> column = Column.of([Reading(text, text, text) for text in ("a", "b", "a")])
    >>> items_of(Column.of([Reading("[]", column, "[]")]), is_distinct=True).counts.tolist()
    [2]
    """
    parts: list[Column] = []
    for index, value in enumerate(column.values):
        inner = value if isinstance(value, Column) else column.take(np.array([index]))
        parts.append(_distinct(inner) if is_distinct else inner)
    counts = np.fromiter(map(len, parts), dtype=np.int64, count=len(parts))
    starts = np.cumsum(counts) - counts
    joined = Column(
        _joined([part.texts for part in parts]),
        _joined([part.values for part in parts]),
        _joined([part.canonical for part in parts]),
    )
    return Items(joined, starts, counts)


def _joined(arrays: list[Objects]) -> Objects:
    return np.concatenate(arrays) if arrays else objects([])


def _distinct(column: Column) -> Column:
    first: dict[Any, int] = {}
    for index, text in enumerate(column.canonical):
        first.setdefault(text, index)
    return (
        column
        if len(first) == len(column)
        else column.take(np.fromiter(first.values(), dtype=np.int64, count=len(first)))
    )


class Candidates(Struct, frozen=True, eq=False):
    """Pairs of items of list pairs.

    `gold[k]` and `pred[k]` are positions in the joined columns, `owner[k]` is the list pair.
    """

    gold: Ints
    pred: Ints
    owner: Ints

    def __len__(self) -> int:
        return len(self.gold)


def all_pairs(gold: Items, pred: Items) -> Candidates:
    """Return every gold item with every predicted item of the same list pair, row by row, lists in order."""
    sizes = gold.counts * pred.counts
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    row, column = np.divmod(within, np.maximum(pred.counts[owner], 1))
    return Candidates(gold.starts[owner] + row, pred.starts[owner] + column, owner)


def same_positions(gold: Items, pred: Items) -> Candidates:
    """Return the pairs of items at the same position of both lists."""
    sizes = np.minimum(gold.counts, pred.counts)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Candidates(gold.starts[owner] + within, pred.starts[owner] + within, owner)


def similarities(gold: Items, pred: Items, pairs: Candidates, comparator: Comparator) -> Floats:
    """Return the comparator's score of every candidate pair, from one call on the distinct pairs."""
    if not len(pairs):
        return np.zeros(0)
    if comparator.by_canonical:
        return np.asarray(
            gold.column.canonical[pairs.gold] == pred.column.canonical[pairs.pred], dtype=np.float64
        )
    gold_meanings, pred_meanings = _meanings(gold.column), _meanings(pred.column)
    key = gold_meanings[pairs.gold] * np.int64(len(pred.column) + 1) + pred_meanings[pairs.pred]
    _, first, back = np.unique(key, return_index=True, return_inverse=True)
    scores = comparator.compare_all(gold.column.take(pairs.gold[first]), pred.column.take(pairs.pred[first]))
    return scores.score[back]


def _meanings(column: Column) -> Ints:
    """Return a number for each item, equal for items with equal canonical texts and equal texts."""
    numbers: dict[tuple[Any, Any], int] = {}
    both = zip(column.canonical, column.texts, strict=True)
    return np.fromiter(
        (numbers.setdefault(pair, len(numbers)) for pair in both), dtype=np.int64, count=len(column)
    )


def total_by(positions: Ints, values: Floats, size: int) -> Floats:
    """Return the sum of the values at each position, 0 where there is none."""
    return np.bincount(positions, weights=values, minlength=size).astype(np.float64)


def best_by(positions: Ints, values: Floats, size: int) -> Floats:
    """Return the largest value at each position, -inf where there is none."""
    best = np.full(size, -np.inf)
    with np.errstate(invalid="ignore"):  # NaN, not judged, wins
        np.maximum.at(best, positions, values)
    return best


# The items common to two sets, for many pairs of few sets at once.

_AT_ONCE = 4_000_000
"""The number of items per lookup."""


def common_counts(sets: Items, gold: Indices, pred: Indices) -> Floats:
    """Return the number of common canonical texts of `sets[gold[i]]` and `sets[pred[i]]` for every i.

    No set may repeat an item.

    >>> from fieldassay.values.comparators.lists import items_of
    >>> from fieldassay.values.types.column import Column, Reading
    >>> lists = [Column.of([Reading(text, text, text) for text in texts]) for texts in ("ab", "bc", "c")]
    >>> sets = items_of(Column.of([Reading("", value, "") for value in lists]))
    >>> common_counts(sets, np.array([0, 0, 1]), np.array([1, 2, 2])).tolist()
    [1.0, 0.0, 1.0]
    """
    numbers: dict[str, int] = {}
    item = np.fromiter(
        (numbers.setdefault(text, len(numbers)) for text in sets.column.canonical),
        dtype=np.int64,
        count=len(sets.column),
    )
    width = np.int64(max(len(numbers), 1))
    keys = np.sort(np.repeat(np.arange(len(sets.counts)), sets.counts) * width + item)
    common = np.zeros(len(gold))
    for part in _portions(sets.counts[gold]):
        sizes = sets.counts[gold[part]]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        at = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes - sets.starts[gold[part]], sizes)
        wanted = pred[part][owner] * width + item[at]
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        common[part] = np.bincount(owner[keys[place] == wanted], minlength=len(sizes))
    return common


def _portions(sizes: Ints) -> Iterator[slice]:
    """Yield consecutive pairs whose items fit in memory together, at least one pair each."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = ends[start - 1] if start else 0
        stop = max(int(np.searchsorted(ends, before + _AT_ONCE, side="right")), start + 1)
        yield slice(start, stop)
        start = stop


# Lists judged as one value: by common items, by position, by order.

LIST_REASONS = (
    *("equal", "different", "same_items", "some_items", "too_many_items", "items_not_judged"),
    "matching_items",
)

MOST_CANDIDATES = 25_000_000
"""List pairs with more candidate pairs (5,000 against 5,000 items) are not judged: too much memory."""


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
        scores = Scores(np.zeros(len(gold)), np.zeros(len(gold), dtype=np.int16))
        at = np.arange(len(gold))
        needs_matrix = self.needs_all_pairs and not self.items.by_canonical
        for part, is_judgeable in portions(gold, pred, at) if needs_matrix else [(at, True)]:
            if not is_judgeable:
                scores.score[part], scores.reason[part] = np.nan, LIST_REASONS.index("too_many_items")
                continue
            gold_items, pred_items = (items_of(side.take(part), self.is_distinct) for side in (gold, pred))
            scores.score[part], scores.reason[part] = self.judge(gold_items, pred_items)
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
        ((Counter(gold_texts) & Counter(pred_texts)).total() for gold_texts, pred_texts in both),
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

    def compare_at(self, column: Column, gold: Indices, pred: Indices) -> Scores:
        """Return the same as `compare`; each distinct set of exact items is prepared once."""
        if not self.items.by_canonical:
            return super().compare_at(column, gold, pred)
        used, places = np.unique(np.stack([gold, pred]), return_inverse=True)
        left, right = places.reshape(2, -1)
        sets = items_of(column.take(used), is_distinct=True)
        score = self.rate(common_counts(sets, left, right), sets.counts[left], sets.counts[right])
        return Scores(score, list_reasons(score))

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

    def share(self, gold: Items, pred: Items) -> Floats:
        pairs = same_positions(gold, pred)
        similarity = similarities(gold, pred, pairs, self.items)
        matched = total_by(
            pairs.owner, (similarity >= self.items.accept).astype(np.float64), len(gold.counts)
        )
        return _ratio(_unless_unjudged(matched, pairs, similarity), np.maximum(gold.counts, pred.counts))


class Sequence(ListComparator, frozen=True):
    """The longest common subsequence of matching items, over the length of the longer list."""

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
    gold_codes, pred_codes = (
        [[codes.setdefault(text, len(codes)) for text in texts] for texts in side.canonical_lists()]
        for side in (gold, pred)
    )
    return np.array(
        [LCSseq.similarity(left, right) for left, right in zip(gold_codes, pred_codes, strict=True)],
        dtype=np.float64,
    )


def _longest_chain(hits: Mask) -> int:
    best = np.zeros(hits.shape[1] + 1, dtype=np.int64)
    for row in hits:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + row))
    return int(best[-1])


# Sets of texts scored by soft coverage, the measure of slot filling.


class SoftCoverage(Comparator, Struct, frozen=True):
    """The mutual coverage of two sets, by the similarities of their items.

    Coverage is the mean over gold items of the best similarity to a predicted one, specificity the mean over
    predicted items of the best similarity to a gold one, Chamfer their mean, SF1 their harmonic mean (0 where
    either is 0 or less). All four are extras (`coverage`, `specificity`, `chamfer`, `sf1`); `score` selects
    the score. Repeated items count once; a value that is no list is a set of one. Similarities are not
    clipped: with a comparator of items that can be negative, so can everything but SF1.
    Source: the slot-filling protocol.

    >>> from fieldassay.values.comparators.texts import Indel
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
        at = np.flatnonzero(gold.canonical != pred.canonical)
        for part, is_judgeable in portions(gold, pred, at):
            if is_judgeable:
                gold_items, pred_items = (
                    items_of(gold.take(part), is_distinct=True),
                    items_of(pred.take(part), is_distinct=True),
                )
                coverage[part], specificity[part] = self._coverages(gold_items, pred_items)
            else:
                coverage[part] = specificity[part] = np.nan
                reason[part] = LIST_REASONS.index("too_many_items")
        extras = {"coverage": coverage, "specificity": specificity, "chamfer": (coverage + specificity) / 2}
        is_positive = ~((coverage <= 0) | (specificity <= 0))
        extras["sf1"] = np.divide(
            2 * coverage * specificity, coverage + specificity, out=np.zeros(len(coverage)), where=is_positive
        )
        score = extras[self.score].copy()
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
