"""What a number of labels is likely to certify, by simulation of the certification itself."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from fieldassay.calibration.binomial import allowed_errors, needed_labels
from fieldassay.calibration.certify import plan_sizes, start_sizes, walk
from fieldassay.calibration.result import LabelPlan, PlanChance, PlanRow, Promise, PromiseKind

ERRORS = (0, 1, 2, 3)
SHARES = (0.1, 0.2, 0.5)
"""True risks that chances are given for unless one is stated, as shares of the promised risk."""
MULTIPLES = (1, 1.5, 2, 3, 5, 10)
"""Numbers of labels, as multiples of the least."""
TRIALS, FEW_TRIALS, SEED = 4000, 500, 0
LIKELY, MOST_MULTIPLE = 0.8, 64


def split_delta(promise: Promise, families: int) -> float:
    """Return the level for each of several thresholds, so that all promises hold together (Bonferroni).

    >>> round(split_delta(Promise(confidence=0.95), 5), 6)
    0.01
    """
    return (1.0 - promise.confidence) / max(1, families)


def plan_labels(promise: Promise, families: int = 1, true_risks: Sequence[float] = ()) -> LabelPlan:
    """Return what numbers of labels are likely to certify if so many of them are wrong at any confidence.

    >>> plan = plan_labels(Promise(0.01, 0.95), true_risks=(0.002,))
    >>> plan.needed, [(row.labels, round(row.chances[0].chance, 1)) for row in plan.rows][::3]
    ((299, 473, 628, 773), [(299, 0.6), (897, 0.9)])
    """
    delta = split_delta(promise, families)
    needed = tuple(needed_labels(promise.risk, delta, errors) for errors in ERRORS)
    risks = tuple(true_risks) or tuple(promise.risk * share for share in SHARES)
    numbers = [int(np.ceil(needed[0] * multiple)) for multiple in MULTIPLES]
    rows = (
        PlanRow(labels, tuple(simulate(labels, promise, delta, risk) for risk in risks)) for labels in numbers
    )
    return LabelPlan(promise, families, delta, needed, tuple(rows), TRIALS)


def simulate(
    labels: int, promise: Promise, delta: float, true_risk: float, trials: int = TRIALS
) -> PlanChance:
    """Return what so many labels certify in simulations, each wrong with the true risk.

    Every label is one value, all confidences differ, and wrong values may have any of them.

    >>> simulate(298, Promise(0.01), 0.05, 0.0).chance, simulate(299, Promise(0.01), 0.05, 0.0).chance
    (0.0, 1.0)
    """
    chance = np.random.default_rng((SEED, labels))
    if promise.kind is PromiseKind.RESIDUAL:
        allowed = allowed_errors(labels, promise.risk, delta)
        errors = chance.binomial(labels, true_risk, trials)
        shares = np.where(errors <= allowed, 1.0, (allowed + 1.0) / (errors + 1.0)) * (allowed >= 0)
        return PlanChance(true_risk, float(allowed >= 0), float(shares.mean()))
    sizes, starts = plan_sizes(labels, promise.risk, delta), start_sizes(labels, promise.risk, delta)
    if not sizes:
        return PlanChance(true_risk, 0.0, 0.0)
    level = delta / len(starts)
    allowed_at = np.array([allowed_errors(size, promise.risk, level) for size in sizes])
    more = np.diff(sizes, prepend=0)
    errors = np.cumsum(chance.binomial(more[:, None], true_risk, (len(sizes), trials)), axis=0)
    passed = errors <= allowed_at[:, None]
    certified = walk(passed, frozenset(map(sizes.index, starts))) & passed
    accepted = (certified * np.array(sizes)[:, None]).max(axis=0) / labels
    return PlanChance(true_risk, float((accepted > 0.0).mean()), float(accepted.mean()))


def labels_for_chance(promise: Promise, delta: float, true_risk: float) -> int | None:
    """Return the labels with which something is certified 4 times out of 5; None if there are too many."""
    least = needed_labels(promise.risk, delta)
    halves = range(2, 2 * MOST_MULTIPLE)

    def is_likely(half: int) -> bool:
        return simulate(half * least // 2, promise, delta, true_risk, FEW_TRIALS).chance >= LIKELY

    place = bisect_left(halves, True, key=is_likely)
    return halves[place] * least // 2 if place < len(halves) else None
