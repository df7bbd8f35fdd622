"""Comparisons of two systems, metric by metric, corrected as a family."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import combinations, groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.metrics.catalogue.definitions import BoundMetric, Vocabulary, bind_metric
from fieldassay.metrics.catalogue.grammar import MetricCall
from fieldassay.metrics.comparisons.pair import Floats, Pair, PairedMatrix, View
from fieldassay.metrics.estimate import Correction
from fieldassay.metrics.result.documents import PairedData, list_parts
from fieldassay.metrics.result.estimation import list_members
from fieldassay.metrics.result.verdicts import (
    Comparison,
    Comparisons,
    Outcome,
    RankedPair,
    Ranking,
    RankPlace,
    excludes_zero,
)
from fieldassay.metrics.statistics.statistics import Total
from fieldassay.metrics.uncertainty.bootstrap import FEW_DOCUMENTS
from fieldassay.metrics.uncertainty.paired import (
    DRAWS,
    MOST_ENUMERATED,
    effect_size,
    group_columns,
    signed_sums,
    sums_of_halves,
)

# Families of comparisons: p values adjusted for all of them, and the resulting verdicts and places.


class Tested(NamedTuple):
    """A comparison whose p value stands alone as yet, and the pair of systems that it is about."""

    comparison: Comparison
    pair: Pair


class RankedPairs(NamedTuple):
    """A ranking whose places are open as yet, and its pairs of systems in the same order."""

    ranking: Ranking
    pairs: tuple[Pair, ...]


class Adjusted(NamedTuple):
    """The adjusted p value of a test in its family, and the p value at which it would be shown there."""

    p: float
    needed: float


def adjust(pairs: Sequence[Pair], correction: Correction = "min_p") -> list[Adjusted]:
    """Return the p values of one family, adjusted for each other; each pair has values in both systems.

    Metrics of the same two systems share their random halves, document by document, so that their p values
    have a joint distribution: the step-down min-P method. It says nothing about chance in a third system, so
    the adjusted p values of different pairs of systems are joined by Holm's method, which holds for any
    dependence; `holm` takes each test as a pair of its own. A pair without a differing document is no test.
    """
    alpha = 1.0 - pairs[0].arena.data.level if pairs else 0.0
    tested = [at for at, pair in enumerate(pairs) if len(pair.differing)]
    groups: dict[Hashable, list[int]] = {}
    for at in tested:
        groups.setdefault(at if correction == "holm" else _name_group(pairs[at]), []).append(at)
    unadjusted = {at: pairs[at].test.p for at in tested}
    p_values, draws = dict(unadjusted), dict[int, Floats]()
    for members in groups.values():
        if len(members) > 1:
            draws |= dict(zip(members, draw_p_values([pairs[at] for at in members]), strict=True))
            min_p_values = adjust_min_p([unadjusted[at] for at in members], [draws[at] for at in members])
            p_values |= dict(zip(members, min_p_values, strict=True))
    names = {at: name for name, members in groups.items() for at in members}
    joined = adjust_holm([p_values[at] for at in tested], [names[at] for at in tested])
    adjusted = dict(zip(tested, joined, strict=True))
    needed: dict[int, float] = {}
    left, open_groups = {name: list(members) for name, members in groups.items()}, len(groups)

    def place(at: int) -> tuple[float, float, float]:
        return adjusted[at], p_values[at], unadjusted[at]

    for (p_adjusted, _, p), tied in groupby(sorted(tested, key=place), key=place):
        step, is_decided, share = list(tied), is_shown(p_adjusted, 1.0 - alpha), alpha / open_groups
        for at in step:  # tests with one p value are of one step: none of them is decided before another
            limit = least_p_needed([draws[each] for each in left[names[at]]], share) if at in draws else share
            # the quantile of the draws rounds; what was decided says on which side of it the p value is
            needed[at] = max(limit, p) if is_decided else min(limit, p - 1e-8)
        for at in step if is_decided else ():
            left[names[at]].remove(at)
            open_groups -= not left[names[at]]
    return [Adjusted(adjusted.get(at, 1.0), needed.get(at, alpha)) for at in range(len(pairs))]


def draw_p_values(pairs: Sequence[Pair]) -> list[Floats]:
    """Return the p values that chance gives each of several tests, under the same random halves.

    The differences are taken to first order, so that a half and its complement differ by a sum over documents
    with random signs; its mid-p is its rank among all of them.
    """
    draws = []
    for pair in pairs:
        largest = float(np.abs(pair.linear).max(initial=0.0))
        whole = np.rint(pair.linear / (largest or 1.0) * 2.0**_FINE).astype(np.int64)
        names = [pair.arena.documents[at] for at in pair.differing.tolist()]
        parts, keys = group_columns(
            whole[None, pair.differing], names, pair.arena.data.seed, is_grouped=pair.arena.is_grouped
        )
        signed, slack = np.abs(signed_sums(parts, keys)[0]), len(names)
        reference = signed
        if len(names) <= MOST_ENUMERATED:
            own = whole[pair.differing]
            reference = np.abs(2 * sums_of_halves(own[None, :])[0] - own.sum())
        reference = np.sort(reference)
        least, most = (np.searchsorted(reference, signed + side * slack) for side in (-1, 1))
        draws.append(1.0 - (least + most) / (2.0 * len(reference)))
    return draws


_FINE = 22
"""Bits of a difference in the draws: coarser than the error of a derivative, so that ties stay ties."""


def _name_group(pair: Pair) -> tuple[Hashable, ...]:
    """Return the key of pairs that are exchanged together: the documents and signs, and both systems."""
    return id(pair.arena.data), frozenset((pair.first, pair.second))


def decide(family: Sequence[Tested], *, is_brief: bool = False) -> list[Comparison]:
    """Return the comparisons with p values adjusted over all of them, and the verdicts that follow."""
    return list(decide_together(family, (), is_brief=is_brief).comparisons)


def decide_together(
    tests: Sequence[Tested], rankings: Sequence[RankedPairs], *, is_brief: bool = False
) -> Comparisons:
    """Return comparisons and rankings with p values adjusted over all, and the resulting verdicts and places.

    What is both a comparison and a pair of a ranking is one test. Brief ones have no intervals and no power,
    which cost many times as much as the tests; a shown difference has the mark `guarded` if it is.
    """
    family: dict[Hashable, Pair] = {}
    for ranked in rankings:
        family |= {_ranked_key(ranked.ranking, pair): pair for pair in ranked.pairs}
    family |= {_key(test): test.pair for test in tests if test.comparison.p is not None}
    correction = next(iter(family.values())).arena.data.correction if family else "min_p"
    adjusted = dict(zip(family, adjust(list(family.values()), correction), strict=True))
    decided = tuple(_decided(test, adjusted.get(_key(test)), correction, is_brief=is_brief) for test in tests)
    return Comparisons(decided, tuple(_placed(ranked, adjusted, correction) for ranked in rankings))


def _key(test: Tested) -> Hashable:
    comparison = test.comparison
    return (*_name_group(test.pair), comparison.metric, comparison.field, tuple(comparison.slice.items()))


def _ranked_key(ranking: Ranking, pair: Pair) -> Hashable:
    return (*_name_group(pair), ranking.metric, None, ())


def _decided(test: Tested, adjusted: Adjusted | None, correction: str, *, is_brief: bool) -> Comparison:
    comparison, pair = test.comparison, test.pair
    if adjusted is None or comparison.difference is None or comparison.p is None:
        return replace(comparison, correction=correction)
    comparison = replace(
        comparison,
        p_adjusted=adjusted.p,
        p_needed=adjusted.needed,
        correction=correction,
        verdict=_judge(comparison, adjusted.p),
    )
    if is_brief:
        is_guarded = comparison.is_shown and pair.is_guarded(adjusted.needed)
        return replace(comparison, marks=("guarded",) if is_guarded else ())
    alpha, p = 1.0 - comparison.level, comparison.p or 0.0
    bounds = pair.bounds(adjusted.needed, p)
    unadjusted_bounds = bounds if adjusted.needed == alpha else pair.bounds(alpha, p)
    decided = replace(
        comparison,
        interval=bounds.interval,
        interval_alone=unadjusted_bounds.interval,
        interval_guarded=bounds.guarded,
        marks=bounds.marks,
    )
    if decided.verdict == "identical" or bounds.interval is None:
        return decided
    spread = pair.spread(adjusted.needed)
    return replace(
        decided,
        detectable=spread.detectable(),
        detectable_whole=spread.detectable(spread.whole) if spread.whole else None,
        documents_needed=pair.count_documents(spread.needed(comparison.difference or 0.0))
        if decided.verdict == "no_difference_shown"
        else None,
    )


def _judge(comparison: Comparison, p_adjusted: float) -> Outcome:
    if not comparison.difference:
        return "identical" if comparison.verdict == "identical" else "no_difference_shown"
    if not is_shown(p_adjusted, comparison.level):
        return "no_difference_shown"
    return "better" if (comparison.difference > 0) == (comparison.better == "higher") else "worse"


def is_shown(p_adjusted: float, level: float) -> bool:
    """Return whether a p value shows a difference at the level of confidence.

    >>> is_shown(0.05, 0.95), is_shown(0.051, 0.95)
    (True, False)
    """
    return p_adjusted <= 1.0 - level + 1e-12


def _placed(ranked: RankedPairs, adjusted: Mapping[Hashable, Adjusted], correction: str) -> Ranking:
    """Return the ranking with its adjusted p values, and the places that systems may really have."""
    ranking = ranked.ranking
    pairs = tuple(
        _shown(ranked_pair, pair, adjusted[_ranked_key(ranking, pair)], ranking.level)
        for ranked_pair, pair in zip(ranking.pairs, ranked.pairs, strict=True)
    )
    shown = [pair.systems for pair in pairs if pair.is_shown]
    count = len(ranking.places)
    places = tuple(
        replace(
            place,
            first=1 + sum(worse == place.system for _, worse in shown),
            last=count - sum(better == place.system for better, _ in shown),
        )
        for place in ranking.places
    )
    return replace(ranking, pairs=pairs, places=places, method=correction)


def _shown(ranked_pair: RankedPair, pair: Pair, adjusted: Adjusted, level: float) -> RankedPair:
    if ranked_pair.difference == 0 or not is_shown(adjusted.p, level):
        return replace(ranked_pair, p_adjusted=adjusted.p)
    bounds = pair.bounds(adjusted.needed, pair.test.p)
    is_guarded = "few_replicates" not in bounds.marks and excludes_zero(bounds.guarded)
    return replace(ranked_pair, p_adjusted=adjusted.p, is_shown=True, is_guarded=is_guarded)


_TIED = 1e-12


def adjust_holm(p_values: Sequence[float], groups: Sequence[Hashable] | None = None) -> list[float]:
    """Return Holm's adjusted p values, which hold any false alarm in the family to the level.

    Holm (1979); no assumption on the dependence of the tests. Tests of one of the `groups` are already
    adjusted for each other, so that only groups count (None: each test is one).

    >>> adjust_holm([0.01, 0.04, 0.03]), adjust_holm([0.01, 0.04, 0.03], ["a", "b", "a"])
    ([0.03, 0.06, 0.06], [0.02, 0.06, 0.06])
    """
    m, named = len(p_values), range(len(p_values)) if groups is None else groups
    order = np.argsort(p_values, kind="stable")
    ends = np.sort(list({named[at]: place for place, at in enumerate(order.tolist())}.values()))
    left = len(ends) - np.searchsorted(ends, np.arange(m))
    steps = np.asarray(p_values, np.float64)[order] * left
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if m else steps
    return [float(p) for p in adjusted]


def adjust_min_p(p_values: Sequence[float], draws: Sequence[Floats]) -> list[float]:
    """Return the adjusted p values of the step-down min-P method: the share of draws with as small a p value.

    Westfall and Young (1993). `draws` have the p value of each test under the same random exchanges, under
    which all differences are chance: tests that nearly agree count nearly once, and those that can never be
    small do not count. The chance of a test itself to be as small is its own p value; `draws` give that of
    the others alone.

    >>> same, hopeless = np.array([0.02, 0.5, 0.9]), np.ones(3)
    >>> adjust_min_p([0.02, 0.02, 1.0], [same, same, hopeless])
    [0.02, 0.02, 1.0]
    >>> adjust_min_p([0.25, 0.9], [np.array([0.9, 0.5, 0.9]), same])
    [0.5, 0.9]
    """
    order = np.argsort(p_values, kind="stable").tolist()
    steps = np.zeros(len(p_values))
    later = np.full(len(draws[0]) if draws else 0, 2.0)
    for place in range(len(order) - 1, -1, -1):
        at = order[place]
        limit = p_values[at] + _TIED
        others = np.count_nonzero((later <= limit) & (draws[at] > limit))
        steps[place] = p_values[at] + others / (1 + len(later))
        later = np.minimum(later, draws[at])
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return [float(p) for p in adjusted]


def least_p_needed(draws: Sequence[Floats], alpha: float) -> float:
    """Return the p value with which a test alone in its family is decided at alpha: the first step of min-P.

    >>> round(least_p_needed([np.linspace(0.0001, 1.0, 9999)], 0.05), 3)
    0.05
    """
    least = np.sort(reduce(np.minimum, draws))
    quantile = float(least[max(0, int(alpha * (len(least) + 1)) - 1)])
    return min(max(quantile, alpha / len(draws)), alpha)


# Every system against a reference, and all against all: comparisons and rankings.

MOST_VALUES = 20
"""Slice keys with more values are not compared value by value."""

SliceKey = tuple[str, str] | None


def contest(data: PairedData, reference: str, *, is_brief: bool = False) -> Comparisons:
    """Return every other system compared with the reference, and a ranking by each metric of three or more.

    Fields have no intervals if they are to be brief.

    All documents come first, metric by metric, then the slices, by the first metric only. p values are
    adjusted over all tests on all documents, the pairs of the rankings included, over the comparisons of each
    slice key, and over those of the fields.
    """
    pairs = [(reference, system.system) for system in data.systems if system.system != reference]
    arena = PairedMatrix.open(data)
    comparisons = compare_all(arena, pairs, data.metrics)
    by_slice: list[Comparison] = []
    for key in data.slices:
        if len(slice_values(arena, key)) <= MOST_VALUES:
            whole = [bound for bound in data.metrics if bound.call.slice is None]
            by_slice += compare_slices(arena, pairs, whole[:1], key)
    by_field = compare_pairs(arena, pairs, list_field_metrics(data), is_brief=is_brief)
    return replace(comparisons, comparisons=(*comparisons.comparisons, *by_slice), by_field=tuple(by_field))


FIELD_METRICS = ("field_accuracy", "field_accuracy_strict", "recall")
"""The metrics for comparing fields: the first of these that was kept."""


def choose_by_field(names: Sequence[str], vocabulary: Vocabulary) -> list[MetricCall]:
    """Return the metrics of these names, without those that the spec defines for documents as a whole."""
    calls = [MetricCall(name) for name in names]
    return [
        call
        for call in calls
        if call.name not in vocabulary.own or bind_metric(call, vocabulary).metric.scope != "overall"
    ]


def list_field_metrics(data: PairedData) -> tuple[BoundMetric, ...]:
    """Return the metric for comparing each field, in the order of the fields; () if none was kept."""
    for call in choose_by_field(FIELD_METRICS, data.vocabulary):
        probe = bind_metric(replace(call, field=""), data.vocabulary)
        if data.can_compare(probe):
            fields = dict.fromkeys(
                field
                for system in data.systems
                for part in list_parts(probe.recipe)
                for field in system.statistics[part].fields
                if field
            )
            return tuple(bind_metric(replace(call, field=field), data.vocabulary) for field in fields)
    return ()


def compare_all(
    arena: PairedMatrix, pairs: Sequence[tuple[str, str]], metrics: Sequence[BoundMetric]
) -> Comparisons:
    """Return the comparison of each pair in each metric, and a ranking of three or more by overall metric.

    All of it is one family of tests, so that two systems have one p value in a metric, wherever it is shown.
    """
    tests = list(_compare(arena, pairs, metrics))
    whole = [bound for bound in metrics if _is_whole(bound) and bound.call.field is None]
    is_ranked = len(pairs) > 1 and can_rank(
        len(arena.names), len(whole), arena.data.level, arena.data.correction
    )
    return decide_together(tests, rank_all(arena, whole) if is_ranked else [])


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
    arena: PairedMatrix,
    pairs: Sequence[tuple[str, str]],
    metrics: Sequence[BoundMetric],
    *,
    is_brief: bool = False,
) -> Iterator[Comparison]:
    """Yield the comparison of each pair in each metric, on all documents or the metric's slice: a family."""
    yield from decide(list(_compare(arena, pairs, metrics)), is_brief=is_brief)


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
    tests = []
    for value, rows in slice_values(arena, key).items():
        narrow = arena.narrow(rows)
        tests += [
            compare_one(narrow, pair, bound, (key, value))
            for bound in metrics
            if _is_whole(bound)
            for pair in pairs
        ]
    yield from decide(tests)


def slice_values(arena: PairedMatrix, key: str) -> Mapping[str, npt.NDArray[np.int64]]:
    """Return the documents of each value of a slice key, for values with the same ones in every system."""
    first, *others = (list_members(system.groups, [key]) for system in arena.data.systems)
    return {
        place[1]: rows
        for place, rows in sorted(first.items(), key=itemgetter(0))
        if all(np.array_equal(rows, members.get(place, ())) for members in others)
    }


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
    comparison = Comparison(
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
        families=pair.families,
        method="none",
        verdict="undefined",
        unit=bound.metric.unit,
        better=bound.metric.better,
    )
    if first is None or second is None:
        return Tested(comparison, pair)
    is_same, (there, here) = pair.is_same, pair.in_documents
    tested = replace(
        comparison,
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
    able_views = [view for view, is_able in zip(views, able, strict=True) if is_able]
    rows = np.unique(np.concatenate([view.rows for view in able_views]))
    seen = [(view, np.searchsorted(rows, view.rows)) for view in able_views]

    def evaluate(*, is_left_out: bool) -> Iterator[Floats]:
        """Yield each metric in every replicate, systems x replicates."""
        portions = [
            [np.stack([view.evaluate(sums[at]) for sums in portion]) for view, at in seen]
            for portion in arena.units.counted(rows, is_left_out=is_left_out)
        ]
        return (np.concatenate(values, axis=1) for values in zip(*portions, strict=True))

    valued = zip(evaluate(is_left_out=False), evaluate(is_left_out=True), strict=True)
    return [
        pairs._replace(ranking=value_first(pairs.ranking, *next(valued), arena.names)) if is_able else pairs
        for pairs, is_able in zip(ranked, able, strict=True)
    ]


def rank(arena: PairedMatrix, bound: BoundMetric) -> RankedPairs:
    """Return all systems by a metric; the family adds adjusted p and places.

    Its pairs are those with values on the documents that both have measured.
    """
    view = arena.layout.view(bound)
    values = {name: arena.pair(name, name, view).values[0] for name in arena.names}
    sign = 1.0 if bound.metric.better == "higher" else -1.0
    ordered = sorted(arena.names, key=lambda name: (-sign * _or_worst(values[name], sign), name))
    pairs = {names: arena.pair(names[1], names[0], view) for names in combinations(ordered, 2)}
    valued_pairs = {names: pair for names, pair in pairs.items() if None not in pair.values}
    ranking = Ranking(
        name_metric(bound),
        tuple(RankPlace(name, values[name], 1, len(ordered)) for name in ordered),
        tuple(RankedPair(systems, _difference(pair), 1.0) for systems, pair in valued_pairs.items()),
        arena.data.level,
        max((pair.documents for pair in valued_pairs.values()), default=len(arena.documents)),
        bound.metric.unit,
        bound.metric.better,
    )
    return RankedPairs(ranking, tuple(valued_pairs.values()))


def _or_worst(value: float | None, sign: float) -> float:
    return -math.inf * sign if value is None else value


def _difference(pair: Pair) -> float:
    first, second = pair.values
    return (second or 0.0) - (first or 0.0)


def can_be_redrawn(arena: PairedMatrix, view: View) -> bool:
    """Return whether replicates can choose a first by a metric: a mean or a ratio, of enough documents."""
    is_total = view.bound.metric.unit == "count" or isinstance(view.bound.recipe, Total)
    return bool(arena.data.replicates) and not is_total and len(arena.units.documents) >= FEW_DOCUMENTS


def value_first(ranking: Ranking, replicates: Floats, new: Floats, names: Sequence[str]) -> Ranking:
    """Return the ranking with each system's chance to be first, and the value of the first on new documents.

    Each bootstrap replicate chooses the first by the documents drawn, and evaluates it on those left out,
    which are independent of the choice. `replicates` and `new` are the metric of both, systems x replicates.
    """
    sign = 1.0 if ranking.better == "higher" else -1.0
    chances = share_first(sign * replicates)
    values = np.where(chances > 0, chances * new, 0.0).sum(axis=0)
    defined = values[~np.isnan(values) & (chances.sum(axis=0) > 0)]
    if not len(defined):
        return ranking
    of_system = dict(zip(names, chances.mean(axis=1).tolist(), strict=True))
    places = tuple(replace(place, chance_first=of_system[place.system]) for place in ranking.places)
    return replace(ranking, places=places, on_new_documents=float(defined.mean()))


def share_first(values: Floats) -> Floats:
    """Return the highest of each column (systems x replicates), ties in equal shares; 0 if none is defined.

    >>> share_first(np.array([[0.5, 0.9, np.nan], [0.5, 0.8, np.nan]])).tolist()
    [[0.5, 1.0, 0.0], [0.5, 0.0, 0.0]]
    """
    filled = np.where(np.isnan(values), -np.inf, values)
    highest = filled.max(axis=0)
    is_first = (filled >= highest - 1e-9 * np.abs(highest)) & np.isfinite(highest)
    shares: Floats = is_first / np.maximum(is_first.sum(axis=0), 1)
    return shares
