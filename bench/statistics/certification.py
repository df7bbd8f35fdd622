"""How often certified thresholds break their promise, and how much they accept, on worlds whose truth is known.

python bench/statistics/certification.py [starts|ties|bounds|promises] [--trials N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from fieldassay.calibration.bounds import Losses, risk_p_value
from fieldassay.calibration.certify import SLACK, certify
from fieldassay.calibration.labels import Labels
from fieldassay.calibration.result import Bound, Promise, PromiseKind

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Draw = Callable[[np.random.Generator, int], tuple[Floats, Bools]]
"""Returns the confidences of so many documents, one row each, and which of their values are wrong."""

MANY = 40_000
"""Documents that the truth of a world is taken from."""


def spread(risk: float, top: float = 0.85, rest: float = 0.3) -> Draw:
    """Return documents of one value: so risky in the top share of confidences, much worse below it."""

    def draw(chance: np.random.Generator, n: int) -> tuple[Floats, Bools]:
        place = chance.random((n, 1))
        return 1.0 - place, chance.random((n, 1)) < np.where(place < top, risk, rest)

    return draw


def groups(*parts: tuple[float, float, float]) -> Draw:
    """Return documents of one value with few confidences: (confidence, share, risk) each."""
    confidence, share, risk = (np.array(column) for column in zip(*parts, strict=True))

    def draw(chance: np.random.Generator, n: int) -> tuple[Floats, Bools]:
        place = chance.choice(len(share), (n, 1), p=share)
        return confidence[place], chance.random((n, 1)) < risk[place]

    return draw


def alike(risk: float, values: int, together: float = 0.0, lost: float = 1.0) -> Draw:
    """Return documents of several values of any confidence; a share of errors comes in documents.

    Such a document loses the share `lost` of its values.
    """

    def draw(chance: np.random.Generator, n: int) -> tuple[Floats, Bools]:
        is_bad = chance.random((n, 1)) < together * risk / lost
        wrong = chance.random((n, values)) < np.where(is_bad, lost, (1.0 - together) * risk)
        return chance.random((n, values)), wrong

    return draw


def hard_documents(risk: float, values: int) -> Draw:
    """Return documents that differ in difficulty, which their confidences show in part."""

    def draw(chance: np.random.Generator, n: int) -> tuple[Floats, Bools]:
        ease = chance.beta(8.0, 1.0, (n, 1))
        wrong = chance.random((n, values)) < np.minimum(1.0, risk * 18.0 * (1.0 - ease))
        return np.clip(ease + 0.1 * chance.random((n, values)) - 0.3 * wrong, 0.0, 1.0), wrong

    return draw


@dataclass(frozen=True, slots=True)
class Certified:
    """Shares of the trials: nothing certified, accepted on average, promise broken."""

    nothing: float
    accepted: float
    broken: float
    trials: int


def label(drawn: tuple[Floats, Bools], kind: PromiseKind) -> Labels:
    """Return the labels of drawn documents."""
    confidence, wrong = drawn
    if kind is PromiseKind.DOCUMENT:
        return Labels.single(confidence.min(axis=1), ~wrong.any(axis=1))
    doc = np.repeat(np.arange(len(wrong)), wrong.shape[1])
    return Labels(doc, confidence.ravel(), ~wrong.ravel())


def draw_value(drawn: tuple[Floats, Bools]) -> tuple[Floats, Bools]:
    """Return the first value of each document."""
    return drawn[0][:, :1], drawn[1][:, :1]


def measure(draw: Draw, promise: Promise, n: int, trials: int, seed: int = 1) -> Certified:
    """Return how trials with so many labeled documents went."""
    truth = label(draw(np.random.default_rng(99), MANY), promise.kind)
    nothing, accepted, broken = 0, 0.0, 0
    for trial in range(trials):
        drawn = draw(np.random.default_rng((seed, trial)), n)
        if promise.bound is Bound.BINOMIAL:
            drawn = draw_value(drawn)
        last = certify(label(drawn, promise.kind), promise, 1.0 - promise.confidence).last
        if last is None:
            nothing += 1
            continue
        losses = truth.losses(truth.count_from(last.threshold), promise.kind)
        accepted += truth.count_from(last.threshold) / len(truth.confidence)
        broken += float(losses.wrong @ losses.count) / losses.size > promise.risk
    return Certified(nothing / trials, accepted / trials, broken / trials, trials)


def chance_of_one_test(draw: Draw, risk: float, bound: Bound, n: int, trials: int, seed: int = 2) -> float:
    """Return how often one test that accepts everything passes."""
    passed = 0
    for trial in range(trials):
        drawn = draw(np.random.default_rng((seed, trial)), n)
        labels = label(draw_value(drawn) if bound is Bound.BINOMIAL else drawn, PromiseKind.VALUE)
        losses: Losses = labels.losses(len(labels.confidence), PromiseKind.VALUE)
        passed += risk_p_value(losses, risk, bound) <= 0.05 * SLACK
    return passed / trials


STARTS = [
    (600, 0.02, 0.002),
    (1500, 0.02, 0.002),
    (1500, 0.02, 0.005),
    (1500, 0.01, 0.002),
    (3000, 0.01, 0.001),
    (3000, 0.01, 0.003),
]
"""Labels, target and true risk of the top 85%."""

TIES = {
    "1.0: 97% (0.3% wrong), 0.9: 3% (half)": groups((1.0, 0.97, 0.003), (0.9, 0.03, 0.5)),
    "1.0: 61%, 0.97: 3% (half), 0.95: 30%, 0.8: 6%": groups(
        (1.0, 0.61, 0.003), (0.97, 0.03, 0.5), (0.95, 0.3, 0.005), (0.8, 0.06, 0.2)
    ),
    "1.0: 60%, 0.95: 30%, 0.9: 10%": groups((1.0, 0.6, 0.003), (0.95, 0.3, 0.005), (0.9, 0.1, 0.2)),
}
BOUNDS = {
    "errors independent": alike(0.004, 12),
    "half in documents that lose half": alike(0.004, 12, 0.5, 0.5),
    "all or nothing": alike(0.004, 12, 1.0, 1.0),
}
WORLDS: dict[str, tuple[Draw, int]] = {
    "just above the target": (spread(0.0202, 1.0), 1500),
    "bad below the top": (spread(0.005), 1500),
    "few confidences": (TIES["1.0: 61%, 0.97: 3% (half), 0.95: 30%, 0.8: 6%"], 1000),
    "rare disasters": (alike(0.0202, 8, 1.0, 1.0), 500),
    "dependent errors": (alike(0.0202, 8, 0.5, 0.5), 500),
    "documents of all kinds": (hard_documents(0.02, 6), 500),
}
"""Worlds and numbers of labeled documents, for a target of 2%."""


def print_starts(trials: int) -> None:
    print("| labels, target, true risk of the top | nothing | accepted | broken |\n|---|---:|---:|---:|")
    for n, risk, true in STARTS:
        found = measure(spread(true), Promise(risk), n, trials)
        print(f"| {n:,}, {risk:.0%}, {true:.1%} | {_cells(found)}")


def print_ties(trials: int) -> None:
    print("| confidences, target 2% | labels | nothing | accepted | broken |\n|---|---:|---:|---:|---:|")
    for name, draw in TIES.items():
        for n in (500, 1000):
            print(f"| {name} | {n:,} | {_cells(measure(draw, Promise(0.02), n, trials))}")


def print_bounds(trials: int) -> None:
    print("| 450 / 600 / 900 documents | " + " | ".join(Bound) + " |\n|---|---:|---:|---:|")
    for name, draw in BOUNDS.items():
        cells = [
            " / ".join(f"{chance_of_one_test(draw, 0.01, bound, n, trials):.0%}" for n in (450, 600, 900))
            for bound in Bound
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def print_promises(trials: int) -> None:
    print("| world | promise | bound | nothing | accepted | broken |\n|---|---|---|---:|---:|---:|")
    for name, (draw, n) in WORLDS.items():
        for kind in PromiseKind:
            for bound in (Bound.GAFFKE, Bound.BETTING):
                promise = replace(Promise(0.02), kind=kind, bound=bound)
                print(f"| {name} | {kind} | {bound} | {_cells(measure(draw, promise, n, trials))}")


def _cells(found: Certified) -> str:
    return f"{found.nothing:.0%} | {found.accepted:.0%} | {found.broken:.1%} |"


TABLES = {"starts": print_starts, "ties": print_ties, "bounds": print_bounds, "promises": print_promises}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--trials", type=int, default=500)
    given = parser.parse_args()
    TABLES[given.table](given.trials)
