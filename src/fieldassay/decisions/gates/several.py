"""Gates on the best of several systems, and gates that hold at any look at documents that keep coming."""

import math
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.gates.regression import MetricChange
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.comparisons.pair import Floats, PairedMatrix, View
from fieldassay.metrics.comparisons.pairwise import slice_values
from fieldassay.metrics.estimate import HIGHEST, Estimate, format_share
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.result.documents import PairedData
from fieldassay.metrics.result.estimation import find_highest
from fieldassay.metrics.statistics.statistics import Combined, Constant, Ratio, Total
from fieldassay.metrics.thresholds import format_threshold, holds
from fieldassay.metrics.uncertainty.bootstrap import (
    FEW_FAMILIES,
    Interval,
    say_too_few_families,
    sequence_interval,
)

SEVERAL = 3
"""From so many systems on, a gate that passes says what the best of them needs."""

_BEYOND = 20
"""So many replicates are expected beyond a bound of one of the systems, if these have nothing in common."""
_MOST_WEIGHTS = 20_000_000
_MOST_TOLD = 5_000
"""Of more documents nobody is told unasked: it takes long, and chance has next to no part in their values."""


class GatedSystems(Struct, frozen=True, eq=False, dict=True):
    """All systems that a decision can choose from; their documents are read when a gate needs them."""

    read: Callable[[], PairedData | None]
    count: int

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
    found = find_ratio(view)
    if found is None:
        raise ValueError(f"{gate.metric} has no interval that holds at any look: it is not one ratio of sums")
    (ratio, factor), share = found, len(units.names) if gate.is_for_best else 1
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
    told = [f"for the best of {candidate.systems.count}"] if gate.is_for_best else []
    if gate.is_for_looks:
        told.append(f"valid at any look{_say_wider(interval, before)}")
    elif before is not None:
        interval = Interval(min(interval.low, before[0]), max(interval.high, before[1]))
    marks = tuple(mark for mark in estimate.marks if mark == "few_documents")
    level = candidate.systems.arena.data.level
    return replace(estimate, interval=interval, level=level, marks=marks), ", ".join(told)


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
    is_told = outcome.verdict is Verdict.PASS and is_of_chance(gate, estimate) and estimate.value is not None
    few = estimate.documents <= _MOST_TOLD
    if candidate is None or candidate.systems.count < SEVERAL or not (is_told and few):
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
    rule = f"{outcome.rule}; to pick the best of {candidate.systems.count} systems, {said}"
    return replace(outcome, rule=rule, threshold_of_best=needed)


def watch(gate: Gate, change: MetricChange | str | None, gates: int) -> MetricChange | str | None:
    """Return a change with the intervals that its gate asks for, or the reason why there are none.

    At any look these are one of the verdict, counting so many gates, and one of this gate alone. Documents
    must count as much before as now.
    """
    if not gate.is_for_looks or not isinstance(change, MetricChange):
        return change
    pair, found, ratio = change.pair, change.found, find_ratio(change.pair.view)
    if ratio is None:
        return f"{gate.metric} has no interval that holds at any look: it is not one ratio of sums"
    (before, now), (size, other) = (
        [pair.view.combine(form, side) for side in pair.sides]
        for form in (ratio[0].numerator, ratio[0].denominator)
    )
    if (size != other).any() or (np.maximum(before, now) > size).any():
        why = "documents have other numbers of values than in the baseline; use a mean over documents"
        return f"{gate.metric} has no change that holds at any look: {why}"
    levels = (found.level, 1.0 - (1.0 - found.level) / gates)
    shares = [sequence_interval(now - before + size, 2.0 * size, level) for level in levels]
    alone, counted = (tuple(ratio[1] * (2.0 * bound - 1.0) for bound in share) for share in shares)
    return replace(
        change,
        found=replace(found, interval=counted, interval_alone=alone, p=None, marks=()),
        guarded=change.turn((alone[0], alone[1])),
        told=f" valid at any look{_say_wider((alone[0], alone[1]), found.interval_alone)}",
    )
