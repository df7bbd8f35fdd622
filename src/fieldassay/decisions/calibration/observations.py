"""Observations of a run, and what their confidences are worth."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError, nearest, problem
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.evidence import REPEAT, read_families
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.runs.run import Run

if TYPE_CHECKING:
    import polars as pl


# Observations of a run: judged predicted values with a confidence, and a census of all the others.

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


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


COLUMNS = ("doc", "field", "pred_path", "outcome", "confidence")


JUDGED = ("match", "partial", "mismatch", "spurious")


Scale = Literal["probability", "percent", "logprob"]
SCALES: dict[str, Callable[[Floats], Floats]] = {
    "probability": lambda values: values,
    "percent": lambda values: values / 100.0,
    "logprob": np.exp,
}
"""What confidences may be given in, and how each becomes a probability."""


class Observations(Struct, frozen=True, eq=False):
    """Predicted values with confidences; `doc` and `field` are positions in `documents` and `fields`."""

    documents: tuple[str, ...]
    fields: tuple[str, ...]
    doc: npt.NDArray[np.int32]
    field: npt.NDArray[np.int32]
    confidence: Floats
    is_correct: Bools
    families: tuple[str, ...] = ()
    """What each document is drawn with; () for each by itself."""

    def __len__(self) -> int:
        return len(self.doc)

    @property
    def units(self) -> tuple[str, ...]:
        """Return what is drawn for each document: its family, or the document."""
        return self.families or self.documents

    @property
    def unit_numbers(self) -> npt.NDArray[np.integer]:
        """Return the number of the unit that each observation is drawn with."""
        return np.unique(self.families, return_inverse=True)[1][self.doc] if self.families else self.doc

    def take(self, rows: npt.NDArray[np.generic]) -> Observations:
        """Return some of the observations, by positions or by a mask."""
        doc, field, confidence = self.doc[rows], self.field[rows], self.confidence[rows]
        return replace(self, doc=doc, field=field, confidence=confidence, is_correct=self.is_correct[rows])

    def of_fields(self, fields: Iterable[str]) -> Observations:
        """Return the observations of some fields."""
        wanted = [position for position, name in enumerate(self.fields) if name in set(fields)]
        return self.take(np.isin(self.field, wanted))

    def count_documents(self) -> int:
        """Return how many documents have an observation."""
        return len(np.unique(self.doc))

    def digest(self) -> str:
        """Return the SHA-256 of documents, fields, confidences and outcomes, whatever their order."""
        names = zip(
            self.doc.tolist(),
            self.field.tolist(),
            self.confidence.tolist(),
            self.is_correct.tolist(),
            strict=True,
        )
        lines = sorted(
            f"{self.documents[doc]!r} {self.fields[field]!r} {value!r} {hit:d}\n".encode(
                "utf-8", "surrogatepass"
            )
            for doc, field, value, hit in names
        )
        return hashlib.sha256(b"".join(lines)).hexdigest()


def read_observations(
    rows: pl.DataFrame, scale: str, where: str, families: Mapping[str, str] | None = None
) -> Observations:
    """Return the observations in evidence of one system.

    Raises `ProblemsError` for confidences that are invalid on their scale.

    `rows` has the columns `COLUMNS`, of values only. `families` names that of each document, if documents are
    not drawn by themselves.
    """
    chosen = rows.filter(is_judged() & has_confidence())
    documents, doc = _codes(chosen["doc"])
    fields, field = _codes(chosen["field"])
    confidence = _to_probabilities(chosen, scale, where)
    is_correct = (chosen["outcome"] == "match").to_numpy()
    units = tuple(families.get(name, name) for name in documents) if families else ()
    return Observations(documents, fields, doc, field, confidence, is_correct, units)


def is_judged() -> pl.Expr:
    """Return the condition that a row is a predicted value that was judged, right or wrong."""
    import polars as pl

    return pl.col("outcome").is_in(JUDGED) & pl.col("pred_path").is_not_null()


def has_confidence() -> pl.Expr:
    """Return the condition that a row has a confidence."""
    import polars as pl

    return pl.col("confidence").is_not_null() & pl.col("confidence").is_not_nan()


def count_rows(rows: pl.DataFrame) -> ValueCounts:
    """Return what became of the judged values."""
    import polars as pl

    observed = is_judged() & has_confidence()
    counts = {
        "observed": observed.sum(),
        "wrong": (observed & (pl.col("outcome") != "match")).sum(),
        "without_confidence": (is_judged() & ~has_confidence()).sum(),
        "omitted": (pl.col("outcome") == "missing").sum(),
        "silent": (pl.col("outcome") == "absent").sum(),
        "failed": (pl.col("outcome") == "failed").sum(),
        "documents": pl.col("doc").filter(observed).n_unique(),
    }
    return ValueCounts(**rows.select(**counts).row(0, named=True))


def remark_census(census: ValueCounts) -> Iterator[str]:
    """Yield the limits of any threshold: values without confidence, omitted values, failed judgments."""
    if census.omitted:
        yield (f"{census.omitted:,} gold values were not predicted: no threshold can catch those")
    if census.without_confidence:
        yield (
            f"{census.without_confidence:,} predicted values have no confidence: "
            "they always go to review, and count only in shares of all values"
        )
    if census.failed:
        yield f"{census.failed:,} values could not be judged and are left out here"


def _codes(names: pl.Series) -> tuple[tuple[str, ...], npt.NDArray[np.int32]]:
    distinct = names.unique().sort().to_list()
    places = {name: position for position, name in enumerate(distinct)}
    return tuple(distinct), np.array([places[name] for name in names], np.int32)


def _to_probabilities(chosen: pl.DataFrame, scale: str, where: str) -> Floats:
    confidences = chosen["confidence"].to_numpy().astype(np.float64)
    with np.errstate(over="ignore"):
        probabilities = SCALES[scale](confidences)
    is_bad = ~((probabilities >= 0.0) & (probabilities <= 1.0))
    if is_bad.any():
        row = chosen.row(int(np.flatnonzero(is_bad)[0]), named=True)
        example = f"{row['confidence']!r} at {row['pred_path']!r} of document {row['doc']!r}"[:300]
        raise problem(
            where,
            f"{int(is_bad.sum()):,} of {len(confidences):,} confidences are not {_NOUNS[scale]}, "
            f"such as {example}",
            _remedy(confidences, scale),
            "bad_confidence",
        )
    return probabilities


_NOUNS = {
    "probability": "probabilities from 0 to 1",
    "percent": "percentages from 0 to 100",
    "logprob": "logarithms of probabilities, at most 0",
}


def _remedy(confidences: Sequence[float] | Floats, scale: str) -> str:
    values = np.asarray(confidences)
    if scale != "percent" and values.min() >= 0.0 and 1.0 < values.max() <= 100.0:
        return "if they are percentages, say so with --scale percent"
    if scale != "logprob" and values.max() <= 0.0:
        return "if they are logarithms of probabilities, say so with --scale logprob"
    return (
        "give confidences from 0 to 1, or say with --scale what they are; "
        "correct the predictions and score again"
    )


class Confidences(Struct, frozen=True, eq=False):
    """Judged values of one system (the columns `COLUMNS`), its documents, and the run's digests."""

    label: str
    system: str
    rows: pl.DataFrame
    documents: pl.DataFrame
    digests: Mapping[str, str]
    spec: str = ""
    cluster: str | None = None
    """The key of the families that documents are drawn in."""

    def observe(self, scale: str) -> Observations:
        """Return the observations, with confidences on this scale."""
        families = read_families(self.documents, self.cluster)
        return read_observations(self.rows, scale, self.label, families)

    def list_fields(self) -> tuple[str, ...]:
        """Return the fields that have judged values, in the order of the evidence."""
        return tuple(self.rows["field"].unique(maintain_order=True).to_list())

    def of_fields(self, fields: Iterable[str]) -> Confidences:
        """Return what is there of some fields."""
        import polars as pl

        return replace(self, rows=self.rows.filter(pl.col("field").is_in(list(fields))))


def read_confidences(run: Path | Result, system: str | None) -> Confidences:
    """Return the judged values of a system, the only one unless named.

    Raises `ProblemsError` for a run that kept less than all judged values, and for an ambiguous system.
    """
    import polars as pl

    source = Run.of(run) if isinstance(run, Result) else Run.open(run)
    label, evidence = str(source.folder), source.evidence
    if source.kept != "all" or evidence is None:
        raise _incomplete(label)
    name = _choose_system(label, source.documents, system)
    documents = source.documents.filter(pl.col("system") == name)
    _refuse_repeats(label, name, evidence)
    rows = _select_rows(evidence, name)
    if not source.is_saved and _lacks_matches(rows, documents):
        raise _incomplete(label)
    cluster = (source.result.run.get("bootstrap") or {}).get("cluster")
    return Confidences(label, name, rows, documents, _digests(source), source.spec_name, cluster)


def choose_confidences(
    evidence: pl.LazyFrame, documents: pl.DataFrame, system: str, extent: str
) -> Confidences:
    """Return the judged values of a system in evidence of the `extent` that the run kept; it has no digests.

    Raises `ProblemsError` as `read_confidences` does.
    """
    import polars as pl

    if extent != "all":
        raise _incomplete("the run")
    _refuse_repeats("the run", system, evidence)
    own = documents.filter(pl.col("system") == system)
    return Confidences("the run", system, _select_rows(evidence, system), own, {})


def _select_rows(evidence: pl.LazyFrame, system: str) -> pl.DataFrame:
    import polars as pl

    chosen = evidence.filter((pl.col("kind") == "value") & (pl.col("system") == system))
    return chosen.select(COLUMNS).cast({"confidence": pl.Float64}).collect()


def _refuse_repeats(label: str, system: str, evidence: pl.LazyFrame) -> None:
    """Raise `ProblemsError` for repeated runs: a threshold is for one answer to each document."""
    import polars as pl

    if REPEAT not in evidence.collect_schema():
        return
    own = evidence.filter(pl.col("system") == system).select(pl.col(REPEAT).n_unique()).collect().item()
    if own > 1:
        raise problem(
            label,
            f"{system!r} has {own} repeated runs; a threshold needs one answer to each document",
            "score one of the runs alone, and calibrate that",
            "repeated_runs",
        )


def _lacks_matches(rows: pl.DataFrame, documents: pl.DataFrame) -> bool:
    """Return whether only errors were kept, which a result does not say of itself."""
    has_matches = "matches" in documents.columns and (documents["matches"].sum() or 0) > 0
    return has_matches and not (rows["outcome"] == "match").any()


def _incomplete(label: str) -> ProblemsError:
    what = "did not keep all judged values; calibration also needs the right ones"
    return problem(label, what, "score again with --evidence all", "missing_part")


def _choose_system(label: str, documents: pl.DataFrame, system: str | None) -> str:
    systems = documents["system"].unique(maintain_order=True).to_list()
    if system is None and len(systems) == 1:
        return str(systems[0])
    if system is None:
        what, remedy = f"has {len(systems)} systems", f"choose one with --system: {', '.join(systems)}"[:500]
        raise problem(label, what, remedy, "missing_option")
    if system not in systems:
        raise problem(label, f"no system {system[:100]!r}", nearest(system[:100], systems), "unknown_name")
    return system


def _digests(run: Run) -> dict[str, str]:
    """Return the digests that a run records: of its spec always, of others if it has them."""
    spec = {} if run.file.spec is None else {"spec": run.file.spec.digest}
    return {
        name: digest for name, digest in {**spec, **(run.file.digests or {})}.items() if digest is not None
    }


# What confidences are worth: reliability, discrimination and the risk-coverage curve of values.


class Bin(Struct, frozen=True):
    """A reliability bin: lowest and highest confidence, number of values, mean confidence, share right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


class Calibration(Struct, frozen=True):
    """Calibration of confidences; `ece` is the expected calibration error.

    `auroc_note` says why there is no interval, or what is wrong with the confidences.
    """

    n: int
    documents: int
    accuracy: float
    confidence: float
    bins: tuple[Bin, ...]
    ece: float
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


class Selection(Struct, frozen=True):
    """The risk-coverage curve, from high confidence down."""

    points: tuple[Point, ...]


class Group(Struct, frozen=True):
    """Confidences of all values (name None) or of a field; without observations only the census."""

    name: str | None
    census: ValueCounts
    calibration: Calibration | None = None
    selection: Selection | None = None


def thin(points: tuple[Point, ...], most: int) -> tuple[Point, ...]:
    """Return at most so many points of a curve, evenly taken, the first and the last among them."""
    if len(points) <= most:
        return points
    last = len(points) - 1
    return tuple(points[round(place * last / (most - 1))] for place in range(most))


MOST_BINS, LEAST_VALUES = 10, 20


def cut_bins(ordered: Floats) -> Ints:
    """Return the starts of the bins of ascending confidences: at most 10, with 20 values in each.

    Sizes are equal as far as ties allow: equal confidences are never split. Fewer than 20 values are one bin.

    >>> cut_bins(np.repeat([0.1, 0.5, 0.9], [30, 25, 30])).tolist()
    [0, 30, 55]
    >>> cut_bins(np.full(500, 0.9)).tolist()
    [0]
    """
    n = len(ordered)
    wanted = max(1, min(MOST_BINS, n // LEAST_VALUES))
    goals = -(-np.arange(1, wanted + 1) * n // wanted)
    starts, start = [0], 0
    while True:
        goal = max(start + LEAST_VALUES, int(goals[np.searchsorted(goals, start, side="right")]))
        if goal >= n:
            break
        start = int(np.searchsorted(ordered, ordered[goal - 1], side="right"))
        if n - start < LEAST_VALUES:
            break
        starts.append(start)
    return np.array(starts, np.int64)


def list_bins(ordered: Floats, is_correct: Bools, starts: Ints) -> tuple[Bin, ...]:
    """Return the bins of ascending confidences."""
    ends = np.append(starts[1:], len(ordered))
    sizes = ends - starts
    means = np.add.reduceat(ordered, starts) / sizes
    shares = np.add.reduceat(is_correct.astype(np.float64), starts) / sizes
    return tuple(
        Bin(float(ordered[first]), float(ordered[end - 1]), int(end - first), float(mean), float(share))
        for first, end, mean, share in zip(starts, ends, means, shares, strict=True)
    )


def calibration_error(ordered: Floats, is_correct: Bools, starts: Ints) -> float:
    """Return the expected calibration error: the mean over values of |share right - mean confidence| by bin.

    >>> confidences, is_correct = np.array([0.25, 0.25, 0.75, 0.75]), np.array([True, False, True, True])
    >>> calibration_error(confidences, is_correct, np.array([0, 2]))
    0.25
    """
    return float(np.abs(np.add.reduceat(is_correct - ordered, starts)).sum() / len(ordered))


LEAST_DOCUMENTS = 10
"""Documents with a wrong value, and with a right one, that an interval takes."""


USELESS = 0.65
"""Confidences whose area is below this at the most, and may be one half, are called useless."""


class AreaStanding(StrEnum):
    """What can be said of an area."""

    TELLS = "tells right from wrong"
    NOT_SHOWN = "not shown to tell right from wrong"
    USELESS = "does not tell right from wrong"
    UPSIDE_DOWN = "upside down"
    TOO_FEW = "too few wrong values"


class Discrimination(Struct, frozen=True):
    """The area under the ROC curve with its interval over documents; None with too few of either kind.

    `fewest` are the documents with a wrong value, or with a right one if those are fewer; `is_wrong` says
    which. `standing` is at the level of one of several fields, the interval at its own.
    """

    area: float | None
    interval: tuple[float, float] | None
    fewest: int
    is_wrong: bool
    standing: AreaStanding

    @property
    def sentence(self) -> str:
        """Return what is wrong with the confidences; empty where they tell right from wrong."""
        if self.standing is AreaStanding.TOO_FEW:
            kind = "wrong" if self.is_wrong else "right"
            return (
                f"too few {kind} values to say whether these confidences tell right from wrong: "
                f"they are in {format_count(self.fewest, 'document')}, {LEAST_DOCUMENTS} are needed"
            )
        if self.standing is AreaStanding.TELLS or self.interval is None:
            return ""
        area = f"AUROC {self.area:.2f}, {self.interval[0]:.2f} to {self.interval[1]:.2f}"
        if self.standing is AreaStanding.UPSIDE_DOWN:
            return (
                "these confidences are upside down: wrong values have HIGHER confidence than right ones "
                f"({area}); check the scale"
            )
        if self.standing is AreaStanding.USELESS:
            return (
                f"these confidences do not tell right from wrong ({area}; chance is 0.50): get other "
                "confidences, or review all"
            )
        return f"these confidences are not shown to tell right from wrong ({area}; chance is 0.50)"


def discriminate(seen: Observations, level: float = 0.95, fields: int = 1) -> Discrimination:
    """Return how well confidences tell right values from wrong ones; `fields` are judged together.

    The interval is on the scale of log odds, with the variance of the components that each document adds and
    Student's t; the wider of those with and without an unseen document of the rarer kind, whose values lie
    as often above as below all others.

    >>> confidence = np.linspace(0.0, 1.0, 40)
    >>> doc = np.arange(40, dtype=np.int32)
    >>> names = tuple(map(str, doc))
    >>> seen = Observations(names, ("n",), doc, doc * 0, confidence, confidence > 0.4)
    >>> discrimination = discriminate(seen)
    >>> discrimination.area, discrimination.standing.value
    (1.0, 'tells right from wrong')
    >>> [round(bound, 2) for bound in discrimination.interval]
    [0.94, 1.0]
    """
    right, wrong = seen.is_correct, ~seen.is_correct
    documents = [len(np.unique(seen.unit_numbers[rows])) for rows in (right, wrong)]
    fewest, is_wrong = min(documents), documents[1] <= documents[0]
    area = auroc(seen.confidence, right)
    if area is None or fewest < LEAST_DOCUMENTS:
        return Discrimination(area, None, fewest, is_wrong, AreaStanding.TOO_FEW)
    error = _standard_error(seen, area)
    interval = _interval(area, error, fewest, level)
    strict = _interval(area, error, fewest, 1.0 - (1.0 - level) / fields)
    return Discrimination(area, interval, fewest, is_wrong, _judge(strict))


def auroc(confidence: Floats, is_correct: Bools) -> float | None:
    """Return the probability that a right value has more confidence than a wrong one, ties counted half.

    None unless there are both.

    >>> auroc(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    0.875
    """
    right, wrong = np.sort(confidence[is_correct]), confidence[~is_correct]
    pairs = len(right) * len(wrong)
    if not pairs:
        return None
    below = np.searchsorted(right, wrong, "left") + np.searchsorted(right, wrong, "right")
    return float((2 * pairs - below.sum()) / (2 * pairs))


def _share_below(ordered: Floats, values: Floats) -> Floats:
    """Return for each value the share of ascending ones below it, ties counted half."""
    below = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    shares: Floats = below / (2.0 * len(ordered))
    return shares


def _standard_error(seen: Observations, area: float) -> float:
    right, wrong = seen.confidence[seen.is_correct], seen.confidence[~seen.is_correct]
    parts = np.empty(len(seen))
    parts[seen.is_correct] = (_share_below(np.sort(wrong), right) - area) / len(right)
    parts[~seen.is_correct] = (1.0 - _share_below(np.sort(right), wrong) - area) / len(wrong)
    sums = np.bincount(seen.unit_numbers, parts)
    n = len(np.unique(seen.unit_numbers))
    return float(np.sqrt(n / (n - 1) * (sums**2).sum()))


def _interval(area: float, error: float, fewest: int, level: float) -> tuple[float, float]:
    from scipy.special import expit, logit, stdtrit

    reach = float(stdtrit(fewest - 1, (1.0 + level) / 2.0))
    guarded = (fewest * area + 0.5) / (fewest + 1)
    unseen = guarded * (1.0 - guarded) / (fewest + 1) ** 2
    bounds = []
    for center, variance in ((area, error**2), (guarded, error**2 + unseen)):
        if not 0.0 < center < 1.0:
            bounds.append((center, center))
            continue
        half = reach * np.sqrt(variance) / (center * (1.0 - center))
        bounds.append((float(expit(logit(center) - half)), float(expit(logit(center) + half))))
    return min(low for low, _ in bounds), max(high for _, high in bounds)


def _judge(interval: tuple[float, float]) -> AreaStanding:
    low, high = interval
    if low > 0.5:
        return AreaStanding.TELLS
    if high < 0.5:
        return AreaStanding.UPSIDE_DOWN
    return AreaStanding.USELESS if high < USELESS else AreaStanding.NOT_SHOWN


MOST_POINTS = 1000
"""Points of the curve that are kept, evenly spaced, with both ends."""


def select(confidence: Floats, is_correct: Bools, without_confidence: int = 0) -> Selection:
    """Return the risk-coverage curve of at least one value.

    Values `without_confidence` are never accepted: coverage and joint risk count them.

    >>> selection = select(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]))
    >>> [(point.threshold, point.coverage, point.selective_risk) for point in selection.points[:2]]
    [(0.9, 0.25, 0.0), (0.8, 0.5, 0.5)]
    >>> [point.joint_risk for point in selection.points[:2]]
    [0.0, 0.25]
    """
    values, accepted, errors = count_accepted(confidence, is_correct)
    n = len(confidence) + without_confidence
    indices = np.unique(
        np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(np.int64)
    )
    points = tuple(
        Point(float(value), int(count), int(wrong), count / n, wrong / count, wrong / n)
        for value, count, wrong in zip(
            values[indices], accepted[indices].tolist(), errors[indices].tolist(), strict=True
        )
    )
    return Selection(points)


def count_accepted(confidence: Floats, is_correct: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the distinct confidences, descending, with the values and the wrong values of at least each."""
    values, group = np.unique(-confidence, return_inverse=True)
    accepted = np.cumsum(np.bincount(group, minlength=len(values)))
    errors = np.cumsum(np.bincount(group[~is_correct], minlength=len(values)))
    return -values, accepted.astype(np.float64), errors.astype(np.float64)


def measure(
    name: str | None,
    census: ValueCounts,
    observations: Observations,
    chance: BootstrapSettings,
    fields: int = 1,
) -> Group:
    """Return calibration and selective prediction of a group; without observations its census alone.

    `fields` are judged together: what is said of each allows for the others.
    """
    if not len(observations):
        return Group(name, census)
    return Group(
        name,
        census,
        calibrate_values(observations, chance, fields),
        select(
            observations.confidence, observations.is_correct, without_confidence=census.without_confidence
        ),
    )


def calibrate_values(observations: Observations, chance: BootstrapSettings, fields: int = 1) -> Calibration:
    """Return the calibration of at least one value."""
    seen = observations.take(np.argsort(observations.confidence, kind="stable"))
    ordered, is_correct = seen.confidence, seen.is_correct
    starts = cut_bins(ordered)
    discrimination = discriminate(seen, chance.level, fields)
    return Calibration(
        n=len(ordered),
        documents=observations.count_documents(),
        accuracy=float(is_correct.mean()),
        confidence=float(ordered.mean()),
        bins=list_bins(ordered, is_correct, starts),
        ece=calibration_error(ordered, is_correct, starts),
        auroc=discrimination.area,
        auroc_interval=discrimination.interval,
        discrimination=discrimination.standing.value,
        auroc_note=discrimination.sentence,
        level=chance.level,
    )
