"""The certificate: from labeled values to the lowest confidence that keeps a guarantee.

It bounds the mean over documents of the share of wrong values among the accepted ones. Thresholds are tested
from high confidence down, in a sequence with several starts that is fixed before any outcome is seen.

Angelopoulos and others: Learn then test, 2021, arXiv 2110.01052 (sequences with several starts). Wiens: A
fixed sequence Bonferroni procedure, 2003; Bretz and others: A graphical approach to sequentially rejective
multiple test procedures, 2009 (levels that are handed on). Gaffke, N.: Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable, 2005; Learned-Miller, E. and Thomas,
P.: A new confidence interval for the mean of a bounded random variable, 2019, arXiv 1905.06208. That Gaffke's
bound holds for every bounded variable is conjectured.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import log, log1p
from typing import Annotated

import numpy as np
import numpy.typing as npt
from msgspec import Meta, Struct
from msgspec.structs import replace

from fieldassay.decisions.calibration.observations import (
    AreaStanding,
    Bools,
    Floats,
    Ints,
    Observations,
    discriminate,
)
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.estimate import format_share
from fieldassay.metrics.uncertainty.bootstrap import (
    BootstrapSettings,
    add_families,
    contraharmonic_mean,
    percentile_intervals,
    unseen_weights,
    weigh,
)
from fieldassay.options import OptionRecord


class Guarantee(OptionRecord, frozen=True):
    """At most the share `risk` of the accepted values is wrong, averaged over documents.

    The method errs in at most 1 - `confidence` of cases.
    """

    risk: Annotated[float, Meta(gt=1e-6, lt=1, examples=[0.02])] = 0.02
    confidence: Annotated[float, Meta(gt=0, lt=1, examples=[0.95])] = 0.95

    @property
    def delta(self) -> float:
        """Return the level: how often the method may err."""
        return 1.0 - self.confidence


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


class Certificate(Struct, frozen=True):
    """The certified threshold of some fields together; None: nothing could be certified, for the `reason`.

    `labels` are the documents there were, `support` those that the last test counted, `errors` those with an
    error of these. `upper` bounds the risk at `level`, the share of `delta` that the last test had. `needed`
    is the least number of accepted documents, all right. `coverage` is the share of all predicted values that
    pass, `observed_risk` that of these which is wrong; `interval` is that of `observed_risk` with an unseen
    document: no guarantee, since it is no average over documents.
    """

    fields: tuple[str, ...]
    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    labels: int = 0
    support: int = 0
    errors: int = 0
    upper: float = 1.0
    delta: float = 0.05
    level: float = 0.05
    needed: int = 0
    coverage: float = 0.0
    observed_risk: float | None = None
    interval: tuple[float, float] | None = None
    reason: str = ""
    steps: tuple[Step, ...] = ()


_SLACK = 1.0 + 1e-12


MOST_LABELS = 1 << 40


def clopper_pearson_upper(errors: int, n: int, delta: float) -> float:
    """Return the Clopper-Pearson (1934) one-sided upper bound of a proportion at 1 - delta; 1 for n = 0.

    >>> round(clopper_pearson_upper(0, 299, 0.05), 6), round(clopper_pearson_upper(1, 10, 0.05), 4)
    (0.009969, 0.3942)
    """
    from scipy.special import betaincinv

    return 1.0 if errors >= n else float(betaincinv(errors + 1, n - errors, 1.0 - delta))


def clopper_pearson_lower(errors: int, n: int, delta: float) -> float:
    """Return the one-sided lower bound of a proportion at the level 1 - delta; 0 without errors.

    >>> round(clopper_pearson_lower(1, 10, 0.05), 6)
    0.005116
    """
    from scipy.special import betaincinv

    return 0.0 if errors == 0 else float(betaincinv(errors, n - errors + 1, delta))


def passes(errors: int, n: int, risk: float, delta: float) -> bool:
    """Return whether so many errors among n labels show, at level 1 - delta, that the risk is at most `risk`.

    Equivalent to a Clopper-Pearson upper bound of at most `risk`.
    """
    return chance_of_errors(errors, n, risk) <= delta * _SLACK if errors < n else False


def chance_of_errors(errors: int, n: int, risk: float) -> float:
    """Return the probability that n labels have at most so many errors.

    >>> round(chance_of_errors(0, 299, 0.001), 3)
    0.741
    """
    from scipy.special import bdtr

    return 1.0 if errors >= n else float(bdtr(float(errors), n, risk))


def needed_labels(risk: float, delta: float, errors: int = 0) -> int:
    """Return the least number of accepted labels that can be certified with so many errors among them.

    Without errors it is ceil(ln(delta) / ln(1 - risk)).

    >>> [needed_labels(0.01, 0.05, errors) for errors in range(4)]
    [299, 473, 628, 773]
    """
    low, high = errors, max(2, 2 * (errors + 1))
    while not passes(errors, high, risk, delta) and high < MOST_LABELS:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(errors, middle, risk, delta) else (middle, high)
    return high


def allowed_errors(n: int, risk: float, delta: float) -> int:
    """Return the most errors with which n labels can be certified, -1 if not even without any.

    >>> [allowed_errors(n, 0.01, 0.05) for n in (298, 299, 627, 628)]
    [-1, 0, 1, 2]
    """
    low, high = -1, n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle, n, risk, delta) else (low, middle)
    return low


Complexes = npt.NDArray[np.complex128]


class Losses(Struct, frozen=True, eq=False):
    """The errors of documents: `wrong` is what each loses, `whole` what it weighs, of `count` alike.

    The risk is the sum of `wrong` over the sum of `whole`.
    """

    wrong: Floats
    whole: Floats
    count: Floats

    @property
    def size(self) -> float:
        """Return the number of documents, each counted by what it weighs."""
        return float(self.whole @ self.count)

    @property
    def is_yes_no(self) -> bool:
        """Return whether every document counts fully, and is right or wrong as a whole."""
        return bool(np.all((self.wrong == 0.0) | (self.wrong == 1.0)) and np.all(self.whole == 1.0))

    def count_errors(self) -> int:
        """Return the number of documents with an error."""
        return round(float(self.count[self.wrong > 0.0].sum()))


def risk_p_value(losses: Losses, risk: float) -> float:
    """Return the p value of the hypothesis that the risk is above `risk`.

    Documents that are right or wrong as a whole have the exact binomial test, others Gaffke's.

    >>> clean = Losses(np.array([0.0]), np.array([1.0]), np.array([299.0]))
    >>> round(risk_p_value(clean, 0.01), 6) == round(0.99**299, 6)
    True
    >>> one_of_two = Losses(np.array([0.0, 0.5]), np.array([1.0, 1.0]), np.array([398.0, 2.0]))
    >>> round(risk_p_value(one_of_two, 0.01), 4)
    0.0683
    """
    if losses.is_yes_no:
        return chance_of_errors(losses.count_errors(), round(losses.size), risk)
    gains = losses.wrong - risk * losses.whole
    return _sum_above_zero(np.append(gains, 1.0 - risk), np.append(losses.count, 1.0))


def lower_p_value(losses: Losses, risk: float) -> float:
    """Return the p value of the hypothesis that the risk is at most `risk`: how surely it is above.

    >>> all_wrong = Losses(np.array([1.0]), np.array([1.0]), np.array([2.0]))
    >>> round(lower_p_value(all_wrong, 0.1), 6)
    0.01
    """
    gains = losses.wrong - risk * losses.whole
    return _sum_above_zero(np.append(-gains, risk), np.append(losses.count, 1.0))


def risk_upper(losses: Losses, delta: float) -> float:
    """Return the upper bound of the risk at 1 - delta: the least risk whose p value is at most delta."""
    if losses.is_yes_no:
        return clopper_pearson_upper(losses.count_errors(), round(losses.size), delta)
    return _invert(lambda risk: _log_odds(risk_p_value(losses, risk)) - _log_odds(delta))


def risk_lower(losses: Losses, delta: float) -> float:
    """Return the lower bound of the risk at 1 - delta, 0 without errors."""
    if losses.is_yes_no:
        return clopper_pearson_lower(losses.count_errors(), round(losses.size), delta)
    if not losses.wrong.any():
        return 0.0
    return _invert(lambda risk: _log_odds(delta) - _log_odds(lower_p_value(losses, risk)))


def _log_odds(p: float) -> float:
    """Return the logarithm of the odds, nearly linear in a risk, so that few p values find a bound."""
    return log(max(p, 1e-300)) - log1p(-min(p, 1.0 - 1e-16))


def _sum_above_zero(factors: Floats, count: Floats) -> float:
    """Return P(sum of factor x gamma(count) > 0) for independent gamma variables; some factor is above 0."""
    is_used = (factors != 0.0) & (count > 0.0)
    factors, count = factors[is_used], count[is_used]
    if not (factors < 0.0).any():
        return 1.0
    if factors @ count > 0.0:
        return max(0.0, 1.0 - _upper_tail(-factors, count))
    return _upper_tail(factors, count)


def _upper_tail(factors: Floats, count: Floats) -> float:
    """Return P(sum > 0) of factors of both signs, for a sum with a mean of at most 0.

    The inversion integral of the moment generating function through its saddle point (Lugannani and Rice
    1980), along a hyperbola that opens to the side where the integrand falls, by the trapezoid rule: the
    error falls exponentially with the step, so that the result is exact but for rounding.
    """
    saddle, room = _find_saddle(factors, count)
    terms = count * (factors / (1.0 - factors * saddle)) ** 2
    width = min(1.0, 4.0 / (room * float(np.sqrt(terms.sum() + saddle**-2.0))))
    step, most_bend = _STEP * width, _BEND * width

    def line(u: Floats, bend: float | Floats) -> tuple[Complexes, Complexes]:
        """Return the logarithm of the integrand and the direction of the line."""
        points: Complexes = saddle + room * (bend * (np.cosh(u) - 1.0) + 1j * np.sinh(u))
        logarithms: Complexes = np.log(1.0 - factors[:, None] * points)
        height: Complexes = -(count @ logarithms) - np.log(points)
        direction: Complexes = bend * np.sinh(u) + 1j * np.cosh(u)
        return height, direction

    peak, one_side, other_side = line(_AWAY, most_bend * _SIDES)[0].real.tolist()
    bend, total = most_bend if one_side <= other_side else -most_bend, 0.0
    for start in range(0, _MOST_STEPS, _AT_ONCE):
        u: Floats = step * np.arange(start, start + _AT_ONCE, dtype=np.float64)
        height, direction = line(u, bend)
        with np.errstate(over="ignore", invalid="ignore"):  # beyond the end, where nothing is added
            values = np.exp(height - peak) * direction
        is_over = np.abs(values) < _NEGLIGIBLE
        end = int(is_over.argmax()) if is_over.any() else _AT_ONCE
        total += float(values[:end].imag.sum()) - (0.5 * float(values[0].imag) if start == 0 else 0.0)
        if end < _AT_ONCE:
            break
    return float(min(1.0, np.exp(peak) * room * step * total / np.pi))


_AWAY, _SIDES = np.array([0.0, 2.0, 2.0]), np.array([0.0, 1.0, -1.0])


_STEP, _BEND, _AT_ONCE, _MOST_STEPS, _NEGLIGIBLE = 0.125, 0.7, 40, 4096, 1e-16


def _find_saddle(factors: Floats, count: Floats) -> tuple[float, float]:
    """Return the minimum of M(s) / s between 0 and the pole of M, and its distance from the nearer end."""
    pole = 1.0 / float(factors.max())
    low, high, saddle = 0.0, pole, 0.5 * pole
    for _ in range(200):
        terms = factors / (1.0 - factors * saddle)
        slope = float(count @ terms) - 1.0 / saddle
        low, high = (low, saddle) if slope > 0.0 else (saddle, high)
        step = saddle - slope / (float(count @ terms**2) + saddle**-2.0)
        moved = step if low < step < high else 0.5 * (low + high)
        if abs(moved - saddle) <= 1e-9 * min(moved, pole - moved):
            break
        saddle = moved
    return saddle, min(saddle, pole - saddle)


def _invert(excess: Callable[[float], float]) -> float:
    """Return where a falling function of a risk becomes 0, at the least 0 and at the most 1."""
    from scipy.optimize import brentq

    low, high = 1e-9, 1.0 - 1e-9
    if excess(low) <= 0.0:
        return 0.0
    return 1.0 if excess(high) > 0.0 else float(brentq(excess, low, high, xtol=1e-9, rtol=1e-9))


def ratio_interval(
    sums: Floats, documents: Sequence[str], chance: BootstrapSettings
) -> tuple[float, float] | None:
    """Return the interval of the ratio of two sums (rows) over documents (columns).

    None without replicates, or if it has no width. One unseen document is in each replicate, right or wrong
    as a whole, of the size sum of squares / sum.

    >>> clean = np.array([[0.0] * 40, [1.0] * 40])
    >>> names = [str(number) for number in range(40)]
    >>> low, high = ratio_interval(clean, names, BootstrapSettings())
    >>> low, round(high, 2)
    (0.0, 0.07)
    """
    if not chance.replicates:
        return None
    replicates = ratio_replicates(sums, documents, chance)
    bounds = percentile_intervals(replicates[None, :], chance.level)
    low, high = float(bounds.low[0]), float(bounds.high[0])
    return (low, high) if low < high else None


def ratio_replicates(sums: Floats, documents: Sequence[str], chance: BootstrapSettings) -> Floats:
    """Return the ratio in every replicate; NaN where the second sum is 0."""
    size = contraharmonic_mean(add_families(sums[1], documents))
    unseen = unseen_weights(chance.seed, chance.replicates) * size
    above, below = weigh(sums, documents, chance.seed, chance.replicates)
    above, below = above + np.maximum(-unseen, 0.0), below + np.abs(unseen)
    ratios: Floats = np.divide(above, below, out=np.full(len(unseen), np.nan), where=below > 0)
    return ratios


class RankedLabels:
    """Values by falling confidence, each with the position of its document.

    Documents are independent, or their families are (`family`: the position of that of each document).
    """

    def __init__(
        self, doc: npt.NDArray[np.integer], confidence: Floats, is_correct: Bools, family: Ints | None = None
    ) -> None:
        falling = np.argsort(-confidence, kind="stable")
        self.doc = doc[falling]
        self.confidence = confidence[falling]
        self.is_wrong = ~is_correct[falling]
        self.documents = int(doc.max()) + 1 if len(doc) else 0
        sizes = np.ones(self.documents, np.int64) if family is None else np.bincount(family)
        is_grouped = family is not None and len(sizes) < self.documents
        self.family: Ints = family if family is not None and is_grouped else np.arange(self.documents)
        self.families = len(sizes)
        self.largest = int(sizes.max(initial=1))
        """The documents of the largest family, which weighs as much as a document that is drawn by itself."""
        self.values: Ints = np.bincount(doc, minlength=self.documents)
        is_new = np.zeros(len(doc), bool)
        is_new[np.unique(self.doc, return_index=True)[1]] = True
        self.entered: Ints = np.cumsum(is_new)
        """Documents with a value down to each."""

    @classmethod
    def of(cls, seen: Observations) -> "RankedLabels":
        """Return the labels of observations."""
        present, doc = np.unique(seen.doc, return_inverse=True)
        family = np.unique([seen.units[place] for place in present], return_inverse=True)[1]
        return cls(doc, seen.confidence, seen.is_correct, family)

    @property
    def units(self) -> int:
        """Return how many draws the documents are worth: as many as there are, or fewer in families."""
        return self.documents // self.largest

    def __len__(self) -> int:
        return len(self.confidence)

    def count_from(self, threshold: float) -> int:
        """Return how many values have at least this confidence."""
        return int(np.searchsorted(-self.confidence, -threshold, side="right"))

    def count_at(self, size: float) -> int:
        """Return how many values it takes until so many documents have one; a tie is taken as a whole."""
        place = min(int(np.searchsorted(self.entered, size - 1e-9)), len(self) - 1)
        return self.count_from(float(self.confidence[place]))

    def share(self, count: int) -> float:
        """Return the share of all values that the first `count` are."""
        return count / len(self) if len(self) else 0.0

    def list_losses(self, count: int) -> tuple[Ints, Floats]:
        """Return the documents with one of the first `count` values, and the share of these that is wrong."""
        doc = self.doc[:count]
        accepted = np.bincount(doc, minlength=self.documents)
        wrong = np.bincount(doc[self.is_wrong[:count]], minlength=self.documents)
        counted = np.flatnonzero(accepted)
        return counted, wrong[counted] / accepted[counted]

    def losses(self, count: int) -> Losses:
        """Return what documents lose if the first `count` values are accepted; those alike are one row.

        >>> confidences, are_right = np.array([0.9, 0.8, 0.1]), np.array([True, False, True])
        >>> labels = RankedLabels(np.array([0, 0, 1]), confidences, are_right)
        >>> labels.losses(2).wrong.tolist(), labels.losses(2).count.tolist()
        ([0.5], [1.0])
        """
        counted, wrong = self.list_losses(count)
        if self.largest > 1:
            family, most = self.family[counted], float(self.largest)
            whole = np.bincount(family)
            is_in = whole > 0
            lost = np.bincount(family, wrong)[is_in] / most
            return Losses(lost, whole[is_in] / most, np.ones(len(lost)))
        alike, many = np.unique(wrong, return_counts=True)
        return Losses(alike, np.ones(len(alike)), many.astype(np.float64))

    def resample(self, documents: int, chance: np.random.Generator) -> "RankedLabels":
        """Return about so many documents, whose families are drawn with replacement from these and one more.

        The unseen one is like one of them, with all values right or all wrong: a coin decides.
        """
        count = max(1, round(documents * self.families / self.documents))
        draws = chance.integers(self.families + 1, size=count)
        twin, is_wrong = chance.integers(self.families), chance.random() < 0.5
        family, source = _take_members(self.family, np.where(draws == self.families, twin, draws))
        doc, places = _take_members(self.doc, source)
        is_unseen = (draws == self.families)[family[doc]]
        is_right = np.where(is_unseen, not is_wrong, ~self.is_wrong[places])
        return RankedLabels(doc, self.confidence[places], is_right, family)


def _take_members(group: npt.NDArray[np.integer], chosen: Ints) -> tuple[Ints, Ints]:
    """Return the members of the chosen groups one after another: the number of the choice, and the member.

    >>> [part.tolist() for part in _take_members(np.array([0, 1, 0]), np.array([1, 0, 1]))]
    [[0, 1, 1, 2], [1, 0, 2, 1]]
    """
    sizes = np.bincount(group)
    lengths, starts = sizes[chosen], (np.cumsum(sizes) - sizes)[chosen]
    ends = np.cumsum(lengths)
    places = np.arange(lengths.sum()) + np.repeat(starts - (ends - lengths), lengths)
    return np.repeat(np.arange(len(chosen)), lengths), np.argsort(group, kind="stable")[places]


SLACK = 1.0 + 1e-9


PLACES = (0.25, 0.5, 0.9)
"""A sequence starts where as many errors may be as in these parts of the documents."""


LATER = 0.3
"""The share of delta of each later start, with very many documents; it grows from 0."""


RATIO, PARTS = 1.08, 40
"""Tests lie where there are 8% more documents, and at every fortieth of the values."""


class CertificationSteps(Struct, frozen=True):
    """The last step of a certification that passed (None: no step did), and all steps that were made."""

    last: Step | None
    steps: tuple[Step, ...]


@lru_cache(maxsize=4096)
def start_sizes(n: int, risk: float, delta: float) -> tuple[tuple[int, float], ...]:
    """Return where sequences start, as documents with an accepted value, and the level that starts there.

    The number of documents and the guarantee alone decide. The first start allows as many errors as a quarter
    of the documents does, the later ones as many as a half and nine tenths, at their levels. With as few
    documents as can be certified at all the first has all of delta.

    >>> start_sizes(148, 0.02, 0.05), start_sizes(200, 0.02, 0.05)
    ((), ((149, 0.05),))
    >>> [(size, round(level, 4)) for size, level in start_sizes(500, 0.02, 0.05)]
    [(176, 0.029), (226, 0.0105), (415, 0.0105)]
    """
    least = needed_labels(risk, delta)
    if n < least:
        return ()
    later = round(LATER * (1.0 - least / n), 2)
    starts = []
    for place, share in zip(PLACES, (1.0 - 2.0 * later, later, later), strict=True):
        errors = allowed_errors(int(place * n), risk, share * delta) if share > 0.0 else -1
        errors = max(errors, 0) if place == PLACES[0] else errors
        size = needed_labels(risk, share * delta, errors) if errors >= 0 else n + 1
        if size <= n:
            starts.append((size, share))
    if len(starts) < 2:
        errors = max(0, allowed_errors(int(PLACES[0] * n), risk, delta))
        return ((needed_labels(risk, delta, errors), delta),)
    whole = sum(share for _, share in starts)
    return tuple((size, delta * share / whole) for size, share in starts)


def list_tests(labels: RankedLabels, risk: float, delta: float) -> list[tuple[int, float]]:
    """Return the numbers of values to accept, ascending, each with the level that starts there.

    Places lie where documents grow by a twelfth, at the starts, and at every fortieth of the values; a tie is
    taken as a whole. Nothing here looks at outcomes.
    """
    sizes = start_sizes(labels.units, risk, delta)
    starts = [(labels.count_at(size * labels.largest), level) for size, level in sizes]
    if not starts:
        return []
    size, places = float(sizes[0][0] * labels.largest), {count for count, _ in starts}
    while size < labels.documents:
        places.add(labels.count_at(size))
        size = max(size + 1.0, size * RATIO)
    parts = np.ceil(len(labels) * np.arange(1, PARTS + 1) / PARTS).astype(int)
    places |= {labels.count_from(float(labels.confidence[part - 1])) for part in parts}
    return [
        (place, sum(level for count, level in starts if count == place))
        for place in sorted(places)
        if place >= starts[0][0]
    ]


def certify(labels: RankedLabels, guarantee: Guarantee) -> CertificationSteps:
    """Return the lowest threshold that independent documents certify, and the tests that were made.

    A test has the level that starts at it, and what the test above it had if that passed: it is handed on.
    """
    steps: list[Step] = []
    level = 0.0
    for count, own in list_tests(labels, guarantee.risk, guarantee.delta):
        level += own
        if level <= 0.0:
            continue
        losses = labels.losses(count)
        is_passed = risk_p_value(losses, guarantee.risk) <= level * SLACK
        threshold = float(labels.confidence[count - 1])
        wrong = labels.list_losses(count)[1]
        steps.append(Step(threshold, len(wrong), int(np.count_nonzero(wrong)), level, None, is_passed))
        level = level if is_passed else 0.0
    return _bound(labels, steps, guarantee.delta)


def _bound(labels: RankedLabels, steps: list[Step], delta: float) -> CertificationSteps:
    """Return the result of tests, with bounds of the first, of the last that passed, and of the last of all.

    The bound of the first is at the whole of delta: its place was fixed before outcomes.
    """
    last = max((place for place, step in enumerate(steps) if step.passed), default=-1)
    for place in {0, last, len(steps) - 1} & set(range(len(steps))):
        step = steps[place]
        losses = labels.losses(labels.count_from(step.threshold))
        upper = risk_upper(losses, delta if last < 0 and place == 0 else step.level)
        steps[place] = replace(step, upper=upper)
    return CertificationSteps(steps[last] if last >= 0 else None, tuple(steps))


MORE = (1.25, 1.5, 2.0, 3.0)
"""Numbers of labels that are tried, as multiples of those at hand; beyond thrice nothing is said."""
DRAWS, FEW_DRAWS, SEED, LIKELY = 100, 40, 0, 0.8
MANY_VALUES, MOST_VALUES = 400_000, 1 << 15
"""Values of all draws together, as far as `FEW_DRAWS` allow; labeled values that are drawn from."""


def chance_to_certify(labels: RankedLabels, guarantee: Guarantee, documents: int) -> float:
    """Return how often so many documents like the labeled ones certify anything.

    Draws end as soon as `LIKELY` cannot be reached any more.
    """
    chance = np.random.default_rng((SEED, documents))
    draws = min(DRAWS, max(FEW_DRAWS, MANY_VALUES // (documents * len(labels) // labels.documents)))
    trials = failed = 0
    while trials < draws and failed <= draws * (1.0 - LIKELY):
        trials += 1
        failed += certify(labels.resample(documents, chance), guarantee).last is None
    return 1.0 - failed / trials


def find_enough(labels: RankedLabels, guarantee: Guarantee) -> int | None:
    """Return the least of a few numbers of labels that certifies in 4 cases out of 5.

    They are looked at from the largest down. None where up to thrice the labels do not do, and where labels
    are too few to draw from, or too many.
    """
    enough = None
    if labels.families >= 20 and len(labels) <= MOST_VALUES:
        for times in reversed(MORE):
            documents = int(-(-times * labels.documents // 50) * 50)
            if chance_to_certify(labels, guarantee, documents) < LIKELY:
                break
            enough = documents
    return enough


def make_certificate(
    values: Observations,
    fields: Sequence[str],
    without_confidence: int,
    guarantee: Guarantee,
    chance: BootstrapSettings,
) -> Certificate:
    """Return the certificate of those of the fields that values are of, with one threshold for all of them.

    Values `without_confidence` are in its coverage, as not accepted.
    """
    labels, fields = RankedLabels.of(values), tuple(name for name in fields if name in values.fields)
    certification = certify(labels, guarantee)
    last, needed = certification.last, labels.largest * needed_labels(guarantee.risk, guarantee.delta)
    if last is None:
        reason = _explain(labels, values, certification, guarantee, chance)
        return Certificate(
            fields,
            labels=labels.documents,
            delta=guarantee.delta,
            level=guarantee.delta,
            needed=needed,
            reason=reason,
            steps=certification.steps,
        )
    accepted = values.confidence >= last.threshold
    wrong, count = accepted & ~values.is_correct, int(accepted.sum())
    sums = np.stack([np.bincount(values.doc, rows, len(values.documents)) for rows in (wrong, accepted)])
    present = np.unique(values.doc)
    names = [values.units[place] for place in present]
    return Certificate(
        fields=fields,
        threshold=last.threshold,
        labels=labels.documents,
        support=last.labels,
        errors=last.errors,
        upper=last.bound,
        delta=guarantee.delta,
        level=last.level,
        needed=needed,
        coverage=count / (len(values) + without_confidence),
        observed_risk=float(wrong.sum() / count),
        interval=ratio_interval(sums[:, present].astype(np.float64), names, chance),
        steps=certification.steps,
    )


def _explain(
    labels: RankedLabels,
    values: Observations,
    certification: CertificationSteps,
    guarantee: Guarantee,
    chance: BootstrapSettings,
) -> str:
    """Return why nothing could be certified, in one number: what is missing, or what is known so far.

    Useless confidences do no harm where accepting everything keeps the guarantee.
    """
    least = labels.largest * needed_labels(guarantee.risk, guarantee.delta)
    if labels.documents < least:
        return f"label at least {format_count(least - labels.documents, 'more document')} ({least:,} in all)"
    everything = labels.losses(len(labels))
    if float(everything.wrong @ everything.count) >= guarantee.risk * everything.size:
        seen = discriminate(values, chance.level)
        if seen.standing is AreaStanding.UPSIDE_DOWN:
            return f"{seen.sentence}, no threshold can help"
        if seen.standing is AreaStanding.USELESS:
            return f"{seen.sentence}; more labels will not help"
    enough = find_enough(labels, guarantee)
    if enough is not None:
        return f"about {enough:,} labeled documents would certify it in 4 of 5 cases"
    step, limit = certification.steps[0], format_share(certification.steps[0].bound, 2)
    have = "has" if step.errors == 1 else "have"
    return (
        f"in the {step.labels:,} documents with the most confident values, "
        f"{step.errors:,} {have} a wrong one: at most {limit} of these values are wrong "
        f"({format_share(guarantee.confidence)}, averaged over documents)"
    )


def describe_guarantee(guarantee: Guarantee) -> str:
    """Return what is guaranteed, in words.

    >>> print(describe_guarantee(Guarantee(0.01)))  # doctest: +NORMALIZE_WHITESPACE
    The guarantee: in a document, take the share of accepted values that are wrong. Averaged over new
    documents like these, it is at most 1%. The method errs in at most 5% of cases.
    """
    return (
        "The guarantee: in a document, take the share of accepted values that are wrong. Averaged over new "
        f"documents like these, it is at most {format_share(guarantee.risk)}. The method errs in at most "
        f"{format_share(guarantee.delta)} of cases."
    )


def describe_certificate(certificate: Certificate, guarantee: Guarantee) -> str:
    """Return what a certificate guarantees of how many values, or why nothing is certified.

    >>> certificate = Certificate(("n",), 0.94, coverage=0.54, observed_risk=0.01)
    >>> print(describe_certificate(certificate, Guarantee(0.02)))  # doctest: +NORMALIZE_WHITESPACE
    accept confidence 0.94 or higher (54% of values): at most 2% are wrong, averaged over documents; here
    1.00% are
    """
    if certificate.threshold is None or certificate.observed_risk is None:
        return f"not certified: {certificate.reason}"
    seen = (
        f"accept confidence {certificate.threshold:.6g} or higher "
        f"({format_share(certificate.coverage, 0)} of values): at most {format_share(guarantee.risk)} are "
        f"wrong, averaged over documents; here {format_share(certificate.observed_risk, 2)} are"
    )
    if certificate.interval is None:
        return seen
    low, high = (format_share(bound, 2) for bound in certificate.interval)
    return f"{seen} ({low} to {high}, no guarantee)"
