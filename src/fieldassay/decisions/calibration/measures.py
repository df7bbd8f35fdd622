"""What confidences are worth: reliability, discrimination and the risk-coverage curve of values."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from msgspec import Struct

from fieldassay.decisions.calibration.observations import Bools, Floats, Ints, Observations, ValueCounts
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings


class Bin(Struct, frozen=True):
    """A reliability bin: lowest and highest confidence, number of values, mean confidence, share right."""

    low: float
    high: float
    n: int
    confidence: float
    accuracy: float


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
    """The risk-coverage curve, from high confidence down, and the errors that review of the rest catches."""

    points: tuple[Point, ...]
    captures: tuple[Capture, ...]


class Group(Struct, frozen=True):
    """Confidences of all values (name None), a field or a slice; without observations only the census."""

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


NULL_DRAWS = 1000


LIMIT = 0.95
"""The quantile of the calibration errors that a calibrated scorer shows by chance."""


_AT_ONCE = 1 << 22


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


def draw_errors(ordered: Floats, starts: Ints, seed: int, draws: int = NULL_DRAWS) -> Floats:
    """Return calibration errors of a perfectly calibrated scorer with these confidences.

    Each value is drawn as right with the probability of its confidence.
    """
    generator = np.random.default_rng(seed)
    n = len(ordered)
    expected = np.add.reduceat(ordered, starts)
    narrow = ordered.astype(np.float32)
    found = np.empty(draws)
    block = max(1, _AT_ONCE // n)
    for first in range(0, draws, block):
        count = min(block, draws - first)
        is_right = generator.random((count, n), dtype=np.float32) < narrow
        sums = np.add.reduceat(is_right, starts, axis=1, dtype=np.int64)
        found[first : first + count] = np.abs(sums - expected).sum(axis=1) / n
    return found


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
                f"documents with one: {self.fewest:,}, {LEAST_DOCUMENTS} are needed"
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
                f"these confidences do not tell right from wrong ({area}; a coin has 0.50): get other "
                "confidences, or review all"
            )
        return f"these confidences are not shown to tell right from wrong ({area}; a coin has 0.50)"


def discriminate(seen: Observations, level: float = 0.95, fields: int = 1) -> Discrimination:
    """Return how well confidences tell right values from wrong ones; `fields` are judged together.

    The interval is on the scale of log odds, with the variance of the components that each document adds and
    Student's t; the wider of those with and without an unseen document of the rarer kind, whose values lie
    as often above as below all others.

    >>> confidence = np.linspace(0.0, 1.0, 40)
    >>> doc = np.arange(40, dtype=np.int32)
    >>> names = tuple(map(str, doc))
    >>> seen = Observations(names, ("n",), doc, doc * 0, confidence, confidence > 0.4)
    >>> found = discriminate(seen)
    >>> found.area, found.standing.value, [round(bound, 2) for bound in found.interval]
    (1.0, 'tells right from wrong', [0.94, 1.0])
    """
    right, wrong = seen.is_correct, ~seen.is_correct
    documents = [len(np.unique(seen.doc[rows])) for rows in (right, wrong)]
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
    sums = np.bincount(seen.doc, parts)
    n = seen.count_documents()
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


BUDGETS = (0.05, 0.1, 0.2, 0.3)


MOST_POINTS = 1000
"""Points of the curve that are kept, evenly spaced, with both ends; budgets are of all values."""


def select(confidence: Floats, is_correct: Bools, budgets: Sequence[float] = BUDGETS) -> Selection:
    """Return the risk-coverage curve of at least one value, with the errors caught by review.

    >>> found = select(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), (0.25,))
    >>> [(point.threshold, point.coverage, point.selective_risk) for point in found.points[:2]]
    [(0.9, 0.25, 0.0), (0.8, 0.5, 0.5)]
    >>> [point.joint_risk for point in found.points[:2]]
    [0.0, 0.25]
    >>> found.captures[0].share
    0.5
    """
    values, accepted, errors = count_accepted(confidence, is_correct)
    n = len(confidence)
    kept = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).round().astype(np.int64))
    points = tuple(
        Point(float(value), int(count), int(wrong), count / n, wrong / count, wrong / n)
        for value, count, wrong in zip(
            values[kept], accepted[kept].tolist(), errors[kept].tolist(), strict=True
        )
    )
    return Selection(
        points,
        tuple(_capture(accepted, errors, one) for one in budgets),
    )


def count_accepted(confidence: Floats, is_correct: Bools) -> tuple[Floats, Floats, Floats]:
    """Return the distinct confidences, descending, with the values and the wrong values of at least each."""
    values, group = np.unique(-confidence, return_inverse=True)
    accepted = np.cumsum(np.bincount(group, minlength=len(values)))
    errors = np.cumsum(np.bincount(group[~is_correct], minlength=len(values)))
    return -values, accepted.astype(np.float64), errors.astype(np.float64)


def _capture(accepted: Floats, errors: Floats, budget: float) -> Capture:
    """Return the errors caught by review of the least sure values.

    Of equal confidences that the budget splits, the average share is caught.
    """
    n, total = accepted[-1], errors[-1]
    if not total:
        return Capture(budget, None)
    kept = np.interp(n * (1.0 - budget), np.append(0.0, accepted), np.append(0.0, errors))
    return Capture(budget, float(1.0 - kept / total))


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
        select(observations.confidence, observations.is_correct),
    )


def calibrate_values(observations: Observations, chance: BootstrapSettings, fields: int = 1) -> Calibration:
    """Return the calibration of at least one value, beside that of a calibrated scorer by chance."""
    order = np.argsort(observations.confidence, kind="stable")
    seen = observations.take(order)
    ordered, is_correct = seen.confidence, seen.is_correct
    starts = cut_bins(ordered)
    error, effect = calibration_error(ordered, is_correct, starts), design_effect(seen, starts)
    drawn = draw_errors(ordered, starts, chance.seed) * np.sqrt(effect)
    found = discriminate(seen, chance.level, fields)
    return Calibration(
        n=len(ordered),
        documents=observations.count_documents(),
        accuracy=float(is_correct.mean()),
        confidence=float(ordered.mean()),
        bins=list_bins(ordered, is_correct, starts),
        ece=error,
        ece_expected=float(drawn.mean()),
        ece_limit=float(np.quantile(drawn, LIMIT)),
        p_value=float((1 + np.count_nonzero(drawn >= error - 1e-12)) / (len(drawn) + 1)),
        design_effect=effect,
        auroc=found.area,
        auroc_interval=found.interval,
        discrimination=found.standing.value,
        auroc_note=found.sentence,
        level=chance.level,
    )


def design_effect(seen: Observations, starts: Ints) -> float:
    """Return by how much dependence within documents multiplies the variance of a sum of values; at least 1.

    The values are by ascending confidence, `starts` those of bins, whose mean error is taken off (Kish 1965).

    >>> doc = np.repeat(np.arange(50, dtype=np.int32), 2)
    >>> lost = np.repeat(np.arange(50) % 5 > 0, 2)
    >>> names = tuple(map(str, range(50)))
    >>> seen = Observations(names, ("n",), doc, doc * 0, np.full(100, 0.8), lost)
    >>> round(design_effect(seen, np.array([0])), 6)
    2.0
    """
    errors = seen.is_correct - seen.confidence
    sizes = np.diff(np.append(starts, len(errors)))
    errors = errors - np.repeat(np.add.reduceat(errors, starts) / sizes, sizes)
    alone, together = float(errors @ errors), np.bincount(seen.doc, errors)
    return max(1.0, float(together @ together) / alone) if alone > 0.0 else 1.0
