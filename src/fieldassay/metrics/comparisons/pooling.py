"""Documents of several specs under one metric, and documents compared with degraded copies of themselves.

Both work on the statistics that runs keep of their documents: nothing is judged again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.metrics.catalogue.selection import BoundMetric
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.comparisons.pairwise import compare_pairs
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.comparison import Comparison
from fieldassay.metrics.result.estimation import EstimationPlan, estimate_slices
from fieldassay.metrics.result.pairing import DocumentStatistics, PairedData, list_parts
from fieldassay.metrics.result.slice_sums import SliceKey, SliceSums, UndrawnDocuments
from fieldassay.metrics.statistics.sums import Sum, join_fields, spread_rows

Rows = npt.NDArray[np.int64]


def pool(parts: Mapping[str, PairedData], metrics: Sequence[BoundMetric], key: str) -> PairedData:
    """Return the documents of several runs as those of one; `key` is the slice by the name of their run.

    Only what the metrics need is kept. Ids must differ between runs; a system that some run lacks has the
    documents of the others.
    """
    systems: dict[str, list[DocumentStatistics]] = {}
    for name, data in parts.items():
        for system in data.systems:
            named = {**system.groups, key: ((name,),) * len(system.documents)}
            systems.setdefault(system.system, []).append(replace(system, groups=named))
    first = next(iter(parts.values()))
    joined = tuple(_join(own, metrics) for own in systems.values())
    slices = tuple(dict.fromkeys([key, *(each for data in parts.values() for each in data.slices)]))
    return PairedData(tuple(metrics), joined, slices, first.replicates, first.seed, first.level)


def _join(parts: Sequence[DocumentStatistics], metrics: Sequence[BoundMetric]) -> DocumentStatistics:
    documents = [name for part in parts for name in part.documents]
    order = sorted(range(len(documents)), key=documents.__getitem__)
    statistics = {}
    for statistic in dict.fromkeys(one for bound in metrics for one in list_parts(bound.recipe)):
        held = [
            part.statistics.get(statistic, Sum((), np.zeros((0, len(part.documents)), np.int64)))
            for part in parts
        ]
        fields = reduce(join_fields, (one.fields for one in held))
        rows = np.concatenate([spread_rows(fields, one) for one in held], axis=1)
        statistics[statistic] = Sum(fields, rows[:, order])
    groups = {}
    for key in dict.fromkeys(key for part in parts for key in part.groups):
        found = [names for part in parts for names in part.groups.get(key, ((),) * len(part.documents))]
        groups[key] = tuple(found[at] for at in order)
    return DocumentStatistics(
        parts[0].system, tuple(documents[at] for at in order), statistics, groups, parts[0].repeats
    )


def estimate_pooled(data: PairedData, keys: Sequence[str]) -> tuple[Estimate, ...]:
    """Return the metrics of every system over all documents and by the values of slice keys."""
    plan = EstimationPlan(data.metrics, keys, data.level, data.replicates, data.seed)
    found: list[Estimate] = []
    for system in data.systems:
        documents = UndrawnDocuments.hold(system.documents, data.seed, system.statistics)
        slices = {
            key: SliceSums({}, {}, len(rows), system.repeats, ((documents, rows),))
            for key, rows in _members(system, keys).items()
        }
        found += estimate_slices(system.system, plan, slices)
    return tuple(found)


def without_documents(data: PairedData, left_out: Collection[str]) -> PairedData:
    """Return the data without some documents."""
    systems = []
    for system in data.systems:
        rows = [at for at, name in enumerate(system.documents) if name not in left_out]
        groups = {key: tuple(names[row] for row in rows) for key, names in system.groups.items()}
        kept = _take(system, rows, system.system, tuple(system.documents[row] for row in rows))
        systems.append(replace(kept, groups=groups))
    return replace(data, systems=tuple(systems))


def _members(system: DocumentStatistics, keys: Sequence[str]) -> dict[SliceKey, Rows]:
    found: dict[SliceKey, Rows] = {None: np.arange(len(system.documents))}
    for key in keys:
        names = system.groups.get(key, ())
        for value in sorted({value for own in names for value in own}):
            found[(key, value)] = np.array([at for at, own in enumerate(names) if value in own], np.int64)
    return found


def compare_twins(data: PairedData, twins: Mapping[str, tuple[str, str]]) -> tuple[Comparison, ...]:
    """Return what each degradation costs each system: its degraded documents against the clean ones.

    `twins` names for a degraded document the clean one, and the degradation. Documents are paired, and p
    values adjusted over the comparisons of one degradation. The second system of a comparison is
    `SYSTEM/DEGRADATION`.
    """
    found: list[Comparison] = []
    for how in dict.fromkeys(how for _, how in twins.values()):
        pairs: list[tuple[str, str]] = []
        sides: list[DocumentStatistics] = []
        for system in data.systems:
            at = {name: row for row, name in enumerate(system.documents)}
            own = [
                (clean, name)
                for name, (clean, way) in twins.items()
                if way == how and {clean, name} <= at.keys()
            ]
            if not own:
                continue
            own.sort()
            clean = tuple(name for name, _ in own)
            pairs.append((system.system, f"{system.system}/{how}"))
            sides += [
                _take(system, [at[name] for name, _ in own], pairs[-1][0], clean),
                _take(system, [at[name] for _, name in own], pairs[-1][1], clean),
            ]
        if pairs:
            arena = PairedMatrix.open(replace(data, systems=tuple(sides), slices=()))
            made = compare_pairs(arena, pairs, data.metrics)
            found += [replace(one, slice={"degradation": how}) for one in made]
    return tuple(found)


def _take(
    system: DocumentStatistics, rows: Sequence[int], name: str, documents: tuple[str, ...]
) -> DocumentStatistics:
    statistics = {
        statistic: Sum(total.fields, total.values[:, list(rows)])
        for statistic, total in system.statistics.items()
    }
    return DocumentStatistics(name, documents, statistics, {}, system.repeats)
