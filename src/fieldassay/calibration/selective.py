"""Selective prediction: what is accepted, what is wrong in it, and what review would catch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.calibration.bins import Bools, Floats
from fieldassay.result.calibrated import Capture, Point, Selection

BUDGETS = (0.05, 0.1, 0.2, 0.3)
MOST_POINTS = 1000
"""Points of the curve that are kept, evenly taken, the first and the last among them; areas and budgets are of all values."""


def select(confidence: Floats, is_correct: Bools, budgets: Sequence[float] = BUDGETS) -> Selection:
    """Return the risk-coverage curve of at least one value, with its areas and the errors that review would catch.

    >>> found = select(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), (0.25,))
    >>> [(point.threshold, point.coverage, point.selective_risk, point.joint_risk) for point in found.points[:2]]
    [(0.9, 0.25, 0.0, 0.0), (0.8, 0.5, 0.5, 0.25)]
    >>> round(found.aurc, 6), found.augrc, found.captures[0].share
    (0.333333, 0.1875, 0.5)
    """
    values, accepted, errors = count_accepted(confidence, is_correct)
    n = len(confidence)
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(np.int64))
    points = tuple(
        Point(float(value), int(count), int(wrong), count / n, wrong / count, wrong / n)
        for value, count, wrong in zip(values[kept], accepted[kept].tolist(), errors[kept].tolist(), strict=True)
    )
    return Selection(points, _aurc(accepted, errors), _augrc(accepted, errors), tuple(_capture(accepted, errors, one) for one in budgets))


def count_accepted(confidence: Floats, is_correct: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the distinct confidences from high to low, and how many values, and how many wrong ones, have at least each."""
    values, group = np.unique(-confidence, return_inverse=True)
    accepted = np.cumsum(np.bincount(group, minlength=len(values)))
    errors = np.cumsum(np.bincount(group[~is_correct], minlength=len(values)))
    return -values, accepted.astype(np.float64), errors.astype(np.float64)


def _aurc(accepted: Floats, errors: Floats) -> float:
    """Return the mean selective risk over k = 1 .. n accepted values; among equal confidences in any order, on average."""
    sizes, wrong = np.diff(accepted, prepend=0.0), np.diff(errors, prepend=0.0)
    counts = sizes.astype(np.int64)
    ranks = np.arange(1.0, accepted[-1] + 1.0)
    inner = ranks - np.repeat(accepted - sizes, counts)
    return float(((np.repeat(errors - wrong, counts) + inner * np.repeat(wrong / sizes, counts)) / ranks).mean())


def _augrc(accepted: Floats, errors: Floats) -> float:
    """Return the area under joint risk over coverage, straight between thresholds.

    It equals (1 - AUROC) a (1 - a) + (1 - a)^2 / 2 for the accuracy a (Traub and others 2024).
    """
    n = accepted[-1]
    steps = np.diff(accepted, prepend=0.0)
    heights = errors - np.diff(errors, prepend=0.0) / 2.0
    return float((steps * heights).sum() / n**2)


def _capture(accepted: Floats, errors: Floats, budget: float) -> Capture:
    """Return what reviewing the least sure values catches; of equal confidences that the budget splits, the average share."""
    n, total = accepted[-1], errors[-1]
    if not total:
        return Capture(budget, None)
    kept = np.interp(n * (1.0 - budget), np.append(0.0, accepted), np.append(0.0, errors))
    return Capture(budget, float(1.0 - kept / total))
