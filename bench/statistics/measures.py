"""What fieldassay promises of its intervals and tests, each measured in simulated trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from rates import Rate, count
from worlds import TRIAL, Extractor, Trials, World, simulate

from fieldassay.compare.permutation_test import Arena
from fieldassay.gates.regression import BEFORE, NOW, BaselineMatch, judge_change
from fieldassay.metrics.grammar import Gate, parse_gate
from fieldassay.result.comparison import Comparison
from fieldassay.result.decision import Verdict
from fieldassay.stats.corrections import adjust_benjamini_hochberg
from fieldassay.stats.paired import mcnemar
from fieldassay.stats.power import documents_needed

LEVEL = 0.05
EQUAL = Extractor()
SHARED = Extractor(failing=0.0)
MEANS = ("accuracy", "f1", "accuracy_pooled", "field_accuracy[f03]")
TESTED = ("accuracy", "f1", "perfect_documents")

NULLS = {
    "50 documents x 12 fields, 6 % bad documents": World({"a": EQUAL, "b": EQUAL}),
    "3 to 12 fields in a document": World({"a": EQUAL, "b": EQUAL}, fewest=3),
    "documents that are hard for both": World({"a": SHARED, "b": SHARED}, hard=0.15),
    "one document in 50 lost altogether": World(
        {"a": Extractor(0.01, 0.02, 1.0), "b": Extractor(0.01, 0.02, 1.0)}
    ),
    "12 documents": World({"a": EQUAL, "b": EQUAL}, documents=12),
}
"""Two extractors that are equally good."""

BETTER = Extractor(0.005, 0.01)
RANKED = {
    "all equal": EQUAL,
    "all equal, one document in 50 lost": Extractor(0.01, 0.02, 1.0),
    "a better, the others equal": BETTER,
}
"""The first of five extractors; the others are like it, or usual ones if it is better."""

REGRESSIONS = ((100, -0.02), (400, -0.02), (400, 0.0), (400, -0.08))
"""Documents, and the true difference."""


def measure_coverage(
    trials: int, seed: int, sizes: Sequence[int] = (50, 100, 200), fewest: int | None = None
) -> Iterator[Rate]:
    """Yield the coverage of the 95% interval of each metric; 6% of the documents are hard."""
    for size in sizes:
        world = World({"a": SHARED}, documents=size, hard=0.06, fewest=fewest)
        done = simulate(world, trials, seed + size, MEANS)
        for metric in MEANS:
            truth = world.expect(metric, "a")
            held = [
                one.interval is not None and one.interval[0] <= truth <= one.interval[1]
                for one in done.estimates(metric, "a")
            ]
            fields = "12 fields" if fewest is None else f"{fewest} to 12 fields"
            yield count(
                "95 % intervals that hold the true value",
                f"{metric}, {size} documents x {fields}",
                held,
                *_near(size),
            )


def _near(size: int) -> tuple[float, float]:
    """Return what is near 95 %: with few bad documents the bootstrap is a little too narrow."""
    return (0.86 if size < 100 else 0.92 if size < 200 else 0.93), 0.975


def measure_nulls(trials: int, seed: int, worlds: Sequence[str] = tuple(NULLS)) -> Iterator[Rate]:
    """Yield the rejections at 5% of equal extractors, also by a test of single fields, not for real use."""
    part = "Two equal extractors, told apart at p <= 0.05"
    for name in worlds:
        done = simulate(NULLS[name], trials, seed, TESTED, TESTED, replicates=0)
        for metric in TESTED:
            found = done.comparisons(metric)
            method = max(
                {one.method.removesuffix("_exact") for one in found} - {"identical"}, default="identical"
            )
            yield count(part, f"{name}: {metric} ({method})", (_p(one) <= LEVEL for one in found), most=LEVEL)
        yield count(part, f"{name}: single fields, as a contrast", (p <= LEVEL for p in field_p_values(done)))


def _p(one: Comparison) -> float:
    return 1.0 if one.p is None else one.p


def field_p_values(done: Trials) -> Iterator[float]:
    """Yield the p value of a McNemar test of single fields, as if they were independent, in each trial."""
    for drawn in (block.drawn for block in done.blocks):
        a, b = (drawn.wrong[name].reshape(drawn.trials, -1) for name in ("a", "b"))
        for only_a, only_b in zip((a & ~b).sum(axis=1).tolist(), (b & ~a).sum(axis=1).tolist(), strict=True):
            yield mcnemar(only_a, only_b)


def measure_families(trials: int, seed: int) -> Iterator[Rate]:
    """Yield false alarms among 12 fields: unadjusted, by Holm, and the false share by Benjamini-Hochberg."""
    part = "Twelve fields at once"
    like = Extractor(0.3, 0.06, 0.9)
    fields = [f"field_accuracy[{name}]" for name in World({}).names]
    families = simulate(World({"a": like, "b": like}), trials, seed, fields, fields, replicates=0).families(
        fields
    )
    yield count(
        part,
        "equal extractors: any field below 0.05, not adjusted",
        (any(_p(one) <= LEVEL for one in family) for family in families),
    )
    alarms = [any(one.verdict in ("better", "worse") for one in family) for family in families]
    yield count(part, "equal extractors: any field called different, Holm", alarms, most=LEVEL)
    better = Extractor(0.3, 0.06, 0.9, weak_fields=dict.fromkeys(range(4), 0.02))
    families = simulate(
        World({"a": like, "b": better}), trials, seed + 1, fields, fields, replicates=0
    ).families(fields)
    alarms = [any(one.verdict in ("better", "worse") for one in family[4:]) for family in families]
    yield count(part, "four fields really better: any other called different, Holm", alarms, most=LEVEL)
    found = [
        [p <= LEVEL for p in adjust_benjamini_hochberg([_p(one) for one in family])] for family in families
    ]
    false = [any(chosen[4:]) and sum(chosen[4:]) / sum(chosen) for chosen in found]
    wrongly = Rate(
        part,
        "the same: false among those called different, Benjamini-Hochberg (mean share)",
        round(sum(false)),
        trials,
        most=LEVEL,
    )
    yield wrongly
    yield count(
        part,
        "the same: all four found, Holm",
        (all(one.verdict == "better" for one in family[:4]) for family in families),
    )


def measure_rankings(
    trials: int,
    seed: int,
    metrics: Sequence[str] = ("accuracy", "f1"),
    firsts: Mapping[str, Extractor] = RANKED,
) -> Iterator[Rate]:
    """Yield false alarms in rankings of five extractors: a first one, and four that are equal."""
    part = "Rankings of five extractors (Holm, over all pairs and both metrics)"
    for what, first in firsts.items():
        others = first if first != BETTER else EQUAL
        done = simulate(
            World({"a": first, **dict.fromkeys("bcde", others)}), trials, seed, metrics, metrics, replicates=0
        )
        equal = set("bcde") if first == BETTER else set("abcde")
        for metric in metrics:
            ranked = done.rankings(metric)
            alarms = [
                any(one.p_adjusted <= LEVEL for one in found.pairs if equal.issuperset(one.systems))
                for found in ranked
            ]
            yield count(part, f"{what}, {metric}: any two equal ones told apart", alarms, 0.0, LEVEL)
            if first == BETTER:
                held = [
                    next(place.first for place in found.places if place.system == "a") == 1
                    for found in ranked
                ]
                yield count(part, f"{what}, {metric}: its places begin with the first", held, least=1 - LEVEL)


def with_gap(gap: float, base: float = 0.15) -> World:
    """Return a world with b's accuracy above a's by exactly `gap`; both fail on 6% of the documents."""
    a = Extractor(base)
    return World({"a": a, "b": Extractor(base - gap / (1.0 - a.failing))})


def measure_power(trials: int, seed: int, many: int = 200) -> Iterator[Rate]:
    """Yield the power for real differences: small, large, few or many documents, and the detectable one."""
    part = "Real differences in accuracy, found at p <= 0.05"
    for size, gap in ((50, 0.02), (50, 0.05), (50, 0.1), (many, 0.02), (many, 0.05)):
        yield count(
            part,
            f"{size} documents, difference {100 * gap:g} points",
            _found(_resize(with_gap(gap), size), trials, seed),
        )
    size = 50
    tried = simulate(with_gap(0.0), trials, seed + 1, ("accuracy",), ("accuracy",)).comparisons("accuracy")
    detectable = median(one.detectable for one in tried if one.detectable is not None)
    what = f"{size} documents, the detectable difference ({100 * detectable:.1f} points)"
    yield count(part, what, _found(with_gap(detectable), trials, seed + 2), 0.72, 0.88)
    margin = 0.6 * detectable
    needed = documents_needed(size, detectable, margin) or 0
    what = f"{needed} documents, said to be needed for {100 * margin:.1f} points"
    yield count(part, what, _found(_resize(with_gap(margin), needed), trials, seed + 3), 0.72, 0.88)


def _resize(world: World, documents: int) -> World:
    return World(world.extractors, documents, world.fields, world.hard, world.fewest)


def _found(world: World, trials: int, seed: int) -> list[bool]:
    done = simulate(world, trials, seed, ("accuracy",), ("accuracy",), replicates=0)
    return [_p(one) <= LEVEL and (one.difference or 0.0) > 0 for one in done.comparisons("accuracy")]


def measure_differences(trials: int, seed: int, sizes: Sequence[int] = (50, 200)) -> Iterator[Rate]:
    """Yield how often the interval of a difference holds the true one."""
    part = "95 % intervals of a difference that hold the true one"
    metrics = ("accuracy", "f1")
    for size in sizes:
        world = _resize(with_gap(0.05), size)
        done = simulate(world, trials, seed + size, metrics, metrics)
        for metric in metrics:
            truth = world.expect(metric, "b") - world.expect(metric, "a")
            held = [
                one.interval is not None and one.interval[0] <= truth <= one.interval[1]
                for one in done.comparisons(metric)
            ]
            yield count(part, f"{metric}, {size} documents, both fail on 6 %", held, *_near(size))


def say_regression(arena: Arena, gate: Gate) -> Verdict:
    """Return what a regression gate says of a trial."""
    return judge_change(gate, BaselineMatch(arena).compare(gate.metric)).verdict


def measure_regressions(
    trials: int, seed: int, cases: Sequence[tuple[int, float]] = REGRESSIONS, margin: float = 0.02
) -> Iterator[Rate]:
    """Yield the verdicts of a regression gate by the true difference.

    A loss of the margin may rarely pass, and rarely fail.
    """
    part = f"Regression gates with a margin of {100 * margin:g} points"
    gate = parse_gate(f"regression(accuracy) > -{margin}")
    for size, gap in cases:
        world = with_gap(gap)
        named = {BEFORE: world.extractors["a"], NOW: world.extractors["b"]}
        done = simulate(_resize(World(named), size), trials, seed + size, ("accuracy",), ("accuracy",))
        said = [say_regression(arena, gate) for block in done.blocks for arena in block.arenas]
        for verdict in (Verdict.PASS, Verdict.FAIL):
            most = 1.0 if (verdict is Verdict.PASS) == (gap > -margin) and gap != -margin else _allow(size)
            yield count(
                part,
                f"{size} documents, true difference {100 * gap:g} points: {verdict}",
                (one is verdict for one in said),
                most=most,
            )


def _allow(size: int) -> float:
    """Return the allowed share of wrong verdicts: 2.5% by the level, and more for few bad documents."""
    return 0.045 if size < 200 else 0.04


def measure_limits(trials: int, seed: int) -> Iterator[Rate]:
    """Yield what nobody is promised: errors so rare that most samples do not show them."""
    part = "Not promised"
    rare = Extractor(0.0, 0.02, 1.0)
    for size in (50, 200):
        world = _resize(World({"a": rare, "b": Extractor(0.02, 0.0)}), size)
        done = simulate(world, trials, seed + size, ("accuracy",), ("accuracy",), slices=(TRIAL,))
        truth = world.expect("accuracy", "a")
        held = [
            one.interval is not None and one.interval[0] <= truth <= one.interval[1]
            for one in done.estimates("accuracy", "a")
        ]
        yield count(
            part,
            f"{size} documents, one in 50 lost, the rest perfect: the 95 % interval holds the true accuracy",
            held,
        )
        told = [_p(one) <= LEVEL for one in done.comparisons("accuracy")]
        yield count(
            part,
            f"{size} documents, the same against 2 % of all fields wrong, equal in accuracy: told apart at "
            "p <= 0.05",
            told,
        )
    gate = parse_gate("regression(accuracy) > -0.02")
    for size in (100, 400):
        world = _resize(World({BEFORE: Extractor(0.0, 0.0), NOW: rare}), size)
        done = simulate(world, trials, seed + size, ("accuracy",), ("accuracy",))
        passed = [
            say_regression(arena, gate) is Verdict.PASS for block in done.blocks for arena in block.arenas
        ]
        yield count(
            part,
            f"{size} documents, now one in 50 lost: a regression gate with a margin of 2 points passes",
            passed,
        )
