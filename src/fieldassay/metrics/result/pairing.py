"""The paired statistics that two systems are compared by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.catalogue.definitions import CATALOGUE, Vocabulary
from fieldassay.metrics.catalogue.selection import BoundMetric
from fieldassay.metrics.recorded import Correction
from fieldassay.metrics.result.documents import DocumentValues
from fieldassay.metrics.statistics.packing import PackedInts, PackedSum, PackedSums
from fieldassay.metrics.statistics.recipes import (
    Coalesce,
    Combined,
    Constant,
    FieldMean,
    Quantile,
    Ratio,
    Recipe,
    Threshold,
    list_field_means,
)
from fieldassay.metrics.statistics.statistics import RowSum, Statistic
from fieldassay.metrics.statistics.sums import Sum, join_fields

Ints = npt.NDArray[np.int64]


class DocumentStatistics(Struct, frozen=True, eq=False):
    """The documents of one system, sorted by id.

    `values` holds their statistics (fields x documents); their slices are by key.
    """

    system: str
    documents: tuple[str, ...]
    statistics: Mapping[Statistic, Sum]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    repeats: int = 1
    """The number of runs that the statistics of a document are the sum of."""
    gold: npt.NDArray[np.uint8] | None = None
    """The digests of the gold of the documents, a row each."""


class PairedData(Struct, frozen=True, eq=False):
    """The basis of comparisons within one run: metrics, statistics, and the settings of the draws."""

    metrics: tuple[BoundMetric, ...]
    systems: tuple[DocumentStatistics, ...]
    slices: tuple[str, ...] = ()
    replicates: int = 2000
    seed: int = 0
    level: float = 0.95
    vocabulary: Vocabulary = CATALOGUE
    correction: Correction = "min_p"
    """How p values of one family are adjusted: `min_p` (Westfall and Young) or `holm`."""

    def can_compare(self, bound: BoundMetric) -> bool:
        """Return whether all statistics of a metric were kept, by field for a metric of one field."""
        if not is_comparable(bound):
            return False
        is_by_field = bound.call.field is not None or bool(list_field_means(bound.recipe))
        return all(
            _is_kept(system, statistic, is_by_field)
            for system in self.systems
            for statistic in list_parts(bound.recipe)
        )


def _is_kept(system: DocumentStatistics, statistic: Statistic, is_by_field: bool) -> bool:
    total = system.statistics.get(statistic)
    return total is not None and not (is_by_field and isinstance(statistic, RowSum) and None in total.fields)


def is_comparable(bound: BoundMetric) -> bool:
    """Return whether a metric can be compared: made of sums, and of the whole or of one field.

    >>> from fieldassay.metrics.catalogue.grammar import parse_metric
    >>> from fieldassay.metrics.catalogue.selection import bind_metric
    >>> metrics = ("f1", "latency_p95", "field_accuracy", "field_accuracy[total]")
    >>> [is_comparable(bind_metric(parse_metric(text))) for text in metrics]
    [True, False, False, True]
    """
    is_placed = bound.metric.scope != "field" or bound.call.field is not None
    return is_placed and _is_sums(bound.recipe) and bool(list_parts(bound.recipe))


def _is_sums(recipe: Recipe) -> bool:
    if isinstance(recipe, Combined):
        return _is_sums(recipe.left) and _is_sums(recipe.right)
    if isinstance(recipe, Coalesce | Threshold):
        return _is_sums(recipe.recipe)
    return not isinstance(recipe, Quantile)


def list_parts(recipe: Recipe) -> tuple[Statistic, ...]:
    """Return the statistics in a recipe's value."""
    if isinstance(recipe, Constant | Quantile):
        return ()
    if isinstance(recipe, Combined):
        return list_parts(recipe.left) + list_parts(recipe.right)
    if isinstance(recipe, Coalesce | Threshold):
        return list_parts(recipe.recipe)
    if isinstance(recipe, FieldMean | Ratio):
        ratio = recipe.ratio if isinstance(recipe, FieldMean) else recipe
        counted = ratio.documents.statistics if ratio.documents is not None else ()
        return ratio.numerator.statistics + ratio.denominator.statistics + counted
    return recipe.total.statistics + recipe.population.statistics


def list_kept(metrics: Sequence[BoundMetric], by_field: Sequence[BoundMetric] = ()) -> dict[Statistic, bool]:
    """Return the statistics for comparing by the metrics, and whether each is needed by field.

    Those of `by_field` are.
    """
    kept: dict[Statistic, bool] = {
        statistic: True for bound in by_field for statistic in list_parts(bound.recipe)
    }
    for bound in metrics:
        is_by_field = bound.call.field is not None or bool(list_field_means(bound.recipe))
        for statistic in list_parts(bound.recipe):
            kept[statistic] = kept.get(statistic, False) or is_by_field
    return kept


def join_statistics(system: str, parts: Sequence[DocumentValues]) -> DocumentStatistics:
    """Return the kept statistics of all batches of a system as one, with the documents sorted by id."""
    documents = [name for part in parts for name in part.documents]
    order = np.array(sorted(range(len(documents)), key=documents.__getitem__), np.int64)
    statistics = {
        statistic: _join_sums([part.statistics.packed[statistic] for part in parts], order)
        for statistic in (parts[0].statistics if parts else ())
    }
    keys = dict.fromkeys(key for part in parts for key in part.groups)
    spread = {
        key: [names for part in parts for names in part.groups.get(key, ((),) * len(part.documents))]
        for key in keys
    }
    groups = {key: tuple(values[at] for at in order.tolist()) for key, values in spread.items()}
    return DocumentStatistics(
        system, tuple(documents[at] for at in order.tolist()), PackedSums(statistics), groups
    )


def _join_sums(parts: Sequence[PackedSum], order: Ints) -> PackedSum:
    """Return the sums of all parts, field by field, with the documents in that order."""
    fields = reduce(join_fields, (one.fields for one in parts))
    rows = (np.concatenate([one.row(name) for one in parts])[order] for name in fields)
    return PackedSum(fields, tuple(map(PackedInts.pack, rows)), len(order))
