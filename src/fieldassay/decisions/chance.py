"""How often chance alone would fail one of several gates that passed."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.catalogue.selection import BoundMetric, bind_metric
from fieldassay.metrics.comparisons.pair import Floats, PairedMatrix
from fieldassay.metrics.result.decision import Decision, Verdict
from fieldassay.metrics.result.pairing import PairedData
from fieldassay.metrics.statistics.recipes import Total
from fieldassay.metrics.thresholds import holds
from fieldassay.metrics.uncertainty.intervals import FEW_DOCUMENTS, are_too_few

MOST_DOCUMENTS = 100_000
"""More documents are not drawn again: it takes long, and chance has next to no part in their values."""


def add_chance(decision: Decision, data: PairedData | None) -> Decision:
    """Return a decision with how often chance alone would fail one of its passed gates, where it is known."""
    return decision if data is None else replace(decision, chance=describe_chance(decision, data))


def describe_chance(decision: Decision, data: PairedData) -> str:
    """Return how often other samples would fail a passed gate on a value; "" for fewer than two such gates.

    Gates on bounds, counts, percentiles and regressions are left out. Fewer than 20 documents give "".
    """
    passed = passed_gates(decision)
    own = tuple(one for one in data.systems if one.system == decision.system)
    if len(passed) < 2 or not own or are_too_few(data.replicates, data.level):
        return ""
    if not FEW_DOCUMENTS <= len(own[0].documents) <= MOST_DOCUMENTS:
        return ""
    matrix = PairedMatrix.open(replace(data, metrics=(), systems=own))
    drawn = [failing for gate in passed if (failing := _redraw(gate, matrix)) is not None]
    if len(drawn) < 2:
        return ""
    share = float(np.any(drawn, axis=0).mean())
    shown = f"in {share:.0%}" if share >= 0.01 else "in less than 1%"
    return (
        f"{len(drawn)} gates on values passed; by chance alone at least one of them fails {shown} of other "
        f"samples of {len(own[0].documents):,} documents, if the true values are those of this run"
    )


def passed_gates(decision: Decision) -> list[Gate]:
    """Return the gates that passed, those on each field one by one."""
    parts = (part for one in decision.outcomes for part in (one.parts or (one,)))
    return [part.gate for part in parts if part.verdict is Verdict.PASS]


def _redraw(gate: Gate, matrix: PairedMatrix) -> Floats | None:
    """Return in which bootstrap replicates a gate on a value fails; None for other gates.

    It is None also for a metric that cannot be resampled.
    """
    bound = _bind(gate, matrix.data)
    if bound is None:
        return None
    if gate.metric.slice is not None:
        key, value = gate.metric.slice
        groups = matrix.data.systems[0].groups.get(key)
        if groups is None or value is None:
            return None
        matrix = matrix.narrow(np.flatnonzero([value in names for names in groups]))
    view = matrix.layout.view(bound)
    drawn = view.redraw(matrix.replicates[0][view.rows])
    return np.array(
        [
            value == value and not holds(value, gate.operator, gate.threshold, bound.metric.unit)
            for value in drawn.tolist()
        ]
    )


def _bind(gate: Gate, data: PairedData) -> BoundMetric | None:
    if gate.function != "value":
        return None
    try:
        bound = bind_metric(gate.metric, data.vocabulary)
    except ValueError:  # of another version or a record: it has no replicates here
        return None
    is_total = bound.metric.unit == "count" or isinstance(bound.recipe, Total)
    return bound if data.can_compare(bound) and not is_total else None
