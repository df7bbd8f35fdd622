"""The certified thresholds of a promise, for all fields together or for each."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fieldassay.calibration.binomial import needed_labels
from fieldassay.calibration.certify import Found, certify
from fieldassay.calibration.labels import Labels
from fieldassay.calibration.observations import Observations
from fieldassay.calibration.planning import labels_for_chance, split_delta
from fieldassay.calibration.result import Certificate, Nearest, Promise, Unit
from fieldassay.wording.numbers import format_share

RISKS = (
    0.001,
    0.002,
    0.003,
    0.005,
    0.01,
    0.015,
    0.02,
    0.03,
    0.04,
    0.05,
    0.075,
    0.1,
    0.15,
    0.2,
    0.3,
    0.4,
    0.5,
)
"""Risks that are tried where the promised one cannot be certified."""

NOUNS = {Unit.DOCUMENT: "documents", Unit.VALUE: "values"}


def share_delta(promise: Promise, sizes: Sequence[int]) -> float:
    """Return the level for each threshold, by the numbers of labels, which are independent of errors.

    Thresholds that could not be certified at that level even without an error take no share.

    >>> round(share_delta(Promise(0.05), [100, 100, 30]), 6)
    0.025
    """
    for families in range(1, len(sizes) + 1):
        delta = split_delta(promise, families)
        if sum(size >= needed_labels(promise.risk, delta) for size in sizes) <= families:
            return delta
    return split_delta(promise, 1)


def certify_fields(
    observations: Observations, fields: Sequence[str], promise: Promise, *, has_nearest: bool = True
) -> tuple[Certificate, ...]:
    """Return one certificate for all fields together, or one for each field where the promise is by field.

    `observations` are values of these fields, or documents where documents are promised. Without a threshold
    a certificate has the nearest promise, if it is asked for.
    """
    families = [(name,) for name in fields] if promise.by_field else [tuple(fields)]
    seen = [observations.of_fields(family) if promise.by_field else observations for family in families]
    labels = [Labels.of(one, promise) for one in seen]
    delta = share_delta(promise, [one.reach for one in labels])
    found = [
        _certify(own, one, family, promise, delta)
        for own, one, family in zip(seen, labels, families, strict=True)
    ]
    if not has_nearest:
        return tuple(found)
    return tuple(
        replace(
            made,
            nearest=None if made.threshold is not None else find_nearest(own, one, promise, delta),
        )
        for made, own, one in zip(found, seen, labels, strict=True)
    )


def find_nearest(
    observations: Observations, labels: Labels, promise: Promise, delta: float
) -> Nearest | None:
    """Return the result for the least certifiable of `RISKS` above the promised one; None if none is."""
    for risk in (one for one in RISKS if one > promise.risk):
        last = certify(labels, replace(promise, risk=risk), delta).last
        if last is not None:
            coverage = float((observations.confidence >= last.threshold).mean())
            return Nearest(risk, last.threshold, last.labels, last.errors, last.bound, coverage)
    return None


def _certify(
    observations: Observations, labels: Labels, fields: tuple[str, ...], promise: Promise, delta: float
) -> Certificate:
    found = certify(labels, promise, delta)
    least, last = needed_labels(promise.risk, delta), found.last
    accepted = observations.confidence >= (2.0 if last is None else last.threshold)
    count = int(accepted.sum())
    return Certificate(
        fields=fields,
        threshold=None if last is None else last.threshold,
        labels=labels.documents,
        support=0 if last is None else last.labels,
        errors=0 if last is None else last.errors,
        upper=1.0 if last is None else last.bound,
        delta=delta,
        level=found.delta,
        needed=least,
        coverage=count / len(observations) if len(observations) else 0.0,
        observed_risk=float((~observations.is_correct[accepted]).mean()) if count else None,
        reason="" if last is not None else _explain(found, labels, promise, delta),
        steps=found.steps,
    )


def _explain(found: Found, labels: Labels, promise: Promise, delta: float) -> str:
    """Return why nothing could be certified, and what it would take."""
    noun, least = NOUNS[promise.unit], needed_labels(promise.risk, delta)
    if labels.reach < least:
        what = (
            f"needs at least {least:,} labeled {noun} with a confidence, all right among the most confident"
        )
        return f"{what}; there are {labels.reach:,}, so at least {least - labels.reach:,} more"
    if not found.steps:
        return (
            f"no group of {noun} of equal confidence can be certified, even without errors: label more {noun}"
        )
    step = found.steps[-1]
    seen = (
        f"of the {step.labels:,} most confident {noun} {step.errors:,} have errors, "
        f"so the risk may be up to {format_share(step.bound, 2)}"
    )
    rate = step.errors / step.labels
    if rate >= promise.risk:
        return (
            f"{seen}; more labels do not help while the most confident values are wrong more often than "
            f"{format_share(promise.risk)}"
        )
    needed = labels_for_chance(promise, delta, rate)
    if needed is None or needed <= labels.reach:
        return f"{seen}; more labels may help"
    return f"{seen}; at this rate of errors about {needed:,} labeled {noun} would certify it 4 times out of 5"
