"""The systems of several runs as those of one: same documents, and the statistics for a comparison."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric
from fieldassay.metrics.result.documents import DocumentStatistics, PairedData, list_parts
from fieldassay.metrics.statistics.statistics import Statistic, Sum


class Contestant(Struct, frozen=True, eq=False):
    """One system of one run: its label in the comparison, its own name, and its run's paired data."""

    label: str
    system: str
    data: PairedData

    @property
    def statistics(self) -> DocumentStatistics:
        """Return the system's own statistics."""
        return next(one for one in self.data.systems if one.system == self.system)

    @property
    def documents(self) -> tuple[str, ...]:
        """Return the ids of the documents, sorted."""
        return self.statistics.documents


def join_data(contestants: Sequence[Contestant], documents: Collection[str] | None = None) -> PairedData:
    """Return the contestants as the systems of one comparison, the rest as in the first one's run.

    `documents` are those to keep, all without it. Metrics and slices are those that every run compared, with
    everything kept. Raises ValueError if two labels are the same.
    """
    if len({one.label for one in contestants}) < len(contestants):
        raise ValueError("two contestants have the same label")
    first = contestants[0].data
    systems = tuple(replace(_restrict(one.statistics, documents), system=one.label) for one in contestants)
    slices = tuple(key for key in first.slices if all(key in one.data.slices for one in contestants))
    joined = PairedData(
        (), systems, slices, first.replicates, first.seed, first.level, first.vocabulary, first.correction
    )
    calls = [{bound.call for bound in one.data.metrics} for one in contestants]
    shared = (bound for bound in first.metrics if all(bound.call in known for known in calls))
    return replace(joined, metrics=tuple(bound for bound in shared if joined.can_compare(bound)))


def _restrict(system: DocumentStatistics, documents: Collection[str] | None) -> DocumentStatistics:
    """Return a system's statistics of some of its documents."""
    if documents is None:
        return system
    wanted = frozenset(documents)
    rows = np.array([at for at, name in enumerate(system.documents) if name in wanted], np.int64)
    at = rows.tolist()
    return replace(
        system,
        documents=tuple(system.documents[row] for row in at),
        gold=None if system.gold is None else system.gold[rows],
        statistics={
            statistic: Sum(total.fields, total.values[:, rows])
            for statistic, total in system.statistics.items()
        },
        groups={key: tuple(names[row] for row in at) for key, names in system.groups.items()},
    )


def keep_needed(data: PairedData, metrics: Sequence[BoundMetric]) -> PairedData:
    """Return the data with only the statistics that the metrics need, so that no others are resampled."""
    needed: set[Statistic] = {statistic for bound in metrics for statistic in list_parts(bound.recipe)}
    kept = [
        replace(
            one,
            statistics={
                statistic: total for statistic, total in one.statistics.items() if statistic in needed
            },
        )
        for one in data.systems
    ]
    return replace(data, systems=tuple(kept))
