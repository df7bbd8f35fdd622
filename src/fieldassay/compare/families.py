"""Families of comparisons: p values adjusted for all of them, and the resulting verdicts and places."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace

from fieldassay.compare.permutation_test import Pair
from fieldassay.result.comparison import Comparison, Outcome, RankedPair, Ranking
from fieldassay.result.comparisons_file import Comparisons
from fieldassay.result.pairing import Correction
from fieldassay.stats.corrections import adjust_holm, adjust_min_p, least_p_needed
from fieldassay.stats.intervals import FEW_DOCUMENTS, are_too_few, percentile_intervals


class Tested(NamedTuple):
    """A comparison whose p value stands alone as yet, and the pair of systems that it is about."""

    found: Comparison
    pair: Pair


class RankedPairs(NamedTuple):
    """A ranking whose places are open as yet, and its pairs of systems in the same order."""

    found: Ranking
    pairs: tuple[Pair, ...]


class Adjusted(NamedTuple):
    """The adjusted p value of a test in its family, and the p value at which it would be shown there."""

    p: float
    needed: float


class Bounds(NamedTuple):
    """The interval of a difference, and the marks that qualify it."""

    interval: tuple[float, float] | None
    marks: tuple[str, ...]


def adjust(pairs: Sequence[Pair], correction: Correction = "min_p") -> list[Adjusted]:
    """Return the p values of one family, adjusted for each other; each pair has values in both systems.

    Metrics of the same two systems are exchanged together, document by document, so that their p values have
    a joint distribution: the step-down min-P method. Exchanging two systems says nothing about chance in a
    third, so the adjusted p values of different pairs of systems are joined by Holm's method, which holds for
    any dependence; `holm` takes each test as a pair of its own. A pair without a differing document is no
    test.
    """
    alpha = 1.0 - pairs[0].arena.data.level if pairs else 0.0
    tested = [at for at, pair in enumerate(pairs) if len(pair.differing)]
    groups: dict[Hashable, list[int]] = {}
    for at in tested:
        groups.setdefault(at if correction == "holm" else _name_group(pairs[at]), []).append(at)
    p_values = {at: pairs[at].test.p for at in tested}
    needed: dict[int, float] = {}
    for members in groups.values():
        drawn = [pairs[at].draw_p_values() for at in members] if len(members) > 1 else []
        if drawn:
            found = adjust_min_p([p_values[at] for at in members], drawn)
            p_values |= dict(zip(members, found, strict=True))
        share = alpha / len(groups)
        needed |= dict.fromkeys(members, least_p_needed(drawn, share) if drawn else share)
    names = {at: name for name, members in groups.items() for at in members}
    joined = adjust_holm([p_values[at] for at in tested], [names[at] for at in tested])
    adjusted = dict(zip(tested, joined, strict=True))
    return [Adjusted(adjusted.get(at, 1.0), needed.get(at, alpha)) for at in range(len(pairs))]


def _name_group(pair: Pair) -> Hashable:
    """Return the key of pairs that are exchanged together: both systems, the documents and signs."""
    return id(pair.arena.data), frozenset((pair.first, pair.second))


def decide(family: Sequence[Tested]) -> list[Comparison]:
    """Return the comparisons with p values adjusted over all of them, and the verdicts that follow."""
    return list(decide_together(family, ()).comparisons)


def decide_together(made: Sequence[Tested], rankings: Sequence[RankedPairs]) -> Comparisons:
    """Return comparisons and rankings with p values adjusted over all, and the resulting verdicts and places.

    What is both a comparison and a pair of a ranking is one test.
    """
    family: dict[Hashable, Pair] = {}
    for ranking in rankings:
        family |= {_ranked_key(ranking.found, pair): pair for pair in ranking.pairs}
    family |= {_key(one): one.pair for one in made if one.found.p is not None}
    correction = next(iter(family.values())).arena.data.correction if family else "min_p"
    adjusted = dict(zip(family, adjust(list(family.values()), correction), strict=True))
    decided = tuple(_decided(one, adjusted.get(_key(one)), correction) for one in made)
    return Comparisons(decided, tuple(_placed(one, adjusted, correction) for one in rankings))


def _key(one: Tested) -> Hashable:
    found = one.found
    return (*_name_tested(one.pair), found.metric, found.field, tuple(found.slice.items()))


def _ranked_key(ranking: Ranking, pair: Pair) -> Hashable:
    return (*_name_tested(pair), ranking.metric, None, ())


def _name_tested(pair: Pair) -> tuple[Hashable, ...]:
    return id(pair.arena.data), frozenset((pair.first, pair.second))


def _decided(one: Tested, adjusted: Adjusted | None, correction: str) -> Comparison:
    found = one.found
    if adjusted is None:
        return replace(found, correction=correction)
    is_open = found.verdict != "identical" and found.interval is not None
    return replace(
        found,
        p_adjusted=adjusted.p,
        correction=correction,
        verdict=_judge(found, adjusted.p),
        detectable=one.pair.detectable(1.0 - adjusted.needed) if is_open else None,
    )


def _judge(one: Comparison, p_adjusted: float) -> Outcome:
    if one.difference is None or one.verdict == "identical":
        return one.verdict
    if not is_shown(p_adjusted, one.level) or not excludes_zero(one.interval, one.difference):
        return "no_difference_shown"
    return "better" if (one.difference > 0) == (one.better == "higher") else "worse"


def is_shown(p_adjusted: float, level: float) -> bool:
    """Return whether a p value shows a difference at the level of confidence.

    >>> is_shown(0.05, 0.95), is_shown(0.051, 0.95)
    (True, False)
    """
    return p_adjusted <= 1.0 - level + 1e-12


def excludes_zero(interval: tuple[float, float] | None, difference: float) -> bool:
    """Return whether a difference is not 0, nor can be by its interval, where there is one.

    The test asks whether two systems can be told apart; averages differ only if the interval agrees.

    >>> excludes_zero((0.01, 0.2), 0.1), excludes_zero((0.0, 0.2), 0.1), excludes_zero(None, 0.1)
    (True, False, True)
    """
    return difference != 0 and (interval is None or interval[0] > 0.0 or interval[1] < 0.0)


def _placed(ranking: RankedPairs, adjusted: Mapping[Hashable, Adjusted], correction: str) -> Ranking:
    """Return the ranking with its adjusted p values, and the places that systems may really have."""
    found = ranking.found
    pairs = tuple(
        _shown(one, pair, adjusted[_ranked_key(found, pair)].p)
        for one, pair in zip(found.pairs, ranking.pairs, strict=True)
    )
    shown = [one.systems for one in pairs if one.is_shown]
    count = len(found.places)
    places = tuple(
        replace(
            one,
            first=1 + sum(worse == one.system for _, worse in shown),
            last=count - sum(better == one.system for better, _ in shown),
        )
        for one in found.places
    )
    return replace(found, pairs=pairs, places=places, method=correction)


def _shown(one: RankedPair, pair: Pair, p: float) -> RankedPair:
    bounds = bound_difference(pair, one.difference) if is_shown(p, pair.arena.data.level) else None
    is_different = bounds is not None and excludes_zero(bounds.interval, one.difference)
    return replace(one, p_adjusted=p, is_shown=is_different)


def bound_difference(pair: Pair, difference: float) -> Bounds:
    """Return the interval of the difference of a pair; None if all documents differ equally."""
    level, documents = pair.arena.data.level, pair.documents
    marks: tuple[str, ...] = ("few_documents",) if documents < FEW_DOCUMENTS and not pair.is_bounded else ()
    drawn = pair.replicates
    if drawn is None:
        return Bounds(None, marks)
    if not len(pair.differing) and not pair.is_bounded:
        return Bounds((0.0, 0.0), marks)
    known = drawn.low[~np.isnan(drawn.low)]
    dropped = len(drawn.low) - len(known)
    marks = (*marks, "few_replicates") if are_too_few(len(known), level) else marks
    marks = (*marks, f"undefined_replicates={dropped}") if dropped else marks
    if len(known) < 2 or (not pair.is_bounded and np.ptp(known) <= 1e-9 * float(np.abs(known).max())):
        return Bounds(None, marks)  # all documents show the same: nothing says how much others could differ
    found = percentile_intervals(np.stack([drawn.low, drawn.high]), level)
    return Bounds((min(float(found.low[0]), difference), max(float(found.high[1]), difference)), marks)
