"""The accuracy before review, estimated from reviewed and audited values by inverse probability weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from fieldassay.decisions.calibration.certificate import Losses, ratio_interval, risk_lower, risk_upper
from fieldassay.decisions.calibration.observations import Floats
from fieldassay.errors import Problem, ProblemsError
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings


class ReviewedValue(Struct, frozen=True):
    """A reviewed value: its document, whether the prediction is right, and the probability of review.

    `is_accepted`: whether it was looked at as an audit of the accepted; None: if the probability is below 1.
    """

    document: str
    is_correct: bool
    probability: float
    is_accepted: bool | None = None

    @property
    def is_audit(self) -> bool:
        """Return whether it stands for accepted values."""
        return self.probability < 1.0 if self.is_accepted is None else self.is_accepted


class AuditEstimate(Struct, frozen=True):
    """An accuracy (None: nothing was looked at) with its interval over documents, and what it stands on.

    `risk` is the share of wrong values among the accepted (None without audits).
    """

    value: float | None
    interval: tuple[float, float] | None
    n: int
    documents: int
    level: float
    risk: float | None = None
    risk_interval: tuple[float, float] | None = None


def estimate_accuracy(
    looked: Sequence[ReviewedValue], chance: BootstrapSettings | None = None, accepted: int | None = None
) -> AuditEstimate:
    """Return the share of right predictions before review, weighted by 1 / probability (Hajek 1971).

    Reviewed values alone would underestimate it: they are the least sure ones. `accepted` is the number of
    all accepted values: with it the audits stand for exactly so many values (post-stratified), and only the
    risk of the accepted is uncertain. Without it the interval is a percentile bootstrap over documents, None
    if it has no width. The interval of the risk is Gaffke's. Raises `ProblemsError` for an invalid
    probability, and for fewer accepted values than audits.

    >>> reviewed = [ReviewedValue("a", False, 1.0), ReviewedValue("b", True, 1.0)]
    >>> audited = [ReviewedValue("c", True, 0.1)]
    >>> round(estimate_accuracy(reviewed + audited).value, 4)
    0.9167
    >>> round(estimate_accuracy(reviewed + audited, accepted=18).value, 4)
    0.95
    """
    chance = chance or BootstrapSettings()
    audits = [one for one in looked if one.is_audit]
    _check(looked, audits, accepted)
    if not looked:
        return AuditEstimate(None, None, 0, 0, chance.level)
    sums, documents = _sum_up(looked)
    right, whole = sums.sum(axis=1)
    value: float | None = float(right / whole)
    interval = None
    risk, bounds = _estimate_risk(audits, chance.level)
    if accepted is None:
        interval = ratio_interval(sums, documents, chance)
    elif risk is None or bounds is None:
        value = value if not accepted else None
    else:
        rest = [one for one in looked if not one.is_audit]
        known, size = sum(one.is_correct for one in rest), len(rest) + accepted
        value = (known + accepted * (1.0 - risk)) / size
        interval = (
            (known + accepted * (1.0 - bounds[1])) / size,
            (known + accepted * (1.0 - bounds[0])) / size,
        )
    return AuditEstimate(value, interval, len(looked), len(documents), chance.level, risk, bounds)


def _sum_up(looked: Sequence[ReviewedValue]) -> tuple[Floats, list[str]]:
    """Return the weights of right values and of all (rows) by document, and the documents."""
    documents = sorted({one.document for one in looked})
    places = {name: place for place, name in enumerate(documents)}
    sums = np.zeros((2, len(documents)))
    for one in looked:
        sums[:, places[one.document]] += (one.is_correct / one.probability, 1.0 / one.probability)
    return sums, documents


def _estimate_risk(
    audits: Sequence[ReviewedValue], level: float
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the share of wrong values among the accepted with its interval, one observation a document."""
    if not audits:
        return None, None
    (right, whole), _ = _sum_up(audits)
    wrong, most, tail = whole - right, float(whole.max()), (1.0 - level) / 2.0
    losses = Losses(wrong / most, whole / most, np.ones(len(whole)))
    return float(wrong.sum() / whole.sum()), (
        risk_lower(losses, tail),
        risk_upper(losses, tail),
    )


def _check(looked: Sequence[ReviewedValue], audits: Sequence[ReviewedValue], accepted: int | None) -> None:
    problems = []
    bad = [one for one in looked if not 0.0 < one.probability <= 1.0]
    if bad:
        where = f"document {bad[0].document[:100]!r}"
        what = f"{bad[0].probability!r} is no probability of having been looked at"
        problems.append(Problem(where, what, "give more than 0 and at most 1", "invalid_option"))
    if accepted is not None and accepted < len(audits):
        what = f"{accepted:,} accepted values cannot have {len(audits):,} audits"
        problems.append(Problem("accepted", what, "give the number of all accepted values", "invalid_option"))
    if problems:
        raise ProblemsError(problems)
