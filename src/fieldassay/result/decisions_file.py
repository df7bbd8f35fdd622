"""`gates.json`, read back: what came of gates when a run was made."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.metrics.grammar import parse_gate
from fieldassay.result.decision import SCHEMA_VERSION, Decision, GateOutcome, Verdict

_NUMBERS = frozenset(field.name for field in fields(GateOutcome)) - {"gate", "verdict", "interval", "evidence"}


def read_decisions(data: bytes, where: str = "gates.json") -> tuple[Decision, ...]:
    """Return the decisions that `decisions_data` described, of which some systems may have none. Raises `ProblemsError` for anything else.

    >>> read_decisions(b'{"schema_version": 1, "decisions": []}')
    ()
    """
    try:
        found = json.loads(data.decode("utf-8-sig"))
        if found["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"schema version {found['schema_version']!r}")
        return tuple(_read_decision(one) for one in found["decisions"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        what = f"not a file of gates of schema version {SCHEMA_VERSION} ({str(error)[:200]})"
        raise ProblemsError([Problem(where, what, "write it again with `fieldassay score --out DIR`", "bad_gates_file")]) from None


def _read_decision(data: dict[str, Any]) -> Decision:
    return Decision(str(data["system"]), tuple(map(_read_outcome, data["gates"])), str(data.get("run") or ""))


def _read_outcome(data: dict[str, Any]) -> GateOutcome:
    interval = data.get("interval")
    return GateOutcome(
        gate=parse_gate(data["gate"]),
        verdict=Verdict(data["verdict"]),
        interval=None if interval is None else (float(interval[0]), float(interval[1])),
        evidence=tuple(map(str, data.get("evidence") or ())),
        **{name: data[name] for name in _NUMBERS if name in data},
    )
