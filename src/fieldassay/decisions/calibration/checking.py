"""A policy on another run: what it accepted, what was wrong in that, and whether its promise held."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from fieldassay.decisions.calibration.bins import Bools
from fieldassay.decisions.calibration.bounds import risk_lower
from fieldassay.decisions.calibration.labels import Labels, order_by, weigh
from fieldassay.decisions.calibration.observations import SCALES, Observations, is_judged
from fieldassay.decisions.calibration.policy import Item, ReviewPolicy, Rule
from fieldassay.decisions.calibration.ratios import ratio_interval
from fieldassay.decisions.calibration.result import Check, Promise, PromiseKind, PromiseStatus
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings

if TYPE_CHECKING:
    import polars as pl


def check_rules(
    policy: ReviewPolicy, observations: Observations, chance: BootstrapSettings
) -> tuple[Check, ...]:
    """Return how every threshold did on observations that it was not made from.

    They are values, or documents where documents are promised.
    """
    is_whole = policy.promise.kind is PromiseKind.DOCUMENT
    return tuple(
        _check(
            rule, observations if is_whole else observations.of_fields(rule.fields), policy.promise, chance
        )
        for rule in policy.rules
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


def list_whole(policy: ReviewPolicy, documents: Observations) -> Bools:
    """Return which documents the policy accepts as a whole."""
    [threshold] = {rule.threshold for rule in policy.rules}
    accepted: Bools = documents.confidence >= (np.inf if threshold is None else threshold)
    return accepted


def _check(rule: Rule, observations: Observations, promise: Promise, chance: BootstrapSettings) -> Check:
    least = np.inf if rule.threshold is None else rule.threshold
    accepted = observations.confidence >= least
    labels = Labels.of(observations, order_by(chance.seed) if promise.is_proven else None)
    count = labels.count_from(least)
    losses = labels.losses(count, promise.kind)
    lower = risk_lower(losses, rule.delta, is_proven=promise.is_proven) if count else 0.0
    risk, interval = _estimate(observations, labels, count, promise, chance) if count else (None, None)
    return Check(
        fields=rule.fields,
        threshold=rule.threshold,
        values=len(observations),
        accepted=int(accepted.sum()),
        errors=int((accepted & ~observations.is_correct).sum()),
        documents=len(np.unique(observations.doc[accepted])),
        coverage=float(accepted.mean()) if len(observations) else None,
        risk=risk,
        interval=interval,
        counted=round(losses.size),
        wrong_documents=losses.count_errors(),
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
    observations: Observations, labels: Labels, count: int, promise: Promise, chance: BootstrapSettings
) -> tuple[float, tuple[float, float] | None]:
    """Return the share that the promise is about, every document counted once, and its guarded interval."""
    wrong, accepted = labels.count_values(count)[::-1]
    sums = np.stack(weigh(promise.kind, wrong, accepted, labels.values))
    names = [observations.documents[place] for place in np.unique(observations.doc)]
    above, below = sums.sum(axis=1)
    return float(above / below), ratio_interval(sums, names, chance, is_guarded=True)
