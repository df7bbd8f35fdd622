"""Kinds of gates that one estimate does not decide: regression, the best of several systems, and any look."""

import math
from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import ProblemsError
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.comparisons.pair import Floats, Pair, PairedMatrix, View
from fieldassay.metrics.comparisons.pairwise import Tested, compare_one, decide, slice_values
from fieldassay.metrics.estimate import (
    HIGHEST,
    Estimate,
    difference_unit,
    format_in_unit,
    format_p,
    format_share,
    format_size,
)
from fieldassay.metrics.result.documents import PairedData, is_comparable
from fieldassay.metrics.result.estimation import find_highest
from fieldassay.metrics.result.verdicts import Comparison, GateOutcome, Verdict
from fieldassay.metrics.statistics.statistics import Combined, Constant, Ratio, Total
from fieldassay.metrics.thresholds import (
    WORDS,
    describe_least,
    format_change,
    format_changes,
    format_compared,
    format_threshold,
    holds,
)
from fieldassay.metrics.uncertainty.bootstrap import (
    FEW_DOCUMENTS,
    FEW_FAMILIES,
    Interval,
    say_too_few,
    say_too_few_families,
    sequence_interval,
)

BEFORE, NOW = "before", "now"
"""The names of the two systems of a baseline's arena."""

NO_BASELINE = "no baseline; make one with `fieldassay baseline set RUN`, and give it with --baseline FILE"


class BaselineMatch(Struct, frozen=True, eq=False):
    """A system beside its baseline on the same documents: an arena of `BEFORE` and `NOW`, or `why` not.

    `evidence` says which baseline it is.
    """

    arena: PairedMatrix | None = None
    why: str = NO_BASELINE
    evidence: tuple[str, ...] = ()
    is_same: bool = False
    """The predictions are those of the baseline, byte for byte."""

    def compare(self, call: MetricCall) -> "MetricChange":
        """Return the change of a metric. Raises ValueError, with the reason, if it is not known."""
        if self.arena is None:
            raise ValueError(self.why)
        bound = bind_metric(call, self.arena.data.vocabulary)
        _check_comparable(self.arena, bound)
        narrow = self.arena if call.slice is None else _narrow(self.arena, call.slice)
        comparison, pair = compare_one(narrow, (BEFORE, NOW), bound, call.slice)
        missing = [
            name
            for name, value in zip(("in the baseline", "now"), comparison.values, strict=True)
            if value is None
        ]
        if missing:
            raise ValueError(f"{call} is undefined {' and '.join(missing)}")
        is_same = self.is_same and comparison.verdict == "identical"
        # Documents with a number in the baseline and none now, which could be slow ones left out.
        before, now = (matrix[pair.view.rows[pair.view.measured]] for matrix in narrow.matrices)
        return MetricChange(comparison, pair, is_same, int(np.count_nonzero((before > now).any(axis=0))))


class MetricChange(Struct, frozen=True):
    """The change of a metric: now less before, signed so that losses are negative; its intervals too.

    `comparison` is unsigned. `is_same`: the predictions are those of the baseline. `unmeasured`
    documents have a number (a duration, a cost) in the baseline and none now. `guarded` is the interval that
    a pass stands on, for this gate alone: all gates must pass, so that none of them is adjusted for others.
    """

    comparison: Comparison
    pair: Pair
    is_same: bool = False
    unmeasured: int = 0
    guarded: tuple[float, float] | None = None
    note: str = ""
    """Of intervals that hold at any look: that they do, and their price."""

    @property
    def difference(self) -> float:
        """Return the change."""
        return self._sign * (self.comparison.difference or 0.0)

    @property
    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the verdict, or the guarded one where nothing differs."""
        return self.guarded if self.comparison.verdict == "identical" else self.turn(self.comparison.interval)

    def turn(self, interval: tuple[float, float] | None) -> tuple[float, float] | None:
        """Return an interval in the direction of better."""
        if interval is None or self._sign > 0:
            return interval
        return -interval[1], -interval[0]

    @property
    def is_one_size(self) -> bool:
        """Return whether a metric without bounds changed alike in all documents: its interval is empty."""
        is_bounded, ends = self.pair.is_bounded, self.guarded
        return ends is not None and not is_bounded and ends[1] - ends[0] <= 2.0 * self.pair.slack

    @property
    def _sign(self) -> float:
        return 1.0 if self.comparison.better == "higher" else -1.0


def judge_regression(
    interval: tuple[float, float],
    guarded: tuple[float, float],
    margin: float,
    operator: str = ">",
    unit: str = "ratio",
) -> Verdict:
    """Return FAIL if a loss beyond the margin is shown, PASS if it is excluded, else INCONCLUSIVE.

    The intervals are those of the difference (negative: worse), of the verdict and guarded. The gate is
    `difference operator -margin`, with `>` or `>=`; a negative margin asks for a gain. It passes if every
    number of the guarded interval agrees, and fails if no number of the verdict's does; without a shown loss,
    where a gain is asked for, if none of the guarded one does. Raises ValueError for another operator.

    >>> intervals = ((-0.005, 0.02), (-0.05, -0.02), (-0.03, 0.01), (0.0, 0.0))
    >>> [judge_regression(interval, interval, 0.01).value for interval in intervals]
    ['PASS', 'FAIL', 'INCONCLUSIVE', 'PASS']
    >>> judge_regression((-0.005, 0.02), (-0.06, 0.05), 0.01).value
    'INCONCLUSIVE'
    """
    if operator not in (">", ">="):
        raise ValueError(f"a regression is compared with > or >=, not {operator}")
    if not holds(_highest(interval, guarded), operator, -margin, unit):
        return Verdict.FAIL
    return Verdict.PASS if holds(min(guarded), operator, -margin, unit) else Verdict.INCONCLUSIVE


def _highest(interval: tuple[float, float], guarded: tuple[float, float]) -> float:
    """Return the upper bound that a gate fails by: unless a loss is shown, unseen documents may be gains."""
    return interval[1] if interval[1] < 0.0 else max(interval[1], guarded[1])


def decide_changes(changes: Sequence[MetricChange]) -> list[MetricChange]:
    """Return the changes with p values adjusted for all of them, and the verdicts that follow."""
    decided = decide([Tested(change.comparison, change.pair) for change in changes])
    return [
        replace(
            change,
            comparison=comparison,
            guarded=change.turn(_guard(change.pair, comparison)),
        )
        for change, comparison in zip(changes, decided, strict=True)
    ]


def _guard(pair: Pair, comparison: Comparison) -> tuple[float, float] | None:
    bounds = pair.bounds(1.0 - comparison.level, 1.0 if comparison.p is None else comparison.p)
    return bounds.guarded or bounds.interval


def judge_change(gate: Gate, change: MetricChange, failed: int = 0) -> GateOutcome:
    """Return the outcome of a regression gate, which no failed judgement lets pass: it could be a loss."""
    comparison = change.comparison
    before, now = (format_in_unit(value or 0.0, comparison.unit) for value in comparison.values)
    counts = (
        f"better in {comparison.wins:,}, worse in {comparison.losses:,}, "
        f"the same in {comparison.ties:,} of {comparison.documents:,} documents"
    )
    outcome = GateOutcome(
        gate,
        Verdict.INCONCLUSIVE,
        "",
        value=change.difference,
        unit=comparison.unit,
        n=comparison.documents,
        documents=comparison.documents,
        interval=change.interval,
        evidence=(
            f"before {before}, now {now}; {counts}"
            + ("" if comparison.p is None else f"; {format_p(comparison.p)}"),
        ),
    )
    if change.is_same and not failed:
        return _judge_same(outcome, comparison.unit)
    if "few_families" in comparison.marks:
        is_lost = comparison.verdict == "worse" and gate.threshold >= 0.0  # p values need no interval
        return replace(
            outcome,
            verdict=Verdict.FAIL if is_lost else outcome.verdict,
            rule=f"{'a loss is shown; ' if is_lost else ''}{say_too_few_families(comparison.families or 0)}",
        )
    if change.interval is None or change.guarded is None:
        why = "it has no interval: score with a bootstrap, and gate a rate instead of a count"
        return replace(outcome, rule=why)
    if "few_replicates" in comparison.marks:
        return replace(outcome, rule=say_too_few(comparison.level))
    verdict = judge_regression(
        change.interval, change.guarded, -gate.threshold, gate.operator, comparison.unit
    )
    outcome, objection = replace(outcome, rule=_tell(gate, change, verdict)), _object(change, failed)
    if verdict is Verdict.PASS and objection:
        return replace(outcome, rule=f"{outcome.rule}, but {objection}")
    is_open = verdict is Verdict.INCONCLUSIVE
    is_alarm = is_open and gate.threshold == 0 and gate.operator == ">=" and not objection
    outcome = replace(outcome, verdict=Verdict.NO_LOSS if is_alarm else verdict)
    return _ask_for_more(outcome, change) if is_open and not change.note else outcome


def _object(change: MetricChange, failed: int) -> str:
    """Return what keeps a change from passing whatever its interval; empty for nothing."""
    comparison = change.comparison
    if failed:
        return f"{failed:,} judgements failed and could be losses"
    if change.unmeasured:
        return f"{change.unmeasured:,} documents with a number in the baseline have none now"
    if comparison.verdict == "identical":
        return ""
    if "few_documents" in comparison.marks:
        return f"{format_count(comparison.documents, 'document')} are too few: use {FEW_DOCUMENTS} or more"
    return _ONE_SIZE if change.is_one_size else ""


_ONE_SIZE = "all documents changed by the same amount, so the spread is unknown"


def _judge_same(outcome: GateOutcome, unit: str) -> GateOutcome:
    """Return the outcome for the predictions of the baseline: a difference of 0, without any doubt."""
    gate, unit = outcome.gate, difference_unit(unit)
    verdict = Verdict.PASS if holds(0.0, gate.operator, gate.threshold, unit) else Verdict.FAIL
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    shown = format_compared(0.0, gate.threshold, unit)
    return replace(
        outcome,
        verdict=verdict,
        interval=(0.0, 0.0),
        rule=f"the predictions equal those of the baseline: {shown}, needed {wanted}",
    )


def _tell(gate: Gate, change: MetricChange, verdict: Verdict) -> str:
    """Return the deciding numbers, in words."""
    comparison, unit = change.comparison, difference_unit(change.comparison.unit)
    interval, guarded = change.interval or (0.0, 0.0), change.guarded or (0.0, 0.0)
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, unit)}"
    level = format_share(comparison.level)
    shown = f"{level} interval {format_changes(interval, unit)}{change.note}"
    head = f"{format_change(change.difference, unit)}, {shown}"
    scope = ""
    if comparison.interval != comparison.interval_alone:
        head, scope = f"{head} counting all gates", "by itself, "
    if comparison.verdict == "identical":
        head = f"nothing changed on these {comparison.documents:,} documents"
    if verdict is Verdict.FAIL:
        shown = format_compared(_highest(interval, guarded), gate.threshold, unit)
        return f"{head}: at best {shown}, needed {wanted}"
    low = format_compared(guarded[0], gate.threshold, unit)
    if verdict is Verdict.PASS:
        return f"{head}: {scope}at worst {low}, needed {wanted}"
    if gate.threshold == 0:
        return (
            f"{head}: {scope}a loss of up to {format_size(max(-guarded[0], 0.0), comparison.unit)} "
            "is possible"
        )
    margin = (
        "" if guarded[0] >= 0.0 else f"; a margin of {_round_margin(-guarded[0], unit)} would have passed"
    )
    return f"{head}: too close to call, needed {wanted}{margin}"


def _round_margin(loss: float, unit: str) -> str:
    """Return a loss with two digits, rounded up.

    >>> _round_margin(0.0681, "ratio"), _round_margin(0.0219, "ratio"), _round_margin(0.1401, "ratio")
    ('6.9 points', '2.2 points', '15 points')
    """
    if loss <= 0.0:
        return format_size(0.0, unit)
    step = 10.0 ** (math.floor(math.log10(loss)) - 1)
    return format_threshold(float(f"{math.ceil(loss / step + 1e-9) * step:.12g}"), difference_unit(unit))


def _ask_for_more(outcome: GateOutcome, change: MetricChange) -> GateOutcome:
    """Return the outcome with the detectable loss, and the documents with which no change passes."""
    comparison, margin = change.comparison, max(0.0, -outcome.gate.threshold)
    spread = change.pair.spread(1.0 - comparison.level)
    counted = change.pair.spread(comparison.p_needed or spread.alpha)  # a loss is shown counting all gates
    detectable, needed = (
        counted.detectable(margin=margin),
        change.pair.count_documents(spread.to_pass(margin)),
    )
    if needed is not None and needed <= comparison.documents:
        needed = None  # the difference itself is near the margin
    more = [outcome.rule]
    is_silent = outcome.verdict is Verdict.NO_LOSS
    if detectable is not None and not is_silent:
        count = format_count(comparison.documents, "document")
        more.append(
            f"{count} are likely to show only losses above about {format_size(detectable, comparison.unit)}"
        )
    if detectable is None and not is_silent and comparison.verdict != "identical":
        more.append(describe_least(counted.documents, counted.alpha, comparison.families))
    if needed is not None:
        more.append(f"an unchanged system needs about {needed:,} documents to pass")
    proposed = spread.proposed_margin() if change.pair.is_bounded else None
    if proposed is not None and proposed > margin:
        least = format_threshold(proposed, difference_unit(comparison.unit))
        more.append(f"with {format_count(comparison.documents, 'document')}, use a margin of {least} or more")
    return replace(outcome, rule="; ".join(more), detectable=detectable, documents_needed=needed)


def _check_comparable(arena: PairedMatrix, bound: BoundMetric) -> None:
    """Raise ValueError with the reason if a metric cannot be compared with the baseline."""
    if not is_comparable(bound):
        raise ValueError(f"{bound.call} cannot be compared with a baseline: it is not a sum over documents")
    if not arena.data.can_compare(bound):
        raise ValueError(
            f"the baseline or the run lacks {bound.call}; score with this gate, and set the baseline again"
        )


def _narrow(arena: PairedMatrix, key: tuple[str, str]) -> PairedMatrix:
    rows = slice_values(arena, key[0]).get(key[1])
    if rows is None:
        raise ValueError(f"the slice {key[0]}={key[1]} has other documents in the baseline, or none")
    return arena.narrow(rows)


SEVERAL = 3
"""From so many systems on, a gate that passes says what the best of them needs."""

_BEYOND = 20
"""So many replicates are expected beyond a bound of one of the systems, if these have nothing in common."""
_MOST_WEIGHTS = 20_000_000
_MOST_DOCUMENTS = 5_000
"""Of more documents nobody is told unasked: it takes long, and chance has next to no part in their values."""


class GatedSystems(Struct, frozen=True, eq=False, dict=True):
    """All systems that a decision can choose from; their documents are read when a gate needs them."""

    read: Callable[[], PairedData | None]
    count: int
    noun: str = "systems"

    @cached_property
    def arena(self) -> PairedMatrix:
        """Return the documents. Raises ValueError where they were not kept."""
        data = self.read()
        if data is None:
            raise ValueError("the statistics of its documents were not kept: score again with this gate")
        return PairedMatrix.open(data)

    @cached_property
    def _bounds(self) -> dict[Hashable, Floats]:
        return {}

    def bound(self, gate: Gate, system: str) -> Interval:
        """Return the interval of a system's metric that holds for all systems, or at every look, or both.

        Raises ValueError, or `ProblemsError`, with the reason why there is none.
        """
        key = (gate.metric, gate.is_for_best, gate.is_for_looks)
        if key not in self._bounds:
            draw = _bound_looks if gate.is_for_looks else _bound_best
            self._bounds[key] = draw(*view_metric(self.arena, gate.metric), gate)
        low, high = self._bounds[key][:, self.arena.names.index(system)].tolist()
        return Interval(low, high)


def view_metric(arena: PairedMatrix, call: MetricCall) -> tuple[PairedMatrix, View]:
    """Return what is drawn for a metric, in its slice. Raises ValueError for one that is not made of sums."""
    bound = bind_metric(call, arena.data.vocabulary)
    if not arena.data.can_compare(bound) or isinstance(bound.recipe, Total) or bound.metric.unit == "count":
        raise ValueError(f"{call} is not a mean or ratio of sums over documents, so it cannot be resampled")
    if call.slice is not None:
        values = slice_values(arena, call.slice[0])
        arena = arena.narrow(values.get(call.slice[1], np.zeros(0, np.int64)))
    return arena.units, arena.layout.view(bound)


class GatedSystem(NamedTuple):
    """A system that is decided on, by its name among those that it can be the best of."""

    systems: GatedSystems
    name: str


def _bound_best(units: PairedMatrix, view: View, gate: Gate) -> Floats:
    """Return the bounds of each system (low, high), which hold for all of them at once."""
    data, count = units.data, len(units.documents)
    if not data.replicates:
        raise ValueError(f"{gate.metric} has no interval: score with a bootstrap")
    if units.layout.is_by_family and count < FEW_FAMILIES:
        raise ValueError(say_too_few_families(count))
    alpha = (1.0 - data.level) / 2.0
    wanted = math.ceil(_BEYOND * len(units.names) / alpha)
    draws = max(data.replicates, min(wanted, _MOST_WEIGHTS // max(1, count)))
    return units.bound_together(view, draws, alpha)


def _bound_looks(units: PairedMatrix, view: View, gate: Gate) -> Floats:
    """Return the bounds of each system (low, high), which hold at every look; for the best, all at once."""
    scaled_ratio = find_ratio(view)
    if scaled_ratio is None:
        raise ValueError(f"{gate.metric} has no interval that holds at any look: it is not one ratio of sums")
    (ratio, factor), share = scaled_ratio, len(units.names) if gate.is_for_best else 1
    bounds = []
    for matrix in units.matrices:
        part, whole = (view.combine(form, matrix[view.rows]) for form in (ratio.numerator, ratio.denominator))
        if (part > whole).any():
            raise ValueError(
                f"{gate.metric} has no interval that holds at any look: it is above 1 in a document"
            )
        bounds.append(sequence_interval(part, whole, 1.0 - (1.0 - units.data.level) / share))
    return factor * np.array(bounds).T


def find_ratio(view: View) -> tuple[Ratio, float] | None:
    """Return the ratio that a metric is, of values up to 1, and what it is multiplied by; None for others."""
    match view.bound.recipe:
        case Combined("*", Constant() as factor, Ratio() as ratio) if find_highest(ratio) == 1.0:
            return ratio, factor.value
        case Ratio() as ratio if find_highest(ratio) == 1.0:
            return ratio, 1.0
    return None


def is_of_chance(gate: Gate, estimate: Estimate) -> bool:
    """Return whether chance has a part in a gate: none in a count of these documents, their errors and n."""
    return gate.has_chance and gate.function != "regression" and estimate.unit != "count"


def as_bound(gate: Gate) -> Gate:
    """Return a gate on a value as one on the bound that chance moves against it."""
    side = "lower" if gate.operator in (">=", ">") else "upper"
    return replace(gate, function=side if gate.function == "value" else gate.function)


def widen(gate: Gate, estimate: Estimate, candidate: GatedSystem | None) -> tuple[Estimate, str]:
    """Return an estimate with the interval that its gate asks for, and what that interval is, in words.

    Raises ValueError, or `ProblemsError`, with the reason why there is none.
    """
    if candidate is None:
        raise ValueError("it pools several runs, so it cannot be resampled")
    interval, before = candidate.systems.bound(gate, candidate.name), estimate.interval
    notes = (
        [f"for the best of {candidate.systems.count} {candidate.systems.noun}"] if gate.is_for_best else []
    )
    if gate.is_for_looks:
        notes.append(f"valid at any look{_say_wider(interval, before)}")
    elif before is not None:
        interval = Interval(min(interval.low, before[0]), max(interval.high, before[1]))
    marks = tuple(mark for mark in estimate.marks if mark == "few_documents")
    level = candidate.systems.arena.data.level
    return replace(estimate, interval=interval, level=level, marks=marks), ", ".join(notes)


def _say_wider(now: tuple[float, float], before: tuple[float, float] | None) -> str:
    """Return how much wider an interval is than one of a single look.

    >>> _say_wider((0.80, 1.0), (0.85, 0.95)), _say_wider((0.8, 1.0), None)
    ('; 100% wider', '')
    """
    if before is None or before[1] <= before[0]:
        return ""
    return f"; {format_share((now[1] - now[0]) / (before[1] - before[0]) - 1.0, 0)} wider"


def tell_best(outcome: GateOutcome, estimate: Estimate, candidate: GatedSystem | None) -> GateOutcome:
    """Return the outcome of a gate, with the threshold that the best of several systems needs if it passed.

    Nothing is added where it passes for the best, too, and where that is not known.
    """
    gate, unit = outcome.gate, estimate.unit
    is_affected = (
        outcome.verdict is Verdict.PASS and is_of_chance(gate, estimate) and estimate.value is not None
    )
    few = estimate.documents <= _MOST_DOCUMENTS
    if candidate is None or candidate.systems.count < SEVERAL or not (is_affected and few):
        return outcome
    side = as_bound(gate).function == "upper"
    try:
        bound = candidate.systems.bound(replace(gate, is_for_best=True), candidate.name)[side]
    except (ValueError, ProblemsError):  # no gate depends on it
        return outcome
    own = estimate.value if gate.function == "value" or estimate.interval is None else estimate.interval[side]
    exact, highest = gate.threshold + (own or 0.0) - bound, HIGHEST.get(unit)
    if math.isnan(exact) or holds(bound, gate.operator, gate.threshold, unit):
        return outcome
    step = (highest or abs(exact)) / 1000 * (-1 if side else 1)
    needed = float(f"{math.ceil(exact / step - 1e-9) * step:.12g}")
    said = f"require {format_threshold(needed, unit)}"
    if highest is not None and not 0.0 <= needed <= highest:
        said = "these documents are too few"
    rule = f"{outcome.rule}; to pick the best of {candidate.systems.count} {candidate.systems.noun}, {said}"
    return replace(outcome, rule=rule, threshold_of_best=needed)


def watch(gate: Gate, change: MetricChange | str | None, gates: int) -> MetricChange | str | None:
    """Return a change with the intervals that its gate asks for, or the reason why there are none.

    At any look these are one of the verdict, counting so many gates, and one of this gate alone. Documents
    must count as much before as now.
    """
    if not gate.is_for_looks or not isinstance(change, MetricChange):
        return change
    pair, comparison, ratio = change.pair, change.comparison, find_ratio(change.pair.view)
    if ratio is None:
        return f"{gate.metric} has no interval that holds at any look: it is not one ratio of sums"
    (before, now), (size, other) = (
        [pair.view.combine(form, side) for side in pair.sides]
        for form in (ratio[0].numerator, ratio[0].denominator)
    )
    if (size != other).any() or (np.maximum(before, now) > size).any():
        why = "documents have other numbers of values than in the baseline; use a mean over documents"
        return f"{gate.metric} has no change that holds at any look: {why}"
    levels = (comparison.level, 1.0 - (1.0 - comparison.level) / gates)
    shares = [sequence_interval(now - before + size, 2.0 * size, level) for level in levels]
    unadjusted, adjusted = (tuple(ratio[1] * (2.0 * bound - 1.0) for bound in share) for share in shares)
    return replace(
        change,
        comparison=replace(comparison, interval=adjusted, interval_alone=unadjusted, p=None, marks=()),
        guarded=change.turn((unadjusted[0], unadjusted[1])),
        note=f" valid at any look{_say_wider((unadjusted[0], unadjusted[1]), comparison.interval_alone)}",
    )
