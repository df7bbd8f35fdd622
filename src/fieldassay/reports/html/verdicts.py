"""What the page of gates shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fieldassay.result.compared import show_compared, show_plain, show_threshold

SIGNS = {"PASS": "✓", "FAIL": "✕", "INCONCLUSIVE": "?", "SKIPPED": "–"}
TONES = {"PASS": "good", "FAIL": "bad", "INCONCLUSIVE": "unsure", "SKIPPED": "none"}


@dataclass(frozen=True, slots=True)
class GateLine:
    """One gate of one system in words."""

    gate: str
    title: str
    verdict: str
    sign: str
    tone: str
    value: str
    threshold: str
    interval: str
    n: int
    rule: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gates of one system, and what follows from them."""

    system: str
    run: str
    answer: str
    reasons: tuple[str, ...]
    gates: tuple[GateLine, ...]


def list_verdicts(decisions: Sequence[Mapping[str, Any]]) -> tuple[Verdict, ...]:
    """Return the decisions of `gates.json` in words."""
    return tuple(
        Verdict(
            str(one["system"]),
            str(one.get("run") or ""),
            str(one["answer"]),
            tuple(map(str, one.get("reasons", ()))),
            tuple(map(_gate, one.get("gates", ()))),
        )
        for one in decisions
    )


def have_common_gates(verdicts: Sequence[Verdict]) -> bool:
    """Return whether all systems were measured by the same gates, as they may not be where several runs are in one report."""
    return len({tuple(line.gate for line in one.gates) for one in verdicts}) == 1


def _gate(one: Mapping[str, Any]) -> GateLine:
    verdict, unit, value, bounds = str(one["verdict"]), str(one["unit"]), one["value"], one["interval"]
    return GateLine(
        gate=str(one["gate"]),
        title=str(one.get("title") or ""),
        verdict=verdict,
        sign=SIGNS.get(verdict, ""),
        tone=TONES.get(verdict, "none"),
        value="—" if value is None else show_compared(value, one["threshold"], unit),
        threshold=f"{one['operator']} {show_threshold(one['threshold'], unit)}",
        interval="" if bounds is None else f"{show_plain(bounds[0], unit)} to {show_plain(bounds[1], unit)}",
        n=int(one.get("n") or 0),
        rule=str(one.get("rule") or ""),
        evidence=tuple(map(str, one.get("evidence", ()))),
    )
