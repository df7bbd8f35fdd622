"""The comparisons that a diff shows: overall, field by field, by the values of slices, and rankings."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.catalogue.selection import BoundMetric, bind_metric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import (
    MOST_VALUES,
    compare_all,
    compare_pairs,
    compare_slices,
    remark_ranking,
    slice_values,
)
from fieldassay.metrics.result.comparison import Comparison, Ranking
from fieldassay.metrics.result.pairing import PairedData, list_parts

FIELD_METRICS = ("field_accuracy", "field_accuracy_strict", "recall")
"""The metrics for comparing fields: the first of these that the runs kept."""


class Contest(Struct, frozen=True):
    """All comparisons of a diff, and the remarks on omitted ones."""

    overall: tuple[Comparison, ...]
    by_field: tuple[Comparison, ...]
    by_slice: tuple[Comparison, ...]
    rankings: tuple[Ranking, ...]
    notes: tuple[str, ...] = ()


def compare_systems(
    data: PairedData, reference: str, metrics: Sequence[BoundMetric], keys: Sequence[str]
) -> Contest:
    """Return the comparisons of all other systems with the reference, overall and by slice.

    Overall by all of the metrics, within the values of each slice key by the first of them. Of two systems
    each field is compared too; more are ranked. p values are adjusted over all of the first kind and
    the ranked pairs, over the fields, and over the values of each key.
    """
    names = [system.system for system in data.systems]
    pairs = [(reference, name) for name in names if name != reference]
    arena = PairedMatrix.open(data)
    fields = list_field_metrics(data) if len(pairs) == 1 else ()
    whole = [bound for bound in metrics if bound.call.slice is None]
    overall = compare_all(arena, pairs, metrics)
    notes = list(remark_ranking(data, sum(bound.call.field is None for bound in whole)))
    by_slice: list[Comparison] = []
    for key in keys:
        values = slice_values(arena, key)
        notes += _remark_values(data, key, values)
        if len(values) <= MOST_VALUES:
            by_slice += compare_slices(arena, pairs, whole[:1], key)
    return Contest(
        overall=overall.comparisons,
        by_field=tuple(compare_pairs(arena, pairs, fields)),
        by_slice=tuple(by_slice),
        rankings=overall.rankings,
        notes=tuple(notes),
    )


def _remark_values(data: PairedData, key: str, values: Collection[str]) -> list[str]:
    """Return the remarks on values of a slice key that are not compared.

    They are too many, or not of the same documents in all systems.
    """
    if len(values) > MOST_VALUES:
        return [
            f"the slice {key!r} has {len(values):,} values; systems are compared within the values of at "
            f"most {MOST_VALUES}"
        ]
    known = {value for system in data.systems for names in system.groups.get(key, ()) for value in names}
    left = len(known) - len(values)
    return (
        [f"the slice {key!r} has {left:,} more values, which not all systems have for the same documents"]
        if left
        else []
    )


def list_field_metrics(data: PairedData) -> tuple[BoundMetric, ...]:
    """Return the metric for comparing each field, in the order of the fields; () if none was kept."""
    for name in FIELD_METRICS:
        if name in data.vocabulary.own:
            continue
        probe = bind_metric(MetricCall(name, field=""), data.vocabulary)
        if data.can_compare(probe):
            fields = dict.fromkeys(
                field
                for system in data.systems
                for part in list_parts(probe.recipe)
                for field in system.statistics[part].fields
                if field
            )
            return tuple(bind_metric(MetricCall(name, field=field), data.vocabulary) for field in fields)
    return ()
