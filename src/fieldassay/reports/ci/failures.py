"""The failure message of a test: the gates, the worst fields, and one example of each."""

from __future__ import annotations

from fieldassay.io.text.shown import break_commands, clip, format_count, format_pair
from fieldassay.metrics.estimate import format_value
from fieldassay.metrics.result.decision import Decision, GateOutcome
from fieldassay.reports.content.run.summary import FieldLine, Summary

MOST_FIELDS = 5
_NAME, _VALUE = 40, 60


def render_outcome(outcome: GateOutcome) -> str:
    """Return one gate's outcome on a line.

    >>> from fieldassay.metrics.catalogue.grammar import parse_gate
    >>> from fieldassay.metrics.result.decision import Verdict
    >>> gate = parse_gate("accuracy >= 0.9")
    >>> render_outcome(GateOutcome(gate, Verdict.FAIL, "0.500 is less than 0.9", 0.5, documents=2))
    'FAIL          accuracy >= 0.9: 0.500 is less than 0.9 (2 documents)'
    """
    behind = f" ({format_count(outcome.documents, 'document')})" if outcome.documents else ""
    return f"{outcome.verdict.value:<13} {outcome.gate}: {clip(outcome.rule, 300)}{behind}"


def render_failure(summary: Summary, decision: Decision) -> str:
    """Return the failures of one system: its gates, then its worst fields.

    Each field has its most frequent error and an example.
    """
    position = summary.systems.index(decision.system)
    lines = [
        f"{summary.name}: the extraction by {clip(decision.system, _NAME)} is not good enough",
        "",
    ]
    lines += [render_outcome(outcome) for outcome in decision.outcomes]
    fields = summary.fields[position][:MOST_FIELDS]
    if fields:
        lines += ["", "worst fields:", *map(_render_field, fields)]
    hidden = len(summary.fields[position]) - len(fields) + summary.hidden_fields[position]
    return break_commands("\n".join([*lines, *([f"  and {hidden} more with errors"] if hidden else [])]))


def _render_field(line: FieldLine) -> str:
    value = "undefined" if line.accuracy.value is None else format_value(line.accuracy)
    head = f"  {clip(line.field, _NAME):<24} {value} (n={line.accuracy.n})"
    if line.mistake is None:
        return head
    gold, pred = format_pair(line.mistake.gold, line.mistake.pred, _VALUE)
    return (
        f"{head}  {line.mistake.diagnosis.replace('_', ' ')} ({line.mistake.count}): gold {gold}, "
        f"predicted {pred}"
    )
