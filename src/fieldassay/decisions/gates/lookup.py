"""Which estimate a gate is about: found in one run or in several, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.decisions.gates.regression import BaselineMatch
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.definitions import ask_for, bind_metric
from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.estimate import HIGHEST, Estimate, format_in_unit
from fieldassay.metrics.result.result import Result
from fieldassay.metrics.thresholds import is_number
from fieldassay.scoring.provenance import recorded_spec

_NEAR_WHOLE = 1e-6


FROM_RECORDS = ("reliability_runs", "offline_runs", "proofs")
"""The metrics of records files only."""

MOST_NAMED = 8


class Found(Struct, frozen=True):
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


def pool_shares(parts: Sequence[tuple[str, Estimate]]) -> Found:
    """Return the share over all parts (label and estimate): sum of successes (value times n) over sum of n.

    A part that is undefined, or no share of its n, leaves the pooled value undefined.

    >>> values = ((50, 2), (100, 3))
    >>> rates = [Estimate("rate", "a", None, {}, None, v, n, n, 0, None, unit="percent") for v, n in values]
    >>> pool_shares([("x", rates[0]), ("y", rates[1])]).estimate.value
    80.0
    """
    successes, runs, documents, failed = 0, 0, 0, 0
    told = []
    for label, estimate in parts:
        found = _count_successes(estimate)
        if isinstance(found, str):
            return Found(why=f"{label}: {estimate.metric} {found}, so it cannot be pooled")
        told.append(
            f"{label}: {found} of {estimate.n} ({format_in_unit(estimate.value or 0.0, estimate.unit)})"
        )
        successes, runs = successes + found, runs + estimate.n
        documents, failed = documents + estimate.documents, failed + estimate.failed
    first = parts[0][1]
    if any(estimate.unit != first.unit for _, estimate in parts):
        return Found(why=f"{first.metric} has different units in the runs, so it cannot be pooled")
    value = HIGHEST[first.unit] * successes / runs
    made = replace(
        first,
        value=value,
        n=runs,
        documents=documents,
        failed=failed,
        interval=None,
        level=None,
        marks=("pooled",),
    )
    return Found(made, evidence=(*told, f"together {successes} of {runs}"))


def _count_successes(estimate: Estimate) -> int | str:
    """Return the number of successes behind a value of n, or the obstacle."""
    scale = HIGHEST.get(estimate.unit)
    if scale is None:
        return f"is in {estimate.unit}, which is no share"
    if (
        estimate.value is None
        or not is_number(estimate.value)
        or not is_number(estimate.n)
        or estimate.n <= 0
    ):
        return "is undefined"
    exact = estimate.value / scale * estimate.n
    if abs(exact - round(exact)) > _NEAR_WHOLE * max(1, estimate.n) or not 0 <= round(exact) <= estimate.n:
        return f"is no share of {estimate.n}"
    return round(exact)


class Holder(Struct, frozen=True, eq=False):
    """One run's estimates of one system, and its baseline; `label` names the run, empty for a single one."""

    label: str
    result: Result
    system: str
    baseline: BaselineMatch | None = None

    def select(self, call: MetricCall) -> list[Estimate]:
        """Return the estimates of the system by a call: never those of another regime or granularity."""
        found = [estimate for estimate in self.result.select(call) if estimate.system == self.system]
        if call.name not in list_metrics():
            return found
        exact = [one for one in found if _is_exact(one, call)]
        return found if found and not exact and self._defines(call.name) else exact

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

    def find(self, gate: Gate) -> Found:
        """Return the estimate that a gate is about."""
        call = gate.metric
        if call.name in self.records:
            return self._from_records(call)
        try:
            found = self._find(call)
            if found.estimate is None and gate.function == "errors" and self._knows(f"errors_{call.name}"):
                found = replace(self._find(replace(call, name=f"errors_{call.name}")), is_count=True)
        except ValueError as error:
            return Found(why=str(error))
        is_open = found.estimate is None or found.estimate.documents == 0
        if gate.is_optional and call.slice is not None and is_open and self._is_absent(call, call.slice):
            return Found(
                why=f"no document has {call.slice[0]}={call.slice[1]}",
                is_absent=True,
                evidence=self._values(call.slice[0]),
            )
        return found

    def fields(self, call: MetricCall) -> tuple[str, ...]:
        """Return the fields that have an estimate of a metric per field, in their order."""
        found = {
            estimate.field: None
            for holder in self.holders
            for estimate in holder.result.estimates
            if estimate.metric == call.name
            and estimate.system == holder.system
            and estimate.field is not None
        }
        return tuple(name for name in found if name is not None)

    def _find(self, call: MetricCall) -> Found:
        hits = [(holder, holder.select(call)) for holder in self.holders]
        for holder, estimates in hits:
            if len(estimates) > 1:
                return Found(
                    why=f"{_of(holder)}{len(estimates)} estimates are called {call}; "
                    "name its regime or its other parameters"
                )
        there = [(holder, estimates[0]) for holder, estimates in hits if estimates]
        if not there:
            return Found(why=self._explain_missing(call))
        if call.name in self.pooled and len(self.holders) > 1:
            return replace(
                self._pool(call, there),
                baseline=BaselineMatch(why="it is pooled over runs, and a baseline is of one run"),
            )
        if len(there) > 1:
            labels = ", ".join(holder.label for holder, _ in there)
            return Found(why=f"{len(there)} runs have {call}: {labels}; name one run, or pool it")
        holder, estimate = there[0]
        evidence = (f"from {holder.label}, system {holder.system}",) if holder.label else ()
        return Found(estimate, evidence=evidence, baseline=holder.baseline)

    def _pool(self, call: MetricCall, there: Sequence[tuple[Holder, Estimate]]) -> Found:
        lacking = [holder.label for holder in self.holders if holder not in [one for one, _ in there]]
        if lacking:
            return Found(why=f"{', '.join(lacking)} has no {call}, which is pooled over all runs")
        return pool_shares([(holder.label, estimate) for holder, estimate in there])

    def _from_records(self, call: MetricCall) -> Found:
        if call.parameters or call.field is not None or call.slice is not None:
            return Found(
                why=f"{call.name} comes from the records, which have no parameters, fields or slices"
            )
        baseline = BaselineMatch(why="it comes from the records, and a baseline is of a run")
        return Found(self.records[call.name], evidence=self.evidence.get(call.name, ()), baseline=baseline)

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
            return f"{call.name} comes from a records file, and none is given"
        if call.name not in names:
            near = ask_for(call.name, names)
            there = (
                near
                if near.startswith(("did you mean", "score with"))
                else f"there are: {', '.join(sorted(names)[:MOST_NAMED])} …"
            )
            return f"the run has no metric {call.name!r}" + (f"; {there}" if names else "")
        if call.slice is not None and not self._values(call.slice[0]):
            return f"there is no {call}: the run is not broken down by {call.slice[0]!r}"
        return f"there is no estimate {call}: no such field, slice or parameter in the run"

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


def _of(holder: Holder) -> str:
    return f"{holder.label}: " if holder.label else ""
