"""Gates judged over estimates: what they look at, and what follows."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.gates.kinds import (
    BEFORE,
    NOW,
    BaselineMatch,
    GatedSystem,
    MetricChange,
    as_bound,
    decide_changes,
    is_of_chance,
    judge_change,
    tell_best,
    watch,
    widen,
)
from fieldassay.errors import ProblemsError
from fieldassay.io.text.shown import format_count
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import ask_for, bind_metric, lint_gate
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.comparisons.pairwise import compare_pairs, list_field_metrics
from fieldassay.metrics.estimate import HIGHEST, Estimate, format_bounds, format_in_unit, format_share
from fieldassay.metrics.result.result import Result, judge_ungated
from fieldassay.metrics.result.verdicts import VERDICT_WORDS, GateOutcome, Verdict, name_changes
from fieldassay.metrics.thresholds import (
    WORDS,
    format_compared,
    format_threshold,
    holds,
    is_number,
)
from fieldassay.metrics.uncertainty.bootstrap import FEW_DOCUMENTS, say_too_few
from fieldassay.metrics.uncertainty.paired import (
    documents_to_show,
    documents_to_show_share,
    gap_shown,
    unseen_reach,
)
from fieldassay.scoring.provenance import recorded_spec

# Which estimate a gate is about: found in one run or in several, or why there is none.

_NEAR_WHOLE = 1e-6


FROM_RECORDS = ("reliability_runs", "offline_runs", "proofs")
"""The metrics of records files only."""

MOST_NAMED = 8


class GateEstimate(Struct, frozen=True):
    """The estimate of a gate, or `why` there is none. `is_absent`: its slice is known to have no document.

    `is_count`: the estimate counts errors itself, as asked for by `errors(…)`. `baseline` is that of the
    estimate's run.
    """

    estimate: Estimate | None = None
    why: str = ""
    is_absent: bool = False
    is_count: bool = False
    evidence: tuple[str, ...] = ()
    baseline: BaselineMatch | None = None
    candidate: GatedSystem | None = None
    """The system that it is of, among those that this one can be the best of."""


def pool_shares(parts: Sequence[tuple[str, Estimate]]) -> GateEstimate:
    """Return the share over all parts (label and estimate): sum of successes (value times n) over sum of n.

    A part that is undefined, or no share of its n, leaves the pooled value undefined.

    >>> values = ((50, 2), (100, 3))
    >>> rates = [Estimate("rate", "a", None, {}, None, v, n, n, 0, None, unit="percent") for v, n in values]
    >>> pool_shares([("x", rates[0]), ("y", rates[1])]).estimate.value
    80.0
    """
    successes, runs, documents, failed = 0, 0, 0, 0
    evidence = []
    for label, estimate in parts:
        count = _count_successes(estimate)
        if isinstance(count, str):
            return GateEstimate(why=f"{label}: {estimate.metric} {count}, so it cannot be pooled")
        evidence.append(
            f"{label}: {count} of {estimate.n} ({format_in_unit(estimate.value or 0.0, estimate.unit)})"
        )
        successes, runs = successes + count, runs + estimate.n
        documents, failed = documents + estimate.documents, failed + estimate.failed
    first = parts[0][1]
    if any(estimate.unit != first.unit for _, estimate in parts):
        return GateEstimate(why=f"{first.metric} has different units in the runs, so it cannot be pooled")
    value = HIGHEST[first.unit] * successes / runs
    pooled = replace(
        first,
        value=value,
        n=runs,
        documents=documents,
        failed=failed,
        interval=None,
        level=None,
        marks=("pooled",),
    )
    return GateEstimate(pooled, evidence=(*evidence, f"together {successes} of {runs}"))


def _count_successes(estimate: Estimate) -> int | str:
    """Return the number of successes behind a value of n, or the obstacle."""
    scale = HIGHEST.get(estimate.unit)
    if scale is None:
        return f"is in {estimate.unit}, not a share"
    if (
        estimate.value is None
        or not is_number(estimate.value)
        or not is_number(estimate.n)
        or estimate.n <= 0
    ):
        return "is undefined"
    exact = estimate.value / scale * estimate.n
    if abs(exact - round(exact)) > _NEAR_WHOLE * max(1, estimate.n) or not 0 <= round(exact) <= estimate.n:
        return f"is not a share of {estimate.n}"
    return round(exact)


class Holder(Struct, frozen=True, eq=False):
    """One run's estimates of one system, and its baseline; `label` names the run, empty for a single one."""

    label: str
    result: Result
    system: str
    baseline: BaselineMatch | None = None
    candidate: GatedSystem | None = None
    """The system among those that it can be the best of; None: their documents are not known."""

    def select(self, call: MetricCall) -> list[Estimate]:
        """Return the estimates of the system by a call: never those of another regime or granularity."""
        estimates = [estimate for estimate in self.result.select(call) if estimate.system == self.system]
        if call.name not in list_metrics():
            return estimates
        exact = [estimate for estimate in estimates if _is_exact(estimate, call)]
        return estimates if estimates and not exact and self._defines(call.name) else exact

    def _defines(self, name: str) -> bool:
        """Return whether the run's spec defines the metric itself, under a name of the catalogue."""
        spec = recorded_spec(self.result.run)
        return spec is not None and any(definition.name == name for definition in spec.definitions)

    def has_metric(self, name: str) -> bool:
        """Return whether the run has the metric at all, of any field or slice."""
        return any(
            estimate.metric == name for estimate in self.result.estimates if estimate.system == self.system
        )


class Holdings(Struct, frozen=True, eq=False):
    """Everything that gates can be about.

    `pooled` metrics are shares that are added up over runs. `records` are estimates that take the place of
    those of the same name in runs; `evidence` says by name which records counted.
    """

    holders: Sequence[Holder]
    pooled: frozenset[str] = frozenset()
    records: Mapping[str, Estimate] = field(default_factory=dict)
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, gate: Gate) -> GateEstimate:
        """Return the estimate that a gate is about."""
        call = gate.metric
        if call.name in self.records:
            if call.parameters or call.field is not None or call.slice is not None:
                return GateEstimate(
                    why=f"{call.name} comes from the records: write it without parameters, fields and slices"
                )
            baseline = BaselineMatch(why="it comes from the records; a baseline holds a run")
            return GateEstimate(
                self.records[call.name], evidence=self.evidence.get(call.name, ()), baseline=baseline
            )
        try:
            gate_estimate = self._find(call)
            if (
                gate_estimate.estimate is None
                and gate.function == "errors"
                and self._knows(f"errors_{call.name}")
            ):
                gate_estimate = replace(self._find(replace(call, name=f"errors_{call.name}")), is_count=True)
        except ValueError as error:
            return GateEstimate(why=str(error))
        is_open = gate_estimate.estimate is None or gate_estimate.estimate.documents == 0
        if gate.is_optional and call.slice is not None and is_open and self._is_absent(call, call.slice):
            return GateEstimate(
                why=f"no document has {call.slice[0]}={call.slice[1]}",
                is_absent=True,
                evidence=self._values(call.slice[0]),
            )
        return gate_estimate

    def fields(self, call: MetricCall) -> tuple[str, ...]:
        """Return the fields that have an estimate of a metric per field, in their order."""
        fields = {
            estimate.field: None
            for holder in self.holders
            for estimate in holder.result.estimates
            if estimate.metric == call.name
            and estimate.system == holder.system
            and estimate.field is not None
        }
        return tuple(name for name in fields if name is not None)

    def is_by_field(self, call: MetricCall) -> bool:
        """Return whether a metric without a field has estimates of fields alone, so that it means each."""
        is_whole = call.name in self.records or any(holder.select(call) for holder in self.holders)
        return call.field is None and not is_whole and bool(self.fields(call))

    def _find(self, call: MetricCall) -> GateEstimate:
        hits = [(holder, holder.select(call)) for holder in self.holders]
        for holder, estimates in hits:
            if len(estimates) > 1:
                return GateEstimate(
                    why=f"{holder.label}{': ' if holder.label else ''}{len(estimates)} estimates are called "
                    f"{call}; name its regime or its other parameters"
                )
        there = [(holder, estimates[0]) for holder, estimates in hits if estimates]
        if not there:
            return GateEstimate(why=self._explain_missing(call))
        if call.name in self.pooled and len(self.holders) > 1:
            return replace(
                self._pool(call, there),
                baseline=BaselineMatch(why="it is pooled over runs; a baseline holds one run"),
            )
        if len(there) > 1:
            labels = ", ".join(holder.label for holder, _ in there)
            return GateEstimate(why=f"{len(there)} runs have {call}: {labels}; name one run, or pool it")
        holder, estimate = there[0]
        evidence = (f"from {holder.label}, system {holder.system}",) if holder.label else ()
        return GateEstimate(estimate, evidence=evidence, baseline=holder.baseline, candidate=holder.candidate)

    def _pool(self, call: MetricCall, there: Sequence[tuple[Holder, Estimate]]) -> GateEstimate:
        lacking = [holder.label for holder in self.holders if holder not in [other for other, _ in there]]
        if lacking:
            return GateEstimate(why=f"{', '.join(lacking)} has no {call}, which is pooled over all runs")
        return pool_shares([(holder.label, estimate) for holder, estimate in there])

    def _knows(self, name: str) -> bool:
        return any(holder.has_metric(name) for holder in self.holders)

    def _explain_missing(self, call: MetricCall) -> str:
        names = {
            estimate.metric
            for holder in self.holders
            for estimate in holder.result.estimates
            if estimate.system == holder.system
        }
        names |= self.records.keys()
        if call.name in FROM_RECORDS and not self.records:
            return f"{call.name} comes from a records file: give one"
        if call.name not in names:
            near = ask_for(call.name, names)
            there = (
                near
                if near.startswith(("did you mean", "score with"))
                else f"there are: {', '.join(sorted(names)[:MOST_NAMED])} …"
            )
            return f"the run has no metric {call.name!r}" + (f"; {there}" if names else "")
        if call.slice is not None and not self._values(call.slice[0]):
            return f"there is no {call}: score with `--slice {call.slice[0]}`"
        return f"the run has no {call}: check its field, slice and parameters"

    def _is_absent(self, call: MetricCall, chosen: tuple[str, str]) -> bool:
        """Return whether every run with the metric is known to have no document in the slice."""
        holders = [holder for holder in self.holders if holder.has_metric(call.name)]
        return bool(holders) and all(_lacks_documents(holder, chosen) for holder in holders)

    def _values(self, key: str) -> tuple[str, ...]:
        """Return a sentence with the values of a slice key that have documents, if there are any."""
        values = {
            estimate.slice[key]: None
            for holder in self.holders
            for estimate in holder.result.estimates
            if key in estimate.slice and estimate.documents
        }
        return (f"the run has {key}: {', '.join(sorted(map(str, values))[:12])}",) if values else ()


def _is_exact(estimate: Estimate, call: MetricCall) -> bool:
    try:
        bound = bind_metric(call)
    except ValueError:
        return False
    return (estimate.regime, estimate.granularity) == (bound.regime, bound.granularity)


def _lacks_documents(holder: Holder, chosen: tuple[str, str]) -> bool:
    """Return whether a run is known to have no document in a slice.

    Either it counted the slice's documents, or it is broken down by the slice's key and lacks the value.
    """
    wanted = {chosen[0]: chosen[1]}
    rows = [
        estimate
        for estimate in holder.result.estimates
        if estimate.system == holder.system and dict(estimate.slice) == wanted
    ]
    counted = [
        estimate.value for estimate in rows if estimate.metric == "documents" and estimate.field is None
    ]
    if counted:
        return all(is_number(value) and value == 0 for value in counted)
    keys = holder.result.run.get("slices")
    return not rows and isinstance(keys, list) and chosen[0] in keys


# Judging gates: those that pass, those that fail, and those left undecided.


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
    alpha, highest = 1.0 - level, HIGHEST.get(estimate.unit, 0.0)
    count = estimate.families or estimate.documents
    error = (resampled[1] - resampled[0]) / (2.0 * NormalDist().inv_cdf(0.5 + level / 2.0))
    # one more document that is wrong, or right, as a whole than was seen
    whole = (value if gate.function == "lower" else highest - value) if highest else 0.0
    spread, unseen = math.sqrt(count * error**2 + whole**2 / count), whole * unseen_reach(alpha)
    detectable = gap_shown(count, spread, unseen, alpha) or None  # no spread at all says nothing
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
    needed = math.ceil((needed if highest else max(needed, FEW_DOCUMENTS)) * estimate.documents / count)
    return Reach(detectable, needed)


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
    [('PASS', '50.0%, needed at least 50%')]
    """
    return judge_gates(gates, Holdings((Holder("", result, system),)))


def judge_gates(gates: Sequence[Gate], holdings: Holdings) -> tuple[GateOutcome, ...]:
    """Return the outcome of each gate, in order, then the remarks on documents outside of all gates.

    A gate on each field is judged field by field, in one family with all others, and has one outcome.
    """
    gates = [replace(gate, is_each=gate.is_each or holdings.is_by_field(gate.metric)) for gate in gates]
    spread = [spread_gate(gate, holdings) for gate in gates]
    single = [gate for own in spread for gate in own]
    gate_estimates = [holdings.find(gate) for gate in single]
    measured = [
        _measure_change(gate, estimate) for gate, estimate in zip(single, gate_estimates, strict=True)
    ]
    decided = iter(decide_changes([change for change in measured if isinstance(change, MetricChange)]))
    changes = [next(decided) if isinstance(change, MetricChange) else change for change in measured]
    looked = sum(gate.is_for_looks and gate.function == "regression" for gate in single)
    changes = [watch(gate, change, looked) for gate, change in zip(single, changes, strict=True)]
    judged = iter(
        [
            _name_losses(judge_gate(gate, estimate, change), estimate)
            for gate, estimate, change in zip(single, gate_estimates, changes, strict=True)
        ]
    )
    parts = [tuple(next(judged) for _ in own) for own in spread]
    outcomes = tuple(
        join_fields(gate, own) if gate.is_each else own[0] for gate, own in zip(gates, parts, strict=True)
    )
    return outcomes + tuple(
        outcome
        for holder in holdings.holders
        for outcome in judge_ungated(gates, holder.result, holder.system)
    )


def _name_losses(outcome: GateOutcome, gate_estimate: GateEstimate) -> GateOutcome:
    """Return the outcome of a regression of the whole, which names the fields that are shown to be worse.

    The fields are a family of their own, and change no verdict: a gate on each field does.
    """
    call, arena = (
        outcome.gate.metric,
        None if gate_estimate.baseline is None else gate_estimate.baseline.arena,
    )
    is_whole = call.field is None and call.slice is None and outcome.value is not None
    if arena is None or outcome.gate.function != "regression" or not is_whole:
        return outcome
    fields = compare_pairs(arena, [(BEFORE, NOW)], list_field_metrics(arena.data), is_brief=True)
    lost = sorted(
        (comparison for comparison in fields if comparison.verdict == "worse"),
        key=lambda comparison: comparison.difference or 0.0,
    )
    if not lost:
        return outcome
    warning = f"but worse in {name_changes(lost, MOST_REASONS)}"
    return replace(outcome, rule=f"{outcome.rule}; {warning}", warning=warning)


def _measure_change(gate: Gate, gate_estimate: GateEstimate) -> MetricChange | str | None:
    if gate.function != "regression" or gate_estimate.is_absent or gate_estimate.estimate is None:
        return None
    nonsense = lint_gate(gate, gate_estimate.estimate.unit, gate_estimate.estimate.better)
    try:
        return nonsense or (gate_estimate.baseline or BaselineMatch()).compare(gate.metric)
    except ValueError as error:
        return str(error)


def judge_gate(
    gate: Gate, gate_estimate: GateEstimate, change: MetricChange | str | None = None
) -> GateOutcome:
    """Return the outcome of a gate over its estimate or change. Missing and undefined numbers never pass."""
    estimate = gate_estimate.estimate
    if gate_estimate.is_absent:
        return GateOutcome(
            gate, Verdict.SKIPPED, f"does not apply: {gate_estimate.why}", evidence=gate_estimate.evidence
        )
    if estimate is None:
        metric = list_metrics().get(gate.metric.name)
        unit = "" if metric is None else metric.unit
        return GateOutcome(
            gate, Verdict.INCONCLUSIVE, gate_estimate.why, unit=unit, evidence=gate_estimate.evidence
        )
    if change is not None:
        if isinstance(change, str):
            outcome = GateOutcome(
                gate, Verdict.INCONCLUSIVE, change, unit=estimate.unit, evidence=_describe(estimate)
            )
        else:
            outcome = judge_change(gate, change, max(0, estimate.failed))
        of_baseline = (gate_estimate.baseline or BaselineMatch()).evidence
        return replace(outcome, evidence=(*outcome.evidence, *of_baseline, *gate_estimate.evidence))
    nonsense, original, note = lint_gate(gate, estimate.unit, estimate.better), gate, ""
    is_wide = (gate.is_for_best or gate.is_for_looks) and is_of_chance(gate, estimate)
    if is_wide and estimate.value is not None and not nonsense:
        try:
            estimate, note = widen(gate, estimate, gate_estimate.candidate)
        except (ValueError, ProblemsError) as error:
            nonsense = str(error)
        gate = as_bound(gate)
    look = (
        _Look(why=nonsense, unit=estimate.unit)
        if nonsense
        else _look(gate.function, estimate, gate_estimate.is_count, note)
    )
    outcome = GateOutcome(
        gate,
        Verdict.INCONCLUSIVE,
        look.why,
        unit=look.unit,
        n=estimate.n,
        documents=estimate.documents,
        interval=estimate.interval,
        evidence=(*_describe(estimate), *gate_estimate.evidence),
    )
    judged = outcome if look.why else _compare(gate, look, outcome)
    if is_wide:
        return replace(judged, gate=original)
    if gate.function in ("lower", "upper") and not nonsense:
        judged = _ask_for_more(judged, estimate)
    return tell_best(judged, estimate, gate_estimate.candidate)


def _ask_for_more(outcome: GateOutcome, estimate: Estimate) -> GateOutcome:
    """Return the outcome of a gate on a bound, with the documents needed to pass if it did not."""
    if outcome.verdict is Verdict.PASS:
        return outcome
    reach = reach_of_bound(outcome.gate, estimate)
    outcome = replace(outcome, detectable=reach.detectable, documents_needed=reach.needed)
    if reach.needed is None or estimate.value is None:
        return outcome
    kind = "documents with wrong values" if estimate.granularity == "wrong_values" else "documents"
    return replace(outcome, rule=f"{outcome.rule}; about {reach.needed:,} {kind} would show it")


def _compare(gate: Gate, look: _Look, outcome: GateOutcome) -> GateOutcome:
    if gate.function in ("lower", "upper") and outcome.interval is not None:
        return _compare_bound(gate, look, outcome)
    verdicts = {holds(value, gate.operator, gate.threshold, look.unit) for value in look.values}
    outcome = replace(outcome, value=look.values[0])
    if len(verdicts) > 1:
        return replace(
            outcome,
            rule=f"{outcome.value_text} or more: failed judgements could change the answer",
        )
    does_hold = verdicts.pop()
    shown = f"{look.subject} {format_compared(look.values[0], gate.threshold, look.unit)}".lstrip()
    wanted = f"{WORDS[gate.operator]} {format_threshold(gate.threshold, look.unit)}"
    rule = f"{shown}, needed {wanted}"
    if does_hold and look.is_vacuous:
        return replace(outcome, rule=f"{rule}, but there is nothing to judge (n = 0)")
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
    rule = f"{look.subject} {shown}, needed {wanted}"
    if does_hold and look.is_vacuous:
        return replace(outcome, rule=f"{rule}, but there is nothing to judge (n = 0)")
    if does_hold:
        return replace(outcome, verdict=Verdict.PASS, rule=rule)
    if not any(holds(end, gate.operator, gate.threshold, unit) for end in ends):
        low, high = (format_compared(end, gate.threshold, unit) for end in ends)
        return replace(outcome, verdict=Verdict.FAIL, rule=f"interval {low} to {high}, needed {wanted}")
    return replace(outcome, rule=f"too close to call: {rule}")


def _look(function: str, estimate: Estimate, is_count: bool, note: str = "") -> _Look:
    if function == "n":
        return _Look((estimate.n,), "count", "n =", is_vacuous=estimate.n == 0)
    if function in ("lower", "upper"):
        return _look_at_bound(function, estimate, note)
    if estimate.value is None:
        return _Look(why=f"it is undefined (n = {estimate.n:,})", unit=estimate.unit)
    if not is_number(estimate.value):
        return _Look(why="its value is not a number", unit=estimate.unit)
    if estimate.interval is None and FEW_REPLICATES in estimate.marks:
        return _Look(why="it has no interval: too few bootstrap replicates", unit=estimate.unit)
    if function == "errors" and not is_count:
        return _look_at_errors(estimate)
    return _Look((estimate.value,), estimate.unit, is_vacuous=estimate.n == 0)


def _look_at_bound(function: str, estimate: Estimate, note: str) -> _Look:
    if estimate.interval is None:
        reason = (
            "counts have none"
            if estimate.unit == "count"
            else f"n = {estimate.n:,}, or scored without a bootstrap"
        )
        return _Look(why=f"it has no interval ({reason})", unit=estimate.unit)
    if FEW in estimate.marks:
        return _Look(
            why=f"{format_count(estimate.documents, 'document')} are too few: use 20 or more",
            unit=estimate.unit,
        )
    if FEW_REPLICATES in estimate.marks:
        return _Look(
            why=say_too_few(0.95 if estimate.level is None else estimate.level),
            unit=estimate.unit,
        )
    bound = estimate.interval[0 if function == "lower" else 1]
    kind = f"interval {note}".rstrip()
    level = f" ({format_share(estimate.level)} {kind})" if estimate.level is not None else ""
    return _Look((bound,), estimate.unit, f"{function} bound{level}", is_vacuous=estimate.n == 0)


def _look_at_errors(estimate: Estimate) -> _Look:
    """Return how many of n are wrong; judgements that failed may be right or wrong."""
    value, failed = estimate.value or 0.0, max(0, estimate.failed)
    if estimate.unit == "count":
        if estimate.better != "lower":
            return _Look(why="errors() needs a share or a count of errors; this counts what is right")
        errors = float(value)
    elif estimate.unit in HIGHEST:
        share = value / HIGHEST[estimate.unit]
        errors = estimate.n * (share if estimate.better == "lower" else 1.0 - share)
    else:
        return _Look(why=f"errors() needs a share or a count of errors; this is in {estimate.unit}")
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
            f"{' (may be too narrow: few documents)' if FEW in estimate.marks else ''}"
        )
    if estimate.failed:
        parts.append(f"{estimate.failed:,} judgements failed and do not count")
    return (", ".join(parts),)


MOST_REASONS = 3
"""The fields whose reasons stand in the rule; the evidence has all."""

_WORST_FIRST = tuple(VERDICT_WORDS)


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
    relevant = [
        outcome
        for outcome in outcomes
        if outcome.n or outcome.value is not None or outcome.verdict is not _OPEN
    ]
    if not relevant:
        reasons = {outcome.rule for outcome in outcomes}
        is_one = len(reasons) == 1 and gate.function == "regression"
        why = reasons.pop() if is_one else f"no field has {gate.metric}"
        return GateOutcome(gate, _OPEN, why)
    ordered = sorted(relevant, key=lambda outcome: _WORST_FIRST.index(outcome.verdict))
    verdict = ordered[0].verdict
    with_values = [outcome for outcome in ordered if outcome.verdict is verdict and outcome.value is not None]
    is_least = gate.operator in (">=", ">")
    worst = min(
        with_values or ordered[:1],
        key=lambda outcome: (outcome.value or 0.0) if is_least else -(outcome.value or 0.0),
    )
    empty = len(outcomes) - len(relevant)
    left_out = (f"left out: {format_count(empty, 'empty field')}",) if empty else ()
    return replace(
        worst,
        gate=gate,
        rule=_rule(ordered, worst),
        evidence=(
            *(f"{_field(outcome)}: {outcome.verdict}: {outcome.rule}" for outcome in ordered),
            *left_out,
        ),
        parts=tuple(relevant),
    )


_OPEN = Verdict.INCONCLUSIVE


def _rule(ordered: Sequence[GateOutcome], worst: GateOutcome) -> str:
    counts = [
        f"{count:,} {VERDICT_WORDS[verdict]}"
        for verdict in _WORST_FIRST
        if (count := sum(outcome.verdict is verdict for outcome in ordered))
    ]
    head = f"{format_count(len(ordered), 'field')}: {', '.join(counts)}"
    if worst.verdict in (Verdict.PASS, Verdict.SKIPPED):
        return f"{head}; {_field(worst)}: {worst.rule}"
    tied = [outcome for outcome in ordered if outcome.verdict is worst.verdict]
    tied.sort(key=lambda outcome: outcome is not worst)
    more = len(tied) - MOST_REASONS
    reasons = "; ".join(f"{_field(outcome)}: {outcome.rule}" for outcome in tied[:MOST_REASONS])
    return f"{head}; {reasons}" + (f"; and {more:,} more" if more > 0 else "")


def _field(outcome: GateOutcome) -> str:
    return outcome.gate.metric.field or ""
