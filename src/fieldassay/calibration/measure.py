"""Everything that is measured of a group of observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fieldassay.calibration.bins import (
    LIMIT,
    Bools,
    Floats,
    Ints,
    calibration_error,
    cut_bins,
    draw_errors,
    list_bins,
)
from fieldassay.calibration.observations import Observations
from fieldassay.calibration.result import (
    BrierParts,
    Calibration,
    Capture,
    Group,
    Point,
    Selection,
    ValueCounts,
)
from fieldassay.stats.intervals import BootstrapSettings, percentile_intervals
from fieldassay.stats.poisson import document_keys, weight_table, weights

_AT_ONCE = 1 << 18


def auroc(confidence: Floats, is_correct: Bools) -> float | None:
    """Return the probability that a right value has more confidence than a wrong one, ties counted half.

    None unless there are both.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    0.875
    """
    right, wrong = np.sort(confidence[is_correct]), confidence[~is_correct]
    pairs = len(right) * len(wrong)
    if not pairs:
        return None
    below = np.searchsorted(right, wrong, side="left") + np.searchsorted(right, wrong, side="right")
    return float((2 * pairs - below.sum()) / (2 * pairs))


def auroc_interval(
    observed: Observed, seed: int, replicates: int, level: float
) -> tuple[float, float] | None:
    """Return the percentile interval from resampled documents.

    None if it has no width or no replicate is defined.
    """
    if not replicates:
        return None
    bounds = percentile_intervals(auroc_replicates(observed, seed, replicates)[None, :], level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if low < high else None


class Observed:
    """Confidences and outcomes by ascending confidence, with the position of each in `documents`."""

    def __init__(
        self, confidence: Floats, is_correct: Bools, doc: npt.NDArray[np.integer], documents: Sequence[str]
    ) -> None:
        order = np.argsort(confidence, kind="stable")
        self.ordered = confidence[order]
        self.is_correct = is_correct[order]
        self.doc = doc[order]
        self.documents = documents


def auroc_replicates(observed: Observed, seed: int, replicates: int) -> Floats:
    """Return the area of every weighted replicate; NaN where no right or no wrong value has a weight."""
    present, doc = np.unique(observed.doc, return_inverse=True)
    keys = document_keys([observed.documents[position] for position in present], seed)
    right, table = observed.ordered[observed.is_correct], weight_table(np.uint8)
    wrong = observed.ordered[~observed.is_correct]
    parts = _Parts(
        doc[observed.is_correct],
        doc[~observed.is_correct],
        np.searchsorted(right, wrong, "left"),
        np.searchsorted(right, wrong, "right"),
    )
    found = np.empty(replicates)
    width = max(4, _AT_ONCE // max(1, len(present)) // 4 * 4)
    inner = max(1, _AT_ONCE // max(1, len(doc)))
    for first in range(0, replicates, width):
        count = min(width, replicates - first)
        block = np.ascontiguousarray(weights(keys, first, count, table).T)
        for start in range(0, count, inner):
            part = block[start : start + inner]
            found[first + start : first + start + len(part)] = _areas(parts, part)
    return found


class _Parts(NamedTuple):
    """The documents of right and of wrong values, by ascending confidence.

    For each wrong one also how many right values lie below it, or not above it.
    """

    right: Ints
    wrong: Ints
    below: Ints
    not_above: Ints


def _areas(parts: _Parts, weight: npt.NDArray[np.generic]) -> Floats:
    """Return the area for each row of weights (replicates x documents); sums are integers, hence exact."""
    sums = np.zeros((len(weight), len(parts.right) + 1), np.int64)
    np.cumsum(np.take(weight, parts.right, axis=1), axis=1, dtype=np.int64, out=sums[:, 1:])
    wrong = np.take(weight, parts.wrong, axis=1).astype(np.int64)
    twice = 2 * sums[:, -1:] - np.take(sums, parts.below, axis=1) - np.take(sums, parts.not_above, axis=1)
    pairs = sums[:, -1] * wrong.sum(axis=1)
    found: Floats = np.divide(
        (wrong * twice).sum(axis=1), 2 * pairs, out=np.full(len(weight), np.nan), where=pairs > 0
    )
    return found


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
    name: str | None, census: ValueCounts, observations: Observations, chance: BootstrapSettings
) -> Group:
    """Return calibration and selective prediction of a group; without observations its census alone."""
    if not len(observations):
        return Group(name, census)
    return Group(
        name,
        census,
        calibrate_values(observations, chance),
        select(observations.confidence, observations.is_correct),
    )


def calibrate_values(observations: Observations, chance: BootstrapSettings) -> Calibration:
    """Return the calibration of at least one value, beside that of a calibrated scorer by chance."""
    observed = Observed(
        observations.confidence, observations.is_correct, observations.doc, observations.documents
    )
    ordered, is_correct = observed.ordered, observed.is_correct
    starts = cut_bins(ordered)
    error, drawn = calibration_error(ordered, is_correct, starts), draw_errors(ordered, starts, chance.seed)
    loss, clipped = log_loss(ordered, is_correct)
    area = auroc(ordered, is_correct)
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
        brier=brier_parts(ordered, is_correct, starts),
        log_loss=loss,
        clipped=clipped,
        auroc=area,
        auroc_interval=None
        if area is None
        else auroc_interval(observed, chance.seed, chance.replicates, chance.level),
        level=chance.level,
    )
