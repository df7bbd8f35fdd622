"""What is promised of the verdict on two systems: its level, its intervals, its power, and the gates on it."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

import numpy as np
from columns import Documents, Floats, Ints, compare, compare_family, compare_in, lose, open_arena, time_arena
from rates import Rate, count

from fieldassay.decisions.gates.kinds import judge_regression
from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import parse_metric
from fieldassay.metrics.comparisons.pairwise import compare_all
from fieldassay.metrics.result.verdicts import Comparison, Verdict
from fieldassay.metrics.uncertainty.paired import Halves

LEVEL, GUARDED, FOUND = 0.05, 0.93, (0.72, 0.92)

EQUAL = {
    "6 values, documents unlike": (Documents((6, 6), error=0.12, spread=0.25, alike=0.5), (20, 40, 100)),
    "10 values, errors alike": (Documents((10, 10), error=0.1, alike=0.5), (30, 75)),
    "yes or no, 15% wrong": (Documents((1, 1), error=0.15, alike=0.5), (60, 150)),
    "each loses 6% of the documents": (Documents((4, 4), error=0.0, lost=(0.06, 0.06)), (90, 200)),
    "8 values, 4% hard, each loses 4%": (Documents((8, 8), error=0.03, hard=0.04, lost=(0.04, 0.04)), (150,)),
    "a fifth of the documents is large, pooled": (
        Documents((1, 4), (0.2, 10, 20), 0.1, 0.2, 0.5, metric="accuracy_pooled"),
        (100, 200),
    ),
    "b errs 4 points less": (Documents((6, 6), error=0.12, errors=(0.12, 0.08)), (40, 100)),
}
"""Two systems on documents of which each kind is expected five times at least."""

RARE = {
    f"{times} of {count} documents lost in b alone{', pooled' * is_pooled}": (
        Documents(
            (1, 6) if is_pooled else (5, 5),
            error=0.02,
            lost=(0.0, times / count),
            metric="accuracy_pooled" if is_pooled else "accuracy",
        ),
        (count,),
    )
    for count, times, is_pooled in (
        (20, 1, False),
        (40, 2, False),
        (75, 1, False),
        (75, 3, True),
        (150, 1, False),
        (150, 2, True),
    )
}
"""Disasters that a sample often has none of."""

LIKE_THOSE = {
    "6 values, documents unlike": (Documents((6, 6), error=0.12, spread=0.25, alike=0.5), 60),
    "10 values, errors alike": (Documents((10, 10), error=0.1, alike=0.5), 40),
    "10 values, errors alike, more documents": (Documents((10, 10), error=0.1, alike=0.5), 100),
    "yes or no, 15% wrong": (Documents((1, 1), error=0.15, alike=0.5), 150),
    "each loses 6% of the documents": (Documents((4, 4), error=0.0, lost=(0.06, 0.06)), 150),
}
"""Worlds in which a loss is made of documents that differ like those seen."""


def draw(world: Documents, size: int, trials: int, seed: int) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield the documents of each trial."""
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        yield world.draw(rng, size)


def compare_trials(world: Documents, size: int, trials: int, seed: int) -> list[Comparison]:
    """Return the comparison of each trial."""
    return [
        compare(*one, world.metric, seed=number) for number, one in enumerate(draw(world, size, trials, seed))
    ]


def measure_verdicts(trials: int, seed: int) -> Iterator[Rate]:
    """Yield level and coverage of the verdict, cell by cell and together, and how often test and interval disagree."""
    part = "The verdict on two systems"
    disagree, wrong, held, guarded = [], [], [], []
    for name, (world, sizes) in EQUAL.items():
        truth = world.truth()
        for size in sizes:
            found = compare_trials(world, size, trials, seed + size)
            disagree += [_excludes(one) != one.is_shown for one in found]
            held += (own := [_holds(one.interval, truth) for one in found])
            guarded += [_holds(one.interval_guarded, truth) for one in found]
            yield count(part, f"{name}, {size} documents: its interval holds the truth", own, GUARDED)
            if not truth:
                wrong += (alarms := [one.is_shown for one in found])
                yield count(
                    part, f"{name}, {size} documents: equal, and called different", alarms, most=LEVEL
                )
    yield count(part, "all of these: test and interval disagree", disagree, most=0.0)
    yield count(part, "all of these: equal, and called different", wrong, most=LEVEL)
    yield count(part, "all of these: the interval holds the truth", held, GUARDED)
    yield count(part, "all of these: the guarded interval holds the truth", guarded, GUARDED)
    for name, (world, sizes) in RARE.items():
        found = compare_trials(world, sizes[0], trials, seed + sizes[0])
        own = [_holds(one.interval_guarded, world.truth()) for one in found]
        guarded += own
        yield count(part, f"{name}: the guarded interval holds the truth", own, GUARDED)


def _excludes(one: Comparison) -> bool:
    return one.interval is not None and (one.interval[0] > 0.0 or one.interval[1] < 0.0)


def _holds(interval: tuple[float, float] | None, truth: float) -> bool:
    return interval is not None and interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


def measure_found(trials: int, seed: int) -> Iterator[Rate]:
    """Yield how often a difference is called that is printed as found in 8 of 10 samples, and by the documents it takes."""
    part = "Printed power of 8 in 10"
    for name, (world, size) in LIKE_THOSE.items():
        pilots = compare_trials(world, size, max(trials // 4, 20), seed + size)
        gap = median(one.detectable for one in pilots if one.detectable is not None)
        what = f"{name}, {size} documents: {100 * gap:.1f} points"
        yield count(part, what, _lost(world, size, gap, trials, seed), *FOUND)
        needed = [one for one in pilots if one.difference and one.verdict == "no_difference_shown"]
        smaller = 0.6 * gap
        counts = [one for one in (_needed(pilot, smaller) for pilot in needed) if one is not None]
        if counts:
            most = int(median(counts))
            what = f"{name}: {most} documents, said to be needed for {100 * smaller:.1f} points"
            yield count(part, what, _lost(world, most, smaller, trials, seed + 1), *FOUND)
        whole = median(one.detectable_whole for one in pilots if one.detectable_whole is not None)
        if whole < 0.6:
            what = f"{name}, {size} documents: {100 * whole:.1f} points of whole documents"
            yield count(part, what, _lost(world, size, whole, trials, seed + 2, is_whole=True), FOUND[0])


def _needed(one: Comparison, gap: float) -> float | None:
    """Return the documents for a difference, from those for the one seen: their number times its square, about."""
    if one.documents_needed is None or not one.difference:
        return None
    return one.documents_needed * (one.difference / gap) ** 2 if 0.5 < abs(one.difference) / gap < 2 else None


def _lost(
    world: Documents, size: int, gap: float, trials: int, seed: int, *, is_whole: bool = False
) -> list[bool]:
    rng = np.random.default_rng(seed + 7)
    return [
        compare(each, first, lose(rng, each, second, gap, is_whole=is_whole), world.metric, number).verdict
        == "worse"
        for number, (each, first, second) in enumerate(draw(world, size, trials, seed + 5))
    ]


REASKED = {
    "10 values, 5% asked anew": (0.05, 10, 100),
    "3 values, 5% asked anew": (0.05, 3, 150),
    "10 values, half asked anew": (0.5, 10, 150),
}


def measure_gates(trials: int, seed: int) -> Iterator[Rate]:
    """Yield the verdicts of a gate on a system that did not change, and on losses of the margin and beyond."""
    part = "Regression gates by the verdict"
    margin = 0.05
    for name, (share, values, size) in REASKED.items():
        world = Documents((values, values), error=0.1, spread=0.15, alike=1.0 - share)
        pairs = list(draw(world, size, trials, seed + 3))
        said = [judge(compare(*one, seed=number), 0.0) for number, one in enumerate(pairs)]
        what = f"{name}, {size} documents"
        yield count(
            part, f"{what}: unchanged, FAIL at margin 0", [one is Verdict.FAIL for one in said], most=0.025
        )
        for is_whole in (False, True):
            said = [judge(one, margin) for one in _lose_all(pairs, margin, seed, is_whole=is_whole)]
            kind = "whole documents" if is_whole else "values"
            passed = [one is Verdict.PASS for one in said]
            yield count(part, f"{what}: a loss of the margin in {kind}, PASS", passed, most=0.05)
    for margin in (0.0, 0.02):
        said = [_judge_all_lose(margin, number) for number in range(max(trials // 20, 3))]
        what = f"one of 10 values lost in all of 20 documents, margin {100 * margin:g} points: FAIL"
        yield count(part, what, [one is Verdict.FAIL for one in said], 1.0)


def _lose_all(
    pairs: list[tuple[Ints, Ints, Ints]], gap: float, seed: int, *, is_whole: bool
) -> Iterator[Comparison]:
    """Yield the comparisons of trials after a true loss of `b`."""
    rng = np.random.default_rng(seed + 9)
    for number, (size, first, second) in enumerate(pairs):
        yield compare(size, first, lose(rng, size, second, gap, is_whole=is_whole), seed=number)


def judge(found: Comparison, margin: float) -> Verdict:
    """Return what a regression gate says of a comparison."""
    guarded = found.interval_guarded or (-1.0, 1.0)
    interval = guarded if found.verdict == "identical" else found.interval or guarded
    return judge_regression(interval, guarded, margin, ">=")


def _judge_all_lose(margin: float, seed: int) -> Verdict:
    size = np.full(20, 10)
    right = np.random.default_rng(seed).integers(5, 11, 20)
    return judge(compare(size, right, right - 1, seed=seed), margin)


def measure_margins(trials: int, seed: int) -> Iterator[Rate]:
    """Yield how often an unchanged system passes with the documents that are said to let it pass."""
    part = "Documents with which an unchanged system passes 4 times out of 5"
    for name, (share, values, size) in REASKED.items():
        world = Documents((values, values), error=0.1, spread=0.15, alike=1.0 - share)
        for margin in (0.03, 0.05):
            counts = []
            for each, first, second in draw(world, size, max(trials // 6, 15), seed + size):
                arena = open_arena(each, {"a": first, "b": second}, "accuracy")
                pair = arena.pair("a", "b", arena.layout.view(arena.data.metrics[0]))
                counts.append(pair.spread(LEVEL).to_pass(margin))
            needed = int(median(one for one in counts if one is not None))
            drawn = enumerate(draw(world, needed, trials, seed + 1))
            said = [judge(compare(*one, seed=number), margin) for number, one in drawn]
            what = f"{name}: {needed} documents for a margin of {100 * margin:g} points"
            yield count(part, what, [one is Verdict.PASS for one in said], 0.70, 0.94)


def measure_more_systems(trials: int, seed: int) -> Iterator[Rate]:
    """Yield false alarms among five equal systems and among eight fields, and intervals that miss anywhere in a family."""
    part = "More than two systems, more than one field"
    world = Documents((6, 6), error=0.12, spread=0.25, alike=0.3)
    metric = bind_metric(parse_metric("accuracy"))
    alarms, missed = [], []
    rng = np.random.default_rng(seed)
    for number in range(trials // 2):
        size, first, second = world.draw(rng, 60)
        more = [rng.binomial(first + second, 0.5) for _ in range(3)]
        systems = dict(zip("abcde", (first, second, *more), strict=True))
        arena = open_arena(size, systems, "accuracy", seed=number)
        found = compare_all(arena, [("a", other) for other in "bcde"], [metric])
        alarms.append(any(pair.is_shown for pair in found.rankings[0].pairs))
        missed.append(any(_excludes(one) != one.is_shown for one in found.comparisons))
    yield count(
        part, "five systems, a and b equal to half of both: any two told apart", alarms, most=LEVEL + 0.02
    )
    yield count(part, "five systems: test and interval disagree", missed, most=0.0)
    wrong, outside, disagree = [], [], []
    for number in range(trials):
        hard = rng.random(80) < 0.06
        members = []
        for _ in range(8):
            size, first, second = Documents((1, 3), error=0.15, alike=0.4).draw(rng, 80)
            members.append((size, np.where(hard, 0, first), np.where(hard, 0, second)))
        family = compare_family(members, seed=number)
        wrong.append(any(one.is_shown for one in family))
        outside.append(any(not _holds(one.interval, 0.0) for one in family))
        disagree.append(any(_excludes(one) != one.is_shown for one in family))
    yield count(part, "eight equal fields: any called different", wrong, most=LEVEL)
    yield count(part, "eight equal fields: any interval without the truth", outside, most=LEVEL)
    yield count(part, "eight equal fields: test and interval disagree", disagree, most=0.0)


def measure_times(trials: int, seed: int) -> Iterator[Rate]:
    """Yield the level and coverage of differences in time, which has no bounds, and of percentiles by the same halves."""
    part = "Times and percentiles"
    for size in (40, 150):
        rng = np.random.default_rng(seed + size)
        found, truth = [], 0.0
        for number in range(trials):
            shared = rng.normal(7.0, 0.4, size)
            times = {name: np.exp(shared + rng.normal(0.0, 0.45, size)) for name in "ab"}
            found.append(compare_in(time_arena(times, seed=number), "latency_mean"))
        what = f"skewed times, {size} documents"
        yield count(
            part,
            f"{what}: equal, and called different",
            [one.is_shown for one in found],
            most=LEVEL,
        )
        yield count(
            part,
            f"{what}: the interval holds the truth",
            [_holds(one.interval, truth) for one in found],
            GUARDED,
        )
    for size in (60, 200):
        rng = np.random.default_rng(seed + size)
        for share in (0.5, 0.95):
            alarms, held = [], []
            for _ in range(trials):
                shared = rng.normal(7.0, 0.4, size)
                halves = _halve(rng, *(np.exp(shared + rng.normal(0.0, 0.45, size)) for _ in "ab"), share)
                low, high = halves.interval(LEVEL)
                alarms.append(halves.p_value() <= LEVEL)
                held.append(low <= 0.0 <= high)
            what = f"percentile {100 * share:g} of {size} skewed times, by halves (not offered)"
            yield count(
                part, f"{what}: equal, and called different", alarms, most=LEVEL if share == 0.5 else 1.0
            )


def _halve(rng: np.random.Generator, first: Floats, second: Floats, share: float, draws: int = 300) -> Halves:
    """Return the difference of a percentile in random halves and what is left."""
    chosen = rng.random((draws, len(first))) < 0.5
    found = [
        np.nanquantile(np.where(picked, second, np.nan), share, axis=1)
        - np.nanquantile(np.where(picked, first, np.nan), share, axis=1)
        for picked in (chosen, ~chosen)
    ]
    return Halves.of(np.concatenate(found))


UNLIKE = {
    "a loses 2% of the documents, b 2% of all values": Documents(
        (12, 12), errors=(0.0, 0.02), lost=(0.02, 0.0)
    ),
    "a loses 5%, b 5%": Documents((6, 6), errors=(0.0, 0.05), lost=(0.05, 0.0)),
}


def measure_unlike(trials: int, seed: int) -> Iterator[Rate]:
    """Yield what is not promised: systems equal on average that fail in unlike ways, and rare time-outs."""
    part = "Not promised: equal on average, unlike in their failures"
    for name, world in UNLIKE.items():
        for size in (20, 50, 100, 200):
            found = compare_trials(world, size, trials, seed + size)
            shown = [one.is_shown for one in found]
            yield count(part, f"{name}, {size} documents: 'better on documents like these'", shown)
            yield count(
                part, f"{name}, {size} documents: 'better'", [one.is_guarded for one in found], most=LEVEL
            )
    rng, told = np.random.default_rng(seed), []
    for number in range(trials):
        slow = np.where(rng.random(50) < 0.01, 60_000.0, 1000.0) * rng.lognormal(0.0, 0.1, 50)
        times = {"a": slow, "b": 1590.0 * rng.lognormal(0.0, 0.1, 50)}
        told.append(compare_in(time_arena(times, seed=number), "latency_mean").is_shown)
    yield count(
        part,
        "50 documents, 1% time-outs of a minute against 0.6 s more: 'faster on documents like these'",
        told,
    )


MEASURES = (
    measure_verdicts,
    measure_found,
    measure_gates,
    measure_margins,
    measure_more_systems,
    measure_times,
    measure_unlike,
)
