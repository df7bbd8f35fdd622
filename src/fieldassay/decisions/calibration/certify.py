"""Certified thresholds: a sequence of tests with several starts, fixed before any outcome is seen.

Angelopoulos and others: Learn then test, 2021, arXiv 2110.01052 (sequences with several starts). Wiens: A
fixed sequence Bonferroni procedure, 2003; Bretz and others: A graphical approach to sequentially rejective
multiple test procedures, 2009 (levels that are handed on). Bates and others: Distribution-free,
risk-controlling prediction sets, 2021, arXiv 2101.02703 (risks that only grow as the threshold falls).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec import Struct

from fieldassay.decisions.calibration.binomial import allowed_errors, needed_labels
from fieldassay.decisions.calibration.bounds import risk_p_value, risk_upper
from fieldassay.decisions.calibration.labels import Labels
from fieldassay.decisions.calibration.result import Promise, PromiseKind, Step

SLACK = 1.0 + 1e-9
PLACES = (0.25, 0.5, 0.9)
"""A sequence starts where as many errors may be as in these parts of the documents."""
LATER = 0.3
"""The share of delta of each later start, with very many documents; it grows from 0."""
RATIO, PARTS = 1.08, 40
"""Tests lie where there are 8% more documents, and at every fortieth of the values."""
MOST_PLACES = 200
"""Thresholds that are tried in turn at the most."""


class Found(Struct, frozen=True):
    """The last step of a certification that passed (None: no step did), and all steps that were made."""

    last: Step | None
    steps: tuple[Step, ...]


@lru_cache(maxsize=4096)
def start_sizes(n: int, risk: float, delta: float) -> tuple[tuple[int, float], ...]:
    """Return where sequences start, as documents with an accepted value, and the level that starts there.

    The number of documents and the promise alone decide. The first start allows as many errors as a quarter
    of the documents does, the later ones as many as a half and nine tenths, at their levels. With as few
    documents as can be certified at all the first has all of delta.

    >>> start_sizes(148, 0.02, 0.05), start_sizes(200, 0.02, 0.05)
    ((), ((149, 0.05),))
    >>> [(size, round(level, 4)) for size, level in start_sizes(500, 0.02, 0.05)]
    [(176, 0.029), (226, 0.0105), (415, 0.0105)]
    """
    least = needed_labels(risk, delta)
    if n < least:
        return ()
    later = round(LATER * (1.0 - least / n), 2)
    starts = []
    for place, share in zip(PLACES, (1.0 - 2.0 * later, later, later), strict=True):
        errors = allowed_errors(int(place * n), risk, share * delta) if share > 0.0 else -1
        errors = max(errors, 0) if place == PLACES[0] else errors
        size = needed_labels(risk, share * delta, errors) if errors >= 0 else n + 1
        if size <= n:
            starts.append((size, share))
    if len(starts) < 2:
        errors = max(0, allowed_errors(int(PLACES[0] * n), risk, delta))
        return ((needed_labels(risk, delta, errors), delta),)
    whole = sum(share for _, share in starts)
    return tuple((size, delta * share / whole) for size, share in starts)


def list_tests(labels: Labels, risk: float, delta: float) -> list[tuple[int, float]]:
    """Return the numbers of values to accept, ascending, each with the level that starts there.

    Places lie where documents grow by a twelfth, at the starts, and at every fortieth of the values; a tie is
    taken as a whole. Nothing here looks at outcomes.
    """
    starts = [(labels.count_at(size), level) for size, level in start_sizes(labels.reach, risk, delta)]
    if not starts:
        return []
    size, places = float(start_sizes(labels.reach, risk, delta)[0][0]), {count for count, _ in starts}
    while size < labels.reach:
        places.add(labels.count_at(size))
        size = max(size + 1.0, size * RATIO)
    parts = np.ceil(labels.acceptable * np.arange(1, PARTS + 1) / PARTS).astype(int)
    places |= {labels.count_from(float(labels.confidence[part - 1])) for part in parts}
    return [
        (place, sum(level for count, level in starts if count == place))
        for place in sorted(places)
        if place >= starts[0][0]
    ]


def certify(labels: Labels, promise: Promise, delta: float, level: float | None = None) -> Found:
    """Return the lowest threshold that independent documents certify, and the tests that were made.

    A test has the level that starts at it, and what the test above it had if that passed: it is handed on.
    `delta` fixes the places; `level` (None: delta) is what is shared out among the starts.
    """
    scale = 1.0 if level is None else level / delta
    if promise.kind is PromiseKind.RESIDUAL:
        return _certify_residual(labels, promise, delta * scale)
    steps, handed_on = [], 0.0
    for count, own in list_tests(labels, promise.risk, delta):
        share = own * scale + handed_on
        if share <= 0.0:
            continue
        step = _test(labels, count, promise, share)
        handed_on = share if step.passed else 0.0
        steps.append(step)
    return _bound(labels, steps, promise, delta)


def _certify_residual(labels: Labels, promise: Promise, delta: float) -> Found:
    """Return the lowest threshold whose p value is small, and those of all above it.

    More accepted values never lower Gaffke's p value. That of betting may fall, so places are tried in turn.
    """
    ties = labels.list_ties()
    if promise.is_proven:
        ties = ties[np.unique(np.linspace(0, len(ties) - 1, min(len(ties), MOST_PLACES)).astype(int))]
    tests: dict[int, Step] = {}
    low, high = -1, len(ties)
    while high - low > 1:
        middle = low + 1 if promise.is_proven else (low + high) // 2
        tests[middle] = _test(labels, int(ties[middle]), promise, delta)
        low, high = (middle, high) if tests[middle].passed else (low, middle)
    return _bound(labels, [tests[place] for place in (low, high) if place in tests], promise, delta)


def _test(labels: Labels, count: int, promise: Promise, level: float) -> Step:
    losses = labels.losses(count, promise.kind)
    p = risk_p_value(losses, promise.risk, is_proven=promise.is_proven)
    threshold = float(labels.confidence[count - 1])
    return Step(threshold, round(losses.size), losses.count_errors(), level, None, bool(p <= level * SLACK))


def _bound(labels: Labels, steps: list[Step], promise: Promise, delta: float) -> Found:
    """Return the result of tests, with bounds of the first, of the last that passed, and of the last of all.

    The bound of the first is at the whole of delta: its place was fixed before outcomes.
    """
    last = max((place for place, step in enumerate(steps) if step.passed), default=-1)
    for place in {0, last, len(steps) - 1} & set(range(len(steps))):
        step = steps[place]
        losses = labels.losses(labels.count_from(step.threshold), promise.kind)
        level = delta if last < 0 and place == 0 else step.level
        upper = risk_upper(losses, level, is_proven=promise.is_proven)
        steps[place] = Step(step.threshold, step.labels, step.errors, step.level, upper, step.passed)
    return Found(steps[last] if last >= 0 else None, tuple(steps))
