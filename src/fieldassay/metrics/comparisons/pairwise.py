"""Every system against a reference, and all against all: comparisons and rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.catalogue.selection import BoundMetric
from fieldassay.metrics.comparisons.families import RankedPairs, Tested, decide, decide_together, is_shown
from fieldassay.metrics.comparisons.pair import Floats, Pair, PairedMatrix, View
from fieldassay.metrics.result.comparison import Comparison, Place, RankedPair, Ranking
from fieldassay.metrics.result.comparisons_file import Comparisons
from fieldassay.metrics.result.pairing import PairedData
from fieldassay.metrics.statistics.recipes import Total
from fieldassay.metrics.uncertainty.intervals import FEW_DOCUMENTS
from fieldassay.metrics.uncertainty.paired import effect_size
from fieldassay.metrics.uncertainty.signs import DRAWS

MOST_VALUES = 20
"""Slice keys with more values are not compared value by value."""

SliceKey = tuple[str, str] | None


def contest(data: PairedData, reference: str) -> Comparisons:
    """Return every other system compared with the reference, and a ranking by each metric of three or more.

    All documents come first, metric by metric, then the slices, by the first metric only. p values are
    adjusted over all tests on all documents, the pairs of the rankings included, and over the comparisons of
    each slice key.
    """
    pairs = [(reference, system.system) for system in data.systems if system.system != reference]
    arena = PairedMatrix.open(data)
    made = compare_all(arena, pairs, data.metrics)
    by_slice: list[Comparison] = []
    for key in data.slices:
        if len(slice_values(arena, key)) <= MOST_VALUES:
            by_slice += compare_slices(arena, pairs, data.metrics[:1], key)
    return replace(made, comparisons=(*made.comparisons, *by_slice))


def compare_all(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Comparisons:
    """Return the comparison of each pair in each metric, and a ranking of three or more by overall metric.

    All of it is one family of tests, so that two systems have one p value in a metric, wherever it is shown.
    """
    made = list(_compare(arena, pairs, metrics))
    whole = [bound for bound in metrics if _is_whole(bound) and bound.call.field is None]
    is_ranked = len(pairs) > 1 and can_rank(
        len(arena.names), len(whole), arena.data.level, arena.data.correction
    )
    return decide_together(made, rank_all(arena, whole) if is_ranked else [])


def can_rank(systems: int, metrics: int, level: float, correction: str = "min_p") -> bool:
    """Return whether a ranking of so many systems by so many metrics can show any difference.

    It can if the least p value, adjusted, is small enough.

    >>> can_rank(32, 2, 0.95), can_rank(33, 2, 0.95), can_rank(23, 2, 0.95, "holm")
    (True, False, False)
    """
    return is_shown(_count_ranked(systems, metrics, correction) / (DRAWS + 1), level)


def _count_ranked(systems: int, metrics: int, correction: str) -> int:
    """Return the least number of tests that a ranking counts for: a pair's metrics may all agree."""
    return math.comb(systems, 2) * (metrics if correction == "holm" else 1)


def remark_ranking(data: PairedData, metrics: int) -> tuple[str, ...]:
    """Return a remark if no ranking of so many systems by so many metrics could show a difference."""
    systems = len(data.systems)
    if systems < 3 or not metrics or can_rank(systems, metrics, data.level, data.correction):
        return ()
    return (
        f"{systems:,} systems are not ranked: of {_count_ranked(systems, metrics, data.correction):,} "
        "tests at once none could show a difference; "
        f"compare fewer systems{', or by fewer metrics (--compare)' if data.correction == 'holm' else ''}",
    )


def compare_pairs(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each metric, on all documents or the metric's slice: a family."""
    yield from decide(list(_compare(arena, pairs, metrics)))


def _compare(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Iterator[Tested]:
    narrowed: dict[SliceKey, PairedMatrix] = {None: arena}
    for bound in metrics:
        key = bound.call.slice
        if key not in narrowed and key is not None:
            narrowed[key] = arena.narrow(slice_values(arena, key[0]).get(key[1], np.zeros(0, np.int64)))
        yield from (compare_one(narrowed[key], pair, bound, key) for pair in pairs)


def compare_slices(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric], key: str
) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each value of a slice key: one family."""
    made = []
    for value, rows in slice_values(arena, key).items():
        narrow = arena.narrow(rows)
        made += [
            compare_one(narrow, pair, bound, (key, value))
            for bound in metrics
            if _is_whole(bound)
            for pair in pairs
        ]
    yield from decide(made)


def slice_values(arena: PairedMatrix, key: str) -> Mapping[str, npt.NDArray[np.int64]]:
    """Return the documents of each value of a slice key, for values with the same ones in every system."""
    found = [_members(system.groups.get(key, ())) for system in arena.data.systems]
    return {
        value: np.array(rows, np.int64)
        for value, rows in sorted(found[0].items())
        if all(one.get(value) == rows for one in found)
    }


def _members(groups: Sequence[tuple[str, ...]]) -> dict[str, list[int]]:
    members: dict[str, list[int]] = {}
    for at, names in enumerate(groups):
        for name in dict.fromkeys(names):
            members.setdefault(name, []).append(at)
    return members


def _is_whole(bound: BoundMetric) -> bool:
    return bound.call.slice is None


def compare_one(
    arena: PairedMatrix, systems: tuple[str, str], bound: BoundMetric, key: SliceKey = None
) -> Tested:
    """Return the second system compared with the first on the arena's documents, not yet adjusted."""
    pair = arena.pair(*systems, arena.layout.view(bound))
    first, second = pair.values
    wins = pair.wins
    is_higher_better = bound.metric.better == "higher"
    made = Comparison(
        metric=name_metric(bound),
        field=bound.call.field,
        slice={} if key is None else {key[0]: key[1]},
        systems=systems,
        values=pair.values,
        difference=None,
        interval=None,
        level=arena.data.level,
        p=None,
        p_adjusted=None,
        effect_size=None,
        wins=wins.higher if is_higher_better else wins.lower,
        losses=wins.lower if is_higher_better else wins.higher,
        ties=wins.ties,
        documents=sum(wins),
        method="none",
        verdict="undefined",
        unit=bound.metric.unit,
        better=bound.metric.better,
    )
    if first is None or second is None:
        return Tested(made, pair)
    is_same, (there, here) = not len(pair.differing), pair.in_documents
    tested = replace(
        made,
        difference=second - first,
        p=pair.test.p,
        effect_size=0.0 if is_same else effect_size(here - there),
        method=pair.test.method,
        verdict="identical" if is_same else "no_difference_shown",
    )
    return Tested(tested, pair)


def name_metric(bound: BoundMetric) -> str:
    """Return the metric as it is written, without its field and its slice."""
    return str(MetricCall(bound.call.name, bound.call.parameters))


def rank_all(arena: PairedMatrix, metrics: Sequence[BoundMetric]) -> list[RankedPairs]:
    """Return the rankings by each overall metric, with the value of each first system on new documents."""
    ranked = [rank(arena, bound) for bound in metrics]
    views = [arena.layout.view(bound) for bound in metrics]
    able = [can_be_redrawn(arena, view) for view in views]
    if not any(able):
        return ranked
    drawn = [view for view, is_able in zip(views, able, strict=True) if is_able]
    rows = np.unique(np.concatenate([view.rows for view in drawn]))
    seen = [(view, np.searchsorted(rows, view.rows)) for view in drawn]

    def evaluate(*, is_left_out: bool) -> Iterator[Floats]:
        """Yield each metric in every replicate, systems x replicates."""
        portions = [
            [np.stack([view.evaluate(sums[at]) for sums in portion]) for view, at in seen]
            for portion in arena.counted(rows, is_left_out=is_left_out)
        ]
        return (np.concatenate(values, axis=1) for values in zip(*portions, strict=True))

    valued = zip(evaluate(is_left_out=False), evaluate(is_left_out=True), strict=True)
    return [
        one._replace(found=value_first(one.found, *next(valued), arena.names)) if is_able else one
        for one, is_able in zip(ranked, able, strict=True)
    ]


def rank(arena: PairedMatrix, bound: BoundMetric) -> RankedPairs:
    """Return all systems by a metric; the family adds adjusted p and places.

    Its pairs are those with values on the documents that both have measured.
    """
    view = arena.layout.view(bound)
    values = {name: arena.pair(name, name, view).values[0] for name in arena.names}
    sign = 1.0 if bound.metric.better == "higher" else -1.0
    ordered = sorted(arena.names, key=lambda name: (-sign * _or_worst(values[name], sign), name))
    found = {names: arena.pair(names[1], names[0], view) for names in combinations(ordered, 2)}
    known = {names: pair for names, pair in found.items() if None not in pair.values}
    made = Ranking(
        name_metric(bound),
        tuple(Place(name, values[name], 1, len(ordered)) for name in ordered),
        tuple(RankedPair(systems, _difference(pair), 1.0) for systems, pair in known.items()),
        arena.data.level,
        max((pair.documents for pair in known.values()), default=len(arena.documents)),
        bound.metric.unit,
        bound.metric.better,
    )
    return RankedPairs(made, tuple(known.values()))


def _or_worst(value: float | None, sign: float) -> float:
    return -math.inf * sign if value is None else value


def _difference(pair: Pair) -> float:
    first, second = pair.values
    return (second or 0.0) - (first or 0.0)


def can_be_redrawn(arena: PairedMatrix, view: View) -> bool:
    """Return whether replicates can choose a first by a metric: a mean or a ratio, of enough documents."""
    is_total = view.bound.metric.unit == "count" or isinstance(view.bound.recipe, Total)
    return bool(arena.data.replicates) and not is_total and len(arena.documents) >= FEW_DOCUMENTS


def value_first(ranking: Ranking, drawn: Floats, new: Floats, names: Sequence[str]) -> Ranking:
    """Return the ranking with each system's chance to be first, and the value of the first on new documents.

    Each bootstrap replicate chooses the first by the documents drawn, and evaluates it on those left out,
    which are independent of the choice. `drawn` and `new` are the metric of both, systems x replicates.
    """
    sign = 1.0 if ranking.better == "higher" else -1.0
    chances = share_first(sign * drawn)
    values = np.where(chances > 0, chances * new, 0.0).sum(axis=0)
    known = values[~np.isnan(values) & (chances.sum(axis=0) > 0)]
    if not len(known):
        return ranking
    of_system = dict(zip(names, chances.mean(axis=1).tolist(), strict=True))
    places = tuple(replace(one, chance_first=of_system[one.system]) for one in ranking.places)
    return replace(ranking, places=places, on_new_documents=float(known.mean()))


def share_first(values: Floats) -> Floats:
    """Return the highest of each column (systems x replicates), ties in equal shares; 0 if none is defined.

    >>> share_first(np.array([[0.5, 0.9, np.nan], [0.5, 0.8, np.nan]])).tolist()
    [[0.5, 1.0, 0.0], [0.5, 0.0, 0.0]]
    """
    known = np.where(np.isnan(values), -np.inf, values)
    highest = known.max(axis=0)
    is_first = (known >= highest - 1e-9 * np.abs(highest)) & np.isfinite(highest)
    found: Floats = is_first / np.maximum(is_first.sum(axis=0), 1)
    return found
