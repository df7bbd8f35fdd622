"""Gates on the best of several systems, and gates that hold at any look at documents that keep coming."""

import math
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.gates.regression import MetricChange
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.definitions import BoundMetric, bind_metric
from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.comparisons.pair import Floats, PairedMatrix, View
from fieldassay.metrics.comparisons.pairwise import slice_values
from fieldassay.metrics.estimate import HIGHEST, Estimate, format_share
from fieldassay.metrics.result.documents import PairedData
from fieldassay.metrics.result.estimation import find_highest
from fieldassay.metrics.statistics.statistics import Combined, Constant, Ratio, Total
from fieldassay.metrics.thresholds import format_threshold, holds
from fieldassay.metrics.uncertainty.bootstrap import FEW_FAMILIES, Interval, say_too_few_families
from fieldassay.metrics.uncertainty.sequence import sequence_interval

SEVERAL = 3
"""From so many systems on, a gate that passes says what the best of them needs."""

_BEYOND = 20
"""So many replicates are expected beyond a bound of one of the systems, if these have nothing in common."""
_MOST_WEIGHTS = 50_000_000
_MOST_TOLD = 20_000
"""Of more documents nobody is told unasked: it takes long, and chance has next to no part in their values."""


class GatedSystems(Struct, frozen=True, eq=False, dict=True):
    """The documents of all systems that a decision can choose from, read when a gate needs them."""

    read: Callable[[], PairedData | None]
    count: int

    @cached_property
    def arena(self) -> PairedMatrix:
        """Return the documents. Raises ValueError where they were not kept."""
        try:
            data = self.read()
        except ProblemsError as error:
            raise ValueError(str(error)) from None
        if data is None:
            raise ValueError("the statistics of its documents were not kept: score again with this gate")
        return PairedMatrix.open(data)

    @cached_property
    def _bounds(self) -> dict[Gate, Floats]:
        return {}

    @cached_property
    def _slices(self) -> dict[str, Mapping[str, npt.NDArray[np.int64]]]:
        return {}

    def _view(self, gate: Gate) -> tuple[PairedMatrix, View]:
        """Return what is drawn for a gate's metric. Raises ValueError where it is not made of sums."""
        arena, chosen = self.arena, gate.metric.slice
        bound = bind_metric(gate.metric, arena.data.vocabulary)
        if not arena.data.can_compare(bound):
            raise ValueError(f"{gate.metric} is no sum over documents, so that their draws do not tell it")
        if chosen is not None:
            if chosen[0] not in self._slices:
                self._slices[chosen[0]] = slice_values(arena, chosen[0])
            arena = arena.narrow(self._slices[chosen[0]].get(chosen[1], np.zeros(0, np.int64)))
        return arena.units, arena.layout.view(bound)

    def bound_best(self, gate: Gate, system: str) -> Interval:
        """Return the interval of a system's metric that holds for all systems at once.

        Raises ValueError with the reason why there is none.
        """
        key = Gate(gate.metric)
        if key not in self._bounds:
            arena, view = self._view(gate)
            data, count = arena.data, len(arena.documents)
            if isinstance(view.bound.recipe, Total) or not data.replicates:
                raise ValueError(
                    "it has no interval: score with a bootstrap, and use a rate in place of a count"
                )
            if self.arena.families and count < FEW_FAMILIES:
                raise ValueError(say_too_few_families(count))
            alpha = (1.0 - data.level) / 2.0
            wanted = math.ceil(_BEYOND * len(arena.names) / alpha)
            draws = max(data.replicates, min(wanted, _MOST_WEIGHTS // max(1, count)))
            self._bounds[key] = arena.bound_together(view, draws, alpha)
        low, high = self._bounds[key][:, self.arena.names.index(system)].tolist()
        return Interval(low, high)

    def bound_looks(self, gate: Gate, system: str) -> Interval:
        """Return the interval of a system's metric that holds at every look; for the best, of all systems.

        Raises ValueError with the reason why there is none.
        """
        arena, view = self._view(gate)
        ratio, highest = find_ratio(view.bound)
        sums = arena.matrices[arena.names.index(system)][view.rows]
        part, whole = (view.combine(form, sums) for form in (ratio.numerator, ratio.denominator))
        share = len(arena.names) if gate.is_for_best else 1
        found = sequence_interval(part, whole * highest, 1.0 - (1.0 - arena.data.level) / share)
        return Interval(*(HIGHEST.get(view.bound.metric.unit, 1.0) * bound for bound in found))


def find_ratio(bound: BoundMetric) -> tuple[Ratio, float]:
    """Return the ratio that a metric is, and its largest value. Raises ValueError for any other metric."""
    recipe = bound.recipe
    if isinstance(recipe, Combined) and recipe.operator == "*" and isinstance(recipe.left, Constant):
        recipe = recipe.right
    highest = find_highest(recipe) if isinstance(recipe, Ratio) else None
    if not isinstance(recipe, Ratio) or highest is None:
        raise ValueError(f"{bound.call} has no interval that holds at any look: it is not one ratio of sums")
    return recipe, highest


def is_of_chance(gate: Gate, estimate: Estimate) -> bool:
    """Return whether chance has a part in a gate: none in a count of these documents, their errors and n."""
    return gate.function in ("value", "lower", "upper") and gate.operator != "==" and estimate.unit != "count"


def widen(gate: Gate, estimate: Estimate, systems: GatedSystems, system: str) -> tuple[Estimate, str]:
    """Return an estimate with the interval that its gate asks for, and what that interval is, in words.

    Raises ValueError with the reason why there is none.
    """
    before = estimate.interval
    if gate.is_for_looks:
        interval = systems.bound_looks(gate, system)
    else:
        low, high = systems.bound_best(gate, system)
        interval = Interval(*((low, high) if before is None else (min(low, before[0]), max(high, before[1]))))
    told = f"for the best of {len(systems.arena.names)}" if gate.is_for_best else ""
    if gate.is_for_looks:
        told = ", ".join(filter(None, (told, f"valid at any look{_say_wider(interval, before)}")))
    marks = tuple(mark for mark in estimate.marks if mark == "few_documents")
    return replace(estimate, interval=interval, level=systems.arena.data.level, marks=marks), told


def _say_wider(now: tuple[float, float], before: tuple[float, float] | None) -> str:
    """Return how much wider an interval is than one of a single look.

    >>> _say_wider((0.80, 1.0), (0.85, 0.95)), _say_wider((0.8, 1.0), None)
    ('; 100% wider', '')
    """
    if before is None or before[1] <= before[0]:
        return ""
    return f"; {format_share((now[1] - now[0]) / (before[1] - before[0]) - 1.0, 0)} wider"


def best_threshold(gate: Gate, estimate: Estimate, systems: GatedSystems, system: str) -> float | None:
    """Return the threshold that a gate which passed would need for the best of all systems.

    None where it passes for the best, too, and where that is not known.
    """
    is_asked = gate.is_for_best or gate.is_for_looks or not is_of_chance(gate, estimate)
    value = estimate.value
    if systems.count < SEVERAL or is_asked or value is None or estimate.documents > _MOST_TOLD:
        return None
    try:
        bounds = systems.bound_best(gate, system)
    except ValueError:  # no gate depends on it
        return None
    is_least = gate.operator in (">=", ">")
    bound, own = bounds[0 if is_least else 1], estimate.interval
    if gate.function != "value" and own is not None:
        value = own[0 if is_least else 1]
    if holds(bound, gate.operator, gate.threshold, estimate.unit) or math.isnan(bound):
        return None
    highest = HIGHEST.get(estimate.unit)
    exact = gate.threshold + value - bound
    step = highest / 1000 if highest else 10.0 ** (math.floor(math.log10(abs(exact) or 1.0)) - 2)
    rounded = (math.ceil if is_least else math.floor)(exact / step - (1e-9 if is_least else -1e-9)) * step
    return float(f"{rounded:.12g}")


def say_best(gate: Gate, threshold: float, unit: str, systems: GatedSystems) -> str:
    """Return what the best of all systems needs, in words."""
    highest = HIGHEST.get(unit)
    now, best = (format_threshold(number, unit) for number in (gate.threshold, threshold))
    if highest is not None and not 0.0 <= threshold <= highest:
        return f"best of {systems.count}: no value is enough with so few documents"
    return f"best of {systems.count}: use {best} instead of {now}"


def watch(change: MetricChange, gates: int) -> MetricChange:
    """Return a change with intervals that hold at every look: of the verdict counting all gates, and alone.

    Raises ValueError where they do not exist: documents must count as much before as now.
    """
    pair, found = change.pair, change.found
    ratio, highest = find_ratio(pair.view.bound)
    (before, now), (size, other) = (
        [pair.view.combine(form, side) for side in pair.sides]
        for form in (ratio.numerator, ratio.denominator)
    )
    if (size != other).any():
        why = "a document may count for more values before than now; use a mean over documents, as accuracy"
        raise ValueError(f"{pair.view.bound.call} has no change that holds at any look: {why}")
    scale, whole = HIGHEST.get(found.unit, 1.0), size * highest
    alone, counted = (
        Interval(
            *(
                scale * (2.0 * bound - 1.0)
                for bound in sequence_interval(now - before + whole, 2.0 * whole, level)
            )
        )
        for level in (found.level, 1.0 - (1.0 - found.level) / gates)
    )
    return replace(
        change,
        found=replace(found, interval=counted, interval_alone=alone, p=None, marks=()),
        guarded=change.turn(alone),
        told=f" valid at any look{_say_wider(alone, found.interval_alone)}",
    )
