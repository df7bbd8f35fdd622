"""The certified thresholds of a promise, for all fields together or for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fieldassay.calibration.certify import Found, certify, needed_at_rate, needed_labels
from fieldassay.calibration.observations import Observations
from fieldassay.calibration.result import Certificate, Nearest, Promise, Step, Unit
from fieldassay.wording.numbers import show_share

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

_NOUNS = {Unit.DOCUMENT: "documents", Unit.VALUE: "values"}


def split_delta(promise: Promise, families: int) -> float:
    """Return the level for each of several thresholds, so that all promises hold together (Bonferroni).

    >>> round(split_delta(Promise(confidence=0.95), 5), 6)
    0.01
    """
    return (1.0 - promise.confidence) / max(1, families)


def certify_fields(
    observations: Observations, fields: Sequence[str], promise: Promise
) -> tuple[Certificate, ...]:
    """Return one certificate for all fields together, or one for each field where the promise is by field.

    Only fields with enough labels for any certificate share the confidence; the number of labels is
    independent of errors.
    """
    families = [(name,) for name in fields] if promise.by_field else [tuple(fields)]
    seen = [observations.of_fields(family) for family in families]
    least = needed_labels(promise.risk, 1.0 - promise.confidence)
    delta = split_delta(promise, sum(len(one.draw(promise.unit)) >= least for one in seen))
    found = [_certify(one, family, promise, delta) for one, family in zip(seen, families, strict=True)]
    shared = split_delta(promise, len(families))
    return tuple(
        one if one.threshold is not None else replace(one, nearest=find_nearest(labels, promise, shared))
        for one, labels in zip(found, seen, strict=True)
    )


def find_nearest(observations: Observations, promise: Promise, delta: float) -> Nearest | None:
    """Return the result for the least certifiable of `RISKS` above the promised one; None if none is."""
    drawn = observations.draw(promise.unit)
    for risk in (one for one in RISKS if one > promise.risk):
        last = certify(drawn.confidence, drawn.is_correct, risk, delta).last
        if last is not None:
            coverage = float((observations.confidence >= last.threshold).mean())
            return Nearest(risk, last.threshold, last.labels, last.errors, last.upper, coverage)
    return None


def _certify(
    observations: Observations, fields: tuple[str, ...], promise: Promise, delta: float
) -> Certificate:
    drawn = observations.draw(promise.unit)
    found = certify(drawn.confidence, drawn.is_correct, promise.risk, delta)
    least, last = needed_labels(promise.risk, delta), found.last
    accepted = observations.confidence >= (2.0 if last is None else last.threshold)
    count = int(accepted.sum())
    return Certificate(
        fields=fields,
        threshold=None if last is None else last.threshold,
        labels=len(drawn),
        support=0 if last is None else last.labels,
        errors=0 if last is None else last.errors,
        upper=1.0 if last is None else last.upper,
        delta=delta,
        needed=least,
        coverage=count / len(observations) if len(observations) else 0.0,
        observed_risk=float((~observations.is_correct[accepted]).mean()) if count else None,
        reason="" if last is not None else _explain(found, len(drawn), promise, delta),
        steps=found.steps,
    )


def _explain(found: Found, labels: int, promise: Promise, delta: float) -> str:
    """Return why nothing could be certified, and what it would take."""
    noun, least = _NOUNS[promise.unit], needed_labels(promise.risk, delta)
    if labels < least:
        what = (
            f"needs at least {least:,} labeled {noun} with a confidence, all right among the most confident"
        )
        return f"{what}; there are {labels:,}, so at least {least - labels:,} more"
    if not found.steps:
        return (
            f"too many confidences are equal: no {least:,} of the {labels:,} labeled {noun} lie above a tie "
            "that would fit"
        )
    return _explain_failure(found.steps[0], noun, promise, delta)


def _explain_failure(step: Step, noun: str, promise: Promise, delta: float) -> str:
    seen = (
        f"of the {step.labels:,} most confident {noun} {step.errors:,} are wrong, "
        f"so their risk may be up to {show_share(step.upper, 2)}"
    )
    if step.errors / step.labels >= promise.risk:
        return (
            f"{seen}; more labels do not help while the most confident values are wrong more often than "
            f"{show_share(promise.risk)}"
        )
    needed = needed_at_rate(step.errors / step.labels, promise.risk, delta)
    how_many = f"at least {needed:,}" if needed is not None else "very many"
    return f"{seen}; at this rate of errors it takes {how_many} accepted {noun}"
