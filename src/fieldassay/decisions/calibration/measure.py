"""Everything that is measured of a group of observations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.decisions.calibration.bins import (
    LIMIT,
    Bools,
    Floats,
    Ints,
    calibration_error,
    cut_bins,
    draw_errors,
    list_bins,
)
from fieldassay.decisions.calibration.discrimination import discriminate
from fieldassay.decisions.calibration.observations import Observations
from fieldassay.decisions.calibration.result import (
    BrierParts,
    Calibration,
    Capture,
    Group,
    Point,
    Selection,
    ValueCounts,
)
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings

BUDGETS = (0.05, 0.1, 0.2, 0.3)
MOST_POINTS = 1000
"""Points of the curve that are kept, evenly spaced, with both ends; areas and budgets are of all values."""


def select(confidence: Floats, is_correct: Bools, budgets: Sequence[float] = BUDGETS) -> Selection:
    """Return the risk-coverage curve of at least one value, with its areas and the errors caught by review.

    >>> found = select(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), (0.25,))
    >>> [(point.threshold, point.coverage, point.selective_risk) for point in found.points[:2]]
    [(0.9, 0.25, 0.0), (0.8, 0.5, 0.5)]
    >>> [point.joint_risk for point in found.points[:2]]
    [0.0, 0.25]
    >>> round(found.aurc, 6), found.augrc, found.captures[0].share
    (0.333333, 0.1875, 0.5)
    """
    values, accepted, errors = count_accepted(confidence, is_correct)
    n = len(confidence)
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(np.int64))
    points = tuple(
        Point(float(value), int(count), int(wrong), count / n, wrong / count, wrong / n)
        for value, count, wrong in zip(
            values[kept], accepted[kept].tolist(), errors[kept].tolist(), strict=True
        )
    )
    return Selection(
        points,
        _aurc(accepted, errors),
        _augrc(accepted, errors),
        tuple(_capture(accepted, errors, one) for one in budgets),
    )


def count_accepted(confidence: Floats, is_correct: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the distinct confidences, descending, with the values and the wrong values of at least each."""
    values, group = np.unique(-confidence, return_inverse=True)
    accepted = np.cumsum(np.bincount(group, minlength=len(values)))
    errors = np.cumsum(np.bincount(group[~is_correct], minlength=len(values)))
    return -values, accepted.astype(np.float64), errors.astype(np.float64)


def _aurc(accepted: Floats, errors: Floats) -> float:
    """Return the mean selective risk over k = 1 .. n accepted values, averaged over the orders of ties."""
    sizes, wrong = np.diff(accepted, prepend=0.0), np.diff(errors, prepend=0.0)
    counts = sizes.astype(np.int64)
    ranks = np.arange(1.0, accepted[-1] + 1.0)
    inner = ranks - np.repeat(accepted - sizes, counts)
    return float(
        ((np.repeat(errors - wrong, counts) + inner * np.repeat(wrong / sizes, counts)) / ranks).mean()
    )


def _augrc(accepted: Floats, errors: Floats) -> float:
    """Return the area under joint risk over coverage, straight between thresholds.

    It equals (1 - AUROC) a (1 - a) + (1 - a)^2 / 2 for the accuracy a (Traub and others 2024).
    """
    n = accepted[-1]
    steps = np.diff(accepted, prepend=0.0)
    heights = errors - np.diff(errors, prepend=0.0) / 2.0
    return float((steps * heights).sum() / n**2)


def _capture(accepted: Floats, errors: Floats, budget: float) -> Capture:
    """Return the errors caught by review of the least sure values.

    Of equal confidences that the budget splits, the average share is caught.
    """
    n, total = accepted[-1], errors[-1]
    if not total:
        return Capture(budget, None)
    kept = np.interp(n * (1.0 - budget), np.append(0.0, accepted), np.append(0.0, errors))
    return Capture(budget, float(1.0 - kept / total))


CLIP = 1e-6
"""The least distance of confidences from 0 and 1 in log loss: a sure error costs 13.8, not infinity."""


def brier_parts(ordered: Floats, is_correct: Bools, starts: Ints) -> BrierParts:
    """Return the Brier score and its parts over bins of values (Murphy 1973, Stephenson and others 2008).

    The confidences are ascending. The score is `reliability - resolution + uncertainty + within`. `within` is
    the contribution of differences of confidence inside bins; it is 0 if every bin has one confidence.

    >>> confidences, is_correct = np.array([0.5, 0.5, 1.0, 1.0]), np.array([True, False, True, True])
    >>> brier_parts(confidences, is_correct, np.array([0, 2]))
    BrierParts(score=0.125, reliability=0.0, resolution=0.0625, uncertainty=0.1875, within=0.0)
    """
    n, right = len(ordered), is_correct.astype(np.float64)
    sizes = np.diff(np.append(starts, n))
    confidences, shares = np.add.reduceat(ordered, starts) / sizes, np.add.reduceat(right, starts) / sizes
    whole = right.mean()
    inner, hits = ordered - np.repeat(confidences, sizes), right - np.repeat(shares, sizes)
    return BrierParts(
        score=float(((ordered - right) ** 2).mean()),
        reliability=float((sizes * (confidences - shares) ** 2).sum() / n),
        resolution=float((sizes * (shares - whole) ** 2).sum() / n),
        uncertainty=float(whole * (1.0 - whole)),
        within=float((inner**2 - 2.0 * inner * hits).mean()),
    )


def log_loss(confidence: Floats, is_correct: Bools) -> tuple[float, int]:
    """Return the mean of -ln(confidence in the actual outcome), and the number of confidences clipped for it.

    >>> log_loss(np.array([0.5, 1.0]), np.array([True, True]))
    (0.34657..., 1)
    """
    given = np.clip(confidence, CLIP, 1.0 - CLIP)
    clipped = int(np.count_nonzero(given != confidence))
    return float(-np.log(np.where(is_correct, given, 1.0 - given)).mean()), clipped


def measure(
    name: str | None,
    census: ValueCounts,
    observations: Observations,
    chance: BootstrapSettings,
    fields: int = 1,
) -> Group:
    """Return calibration and selective prediction of a group; without observations its census alone.

    `fields` are judged together: what is said of each allows for the others.
    """
    if not len(observations):
        return Group(name, census)
    return Group(
        name,
        census,
        calibrate_values(observations, chance, fields),
        select(observations.confidence, observations.is_correct),
    )


def calibrate_values(observations: Observations, chance: BootstrapSettings, fields: int = 1) -> Calibration:
    """Return the calibration of at least one value, beside that of a calibrated scorer by chance."""
    order = np.argsort(observations.confidence, kind="stable")
    seen = observations.take(order)
    ordered, is_correct = seen.confidence, seen.is_correct
    starts = cut_bins(ordered)
    error, effect = calibration_error(ordered, is_correct, starts), design_effect(seen, starts)
    drawn = draw_errors(ordered, starts, chance.seed) * np.sqrt(effect)
    loss, clipped = log_loss(ordered, is_correct)
    found = discriminate(seen, chance.level, fields)
    return Calibration(
        n=len(ordered),
        documents=observations.count_documents(),
        accuracy=float(is_correct.mean()),
        confidence=float(ordered.mean()),
        bins=list_bins(ordered, is_correct, starts),
        ece=error,
        ece_expected=float(drawn.mean()),
        ece_limit=float(np.quantile(drawn, LIMIT)),
        p_value=float((1 + np.count_nonzero(drawn >= error - 1e-12)) / (len(drawn) + 1)),
        design_effect=effect,
        brier=brier_parts(ordered, is_correct, starts),
        log_loss=loss,
        clipped=clipped,
        auroc=found.area,
        auroc_interval=found.interval,
        discrimination=found.standing.value,
        auroc_note=found.sentence,
        level=chance.level,
    )


def design_effect(seen: Observations, starts: Ints) -> float:
    """Return by how much dependence within documents multiplies the variance of a sum of values; at least 1.

    The values are by ascending confidence, `starts` those of bins, whose mean error is taken off (Kish 1965).

    >>> doc = np.repeat(np.arange(50, dtype=np.int32), 2)
    >>> lost = np.repeat(np.arange(50) % 5 > 0, 2)
    >>> names = tuple(map(str, range(50)))
    >>> seen = Observations(names, ("n",), doc, doc * 0, np.full(100, 0.8), lost, np.ones(100))
    >>> round(design_effect(seen, np.array([0])), 6)
    2.0
    """
    errors = seen.is_correct - seen.confidence
    sizes = np.diff(np.append(starts, len(errors)))
    errors = errors - np.repeat(np.add.reduceat(errors, starts) / sizes, sizes)
    alone, together = float(errors @ errors), np.bincount(seen.doc, errors)
    return max(1.0, float(together @ together) / alone) if alone > 0.0 else 1.0
