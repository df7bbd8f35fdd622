"""Plausibility of gates: thresholds in the wrong unit, and rules that always pass or always fail."""

from __future__ import annotations

from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.catalogue.grammar import Gate
from fieldassay.metrics.notation import HIGHEST

_AT_LEAST = (">=", ">")


def lint_gate(gate: Gate, unit: str, better: str = "higher") -> str:
    """Return the problem of a gate over a metric of this unit, with its remedy; empty for a sensible gate.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> lint_gate(parse_gate("accuracy >= 90"), "ratio")
    'accuracy is a ratio, from 0 to 1, and 90 is outside of that; write 0.9 for 90%'
    >>> lint_gate(parse_gate("accuracy >= 0.9"), "ratio")
    ''
    """
    if gate.function == "regression":
        return _check_regression(gate, unit)
    if gate.function not in ("value", "lower", "upper"):
        return ""
    if unit == "percent" and better == "higher" and gate.operator in _AT_LEAST and 0 < gate.threshold <= 1:
        meant = f"{100 * gate.threshold:g}"
        return (
            f"{gate.metric.name} is in percent, so that {gate.threshold:g} is hardly above 0; "
            f"write {meant} for {meant}%"
        )
    highest = HIGHEST.get(unit)
    if highest is None or not _is_bounded(gate.metric.name, unit) or 0 <= gate.threshold <= highest:
        return ""
    if unit == "percent":
        return (
            f"{gate.metric.name} is in percent, from 0 to 100, and {gate.threshold:g} is outside of that; "
            f"write such as {gate.operator} 90"
        )
    example = gate.threshold / 100 if 1 < gate.threshold <= 100 else 0.9
    return (
        f"{gate.metric.name} is a ratio, from 0 to 1, and {gate.threshold:g} is outside of that; "
        f"write {example:g} for {100 * example:g}%"
    )


def _is_bounded(name: str, unit: str) -> bool:
    """Return whether a metric of this unit lies between 0 and 1, or 100.

    A ratio defined by a spec may be any number.
    """
    metric = list_metrics().get(name)
    return unit == "percent" if metric is None else metric.group != "extras"


def _check_regression(gate: Gate, unit: str) -> str:
    name, margin = str(gate.metric), abs(gate.threshold)
    if gate.operator not in _AT_LEAST:
        shown = f"{margin:g}" if margin < HIGHEST.get(unit, margin + 1) and margin else "0.01"
        what = (
            f"regression({name}) is negative where it got worse, "
            f"so that {gate.operator} asks for the wrong thing"
        )
        return f"{what}; write regression({name}) > -{shown}"
    highest = HIGHEST.get(unit)
    if highest is not None and margin >= highest and _is_bounded(gate.metric.name, unit):
        point = 1.0 if unit == "percent" else 0.01
        what = f"no {unit} can change by {margin:g}, so that the gate says nothing"
        return f"{what}; write regression({name}) > -{point:g} to allow a loss of one point"
    return ""
