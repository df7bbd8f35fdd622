"""Calibration of a run: what its confidences are worth, and from which one on values need no review."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.calibration.certificate import Certificate, Promise, make_certificate
from fieldassay.decisions.calibration.measures import Group, Standing, measure, thin
from fieldassay.decisions.calibration.observations import (
    Confidences,
    Observations,
    Scale,
    count_rows,
    read_confidences,
    read_observations,
    remark_census,
)
from fieldassay.decisions.calibration.policy import Basis, ReviewPolicy
from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.json_value import record_data
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.options import OptionRecord

SCHEMA_VERSION = 3
FEW_DOCUMENTS = 20
JSON_POINTS = 200
"""Points of a risk-coverage curve that JSON gets at most."""


class CalibrationOptions(OptionRecord, frozen=True):
    """What to calibrate (one system, all its fields unless some are named), and the promise to make.

    `scale` is that of the confidences: `probability`, `percent` or `logprob`. `slices` are the keys of
    tables. `is_brief` leaves out the tables of fields.
    """

    system: str | None = None
    fields: tuple[str, ...] = ()
    promise: Promise = field(default_factory=Promise)
    scale: Scale = "probability"
    slices: tuple[str, ...] = ()
    chance: BootstrapSettings = field(default_factory=BootstrapSettings)
    is_brief: bool = False


class CalibrationPage(Brief, Struct, frozen=True):
    """Everything that calibrating a system of a run gives."""

    run: str
    system: str
    promise: Promise
    scale: Scale
    pooled: Group
    certificate: Certificate
    fields: tuple[Group, ...] = ()
    slices: Mapping[str, tuple[Group, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the page as JSON data; curves have at most `JSON_POINTS` points, evenly taken."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run,
            "system": self.system,
            "promise": record_data(self.promise),
            "scale": self.scale,
            "pooled": _group_data(self.pooled),
            "fields": [_group_data(group) for group in self.fields],
            "slices": {key: [_group_data(group) for group in groups] for key, groups in self.slices.items()},
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
    given: Confidences
    observations: Observations

    def make_policy(self, created: datetime) -> ReviewPolicy:
        """Return the policy of the certified threshold."""
        page, seen = self.page, self.observations
        return ReviewPolicy(
            system=page.system,
            promise=page.promise,
            certificate=page.certificate,
            basis=Basis(page.run, seen.count_documents(), len(seen), seen.digest()),
            digests=dict(self.given.digests),
            spec=self.given.spec,
            scale=page.scale,
            created=created.isoformat(timespec="seconds"),
            fieldassay=version("fieldassay"),
        )


def calibrate(run: Path | Result | Confidences, options: CalibrationOptions | None = None) -> Calibrated:
    """Return the calibration of the confidences of one system of a run, with a certified threshold.

    Raises `ProblemsError` for a run that kept too little, for an unknown system, field or slice, for invalid
    options, and where no judged value has a confidence.

    >>> from fieldassay.scoring.score import score
    >>> gold = [{"id": number, "n": 1} for number in range(40)]
    >>> pred = [{"id": k, "n": 1 + (k > 35), "confidence": 0.9 - k / 100} for k in range(40)]
    >>> page = calibrate(score(gold, pred, "fields: {n: number}")).page
    >>> page.pooled.census.observed, page.pooled.calibration.auroc, page.certificate.threshold
    (40, 1.0, None)
    """
    options = options or CalibrationOptions()
    given = run if isinstance(run, Confidences) else read_confidences(run, options.system)
    fields = _choose_fields(given, options)
    given = given.of_fields(fields)
    seen = read_observations(given.rows, options.scale, given.label)
    if not len(seen):
        what = f"no judged value of {given.system!r} has a confidence"
        remedy = "give `confidence` with the predictions, and score again"
        raise problem(given.label, what, remedy, "no_confidence")
    has_fields = len(fields) > 1 and not options.is_brief
    page = CalibrationPage(
        run=given.label,
        system=given.system,
        promise=options.promise,
        scale=options.scale,
        pooled=measure(None, count_rows(given.rows), seen, options.chance),
        certificate=make_certificate(fields, seen, options.promise, options.chance),
        fields=tuple(_measure_fields(given, seen, fields, options.chance)) if has_fields else (),
        slices={key: tuple(_measure_slices(given, seen, key, options.chance)) for key in options.slices},
    )
    return Calibrated(replace(page, remarks=tuple(remark(page, seen))), given, seen)


def _choose_fields(given: Confidences, options: CalibrationOptions) -> tuple[str, ...]:
    known = given.list_fields()
    problems = [
        Problem(given.label, f"no judged field {name[:100]!r}", nearest(name[:100], known), "unknown_name")
        for name in options.fields
        if name not in known
    ]
    if problems:
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


_FIELDS_THAT = {
    Standing.UPSIDE_DOWN: "fields whose wrong values have HIGHER confidence than right ones",
    Standing.USELESS: "fields whose confidences do not tell right from wrong",
}


def remark(page: CalibrationPage, seen: Observations) -> Iterator[str]:
    """Yield sentences on what the observations do not hold, and on what the numbers take for granted."""
    yield from remark_census(page.pooled.census)
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
    if interval is not None and interval[1] > page.promise.risk:
        yield (
            "documents with many accepted values may be worse: counted by value the risk may be above the "
            "promise, which counts every document once"
        )
    if page.scale == "percent" and seen.confidence.max() <= 0.01:
        yield "no confidence is above 1%: are they percentages?"
