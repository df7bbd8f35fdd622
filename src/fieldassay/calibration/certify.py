"""Certified thresholds: sequences of tests that are fixed before any outcome is seen.

Angelopoulos and others: Learn then test, 2021, arXiv 2110.01052 (sequences with several starts). Bates and
others: Distribution-free, risk-controlling prediction sets, 2021, arXiv 2101.02703 (risks that only grow as
the threshold falls).
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache

import numpy as np
from msgspec import Struct

from fieldassay.calibration.binomial import allowed_errors, needed_labels
from fieldassay.calibration.bins import Bools
from fieldassay.calibration.bounds import risk_p_value, risk_upper
from fieldassay.calibration.labels import Labels
from fieldassay.calibration.result import Promise, PromiseKind, Step

SLACK = 1.0 + 1e-9
FIRST_STEP, STEPS = 2, 20
"""Planned sizes are twentieths of the labels, from the second of them on."""
MOST_TIES = 20
"""With at most so many distinct confidences, each of them is a threshold to test."""
PARTS = ((4, (0.25, 0.75)), (1, (0.8,)))
"""Where sequences start, as parts of the labels, from so many times the least number of labels on."""


class Found(Struct, frozen=True):
    """The last step of a certification that passed (None: no step did), all steps in order, the level."""

    last: Step | None
    steps: tuple[Step, ...]
    delta: float


@lru_cache(maxsize=256)
def start_sizes(n: int, risk: float, delta: float) -> tuple[int, ...]:
    """Return the sizes where sequences start, by the number of labels and the promise alone.

    A start is the least size that allows as many errors as some part of the labels does: four fifths; from
    four times the least number of labels on a quarter and three quarters, which share delta equally.

    >>> [start_sizes(n, 0.02, 0.05) for n in (148, 200, 400, 600, 1500)]
    [(), (149,), (313,), (183, 436), (359, 1107)]
    """
    least = needed_labels(risk, delta)
    parts = next((parts for times, parts in PARTS if n >= times * least), ())
    return tuple(_size_within(int(part * n), risk, delta / len(parts)) for part in parts)


def _size_within(n: int, risk: float, delta: float) -> int:
    """Return the least size that allows as many errors as n does."""
    return needed_labels(risk, delta, max(0, allowed_errors(n, risk, delta)))


@lru_cache(maxsize=256)
def plan_sizes(n: int, risk: float, delta: float) -> tuple[int, ...]:
    """Return the sizes to test where confidences differ: starts, and every twentieth above the first.

    >>> plan_sizes(1000, 0.03, 0.05)[:3], plan_sizes(320, 0.01, 0.05), plan_sizes(200, 0.01, 0.05)
    ((239, 250, 300), (299, 304, 320), ())
    """
    starts = start_sizes(n, risk, delta)
    regular = (-(-n * step // STEPS) for step in range(FIRST_STEP, STEPS + 1))
    return tuple(sorted({*starts, *(size for size in regular if size > starts[0])})) if starts else ()


def walk(passed: Bools, starts: frozenset[int]) -> Bools:
    """Return which tests (rows) are made in each trial (columns), given which would pass.

    Each sequence goes from its start to the first test that fails. All that pass are certified, since each
    sequence errs with at most its share of delta.

    >>> is_passed = np.array([[False, True], [True, True], [True, False], [False, True]])
    >>> walk(is_passed, frozenset({0, 2})).tolist()
    [[True, True], [False, True], [True, True], [True, False]]
    """
    made = np.empty_like(passed)
    is_open = np.zeros(passed.shape[1], bool)
    for place, row in enumerate(passed):
        made[place] = is_open | (place in starts)
        is_open = made[place] & row
    return made


def certify(labels: Labels, promise: Promise, delta: float) -> Found:
    """Return the lowest threshold that independent labels certify, and the steps that led there."""
    if promise.kind is PromiseKind.RESIDUAL:
        return _certify_residual(labels, promise, delta)
    counts, sizes = _list_tests(labels, promise, delta)
    starts = _find_starts(labels, counts, sizes)
    level = delta / max(1, len(starts))
    passed = np.array([_p_value(labels, count, promise) <= level * SLACK for count in counts], bool)
    made = walk(passed[:, None], starts)[:, 0] if counts else passed
    tested = [(count, bool(ok)) for count, ok, is_made in zip(counts, passed, made, strict=True) if is_made]
    return _found(labels, tested, promise, level)


def _list_tests(labels: Labels, promise: Promise, delta: float) -> tuple[list[int], tuple[int, ...]]:
    """Return the numbers of values to test, ascending, and the sizes where sequences start.

    With few distinct confidences every tie is tested, from the first on; else the planned sizes are. Those
    that could not even be certified without an error, the first ones, are left out. Nothing here looks at
    outcomes.
    """
    counts, sizes = labels.list_ties(), start_sizes(labels.reach, promise.risk, delta)
    if len(counts) > MOST_TIES:
        planned = plan_sizes(labels.reach, promise.risk, delta)
        counts = sorted({labels.count_at(size) for size in planned})
    elif sizes:
        sizes = (1, *sizes) if len(sizes) > 1 else (1,)
    level = delta / max(1, len(sizes))

    def is_large_enough(count: int) -> bool:
        return _p_value(labels, count, promise, is_clean=True) <= level * SLACK

    return counts[bisect_left(counts, True, key=is_large_enough) :], sizes


def _find_starts(labels: Labels, counts: list[int], sizes: tuple[int, ...]) -> frozenset[int]:
    """Return the positions of the first counts that reach the sizes where sequences start."""
    reached = [labels.weight[count - 1] + 1e-9 for count in counts]
    places = (next((at for at, one in enumerate(reached) if one >= size), None) for size in sizes)
    return frozenset(place for place in places if place is not None)


def _certify_residual(labels: Labels, promise: Promise, delta: float) -> Found:
    """Return the lowest threshold whose bound meets the target: the bound grows as the threshold falls."""
    ties = labels.list_ties()
    low, high = -1, len(ties)
    while high - low > 1:
        middle = (low + high) // 2
        is_passed = _p_value(labels, ties[middle], promise) <= delta * SLACK
        low, high = (middle, high) if is_passed else (low, middle)
    tested = [(ties[place], place == low) for place in (low, high) if 0 <= place < len(ties)]
    return _found(labels, tested, promise, delta)


def _found(labels: Labels, tested: list[tuple[int, bool]], promise: Promise, level: float) -> Found:
    """Return the result of tests, with bounds for the last that passed and the last of all."""
    last = max((place for place, (_, is_passed) in enumerate(tested) if is_passed), default=-1)
    bounded = {last, len(tested) - 1}
    steps = []
    for place, (count, is_passed) in enumerate(tested):
        losses = labels.losses(count, promise.kind)
        accepted, wrong = labels.count_documents(count)
        upper = risk_upper(losses, level, promise.bound) if place in bounded else None
        size = labels.documents if promise.kind is PromiseKind.RESIDUAL else accepted
        steps.append(Step(float(labels.confidence[count - 1]), size, wrong, upper, is_passed))
    return Found(steps[last] if last >= 0 else None, tuple(steps), level)


def _p_value(labels: Labels, count: int, promise: Promise, *, is_clean: bool = False) -> float:
    losses = labels.losses(count, promise.kind)
    return risk_p_value(losses.without_errors() if is_clean else losses, promise.risk, promise.bound)
