"""Gates in a report, and the GO / NO-GO page."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.io.text.shown import clip, format_count
from fieldassay.metrics.result.decision import UNGATED, Answer, Decision, DecisionPage, GateOutcome, Verdict
from fieldassay.reports.writers.tables import Part, Table, Told

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NO_LOSS: "dim",
    Verdict.SKIPPED: "dim",
    Answer.GO: "bold green",
    Answer.NO_GO: "bold red",
    Answer.INCONCLUSIVE: "bold yellow",
}
SIDE_BY_SIDE = 4
"""The most systems side by side; more are listed one below the other."""

_WIDE, _LONG = 200, 600


def gates_parts(decisions: Sequence[Decision]) -> list[Part]:
    """Return the gates of a result: a row per gate that applies, reasons where needed; [] without any."""
    if not decisions:
        return []
    head, rows = _table(decisions)
    return [
        Part(
            "Gates",
            tables=[Table("", head, rows, ())] if rows else [],
            remarks=[clip(line, _LONG) for line in _below(decisions)],
        )
    ]


def describe_page(found: DecisionPage) -> Told:
    """Return the GO / NO-GO page: runs, records, and each system with its gates and their evidence."""
    sources = [("about", found.description)] if found.description else []
    sources += [("run", line) for line in _run_lines(found)]
    sources += [("records", found.records)] if found.records else []
    parts = [part for decision in found.decisions for part in _decision_parts(decision)]
    if found.invalid:
        parts.append(Part("Records that do not count", [clip(str(one), _LONG) for one in found.invalid]))
    return Told(
        f"{clip(found.name, 100)}: {found.answer}",
        (),
        tuple((name, clip(text, _LONG)) for name, text in sources),
        tuple(parts),
        tuple(clip(remark, _LONG) for remark in found.remarks),
    )


def _decision_parts(decision: Decision) -> list[Part]:
    heads = ["gate", "value", "threshold", "verdict"]
    rows = [[clip(cell, _WIDE) for cell in _gate_row(outcome)] for outcome in decision.outcomes]
    reasons = [f"{decision.answer}: {'; '.join(decision.reasons)}"]
    reasons += [f"chance: {decision.chance}"] if decision.chance else []
    evidence = [
        Part(
            f"{clip(_name(outcome), _WIDE)}: {outcome.verdict}",
            [clip(line, _LONG) for line in _evidence(outcome)],
            level=3,
            style=STYLES[outcome.verdict],
        )
        for outcome in decision.outcomes
    ]
    heading, style = clip(_heading(decision), _WIDE), STYLES[decision.answer]
    remarks = [clip(reason, 4 * _LONG) for reason in reasons]
    return [Part(heading, tables=[Table("", heads, rows, (1,))], remarks=remarks, style=style), *evidence]


def _run_lines(found: DecisionPage) -> list[str]:
    lines = []
    for run in found.runs:
        spec = f"{run.spec} ({run.digest[:8]}), " if run.digest else ""
        started = f", scored {run.started}" if run.started else ""
        lines.append(
            f"{run.label}: {spec}{format_count(run.documents, 'document')}, "
            f"{', '.join(run.systems) or 'no system'}{started}"
        )
    return lines


def _heading(decision: Decision) -> str:
    about = f"{decision.system} in {decision.run}" if decision.run else decision.system
    return f"{about}: {decision.answer}"


def _name(outcome: GateOutcome) -> str:
    if outcome.title == UNGATED:
        return _about(outcome)
    return f"{outcome.title}: {outcome.gate}" if outcome.title else str(outcome.gate)


def _gate_row(outcome: GateOutcome) -> list[str]:
    if outcome.title == UNGATED:
        return [_about(outcome), outcome.value_text, "", str(outcome.verdict)]
    return [
        outcome.title or str(outcome.gate),
        outcome.value_text,
        outcome.threshold_text,
        str(outcome.verdict),
    ]


def _evidence(outcome: GateOutcome) -> tuple[str, ...]:
    return (outcome.rule, *outcome.evidence)


def _table(decisions: Sequence[Decision]) -> tuple[list[str], list[list[str]]]:
    """Return the head and rows of the applicable gates: systems side by side, or counted if many."""
    gates = [_about(outcome) for outcome in decisions[0].outcomes]
    rows = []
    for place, gate in enumerate(gates):
        outcomes = [(decision.system, decision.outcomes[place]) for decision in decisions]
        if all(outcome.verdict is Verdict.SKIPPED for _, outcome in outcomes):
            continue
        if len(decisions) <= SIDE_BY_SIDE:
            rows.append([clip(gate, 60), *(_cell(outcome) for _, outcome in outcomes)])
        else:
            others = [
                f"{system} {_cell(outcome)}"
                for system, outcome in outcomes
                if outcome.verdict not in (Verdict.PASS, Verdict.NO_LOSS)
            ]
            rows.append(
                [
                    clip(gate, 60),
                    f"{len(outcomes) - len(others)} of {len(outcomes)}",
                    clip(", ".join(others), _WIDE),
                ]
            )
    if len(decisions) > SIDE_BY_SIDE:
        return ["", "passed", "not passed"], rows
    return ["", *(clip(decision.system, 32) for decision in decisions)], rows


def _about(outcome: GateOutcome) -> str:
    """Return the gate; of documents without one which they are."""
    if outcome.title != UNGATED or outcome.gate.metric.slice is None:
        return str(outcome.gate)
    key, value = outcome.gate.metric.slice
    return f"{key}={value}, no threshold" if value else f"no {key}, no threshold"


def _cell(outcome: GateOutcome) -> str:
    return str(outcome.verdict) if outcome.value is None else f"{outcome.verdict} {outcome.value_text}"


def _undecided(decisions: Sequence[Decision]) -> list[str]:
    """Return the reasons for gates that say neither yes nor no, a line each; equal reasons together."""
    found: dict[tuple[str, str], list[str]] = {}
    for decision in decisions:
        for outcome in decision.outcomes:
            if outcome.verdict in (Verdict.INCONCLUSIVE, Verdict.NO_LOSS):
                gate = outcome.title if outcome.title == UNGATED else outcome.gate
                found.setdefault((f"{outcome.verdict}: {gate}", outcome.rule), []).append(decision.system)
    return [f"{gate} ({', '.join(systems)}): {rule}" for (gate, rule), systems in found.items()]


def _skipped(decisions: Sequence[Decision]) -> list[str]:
    """Return the reasons for gates that do not apply, a line for all with one reason."""
    found: dict[str, dict[str, None]] = {}
    for decision in decisions:
        for outcome in decision.outcomes:
            if outcome.verdict is Verdict.SKIPPED:
                found.setdefault(outcome.rule, {})[str(outcome.gate)] = None
    return [
        f"SKIPPED: {next(iter(gates)) if len(gates) == 1 else f'{len(gates):,} gates'}: "
        f"{rule.removeprefix('does not apply: ')}"
        for rule, gates in found.items()
    ]


def _chances(decisions: Sequence[Decision]) -> list[str]:
    """Return how often chance alone would fail a gate that passed, a line for each system."""
    return [f"chance: {decision.system}: {decision.chance}" for decision in decisions if decision.chance]


def _below(decisions: Sequence[Decision]) -> list[str]:
    """Return the lines below the table of gates."""
    return [*_undecided(decisions), *_skipped(decisions), *_chances(decisions)]
