"""`gates.json`, read back: the outcomes of gates at the time of the run."""

from __future__ import annotations

from typing import Any

import msgspec

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import AGAIN, Form, read_typed
from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.recorded import Count
from fieldassay.metrics.result.decision import Decision, GateOutcome, Verdict

_FORM = Form("a file of gates", "bad_gates_file")


class _Outcome(msgspec.Struct):
    """One gate in the form of `GateOutcome.to_dict`."""

    gate: str
    verdict: Verdict
    rule: str
    value: float | None = None
    unit: str = "ratio"
    n: Count = 0
    documents: Count = 0
    interval: tuple[float, float] | None = None
    evidence: tuple[str, ...] = ()
    title: str = ""
    detectable: float | None = None
    documents_needed: Count | None = None

    def build(self, gate: Gate) -> GateOutcome:
        """Return the outcome of a parsed gate."""
        parts: dict[str, Any] = {**msgspec.structs.asdict(self), "gate": gate}
        return GateOutcome(**parts)


class _Decision(msgspec.Struct):
    system: str
    gates: list[_Outcome]
    run: str = ""
    chance: str = ""


class _File(msgspec.Struct):
    decisions: list[_Decision]


def read_decisions(data: bytes, where: str = "gates.json") -> tuple[Decision, ...]:
    """Return the decisions of `decisions_data`; some systems may have none.

    Raises `ProblemsError` for anything else.

    >>> read_decisions(b'{"schema_version": 1, "decisions": []}')
    ()
    """
    found = read_typed(data, _File, _FORM, where)
    try:
        return tuple(
            Decision(
                one.system,
                tuple(outcome.build(parse_gate(outcome.gate)) for outcome in one.gates),
                one.run,
                one.chance,
            )
            for one in found.decisions
        )
    except ValueError as error:
        raise problem(where, f"holds what is no gate ({str(error)[:200]})", AGAIN, _FORM.kind) from None
