"""Calibration of a run: quality of confidences, a review policy from them, and its check on another run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.calibration.checking import check_rules, list_accepted, list_items, list_whole
from fieldassay.decisions.calibration.confidences import Confidences, read_confidences
from fieldassay.decisions.calibration.discrimination import Standing
from fieldassay.decisions.calibration.measure import measure
from fieldassay.decisions.calibration.observations import (
    SCALES,
    Observations,
    count_rows,
    is_judged,
    read_documents,
    read_observations,
)
from fieldassay.decisions.calibration.policy import (
    AUDIT_SHARE,
    COST_ERROR,
    COST_REVIEW,
    Basis,
    ReviewPolicy,
    Rule,
    plan_review,
)
from fieldassay.decisions.calibration.result import (
    CalibrationPage,
    Certificate,
    Group,
    PolicyCheck,
    Promise,
    PromiseKind,
    ValueCounts,
)
from fieldassay.decisions.calibration.thresholds import Family, certify_fields
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.returned import Brief
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings
from fieldassay.public import public

FEW_DOCUMENTS = 20


def remark(
    census: ValueCounts, seen: Observations, page: CalibrationPage, options: CalibrationOptions
) -> Iterator[str]:
    """Yield sentences on what the observations do not hold, and on what the numbers take for granted."""
    yield from remark_census(census)
    documents = seen.count_documents()
    if documents < FEW_DOCUMENTS:
        yield f"only {documents} documents: intervals over documents are too narrow"
    if len(np.unique(seen.confidence)) == 1:
        yield "all confidences are equal: they cannot tell what to review"
    elif page.pooled.calibration is not None and page.pooled.calibration.auroc_note:
        yield page.pooled.calibration.auroc_note
    for standing in (Standing.UPSIDE_DOWN, Standing.USELESS):
        known = [(one.name, one.calibration) for one in page.fields if one.calibration is not None]
        named = [
            f"{name} (AUROC {found.auroc:.2f})" for name, found in known if found.discrimination == standing
        ]
        if named:
            yield f"{_FIELDS_THAT[standing]}: {', '.join(named)}"
    if any(one.marks for one in page.certificates):
        yield (
            "documents with many accepted values may be worse: counted by value the risk may be above the "
            "promise, which counts every document once"
        )
    if options.scale == "percent" and seen.confidence.max() <= 0.01:
        yield "no confidence is above 1%: are they percentages?"


def remark_census(census: ValueCounts) -> Iterator[str]:
    """Yield the limits of any threshold: values without confidence, omitted values, failed judgments."""
    if census.omitted:
        yield (
            f"{census.omitted:,} values that gold has were not predicted: "
            "no threshold on predicted values can catch those"
        )
    if census.without_confidence:
        yield (
            f"{census.without_confidence:,} predicted values have no confidence: "
            "they are in no number here and always go to review"
        )
    if census.failed:
        yield f"{census.failed:,} values could not be judged and are in no number here"


_FIELDS_THAT = {
    Standing.UPSIDE_DOWN: "fields whose wrong values have HIGHER confidence than right ones",
    Standing.USELESS: "fields whose confidences do not tell right from wrong",
}

LEAST_RISK = 1e-6
"""No smaller risk can be asked for: it would take millions of labels."""


class CalibrationOptions(Struct, frozen=True):
    """What to calibrate (one system, all its fields unless some are named), and the promise to make.

    `scale` is that of the confidences: `probability`, `percent` or `logprob`. `slices` are the keys of
    tables. `is_brief` leaves out the tables of fields and what more labels would bring.
    """

    system: str | None = None
    fields: tuple[str, ...] = ()
    promise: Promise = msgspec.field(default_factory=Promise)
    scale: str = "probability"
    slices: tuple[str, ...] = ()
    chance: BootstrapSettings = msgspec.field(default_factory=BootstrapSettings)
    is_brief: bool = False


class ReviewSettings(Struct, frozen=True):
    """How much of what is accepted is audited, and what an error and a review cost."""

    audit_share: float = AUDIT_SHARE
    cost_error: float = COST_ERROR
    cost_review: float = COST_REVIEW


class Calibrated(Brief, Struct, frozen=True, eq=False):
    """A calibration: the page to print, and what a policy is made of."""

    page: CalibrationPage
    given: Confidences
    observations: Observations
    seed: int = 0

    def make_policy(self, created: datetime, settings: ReviewSettings | None = None) -> ReviewPolicy:
        """Return the policy of the certified thresholds. Raises `ProblemsError` for invalid settings."""
        settings = settings or ReviewSettings()
        _check_settings(settings)
        page, seen = self.page, self.observations
        return ReviewPolicy(
            system=page.system,
            promise=page.promise,
            rules=tuple(map(_rule, page.certificates)),
            basis=Basis(page.run, seen.count_documents(), len(seen), seen.digest(), self.seed),
            digests=dict(self.given.digests),
            spec=self.given.spec,
            scale=page.scale,
            created=created.isoformat(timespec="seconds"),
            fieldassay=version("fieldassay"),
            audit_share=settings.audit_share,
            cost_error=settings.cost_error,
            cost_review=settings.cost_review,
        )


def calibrate(run: Path | Result | Confidences, options: CalibrationOptions | None = None) -> Calibrated:
    """Return the calibration of the confidences of one system of a run, with certified thresholds.

    Raises `ProblemsError` for a run that kept too little, for an unknown system, field or slice, for invalid
    options, and where no judged value has a confidence.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"id": number, "n": 1} for number in range(40)]
    >>> pred = [{"id": k, "n": 1 + (k > 35), "confidence": 0.9 - k / 100} for k in range(40)]
    >>> page = calibrate(score(gold, pred, "fields: {n: number}")).page
    >>> page.pooled.census.observed, page.pooled.calibration.auroc, page.certificates[0].threshold
    (40, 1.0, None)
    """
    options = options or CalibrationOptions()
    check_options(options)
    given = run if isinstance(run, Confidences) else read_confidences(run, options.system)
    fields = _choose_fields(given, options)
    given = given.of_fields(fields)
    seen = read_observations(given.rows, options.scale, given.label)
    if not len(seen):
        what = f"no judged value of {given.system!r} has a confidence"
        remedy = "give `confidence` with the predictions, and score again"
        raise problem(given.label, what, remedy, "no_confidence")
    page = CalibrationPage(
        run=given.label,
        system=given.system,
        promise=options.promise,
        scale=options.scale,
        pooled=measure(None, count_rows(given.rows), seen, options.chance),
        fields=tuple(_measure_fields(given, seen, fields, options.chance))
        if len(fields) > 1 and not options.is_brief
        else (),
        slices={key: tuple(_measure_slices(given, seen, key, options.chance)) for key in options.slices},
    )
    page = _certify(page, given, Family(fields, seen, seen), options)
    remarks = tuple(remark(count_rows(given.rows), seen, page, options))
    return Calibrated(replace(page, remarks=remarks), given, seen, options.chance.seed)


def _certify(
    page: CalibrationPage, given: Confidences, values: Family, options: CalibrationOptions
) -> CalibrationPage:
    """Return the page with the thresholds of the promise, and with all kinds of promises side by side."""
    promise, has_plans = options.promise, not options.is_brief
    documents = read_documents(given.rows, options.scale, given.label)
    families = dict.fromkeys(PromiseKind, values)
    families[PromiseKind.DOCUMENT] = replace(values, units=documents)
    pooled = {
        kind: certify_fields(
            families[kind],
            replace(promise, kind=kind, by_field=False),
            options.chance,
            has_plans=has_plans,
        )
        for kind in (PromiseKind.RESIDUAL, PromiseKind.VALUE, PromiseKind.DOCUMENT)
    }
    return replace(
        page,
        certificates=certify_fields(values, promise, options.chance, has_plans=False)
        if promise.by_field
        else pooled[promise.kind],
        promises=tuple(one for (one,) in pooled.values()),
    )


@public
def apply_policy(
    run: Path | Result,
    policy: ReviewPolicy,
    name: str,
    system: str | None = None,
    chance: BootstrapSettings | None = None,
) -> PolicyCheck:
    """Return the results of a policy on a run: accepted values, their errors, and whether its promise held.

    `name` is the name of the policy.

    Raises `ProblemsError` if the run was judged by another spec than the one that the policy was made with.
    """
    chance = chance or BootstrapSettings()
    given = read_confidences(run, system or policy.system)
    if policy.digests.get("spec") != given.digests.get("spec"):
        what = "was judged by another spec than the runs that the policy is for"
        raise problem(
            given.label, what, "score it again with that spec, or calibrate anew", "policy_mismatch"
        )
    seen = read_observations(given.rows, policy.scale, given.label)
    known = [field for rule in policy.rules for field in rule.fields]
    units, accepted = seen, list_accepted(policy, seen)
    if policy.promise.kind is PromiseKind.DOCUMENT:
        units = read_documents(given.of_fields(known).rows, policy.scale, given.label)
        whole = {units.documents[place] for place in np.flatnonzero(list_whole(policy, units))}
        accepted &= np.array([name in whole for name in seen.documents], bool)[seen.doc]
    wrong = int((given.rows.filter(is_judged())["outcome"] != "match").sum())
    return PolicyCheck(
        run=given.label,
        system=given.system,
        policy=name,
        promise=policy.promise,
        checks=check_rules(policy, units, chance),
        reviewed=_count_reviews(policy, given),
        caught=wrong - int((accepted & ~seen.is_correct).sum()),
        census=count_rows(given.rows),
        level=chance.level,
        remarks=tuple(_remark_check(policy, given, seen.of_fields(known))),
    )


def _rule(found: Certificate) -> Rule:
    return Rule(**{name: getattr(found, name) for name in Rule.__struct_fields__})


def _choose_fields(given: Confidences, options: CalibrationOptions) -> tuple[str, ...]:
    known = given.list_fields()
    unknown = [name for name in options.fields if name not in known]
    if unknown:
        problems = [
            Problem(
                given.label, f"no judged field {name[:100]!r}", nearest(name[:100], known), "unknown_name"
            )
            for name in unknown
        ]
        raise ProblemsError(problems)
    return tuple(dict.fromkeys(options.fields)) or known


def _measure_fields(
    given: Confidences, seen: Observations, fields: tuple[str, ...], chance: BootstrapSettings
) -> Iterator[Group]:
    for name in fields:
        census = count_rows(given.of_fields((name,)).rows)
        yield measure(name, census, seen.of_fields((name,)), chance, len(fields))


def _measure_slices(
    given: Confidences, seen: Observations, key: str, chance: BootstrapSettings
) -> Iterator[Group]:
    for label, documents in given.slice_documents(key).items():
        is_in = np.array([name in documents for name in seen.documents], dtype=bool)
        yield measure(
            label, count_rows(given.of_documents(documents).rows), seen.take(is_in[seen.doc]), chance
        )


def _count_reviews(policy: ReviewPolicy, given: Confidences) -> dict[str, int]:
    """Return how many predicted values go to review, by reason; audited ones are accepted, too."""
    plan = plan_review(policy, list_items(given.rows, policy.scale))
    return dict(Counter(task.reason.value for task in (*plan.reviews, *plan.audits)))


def _remark_check(policy: ReviewPolicy, given: Confidences, own: Observations) -> Iterator[str]:
    if own.digest() == policy.basis.observations:
        yield (
            "these are the values that the policy was computed from: "
            "that a promise holds on them says nothing"
        )
    elif policy.digests.get("gold") is not None and policy.digests["gold"] == given.digests.get("gold"):
        yield (
            "the gold is that of the run that the policy was computed from: "
            "only other documents can check a promise"
        )
    if policy.system != given.system:
        yield (
            f"the policy is for the system {policy.system!r}, not for {given.system!r}: "
            "its promise is not about this one"
        )
    yield from remark_census(count_rows(given.rows))


def check_options(options: CalibrationOptions) -> None:
    """Raise `ProblemsError` for a promise or a scale that cannot be meant."""
    promise, problems = options.promise, []
    for name, value, least in (("risk", promise.risk, LEAST_RISK), ("confidence", promise.confidence, 0.0)):
        if not least < value < 1.0:
            problems.append(
                Problem(
                    name,
                    f"{value!r} does not lie between {least:g} and 1",
                    "write 5% as 0.05",
                    "invalid_option",
                )
            )
    if promise.kind is PromiseKind.DOCUMENT and promise.by_field:
        what = "a document is accepted as a whole, with one threshold for all its fields"
        problems.append(Problem("promise", what, "leave out thresholds by field", "invalid_option"))
    if options.scale not in SCALES:
        problems.append(
            Problem(
                "scale",
                f"no scale {options.scale[:40]!r}",
                nearest(options.scale[:40], SCALES),
                "unknown_name",
            )
        )
    if problems:
        raise ProblemsError(problems)


def _check_settings(settings: ReviewSettings) -> None:
    problems = []
    if not 0.0 <= settings.audit_share <= 1.0:
        problems.append(
            Problem(
                "audit share",
                f"{settings.audit_share!r} does not lie from 0 to 1",
                "write 3% as 0.03",
                "invalid_option",
            )
        )
    for name, cost in (("cost of an error", settings.cost_error), ("cost of a review", settings.cost_review)):
        if not 0.0 <= cost < math.inf:
            problems.append(
                Problem(name, f"{cost!r} is no cost", "give a number of at least 0", "invalid_option")
            )
    if problems:
        raise ProblemsError(problems)
