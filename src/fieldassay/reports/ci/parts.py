"""The common parts of a step summary and of a pull request's comment on a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fieldassay.io.text.shown import format_count, format_pair
from fieldassay.metrics.estimate import format_both, format_value
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.thresholds import format_change, format_changes
from fieldassay.reports.ci.annotations import describe_document
from fieldassay.reports.ci.github_text import Block, code, prose
from fieldassay.reports.content.run.answer import repair_row, systems_table
from fieldassay.reports.content.run.summary import (
    FieldLine,
    Line,
    Summary,
    describe_method,
    measure_name,
    summarize,
)
from fieldassay.reports.findings.recommendation import describe_counts
from fieldassay.reports.findings.wrong_values import count_wrong, find_worst, list_wrong
from fieldassay.reports.reported import Reported, describe_verdict
from fieldassay.reports.wording.terms import DIAGNOSES, describe

_NAME, _VALUE = 60, 80
_SIGNS = {Verdict.PASS: "✅", Verdict.FAIL: "❌", Verdict.INCONCLUSIVE: "❔", Verdict.NO_LOSS: "➖"}
_FIRST = {Verdict.FAIL: 0, Verdict.INCONCLUSIVE: 1, Verdict.NO_LOSS: 2, Verdict.PASS: 3, Verdict.SKIPPED: 4}


def summarize_run(run: Reported) -> Summary:
    """Return the summary of a run."""
    return summarize(run.result, run.evidence, decisions=run.decisions)


def verdict_block(run: Reported, summary: Summary) -> Block:
    """Return the heading with the verdict, and why."""
    answer, why = describe_verdict(run.decisions)
    about = f" ({prose(run.label, 200)})" if run.label else ""
    failures = [
        f"{prose(system, _NAME)}: {prose(text)}"
        for system, text in zip(summary.systems, summary.failures, strict=True)
        if text != "none"
    ]
    lines = [
        f"## {prose(answer, 400)}: {prose(summary.name, 100)}{about}",
        f"{why[:1].upper()}{why[1:]}; {format_count(summary.documents, 'document')}.",
    ]
    if failures:
        lines.append(f"Predictions that are missing or unusable: {'; '.join(failures)}.")
    return Block("\n\n".join(lines))


def systems_block(summary: Summary) -> Block:
    """Return the recommendation, and a table of all systems, the best first."""
    told = summary.recommendation
    heads, rows = systems_table(summary)
    counts = describe_counts(summary.standings)
    sentences = [told.answer, *told.further, *([f"{counts[0].upper()}{counts[1:]}"] if counts else ())]
    return Block(
        f"{'. '.join(map(prose, sentences))}.",
        tuple(prose(head.replace("\n", " "), 100) for head in heads),
        [[row[0], code(row[1], _NAME), *(prose(_unbroken(cell)) for cell in row[2:])] for row in rows],
        numbers=tuple(range(2, len(heads))),
    )


def _unbroken(cell: str) -> str:
    """Return a number with its interval on one line."""
    return cell.replace(" ", "\u00a0")


def _values(line: Line) -> list[str]:
    return [prose(_unbroken(format_both(one))) for one in line.estimates]


def headline_block(summary: Summary) -> Block:
    """Return the metrics at the head of the report, with intervals, by system."""
    rows = [[prose(line.label, 100), *_values(line)] for line in summary.headline]
    counted = next((line for line in summary.headline if line.label == "accuracy"), None)
    if counted is not None:
        rows.append(
            ["documents (n)", *(f"{estimate.n:,}" if estimate else "—" for estimate in counted.estimates)]
        )
    head = ("metric", *(code(system, _NAME) for system in summary.systems))
    return Block("### All metrics", head, rows, numbers=tuple(range(1, len(head))))


def compared_block(summary: Summary) -> Block:
    """Return the significant differences between systems, in sentences."""
    if summary.compared is None or not summary.compared.lines:
        return Block()
    return Block(
        "### Differences between systems\n\n"
        + "\n".join(f"- {prose(line)}" for line in summary.compared.lines)
    )


def baseline_block(run: Reported) -> Block:
    """Return the changes against the baseline, if a gate uses it."""
    about = [
        (decision.system, outcome)
        for decision in run.decisions
        for outcome in decision.outcomes
        if outcome.gate.function == "regression"
    ]
    rows = [
        [
            code(system, _NAME),
            code(str(outcome.gate.metric), 100),
            _change(outcome),
            str(outcome.verdict),
            prose(outcome.rule, 300),
        ]
        for system, outcome in about
    ]
    return (
        Block("### Against the baseline", ("system", "metric", "change", "gate", "why"), rows)
        if rows
        else Block()
    )


def _change(outcome: GateOutcome) -> str:
    if outcome.value is None:
        return "—"
    interval = "" if outcome.interval is None else f" ({format_changes(outcome.interval, outcome.unit)})"
    return f"{format_change(outcome.value, outcome.unit)}{interval}"


def gates_block(run: Reported, fold: str = "") -> Block:
    """Return every gate of every system, those that did not pass first."""
    found = [(decision, outcome) for decision in run.decisions for outcome in decision.outcomes]
    rows = [
        [
            f"{_SIGNS.get(one.verdict, '')} {one.verdict}".lstrip(),
            code(decision.system, _NAME),
            code(one.title or str(one.gate), 100),
            one.value_text,
            f"{one.n:,}",
            prose(one.rule, 300),
        ]
        for decision, one in sorted(found, key=lambda pair: _FIRST[pair[1].verdict])
    ]
    if not rows:
        return Block()
    return Block(
        "" if fold else "### Gates",
        ("verdict", "system", "gate", "value", "n", "why"),
        rows,
        fold,
        ("gate", "gates"),
        numbers=(3, 4),
    )


def fields_blocks(summary: Summary) -> Iterator[Block]:
    """Yield the worst fields of each system."""
    for place, system in enumerate(summary.systems):
        lines = summary.fields[place]
        if not lines:
            continue
        more = f" ({summary.hidden_fields[place]} more have errors)" if summary.hidden_fields[place] else ""
        head = ("field", measure_name(lines), "n", "most often", "gold", "predicted")
        yield Block(
            f"### Worst fields of {prose(system, _NAME)}{more}",
            head,
            [_field_row(line) for line in lines],
            numbers=(1, 2),
        )


def losses_block(summary: Summary) -> Block:
    """Return the costliest losses of accuracy of each system."""
    rows = [
        [code(system, _NAME), points, prose(cause, 300), code(example, 160)]
        for system, losses in zip(summary.systems, summary.losses, strict=False)
        for points, cause, example in (repair_row(loss, _VALUE) for loss in losses)
    ]
    head = ("system", f"points of {summary.lost} lost, at most", "cause", "for example")
    return Block("### What to fix first", head, rows, numbers=(1,)) if rows else Block()


def _field_row(line: FieldLine) -> list[str]:
    numbers = [code(line.field, 100), format_value(line.accuracy), f"{line.accuracy.n:,}"]
    if line.mistake is None:
        return [*numbers, "", "", ""]
    pair = format_pair(line.mistake.gold, line.mistake.pred, _VALUE)
    return [
        *numbers,
        f"{describe(DIAGNOSES, line.mistake.diagnosis)} ({line.mistake.count:,})",
        *map(code, pair),
    ]


def documents_block(run: Reported, most: int) -> Block:
    """Return the worst documents."""
    worst = find_worst(run.evidence, most, 2) if run.evidence is not None else ()
    rows = [
        [
            code(one.document, _NAME),
            code(one.system, _NAME),
            f"{one.wrong:,}",
            code(describe_document(one), 600),
        ]
        for one in worst
    ]
    return (
        Block(
            "### Worst documents",
            ("document", "system", "wrong", "what"),
            rows,
            "",
            ("document", "documents"),
        )
        if rows
        else Block()
    )


def errors_block(run: Reported, most: int) -> Block:
    """Return the wrong values, folded."""
    total = count_wrong(run.evidence) if run.evidence is not None else 0
    if run.evidence is None or not total:
        return Block()
    head = ("document", "system", "value", "gold", "predicted", "why")
    return Block(
        "", head, _error_rows(run, most), f"Wrong values ({total:,})", ("wrong value", "wrong values"), total
    )


def _error_rows(run: Reported, most: int) -> Iterator[list[str]]:
    for system, document, value in list_wrong(run.evidence, most) if run.evidence is not None else ():
        gold, pred = format_pair(value.gold, value.pred, _VALUE)
        why = describe(DIAGNOSES, value.diagnosis) if value.diagnosis else value.outcome
        yield [
            code(document, _NAME),
            code(system, _NAME),
            code(value.path, 100),
            code(gold),
            code(pred),
            prose(why, 100),
        ]


def slices_blocks(summary: Summary) -> Iterator[Block]:
    """Yield the main metric by each slice key."""
    for table in summary.slices:
        rows = []
        for line in table.lines:
            documents = max(
                (estimate.documents for estimate in line.estimates if estimate is not None), default=0
            )
            rows.append([code(line.label, 100), f"{documents:,}", *_values(line)])
        more = f" ({table.hidden} more values)" if table.hidden else ""
        head = (prose(table.key, _NAME), "documents", *(code(system, _NAME) for system in summary.systems))
        title = f"### {prose(table.metric, 100)} by {prose(table.key, _NAME)}{more}"
        yield Block(title, head, rows, numbers=tuple(range(1, len(head))))


def remarks_block(summary: Summary) -> Block:
    """Return the method, warnings and notes, folded."""
    lines = [
        f"- {prose(describe_method(summary))}.",
        *(f"- **warning:** {prose(text)}" for text in summary.warnings),
    ]
    lines += [f"- {prose(text)}" for text in summary.notes]
    return Block("\n".join(lines) + "\n", fold="Method and remarks")


def drop_empty(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the blocks that say something."""
    return (block for block in blocks if block.text or block.head)
