"""What each wrong value costs in the score of its document: the score as it would be without the error."""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.estimate import HIGHEST
from fieldassay.metrics.evidence import FLAG, BatchEvidence, DocumentTable, Kind, Outcome
from fieldassay.metrics.result.estimation import highest_value
from fieldassay.metrics.statistics.columns import DocumentColumns
from fieldassay.metrics.statistics.statistics import pooled_divisor
from fieldassay.paths import is_item_path, is_within

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.bool_]

MOST_ROWS = 1 << 18
"""So many rows of documents without an error are evaluated at a time."""


class Costs(Struct, frozen=True, eq=False):
    """What the rows of a batch cost, as shares of the highest score of a document; NaN: no wrong value.

    `sizes`, of a score that pools documents, are by which share the document's weight grows without the row's
    part of its error; None: it does not.
    """

    shares: Floats
    sizes: Floats | None = None


_CLEARED = ~(FLAG["wrong_kind"] | FLAG["under_wrong_kind"] | FLAG["lone_parent"] | FLAG["unreadable_pred"])


def find_costs(score_of: BoundMetric | None, evidence: BatchEvidence, table: DocumentTable) -> Costs:
    """Return what each row costs: the gain in its document's score if the error were gone.

    An error is a value, an item that one side lacks with all that is in it, an object or a list of another
    kind of JSON, or a whole answer that failed. The values of an error share its cost; of another kind of
    JSON it stands in the row of the object or list. An item is worth more as its values are mended, each by
    what it lacked. `score_of` is the metric of the documents' scores; None, or a metric without a highest
    value, such as a count: the accuracy.

    A document may lose more, or less, to two errors than to each by itself.
    """
    errors = _find_errors(evidence, table)
    if score_of is None or not is_costed(score_of) or score_of.recipe == _ACCURACY.recipe:
        gained, grown = _mend_leaves(errors), None
    else:
        gained, grown = _mend_score(errors, score_of)
    shared = np.maximum(np.bincount(errors.unit[errors.is_charged], minlength=len(gained)), 1)
    costs = np.where(errors.wrong, 0.0, np.nan)
    at = np.flatnonzero(errors.is_charged)
    own = errors.unit[at]
    costs[at] = np.nan_to_num(gained[own]) / shared[own]
    if grown is None:
        return Costs(costs)
    sizes = np.where(errors.wrong, 0.0, np.nan)
    sizes[at] = np.nan_to_num(grown[own]) / shared[own]
    return Costs(costs, sizes)


_ACCURACY = bind_metric(MetricCall("accuracy"))


def is_costed(score_of: BoundMetric) -> bool:
    """Return whether errors have their costs in a score: one of shares, not a count, a time or a price."""
    return score_of.metric.unit in HIGHEST


class _Errors(Struct, frozen=True, eq=False, dict=True):
    """The errors of a batch, numbered: the document of each, its first row, and the error of each row."""

    evidence: BatchEvidence
    table: DocumentTable
    wrong: Masks
    """The rows that are wrong values, and objects and lists of another kind of JSON."""
    is_charged: Masks
    """Those of them that share the cost of their error."""
    lack: Floats
    """What each row lacks to a right value, from 0 to 1; 0 for rows of structure."""
    item: Ints
    """The row of the item that a row is in; -1: none."""
    unit: Ints
    """The error that each row is mended with; -1: none."""
    docs: Ints
    rows: Ints
    is_answer: Masks
    """Which errors are whole answers."""

    def portions(self) -> Iterator[Ints]:
        """Yield the errors, some at a time, by the rows of their documents."""
        sizes = self.by_document[2][self.docs]
        number = (np.cumsum(sizes) - 1) // MOST_ROWS
        for at in np.split(np.arange(len(self.docs)), np.flatnonzero(np.diff(number)) + 1):
            if len(at):
                yield at

    def mend(self, units: Ints) -> tuple[BatchEvidence, DocumentTable]:
        """Return the document of each of these errors as it is without the error."""
        evidence, (order, first, counts) = self.evidence, self.by_document
        sizes = counts[self.docs[units]]
        start = np.cumsum(sizes) - sizes
        doc = np.repeat(np.arange(len(units)), sizes)
        at = order[np.arange(len(doc)) - start[doc] + first[self.docs[units]][doc]]
        is_mended, is_whole = self.unit[at] == units[doc], evidence.kind[self.rows[units]] != Kind.VALUE
        one = _mend_rows(evidence, at, is_mended, (self.is_answer[units] | is_whole)[doc])
        is_extra = is_whole & (evidence.outcome[self.rows[units]] == Outcome.SPURIOUS)
        one.outcome[is_mended & (is_extra & ~self.is_answer[units])[doc]] = _GONE
        self._mend_items(one, units, start)
        _empty_lists(one, doc)
        kept = one.outcome != _GONE
        numbers = {name: values[self.docs[units]] for name, values in self.table.numbers.items()}
        is_answer = self.is_answer[units]
        claims = {
            name: values[self.docs[units]] & ~is_answer | ((name == "has_prediction") & is_answer)
            for name, values in self.table.claims.items()
        }
        names = tuple(map(str, units.tolist()))
        columns = ("field", "kind", "outcome", "score", "weight", "critical", "flags", "reason", "confidence")
        chosen = {name: getattr(one, name)[kept] for name in columns}
        extras = {name: values[kept] for name, values in one.extras.items()}
        mended = replace(one, documents=names, doc=doc[kept].astype(np.int32), extras=extras, **chosen)
        return mended, DocumentTable(names, numbers, claims, {})

    @cached_property
    def by_document(self) -> tuple[Ints, Ints, Ints]:
        """Return the rows by document, and where those of each begin, and how many they are."""
        counts = np.bincount(self.evidence.doc, minlength=len(self.evidence.documents))
        return np.argsort(self.evidence.doc, kind="stable"), np.cumsum(counts) - counts, counts

    @cached_property
    def place(self) -> Ints:
        """Return the place of each row among those of its document."""
        order, first, counts = self.by_document
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order)) - np.repeat(first, counts)
        return place

    @cached_property
    def lacked(self) -> Floats:
        """Return what the values of each error lack together."""
        lacked = np.bincount(self.unit[self.wrong], self.lack[self.wrong], minlength=len(self.docs))
        return lacked.astype(np.float64)

    @cached_property
    def lacked_of_items(self) -> Floats:
        """Return what the values of each item lack together, by its row."""
        whole = np.zeros(len(self.lack))
        above = self.item.copy()
        while (above >= 0).any():
            inside = above >= 0
            whole += np.bincount(above[inside], self.lack[inside], minlength=len(whole))
            above[inside] = self.item[above[inside]]
        return whole

    def _mend_items(self, one: BatchEvidence, units: Ints, start: Ints) -> None:
        """Make the items that an error is in worth more by what the error lacked of all that they lack."""
        above = np.where(self.is_answer[units], -1, self.item[self.rows[units]])
        while (above >= 0).any():
            inside = np.flatnonzero(above >= 0)
            items = above[inside]
            whole = np.maximum(self.lacked_of_items[items], 1e-300)
            share = np.minimum(self.lacked[units[inside]] / whole, 1.0)
            rows = start[inside] + self.place[items]
            one.score[rows] += (1.0 - one.score[rows]) * share
            alike = np.where(self._is_whole(self.rows[units[inside]], items), 1.0, share)
            for values in one.extras.values():
                values[rows] += (1.0 - values[rows]) * alike
            one.outcome[rows[share > 1.0 - 1e-12]] = Outcome.MATCH
            above[inside] = self.item[items]

    def _is_whole(self, rows: Ints, items: Ints) -> Masks:
        """Return where a value is all that its item lacks: a field of its own, in items that are products."""
        evidence = self.evidence
        pairs = np.stack([evidence.field[rows], evidence.field[items]])
        chosen, place = np.unique(pairs, axis=1, return_inverse=True)
        fields = [(evidence.fields[inner], evidence.fields[outer]) for inner, outer in chosen.T]
        found = [
            outer.is_product and inner.kind == Kind.VALUE and "[]" not in inner.path[len(outer.path) :]
            for inner, outer in fields
        ]
        return np.array(found, bool)[place.ravel()]


def _mend_leaves(errors: _Errors) -> Floats:
    """Return what the accuracy of its document gains without each error, from the values alone."""
    evidence, count = errors.evidence, len(errors.docs)
    is_leaf = (evidence.kind == Kind.VALUE) & (evidence.outcome <= Outcome.SPURIOUS)
    doc = evidence.doc[is_leaf]
    leaves = np.bincount(doc, minlength=len(evidence.documents))
    score = np.bincount(doc, evidence.score[is_leaf], minlength=len(evidence.documents))
    is_extra = is_leaf & (evidence.outcome == Outcome.SPURIOUS) & (errors.unit >= 0)
    extra = np.bincount(errors.unit[is_extra], minlength=count)
    left, right = leaves[errors.docs] - extra, score[errors.docs] + errors.lacked - extra
    mended = np.divide(right, left, out=np.ones(count), where=left > 0)
    gained: Floats = mended - score[errors.docs] / np.maximum(leaves[errors.docs], 1)
    return gained


def _mend_score(errors: _Errors, score_of: BoundMetric) -> tuple[Floats, Floats | None]:
    """Return what the score of its document gains without each error, as a share of the highest score.

    The second array, of a score that pools documents, is by which share the weight of its document grows.
    """
    sign, highest = (-1.0 if score_of.metric.better == "lower" else 1.0), highest_value(score_of) or 1.0
    columns, pooled = DocumentColumns(errors.evidence, errors.table), pooled_divisor(score_of.recipe)
    before = columns.evaluate(score_of.recipe)[errors.docs]
    gained, grown = np.zeros(len(errors.docs)), np.zeros(len(errors.docs))
    for units in errors.portions():
        mended_columns = DocumentColumns(*errors.mend(units))
        mended = mended_columns.evaluate(score_of.recipe)
        without = highest - before[units] if sign > 0 else before[units]
        gained[units] = np.where(np.isnan(mended), without, sign * (mended - before[units])) / highest
        if pooled is not None:
            grown[units] = mended_columns.per_document(pooled)
    if pooled is None:
        return gained, None
    size = columns.per_document(pooled)[errors.docs]
    grown = np.divide(grown, size, out=np.ones(len(size)), where=size > 0)
    return gained, grown - 1.0


_GONE = -1
"""The outcome of rows that are not there once an error is mended."""


def _mend_rows(evidence: BatchEvidence, at: Ints, is_mended: Masks, is_whole: Masks) -> BatchEvidence:
    """Return the rows at these positions, the mended ones right: what only the prediction has is gone.

    `is_whole` marks those that go with all that is around them; a value by itself leaves an empty field.
    """
    outcome, score = evidence.outcome[at].astype(np.int8), evidence.score[at].copy()
    is_item = np.array([is_item_path(info.path) for info in evidence.fields], bool)[evidence.field[at]]
    is_extra = is_mended & (outcome == Outcome.SPURIOUS)
    is_right = is_mended & (outcome < Outcome.SPURIOUS)
    outcome[is_right] = Outcome.MATCH
    score[is_right & (evidence.kind[at] <= Kind.ITEM) & ~np.isnan(score)] = 1.0
    outcome[is_extra] = np.where((is_whole | is_item)[is_extra], _GONE, int(Outcome.ABSENT))
    flags = np.where(is_mended, evidence.flags[at] & _CLEARED, evidence.flags[at])
    extras = {}
    for name, values in evidence.extras.items():
        has_column = np.isin(evidence.field[at], evidence.rated[name])
        extras[name] = np.where(is_right & has_column, 1.0, np.where(is_extra, np.nan, values[at]))
    others = ("field", "kind", "weight", "critical", "reason", "confidence")
    columns = {name: getattr(evidence, name)[at] for name in others}
    return replace(evidence, outcome=outcome, score=score, flags=flags, extras=extras, **columns)


def _empty_lists(one: BatchEvidence, doc: Ints) -> None:
    """Make the lists that gold lacks absent where nothing is left in them."""
    for field, info in enumerate(one.fields):
        is_list = (one.field == field) & (one.kind == Kind.LIST) & (one.outcome == Outcome.SPURIOUS)
        if is_list.any() and not is_item_path(info.path):
            inside = [own.path.startswith(f"{info.path}[]") for own in one.fields]
            left = doc[np.array(inside)[one.field] & (one.outcome != _GONE) & (one.kind <= Kind.ITEM)]
            one.outcome[is_list & ~np.isin(doc, left)] = Outcome.ABSENT


def _find_errors(evidence: BatchEvidence, table: DocumentTable) -> _Errors:
    lack = np.where(evidence.outcome > Outcome.SPURIOUS, 0.0, 1.0 - np.nan_to_num(evidence.score))
    lack = np.where(evidence.kind == Kind.VALUE, lack, 0.0)
    rows = np.arange(len(evidence))
    item = np.full(len(rows), -1) if evidence.items is None else evidence.items().astype(np.int64)
    is_lone = (evidence.kind == Kind.ITEM) & np.isin(evidence.outcome, (Outcome.MISSING, Outcome.SPURIOUS))
    top = np.where((lack > 0) | is_lone, rows, -1)
    above = np.where(evidence.kind == Kind.ITEM, rows, item)
    while (above >= 0).any():
        top = np.where((above >= 0) & is_lone[above], above, top)
        above = np.where(above >= 0, item[above], -1)
    is_other_kind = (evidence.kind != Kind.VALUE) & ((evidence.flags & FLAG["wrong_kind"]) != 0) & (top < 0)
    for field in np.unique(evidence.field[is_other_kind]):
        containers = np.flatnonzero(is_other_kind & (evidence.field == field))
        _join_values(evidence, item, lack > 0, containers, top)
    wrong = (lack > 0) | is_other_kind
    has_failed = _has_failed(evidence, table)[evidence.doc]
    of_container = is_other_kind | ((lack > 0) & ~is_other_kind[np.maximum(top, 0)])
    is_charged = np.where(has_failed, lack > 0, of_container)
    top = np.where(has_failed, len(rows) + evidence.doc, top)
    chosen, unit = np.unique(top, return_inverse=True)
    unit -= np.count_nonzero(chosen < 0)
    chosen = chosen[chosen >= 0]
    is_answer = chosen >= len(rows)
    first = np.where(is_answer, 0, chosen)
    docs = np.where(is_answer, chosen - len(rows), evidence.doc[first])
    return _Errors(evidence, table, wrong, is_charged, lack, item, unit, docs, first, is_answer)


def _join_values(evidence: BatchEvidence, item: Ints, wrong: Masks, containers: Ints, top: Ints) -> None:
    """Make these rows of one field, objects or lists of another kind, the errors of the values in them."""
    path, is_item = (
        evidence.fields[evidence.field[containers[0]]].path,
        evidence.kind[containers[0]] == Kind.ITEM,
    )
    inside = np.array([is_within(info.path, path) for info in evidence.fields], bool)[evidence.field]
    at, size = np.flatnonzero(inside & wrong), len(evidence) + 1
    keys = evidence.doc[containers] * size + (containers if is_item else item[containers])
    order = np.argsort(keys)
    top[containers] = containers
    above = item[at]
    while len(at):
        wanted = evidence.doc[at] * size + above
        place = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
        is_in = keys[order][place] == wanted
        top[at[is_in]] = containers[order[place[is_in]]]
        at, above = at[above >= 0], item[above[above >= 0]]


def _has_failed(evidence: BatchEvidence, table: DocumentTable) -> Masks:
    """Return which documents have no answer, an unreadable one, or one that failed without a record."""
    claims = table.claims
    is_pred = np.isin(evidence.outcome, (Outcome.MATCH, Outcome.PARTIAL, Outcome.MISMATCH, Outcome.SPURIOUS))
    is_empty = np.bincount(evidence.doc[is_pred], minlength=len(evidence.documents)) == 0
    has_failed: Masks = ~claims["has_prediction"] | claims["is_invalid"]
    has_failed |= (claims["has_error"] | claims["is_timeout"]) & is_empty
    return has_failed
