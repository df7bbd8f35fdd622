"""The parts of a run's report, the answer first: what Markdown, step summaries and comments lay out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fieldassay.attribution.share import FEWEST
from fieldassay.io.text.shown import clip, format_count, format_markdown, format_pair
from fieldassay.metrics.estimate import NOTHING, format_both, format_value
from fieldassay.reports.content.run.answer import describe_answers, repair_row, systems_table
from fieldassay.reports.content.run.checked import describe_first
from fieldassay.reports.content.run.comparisons import comparisons_part
from fieldassay.reports.content.run.gates import gates_parts
from fieldassay.reports.content.run.repeats import repeats_parts
from fieldassay.reports.content.run.summary import (
    SIDE_BY_SIDE,
    FieldLine,
    Line,
    SliceTable,
    Summary,
    describe_method,
    measure_name,
)
from fieldassay.reports.findings.ranking import describe_order
from fieldassay.reports.findings.recommendation import describe_counts
from fieldassay.reports.writers.tables import Marked, Part, Table


def report_parts(summary: Summary) -> Iterator[Part]:
    """Yield the whole report of a run."""
    systems = format_count(len(summary.systems), "system")
    title = f"{clip(summary.name, 100)}: {format_count(summary.documents, 'document')}, {systems}"
    verdict = format_markdown(describe_answers(summary.decisions), 600)
    yield Part(title, lead=[Marked(f"**{verdict}**")] if verdict else [], level=1)
    yield answer_part(summary)
    yield from detail_parts(summary)
    yield from gates_parts(summary.decisions)
    yield from remarks_part(summary.warnings, summary.notes)


def answer_part(summary: Summary) -> Part:
    """Return the recommendation with its reasons, the table of all systems, and the method."""
    told = summary.recommendation
    said = ["" if summary.order is None else describe_order(summary.order), summary.silent]
    order = "; ".join(filter(None, said))
    sentences = [format_markdown(text, 600) for text in (told.answer, *told.further, order) if text]
    heads, rows = systems_table(summary)
    counts, method = describe_counts(summary.standings), describe_method(summary)
    end = [text for text in (counts, method) if text]
    table = Table("", [head.replace("\n", " ") for head in heads], rows)
    return Part("", tables=[table], lead=[Marked(f"{'. '.join(sentences)}.")], end=end)


def detail_parts(summary: Summary) -> Iterator[Part]:
    """Yield all parts between the answer and the gates."""
    losses = [
        [system, *repair_row(loss, 60)]
        for system, own in zip(summary.systems, summary.losses, strict=False)
        for loss in own
    ]
    if losses:
        heads = ["system", f"points of {summary.lost} lost, at most", "cause", "for example"]
        yield Part("What to fix first", tables=[Table("", heads, losses)])
    if summary.compared is not None:
        yield comparisons_part(summary.compared)
    yield from repeats_parts(summary.repeats)
    yield _metrics(summary)
    for position in range(len(summary.systems)):
        yield from _fields(summary, position)
    yield from _suspicious(summary)
    yield from diagnoses_parts(summary)
    yield from checks_parts(summary)
    for table in summary.slices:
        yield _slice(summary, table)
    for grid in summary.grids:
        yield Part(grid.title, tables=[Table("", grid.head, grid.rows)], end=_more(grid.hidden))


def remarks_part(warnings: Sequence[str], notes: Sequence[str]) -> Iterator[Part]:
    """Yield the warnings and notes, if there are any."""
    lines = [Marked(f"**warning:** {format_markdown(text, 600)}") for text in warnings]
    if warnings or notes:
        yield Part("Remarks", [*lines, *notes])


def _more(hidden: int) -> list[str]:
    return [f"and {hidden} more"] if hidden else []


def _metrics(summary: Summary) -> Part:
    rows = [[line.label, *map(format_both, line.estimates)] for line in summary.headline]
    counted = next((line for line in summary.headline if line.label == "accuracy"), None)
    if counted is not None:
        counts = (f"{estimate.n:,}" if estimate else NOTHING for estimate in counted.estimates)
        rows.insert(1, ["documents behind it (n)", *counts])
    rows.append(["failures", *summary.failures])
    return Part("All metrics", tables=[Table("", ["", *summary.systems], rows)])


def _fields(summary: Summary, position: int) -> Iterator[Part]:
    lines, system = summary.fields[position], clip(summary.systems[position], 100)
    count, hidden = summary.flawless[position], summary.hidden_fields[position]
    if not lines:
        if count:
            yield Part(f"{system}: no field has an error ({format_count(count, 'field')})")
        return
    head = ["field", measure_name(lines), "precision", "recall", "n", "most often", "gold → predicted"]
    more = [f"and {hidden} more with errors, {count} without an error"] if hidden or count else []
    yield Part(f"Worst fields of {system}", tables=[Table("", head, list(map(_field_row, lines)))], end=more)


def _field_row(line: FieldLine) -> list[str]:
    values = map(format_value, (line.accuracy, line.precision, line.recall))
    numbers = [line.field, *values, f"{line.accuracy.n:,}"]
    if line.mistake is None:
        return [*numbers, "", ""]
    kind = f"{line.mistake.diagnosis.replace('_', ' ')} ({line.mistake.count:,})"
    return [*numbers, kind, " → ".join(format_pair(line.mistake.gold, line.mistake.pred, 60))]


def _suspicious(summary: Summary) -> Iterator[Part]:
    """Yield the gold values that all or most systems contradict, and how many documents were looked at."""
    found, title = summary.suspicious, "Suspicious gold"
    if len(summary.systems) < FEWEST or (not found.values and found.looked == found.documents):
        return
    extent = f"{found.extent[:1].upper()}{found.extent[1:]}."
    if not found.values:
        yield Part(title, lead=[f"Nothing was found. {extent}"])
        return
    rows = [
        [one.doc, one.path, *format_pair(one.gold, one.agreed, 60), f"{one.systems} of {one.of}"]
        for one in found.values
    ]
    lead = f"Systems agree on another value than gold, so gold may be wrong. A person should look. {extent}"
    hidden = summary.hidden_suspicious
    more = [Marked(f"And {hidden} more: `fieldassay report RUN --table suspicious-gold`.")] if hidden else []
    table = Table("", ["document", "path", "gold", "agreed", "systems"], rows)
    yield Part(title, lead=[lead], tables=[table], end=more)


def diagnoses_parts(summary: Summary) -> Iterator[Part]:
    """Yield the most frequent kinds of error: by system, or of many systems together."""
    is_short = len(summary.systems) <= SIDE_BY_SIDE
    rows = [
        [name.replace("_", " "), *(f"{count:,}" for count in (counts if is_short else [sum(counts)]))]
        for name, counts in summary.diagnoses
    ]
    if rows:
        heads = ["", *(summary.systems if is_short else ["all systems"])]
        yield Part("Most frequent kinds of error", tables=[Table("", heads, rows)])


def checks_parts(summary: Summary) -> Iterator[Part]:
    """Yield the checks that predictions violate, with an example of each."""
    head = ["check", "system", "path", "violations", "of values", "documents", "for example"]
    rows = [
        [
            *(count.check, count.system, count.at),
            *(f"{number:,}" for number in (count.violations, count.values, count.documents)),
            describe_first(count, 120),
        ]
        for count in summary.checks
    ]
    if rows:
        end = _more(summary.hidden_checks)
        yield Part("Checks that predictions violate", tables=[Table("", head, rows)], end=end)


def _slice(summary: Summary, table: SliceTable) -> Part:
    rows = [[line.label, count_documents(line), *map(format_both, line.estimates)] for line in table.lines]
    title = f"{clip(table.metric, 100)} by {clip(table.key, 100)}"
    heads = ["", "documents", *summary.systems]
    return Part(title, tables=[Table("", heads, rows)], end=_more(table.hidden))


def count_documents(line: Line) -> str:
    """Return the documents behind a line, of all systems together."""
    return f"{max((one.documents for one in line.estimates if one is not None), default=0):,}"
