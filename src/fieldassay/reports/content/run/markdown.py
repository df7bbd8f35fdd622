"""A result as Markdown, with the same content as in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from fieldassay.attribution.share import FEWEST
from fieldassay.io.text.shown import format_count, format_markdown, format_pair
from fieldassay.metrics.estimate import NOTHING, format_both, format_value
from fieldassay.regex import lazy_regex
from fieldassay.reports.content.run.answer import describe_answers, repair_row, systems_table
from fieldassay.reports.content.run.checked import describe_first
from fieldassay.reports.content.run.comparisons import comparisons_markdown
from fieldassay.reports.content.run.gates import gates_markdown
from fieldassay.reports.content.run.repeats import repeats_markdown
from fieldassay.reports.content.run.summary import (
    FieldLine,
    SliceTable,
    Summary,
    describe_method,
    measure_name,
)
from fieldassay.reports.findings.ranking import describe_order
from fieldassay.reports.findings.recommendation import describe_counts


def render_markdown(summary: Summary) -> str:
    """Return the report of a result as GitHub-flavored Markdown: the answer first, as in the terminal."""
    systems = format_count(len(summary.systems), "system")
    parts = [f"# {format_markdown(summary.name)}: {format_count(summary.documents, 'document')}, {systems}"]
    parts += _answer(summary)
    method = describe_method(summary)
    parts.append(f"{method[:1].upper()}{method[1:]}.")
    parts += _losses(summary)
    if summary.compared is not None:
        parts += comparisons_markdown(summary.compared)
    parts += repeats_markdown(summary.repeats)
    parts += ["## All metrics", _metrics(summary)]
    for position in range(len(summary.systems)):
        parts += _fields(summary, position)
    parts += _suspicious(summary)
    if summary.diagnoses:
        rows = [
            [name.replace("_", " "), *(f"{count:,}" for count in counts)]
            for name, counts in summary.diagnoses
        ]
        parts += ["## Most frequent kinds of error", _table(["", *summary.systems], rows)]
    parts += _checks(summary)
    for table in summary.slices:
        parts += _slice(summary, table)
    for grid in summary.grids:
        more = [f"And {grid.hidden} more."] if grid.hidden else []
        parts += [f"## {format_markdown(grid.title)}", _table(grid.head, grid.rows), *more]
    parts += gates_markdown(summary.decisions)
    remarks = [f"- **warning:** {format_markdown(text, 600)}" for text in summary.warnings] + [
        f"- {format_markdown(text, 600)}" for text in summary.notes
    ]
    if remarks:
        parts += ["## Remarks", "\n".join(remarks)]
    return "\n\n".join(parts) + "\n"


def _answer(summary: Summary) -> list[str]:
    """Return the verdict, the recommendation with its reasons, and the table of all systems."""
    told = summary.recommendation
    verdict = [f"**{format_markdown(text, 600)}**" for text in [describe_answers(summary.decisions)] if text]
    said = ["" if summary.order is None else describe_order(summary.order), summary.silent]
    order = "; ".join(filter(None, said))
    sentences = [format_markdown(text, 600) for text in (told.answer, *told.further, order) if text]
    heads, rows = systems_table(summary)
    table = _table([head.replace("\n", " ") for head in heads], rows)
    counts = describe_counts(summary.standings)
    return [
        *verdict,
        f"{'. '.join(sentences)}.",
        table,
        *([f"{counts[0].upper()}{counts[1:]}."] if counts else ()),
    ]


def _metrics(summary: Summary) -> str:
    rows = [[line.label, *map(format_both, line.estimates)] for line in summary.headline]
    counted = next((line for line in summary.headline if line.label == "accuracy"), None)
    if counted is not None:
        counts = (f"{estimate.n:,}" if estimate else NOTHING for estimate in counted.estimates)
        rows.insert(1, ["documents behind it (n)", *counts])
    return _table(["", *summary.systems], [*rows, ["failures", *summary.failures]])


def _fields(summary: Summary, position: int) -> list[str]:
    lines, system = summary.fields[position], format_markdown(summary.systems[position])
    if not lines:
        count = summary.flawless[position]
        return [f"## {system}: no field has an error ({format_count(count, 'field')})"] if count else []
    head = ["field", measure_name(lines), "precision", "recall", "n", "most often", "gold → predicted"]
    parts = [f"## Worst fields of {system}", _table(head, [_field_row(line) for line in lines])]
    if summary.hidden_fields[position] or summary.flawless[position]:
        parts.append(
            f"And {summary.hidden_fields[position]} more with errors, {summary.flawless[position]} without "
            "an error."
        )
    return parts


def _losses(summary: Summary) -> list[str]:
    """Return the costliest losses of accuracy of each system."""
    rows = [
        [system, *repair_row(loss, 60)]
        for system, losses in zip(summary.systems, summary.losses, strict=False)
        for loss in losses
    ]
    return (
        [
            "## What to fix first",
            _table(["system", f"points of {summary.lost} lost, at most", "cause", "for example"], rows),
        ]
        if rows
        else []
    )


def _suspicious(summary: Summary) -> list[str]:
    """Return the gold values that all or most systems contradict, and how many documents were looked at."""
    found = summary.suspicious
    if len(summary.systems) < FEWEST or (not found.values and found.looked == found.documents):
        return []
    extent = f"{found.extent[:1].upper()}{found.extent[1:]}."
    if not found.values:
        return ["## Suspicious gold", f"Nothing was found. {extent}"]
    rows = [
        [one.doc, one.path, *format_pair(one.gold, one.agreed, 60), f"{one.systems} of {one.of}"]
        for one in found.values
    ]
    lead = f"Systems agree on another value than gold, so gold may be wrong. A person should look. {extent}"
    more = (
        [f"And {summary.hidden_suspicious} more: `fieldassay report RUN --table suspicious-gold`."]
        if summary.hidden_suspicious
        else []
    )
    return [
        "## Suspicious gold",
        lead,
        _table(["document", "path", "gold", "agreed", "systems"], rows),
        *more,
    ]


def _field_row(line: FieldLine) -> list[str]:
    numbers = [
        format_value(line.accuracy),
        format_value(line.precision),
        format_value(line.recall),
        f"{line.accuracy.n:,}",
    ]
    if line.mistake is None:
        return [line.field, *numbers, "", ""]
    kind = f"{line.mistake.diagnosis.replace('_', ' ')} ({line.mistake.count:,})"
    return [line.field, *numbers, kind, " → ".join(format_pair(line.mistake.gold, line.mistake.pred, 60))]


def _checks(summary: Summary) -> list[str]:
    if not summary.checks:
        return []
    head = ["check", "system", "path", "violations", "of values", "documents", "for example"]
    rows = []
    for count in summary.checks:
        rows.append(
            [
                count.check,
                count.system,
                count.at,
                f"{count.violations:,}",
                f"{count.values:,}",
                f"{count.documents:,}",
                describe_first(count, 120),
            ]
        )
    more = [f"And {summary.hidden_checks} more."] if summary.hidden_checks else []
    return ["## Checks that predictions violate", _table(head, rows), *more]


def _slice(summary: Summary, table: SliceTable) -> list[str]:
    rows = []
    for line in table.lines:
        documents = max(
            (estimate.documents for estimate in line.estimates if estimate is not None), default=0
        )
        rows.append([line.label, f"{documents:,}", *map(format_both, line.estimates)])
    more = [f"And {table.hidden} more."] if table.hidden else []
    return [
        f"## {format_markdown(table.metric)} by {format_markdown(table.key)}",
        _table(["", "documents", *summary.systems], rows),
        *more,
    ]


_NUMBER = lazy_regex(
    r"[−+-]?\$?(?:[\d,]*+\.\d++|[\d,]*+(?<=\d))"
    r"(?:e[+-]?\d+)?…?%?(?: (?:s|points|tokens|few)|/min)?(?: \(.*\))?"
)
"""A number in its unit, with its interval."""


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; columns of numbers are set to the right, and a number is never broken."""
    columns = list(zip(*rows, strict=True)) or [()] * len(head)
    rule = ["---:" if at and _are_numbers(cells) else "---" for at, cells in enumerate(columns)]
    lines = [
        [format_markdown(cell) for cell in head],
        rule,
        *([_unbroken(format_markdown(cell, 200)) for cell in row] for row in rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _are_numbers(cells: Sequence[str]) -> bool:
    known = [cell for cell in cells if cell not in ("", NOTHING)]
    return bool(known) and all(map(_NUMBER.fullmatch, known))


def _unbroken(cell: str) -> str:
    return cell.replace(" ", "\u00a0") if _NUMBER.fullmatch(cell) else cell
