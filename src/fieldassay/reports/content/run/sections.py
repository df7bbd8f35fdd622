"""The fields of a run as tables, and the sections of its report."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.gate import decide_result
from fieldassay.decisions.losses import Mistake
from fieldassay.io.text.shown import clip, clip_apart, format_count, format_json, join_names
from fieldassay.metrics.estimate import (
    NOTHING,
    Estimate,
    format_both,
    format_in_unit,
    format_points,
    format_signed_points,
    format_value,
)
from fieldassay.metrics.repeats import AnswerCount, FlakyValue, Repeats
from fieldassay.metrics.result.result import CheckCount, Result, Violation, list_fields
from fieldassay.metrics.result.verdicts import (
    UNGATED,
    Comparison,
    Decision,
    DecisionPage,
    GateAnswer,
    GateOutcome,
    Ranking,
    Verdict,
)
from fieldassay.reports.findings.recommendation import drop_silent
from fieldassay.reports.wording import SHORT_DIAGNOSES, describe, describe_comparison, describe_first
from fieldassay.reports.writers.tables import Part, ReportTable, TextReport
from fieldassay.runs.files import GATES, find_changed
from fieldassay.runs.run import Run

FEW_FIELDS, MOST_FIELDS = 6, 40
"""The most fields of an answer, and of a whole report; all others are folded into one line."""

_NAME, _FIELD = 24, 32
_SIGNS = {"better": "▲", "worse": "▼"}
_PROSE = 18
"""The least width of the column of errors."""

_CELLS = 5
"""The length of the bar of a perfect field."""


class FieldRow(Struct, frozen=True):
    """One field: the estimate, the change and the most frequent error of each system, in the table's order.

    `changes` are comparisons with the first system (None: itself, or not compared).
    """

    field: str
    estimates: tuple[Estimate | None, ...]
    changes: tuple[Comparison | None, ...]
    mistakes: tuple[Mistake | None, ...]
    error: str = ""
    """The most frequent error of all systems together, in plain words, with its counts."""

    @property
    def shown(self) -> tuple[Comparison, ...]:
        """Return the changes that are shown."""
        return tuple(change for change in self.changes if change is not None and change.is_shown)

    @property
    def lowest(self) -> float:
        """Return the value of the system that has most errors in the field."""
        return min(
            float(estimate.value)
            for estimate in self.estimates
            if estimate is not None and estimate.value is not None
        )


class FieldsBySystem(Struct, frozen=True):
    """The fields by system: those with a shown loss first, then the shown gains, then the others.

    Fields without a judged value are left out. The first system is the one that others are compared with.
    """

    systems: tuple[str, ...]
    rows: tuple[FieldRow, ...]


def tabulate_by_system(result: Result, systems: Sequence[str], mistakes: Sequence[Mistake]) -> FieldsBySystem:
    """Return the fields of a result; `systems` are in the order of the report."""
    if not systems:
        return FieldsBySystem((), ())
    reference = result.field_comparisons[0].systems[0] if result.field_comparisons else systems[0]
    ordered = (reference, *(name for name in systems if name != reference))
    estimates = {
        system: {
            field: estimate
            for field, estimate in list_fields(result, system).items()
            if estimate.value is not None
        }
        for system in ordered
    }
    compared = drop_silent(result, result.field_comparisons)
    changes = {(change.systems[1], change.field): change for change in compared}
    by_field: dict[str, list[Mistake]] = {}
    for mistake in mistakes:
        by_field.setdefault(mistake.field, []).append(mistake)
    rows = []
    for field in dict.fromkeys(field for own in estimates.values() for field in own):
        wrong = by_field.get(field, [])
        rows.append(
            FieldRow(
                field,
                _pair(
                    [estimates[system].get(field) for system in ordered], changes.get((ordered[-1], field))
                ),
                tuple(changes.get((system, field)) for system in ordered),
                tuple(
                    next((mistake for mistake in wrong if mistake.system == system), None)
                    for system in ordered
                ),
                _name_error(wrong, ordered),
            )
        )
    return FieldsBySystem(ordered, tuple(sorted(rows, key=_rank)))


def _pair(estimates: Sequence[Estimate | None], change: Comparison | None) -> tuple[Estimate | None, ...]:
    """Return the estimates of two systems with the values of their comparison, so that its change fits them.

    These are of the documents that both have a value for.
    """
    if len(estimates) != 2 or change is None or change.difference is None:
        return tuple(estimates)
    values = zip(estimates, change.values, strict=True)
    return tuple(None if estimate is None else replace(estimate, value=value) for estimate, value in values)


def _name_error(mistakes: Sequence[Mistake], systems: Sequence[str]) -> str:
    """Return the most frequent error of a field in plain words, with how often each of two makes it."""
    counts: dict[str, dict[str, int]] = {}
    for mistake in mistakes:
        counts.setdefault(mistake.diagnosis, {})[mistake.system] = mistake.count
    if not counts:
        return ""
    worst = max(counts, key=lambda diagnosis: sum(counts[diagnosis].values()))
    numbers = [counts[worst].get(system, 0) for system in systems]
    shown = " → ".join(f"{count:,}" for count in (numbers if len(numbers) == 2 else [sum(numbers)]))
    return f"{describe(SHORT_DIAGNOSES, worst)} ({shown})"


def _rank(row: FieldRow) -> tuple[int, float, str]:
    losses = [change.difference or 0.0 for change in row.shown if change.verdict == "worse"]
    if losses:
        return 0, min(losses), row.field
    gains = [change.difference or 0.0 for change in row.shown]
    return (1, -max(gains), row.field) if gains else (2, row.lowest, row.field)


# The table of fields as texts, as wide as there is room, and the line on the fields that it folds.


def fields_table(table: FieldsBySystem, most: int = MOST_FIELDS, room: int | None = None) -> ReportTable:
    """Return the first fields: a column for each system, the change of two, and the most frequent error.

    In a narrow `room` the bars go first, then a column for each of many systems.
    """
    rows, count = table.rows[:most], len(table.systems)
    with_bars = _lay_out(table, rows, has_bars=True)
    if room is None or _fits(with_bars, room):
        return with_bars
    laid_out = _lay_out(table, rows, has_bars=False)
    return laid_out if count < 3 or _fits(laid_out, room) else _count_changes(table, rows)


def _fits(table: ReportTable, room: int) -> bool:
    """Return whether the columns fit, with enough left for the last one, which is prose."""
    cells = zip(*(row[:-1] for row in (table.heads, *table.rows)), strict=True)
    return sum(3 + max(map(len, column)) for column in cells) + _PROSE <= room


def _lay_out(table: FieldsBySystem, rows: Sequence[FieldRow], *, has_bars: bool) -> ReportTable:
    count = len(table.systems)
    cells = [[clip(row.field, _FIELD) for row in rows]]
    for at in range(count):
        values = [_value(row, at, count) for row in rows]
        width = max(map(len, values), default=0)
        bars = [draw_bar(row.estimates[at]) if has_bars else "" for row in rows]
        cells.append([f"{value:<{width}} {bar}".rstrip() for value, bar in zip(values, bars, strict=True)])
    cells += [[describe_change(row.changes[1]) for row in rows]] if count == 2 else []
    has_errors = any(row.error for row in rows)
    cells += [[row.error for row in rows]] if has_errors else []
    heads = [
        "field",
        *clip_apart(table.systems, _NAME),
        *(["change"] if count == 2 else []),
        *(["most often"] if has_errors else []),
    ]
    return ReportTable("", heads, list(zip(*cells, strict=True)), ())


def _value(row: FieldRow, at: int, systems: int) -> str:
    """Return the value of a system: with its interval if it is alone, with a change's sign if of many."""
    estimate, change = row.estimates[at], row.changes[at]
    if systems == 1:
        return format_both(estimate)
    sign = f" {_SIGNS[change.verdict]}" if systems > 2 and change is not None and change.is_shown else ""
    return f"{format_value(estimate)}{sign}"


def draw_bar(estimate: Estimate | None) -> str:
    """Return a share as a bar of blocks, whole for 100% alone; empty for a value in another unit."""
    share = estimate.value if estimate is not None and estimate.unit == "ratio" else None
    halves = int(2 * _CELLS * (share or 0.0))
    return "█" * (halves // 2) + "▌" * (halves % 2)


def describe_change(change: Comparison | None) -> str:
    """Return the difference of a field for a cell, with a sign of its own where it is shown."""
    if change is None or change.difference is None:
        return NOTHING
    if change.is_shown:
        return f"{_SIGNS[change.verdict]} {format_points(change.difference, change.unit)}"
    return format_signed_points(change.difference, change.unit)


def _count_changes(table: FieldsBySystem, rows: Sequence[FieldRow]) -> ReportTable:
    """Return the fields of many systems: the first, the range of the others, and who is better or worse."""
    changes = [[_sort_changes(row, verdict) for verdict in ("worse", "better")] for row in rows]
    largest = dict.fromkeys(of_verdict[0].systems[1] for pair in changes for of_verdict in pair if of_verdict)
    first, *others = clip_apart([table.systems[0], *largest], 16)
    names, cells = dict(zip(largest, others, strict=True)), []
    for row, pair in zip(rows, changes, strict=True):
        values = [
            estimate.value
            for estimate in row.estimates[1:]
            if estimate is not None and estimate.value is not None
        ]
        ends = [format_in_unit(end(values)) for end in (min, max)] if values else [NOTHING] * 2
        cells.append(
            [
                clip(row.field, _FIELD),
                format_value(row.estimates[0]),
                ends[0] if ends[0] == ends[1] else f"{ends[0].removesuffix('%')} to {ends[1]}",
                *(_name_largest(of_verdict, names) for of_verdict in pair),
            ]
        )
    heads = ["field", first, f"{len(table.systems) - 1} others", "▼ worse", "▲ better"]
    return ReportTable("", heads, cells, ())


def _sort_changes(row: FieldRow, verdict: str) -> list[Comparison]:
    """Return the comparisons of a field with a verdict, the largest difference first."""
    return sorted(
        (change for change in row.shown if change.verdict == verdict),
        key=lambda change: -abs(change.difference or 0.0),
    )


def _name_largest(changes: Sequence[Comparison], names: Mapping[str, str]) -> str:
    """Return the system with the largest difference, its points, and how many others there are."""
    others = f", {len(changes) - 1} more" if len(changes) > 1 else ""
    return "".join(
        f"{names[change.systems[1]]} {format_points(change.difference or 0.0, change.unit)}{others}"
        for change in changes[:1]
    )


def describe_rest(table: FieldsBySystem, most: int = MOST_FIELDS) -> list[str]:
    """Return a line on the fields that are folded, and one on the signs of changes."""
    hidden, lines = table.rows[most:], []
    tested = sum(change is not None and change.p is not None for row in table.rows for change in row.changes)
    if hidden:
        names = [clip(row.field, _FIELD) for row in hidden]
        of = " without a clear change" if tested and not any(row.shown for row in hidden) else ""
        least = min(row.lowest for row in hidden)
        range_ = f"{format_in_unit(least)} or better" if least < 1.0 else "all 100%"
        lines.append(f"and {format_count(len(hidden), 'more field')}{of}, {range_}: {join_names(names)}")
    counted = f" (corrected for {tested:,} tests)" if tested > 1 else ""
    first = clip_apart(table.systems, _NAME)[0]
    if any(row.shown for row in table.rows):
        lines.append(f"▲ better, ▼ worse than {first}, beyond chance{counted}")
    elif tested:
        lines.append(f"no field differs from {first} beyond chance{counted}")
    return lines


def worst_fields(table: FieldsBySystem, system: str) -> list[tuple[str, Estimate, Mistake | None]]:
    """Return the fields of a system with errors, the worst first, each with its most frequent error."""
    at = table.systems.index(system)
    fields = [
        (row.field, estimate, row.mistakes[at])
        for row in table.rows
        if (estimate := row.estimates[at]) is not None and estimate.value is not None and estimate.value < 1.0
    ]
    return sorted(fields, key=lambda each: (each[1].value or 0.0, -each[1].n))


# Violated checks as reports list them.


def describe_first_violation(count: CheckCount, width: int) -> str:
    """Return the first example of a violated check, as wide as that at most; empty without any."""
    return describe_violation(count.examples[0], width) if count.examples else ""


def describe_violation(violation: Violation, width: int) -> str:
    """Return a violation in one line: its place, the value, and the problem.

    >>> describe_violation(Violation("d1", "flow.unit", "**.unit", "unit_format", "holds '³'", '"m³/h"'), 80)
    'd1: flow.unit "m³/h" holds \\'³\\''
    """
    room = max(8, width // 3)
    value = f" {clip(violation.value, room)}" if violation.value is not None else ""
    return (
        f"{clip(violation.doc, room)}: {clip(violation.path, room) or '(the record)'}{value} "
        f"{clip(violation.message, width)}"
    )


# The decisions by the gates of a run on disk.


def decisions_of_run(run: Run) -> tuple[Decision, ...]:
    """Return the decisions by a run's gates: as recorded, or made again from its estimates.

    Whoever changed or removed the file of gates could have made a loss a pass.
    """
    gates = [
        outcome.gate
        for decision in run.decisions
        for outcome in decision.outcomes
        if outcome.title != UNGATED
    ]
    if not gates or find_changed(run.folder, run.facts, (GATES,)):
        return decide_result(run.result, gates)
    return run.decisions


# The differences between systems by each metric, in plain words.

MOST_LINES = 8
"""The most sentences shown; `comparisons.json` has all."""

FILE = "comparisons.json"
TITLE = "Differences between systems"


def describe_comparisons(
    comparisons: Sequence[Comparison], rankings: Sequence[Ranking], names: Mapping[str, str]
) -> Part | None:
    """Return the comparisons of systems with the reference, None without any; `names` are metrics' names."""
    if not comparisons:
        return None
    overall = [
        comparison for comparison in comparisons if not comparison.slice and comparison.field is None
    ] or list(comparisons)
    lines = [describe_comparison(comparison.best_last, names) for comparison in comparisons[:MOST_LINES]]
    hidden = len(comparisons) - len(lines)
    more = [f"and {hidden:,} more comparisons in {FILE}"] if hidden else []
    first = [describe_first(ranking) for ranking in rankings if ranking.metric == overall[0].metric]
    method = explain_p(count_tested(overall, rankings))
    return Part(TITLE, lines, end=[*more, *filter(None, first), method])


def count_tested(family: Sequence[Comparison], rankings: Sequence[Ranking]) -> int:
    """Return the number of tests behind the adjusted p values of comparisons and rankings, each once."""
    compared = {
        (comparison.metric, comparison.field, *comparison.slice.items(), frozenset(comparison.systems))
        for comparison in family
        if comparison.p is not None
    }
    return len(
        compared
        | {(ranking.metric, None, frozenset(pair.systems)) for ranking in rankings for pair in ranking.pairs}
    )


def explain_p(tested: int) -> str:
    """Return the meaning of an adjusted p value of so many comparisons, in words.

    >>> explain_p(6)
    'p: how often chance alone would show such a difference (corrected for 6 tests)'
    """
    counted = f" (corrected for {tested:,} tests)" if tested > 1 else ""
    return f"p: how often chance alone would show such a difference{counted}"


# What repeated runs of a system show, as sentences and a list of flaky values.

MOST_FLAKY_SHOWN = 10
_ANSWERS = 4


class FlakyLine(Struct, frozen=True):
    """A flaky value as reports show it."""

    document: str
    path: str
    right: str
    vote: str
    answers: str


class RepeatsShown(Struct, frozen=True):
    """The repeated runs of one system: its sentences, and its flaky values, the most divided first."""

    system: str
    title: str
    sentences: tuple[str, ...]
    flaky: tuple[FlakyLine, ...]
    hidden: int
    """How many more are in `metrics.json`."""


def list_repeats(result: Result) -> tuple[RepeatsShown, ...]:
    """Return what is to be said of each system with repeated runs."""
    return tuple(
        RepeatsShown(
            repeats.system,
            f"{format_count(repeats.runs, 'run')} of {clip(repeats.system, 60)}",
            tuple(_sentences(result, repeats)),
            tuple(_line(value, repeats.runs) for value in repeats.flaky[:MOST_FLAKY_SHOWN]),
            max(0, len(repeats.flaky) - MOST_FLAKY_SHOWN),
        )
        for repeats in result.repeats
    )


def _sentences(result: Result, repeats: Repeats) -> Iterator[str]:
    estimates = {
        (estimate.metric, estimate.parameters.get("k")): estimate
        for estimate in result.estimates
        if estimate.system == repeats.system and estimate.field is None and not estimate.slice
    }
    for what, prefix in (("documents are perfect", ""), ("gold values are right", "value_")):
        first, always, once = (
            estimates.get((f"{prefix}{name}", k))
            for name, k in (("pass_hat", 1), ("pass_hat", repeats.runs), ("pass_at", repeats.runs))
        )
        if first is not None and first.value is not None:
            yield (
                f"{_percent(first)} of {what} in one run, {_percent(always)} in all {repeats.runs} "
                f"(pass^{repeats.runs}), {_percent(once)} in at least one (pass@{repeats.runs})"
            )
    flaky, vote, ties = (
        estimates.get((name, None)) for name in ("flaky_values", "majority_accuracy", "majority_ties")
    )
    if flaky is not None and vote is not None and flaky.value is not None:
        tied = f", {_percent(ties)} tied" if ties is not None and ties.value else ""
        yield f"{_percent(flaky)} of gold values get different answers"
        yield f"the majority vote is right for {_percent(vote)}{tied}"


def _percent(estimate: Estimate | None) -> str:
    return "—" if estimate is None else format_in_unit(estimate.value)


def _line(value: FlakyValue, runs: int) -> FlakyLine:
    right = f"{value.right} of {runs}"
    return FlakyLine(value.document, value.path, right, value.vote, _describe_answers(value.answers))


def _describe_answers(answers: tuple[AnswerCount, ...]) -> str:
    texts = [
        f"{each.runs} x {'no answer' if each.answer is None else format_json(each.answer, 24)}"
        f"{' (right)' if each.is_right else ''}"
        for each in answers[:_ANSWERS]
    ]
    more = sum(each.runs for each in answers[_ANSWERS:])
    return ", ".join([*texts, *([f"{more} x others"] if more else [])])


def repeats_parts(shown: tuple[RepeatsShown, ...]) -> Iterator[Part]:
    """Yield a part for each system with repeated runs."""
    for repeats in shown:
        rows = [
            [clip(line.document, 40), clip(line.path, 40), line.right, line.vote, line.answers]
            for line in repeats.flaky
        ]
        heads = ["document", "flaky value", "right", "vote", "answers"]
        more = [f"and {repeats.hidden} more in metrics.json"] if repeats.hidden else []
        yield Part(
            repeats.title, repeats.sentences, [ReportTable("", heads, rows, ())] if rows else [], end=more
        )


# Gates in a report, and the GO / NO-GO page.

STYLES = {
    Verdict.PASS: "green",
    Verdict.FAIL: "red",
    Verdict.INCONCLUSIVE: "yellow",
    Verdict.NO_LOSS: "dim",
    Verdict.SKIPPED: "dim",
    GateAnswer.GO: "bold green",
    GateAnswer.NO_GO: "bold red",
    GateAnswer.INCONCLUSIVE: "bold yellow",
}
SIDE_BY_SIDE = 4
"""The most systems side by side; more are one below the other, with fewer fields each."""

_WIDE, _LONG = 200, 600


def gates_parts(decisions: Sequence[Decision]) -> list[Part]:
    """Return the gates of a result: a row per gate that applies, reasons where needed; [] without any."""
    if not decisions:
        return []
    head, rows = _table(decisions)
    return [
        Part(
            "Gates",
            tables=[ReportTable("", head, rows, ())] if rows else [],
            remarks=[clip(line, _LONG) for line in (*_undecided(decisions), *_skipped(decisions))],
        )
    ]


def describe_page(page: DecisionPage) -> TextReport:
    """Return the GO / NO-GO page: runs, records, and each system with its gates and their evidence."""
    sources = [("about", page.description)] if page.description else []
    sources += [("run", line) for line in _run_lines(page)]
    sources += [("records", page.records)] if page.records else []
    parts = [part for decision in page.decisions for part in _decision_parts(decision)]
    if page.invalid:
        parts.append(Part("Records that do not count", [clip(str(fault), _LONG) for fault in page.invalid]))
    return TextReport(
        f"{clip(page.name, 100)}: {page.answer}",
        (),
        tuple((name, clip(text, _LONG)) for name, text in sources),
        tuple(parts),
        tuple(clip(remark, _LONG) for remark in page.remarks),
    )


def _decision_parts(decision: Decision) -> list[Part]:
    heads = ["gate", "value", "threshold", "verdict"]
    rows = [[clip(cell, _WIDE) for cell in _gate_row(outcome)] for outcome in decision.outcomes]
    reasons = [f"{decision.answer}: {'; '.join(decision.reasons)}"]
    evidence = [
        Part(
            f"{clip(_name(outcome), _WIDE)}: {outcome.verdict}",
            [clip(line, _LONG) for line in (outcome.rule, *outcome.evidence)],
            level=3,
            style=STYLES[outcome.verdict],
        )
        for outcome in decision.outcomes
    ]
    heading, style = clip(_heading(decision), _WIDE), STYLES[decision.answer]
    remarks = [clip(reason, 4 * _LONG) for reason in reasons]
    return [
        Part(heading, tables=[ReportTable("", heads, rows, (1,))], remarks=remarks, style=style),
        *evidence,
    ]


def _run_lines(page: DecisionPage) -> list[str]:
    lines = []
    for run in page.runs:
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
    undecided: dict[tuple[str, str], list[str]] = {}
    for decision in decisions:
        for outcome in decision.outcomes:
            if outcome.verdict in (Verdict.INCONCLUSIVE, Verdict.NO_LOSS):
                gate = outcome.title if outcome.title == UNGATED else outcome.gate
                undecided.setdefault((f"{outcome.verdict}: {gate}", outcome.rule), []).append(decision.system)
    return [f"{gate} ({', '.join(systems)}): {rule}" for (gate, rule), systems in undecided.items()]


def _skipped(decisions: Sequence[Decision]) -> list[str]:
    """Return the reasons for gates that do not apply, a line for all with one reason."""
    skipped: dict[str, dict[str, None]] = {}
    for decision in decisions:
        for outcome in decision.outcomes:
            if outcome.verdict is Verdict.SKIPPED:
                skipped.setdefault(outcome.rule, {})[str(outcome.gate)] = None
    return [
        f"SKIPPED: {next(iter(gates)) if len(gates) == 1 else f'{len(gates):,} gates'}: "
        f"{rule.removeprefix('does not apply: ')}"
        for rule, gates in skipped.items()
    ]
