"""How often certified thresholds break their guarantee, and how much they accept, on worlds whose truth is known.

python bench/statistics/certification.py [accepted|promises] [--trials N]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fieldassay.decisions.calibration.certificate import SLACK, Guarantee, RankedLabels, certify, risk_p_value

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Drawn = tuple[Floats, Bools]
Draw = Callable[[np.random.Generator, int], Drawn]
"""Returns the confidences of so many documents, one row each (-1: no value), and which values are wrong."""

MANY = 40_000
"""Documents that the truth of a world is taken from."""


def good(values: int, accuracy: float = 0.93) -> Draw:
    """Return documents of calibrated confidences."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        confidence = chance.beta(8.0, 8.0 * (1.0 - accuracy) / accuracy, (n, values))
        return confidence, chance.random((n, values)) >= confidence

    return draw


def sharp(values: int, accuracy: float = 0.97) -> Draw:
    """Return documents whose wrong values have low confidences."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        wrong = chance.random((n, values)) >= accuracy
        return np.where(wrong, chance.beta(2.0, 4.0, wrong.shape), chance.beta(12.0, 0.4, wrong.shape)), wrong

    return draw


def bad_documents(values: int) -> Draw:
    """Return documents of which 6% are half wrong, which no confidence says."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        confidence, wrong = good(values, 0.976)(chance, n)
        is_bad = chance.random((n, 1)) < 0.06
        return confidence, wrong | (is_bad & (chance.random(wrong.shape) < 0.5))

    return draw


def ties(values: int) -> Draw:
    """Return documents with five distinct confidences."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        sure, wrong = good(values)(chance, n)
        levels = [sure > 0.97, sure > 0.9, sure > 0.8, sure > 0.6]
        return np.select(levels, [0.99, 0.95, 0.9, 0.8], 0.5), wrong

    return draw


def useless(values: int) -> Draw:
    """Return documents whose confidences know nothing."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        return chance.beta(8.0, 0.6, (n, values)), chance.random((n, values)) < 0.07

    return draw


def upside_down(values: int) -> Draw:
    """Return documents whose wrong values are the most confident ones."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        confidence, wrong = good(values)(chance, n)
        return 1.0 - confidence, wrong

    return draw


def overconfident(values: int) -> Draw:
    """Return documents with confidences above .95 that know little."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        wrong = chance.random((n, values)) < 0.07
        return 1.0 - 0.05 * chance.random(wrong.shape) ** np.where(wrong, 0.7, 1.3), wrong

    return draw


def lost_whole(share: float, values: int, *, is_at_the_top: bool = False) -> Draw:
    """Return documents of which some are wrong as a whole, at any confidence or at the highest, and no other."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        is_lost = chance.random((n, 1)) < share
        confidence = chance.beta(8.0, 0.6, (n, values))
        if is_at_the_top:
            confidence = np.where(is_lost, 1.0 - 1e-6 * chance.random((n, values)), confidence)
        return confidence, np.repeat(is_lost, values, axis=1)

    return draw


def unequal(world: Callable[[int], Draw], most: int = 60) -> Draw:
    """Return documents of 1 to 60 values, many of them short."""

    def draw(chance: np.random.Generator, n: int) -> Drawn:
        confidence, wrong = world(most)(chance, n)
        sizes = np.exp(chance.random(n) * np.log(most + 1.0)).astype(int)
        is_there = np.arange(most) < np.maximum(sizes, 1)[:, None]
        return np.where(is_there, confidence, -1.0), wrong & is_there

    return draw


@dataclass(frozen=True, slots=True)
class Certified:
    """What trials gave: how many certified anything and broke the guarantee, and the mean share accepted."""

    certified: int
    accepted: float
    broken: int
    trials: int

    def __str__(self) -> str:
        return f"{self.certified / self.trials:.2f} / {self.accepted:.2f} ({self.broken / self.trials:.1%})"


def label(drawn: Drawn) -> RankedLabels:
    """Return the labels of drawn documents."""
    confidence, wrong = drawn
    is_there = confidence >= 0.0
    doc = np.repeat(np.arange(len(wrong)), is_there.sum(axis=1))
    return RankedLabels(doc, confidence[is_there], ~wrong[is_there])


def measure(draw: Draw, guarantee: Guarantee, n: int, trials: int, seed: int = 1) -> Certified:
    """Return how trials with so many labeled documents went."""
    truth = label(draw(np.random.default_rng(99), MANY))
    certified, accepted, broken = 0, 0.0, 0
    for trial in range(trials):
        last = certify(label(draw(np.random.default_rng((seed, trial, n)), n)), guarantee).last
        if last is None:
            continue
        count = truth.count_from(last.threshold)
        losses = truth.losses(count)
        certified += 1
        accepted += truth.share(count)
        broken += float(losses.wrong @ losses.count) > guarantee.risk * losses.size
    return Certified(certified, accepted / trials, broken, trials)


def chance_of_one_test(draw: Draw, guarantee: Guarantee, n: int, trials: int, seed: int = 2) -> float:
    """Return how often one test that accepts everything passes."""
    passed = 0
    for trial in range(trials):
        labels = label(draw(np.random.default_rng((seed, trial)), n))
        passed += risk_p_value(labels.losses(len(labels)), guarantee.risk) <= 0.05 * SLACK
    return passed / trials


WORLDS: dict[str, Callable[[int], Draw]] = {
    "good": good,
    "sharp": sharp,
    "bad documents": bad_documents,
    "ties": ties,
    "useless": useless,
    "upside down": upside_down,
    "overconfident": overconfident,
}
FLAT: dict[str, tuple[Draw, int]] = {
    "one value, 300": (lost_whole(0.0205, 1), 300),
    "four values, 149": (lost_whole(0.0205, 4), 149),
    "four values, 300": (lost_whole(0.0205, 4), 300),
    "four values, 1000": (lost_whole(0.0205, 4), 1000),
}
"""Worlds just above a guarantee of 2% at every threshold: whatever is certified is broken."""
HARD: dict[str, tuple[Draw, int]] = {
    "lost at the top": (lost_whole(0.025, 4, is_at_the_top=True), 500),
    "bad documents": (bad_documents(4), 1000),
    "ties": (ties(12), 300),
    "unequal": (unequal(bad_documents), 300),
    "one value": (good(1), 500),
}
"""Worlds and numbers of labeled documents in which a guarantee of 2% is easily broken."""


def print_accepted(trials: int) -> None:
    sizes = (150, 200, 300, 500, 1000)
    print("| world, target 2% | " + " | ".join(map(str, sizes)) + " |\n|---|" + "---|" * len(sizes))
    for name, world in WORLDS.items():
        for values in (1, 4, 12):
            cells = [str(measure(world(values), Guarantee(0.02), n, trials)) for n in sizes]
            print(f"| {values} {name} | " + " | ".join(cells) + " |", flush=True)


def print_promises(trials: int) -> None:
    print("| world, documents | certified / accepted (broken) |\n|---|---|")
    for name, (draw, n) in {**FLAT, **HARD}.items():
        print(f"| {name}, {n} | {measure(draw, Guarantee(0.02), n, trials)} |", flush=True)


TABLES: dict[str, Callable[[int], None]] = {"accepted": print_accepted, "promises": print_promises}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--trials", type=int, default=200)
    given = parser.parse_args()
    TABLES[given.table](given.trials)
