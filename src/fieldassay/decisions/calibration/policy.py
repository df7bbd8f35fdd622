"""Policies: how they are calibrated, written and applied."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.calibration.certificate import (
    Certificate,
    Guarantee,
    describe_guarantee,
    make_certificate,
)
from fieldassay.decisions.calibration.observations import (
    SCALES,
    AreaStanding,
    Confidences,
    Group,
    Observations,
    Scale,
    count_rows,
    is_judged,
    measure,
    read_confidences,
    remark_census,
    thin,
)
from fieldassay.errors import Problem, ProblemsError, list_names, nearest, problem
from fieldassay.io.files.tables import csv_text, show_names
from fieldassay.io.files.whole_files import JsonFormat, checksum, write_whole
from fieldassay.io.json_value import record_data
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.options import OptionRecord
from fieldassay.runs.run import Run
from fieldassay.scoring.explain import judge_without_gold
from fieldassay.scoring.inputs import open_predictions
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan

if TYPE_CHECKING:
    import polars as pl


# A review policy: its file, and what it sends to review.


class ReviewReason(StrEnum):
    """Why a person looks at a value; every reason is a true text, so it can be asked like a yes."""

    NO_CONFIDENCE = "no confidence"
    BAD_CONFIDENCE = "confidence is not a probability"
    UNKNOWN_FIELD = "field was not calibrated"
    NOT_CERTIFIED = "no threshold could be certified"
    BELOW_THRESHOLD = "below the threshold"


class Basis(Struct, frozen=True):
    """The source of a policy: the run, its size, and a digest of its observations."""

    run: str = ""
    documents: int = 0
    values: int = 0
    observations: str = ""


class ReviewPolicy(Struct, frozen=True):
    """A certified threshold with its guarantee, for the fields of its certificate.

    Thresholds are probabilities; `scale` says what the predictions give. `digests` are those of the run
    (`spec` always).
    """

    system: str
    guarantee: Guarantee
    certificate: Certificate
    basis: Basis = Basis()
    digests: dict[str, str] = field(default_factory=dict)
    spec: str = ""
    scale: Scale = "probability"
    created: str = ""
    fieldassay: str = ""

    @property
    def reviews_everything(self) -> bool:
        """Return whether no threshold could be certified at all."""
        return self.certificate.threshold is None

    def needs_review(self, field: str, confidence: float | None) -> ReviewReason | None:
        """Return why a predicted value of a field needs review, None if it is accepted.

        >>> policy = ReviewPolicy("llama", Guarantee(), Certificate(("total",), 0.9))
        >>> policy.needs_review("total", 0.95) is None
        True
        >>> policy.needs_review("total", 0.85).value, policy.needs_review("date", 1.0).value
        ('below the threshold', 'field was not calibrated')
        """
        if confidence is None or math.isnan(confidence):
            return ReviewReason.NO_CONFIDENCE
        if not 0.0 <= confidence <= 1.0:
            return ReviewReason.BAD_CONFIDENCE
        if field not in self.certificate.fields:
            return ReviewReason.UNKNOWN_FIELD
        if self.certificate.threshold is None:
            return ReviewReason.NOT_CERTIFIED
        return None if confidence >= self.certificate.threshold else ReviewReason.BELOW_THRESHOLD


FORMAT = JsonFormat(
    "review policy",
    "write it again with `fieldassay calibrate RUN --out FILE`",
    bad="bad_policy",
    unwritable="unwritable_policy",
    most_bytes=16 << 20,
    version=3,
)

_NOT_SEALED = ("format", "schema_version", "words", "seal")


def write_policy(path: Path, policy: ReviewPolicy) -> None:
    """Write a policy whole or not at all. Raises `ProblemsError` where that cannot be done."""
    with suppress(OSError, ValueError):  # `write` says what is wrong
        path.parent.mkdir(parents=True, exist_ok=True)
    FORMAT.write(path, policy_bytes(policy))


def policy_bytes(policy: ReviewPolicy) -> bytes:
    """Return a policy as the bytes of its file."""
    sealed = record_data(policy)
    words = describe_guarantee(policy.guarantee)
    if policy.reviews_everything:
        words = "Nothing is guaranteed: no threshold could be certified, so everything is reviewed."
    return FORMAT.encode({"words": words, **sealed, "seal": checksum(sealed)})


def read_policy(path: Path) -> ReviewPolicy:
    """Return the policy in a file. Raises `ProblemsError` if there is none, or if it was edited."""
    data = FORMAT.read_bytes(path)
    if data is None:
        raise FORMAT.refusal(
            path,
            "cannot be read (No such file or directory)",
            "name the file of a review policy",
            "unreadable_file",
        )
    content = FORMAT.decode(path, data)
    sealed = {name: value for name, value in content.items() if name not in _NOT_SEALED}
    try:
        policy = msgspec.convert(content, ReviewPolicy)
    except msgspec.ValidationError as error:
        raise FORMAT.malformed(path, error) from None
    except UnicodeEncodeError:
        raise FORMAT.refusal(path, "holds half a character (a lone surrogate)") from None
    if content.get("seal") != checksum(sealed):
        raise FORMAT.refusal(path, "its guarantee was edited by hand, so it no longer holds")
    return policy


class Item(Struct, frozen=True):
    """A predicted value that is to be accepted or reviewed."""

    document: str
    path: str
    field: str
    confidence: float | None

    @property
    def doubt(self) -> float:
        """Return 1 - confidence; 1 where there is none, or none that is a probability."""
        sure = self.confidence
        return 1.0 - sure if sure is not None and 0.0 <= sure <= 1.0 else 1.0


class ReviewTask(Struct, frozen=True):
    """A value that a person looks at, and why."""

    item: Item
    reason: StrEnum


def list_items(rows: pl.DataFrame, policy: ReviewPolicy) -> Iterator[Item]:
    """Yield the predicted values of evidence, judged or not in any way: what a review would be given."""
    predicted = rows.filter(is_judged()).select("doc", "pred_path", "field", "confidence")
    confidences = SCALES[policy.scale](predicted["confidence"].cast(float).fill_null(np.nan).to_numpy())
    for (doc, path, name, _), confidence in zip(predicted.iter_rows(), confidences.tolist(), strict=True):
        yield Item(doc, path, name, None if math.isnan(confidence) else confidence)


def list_reviews(policy: ReviewPolicy, items: Iterable[Item]) -> list[ReviewTask]:
    """Return the values to review, the least sure first.

    >>> policy = ReviewPolicy("llama", Guarantee(), Certificate(("total",), 0.9))
    >>> items = [Item(name, "total", "total", sure) for name, sure in (("a", 0.8), ("b", 0.3), ("c", 0.97))]
    >>> [task.item.document for task in list_reviews(policy, items)]
    ['b', 'a']
    """
    tasks = [
        ReviewTask(item, reason)
        for item in items
        if (reason := policy.needs_review(item.field, item.confidence)) is not None
    ]
    return sorted(tasks, key=lambda task: (-task.item.doubt, task.item.document, task.item.path))


COLUMNS = ("document", "path", "field", "value", "confidence", "reason")
FORMATS = (".csv", ".jsonl")


class Queue(Struct, frozen=True, eq=False):
    """A system's values for review: `rows` have a value for each of `COLUMNS`, the least sure first."""

    system: str
    rows: tuple[tuple[Any, ...], ...]
    documents: int
    values: int
    notes: tuple[str, ...] = ()

    @property
    def accepted(self) -> int:
        """Return how many values are accepted."""
        return self.values - len(self.rows)

    def count_reasons(self) -> dict[str, int]:
        """Return how many values are looked at, by reason."""
        return dict(Counter(row[-1] for row in self.rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the queue as plain data."""
        counts = {"documents": self.documents, "values": self.values, "accepted": self.accepted}
        data = {"system": self.system, **counts, "reasons": self.count_reasons(), "notes": list(self.notes)}
        return {**data, "queue": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows]}

    def write(self, target: Path) -> None:
        """Write the queue as CSV or JSON lines, by the file's ending.

        Raises `ProblemsError` for another ending.
        """
        if check_ending(target) == ".csv":
            write_whole(target, [csv_text([COLUMNS, *map(show_names, self.rows)])])
        else:
            lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in self.to_dict()["queue"])
            write_whole(target, lines)


def check_ending(target: Path) -> str:
    """Return the ending of a file that a queue can be written to. Raises `ProblemsError` for another."""
    ending = target.suffix.lower()
    if ending not in FORMATS:
        what = f"a queue cannot be written with the ending {ending[:20]!r}"
        raise problem(target, what, f"use one of: {', '.join(FORMATS)}", "export_target")
    return ending


def queue_reviews(policy: ReviewPolicy, predictions: Any, spec: Any = None) -> Queue:
    """Return the predicted values for review, the least sure first.

    `spec` must be the spec of the policy (None: that of the run in `policy.basis`, if it still exists).
    Raises `ProblemsError` for another spec, and for predictions of several systems, without any confidence,
    or with no field of the policy.
    """
    plan = find_plan(policy, spec)
    sources = open_predictions(plan, {policy.system: predictions})
    source = sources.get(policy.system)
    if source is None or len(sources) > 1:
        what = (
            f"has the systems {', '.join(sources)}"[:300] + f", and the policy is for {policy.system!r} alone"
        )
        raise problem(
            next(iter(sources.values())).label, what, "give the predictions of that system", "policy_mismatch"
        )
    rows, unread = judge_without_gold(plan, source)
    rows = rows.filter(is_judged())
    _check_rows(policy, rows, source.label)
    values = {(doc, path): value for doc, path, value in rows.select("doc", "pred_path", "pred").iter_rows()}
    notes = [str(note) for note in source.notes]
    if unread:
        what = (
            f"{len(unread):,} answers could not be read, such as that of {unread[0]!r}: "
            "look at these documents as a whole"
        )
        notes.append(f"{source.label}: {what}")
    lines = tuple(
        (
            task.item.document,
            task.item.path,
            task.item.field,
            values[task.item.document, task.item.path],
            task.item.confidence,
            task.reason.value,
        )
        for task in list_reviews(policy, list_items(rows, policy))
    )
    return Queue(policy.system, lines, len(source), rows.height, tuple(notes))


def find_plan(policy: ReviewPolicy, spec: Any) -> Plan:
    """Return the plan of the spec that the policy was made with."""
    if spec is not None:
        plan = read_plan(spec)
    else:
        try:
            plan = Run.open(Path(policy.basis.run)).plan
        except ProblemsError:
            what = (
                f"the run that it was computed from is not there ({policy.basis.run[:200]}), "
                "so its spec is unknown"
            )
            raise problem("policy", what, "give the spec", "missing_option") from None
    if plan.digest != policy.digests.get("spec"):
        what = (
            f"is another spec ({plan.digest[:12]}) than the one of the policy "
            f"({policy.digests.get('spec', '')[:12]})"
        )
        raise problem(f"spec {plan.spec.name}", what, "give that spec, or calibrate again", "policy_mismatch")
    return plan


def _check_rows(policy: ReviewPolicy, rows: pl.DataFrame, label: str) -> None:
    if not rows.height or rows["confidence"].null_count() == rows.height:
        what = (
            "no predicted value has a confidence"
            if rows.height
            else "no field of the spec has a predicted value"
        )
        raise problem(label, what, "give `confidence` with the predictions", "no_confidence")
    fields = policy.certificate.fields
    if not set(fields) & set(rows["field"].unique()):
        what = f"no predicted value is in a field of the policy ({', '.join(fields)})"[:300]
        raise problem(label, what, "give predictions of these fields, or calibrate again", "policy_mismatch")


# Calibration of a run: what its confidences are worth, and from which one on values need no review.

SCHEMA_VERSION = 3
FEW_DOCUMENTS = 20
JSON_POINTS = 200
"""Points of a risk-coverage curve that JSON gets at most."""


class CalibrationOptions(OptionRecord, frozen=True):
    """What to calibrate (one system, all its fields unless some are named), and the guarantee to make.

    `scale` is that of the confidences: `probability`, `percent` or `logprob`. `is_brief`
    leaves out the table of fields.
    """

    system: str | None = None
    fields: tuple[str, ...] = ()
    guarantee: Guarantee = field(default_factory=Guarantee)
    scale: Scale = "probability"
    chance: BootstrapSettings = field(default_factory=BootstrapSettings)
    is_brief: bool = False


class CalibrationPage(Brief, Struct, frozen=True):
    """Everything that calibrating a system of a run gives."""

    run: str
    system: str
    guarantee: Guarantee
    scale: Scale
    pooled: Group
    certificate: Certificate
    fields: tuple[Group, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the page as JSON data; curves have at most `JSON_POINTS` points, evenly taken."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run,
            "system": self.system,
            "guarantee": record_data(self.guarantee),
            "scale": self.scale,
            "pooled": _group_data(self.pooled),
            "fields": [_group_data(group) for group in self.fields],
            "certificate": record_data(self.certificate),
            "remarks": list(self.remarks),
        }


def _group_data(group: Group) -> dict[str, Any]:
    data = record_data(group)
    if group.selection is not None:
        points = thin(group.selection.points, JSON_POINTS)
        data["selection"]["points"] = [record_data(point) for point in points]
    return data


class Calibrated(Brief, Struct, frozen=True, eq=False):
    """A calibration: the page to print, and what a policy is made of."""

    page: CalibrationPage
    confidences: Confidences
    observations: Observations

    def make_policy(self, created: datetime) -> ReviewPolicy:
        """Return the policy of the certified threshold."""
        page, seen = self.page, self.observations
        return ReviewPolicy(
            system=page.system,
            guarantee=page.guarantee,
            certificate=page.certificate,
            basis=Basis(page.run, seen.count_documents(), len(seen), seen.digest()),
            digests=dict(self.confidences.digests),
            spec=self.confidences.spec,
            scale=page.scale,
            created=created.isoformat(timespec="seconds"),
            fieldassay=version("fieldassay"),
        )


def calibrate(run: Path | Result | Confidences, options: CalibrationOptions | None = None) -> Calibrated:
    """Return the calibration of the confidences of one system of a run, with a certified threshold.

    Raises `ProblemsError` for a run that kept too little, for an unknown system or field, for invalid
    options, and where no judged value has a confidence.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"id": number, "n": 1} for number in range(40)]
    >>> pred = [{"id": k, "n": 1 + (k > 35), "confidence": 0.9 - k / 100} for k in range(40)]
    >>> page = calibrate(score(gold, pred, "fields: {n: number}")).page
    >>> page.pooled.census.observed, page.pooled.calibration.auroc, page.certificate.threshold
    (40, 1.0, None)
    """
    options = options or CalibrationOptions()
    confidences = run if isinstance(run, Confidences) else read_confidences(run, options.system)
    judged_fields = confidences.list_fields()
    problems = [
        Problem(
            confidences.label,
            f"no judged field {name[:100]!r}",
            nearest(name[:100], judged_fields),
            "unknown_name",
        )
        for name in options.fields
        if name not in judged_fields
    ]
    if problems:
        raise ProblemsError(problems)
    fields = tuple(dict.fromkeys(options.fields)) or judged_fields
    confidences = confidences.of_fields(fields)
    seen, census = confidences.observe(options.scale), count_rows(confidences.rows)
    if not len(seen):
        what = f"no judged value of {confidences.system!r} has a confidence"
        remedy = "give `confidence` with the predictions, and score again"
        raise problem(confidences.label, what, remedy, "no_confidence")
    has_fields = len(fields) > 1 and not options.is_brief
    page = CalibrationPage(
        run=confidences.label,
        system=confidences.system,
        guarantee=options.guarantee,
        scale=options.scale,
        pooled=measure(None, census, seen, options.chance),
        certificate=make_certificate(
            seen, fields, census.without_confidence, options.guarantee, options.chance
        ),
        fields=tuple(_measure_fields(confidences, seen, fields, options.chance)) if has_fields else (),
    )
    untested = [name for name in fields if name not in page.certificate.fields]
    return Calibrated(replace(page, remarks=tuple(remark(page, seen, untested))), confidences, seen)


def _measure_fields(
    confidences: Confidences, seen: Observations, fields: tuple[str, ...], chance: BootstrapSettings
) -> Iterator[Group]:
    for name in fields:
        census = count_rows(confidences.of_fields((name,)).rows)
        yield measure(name, census, seen.of_fields((name,)), chance, len(fields))


_FIELDS_THAT = {
    AreaStanding.UPSIDE_DOWN: "fields whose wrong values have HIGHER confidence than right ones",
    AreaStanding.USELESS: "fields whose confidences do not tell right from wrong",
}


def remark(page: CalibrationPage, seen: Observations, untested: Sequence[str]) -> Iterator[str]:
    """Yield sentences on what the observations do not hold, and on what the numbers take for granted.

    `untested` are the fields without an observation.
    """
    yield from remark_census(page.pooled.census)
    if untested:
        yield f"always reviewed, because they have no confidence: {list_names(untested, 10)}"
    documents = seen.count_documents()
    if documents < FEW_DOCUMENTS:
        yield f"only {documents} documents: intervals over documents are too narrow"
    if len(np.unique(seen.confidence)) == 1:
        yield "all confidences are equal: they cannot tell what to review"
    elif page.pooled.calibration is not None and page.pooled.calibration.auroc_note:
        yield page.pooled.calibration.auroc_note
    measured = [(group.name, group.calibration) for group in page.fields if group.calibration is not None]
    for standing, words in _FIELDS_THAT.items():
        named = [
            f"{name} (AUROC {calibration.auroc:.2f})"
            for name, calibration in measured
            if calibration.discrimination == standing
        ]
        if named:
            yield f"{words}: {', '.join(named)}"
    interval = page.certificate.interval
    if interval is not None and interval[1] > page.guarantee.risk:
        yield (
            "documents with many accepted values may be worse: the guarantee averages over documents, "
            "and of all values together a larger share may be wrong"
        )
    if page.scale == "percent" and seen.confidence.max() <= 0.01:
        yield "no confidence is above 1%: are they percentages?"
