"""What fieldassay promises of its intervals and tests, each measured in simulated trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rates import Rate, count
from worlds import Extractor, Trials, World, measure_truth, simulate

from fieldassay.decisions.gates.kinds import BEFORE, NOW, BaselineMatch, decide_changes, judge_change
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.comparisons.pair import PairedMatrix
from fieldassay.metrics.result.verdicts import Comparison, Verdict
from fieldassay.metrics.uncertainty.paired import mcnemar_mid_p

LEVEL = 0.05
EQUAL = Extractor()
SHARED = Extractor(failing=0.0)
MEANS = (
    "accuracy",
    "accuracy_pooled",
    "accuracy_by_field",
    "f1",
    "macro_f1",
    "perfect_documents",
    "field_accuracy[f03]",
    "recall[f03]",
)
COVERAGE = 0.95
TESTED = ("accuracy", "f1", "perfect_documents")

COVERED = {
    "6% bad documents, accuracy .91": World({"a": SHARED}, hard=0.06),
    "1 in 100 lost, .5% errors, accuracy .985": World({"a": Extractor(0.005, 0.01, 1.0)}),
    "3 in 1000 lost, .1% errors, accuracy .996": World({"a": Extractor(0.001, 0.003, 1.0)}),
    "1 in 50 lost, all else right": World({"a": Extractor(0.0, 0.02, 1.0)}),
    "1 to 40 fields, most of them few, 5% lost": World(
        {"a": Extractor(0.02, 0.05, 1.0)}, fields=40, fewest=1, is_skewed=True
    ),
    "errors that come together, accuracy .95": World({"a": Extractor(0.05, 0.0, uneven=0.4)}),
    "nothing goes badly wrong, accuracy .91": World({"a": Extractor(0.09, 0.0)}),
    "fields that 5% to 40% of the documents have, 3% lost": World(
        {"a": Extractor(0.03, 0.03, 1.0)}, present=(0.05, 0.4)
    ),
    "every second document lost": World({"a": Extractor(0.0, 0.5, 1.0)}),
    "nearly all wrong, accuracy .03": World({"a": Extractor(0.97, 0.0)}),
}
"""One extractor: accuracies from .03 to .996, rare disasters, documents of unlike size, rare fields, errors that come together."""

LARGE_LOST = "1 to 40 fields, 3 in 10 of the few large documents lost"
COVERED[LARGE_LOST] = World(
    {"a": Extractor(0.02, 0.01, 1.0)}, fields=40, fewest=1, is_skewed=True, large_failing=0.3
)
"""Not kept: the documents that are lost are larger than the unseen document, whose size is that of the documents seen."""

NULLS = {
    "50 documents x 12 fields, 6% bad documents": World({"a": EQUAL, "b": EQUAL}),
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

REGRESSIONS = {
    "the same answers, 2% of the documents lost": World(
        {BEFORE: Extractor(0.015, 0.0), NOW: Extractor(0.015, 0.02, 1.0, follows=BEFORE)}
    ),
    "drawn anew with 1% errors, 2% lost": World(
        {BEFORE: Extractor(0.01, 0.0), NOW: Extractor(0.01, 0.02, 1.0)}
    ),
    "6% bad documents each, 2 points worse": World(
        {BEFORE: Extractor(0.15), NOW: Extractor(0.15 + 0.02 / 0.94)}
    ),
    "unchanged, drawn anew with 1.5% errors": World(
        {BEFORE: Extractor(0.015, 0.0), NOW: Extractor(0.015, 0.0)}
    ),
    "6% bad documents each, 8 points worse": World(
        {BEFORE: Extractor(0.15), NOW: Extractor(0.15 + 0.08 / 0.94)}
    ),
}
"""A system before and now."""


def measure_coverage(
    trials: int,
    seed: int,
    sizes: Sequence[int] = (10, 50, 200),
    worlds: Sequence[str] = tuple(COVERED),
) -> Iterator[Rate]:
    """Yield how often the 95% interval of each metric holds the true value, the least of all metrics first."""
    for name in worlds:
        truths = measure_truth(COVERED[name], MEANS, "a")
        for size in sizes:
            done = simulate(_resize(COVERED[name], size), trials, seed + size, MEANS)
            rates = [
                count(
                    "95% intervals that hold the true value",
                    f"{name}, {size} documents: {metric}",
                    _hold(done, metric, truths[metric]),
                    COVERAGE,
                )
                for metric in MEANS
            ]
            yield min(rates, key=lambda rate: rate.share)


def _hold(done: Trials, metric: str, truth: float) -> list[bool]:
    found = [one for one in done.estimates(metric, "a") if one.value is not None]
    return [one.interval is not None and one.interval[0] <= truth <= one.interval[1] for one in found]


def measure_nulls(trials: int, seed: int, worlds: Sequence[str] = tuple(NULLS)) -> Iterator[Rate]:
    """Yield how often two equal extractors are told apart at 5%; and by a test of single fields, which no one should use."""
    part = "Two equal extractors, told apart at p <= 0.05"
    for name in worlds:
        done = simulate(NULLS[name], trials, seed, TESTED, TESTED, bootstrap=0)
        for metric in TESTED:
            found = done.comparisons(metric)
            method = max(
                {one.method.removesuffix("_exact").removesuffix("_mid_p") for one in found} - {"identical"},
                default="identical",
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
            yield mcnemar_mid_p(only_a, only_b)


def measure_families(trials: int, seed: int) -> Iterator[Rate]:
    """Yield false alarms among 12 fields: without adjustment, and adjusted."""
    part = "Twelve fields at once"
    like = Extractor(0.3, 0.06, 0.9)
    fields = [f"field_accuracy[{name}]" for name in World({}).names]
    families = simulate(World({"a": like, "b": like}), trials, seed, fields, fields, bootstrap=0).families(
        fields
    )
    yield count(
        part,
        "equal extractors: any field below 0.05, not adjusted",
        (any(_p(one) <= LEVEL for one in family) for family in families),
    )
    alarms = [any(one.is_shown for one in family) for family in families]
    yield count(part, "equal extractors: any field called different, min-P", alarms, most=LEVEL)
    better = Extractor(0.3, 0.06, 0.9, weak_fields=dict.fromkeys(range(4), 0.02))
    families = simulate(
        World({"a": like, "b": better}), trials, seed + 1, fields, fields, bootstrap=0
    ).families(fields)
    alarms = [any(one.is_shown for one in family[4:]) for family in families]
    yield count(part, "four fields really better: any other called different, min-P", alarms, most=LEVEL)
    yield count(
        part,
        "the same: all four found, min-P",
        (all(one.verdict == "better" for one in family[:4]) for family in families),
    )


def measure_rankings(
    trials: int,
    seed: int,
    metrics: Sequence[str] = ("accuracy", "f1"),
    firsts: Mapping[str, Extractor] = RANKED,
) -> Iterator[Rate]:
    """Yield false alarms in rankings of five extractors: a first one, and four that are equal."""
    part = "Rankings of five extractors (min-P over metrics, Holm over pairs)"
    for what, first in firsts.items():
        others = first if first != BETTER else EQUAL
        done = simulate(
            World({"a": first, **dict.fromkeys("bcde", others)}), trials, seed, metrics, metrics, bootstrap=0
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
    """Return a world in which b's accuracy is above a's by exactly `gap`; both fail on 6% of the documents."""
    a = Extractor(base)
    return World({"a": a, "b": Extractor(base - gap / (1.0 - a.failing))})


DIFFERENCES = {
    "both fail on 6%, 5 points": with_gap(0.05),
    "each loses one in 50": World({"a": Extractor(0.0, 0.02, 1.0), "b": Extractor(0.0, 0.02, 1.0)}),
    "the same answers, 2% of the documents lost": World(
        {"a": Extractor(0.015, 0.0), "b": Extractor(0.015, 0.02, 1.0, follows="a")}
    ),
    "drawn anew with 1% errors, 2% lost": World({"a": Extractor(0.01, 0.0), "b": Extractor(0.01, 0.02, 1.0)}),
}
"""Two extractors on the same documents."""


def _resize(world: World, documents: int) -> World:
    return replace(world, documents=documents)


def measure_differences(
    trials: int, seed: int, sizes: Sequence[int] = (20, 50, 100, 200), worlds: Sequence[str] = ()
) -> Iterator[Rate]:
    """Yield how often the guarded interval of a difference holds the true one, the least of the metrics."""
    part = "Guarded 95% intervals of a difference that hold the true one"
    for name in worlds or DIFFERENCES:
        before, after = (measure_truth(DIFFERENCES[name], TESTED, system) for system in "ab")
        for size in sizes:
            done = simulate(_resize(DIFFERENCES[name], size), trials, seed + size, TESTED, TESTED)
            rates = [
                count(
                    part,
                    f"{name}, {size} documents: {metric}",
                    [
                        one.interval_guarded is not None
                        and one.interval_guarded[0]
                        <= after[metric] - before[metric]
                        <= one.interval_guarded[1]
                        for one in done.comparisons(metric)
                    ],
                    COVERAGE,
                )
                for metric in TESTED
            ]
            yield min(rates, key=lambda rate: rate.share)


def say_regression(arena: PairedMatrix, gate: Gate) -> Verdict:
    """Return what a regression gate says of a trial."""
    [change] = decide_changes([BaselineMatch(arena).compare(gate.metric)])
    return judge_change(gate, change).verdict


def measure_regressions(
    trials: int,
    seed: int,
    sizes: Sequence[int] = (50, 100, 200),
    worlds: Sequence[str] = tuple(REGRESSIONS),
) -> Iterator[Rate]:
    """Yield the verdicts of a regression gate: a loss of the margin may rarely pass, no loss rarely fail."""
    part = "Regression gates with a margin of 2 points"
    for name in worlds:
        truths = [
            measure_truth(REGRESSIONS[name], ("accuracy",), system)["accuracy"] for system in (BEFORE, NOW)
        ]
        loss = truths[0] - truths[1]
        gate = parse_gate(f"regression(accuracy) > -{loss if 0.01 < loss < 0.03 else 0.02:.4f}")
        for size in sizes:
            done = simulate(
                _resize(REGRESSIONS[name], size), trials, seed + size, ("accuracy",), ("accuracy",)
            )
            said = [say_regression(arena, gate) for block in done.blocks for arena in block.arenas]
            for verdict, is_right in ((Verdict.PASS, loss < 0.01), (Verdict.FAIL, loss > 0.03)):
                what = f"{name}, {size} documents: {verdict}"
                yield count(part, what, (one is verdict for one in said), most=1.0 if is_right else LEVEL)
