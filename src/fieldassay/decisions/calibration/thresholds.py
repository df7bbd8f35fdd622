"""The certified thresholds of a promise, for all fields together or for each, and why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from fieldassay.decisions.calibration.binomial import needed_labels
from fieldassay.decisions.calibration.bins import Bools
from fieldassay.decisions.calibration.certify import Found, certify
from fieldassay.decisions.calibration.discrimination import Standing, discriminate
from fieldassay.decisions.calibration.labels import Labels, order_by
from fieldassay.decisions.calibration.observations import Observations
from fieldassay.decisions.calibration.planning import expect_more, find_enough, split_delta
from fieldassay.decisions.calibration.ratios import ratio_interval
from fieldassay.decisions.calibration.result import Certificate, Expected, Promise, PromiseKind, Step
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.notation import format_share
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings

BY_VALUE = "by value above the promise"
"""The mark of a threshold where long documents may be worse: by value the risk may exceed the promise."""


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


class Terms(NamedTuple):
    """What certificates are made by: promise, level of each, replicates, whether to plan ahead."""

    promise: Promise
    delta: float
    chance: BootstrapSettings
    has_plans: bool


class Family(Struct, frozen=True, eq=False):
    """Fields with one threshold: their values, and what is accepted or not, the values or whole documents."""

    fields: tuple[str, ...]
    values: Observations
    units: Observations

    def of_field(self, name: str) -> Family:
        """Return one of the fields."""
        values = self.values.of_fields((name,))
        return Family((name,), values, values)

    def accepts(self, threshold: float) -> Bools:
        """Return which values pass at a threshold: by their own confidence, or by that of their document."""
        if self.units is self.values:
            return self.values.confidence >= threshold
        whole = {self.units.documents[at] for at in np.flatnonzero(self.units.confidence >= threshold)}
        return np.array([name in whole for name in self.values.documents], bool)[self.values.doc]


def certify_fields(
    family: Family, promise: Promise, chance: BootstrapSettings, *, has_plans: bool = True
) -> tuple[Certificate, ...]:
    """Return one certificate for all fields together, or one for each field where the promise is by field.

    A field of which all values pass hands its level on to the others (Holm).
    """
    families = [family.of_field(name) for name in family.fields] if promise.by_field else [family]

    order = order_by(chance.seed) if promise.is_proven else None
    labels = [Labels.of(one.units, order) for one in families]
    delta = share_delta(promise, [one.reach for one in labels])
    found = _certify_all(labels, promise, delta)
    terms = Terms(promise, delta, chance, has_plans)
    return tuple(_describe(*parts, terms) for parts in zip(families, labels, found, strict=True))


def _certify_all(labels: Sequence[Labels], promise: Promise, delta: float) -> list[Found]:
    """Return the certifications of several fields that hold together.

    The places of tests stay those of `delta`; only levels grow while other fields pass whole.
    """
    found = [certify(one, promise, delta) for one in labels]
    rest = {place for place, one in enumerate(labels) if one.reach >= needed_labels(promise.risk, delta)}
    while whole := {place for place in rest if _is_whole(labels[place], found[place])}:
        rest -= whole
        for place in rest:
            found[place] = certify(labels[place], promise, delta, split_delta(promise, len(rest)))
    return found


def _is_whole(labels: Labels, found: Found) -> bool:
    """Return whether all that could be accepted is."""
    return found.last is not None and labels.count_from(found.last.threshold) == labels.acceptable


def _describe(family: Family, labels: Labels, found: Found, terms: Terms) -> Certificate:
    last, values, promise = found.last, family.values, terms.promise
    accepted = family.accepts(2.0 if last is None else last.threshold)
    wrong, count = accepted & ~values.is_correct, int(accepted.sum())
    whole = np.ones_like(accepted) if promise.kind is PromiseKind.RESIDUAL else accepted
    is_by_value = count > 0 and promise.kind is PromiseKind.VALUE
    interval = _interval_by_value(values, wrong, whole, terms.chance) if is_by_value else None
    expected: tuple[Expected, ...] = ()
    hopeless = _find_hopeless(labels, values, terms) if last is None else ""
    has_labels = labels.reach >= needed_labels(promise.risk, terms.delta)
    if not hopeless and (terms.has_plans or (last is None and has_labels)):
        expected = expect_more(labels, promise, terms.delta, is_certified=last is not None)
    is_above = interval is not None and interval[1] > promise.risk
    return Certificate(
        fields=family.fields,
        kind=promise.kind,
        threshold=None if last is None else last.threshold,
        labels=labels.documents,
        support=0 if last is None else last.labels,
        errors=0 if last is None else last.errors,
        upper=1.0 if last is None else last.bound,
        delta=terms.delta,
        level=terms.delta if last is None else last.level,
        needed=needed_labels(promise.risk, terms.delta),
        coverage=count / len(values) if len(values) else 0.0,
        observed_risk=float(wrong.sum() / whole.sum()) if count else None,
        interval=interval,
        marks=(BY_VALUE,) if is_above else (),
        reason="" if last is not None else _explain(labels, found, terms, hopeless, find_enough(expected)),
        steps=found.steps,
        expected=expected,
    )


def _interval_by_value(
    values: Observations, wrong: Bools, whole: Bools, chance: BootstrapSettings
) -> tuple[float, float] | None:
    """Return the interval of the share of wrong values, every value counted once, with an unseen document."""
    present, doc = np.unique(values.doc, return_inverse=True)
    sums = np.stack([np.bincount(doc[rows], minlength=len(present)) for rows in (wrong, whole)])
    names = [values.documents[place] for place in present]
    return ratio_interval(sums.astype(np.float64), names, chance, is_guarded=True)


def _find_hopeless(labels: Labels, values: Observations, terms: Terms) -> str:
    """Return why no number of labels would certify anything; empty if that is not known.

    Useless confidences do no harm where accepting everything keeps the promise, nor where all values count.
    """
    promise = terms.promise
    everything = labels.losses(labels.acceptable, promise.kind)
    is_kept = float(everything.wrong @ everything.count) < promise.risk * everything.size
    if is_kept or promise.kind is PromiseKind.RESIDUAL:
        return ""
    found = discriminate(values, terms.chance.level)
    if found.standing is Standing.UPSIDE_DOWN:
        return f"{found.sentence}, no threshold can help"
    return f"{found.sentence}; more labels will not help" if found.standing is Standing.USELESS else ""


def _explain(labels: Labels, found: Found, terms: Terms, hopeless: str, enough: Expected | None) -> str:
    """Return why nothing could be certified, in one number: what is missing, or what is known so far."""
    promise, least = terms.promise, needed_labels(terms.promise.risk, terms.delta)
    if labels.reach < least <= labels.documents:
        what = f"{labels.reach:,} of {labels.documents:,} documents can be accepted as a whole"
        return f"{what}, the others lack a value or a confidence; it takes {least:,}"
    if labels.reach < least:
        missing = least - labels.reach
        more = format_count(missing, "more labeled document")
        return f"it takes at least {more} ({least:,} in all, none wrong at the top)"
    if hopeless:
        return hopeless
    if enough is not None:
        return f"about {enough.labels:,} labeled documents would certify it in 4 of 5 cases"
    step, sure = found.steps[0], f"({format_share(promise.confidence)}, every document counted once)"
    bound = f"at most {format_share(step.bound, 2)}"
    if promise.kind is PromiseKind.RESIDUAL:
        return f"if values from {step.threshold:.6g} on passed, {bound} of all values would be wrong {sure}"
    if promise.kind is PromiseKind.DOCUMENT:
        seen = f"of the {step.labels:,} most confident documents {step.errors:,} {_have(step)} an error"
        return f"{seen}: {bound} of such documents {sure}"
    noun = f"{step.labels:,} documents with the most confident values"
    seen = f"of the {noun} {step.errors:,} {_have(step)} a wrong one"
    return f"{seen}: {bound} of these values are wrong {sure}"


def _have(step: Step) -> str:
    return "has" if step.errors == 1 else "have"
