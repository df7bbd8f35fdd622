"""Judging gates: those that pass, those that fail, and those left undecided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.gates.lookup import Found, Holder, Holdings
from fieldassay.decisions.gates.regression import BaselineMatch, Change, decide_changes, judge_change
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.definitions import lint_gate
from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.estimate import HIGHEST, Estimate, format_bounds, format_in_unit, format_share
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.result.result import Result, judge_ungated
from fieldassay.metrics.thresholds import WORDS, format_compared, format_threshold, holds, is_number
from fieldassay.metrics.uncertainty.bootstrap import FEW_DOCUMENTS, say_too_few
from fieldassay.metrics.uncertainty.power import (
    documents_to_show,
    documents_to_show_share,
    gap_shown,
    unseen_reach,
)


class Reach(NamedTuple):
    """The least distance from the threshold likely to be shown, and the documents to show the value.

    The documents show the value as it is in 4 of 5 samples.
    """

    detectable: float | None = None
    needed: int | None = None


def reach_of_bound(gate: Gate, estimate: Estimate) -> Reach:
    """Return the reach of a gate on a bound that does not hold.

    No number of documents is known where the value itself is on the wrong side.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> interval = {"interval": (0.8, 0.98), "level": 0.95}
    >>> accuracy = Estimate("accuracy", "a", None, {}, "filled", 0.9, 50, 50, 0, "leaf", **interval)
    >>> reach_of_bound(parse_gate("lower(accuracy) >= 0.85"), accuracy).needed
    347
    """
    value, level, resampled = estimate.value, estimate.level, estimate.interval_resampled or estimate.interval
    if value is None or estimate.interval is None or resampled is None or level is None:
        return Reach()
    alpha, count, highest = 1.0 - level, estimate.documents, HIGHEST.get(estimate.unit, 0.0)
    error = (resampled[1] - resampled[0]) / (2.0 * NormalDist().inv_cdf(0.5 + level / 2.0))
    # one more document that is wrong, or right, as a whole than was seen
    whole = (value if gate.function == "lower" else highest - value) if highest else 0.0
    spread, unseen = math.sqrt(count * error**2 + whole**2 / count), whole * unseen_reach(alpha)
    detectable = gap_shown(count, spread, unseen, alpha)
    bound = estimate.interval[0 if gate.function == "lower" else 1]
    is_right = holds(value, gate.operator, gate.threshold, estimate.unit) and value != gate.threshold
    is_toward = (bound < value) == (gate.operator in (">=", ">")) and bound != value
    if not is_right or not is_toward or gate.operator == "==":
        return Reach(detectable)
    if _is_yes_no(estimate, error):
        share, threshold = value / highest, gate.threshold / highest
        if gate.function == "upper":
            share, threshold = 1.0 - share, 1.0 - threshold
        needed = documents_to_show_share(share, threshold, alpha)
    else:
        needed = documents_to_show(abs(value - gate.threshold), spread, unseen, alpha)
    if needed is None or needed <= count:
        return Reach(detectable)
    return Reach(detectable, needed if highest else max(needed, FEW_DOCUMENTS))


def _is_yes_no(estimate: Estimate, error: float) -> bool:
    """Return whether an estimate is a share of documents, each right or wrong: its error is binomial."""
    highest, value = HIGHEST.get(estimate.unit, 0.0), estimate.value or 0.0
    if not highest or estimate.n != estimate.documents:
        return False
    share, count = value / highest, estimate.documents
    binomial = share * (1.0 - share) / count
    is_whole = math.isclose(share * count, round(share * count), abs_tol=1e-6)
    return is_whole and math.isclose((error / highest) ** 2, binomial, rel_tol=0.2, abs_tol=1e-12)


FEW, FEW_REPLICATES = "few_documents", "few_replicates"


class _Look(Struct, frozen=True):
    """The numbers that a gate compares (of several, all must agree), or `why` there are none.

    `subject` begins the rule's sentence.
    """

    values: tuple[float, ...] = ()
    unit: str = "ratio"
    subject: str = ""
    why: str = ""
    is_vacuous: bool = False
    """The numbers are about nothing, so that they can fail a gate and never pass it."""


def judge_result(gates: Sequence[Gate], result: Result, system: str) -> tuple[GateOutcome, ...]:
    """Return the outcomes of gates over one result's estimates of a system.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> result = Result((Estimate("accuracy", "a", None, {}, "filled", 0.5, 30, 30, 0, "leaf"),))
    >>> outcomes = judge_result([parse_gate("accuracy >= 0.5")], result, "a")
    >>> [(outcome.verdict.value, outcome.rule) for outcome in outcomes]
    [('PASS', '50.0% is at least 50%')]
    """
    return judge_gates(gates, Holdings((Holder("", result, system),)))


def judge_gates(gates: Sequence[Gate], holdings: Holdings) -> tuple[GateOutcome, ...]:
    """Return the outcome of each gate, in order, then the remarks on documents outside of all gates.

    A gate on each field is judged field by field, in one family with all others, and has one outcome.
    """
    spread = [spread_gate(gate, holdings) for gate in gates]
    single = [one for own in spread for one in own]
    found = [holdings.find(gate) for gate in single]
    changes = _measure_changes(single, found)
    judged = iter(
        [judge_gate(gate, one, change) for gate, one, change in zip(single, found, changes, strict=True)]
    )
    parts = [tuple(next(judged) for _ in own) for own in spread]
    outcomes = tuple(
        join_fields(gate, own) if gate.is_each else own[0] for gate, own in zip(gates, parts, strict=True)
    )
    return outcomes + tuple(
        outcome for one in holdings.holders for outcome in judge_ungated(gates, one.result, one.system)
    )


def _measure_changes(gates: Sequence[Gate], found: Sequence[Found]) -> list[Change | str | None]:
    """Return the change of each regression gate, or why there is none; None for other gates.

    The tests of all are one family.
    """
    measured = [_measure_change(gate, one) for gate, one in zip(gates, found, strict=True)]
    decided = iter(decide_changes([one for one in measured if isinstance(one, Change)]))
    return [next(decided) if isinstance(one, Change) else one for one in measured]


def _measure_change(gate: Gate, found: Found) -> Change | str | None:
    if gate.function != "regression" or found.is_absent or found.estimate is None:
        return None
    nonsense = lint_gate(gate, found.estimate.unit, found.estimate.better)
    try:
        return nonsense or (found.baseline or BaselineMatch()).compare(gate.metric)
    except ValueError as error:
        return str(error)


def judge_gate(gate: Gate, found: Found, change: Change | str | None = None) -> GateOutcome:
    """Return the outcome of a gate over its estimate or change. Missing and undefined numbers never pass."""
    estimate = found.estimate
    if found.is_absent:
        return GateOutcome(gate, Verdict.SKIPPED, f"does not apply: {found.why}", evidence=found.evidence)
    if estimate is None:
        return GateOutcome(gate, Verdict.INCONCLUSIVE, found.why, evidence=found.evidence)
    if change is not None:
        return _judge_regression(gate, estimate, found, change)
    nonsense = lint_gate(gate, estimate.unit, estimate.better)
    look = (
        _Look(why=nonsense, unit=estimate.unit)
        if nonsense
        else _look(gate.function, estimate, found.is_count)
    )
    outcome = GateOutcome(
        gate,
        Verdict.INCONCLUSIVE,
        look.why,
        unit=look.unit,
        n=estimate.n,
        documents=estimate.documents,
        interval=estimate.interval,
        evidence=(*_describe(estimate), *found.evidence),
    )
    judged = outcome if look.why else _compare(gate, look, outcome)
    return _ask_for_more(judged, estimate) if gate.function in ("lower", "upper") and not nonsense else judged


def _judge_regression(gate: Gate, estimate: Estimate, found: Found, change: Change | str) -> GateOutcome:
    if isinstance(change, str):
        outcome = GateOutcome(
            gate, Verdict.INCONCLUSIVE, change, unit=estimate.unit, evidence=_describe(estimate)
        )
    else:
        outcome = judge_change(gate, change, max(0, estimate.failed))
    of_baseline = (found.baseline or BaselineMatch()).evidence
    return replace(outcome, evidence=(*outcome.evidence, *of_baseline, *found.evidence))


def _ask_for_more(outcome: GateOutcome, estimate: Estimate) -> GateOutcome:
    """Return the outcome of a gate on a bound, with the documents needed to pass if it did not."""
    if outcome.verdict is Verdict.PASS:
        return outcome
    reach = reach_of_bound(outcome.gate, estimate)
    found = replace(outcome, detectable=reach.detectable, documents_needed=reach.needed)
    if reach.needed is None or estimate.value is None:
        return found
    truly = f"a system that is truly at {format_in_unit(estimate.value, estimate.unit)}"
    kind = "documents with wrong values" if estimate.granularity == "wrong_values" else "documents"
    return replace(
        found, rule=f"{outcome.rule}; with {reach.needed:,} {kind} {truly} passes 4 times out of 5"
    )


def _compare(gate: Gate, look: _Look, outcome: GateOutcome) -> GateOutcome:
    if gate.function in ("lower", "upper") and outcome.interval is not None:
        return _compare_bound(gate, look, outcome)
    verdicts = {holds(value, gate.operator, gate.threshold, look.unit) for value in look.values}
    outcome = replace(outcome, value=look.values[0])
    if len(verdicts) > 1:
        return replace(
            outcome,
            rule=f"{outcome.value_text} or more: judgements that failed could make up the difference",
        )
    does_hold = verdicts.pop()
    shown = f"{look.subject} {format_compared(look.values[0], gate.threshold, look.unit)}".lstrip()
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, look.unit)}"
    rule = f"{shown} is {'' if does_hold else 'not '}{wanted}"
    if does_hold and look.is_vacuous:
        return replace(outcome, rule=f"{rule}, but that is over nothing (n = 0), which never passes")
    return replace(outcome, verdict=Verdict.PASS if does_hold else Verdict.FAIL, rule=rule)


def _compare_bound(gate: Gate, look: _Look, outcome: GateOutcome) -> GateOutcome:
    """Return PASS if the bound holds, FAIL if no number of the interval does, else that the gate is open.

    The interval of an open gate has numbers on both sides.
    """
    ends = outcome.interval or (0.0, 0.0)
    unit, wanted = look.unit, f"{WORDS[gate.operator]} {format_threshold(gate.threshold, look.unit)}"
    does_hold = holds(look.values[0], gate.operator, gate.threshold, unit)
    outcome = replace(outcome, value=look.values[0])
    shown = format_compared(look.values[0], gate.threshold, unit)
    rule = f"{look.subject} {shown} is {'' if does_hold else 'not '}{wanted}"
    if does_hold and look.is_vacuous:
        return replace(outcome, rule=f"{rule}, but that is over nothing (n = 0), which never passes")
    if does_hold:
        return replace(outcome, verdict=Verdict.PASS, rule=rule)
    if not any(holds(end, gate.operator, gate.threshold, unit) for end in ends):
        low, high = (format_compared(end, gate.threshold, unit) for end in ends)
        return replace(
            outcome, verdict=Verdict.FAIL, rule=f"the whole interval, {low} to {high}, is not {wanted}"
        )
    return replace(outcome, rule=f"not shown: {rule}")


def _look(function: str, estimate: Estimate, is_count: bool) -> _Look:
    if function == "n":
        return _Look((estimate.n,), "count", "n =", is_vacuous=estimate.n == 0)
    if function in ("lower", "upper"):
        return _look_at_bound(function, estimate)
    if estimate.value is None:
        return _Look(why=f"it is undefined (n = {estimate.n:,})")
    if not is_number(estimate.value):
        return _Look(why="its value is no number")
    if estimate.interval is None and FEW_REPLICATES in estimate.marks:
        return _Look(why="it has no interval: too few bootstrap replicates", unit=estimate.unit)
    if function == "errors" and not is_count:
        return _look_at_errors(estimate)
    return _Look((estimate.value,), estimate.unit, is_vacuous=estimate.n == 0)


def _look_at_bound(function: str, estimate: Estimate) -> _Look:
    if estimate.interval is None:
        reason = (
            "counts have none"
            if estimate.unit == "count"
            else f"n = {estimate.n:,}, or the run was scored without a bootstrap"
        )
        return _Look(why=f"it has no interval ({reason})", unit=estimate.unit)
    if FEW in estimate.marks:
        return _Look(
            why=f"too few documents ({estimate.documents:,}; 20 are the least): "
            "its interval is too narrow to decide",
            unit=estimate.unit,
        )
    if FEW_REPLICATES in estimate.marks:
        return _Look(
            why=say_too_few(0.95 if estimate.level is None else estimate.level),
            unit=estimate.unit,
        )
    bound = estimate.interval[0 if function == "lower" else 1]
    level = f" ({format_share(estimate.level)} interval)" if estimate.level is not None else ""
    return _Look((bound,), estimate.unit, f"the {function} bound{level} of", is_vacuous=estimate.n == 0)


def _look_at_errors(estimate: Estimate) -> _Look:
    """Return how many of n are wrong; judgements that failed may be right or wrong."""
    value, failed = estimate.value or 0.0, max(0, estimate.failed)
    if estimate.unit == "count":
        if estimate.better != "lower":
            return _Look(why="it counts what is right; errors() needs a share, or a count of errors")
        errors = float(value)
    elif estimate.unit in HIGHEST:
        share = value / HIGHEST[estimate.unit]
        errors = estimate.n * (share if estimate.better == "lower" else 1.0 - share)
    else:
        return _Look(why=f"it is in {estimate.unit}; errors() needs a share, or a count of errors")
    if math.isclose(errors, round(errors), abs_tol=1e-9 * max(1, estimate.n)):
        errors = float(round(errors))
    return _Look(
        (errors, errors + failed) if failed else (errors,), "count", "errors:", is_vacuous=estimate.n == 0
    )


def _describe(estimate: Estimate) -> tuple[str, ...]:
    """Return the basis of an estimate in one sentence."""
    parts = [f"{estimate.n:,} on record" if estimate.granularity == "record" else f"n = {estimate.n:,}"]
    if estimate.documents and estimate.documents != estimate.n:
        parts.append(f"{estimate.documents:,} documents")
    if estimate.interval is not None:
        parts.append(
            f"interval {format_bounds(estimate.interval, estimate.unit)}"
            f"{' (too narrow: few documents)' if FEW in estimate.marks else ''}"
        )
    if estimate.failed:
        parts.append(f"{estimate.failed:,} judgements failed and are not in it")
    return (", ".join(parts),)


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
