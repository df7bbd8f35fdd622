"""Evidence to sums of statistics to estimates, batch by batch, and what each wrong value costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import CATALOGUE, BoundMetric, Vocabulary, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.estimate import HIGHEST, Correction, Estimate
from fieldassay.metrics.evidence import FLAG, BatchEvidence, DocumentTable, Kind, Outcome, name_families
from fieldassay.metrics.repeats import (
    FlakyValue,
    RepeatedColumns,
    Votes,
    counts_documents,
    list_repeat_metrics,
    rank_flaky,
)
from fieldassay.metrics.result.documents import (
    DocumentStatistics,
    DocumentValues,
    PairedData,
    join_small,
    join_statistics,
    list_kept,
    value_documents,
)
from fieldassay.metrics.result.estimation import (
    EstimationPlan,
    SliceKey,
    SliceSums,
    UndrawnDocuments,
    estimate_slices,
    highest_value,
    list_members,
    settle_slices,
)
from fieldassay.metrics.statistics.columns import DocumentColumns, Floats, Packed
from fieldassay.metrics.statistics.statistics import InAnyRun, Statistic, Sum, list_needs, pooled_divisor
from fieldassay.paths import is_item_path, is_within


class FoldPlan(Struct, frozen=True, dict=True):
    """The computation: metrics, slice keys, and the drawing of intervals (0 replicates: none).

    With `keeps_statistics` the per-document values hold every statistic too, as needed for paired tests.
    """

    metrics: tuple[MetricCall, ...]
    slices: tuple[str, ...] = ()
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    keeps_statistics: bool = False
    vocabulary: Vocabulary = CATALOGUE
    score: str | None = None
    """The metric for the document's `score`; None: the document accuracy."""
    compared: tuple[MetricCall, ...] = ()
    """The metrics for comparing systems, whose statistics are kept document by document."""
    also_kept: tuple[MetricCall, ...] = ()
    """Further metrics with kept statistics: as they are, and field by field."""
    correction: Correction = "min_p"
    """How p values of comparisons are adjusted."""
    cluster: str | None = None
    """The key of the families of documents, which are drawn as a whole; None: each document by itself."""

    @cached_property
    def bound(self) -> tuple[BoundMetric, ...]:
        """Return the metrics with their recipes.

        Raises ValueError for a metric that the catalogue does not have.
        """
        return tuple(bind_metric(call, self.vocabulary) for call in self.metrics)

    @cached_property
    def compared_bound(self) -> tuple[BoundMetric, ...]:
        """Return the metrics for comparing systems, with their recipes."""
        return tuple(bind_metric(call, self.vocabulary) for call in self.compared)

    @cached_property
    def kept_statistics(self) -> Mapping[Statistic, bool]:
        """Return the statistics kept document by document, and whether they are kept field by field."""
        if self.keeps_statistics:
            return dict.fromkeys((*self.resampled, *self.plain), True)
        also = tuple(bind_metric(call, self.vocabulary) for call in self.also_kept)
        return list_kept(
            (*self.compared_bound, *also), tuple(bound for bound in also if bound.metric.scope != "overall")
        )

    @cached_property
    def score_of(self) -> BoundMetric:
        """Return the metric for the document's score."""
        return bind_metric(parse_metric(self.score or "accuracy"), self.vocabulary)

    @cached_property
    def resampled(self) -> tuple[Statistic, ...]:
        """Return the statistics that need bootstrap sums."""
        needs = [list_needs(bound.recipe) for bound in self.bound]
        sizes = [need.sizes for need in needs if self.cluster is not None]
        return tuple(dict.fromkeys(chain.from_iterable((*(need.resampled for need in needs), *sizes))))

    @cached_property
    def plain(self) -> tuple[Statistic, ...]:
        """Return the statistics that need only their sums."""
        needed = dict.fromkeys(
            statistic for bound in self.bound for statistic in list_needs(bound.recipe).plain
        )
        resampled = set(self.resampled)
        return tuple(statistic for statistic in needed if statistic not in resampled)

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Return the document numbers needed for quantiles."""
        return tuple(dict.fromkeys(name for bound in self.bound for name in list_needs(bound.recipe).numbers))

    def of_repeats(self, runs: int) -> FoldPlan:
        """Return the plan for a system with so many runs of each document, with the metrics of runs."""
        if runs == 1:
            return self
        if runs not in self._by_runs:
            more = list_repeat_metrics(runs)
            self._by_runs[runs] = replace(self, metrics=tuple(dict.fromkeys((*self.metrics, *more))))
        return self._by_runs[runs]

    @cached_property
    def _by_runs(self) -> dict[int, FoldPlan]:
        return {}

    @cached_property
    def slice_keys(self) -> tuple[str, ...]:
        """Return the slice keys requested by the plan or by a metric."""
        return tuple(
            dict.fromkeys(
                [
                    *self.slices,
                    *(call.slice[0] for call in (*self.metrics, *self.compared) if call.slice is not None),
                ]
            )
        )


class Partial(Struct, frozen=True, eq=False):
    """The sums of some documents of one system by slice (`None`: all), and their per-document values.

    The per-document values are listed batch by batch. Of a system with repeated runs they are the sums over
    its runs, and `flaky` are the values that vary most.
    """

    system: str
    slices: Mapping[SliceKey, SliceSums]
    documents: tuple[DocumentValues, ...]
    repeats: int = 1
    flaky: tuple[FlakyValue, ...] = ()
    replicates: int = 0

    def without_sums(self) -> tuple[DocumentValues, ...]:
        """Return the per-document values without statistics, enough for the table of documents."""
        return tuple(replace(values, statistics=Packed({})) for values in self.documents)


def fold(plan: FoldPlan, evidence: BatchEvidence, documents: DocumentTable) -> Partial:
    """Return the sums of one batch of one system.

    `documents` lists the same documents as `evidence`, in the same order.
    """
    if documents.documents != evidence.documents:
        raise ValueError("the document table and the evidence list different documents")
    columns = DocumentColumns(evidence, documents)
    values = value_documents(plan.bound, plan.score_of if plan.score else None, columns, plan.kept_statistics)
    return _fold(plan, columns, [values.numbers], values)


def fold_repeats(
    plan: FoldPlan, system: str, runs: Sequence[tuple[BatchEvidence, DocumentTable]], votes: Votes
) -> Partial:
    """Return the sums of one batch of a system over its repeated runs; the document stays the unit.

    All runs list the same documents, in the same order.
    """
    whole = plan.of_repeats(len(runs))
    parts = [DocumentColumns(evidence, table) for evidence, table in runs]
    columns = RepeatedColumns.join(parts, votes.values)
    score_of = whole.score_of if whole.score else None
    values = value_documents(whole.bound, score_of, columns, whole.kept_statistics)
    singles = [{name: run.number(name) for name in values.numbers} for run in parts]
    folded = _fold(whole, columns, singles, values)
    return replace(folded, system=system, repeats=len(runs), flaky=rank_flaky(votes.flaky, len(runs)))


def _fold(
    plan: FoldPlan, columns: DocumentColumns, numbered: Sequence[Mapping[str, Floats]], values: DocumentValues
) -> Partial:
    """Return the sums of a batch; `numbered` has the numbers of each run."""
    table = columns.table
    everything: dict[SliceKey, npt.NDArray[np.int64]] = {None: np.arange(len(table.documents))}
    members = everything | list_members(table.groups, plan.slice_keys)
    every = list(members.values())
    families = name_families(table.documents, table.groups.get(plan.cluster or ""))
    once = tuple(
        InAnyRun(statistic) for statistic in (*plan.resampled, *plan.plain) if counts_documents(statistic)
    )
    plain = _hold_documents(columns, (*plan.plain, *(once if len(numbered) > 1 else ())), families, plan.seed)
    resampled = _hold_documents(columns, plan.resampled, families, plan.seed)
    slices = {
        key: SliceSums(
            sums,
            _join_numbers(numbered, rows, plan.numbers),
            len(rows),
            len(numbered),
            ((resampled, rows),),
            {} if plan.cluster is None else resampled.list_families(rows),
            {} if plan.cluster is None else _own_numbers(numbered, rows, plan.numbers, resampled.keys),
        )
        for (key, rows), sums in zip(members.items(), plain.sum_each(every, 0), strict=True)
    }
    return Partial(
        columns.evidence.system, settle_slices(slices, plan.replicates), (values,), replicates=plan.replicates
    )


def _join_numbers(
    numbered: Sequence[Mapping[str, Floats]], rows: npt.NDArray[np.int64], names: Sequence[str]
) -> dict[str, tuple[Floats, ...]]:
    """Return the known numbers of the documents at these positions, one part for each run."""
    parts = {name: [numbers[name][rows] for numbers in numbered] for name in names}
    return {name: tuple(values[~np.isnan(values)] for values in runs) for name, runs in parts.items()}


def _own_numbers(
    numbered: Sequence[Mapping[str, Floats]],
    rows: npt.NDArray[np.int64],
    names: Sequence[str],
    keys: npt.NDArray[np.uint64],
) -> dict[str, tuple[npt.NDArray[np.uint64], ...]]:
    """Return the keys of the documents of the known numbers, in the same parts."""
    return {name: tuple(keys[rows][~np.isnan(numbers[name][rows])] for numbers in numbered) for name in names}


def _hold_documents(
    columns: DocumentColumns, statistics: Sequence[Statistic], families: Sequence[str], seed: int
) -> UndrawnDocuments:
    sums = {statistic: Sum(columns.fields(statistic), columns.values(statistic)) for statistic in statistics}
    return UndrawnDocuments.hold(families, seed, sums)


def merge(first: Partial, second: Partial) -> Partial:
    """Return the sums of two partials of one system.

    Sums are exact, so that estimates are independent of order and partition.
    """
    if first.system != second.system:
        raise ValueError(f"cannot merge the sums of two systems: {first.system!r} and {second.system!r}")
    slices = dict(first.slices)
    for key, sums in second.slices.items():
        slices[key] = slices[key].merge(sums) if key in slices else sums
    if first.repeats != second.repeats:
        raise ValueError(f"{first.system!r} has {first.repeats} runs here and {second.repeats} there")
    flaky = rank_flaky(first.flaky + second.flaky, first.repeats) if second.flaky else first.flaky
    settled = settle_slices(slices, first.replicates)
    documents = join_small(first.documents + second.documents)
    return replace(first, slices=settled, documents=documents, flaky=flaky)


def estimates(plan: FoldPlan, partial: Partial) -> tuple[Estimate, ...]:
    """Return the estimates of every metric of the plan.

    All documents come first, then slice by slice; fields follow the whole.
    """
    metrics = plan.of_repeats(partial.repeats).bound
    wanted = EstimationPlan(metrics, plan.slices, plan.level, plan.replicates, plan.seed)
    return estimate_slices(partial.system, wanted, partial.slices)


def pair_systems(plan: FoldPlan, partials: Iterable[Partial]) -> PairedData:
    """Return the kept statistics of all documents of the systems, for paired comparisons."""
    systems: list[DocumentStatistics] = [
        replace(join_statistics(partial.system, partial.documents), repeats=partial.repeats)
        for partial in partials
    ]
    return PairedData(
        plan.compared_bound,
        tuple(systems),
        plan.slices,
        plan.replicates,
        plan.seed,
        plan.level,
        plan.vocabulary,
        plan.correction,
        plan.cluster,
    )


Ints = npt.NDArray[np.int64]
Masks = npt.NDArray[np.bool_]

MOST_ROWS = 1 << 18
"""So many rows of documents without an error are evaluated at a time."""


class Costs(Struct, frozen=True, eq=False):
    """What the rows of a batch cost, as shares of the highest score of a document; NaN: no wrong value.

    `sizes`, of a score that pools documents, are by which share the document's weight grows without the row's
    part of its error; None: it does not, and `of_cause` and `of_field` are parts of what the errors of a
    field cost together in a document: those of one outcome, and all of them.
    """

    shares: Floats
    sizes: Floats | None = None
    of_cause: Floats | None = None
    of_field: Floats | None = None


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
    if score_of is not None and (not is_costed(score_of) or score_of.recipe == _ACCURACY.recipe):
        score_of = None
    gained, grown = _mend(errors, score_of, np.arange(len(errors.docs)))
    shared = np.maximum(np.bincount(errors.unit[errors.is_charged], minlength=len(gained)), 1)
    at = np.flatnonzero(errors.is_charged)
    own = errors.unit[at]

    def by_row(values: Floats) -> Floats:
        costs = np.where(errors.wrong, 0.0, np.nan)
        costs[at] = np.nan_to_num(values[own]) / shared[own]
        return costs

    if grown is not None:
        return Costs(by_row(gained), by_row(grown))
    field = np.where(errors.is_answer, 0, evidence.field[errors.rows] + 1)
    place = errors.docs * (len(evidence.fields) + 1) + field
    cause = place * len(Outcome) + evidence.outcome[errors.rows]
    joined = (by_row(_join(errors, gained, score_of, keys)) for keys in (cause, place))
    return Costs(by_row(gained), None, *joined)


def _join(errors: _Errors, gained: Floats, score_of: BoundMetric | None, keys: Ints) -> Floats:
    """Return what errors cost, as parts of what those with the same key cost together."""
    _, group, counts = np.unique(keys, return_inverse=True, return_counts=True)
    is_several = (counts > 1)[group]
    if not is_several.any():
        return gained
    copies = np.where(is_several, (np.cumsum(counts > 1) - 1)[group], -1)
    own, alone = copies[is_several], np.nan_to_num(gained[is_several])
    sums = np.bincount(own, alone)[own]
    part = np.where(np.abs(sums) > 1e-12, alone / np.where(sums == 0, 1.0, sums), 1 / np.bincount(own)[own])
    together = gained.copy()
    together[is_several] = _mend(errors, score_of, copies)[0][own] * part
    return together


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

    def portions(self, copies: Ints) -> Iterator[Ints]:
        """Yield the numbers of copies of documents, some at a time, by their rows."""
        sizes = self.by_document[2][self.docs_of(copies)]
        number = (np.cumsum(sizes) - 1) // MOST_ROWS
        for at in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(number)) + 1):
            if len(at):
                yield at

    def docs_of(self, copies: Ints) -> Ints:
        """Return the document of each copy; `copies` has the copy in which each error is mended, -1: none."""
        docs = np.zeros(copies.max(initial=-1) + 1, np.int64)
        docs[copies[copies >= 0]] = self.docs[copies >= 0]
        return docs

    def mend(self, at: Ints, copies: Ints) -> tuple[BatchEvidence, DocumentTable]:
        """Return these copies of documents, each as it is without its errors."""
        evidence, (order, first, counts) = self.evidence, self.by_document
        docs, units = self.docs_of(copies)[at], np.flatnonzero((copies >= at[0]) & (copies <= at[-1]))
        sizes = counts[docs]
        start = np.cumsum(sizes) - sizes
        doc = np.repeat(np.arange(len(at)), sizes)
        rows = order[np.arange(len(doc)) - start[doc] + first[docs][doc]]
        unit = self.unit[rows]
        is_mended, is_whole = (unit >= 0) & (copies[unit] == at[doc]), evidence.kind[self.rows] != Kind.VALUE
        batch = _mend_rows(evidence, rows, is_mended, (self.is_answer | is_whole)[unit])
        is_extra = is_whole & (evidence.outcome[self.rows] == Outcome.SPURIOUS) & ~self.is_answer
        batch.outcome[is_mended & is_extra[unit]] = _GONE
        self._mend_items(batch, units, start[copies[units] - at[0]])
        _empty_lists(batch, doc)
        is_left = batch.outcome != _GONE
        numbers = {name: values[docs] for name, values in self.table.numbers.items()}
        is_answer = np.isin(at, copies[self.is_answer])
        claims = {
            name: values[docs] & ~is_answer | ((name == "has_prediction") & is_answer)
            for name, values in self.table.claims.items()
        }
        names = tuple(map(str, at.tolist()))
        columns = ("field", "kind", "outcome", "score", "weight", "critical", "flags", "reason", "confidence")
        chosen = {name: getattr(batch, name)[is_left] for name in columns}
        extras = {name: values[is_left] for name, values in batch.extras.items()}
        mended = replace(batch, documents=names, doc=doc[is_left].astype(np.int32), extras=extras, **chosen)
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

    def _mend_items(self, batch: BatchEvidence, units: Ints, start: Ints) -> None:
        """Make the items that an error is in worth more by what the error lacked of all that they lack."""
        above = np.where(self.is_answer[units], -1, self.item[self.rows[units]])
        while (above >= 0).any():
            inside = np.flatnonzero(above >= 0)
            items = above[inside]
            lacked = self.lacked[units[inside]] / np.maximum(self.lacked_of_items[items], 1e-300)
            rows, place = np.unique(start[inside] + self.place[items], return_inverse=True)
            alike = np.where(self._is_whole(self.rows[units[inside]], items), 1.0, lacked)
            share, alike = (np.minimum(np.bincount(place, part), 1.0) for part in (lacked, alike))
            batch.score[rows] += (1.0 - batch.score[rows]) * share
            for values in batch.extras.values():
                values[rows] += (1.0 - values[rows]) * alike
            batch.outcome[rows[share > 1.0 - 1e-12]] = Outcome.MATCH
            above[inside] = self.item[items]

    def _is_whole(self, rows: Ints, items: Ints) -> Masks:
        """Return where a value is all that its item lacks: a field of its own, in items that are products."""
        evidence = self.evidence
        pairs = np.stack([evidence.field[rows], evidence.field[items]])
        chosen, place = np.unique(pairs, axis=1, return_inverse=True)
        fields = [(evidence.fields[inner], evidence.fields[outer]) for inner, outer in chosen.T]
        is_whole = [
            outer.is_product and inner.kind == Kind.VALUE and "[]" not in inner.path[len(outer.path) :]
            for inner, outer in fields
        ]
        return np.array(is_whole, bool)[place.ravel()]


def _mend_leaves(errors: _Errors, copies: Ints) -> Floats:
    """Return what the accuracy of its document gains in each copy, from the values alone."""
    evidence, docs, chosen = errors.evidence, errors.docs_of(copies), copies >= 0
    is_leaf = (evidence.kind == Kind.VALUE) & (evidence.outcome <= Outcome.SPURIOUS)
    doc = evidence.doc[is_leaf]
    leaves = np.bincount(doc, minlength=len(evidence.documents))
    score = np.bincount(doc, evidence.score[is_leaf], minlength=len(evidence.documents))
    is_extra = is_leaf & (evidence.outcome == Outcome.SPURIOUS) & (errors.unit >= 0)
    extra = np.bincount(errors.unit[is_extra], minlength=len(copies))
    extra, lacked = (
        np.bincount(copies[chosen], values[chosen], minlength=len(docs)) for values in (extra, errors.lacked)
    )
    left, right = leaves[docs] - extra, score[docs] + lacked - extra
    mended = np.divide(right, left, out=np.ones(len(docs)), where=left > 0)
    gained: Floats = mended - score[docs] / np.maximum(leaves[docs], 1)
    return gained


def _mend(errors: _Errors, score_of: BoundMetric | None, copies: Ints) -> tuple[Floats, Floats | None]:
    """Return what the score of its document gains in each copy, as a share of the highest score.

    The second array, of a score that pools documents, is by which share the weight of its document grows.
    """
    if score_of is None:
        return _mend_leaves(errors, copies), None
    sign, highest = (-1.0 if score_of.metric.better == "lower" else 1.0), highest_value(score_of) or 1.0
    columns, pooled = DocumentColumns(errors.evidence, errors.table), pooled_divisor(score_of.recipe)
    docs = errors.docs_of(copies)
    before = columns.evaluate(score_of.recipe)[docs]
    gained, grown = np.zeros(len(docs)), np.zeros(len(docs))
    for at in errors.portions(copies):
        mended_columns = DocumentColumns(*errors.mend(at, copies))
        mended = mended_columns.evaluate(score_of.recipe)
        without = highest - before[at] if sign > 0 else before[at]
        gained[at] = np.where(np.isnan(mended), without, sign * (mended - before[at])) / highest
        if pooled is not None:
            grown[at] = mended_columns.per_document(pooled)
    if pooled is None:
        return gained, None
    size = columns.per_document(pooled)[docs]
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


def _empty_lists(batch: BatchEvidence, doc: Ints) -> None:
    """Make the lists that gold lacks absent where nothing is left in them."""
    for field, info in enumerate(batch.fields):
        is_list = (batch.field == field) & (batch.kind == Kind.LIST) & (batch.outcome == Outcome.SPURIOUS)
        if is_list.any() and not is_item_path(info.path):
            inside = [own.path.startswith(f"{info.path}[]") for own in batch.fields]
            left = doc[np.array(inside)[batch.field] & (batch.outcome != _GONE) & (batch.kind <= Kind.ITEM)]
            batch.outcome[is_list & ~np.isin(doc, left)] = Outcome.ABSENT


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
