"""Proper scores of confidences: Brier with its parts, and log loss."""

from __future__ import annotations

import numpy as np

from fieldassay.calibration.bins import Bools, Floats, Ints
from fieldassay.result.calibrated import BrierParts

CLIP = 1e-6
"""Log loss takes confidences as at least this far from 0 and 1, so that one sure error costs 13.8 and not infinity."""


def brier_parts(ordered: Floats, is_correct: Bools, starts: Ints) -> BrierParts:
    """Return the Brier score and its parts over bins of ascending confidences (Murphy 1973, Stephenson and others 2008).

    The score is `reliability - resolution + uncertainty + within`. `within` holds what differences of confidence inside bins add; it is 0 if
    every bin has one confidence.

    >>> brier_parts(np.array([0.5, 0.5, 1.0, 1.0]), np.array([True, False, True, True]), np.array([0, 2]))
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
    """Return the mean of -ln(the confidence given to what happened), and how many confidences had to be clipped for it.

    >>> log_loss(np.array([0.5, 1.0]), np.array([True, True]))
    (0.34657..., 1)
    """
    given = np.clip(confidence, CLIP, 1.0 - CLIP)
    clipped = int(np.count_nonzero(given != confidence))
    return float(-np.log(np.where(is_correct, given, 1.0 - given)).mean()), clipped
