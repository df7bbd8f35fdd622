"""Results: calibration, selective prediction, certified review thresholds, and checks of a policy."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from fieldassay.json_value import record_data

SCHEMA_VERSION = 1
MOST_POINTS = 200
"""Points of a risk-coverage curve that JSON gets at most."""


class Unit(StrEnum):
    """What one independent observation is."""

    DOCUMENT = "document"
    """One value drawn from each document."""
    VALUE = "value"
    """Every value."""


class PromiseKind(StrEnum):
    """The share that a promise limits."""

    VALUE = "value"
    """Wrong values among the accepted ones."""
    DOCUMENT = "document"
    """Documents with an error among those accepted as a whole."""
    RESIDUAL = "residual"
    """Wrong and accepted values among all: the errors left after review."""


class Bound(StrEnum):
    """How the risk is bounded where documents have several values."""

    GAFFKE = "gaffke"
    """All values of every document, by Gaffke's bound, whose level is conjectured."""
    BETTING = "betting"
    """All values of every document, by betting: proven."""
    BINOMIAL = "binomial"
    """One value drawn from every document, by the exact binomial bound: proven."""


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
    """Calibration of confidences; `ece_expected`, `ece_limit` and `p_value` are of a calibrated scorer."""

    n: int
    documents: int
    accuracy: float
    confidence: float
    bins: tuple[Bin, ...]
    ece: float
    ece_expected: float
    ece_limit: float
    p_value: float
    brier: BrierParts
    log_loss: float
    clipped: int
    auroc: float | None
    auroc_interval: tuple[float, float] | None
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
    """One test of a certification: the documents tested, those with an error, and whether it passed.

    `upper` bounds the risk; None but for the last step that passed and the last of all.
    """

    threshold: float
    labels: int
    errors: int
    upper: float | None
    passed: bool

    @property
    def bound(self) -> float:
        """Return `upper` of a step that has one."""
        assert self.upper is not None
        return self.upper


class Nearest(Struct, frozen=True):
    """The least risk above the one asked for that the same labels certify, and what it would give."""

    risk: float
    threshold: float
    support: int
    errors: int
    upper: float
    coverage: float


class Certificate(Struct, frozen=True):
    """The certified threshold of some fields; None: nothing could be certified, for the `reason` given.

    `labels` are the independent documents (or values) there were, `support` those with an accepted value,
    `errors` those with a wrong one of these. `upper` bounds the risk at `level`, the share of `delta` that
    each of several sequences of tests has. `needed` is the least number of accepted labels, all right.
    `coverage` and `observed_risk` are of all values of these fields.
    """

    fields: tuple[str, ...]
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
    reason: str = ""
    steps: tuple[Step, ...] = ()
    nearest: Nearest | None = None
    """What could be promised instead where nothing was certified; None also where nothing can."""


class Promise(Struct, frozen=True):
    """The promise of a threshold: a share of errors of at most `risk`, with this confidence, per unit.

    `kind` says which share, `bound` by which test.
    """

    risk: float = 0.01
    confidence: float = 0.95
    unit: Unit = Unit.DOCUMENT
    by_field: bool = False
    kind: PromiseKind = PromiseKind.VALUE
    bound: Bound = Bound.GAFFKE


class CalibrationPage(Struct, frozen=True):
    """Everything that calibrating a system of a run gives."""

    run: str
    system: str
    promise: Promise
    scale: str
    pooled: Group
    fields: tuple[Group, ...] = ()
    slices: Mapping[str, tuple[Group, ...]] = field(default_factory=dict)
    certificates: tuple[Certificate, ...] = ()
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

    `risk` is the share of wrong values in the promise's unit, with its interval over documents; `drawn`
    independent labels of which `drawn_errors` are wrong give `lower`, the bound that decides whether the
    promise is broken.
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
    drawn: int
    drawn_errors: int
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


class PlanChance(Struct, frozen=True):
    """At a true risk: the chance that anything is certified, and the expected share that is accepted."""

    true_risk: float
    chance: float
    accepted: float


class PlanRow(Struct, frozen=True):
    """What so many labels give, by true risk."""

    labels: int
    chances: tuple[PlanChance, ...]


class LabelPlan(Struct, frozen=True):
    """The labels that a promise needs; `families` thresholds share its confidence, each has `delta`.

    `needed` are the accepted labels needed with 0, 1, 2 and 3 errors among them; `rows` are from `trials`
    simulations of the certification.
    """

    promise: Promise
    families: int
    delta: float
    needed: tuple[int, ...]
    rows: tuple[PlanRow, ...]
    trials: int

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as JSON data."""
        return {"schema_version": SCHEMA_VERSION, **record_data(self)}
