"""Certified thresholds: a fixed sequence of exact binomial tests, from high confidence down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fieldassay.calibration.bins import Bools, Floats
from fieldassay.calibration.result import Step

_SLACK = 1.0 + 1e-12
FIRST_STEP, STEPS = 2, 20
"""Planned sizes are twentieths of the labels.

The first is the second of them, a tenth (more if that could not be certified at all).
"""

MOST_LABELS = 1 << 40
MOST_ERRORS = 10_000


@dataclass(frozen=True, slots=True)
class Found:
    """The last step of a certification that passed (None: not even the first did), and all steps in order."""

    last: Step | None
    steps: tuple[Step, ...]


def clopper_pearson_upper(errors: int, n: int, delta: float) -> float:
    """Return the Clopper-Pearson (1934) one-sided upper bound of a proportion at 1 - delta; 1 for n = 0.

    >>> round(clopper_pearson_upper(0, 299, 0.05), 6), round(clopper_pearson_upper(1, 10, 0.05), 4)
    (0.009969, 0.3942)
    """
    from scipy.special import betaincinv

    return 1.0 if errors >= n else float(betaincinv(errors + 1, n - errors, 1.0 - delta))


def clopper_pearson_lower(errors: int, n: int, delta: float) -> float:
    """Return the one-sided lower bound of a proportion at the level 1 - delta; 0 without errors.

    >>> round(clopper_pearson_lower(1, 10, 0.05), 6)
    0.005116
    """
    from scipy.special import betaincinv

    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, delta))


def passes(errors: int, n: int, risk: float, delta: float) -> bool:
    """Return whether so many errors among n labels show, at level 1 - delta, that the risk is at most `risk`.

    Equivalent to a Clopper-Pearson upper bound of at most `risk`.
    """
    return chance_to_pass(errors, n, risk) <= delta * _SLACK if errors < n else False


def chance_to_pass(errors: int, n: int, true_risk: float) -> float:
    """Return the probability that n labels have at most so many errors.

    >>> round(chance_to_pass(0, 299, 0.001), 3)
    0.741
    """
    from scipy.special import bdtr

    return 1.0 if errors >= n else float(bdtr(float(errors), n, true_risk))


def needed_labels(risk: float, delta: float, errors: int = 0) -> int:
    """Return the least number of accepted labels that can be certified with so many errors among them.

    Without errors it is ceil(ln(delta) / ln(1 - risk)).

    >>> [needed_labels(0.01, 0.05, errors) for errors in range(4)]
    [299, 473, 628, 773]
    """
    low, high = errors, max(2, 2 * (errors + 1))
    while not passes(errors, high, risk, delta) and high < MOST_LABELS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(errors, middle, risk, delta) else (middle, high)
    return high


def needed_at_rate(rate: float, risk: float, delta: float) -> int | None:
    """Return the approximate number of accepted labels needed at an error rate below the risk.

    None for more than 10,000 errors.

    >>> needed_at_rate(1 / 299, 0.01, 0.05)
    773
    """
    low, high = -1, 1
    while high / needed_labels(risk, delta, high) < rate:
        low, high = high, 2 * high
        if high > MOST_ERRORS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle / needed_labels(risk, delta, middle) < rate else (low, middle)
    return needed_labels(risk, delta, high)


def plan_sizes(n: int, risk: float, delta: float) -> tuple[int, ...]:
    """Return the support sizes to test, in order; they depend only on the number of labels and the promise.

    >>> plan_sizes(1000, 0.03, 0.05)[:4], plan_sizes(320, 0.01, 0.05), plan_sizes(200, 0.01, 0.05)
    ((100, 150, 200, 250), (299, 304, 320), ())
    """
    regular = [-(-n * step // STEPS) for step in range(FIRST_STEP, STEPS + 1)]
    first = max(needed_labels(risk, delta), regular[0])
    return tuple(dict.fromkeys((first, *(size for size in regular if size > first)))) if first <= n else ()


def certify(confidence: Floats, is_correct: Bools, risk: float, delta: float) -> Found:
    """Return the lowest threshold that independent labels certify, and the steps that led there.

    A planned size stands for the labels whose confidence is strictly above that of the next one below them.
    So a tie is never split: it is left out as a whole. Sizes with the same labels are tested once, sizes too
    small for any certificate never. The first failure ends the test.
    """
    n = len(confidence)
    descending = np.sort(confidence)[::-1]
    errors = np.cumsum(~is_correct[np.argsort(-confidence, kind="stable")])
    least, before = needed_labels(risk, delta), 0
    steps: list[Step] = []
    for planned in plan_sizes(n, risk, delta):
        labels = n if planned == n else int(np.searchsorted(-descending, -descending[planned], side="left"))
        if labels < least or labels == before:
            continue
        before, wrong = labels, int(errors[labels - 1])
        is_passed = passes(wrong, labels, risk, delta)
        steps.append(
            Step(
                planned,
                labels,
                float(descending[labels - 1]),
                wrong,
                clopper_pearson_upper(wrong, labels, delta),
                is_passed,
            )
        )
        if not is_passed:
            break
    passed = [step for step in steps if step.passed]
    return Found(passed[-1] if passed else None, tuple(steps))
