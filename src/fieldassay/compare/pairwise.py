"""Every system against a reference, and all against all: comparisons and rankings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from fieldassay.compare.permutation_test import Pair, PairedMatrix
from fieldassay.metrics.grammar import MetricCall
from fieldassay.metrics.selection import BoundMetric
from fieldassay.result.comparison import Comparison, Outcome, Place, RankedPair, Ranking
from fieldassay.result.comparisons_file import Comparisons
from fieldassay.result.pairing import PairedData
from fieldassay.stats.corrections import adjust_holm
from fieldassay.stats.intervals import FEW_DOCUMENTS, are_too_few, percentile_intervals
from fieldassay.stats.paired import count_wins, effect_size
from fieldassay.stats.signs import DRAWS

MOST_VALUES = 20
"""Slice keys with more values are not compared value by value."""

SliceKey = tuple[str, str] | None


def contest(data: PairedData, reference: str) -> Comparisons:
    """Return every other system compared with the reference, and, of more than two systems, a ranking by each metric.

    All documents come first, metric by metric, then the slices, by the first metric only. p values are adjusted over all that is tested on all
    documents, the pairs of the rankings included, and over the comparisons of each slice key.
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
    """Return the comparison of each pair in each metric, and, of more than two systems, a ranking by each metric of the whole.

    All of it is one family of tests, so that two systems have one p value in a metric, wherever it is shown.
    """
    made = list(_compare(arena, pairs, metrics))
    whole = [bound for bound in metrics if _is_whole(bound) and bound.call.field is None]
    is_ranked = len(pairs) > 1 and can_rank(len(arena.names), len(whole), arena.data.level)
    found = {bound: [one for one in made if _key(one) == (name_metric(bound), None, ())] for bound in whole}
    return decide_together(made, [rank(arena, bound, found[bound]) for bound in whole] if is_ranked else [])


def can_rank(systems: int, metrics: int, level: float) -> bool:
    """Return whether a ranking of so many systems by so many metrics can show any difference: whether the least p value, adjusted, is small enough.

    >>> can_rank(22, 2, 0.95), can_rank(23, 2, 0.95)
    (True, False)
    """
    return is_shown(math.comb(systems, 2) * metrics / (DRAWS + 1), level)


def remark_ranking(systems: int, metrics: int, level: float) -> tuple[str, ...]:
    """Return what is to be said of so many systems, by so many metrics, that no ranking of them could show a difference."""
    if systems < 3 or not metrics or can_rank(systems, metrics, level):
        return ()
    pairs = math.comb(systems, 2)
    return (
        f"{systems:,} systems are not ranked by {metrics} metrics: of {pairs * metrics:,} tests at once none could show a difference; "
        "compare by fewer metrics (--compare), or fewer systems",
    )


def compare_pairs(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each metric, on all documents or on those of the slice that the metric names; one family for Holm."""
    yield from decide(list(_compare(arena, pairs, metrics)))


def _compare(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Iterator[Comparison]:
    narrowed: dict[SliceKey, PairedMatrix] = {None: arena}
    for bound in metrics:
        key = bound.call.slice
        if key not in narrowed and key is not None:
            narrowed[key] = arena.narrow(slice_values(arena, key[0]).get(key[1], np.zeros(0, np.int64)))
        yield from (compare_one(narrowed[key], pair, bound, key) for pair in pairs)


def compare_slices(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric], key: str
) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each value of a slice key; one family for Holm."""
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
    """Return the positions of the documents of each value of a slice key; only of those values that have the same documents in every system."""
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
) -> Comparison:
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
        same = replace(made, difference=0.0, p=1.0, effect_size=0.0, method="identical", verdict="identical")
        return _with_interval(same, pair)
    tested = pair.test()
    there, here = pair.in_documents
    return _with_interval(
        replace(
            made,
            difference=second - first,
            p=tested.p,
            effect_size=effect_size(here - there),
            method=tested.method,
        ),
        pair,
    )


def name_metric(bound: BoundMetric) -> str:
    """Return the metric as it is written, without its field and its slice."""
    return str(MetricCall(bound.call.name, bound.call.parameters))


def _with_interval(made: Comparison, pair: Pair) -> Comparison:
    """Return the comparison with the interval of its difference and what could have been detected."""
    marks = ("few_documents",) if made.documents < FEW_DOCUMENTS and not pair.is_bounded else ()
    drawn = pair.replicates
    if drawn is None or made.difference is None:
        return replace(made, marks=marks)
    if made.verdict == "identical" and not pair.is_bounded:
        return replace(made, interval=(0.0, 0.0), marks=marks)
    known = drawn.low[~np.isnan(drawn.low)]
    dropped = len(drawn.low) - len(known)
    marks = (*marks, "few_replicates") if are_too_few(len(known), made.level) else marks
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    if len(known) < 2 or (not pair.is_bounded and np.ptp(known) <= 1e-9 * float(np.abs(known).max())):
        return replace(
            made, marks=marks
        )  # all documents show the same: nothing says how much others could differ
    found = percentile_intervals(np.stack([drawn.low, drawn.high]), made.level)
    interval = (min(float(found.low[0]), made.difference), max(float(found.high[1]), made.difference))
    return replace(made, interval=interval, detectable=pair.detectable, marks=marks)


def adjust(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p values of one family, adjusted for all of them together (Holm); None stays None. Nothing else adjusts p values of systems.

    >>> adjust([0.01, None, 0.04])
    [0.02, None, 0.04]
    """
    adjusted = iter(adjust_holm([p for p in p_values if p is not None]))
    return [None if p is None else next(adjusted) for p in p_values]


def decide(family: Sequence[Comparison]) -> list[Comparison]:
    """Return the comparisons with p values adjusted over all of them, and the verdicts that follow."""
    return [_decided(one, p) for one, p in zip(family, adjust([one.p for one in family]), strict=True)]


def decide_together(made: Sequence[Comparison], rankings: Sequence[Ranking]) -> Comparisons:
    """Return comparisons and rankings with p values adjusted over all of them, and the verdicts and places that follow.

    What is both a comparison and a pair of a ranking is one test.
    """
    tests = {
        (ranking.metric, None, (), frozenset(pair.systems)): pair.p_adjusted
        for ranking in rankings
        for pair in ranking.pairs
    }
    family: dict[tuple[Any, ...], float | None] = {
        **tests,
        **{(*_key(one), frozenset(one.systems)): one.p for one in made},
    }
    adjusted = dict(zip(family, adjust(list(family.values())), strict=True))
    decided = tuple(_decided(one, adjusted[(*_key(one), frozenset(one.systems))]) for one in made)
    return Comparisons(decided, tuple(_placed(ranking, adjusted) for ranking in rankings))


def _key(one: Comparison) -> tuple[str, str | None, tuple[tuple[str, str], ...]]:
    return one.metric, one.field, tuple(one.slice.items())


def _decided(one: Comparison, p_adjusted: float | None) -> Comparison:
    return replace(one, p_adjusted=p_adjusted, verdict=_judge(one, p_adjusted))


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


def rank(arena: PairedMatrix, bound: BoundMetric, made: Sequence[Comparison] = ()) -> Ranking:
    """Return all systems by a metric with the p value of each pair alone; the adjusted ones, and the places that follow, come with the family.

    The p values of the comparisons in `made` are taken from there.
    """
    view = arena.layout.view(bound)
    values = {name: arena.pair(name, name, view).values[0] for name in arena.names}
    sign = 1.0 if bound.metric.better == "higher" else -1.0
    ordered = sorted(arena.names, key=lambda name: (-sign * _or_worst(values[name], sign), name))
    names = list(combinations([name for name in ordered if values[name] is not None], 2))
    pairs = [arena.pair(worse, better, view) for better, worse in names]
    known = {frozenset(one.systems): one.p for one in made}
    ranked = []
    for systems, pair in zip(names, pairs, strict=True):
        p = known.get(frozenset(systems))
        ranked.append(RankedPair(systems, _difference(pair), _test(pair) if p is None else p))
    places = tuple(Place(name, values[name], 1, len(ordered)) for name in ordered)
    documents = max((compare_documents(pair) for pair in pairs), default=len(arena.documents))
    return Ranking(
        name_metric(bound),
        places,
        tuple(ranked),
        arena.data.level,
        documents,
        bound.metric.unit,
        bound.metric.better,
    )


def _test(pair: Pair) -> float:
    return pair.test().p if len(pair.differing) else 1.0


def _placed(ranking: Ranking, adjusted: Mapping[tuple[Any, ...], float | None]) -> Ranking:
    """Return the ranking with its adjusted p values, and the places that systems may really have."""
    of_pair = [adjusted[ranking.metric, None, (), frozenset(pair.systems)] for pair in ranking.pairs]
    pairs = tuple(
        replace(pair, p_adjusted=1.0 if p is None else p)
        for pair, p in zip(ranking.pairs, of_pair, strict=True)
    )
    shown = [one.systems for one in pairs if is_shown(one.p_adjusted, ranking.level) and one.difference != 0]
    count = len(ranking.places)
    places = tuple(
        replace(
            one,
            first=1 + sum(worse == one.system for _, worse in shown),
            last=count - sum(better == one.system for better, _ in shown),
        )
        for one in ranking.places
    )
    return replace(ranking, pairs=pairs, places=places)


def _or_worst(value: float | None, sign: float) -> float:
    return -math.inf * sign if value is None else value


def _difference(pair: Pair) -> float:
    first, second = pair.values
    return (second or 0.0) - (first or 0.0)


def compare_documents(pair: Pair) -> int:
    """Return the documents in which the metric is defined for one of the two systems at least."""
    return sum(count_wins(*pair.in_documents))
