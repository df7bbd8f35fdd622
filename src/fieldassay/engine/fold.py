"""Evidence -> sums of statistics -> estimates; sums of batches add in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.engine.bootstrap import draw_sums
from fieldassay.evidence import DocumentTable, Evidence
from fieldassay.metrics.columns import DocumentColumns
from fieldassay.metrics.definitions import CATALOGUE, Vocabulary
from fieldassay.metrics.grammar import MetricCall, parse_metric
from fieldassay.metrics.recipes import list_needs
from fieldassay.metrics.selection import BoundMetric, bind_metric
from fieldassay.metrics.statistics import Statistic
from fieldassay.metrics.sums import Sum
from fieldassay.result.documents import DocumentValues, frame_documents, value_documents
from fieldassay.result.estimate import Estimate
from fieldassay.result.estimation import EstimationPlan, SliceSums, estimate_slices
from fieldassay.result.pairing import DocumentStatistics, PairedData, join_statistics, list_kept

if TYPE_CHECKING:
    import polars as pl

SliceKey: TypeAlias = tuple[str, str] | None
"""A slice key and its value; None is all documents."""


@dataclass(frozen=True)
class FoldPlan:
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

    def __reduce__(self) -> tuple[type[FoldPlan], tuple[Any, ...]]:
        """Return the arguments for another process, which binds the recipes again."""
        return (type(self), tuple(getattr(self, part.name) for part in fields(self)))

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
        return tuple(
            dict.fromkeys(statistic for bound in self.bound for statistic in list_needs(bound.recipe).drawn)
        )

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


@dataclass(frozen=True, slots=True, eq=False)
class Partial:
    """The sums of some documents of one system by slice (`None`: all), and their per-document values.

    The per-document values are listed batch by batch.
    """

    system: str
    slices: Mapping[SliceKey, SliceSums]
    documents: tuple[DocumentValues, ...]


def fold(plan: FoldPlan, evidence: Evidence, documents: DocumentTable) -> Partial:
    """Return the sums of one batch of one system.

    `documents` lists the same documents as `evidence`, in the same order.
    """
    if documents.documents != evidence.documents:
        raise ValueError("the document table and the evidence list different documents")
    columns = DocumentColumns(evidence, documents)
    values = value_documents(plan.bound, plan.score_of if plan.score else None, columns, plan.kept)
    members = _find_members(plan.slice_keys, documents)
    drawn = _sum_columns(columns, plan.drawn, list(members.values()), plan)
    plain = _sum_columns(columns, plan.plain, list(members.values()), None)
    slices = {
        key: SliceSums(totals | others, values.numbers_at(rows, plan.numbers), len(rows))
        for (key, rows), totals, others in zip(members.items(), drawn, plain, strict=True)
    }
    return Partial(evidence.system, slices, (values,))


def _find_members(keys: Sequence[str], table: DocumentTable) -> dict[SliceKey, npt.NDArray[np.int64]]:
    """Return the positions of the documents of each slice.

    A document with several values (tags) is in each of their slices.
    """
    members: dict[SliceKey, list[int]] = {}
    for key in keys:
        for position, names in enumerate(table.groups.get(key, ())):
            for name in dict.fromkeys(names):
                members.setdefault((key, name), []).append(position)
    everything: dict[SliceKey, npt.NDArray[np.int64]] = {None: np.arange(len(table.documents))}
    return everything | {key: np.array(rows, np.int64) for key, rows in members.items()}


def _sum_columns(
    columns: DocumentColumns,
    statistics: Sequence[Statistic],
    subsets: Sequence[npt.NDArray[np.int64]],
    plan: FoldPlan | None,
) -> list[dict[Statistic, Sum]]:
    """Return the sums of the statistics over each subset of the documents.

    With a plan, bootstrap sums are included.
    """
    documents = columns.evidence.documents
    parts = [columns.values(statistic) for statistic in statistics]
    stacked = np.concatenate(parts) if parts else np.zeros((0, len(documents)), np.int64)
    totals = [
        stacked.sum(axis=1, keepdims=True)
        if len(rows) == len(documents)
        else stacked[:, rows].sum(axis=1, keepdims=True)
        for rows in subsets
    ]
    if plan is not None and plan.replicates:
        drawn = draw_sums(stacked, documents, plan.seed, plan.replicates, subsets)
        totals = [np.concatenate([total, draws], axis=1) for total, draws in zip(totals, drawn, strict=True)]
    ends = np.cumsum([len(part) for part in parts])
    named = [columns.fields(statistic) for statistic in statistics]
    return [
        {
            statistic: Sum(names, total[end - len(names) : end])
            for statistic, names, end in zip(statistics, named, ends, strict=True)
        }
        for total in totals
    ]


def merge(partials: Iterable[Partial]) -> Partial:
    """Return the sums of all partials of one system.

    Sums are exact, so that estimates are independent of order and partition.
    """
    return reduce(_merge_two, partials)


def _merge_two(first: Partial, second: Partial) -> Partial:
    if first.system != second.system:
        raise ValueError(f"cannot merge the sums of two systems: {first.system!r} and {second.system!r}")
    slices = dict(first.slices)
    for key, sums in second.slices.items():
        slices[key] = slices[key].merge(sums) if key in slices else sums
    return Partial(first.system, slices, first.documents + second.documents)


def estimates(plan: FoldPlan, partial: Partial) -> tuple[Estimate, ...]:
    """Return the estimates of every metric of the plan.

    All documents come first, then slice by slice; fields follow the whole.
    """
    wanted = EstimationPlan(plan.bound, plan.slices, plan.level, plan.replicates, plan.seed)
    return estimate_slices(partial.system, wanted, partial.slices)


def documents_frame(partials: Iterable[Partial]) -> pl.DataFrame:
    """Return one row per system and document, sorted by both: score, chosen metrics, claims and groups."""
    return frame_documents([(partial.system, values) for partial in partials for values in partial.documents])


def pair_systems(plan: FoldPlan, partials: Iterable[Partial]) -> PairedData:
    """Return the kept statistics of all documents of the systems, for paired comparisons."""
    systems: list[DocumentStatistics] = [
        join_statistics(partial.system, partial.documents) for partial in partials
    ]
    return PairedData(
        plan.compared_bound,
        tuple(systems),
        plan.slices,
        plan.replicates,
        plan.seed,
        plan.level,
        plan.vocabulary,
    )
