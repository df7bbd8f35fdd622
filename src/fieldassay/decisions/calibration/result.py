"""Results: calibration, selective prediction, certified review thresholds, and checks of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import record_data
from fieldassay.io.returned import Brief

SCHEMA_VERSION = 2
MOST_POINTS = 200
"""Points of a risk-coverage curve that JSON gets at most."""


class PromiseKind(StrEnum):
    """The share that a promise limits."""

    VALUE = "value"
    """Wrong values among the accepted ones."""
    DOCUMENT = "document"
    """Documents with an error among those accepted as a whole."""
    RESIDUAL = "residual"
    """Wrong and accepted values among all: the errors left after review."""


class ValueCounts(Struct, frozen=True):
    """What became of the judged values: observations, and what cannot be one."""

    observed: int = 0
    """Predicted values with a confidence that were judged."""
    wrong: int = 0
    """Those of them that are not a match."""
    without_confidence: int = 0
    """Predicted and judged, without a confidence."""
    omitted: int = 0
    """Gold has a value and the prediction has none: no threshold on predicted values can catch these."""
    silent: int = 0
    """Neither side has a value."""
    failed: int = 0
    """Could not be judged."""
    documents: int = 0
    """Documents with at least one observation."""


class Bin(Struct, frozen=True):
    """A reliability bin: lowest and highest confidence, number of values, mean confidence, share right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


class BrierParts(Struct, frozen=True):
    """The Brier score and the parts it is made of: `reliability - resolution + uncertainty + within`."""

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


class Calibration(Struct, frozen=True):
    """Calibration of confidences; `ece_expected`, `ece_limit` and `p_value` are of a calibrated scorer.

    They allow for documents: `design_effect` is by how much values of one document vary together.
    `auroc_note` says why there is no interval, or what is wrong with the confidences.
    """

    n: int
    documents: int
    accuracy: float
    confidence: float
    bins: tuple[Bin, ...]
    ece: float
    ece_expected: float
    ece_limit: float
    p_value: float
    design_effect: float
    brier: BrierParts
    log_loss: float
    clipped: int
    auroc: float | None
    auroc_interval: tuple[float, float] | None
    discrimination: str
    auroc_note: str
    level: float


class Point(Struct, frozen=True):
    """What accepting all values of at least this confidence gives."""

    threshold: float
    accepted: int
    errors: int
    coverage: float
    selective_risk: float
    joint_risk: float


class Capture(Struct, frozen=True):
    """`share` of all errors is among the least sure `budget` of the values; None without errors."""

    budget: float
    share: float | None


class Selection(Struct, frozen=True):
    """The risk-coverage curve, from high confidence down, and the areas under it."""

    points: tuple[Point, ...]
    aurc: float
    augrc: float
    captures: tuple[Capture, ...]


class Group(Struct, frozen=True):
    """Confidences of all values (name None), a field or a slice; without observations only the census."""

    name: str | None
    census: ValueCounts
    calibration: Calibration | None = None
    selection: Selection | None = None


class Step(Struct, frozen=True):
    """A test of a certification: the documents tested, those with an error, its level, whether it passed.

    `upper` bounds the risk; None but for the first step, the last that passed and the last of all.
    """

    threshold: float
    labels: int
    errors: int
    level: float
    upper: float | None
    passed: bool

    @property
    def bound(self) -> float:
        """Return `upper` of a step that has one."""
        assert self.upper is not None
        return self.upper


class Expected(Struct, frozen=True):
    """What so many documents like the labeled ones are expected to certify.

    `chance` is that of any certificate, `accepted` the mean share of values that pass (0 without one), `low`
    and `high` bound the middle four fifths of it.
    """

    labels: int
    chance: float
    accepted: float
    low: float
    high: float


class Certificate(Struct, frozen=True):
    """The certified threshold of some fields; None: nothing could be certified, for the `reason` given.

    `labels` are the documents there were, `support` those that the last test counted, `errors` those with an
    error of these. `upper` bounds the risk at `level`, the share of `delta` that the last test had. `needed`
    is the least number of accepted documents, all right. `coverage` and `observed_risk` are of values;
    `interval` is that of `observed_risk` with an unseen document: no promise, since values are not counted by
    document. `marks` say what to beware of.
    """

    fields: tuple[str, ...]
    kind: PromiseKind
    threshold: float | None
    labels: int
    support: int
    errors: int
    upper: float
    delta: float
    level: float
    needed: int
    coverage: float
    observed_risk: float | None
    interval: tuple[float, float] | None = None
    marks: tuple[str, ...] = ()
    reason: str = ""
    steps: tuple[Step, ...] = ()
    expected: tuple[Expected, ...] = ()


class Promise(Struct, frozen=True):
    """The promise of a threshold: a share of errors of at most `risk`, with this confidence.

    `kind` says which share. `is_proven`: only by bounds that are proven, which take more labels.
    """

    risk: float = 0.02
    confidence: float = 0.95
    by_field: bool = False
    kind: PromiseKind = PromiseKind.VALUE
    is_proven: bool = False


class CalibrationPage(Brief, Struct, frozen=True):
    """Everything that calibrating a system of a run gives."""

    run: str
    system: str
    promise: Promise
    scale: str
    pooled: Group
    fields: tuple[Group, ...] = ()
    slices: Mapping[str, tuple[Group, ...]] = field(default_factory=dict)
    certificates: tuple[Certificate, ...] = ()
    promises: tuple[Certificate, ...] = ()
    """Each kind of promise about all fields together, each by itself; what is left after review first."""
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the page as JSON data; curves have at most `MOST_POINTS` points, evenly taken."""
        return {
            "schema_version": SCHEMA_VERSION,
            "run": self.run,
            "system": self.system,
            "promise": record_data(self.promise),
            "scale": self.scale,
            "pooled": _group_data(self.pooled),
            "fields": [_group_data(group) for group in self.fields],
            "slices": {key: [_group_data(group) for group in groups] for key, groups in self.slices.items()},
            "thresholds": [record_data(certificate) for certificate in self.certificates],
            "promises": [record_data(certificate) for certificate in self.promises],
            "remarks": list(self.remarks),
        }


class PromiseStatus(StrEnum):
    """What a held-out run says of a promise."""

    HELD = "held"
    """The observed risk is at most the target."""
    UNDECIDED = "above, within chance"
    """The observed risk is above the target, but not beyond chance."""
    BROKEN = "broken"
    """Even the lower bound of the risk is above the target."""
    EMPTY = "nothing accepted"
    """No value was accepted."""


class Check(Struct, frozen=True):
    """How the threshold of some fields did on another run.

    `risk` is the share that is promised, every document counted once, with its interval over documents, one
    unseen document among them; `counted` documents of which `wrong_documents` have an error give `lower`, the
    bound that decides whether the promise is broken.
    """

    fields: tuple[str, ...]
    threshold: float | None
    values: int
    accepted: int
    errors: int
    documents: int
    coverage: float | None
    risk: float | None
    interval: tuple[float, float] | None
    counted: int
    wrong_documents: int
    lower: float
    standing: PromiseStatus


class PolicyCheck(Struct, frozen=True):
    """A policy applied to a run: each threshold, all together, and what went to review."""

    run: str
    system: str
    policy: str
    promise: Promise
    checks: tuple[Check, ...]
    reviewed: Mapping[str, int]
    caught: int
    """Wrong values among those sent to review."""
    census: ValueCounts
    level: float
    remarks: tuple[str, ...] = ()

    @property
    def is_broken(self) -> bool:
        """Return whether any promise is broken."""
        return any(check.standing is PromiseStatus.BROKEN for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the check as JSON data."""
        return {"schema_version": SCHEMA_VERSION, **record_data(self)}


def _group_data(group: Group) -> dict[str, Any]:
    data = record_data(group)
    if group.selection is not None:
        data["selection"]["points"] = [
            record_data(point) for point in thin(group.selection.points, MOST_POINTS)
        ]
    return data


def thin(points: tuple[Point, ...], most: int) -> tuple[Point, ...]:
    """Return at most so many points of a curve, evenly taken, the first and the last among them."""
    if len(points) <= most:
        return points
    last = len(points) - 1
    return tuple(points[round(place * last / (most - 1))] for place in range(most))


class PlanRow(Struct, frozen=True):
    """What so many labels are expected to certify, by how confidences may be."""

    labels: int
    expected: tuple[Expected, ...]


class LabelPlan(Struct, frozen=True):
    """The labels that a promise needs; `families` thresholds share its confidence, each has `delta`.

    `needed` are the accepted documents needed with 0, 1, 2 and 3 errors among them. `rows` are from `draws`
    certifications each, of documents of `values` values, of which the share `accuracy` is right, in `worlds`
    that differ in what confidences know.
    """

    promise: Promise
    families: int
    delta: float
    needed: tuple[int, ...]
    values: int
    accuracy: float
    worlds: tuple[str, ...]
    rows: tuple[PlanRow, ...]
    draws: int

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON data."""
        return {"schema_version": SCHEMA_VERSION, **record_data(self)}
