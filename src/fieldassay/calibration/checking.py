"""A policy on another run: what it accepted, what was wrong in that, and whether its promise held."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fieldassay.calibration.bins import Bools, Floats
from fieldassay.calibration.certify import clopper_pearson_lower, clopper_pearson_upper
from fieldassay.calibration.measure import BootstrapSettings
from fieldassay.calibration.observations import SCALES, Observations, is_judged
from fieldassay.calibration.policy import Item, ReviewPolicy, Rule
from fieldassay.calibration.ratios import ratio_interval
from fieldassay.calibration.result import Check, Promise, PromiseStatus, Unit

if TYPE_CHECKING:
    import polars as pl


def check_rules(
    policy: ReviewPolicy, observations: Observations, chance: BootstrapSettings
) -> tuple[Check, ...]:
    """Return how every threshold did on observations that it was not made from."""
    return tuple(
        _check(rule, observations.of_fields(rule.fields), policy.promise, chance) for rule in policy.rules
    )


def list_items(rows: pl.DataFrame, scale: str) -> Iterator[Item]:
    """Yield the predicted values of evidence, judged or not in any way: what a review would be given."""
    predicted = rows.filter(is_judged()).select("doc", "pred_path", "field", "confidence")
    confidences = SCALES[scale](predicted["confidence"].cast(float).fill_null(np.nan).to_numpy())
    for (doc, path, name, _), confidence in zip(predicted.iter_rows(), confidences.tolist(), strict=True):
        yield Item(doc, path, name, None if math.isnan(confidence) else confidence)


def list_accepted(policy: ReviewPolicy, observations: Observations) -> Bools:
    """Return which observations the policy accepts."""
    thresholds = {
        name: rule.threshold for rule in policy.rules for name in rule.fields if rule.threshold is not None
    }
    least = np.array([thresholds.get(name, np.inf) for name in observations.fields] or [np.inf])
    accepted: Bools = observations.confidence >= least[observations.field]
    return accepted


def _check(rule: Rule, observations: Observations, promise: Promise, chance: BootstrapSettings) -> Check:
    least = np.inf if rule.threshold is None else rule.threshold
    accepted = observations.confidence >= least
    wrong = accepted & ~observations.is_correct
    drawn = observations.draw(promise.unit)
    taken = drawn.confidence >= least
    count, errors = int(taken.sum()), int((taken & ~drawn.is_correct).sum())
    lower = clopper_pearson_lower(errors, count, rule.delta) if count else 0.0
    risk, interval = _estimate(observations, accepted, wrong, promise, chance)
    if interval is None and risk == 0.0 and count:  # without errors the bootstrap has no width
        interval = (0.0, clopper_pearson_upper(0, count, (1.0 - chance.level) / 2.0))
    return Check(
        fields=rule.fields,
        threshold=rule.threshold,
        values=len(observations),
        accepted=int(accepted.sum()),
        errors=int(wrong.sum()),
        documents=len(np.unique(observations.doc[accepted])),
        coverage=float(accepted.mean()) if len(observations) else None,
        risk=risk,
        interval=interval,
        drawn=count,
        drawn_errors=errors,
        lower=lower,
        standing=_judge(risk, lower, promise.risk),
    )


def _judge(risk: float | None, lower: float, target: float) -> PromiseStatus:
    if risk is None:
        return PromiseStatus.EMPTY
    if lower > target:
        return PromiseStatus.BROKEN
    return PromiseStatus.HELD if risk <= target + 1e-12 else PromiseStatus.UNDECIDED


def _estimate(
    observations: Observations, accepted: Bools, wrong: Bools, promise: Promise, chance: BootstrapSettings
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the share of wrong accepted values in the promise's unit, and its interval over documents."""
    present, doc = np.unique(observations.doc, return_inverse=True)
    if not accepted.any():
        return None, None
    sizes = np.bincount(doc) if promise.unit is Unit.DOCUMENT else np.ones(len(present))
    sums: Floats = np.stack(
        [np.bincount(doc[rows], minlength=len(present)) / sizes for rows in (wrong, accepted)]
    )
    above, below = sums.sum(axis=1)
    return float(above / below), ratio_interval(
        sums, [observations.documents[place] for place in present], chance
    )
