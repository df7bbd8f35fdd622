"""Evidence -> sums of statistics -> estimates; sums of batches add in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import CATALOGUE, BoundMetric, Vocabulary, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall, parse_metric
from fieldassay.metrics.estimate import Correction, Estimate
from fieldassay.metrics.evidence import BatchEvidence, DocumentTable, name_families
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
    list_members,
    settle_slices,
)
from fieldassay.metrics.statistics.columns import DocumentColumns, Floats, Packed
from fieldassay.metrics.statistics.statistics import InAnyRun, Statistic, Sum, list_needs


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
    def kept(self) -> Mapping[Statistic, bool]:
        """Return the statistics kept document by document, and whether they are kept field by field."""
        if self.keeps_statistics:
            return dict.fromkeys((*self.drawn, *self.plain), True)
        also = tuple(bind_metric(call, self.vocabulary) for call in self.also_kept)
        return list_kept(
            (*self.compared_bound, *also), tuple(bound for bound in also if bound.metric.scope != "overall")
        )

    @cached_property
    def score_of(self) -> BoundMetric:
        """Return the metric for the document's score."""
        return bind_metric(parse_metric(self.score or "accuracy"), self.vocabulary)

    @cached_property
    def drawn(self) -> tuple[Statistic, ...]:
        """Return the statistics that need bootstrap sums."""
        needs = [list_needs(bound.recipe) for bound in self.bound]
        sizes = [one.sizes for one in needs if self.cluster is not None]
        return tuple(dict.fromkeys(chain.from_iterable((*(one.drawn for one in needs), *sizes))))

    @cached_property
    def plain(self) -> tuple[Statistic, ...]:
        """Return the statistics that need only their sums."""
        needed = dict.fromkeys(
            statistic for bound in self.bound for statistic in list_needs(bound.recipe).plain
        )
        drawn = set(self.drawn)
        return tuple(statistic for statistic in needed if statistic not in drawn)

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
    values = value_documents(plan.bound, plan.score_of if plan.score else None, columns, plan.kept)
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
    values = value_documents(whole.bound, score_of, columns, whole.kept)
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
    once = tuple(InAnyRun(one) for one in (*plan.drawn, *plan.plain) if counts_documents(one))
    plain = _hold_documents(columns, (*plan.plain, *(once if len(numbered) > 1 else ())), families, plan.seed)
    drawn = _hold_documents(columns, plan.drawn, families, plan.seed)
    slices = {
        key: SliceSums(
            sums,
            _join_numbers(numbered, rows, plan.numbers),
            len(rows),
            len(numbered),
            ((drawn, rows),),
            {} if plan.cluster is None else drawn.list_families(rows),
            {} if plan.cluster is None else _own_numbers(numbered, rows, plan.numbers, drawn.keys),
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
    held = {one: Sum(columns.fields(one), columns.values(one)) for one in statistics}
    return UndrawnDocuments.hold(families, seed, held)


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
