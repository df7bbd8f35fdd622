"""A gate on each field: judged field by field, told as one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from fieldassay.decisions.gates.lookup import Holdings
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.result.decision import GateOutcome, Verdict

MOST_TOLD = 3
"""The fields whose reasons stand in the rule; the evidence has all."""

_WORST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.NO_LOSS, Verdict.PASS, Verdict.SKIPPED)
_SAID = {
    Verdict.FAIL: "failed",
    Verdict.INCONCLUSIVE: "cannot be decided",
    Verdict.NO_LOSS: "show no loss",
    Verdict.PASS: "passed",
    Verdict.SKIPPED: "do not apply",
}


def spread_gate(gate: Gate, holdings: Holdings) -> tuple[Gate, ...]:
    """Return the gates of the fields of a gate on each field; any other gate alone."""
    if not gate.is_each:
        return (gate,)
    return tuple(
        replace(gate, metric=replace(gate.metric, field=field), is_each=False)
        for field in holdings.fields(gate.metric)
    )


def join_fields(gate: Gate, outcomes: Sequence[GateOutcome]) -> GateOutcome:
    """Return one outcome of a gate on each field: the worst verdict, the fields behind it, the worst value.

    Fields without any value in gold or prediction (n = 0) are left out, and counted.
    """
    known = [one for one in outcomes if one.n or one.value is not None or one.verdict is not _OPEN]
    if not known:
        reasons = {one.rule for one in outcomes}
        is_one = len(reasons) == 1 and gate.function == "regression"
        why = reasons.pop() if is_one else f"there is no field with an estimate of {gate.metric}"
        return GateOutcome(gate, _OPEN, why)
    ordered = sorted(known, key=lambda one: _WORST_FIRST.index(one.verdict))
    verdict = ordered[0].verdict
    with_values = [one for one in ordered if one.verdict is verdict and one.value is not None]
    is_least = gate.operator in (">=", ">")
    worst = min(
        with_values or ordered[:1], key=lambda one: (one.value or 0.0) if is_least else -(one.value or 0.0)
    )
    empty = len(outcomes) - len(known)
    left_out = (f"{format_count(empty, 'field')} without any value left out",) if empty else ()
    return replace(
        worst,
        gate=gate,
        rule=_rule(ordered, worst),
        evidence=(*(f"{_field(one)}: {one.verdict}: {one.rule}" for one in ordered), *left_out),
        parts=tuple(known),
    )


_OPEN = Verdict.INCONCLUSIVE


def _rule(ordered: Sequence[GateOutcome], worst: GateOutcome) -> str:
    counts = [
        f"{count:,} {_SAID[verdict]}"
        for verdict in _WORST_FIRST
        if (count := sum(one.verdict is verdict for one in ordered))
    ]
    head = f"of {format_count(len(ordered), 'field')} {', '.join(counts)}"
    if worst.verdict in (Verdict.PASS, Verdict.SKIPPED):
        return f"{head}; {_field(worst)}: {worst.rule}"
    told = [one for one in ordered if one.verdict is worst.verdict]
    told.sort(key=lambda one: one is not worst)
    more = len(told) - MOST_TOLD
    reasons = "; ".join(f"{_field(one)}: {one.rule}" for one in told[:MOST_TOLD])
    return f"{head}; {reasons}" + (f"; and {more:,} more" if more > 0 else "")


def _field(outcome: GateOutcome) -> str:
    return outcome.gate.metric.field or ""
