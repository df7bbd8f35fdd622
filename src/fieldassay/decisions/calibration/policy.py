"""A review policy: which values a person looks at, which are accepted, and what is promised of those."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.calibration.result import Promise, PromiseKind
from fieldassay.metrics.notation import format_share

AUDIT_SHARE, COST_ERROR, COST_REVIEW = 0.03, 20.0, 1.0
"""Defaults of a policy: share of accepted values to audit, cost of an error, cost of one review."""


class ReviewReason(StrEnum):
    """Why a person looks at a value; every reason is a true text, so it can be asked like a yes."""

    NO_CONFIDENCE = "no confidence"
    BAD_CONFIDENCE = "confidence is no probability"
    UNKNOWN_FIELD = "field was not calibrated"
    NOT_CERTIFIED = "no threshold could be certified"
    BELOW_THRESHOLD = "below the threshold"
    DOCUMENT = "another value of its document is reviewed"
    AUDIT = "random audit"


class Rule(Struct, frozen=True):
    """The threshold of some fields, with the labels behind it, tested at `delta`.

    None: everything is reviewed, for `reason`.
    """

    fields: tuple[str, ...]
    threshold: float | None
    labels: int
    support: int
    errors: int
    upper: float
    needed: int
    coverage: float
    reason: str = ""
    delta: float = 0.05


class Basis(Struct, frozen=True):
    """The source of a policy: the run, its size, a digest of its observations, and the seed of the labels."""

    run: str
    documents: int
    values: int
    observations: str
    seed: int = 0


class ReviewPolicy(Struct, frozen=True, dict=True):
    """Thresholds with their promise, and how much of the accepted is audited.

    Confidences are probabilities here; `scale` says what the predictions give. `digests` are those of the run
    (`spec` always). Costs are in any one unit: they decide the order of review, never what is accepted.
    """

    system: str
    promise: Promise
    rules: tuple[Rule, ...]
    basis: Basis
    digests: dict[str, str] = field(default_factory=dict)
    spec: str = ""
    scale: str = "probability"
    created: str = ""
    fieldassay: str = ""
    audit_share: float = AUDIT_SHARE
    audit_seed: int = 0
    cost_error: float = COST_ERROR
    cost_review: float = COST_REVIEW

    @cached_property
    def _rules(self) -> dict[str, Rule]:
        return {name: rule for rule in self.rules for name in rule.fields}

    @property
    def reviews_everything(self) -> bool:
        """Return whether no threshold could be certified at all."""
        return all(rule.threshold is None for rule in self.rules)

    def needs_review(self, field: str, confidence: float | None) -> ReviewReason | None:
        """Return why a predicted value of a field needs review, None if it is accepted.

        >>> rule = Rule(("total",), 0.9, 400, 300, 0, 0.01, 299, 0.7)
        >>> policy = ReviewPolicy("llama", Promise(), (rule,), Basis("run", 400, 400, ""))
        >>> policy.needs_review("total", 0.95) is None
        True
        >>> policy.needs_review("total", 0.85).value, policy.needs_review("date", 1.0).value
        ('below the threshold', 'field was not calibrated')
        """
        if confidence is None or math.isnan(confidence):
            return ReviewReason.NO_CONFIDENCE
        if not 0.0 <= confidence <= 1.0:
            return ReviewReason.BAD_CONFIDENCE
        rule = self._rules.get(field)
        if rule is None:
            return ReviewReason.UNKNOWN_FIELD
        if rule.threshold is None:
            return ReviewReason.NOT_CERTIFIED
        return None if confidence >= rule.threshold else ReviewReason.BELOW_THRESHOLD

    def is_audited(self, document: str, path: str) -> bool:
        """Return whether an accepted value is drawn for the audit, by seed, document and path alone.

        >>> policy = ReviewPolicy("llama", Promise(), (), Basis("run", 0, 0, ""), audit_share=0.03)
        >>> sum(policy.is_audited(f"doc-{number}", "total") for number in range(10_000))
        300
        """
        text = f"audit {self.audit_seed} {len(document)} {document} {path}"
        drawn = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(drawn, "little") < self.audit_share * 2.0**64

    def margin(self, confidence: float | None) -> float:
        """Return the worth of a review: (1 - confidence) x cost of an error - cost of a review.

        A missing confidence counts as 0.

        >>> round(ReviewPolicy("llama", Promise(), (), Basis("run", 0, 0, "")).margin(0.9), 9)
        1.0
        """
        is_known = confidence is not None and 0.0 <= confidence <= 1.0
        return (1.0 - (confidence or 0.0 if is_known else 0.0)) * self.cost_error - self.cost_review


class Item(Struct, frozen=True):
    """A predicted value that is to be accepted or reviewed."""

    document: str
    path: str
    field: str
    confidence: float | None


class Task(Struct, frozen=True):
    """A value that a person looks at, why, and what that is worth.

    `probability` is how likely it was to be looked at: 1 for a review, the audit share for an audit.
    """

    item: Item
    reason: ReviewReason
    margin: float
    probability: float


class ReviewPlan(Struct, frozen=True):
    """The values to review, the most worthwhile first, those to audit, and the number of accepted ones.

    The audited values count as accepted.
    """

    reviews: tuple[Task, ...]
    audits: tuple[Task, ...]
    accepted: int


def plan_review(policy: ReviewPolicy, items: Iterable[Item]) -> ReviewPlan:
    """Return the plan of reviews, in order, with audits apart.

    The estimate from audits needs all of them, so a budget must not cut them off.

    >>> rule = Rule(("total",), 0.9, 400, 300, 0, 0.01, 299, 0.7)
    >>> policy = ReviewPolicy("llama", Promise(), (rule,), Basis("run", 400, 400, ""), audit_share=0.0)
    >>> items = [Item(name, "total", "total", sure) for name, sure in (("a", 0.8), ("b", 0.3), ("c", 0.97))]
    >>> plan = plan_review(policy, items)
    >>> [task.item.document for task in plan.reviews], plan.accepted
    (['b', 'a'], 1)
    """
    if policy.promise.kind is PromiseKind.DOCUMENT:
        return _plan_documents(policy, items)
    reviews, audits, accepted = [], [], 0
    for item in items:
        reason, margin = policy.needs_review(item.field, item.confidence), policy.margin(item.confidence)
        if reason is not None:
            reviews.append(Task(item, reason, margin, 1.0))
            continue
        accepted += 1
        if policy.is_audited(item.document, item.path):
            audits.append(Task(item, ReviewReason.AUDIT, margin, policy.audit_share))
    return ReviewPlan(tuple(sorted(reviews, key=_order)), tuple(sorted(audits, key=_order)), accepted)


def _plan_documents(policy: ReviewPolicy, items: Iterable[Item]) -> ReviewPlan:
    """Return the plan where documents are accepted or reviewed as a whole, and audited as a whole.

    Documents come in the order of what looking at all their values is worth. Values of fields that were not
    calibrated are reviewed alone.
    """
    held: dict[str, list[Task]] = {}
    for item in items:
        reason = policy.needs_review(item.field, item.confidence) or ReviewReason.DOCUMENT
        held.setdefault(item.document, []).append(Task(item, reason, policy.margin(item.confidence), 1.0))
    reviewed, audits, accepted = [], [], 0
    for document, tasks in held.items():
        apart = [task for task in tasks if task.reason is ReviewReason.UNKNOWN_FIELD]
        whole = [task for task in tasks if task.reason is not ReviewReason.UNKNOWN_FIELD]
        if any(task.reason is not ReviewReason.DOCUMENT for task in whole):
            reviewed.append(tasks)
            continue
        accepted += len(whole)
        if apart:
            reviewed.append(apart)
        if policy.is_audited(document, ""):
            audits += [
                replace(task, reason=ReviewReason.AUDIT, probability=policy.audit_share) for task in whole
            ]
    reviewed.sort(key=lambda tasks: (-math.fsum(task.margin for task in tasks), tasks[0].item.document))
    reviews = tuple(task for tasks in reviewed for task in sorted(tasks, key=_order))
    return ReviewPlan(reviews, tuple(sorted(audits, key=_order)), accepted)


def _order(task: Task) -> tuple[float, str, str]:
    return -task.margin, task.item.document, task.item.path


def describe_promise(promise: Promise, families: int = 1) -> str:
    """Return what a policy promises, in words.

    >>> print(describe_promise(Promise(0.01, is_proven=True)))  # doctest: +NORMALIZE_WHITESPACE
    With a method that errs in at most 5% of cases: at most 1% of the accepted values are wrong,
    every document counted once, if new documents are like these. The bound is proven.
    """
    each = " of each field" if promise.by_field else ""
    together = ", for all fields at once" if promise.by_field and families > 1 else ""
    risk = format_share(promise.risk)
    limited = {
        PromiseKind.VALUE: f"of the accepted values{each} are wrong{together}, every document counted once",
        PromiseKind.DOCUMENT: "of the documents accepted as a whole have an error or lack a value",
        PromiseKind.RESIDUAL: f"of all values{each} in the output are wrong{together} once those below the "
        "threshold are reviewed and corrected, every document counted once",
    }
    how = ", if new documents are like these."
    if promise.is_proven:
        how += " The bound is proven."
    elif promise.kind is not PromiseKind.DOCUMENT:
        how += (
            " Where documents have several values, the bound (Gaffke 2005) is conjectured, never refuted; "
            "`--proven` takes one that is proven."
        )
    errs = format_share(1.0 - promise.confidence)
    return f"With a method that errs in at most {errs} of cases: at most {risk} {limited[promise.kind]}{how}"
