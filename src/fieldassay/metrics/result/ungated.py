"""Documents outside all gates, where every gate is on some slice: they are reported, never left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import Gate, MetricCall
from fieldassay.metrics.result.decision import UNGATED, GateOutcome, Verdict
from fieldassay.metrics.result.result import Result

WITHOUT = "without_value"
"""Under which the counts of a system say how many documents have no value for a slice key."""


class Ungated(Struct, frozen=True):
    """Documents of a system with a value of a slice key (empty: none) without a gate."""

    key: str
    value: str
    documents: int

    def __str__(self) -> str:
        has, are = ("has", "is") if self.documents == 1 else ("have", "are")
        noun = "document" if self.documents == 1 else "documents"
        said = (
            f"{self.key}={self.value}, for which there is no threshold"
            if self.value
            else f"no {self.key}, and so no threshold"
        )
        return (
            f"{self.documents:,} {noun} {has} {said}: {'it' if self.documents == 1 else 'they'} {are} "
            "not gated"
        )


def find_ungated(gates: Sequence[Gate], result: Result, system: str) -> tuple[Ungated, ...]:
    """Return the values of slice keys of gates with `if present` that have documents and no gate.

    Nothing if a gate is on all documents, or if the gates of one key cover every document. Keys with several
    values in a document (tags) are left out: counts do not show their documents without a gate. Regressions
    are no thresholds, and are skipped.
    """
    gates = [gate for gate in gates if gate.function != "regression"]
    keys = dict.fromkeys(
        gate.metric.slice[0] for gate in gates if gate.is_optional and gate.metric.slice is not None
    )
    if not keys or any(gate.metric.slice is None for gate in gates):
        return ()
    found: list[Ungated] = []
    for key in keys:
        counts = _count_documents(result, system, key)
        if sum(counts.values()) > int(result.counts.get("documents", 0)):
            continue
        gated = {
            gate.metric.slice[1]
            for gate in gates
            if gate.metric.slice is not None and gate.metric.slice[0] == key
        }
        lacking = [
            Ungated(key, value, documents)
            for value, documents in counts.items()
            if documents and value not in gated
        ]
        if not lacking:
            return ()
        found += lacking
    return tuple(found)


def _count_documents(result: Result, system: str, key: str) -> dict[str, int]:
    """Return the numbers of a system's documents by value of a slice key; empty for those without."""
    counts: dict[str, int] = {}
    for estimate in result.estimates:
        if estimate.system == system and set(estimate.slice) == {key} and estimate.field is None:
            value = str(estimate.slice[key])
            counts[value] = max(counts.get(value, 0), estimate.documents)
    systems = result.counts.get("systems")
    own = systems.get(system) if isinstance(systems, Mapping) else None
    without = own.get(WITHOUT) if isinstance(own, Mapping) else None
    told = without.get(key) if isinstance(without, Mapping) else None
    return {**counts, "": told} if isinstance(told, int) else counts


def judge_ungated(gates: Sequence[Gate], result: Result, system: str) -> tuple[GateOutcome, ...]:
    """Return an outcome for each group of documents of any system outside all gates.

    It is undecided, or skipped where this system has none of them.
    """
    places = dict.fromkeys(
        (one.key, one.value) for name in result.systems for one in find_ungated(gates, result, name)
    )
    own = {(one.key, one.value): one for one in find_ungated(gates, result, system)}
    outcomes = []
    for place in places:
        gate = Gate(MetricCall("documents", slice=place), operator="==", threshold=0.0)
        one = own.get(place)
        verdict, rule = (
            (Verdict.INCONCLUSIVE, str(one))
            if one
            else (Verdict.SKIPPED, "does not apply: it has no such document")
        )
        documents = one.documents if one else 0
        outcomes.append(
            GateOutcome(gate, verdict, rule, float(documents), "count", documents, documents, title=UNGATED)
        )
    return tuple(outcomes)
