"""The gates of a report in words: what is looked at, its value, what is needed, and both on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from fieldassay.metrics.catalogue.grammar import Gate, parse_gate
from fieldassay.metrics.estimate import NOTHING, difference_unit, format_bounds
from fieldassay.metrics.thresholds import WORDS, format_compared, format_threshold
from fieldassay.reports.html.overview import NAMES

SIGNS = {"PASS": "✓", "FAIL": "✕", "INCONCLUSIVE": "?", "NO LOSS SHOWN": "○", "SKIPPED": "–"}
TONES = {"PASS": "good", "FAIL": "bad", "INCONCLUSIVE": "unsure", "NO LOSS SHOWN": "none", "SKIPPED": "none"}
_FUNCTIONS = {"lower": "cautious value", "upper": "cautious value"}


class Bullet(Struct, frozen=True):
    """A value, its interval and its threshold as places on an axis from 0 to 100."""

    low: float
    value: float
    high: float
    threshold: float


class GateLine(Struct, frozen=True):
    """One gate of one system in words."""

    gate: str
    name: str
    verdict: str
    sign: str
    tone: str
    value: str
    needed: str
    interval: str
    n: int
    why: str
    """Why there is no verdict; empty if there is one."""
    bullet: Bullet | None


class Verdict(Struct, frozen=True):
    """The gates of one system, and the verdict by them."""

    system: str
    run: str
    answer: str
    reasons: tuple[str, ...]
    gates: tuple[GateLine, ...]
    chance: str = ""


def list_verdicts(decisions: Sequence[Mapping[str, Any]]) -> tuple[Verdict, ...]:
    """Return the decisions of `gates.json` in words."""
    return tuple(
        Verdict(
            str(one["system"]),
            str(one.get("run") or ""),
            str(one["answer"]),
            tuple(map(str, one.get("reasons", ()))),
            tuple(map(_gate, one.get("gates", ()))),
            str(one.get("chance") or ""),
        )
        for one in decisions
    )


def have_common_gates(verdicts: Sequence[Verdict]) -> bool:
    """Return whether all systems have the same gates; those of several runs in one report may differ."""
    return len({tuple(line.gate for line in one.gates) for one in verdicts}) == 1


def _gate(one: Mapping[str, Any]) -> GateLine:
    verdict, value, bounds = str(one["verdict"]), one["value"], one["interval"]
    unit, threshold = str(one["unit"]), one["threshold"]
    unit = difference_unit(unit) if str(one["gate"]).startswith("regression(") else unit
    interval = "" if bounds is None else format_bounds(bounds, unit)
    return GateLine(
        gate=str(one["gate"]),
        name=str(one.get("title") or "") or _name(str(one["gate"])),
        verdict=verdict,
        sign=SIGNS.get(verdict, ""),
        tone=TONES.get(verdict, "none"),
        value=NOTHING if value is None else format_compared(value, threshold, unit),
        needed=f"needs {WORDS.get(one['operator'], one['operator'])} {format_threshold(threshold, unit)}",
        interval=interval,
        n=int(one.get("n") or 0),
        why="" if verdict in ("PASS", "FAIL") else str(one.get("rule") or ""),
        bullet=_bullet(one) if one["unit"] in ("ratio", "percent") and value is not None else None,
    )


def _name(text: str) -> str:
    """Return what a gate looks at, in words."""
    gate = parse_gate(text)
    metric = gate.metric
    field = "each field" if gate.is_each else metric.field or ""
    of = f" of {field}" if field else ""
    where = f", {metric.slice[0]} {metric.slice[1]}" if metric.slice else ""
    looked_at = _FUNCTIONS.get(gate.function, "" if gate.function == "value" else gate.function)
    return f"{_metric(gate)}{of}{where}{f', {looked_at}' if looked_at else ''}"


def _metric(gate: Gate) -> str:
    name = gate.metric.name
    short = name.removeprefix("field_") if gate.metric.field or gate.is_each else name
    return str(NAMES.get(short, short)).replace("_", " ")


def _bullet(one: Mapping[str, Any]) -> Bullet:
    """Return the places on an axis to 100% that begins below value, interval and threshold."""
    factor = 100.0 if one["unit"] == "ratio" else 1.0
    low, high = one["interval"] or (one["value"], one["value"])
    begin = max(0.0, 10 * ((factor * min(low, one["value"], one["threshold"])) // 10) - 10)
    places = [
        100 * (min(100.0, factor * number) - begin) / (100.0 - begin)
        for number in (low, one["value"], high, one["threshold"])
    ]
    return Bullet(*places)
