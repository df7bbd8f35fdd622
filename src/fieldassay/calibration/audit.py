"""The accuracy before review, estimated from reviewed and audited values by inverse probability weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fieldassay.calibration.measure import BootstrapSettings
from fieldassay.calibration.ratios import ratio_interval
from fieldassay.errors import Problem, ProblemsError


@dataclass(frozen=True, slots=True)
class ReviewedValue:
    """A reviewed value: its document, whether the prediction is right, and the probability of review."""

    document: str
    is_correct: bool
    probability: float


@dataclass(frozen=True, slots=True)
class AuditEstimate:
    """An accuracy (None: nothing was looked at) with its interval over documents, and what it stands on."""

    value: float | None
    interval: tuple[float, float] | None
    n: int
    documents: int
    level: float


def estimate_accuracy(
    looked: Sequence[ReviewedValue], chance: BootstrapSettings | None = None
) -> AuditEstimate:
    """Return the share of right predictions before review, weighted by 1 / probability (Hajek 1971).

    Reviewed values alone would underestimate it: they are the least sure ones. The interval is a percentile
    bootstrap over documents, None if it has no width. Raises `ProblemsError` for an invalid probability.

    >>> reviewed = [ReviewedValue("a", False, 1.0), ReviewedValue("b", True, 1.0)]
    >>> audited = [ReviewedValue("c", True, 0.1)]
    >>> round(estimate_accuracy(reviewed + audited).value, 4)
    0.9167
    """
    chance = chance or BootstrapSettings()
    documents = sorted({one.document for one in looked})
    bad = [one for one in looked if not 0.0 < one.probability <= 1.0]
    if bad:
        what = f"{bad[0].probability!r} is no probability of having been looked at"
        raise ProblemsError(
            [
                Problem(
                    f"document {bad[0].document[:100]!r}",
                    what,
                    "give more than 0 and at most 1",
                    "invalid_option",
                )
            ]
        )
    if not looked:
        return AuditEstimate(None, None, 0, 0, chance.level)
    places = {name: place for place, name in enumerate(documents)}
    sums = np.zeros((2, len(documents)))
    for one in looked:
        sums[:, places[one.document]] += (one.is_correct / one.probability, 1.0 / one.probability)
    right, whole = sums.sum(axis=1)
    return AuditEstimate(
        float(right / whole),
        ratio_interval(sums, documents, chance),
        len(looked),
        len(documents),
        chance.level,
    )
