"""Every system against a reference, and all against all: comparisons and rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from fieldassay.engine.exchange import Arena, Pair
from fieldassay.metrics.grammar import MetricCall
from fieldassay.metrics.selection import BoundMetric
from fieldassay.result.comparison import Comparison, Outcome, Place, RankedPair, Ranking
from fieldassay.result.comparisons_file import Comparisons
from fieldassay.result.estimation import highest_value
from fieldassay.result.pairing import PairedData
from fieldassay.stats.corrections import adjust_holm
from fieldassay.stats.intervals import FEW_DIFFERENCES, FEW_DOCUMENTS, are_too_few, percentile_intervals, same_difference_interval
from fieldassay.stats.paired import adjust_max_t, count_wins, effect_size
from fieldassay.stats.power import minimum_detectable_effect

MOST_VALUES = 20
"""Slice keys with more values are not compared value by value."""

MOST_RANKED = 50
"""More systems are not ranked: the pairs would be too many to say anything of."""

SliceKey = tuple[str, str] | None


def contest(data: PairedData, reference: str) -> Comparisons:
    """Return every other system compared with the reference, and, of more than two systems, a ranking by each metric.

    All documents come first, metric by metric, then the slices, by the first metric only. Holm's adjustment is made over the comparisons of all
    documents, and over those of each slice key.
    """
    others = [system.system for system in data.systems if system.system != reference]
    pairs = [(reference, other) for other in others]
    arena = Arena.open(data)
    made = list(compare_pairs(arena, pairs, data.metrics))
    rankings = tuple(rank(arena, bound) for bound in data.metrics if _is_whole(bound)) if 1 < len(others) < MOST_RANKED else ()
    for key in data.slices:
        if len(slice_values(arena, key)) <= MOST_VALUES:
            made += compare_slices(arena, pairs, data.metrics[:1], key)
    return Comparisons(tuple(made), rankings)


def compare_pairs(arena: Arena, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each metric, on all documents or on those of the slice that the metric names; one family for Holm."""
    narrowed: dict[SliceKey, Arena] = {None: arena}
    made = []
    for bound in metrics:
        key = bound.call.slice
        if key not in narrowed and key is not None:
            narrowed[key] = arena.narrow(slice_values(arena, key[0]).get(key[1], np.zeros(0, np.int64)))
        made += [compare_one(narrowed[key], pair, bound, key) for pair in pairs]
    yield from decide(made)


def compare_slices(arena: Arena, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric], key: str) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each value of a slice key; one family for Holm."""
    made = []
    for value, rows in slice_values(arena, key).items():
        narrow = arena.narrow(rows)
        made += [compare_one(narrow, pair, bound, (key, value)) for bound in metrics if _is_whole(bound) for pair in pairs]
    yield from decide(made)


def slice_values(arena: Arena, key: str) -> Mapping[str, npt.NDArray[np.int64]]:
    """Return the positions of the documents of each value of a slice key; only of those values that have the same documents in every system."""
    found = [_members(system.groups.get(key, ())) for system in arena.data.systems]
    return {value: np.array(rows, np.int64) for value, rows in sorted(found[0].items()) if all(one.get(value) == rows for one in found)}


def _members(groups: Sequence[tuple[str, ...]]) -> dict[str, list[int]]:
    members: dict[str, list[int]] = {}
    for at, names in enumerate(groups):
        for name in dict.fromkeys(names):
            members.setdefault(name, []).append(at)
    return members


def _is_whole(bound: BoundMetric) -> bool:
    return bound.call.slice is None


def compare_one(arena: Arena, systems: tuple[str, str], bound: BoundMetric, key: SliceKey = None) -> Comparison:
    """Return the second system compared with the first on the arena's documents; its p value stands alone as yet, and there is no verdict."""
    pair = arena.pair(*systems, arena.layout.view(bound))
    first, second = pair.values
    wins = count_wins(*pair.in_documents, slack=pair.view.slack(first or 0.0, second or 0.0))
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
        return made
    if not len(pair.differing):
        interval = (0.0, 0.0) if arena.data.replicates else None
        same = replace(made, difference=0.0, interval=interval, p=1.0, effect_size=0.0, method="identical", verdict="identical")
        return replace(same, marks=_mark(made, pair))
    tested = pair.test()
    there, here = pair.in_documents
    return _with_interval(
        replace(made, difference=second - first, p=tested.p, effect_size=effect_size(here - there), method=tested.method), pair
    )


def name_metric(bound: BoundMetric) -> str:
    """Return the metric as it is written, without its field and its slice."""
    return str(MetricCall(bound.call.name, bound.call.parameters))


def _with_interval(made: Comparison, pair: Pair) -> Comparison:
    """Return the comparison with the interval of its difference and what could have been detected."""
    marks = _mark(made, pair)
    drawn = pair.replicates()
    if drawn is None:
        return replace(made, marks=marks)
    known = drawn[~np.isnan(drawn)]
    if len(known) < 2:
        return replace(made, marks=marks)
    found = percentile_intervals(drawn[None, :], made.level)
    dropped = int(found.dropped[0])
    marks = (*marks, "few_replicates") if are_too_few(len(known), made.level) else marks
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    if np.ptp(known) <= 1e-9 * float(np.abs(known).max()):
        return replace(made, interval=_bound_alike(made, pair), marks=(*marks, "no_width"))
    interval, spread = (float(found.low[0]), float(found.high[0])), float(known.std(ddof=1))
    return replace(made, interval=interval, detectable=minimum_detectable_effect(spread, made.level), marks=marks)


def _bound_alike(made: Comparison, pair: Pair) -> tuple[float, float] | None:
    """Return the interval of a difference that is the same in all documents; None for a metric without bounds."""
    highest = highest_value(pair.view.bound)
    if not highest or made.difference is None or not made.documents:
        return None
    low, high = same_difference_interval(made.difference, made.documents, made.level, highest)
    return (low, high)


def _mark(made: Comparison, pair: Pair) -> tuple[str, ...]:
    """Return why an interval from resampling would be too narrow: few documents, or few in which the systems differ at all."""
    few = ("few_documents",) if made.documents < FEW_DOCUMENTS else ()
    return (*few, "few_differences") if 0 < len(pair.differing) < FEW_DIFFERENCES else few


def decide(family: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with Holm's adjusted p values over all of them, and the verdicts that follow."""
    tested = [at for at, one in enumerate(family) if one.p is not None]
    adjusted = dict(zip(tested, adjust_holm([one.p for one in family if one.p is not None]), strict=True))
    return [replace(one, p_adjusted=adjusted.get(at), verdict=_judge(one, adjusted.get(at))) for at, one in enumerate(family)]


def _judge(one: Comparison, p_adjusted: float | None) -> Outcome:
    if p_adjusted is None or one.difference is None or one.verdict == "identical":
        return one.verdict
    if not is_shown(p_adjusted, one.level) or one.difference == 0:
        return "no_difference_shown"
    return "better" if (one.difference > 0) == (one.better == "higher") else "worse"


def is_shown(p_adjusted: float, level: float) -> bool:
    """Return whether a p value shows a difference at the level of confidence.

    >>> is_shown(0.05, 0.95), is_shown(0.051, 0.95)
    (True, False)
    """
    return p_adjusted <= 1.0 - level + 1e-12


def rank(arena: Arena, bound: BoundMetric) -> Ranking:
    """Return all systems by a metric, with the places they may really have: every pair tested, the largest difference against the largest."""
    view, level = arena.layout.view(bound), arena.data.level
    values = {name: arena.pair(name, name, view).values[0] for name in arena.names}
    sign = 1.0 if bound.metric.better == "higher" else -1.0
    ordered = sorted(arena.names, key=lambda name: (-sign * _or_worst(values[name], sign), name))
    known = [name for name in ordered if values[name] is not None]
    pairs = [arena.pair(worse, better, view) for better, worse in combinations(known, 2)]
    differences = [_difference(pair) for pair in pairs]
    adjusted = adjust_max_t(differences, (pair.exchanged() for pair in pairs))
    ranked = tuple(RankedPair(names, gap, p) for names, gap, p in zip(combinations(known, 2), differences, adjusted, strict=True))
    shown = [one.systems for one in ranked if is_shown(one.p_adjusted, level) and one.difference != 0]
    places = tuple(
        Place(name, values[name], 1 + sum(worse == name for _, worse in shown), len(ordered) - sum(better == name for better, _ in shown))
        for name in ordered
    )
    documents = max((compare_documents(pair) for pair in pairs), default=len(arena.documents))
    return Ranking(name_metric(bound), places, ranked, level, documents, bound.metric.unit, bound.metric.better)


def _or_worst(value: float | None, sign: float) -> float:
    return -math.inf * sign if value is None else value


def _difference(pair: Pair) -> float:
    first, second = pair.values
    return (second or 0.0) - (first or 0.0)


def compare_documents(pair: Pair) -> int:
    """Return the documents in which the metric is defined for one of the two systems at least."""
    return sum(count_wins(*pair.in_documents))
