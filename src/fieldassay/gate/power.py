"""What a bound of an interval could have shown, and how many documents it would take."""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

from fieldassay.metrics.grammar import Gate
from fieldassay.result.compared import holds
from fieldassay.result.estimate import Estimate
from fieldassay.stats.intervals import FEW_DOCUMENTS
from fieldassay.stats.power import documents_needed, minimum_detectable_effect


class Reach(NamedTuple):
    """The least distance from the threshold that would probably be shown, and the documents that would show the value as it is."""

    detectable: float | None = None
    needed: int | None = None


def reach_of_bound(gate: Gate, estimate: Estimate) -> Reach:
    """Return the reach of a gate on a bound that does not hold: D (h / d)^2 documents, h from value to bound, d from value to threshold.

    No number of documents is known where the value itself is on the wrong side.

    >>> from fieldassay.metrics.grammar import parse_gate
    >>> accuracy = Estimate("accuracy", "a", None, {}, "filled", 0.9, 50, 50, 0, "leaf", interval=(0.8, 0.98), level=0.95)
    >>> reach_of_bound(parse_gate("lower(accuracy) >= 0.85"), accuracy).needed
    200
    """
    value, interval, level = estimate.value, estimate.interval, estimate.level
    if value is None or interval is None or level is None:
        return Reach()
    error = (interval[1] - interval[0]) / (2.0 * NormalDist().inv_cdf(0.5 + level / 2.0))
    detectable = minimum_detectable_effect(error, level)
    bound = interval[0 if gate.function == "lower" else 1]
    is_right = holds(value, gate.operator, gate.threshold, estimate.unit) and value != gate.threshold
    is_toward = (bound < value) == (gate.operator in (">=", ">")) and bound != value
    if not is_right or not is_toward or gate.operator == "==":
        return Reach(detectable)
    needed = documents_needed(estimate.documents, abs(value - bound), abs(value - gate.threshold))
    return Reach(detectable, None if needed is None else max(needed, FEW_DOCUMENTS))
