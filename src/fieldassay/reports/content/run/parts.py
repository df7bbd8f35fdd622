"""The parts of a run's report, and the result for the terminal."""

import re
from collections.abc import Iterable, Iterator, Sequence

from fieldassay.attribution.share import FEWEST
from fieldassay.decisions.losses import Loss
from fieldassay.io.text.shown import (
    clip,
    clip_apart,
    format_count,
    format_markdown,
    format_pair,
    join_names,
    visible,
)
from fieldassay.metrics.estimate import NOTHING, format_both, format_cost, format_size, format_value
from fieldassay.metrics.result.verdicts import Decision, GateAnswer
from fieldassay.reports.content.run.sections import (
    FEW_FIELDS,
    MOST_FIELDS,
    SIDE_BY_SIDE,
    STYLES,
    FieldsBySystem,
    describe_first_violation,
    describe_rest,
    fields_table,
    gates_parts,
    repeats_parts,
)
from fieldassay.reports.content.run.summary import (
    SliceTable,
    Summary,
    SummaryLine,
    describe_method,
)
from fieldassay.reports.findings.recommendation import (
    LONGEST_NAME,
    Standing,
    describe_counts,
    describe_loss_shortly,
)
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import Marked, Part, ReportTable, add_part

# The answer of a run for the terminal: the verdict, all systems, and the first repairs of the best one.

REPAIRS = 3
"""The most losses of the best system."""

_NARROW, _MOST = 16, 5
"""The most characters of a name in a narrow table, and the most names of an answer."""
_CHANGED = {"better": "green", "worse": "red"}
_ORDER = (GateAnswer.GO, GateAnswer.INCONCLUSIVE, GateAnswer.NO_GO)


def add_answer(page: ScreenPage, summary: Summary, most: int) -> None:
    """Add the verdict, the recommendation with its reasons, at most so many fields, and all systems."""
    add_verdict(page, summary)
    recommendation = summary.recommendation
    page.line(". ".join([recommendation.answer, *recommendation.reasons]))
    if recommendation.comparison:
        page.line(recommendation.comparison)
    if summary.silent:
        page.line(summary.silent)
    page.line()
    systems = format_count(len(summary.systems), "system")
    page.title(f"{visible(summary.name)}: {summary.counted}, {systems}")
    page.line()
    add_fields(page, summary.fields, most)
    add_systems(page, summary)


def add_verdict(page: ScreenPage, summary: Summary) -> None:
    """Add the systems of each answer on a line, in its color; nothing without gates."""
    parts = [(text, STYLES[answer]) for answer, text in _list_answers(summary.decisions)]
    if parts:
        page.spans([span for part in parts for span in ((" · ", ""), part)][1:])


def describe_answers(decisions: Sequence[Decision]) -> str:
    """Return the systems of each answer, such as `GO atlas · NO-GO birch, cedar`; empty without gates."""
    return " · ".join(text for _, text in _list_answers(decisions))


def _list_answers(decisions: Sequence[Decision]) -> list[tuple[GateAnswer, str]]:
    names = {
        answer: [clip(decision.system, LONGEST_NAME) for decision in decisions if decision.answer is answer]
        for answer in _ORDER
    }
    return [(answer, f"{answer} {_list_names(named)}") for answer, named in names.items() if named]


def _list_names(names: Sequence[str]) -> str:
    """Return names, and from some length on how many more there are."""
    shown = names if len(names) <= _MOST else names[: _MOST - 2]
    more = [f"{len(names) - len(shown)} more"] if len(shown) < len(names) else []
    return ", ".join([*shown, *more])


def add_fields(page: ScreenPage, table: FieldsBySystem, most: int) -> None:
    """Add the table of fields by system; a shown loss is red, a shown gain green."""
    if not table.rows:
        return
    laid_out = fields_table(table, most, page.width)
    verdicts = [{change.verdict for change in row.shown} for row in table.rows[:most]]
    styles = [_CHANGED.get(next(iter(own)), "") if len(own) == 1 else "" for own in verdicts]
    last = len(laid_out.heads) - 1
    columns = [PageColumn(head, is_name=at < last) for at, head in enumerate(laid_out.heads)]
    page.table(columns, laid_out.rows, styles)
    for line in describe_rest(table, most):
        page.line(line, "dim")
    page.line()


def add_systems(page: ScreenPage, summary: Summary) -> None:
    """Add a row for each system, the best first, or a line on one; columns without any value are left out."""
    heads, rows = systems_table(summary)
    if len(rows) == 1:
        page.line(describe_system(heads, rows[0]))
    else:
        numbers = [PageColumn(head, is_number=True) for head in heads[3:]]
        columns = [PageColumn(heads[0]), PageColumn(heads[1], is_name=True), PageColumn(heads[2]), *numbers]
        page.table(columns, shorten_names(page, columns, rows, 1))
    if counts := describe_counts(summary.standings):
        page.line(counts)


def describe_system(heads: Sequence[str], row: Sequence[str]) -> str:
    """Return the row of a single system as a line."""
    cells = zip(heads[2:], row[2:], strict=True)
    return " · ".join(f"{head}: {cell}".replace("\n", " ") for head, cell in cells)


def shorten_names(
    page: ScreenPage, columns: Sequence[PageColumn], rows: Sequence[Sequence[str]], place: int
) -> list[list[str]]:
    """Return rows whose names are cut so that a table fits the page, and no two are alike."""
    for width in (LONGEST_NAME, 24, _NARROW):
        names = clip_apart([row[place] for row in rows], width)
        short = [[*row[:place], name, *row[place + 1 :]] for row, name in zip(rows, names, strict=True)]
        if page.has_room(columns, short):
            break
    return short


def systems_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Return the heads and rows of the table of all systems."""
    counts = {standing.main.n for standing in summary.standings if standing.main is not None}
    name = summary.main
    cells = {
        "place": [standing.place for standing in summary.standings],
        "system": list(summary.systems),
        f"{name},\nn = {next(iter(counts)):,}" if len(counts) == 1 else name: [
            _main(standing, has_n=len(counts) > 1) for standing in summary.standings
        ],
        "critical\naccuracy": [format_value(standing.critical) for standing in summary.standings],
        "cost of\n1,000": [
            NOTHING
            if standing.cost is None or standing.cost.value is None
            else format_cost(standing.cost.value)
            for standing in summary.standings
        ],
        "median\ntime": [format_value(standing.median) for standing in summary.standings],
        "failed\nanswers": [f"{count:,}" for count in summary.failed],
    }
    heads = [head for head, column in cells.items() if any(cell != NOTHING for cell in column)]
    return heads, [list(row) for row in zip(*(cells[head] for head in heads), strict=True)]


def _main(standing: Standing, *, has_n: bool) -> str:
    count = f" n = {standing.main.n:,}" if has_n and standing.main is not None else ""
    return f"{format_both(standing.main)}{count}"


# The parts of a run's report, the answer first: what Markdown, step summaries and comments lay out.


def report_parts(summary: Summary) -> Iterator[Part]:
    """Yield the whole report of a run."""
    systems = format_count(len(summary.systems), "system")
    title = f"{clip(summary.name, 100)}: {summary.counted}, {systems}"
    verdict = format_markdown(describe_answers(summary.decisions), 600)
    yield Part(title, lead=[Marked(f"**{verdict}**")] if verdict else [], level=1)
    yield answer_part(summary)
    yield from detail_parts(summary)
    yield from gates_parts(summary.decisions)
    yield from remarks_part(summary.warnings, summary.notes)


def answer_part(summary: Summary) -> Part:
    """Return the recommendation with its reasons, the table of all systems, and the method."""
    recommendation = summary.recommendation
    order = "; ".join(filter(None, [recommendation.comparison, summary.silent]))
    sentences = [
        format_markdown(text, 600) for text in (recommendation.answer, *recommendation.reasons, order) if text
    ]
    heads, rows = systems_table(summary)
    fields = fields_table(summary.fields)
    counts, method = describe_counts(summary.standings), describe_method(summary)
    end = [text for text in (*describe_rest(summary.fields), counts, method) if text]
    systems = ReportTable("", [head.replace("\n", " ") for head in heads], rows)
    tables = [*([fields] if fields.rows else []), systems]
    return Part("", tables=tables, lead=[Marked(f"{'. '.join(sentences)}.")], end=end)


def detail_parts(summary: Summary) -> Iterator[Part]:
    """Yield all parts between the answer and the gates."""
    yield from repairs_parts(summary, summary.systems)
    if summary.compared is not None:
        yield summary.compared
    yield from repeats_parts(summary.repeats)
    yield from _suspicious(summary)
    yield from _checks(summary)
    yield from numbers_parts(summary)


def repairs_parts(summary: Summary, systems: Sequence[str], most: int | None = None) -> Iterator[Part]:
    """Yield the costliest losses of accuracy of some systems, at most so many of each, with an example."""
    rows = [
        [system, *_repair_row(loss)]
        for system, losses in zip(summary.systems, summary.losses, strict=False)
        for loss in losses[:most]
        if system in systems
    ]
    if not rows:
        return
    table = ReportTable("", ["system", "points", "cause", "for example"], rows, (1,))
    where = f" in {clip(systems[0], LONGEST_NAME)}" if len(systems) < len(summary.systems) else ""
    title = f"What to fix first{where} (points of {summary.lost} you'd gain)"
    yield Part(title, tables=[table.without("system") if len(systems) == 1 else table])


def _repair_row(loss: Loss) -> list[str]:
    """Return points, cause, and an example of a loss; of whole answers and items its document alone."""
    example = clip(loss.doc, 24)
    if not loss.count:
        gold, pred = format_pair(loss.gold, loss.pred, 60)
        example += f": {gold} → {pred}"
    return [format_size(loss.points).removesuffix(" points"), describe_loss_shortly(loss), example]


def numbers_parts(summary: Summary) -> Iterator[Part]:
    """Yield the tables of metrics: over all documents, by slice, and those asked for."""
    yield _metrics(summary)
    for table in summary.slices:
        yield _slice(summary, table)
    for grid in summary.grids:
        yield Part(grid.title, tables=[ReportTable("", grid.head, grid.rows)], end=_more(grid.hidden))


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
        rows.insert(1, ["documents (n)", *counts])
    rows.append(["failures", *summary.failures])
    return Part("All metrics", tables=[ReportTable("", ["", *summary.systems], rows)])


def _suspicious(summary: Summary) -> Iterator[Part]:
    """Yield the gold values that all or most systems contradict, and how many documents were looked at."""
    suspicious, title = summary.suspicious, "Suspicious gold"
    if len(summary.systems) < FEWEST or (not suspicious.values and suspicious.looked == suspicious.documents):
        return
    extent = f"{suspicious.extent[:1].upper()}{suspicious.extent[1:]}."
    if not suspicious.values:
        yield Part(title, lead=[f"Nothing suspicious. {extent}"])
        return
    rows = [
        [
            suspicion.doc,
            suspicion.path,
            *format_pair(suspicion.gold, suspicion.agreed, 60),
            f"{suspicion.systems} of {suspicion.of}",
        ]
        for suspicion in suspicious.values
    ]
    lead = f"Systems agree with each other, against gold. Have a person check these values. {extent}"
    hidden = summary.hidden_suspicious
    more = [Marked(f"And {hidden} more: `fieldassay report RUN --table suspicious-gold`.")] if hidden else []
    table = ReportTable("", ["document", "path", "gold", "agreed", "systems"], rows)
    yield Part(title, lead=[lead], tables=[table], end=more)


def _checks(summary: Summary) -> Iterator[Part]:
    """Yield the checks that predictions violate, with an example of each."""
    head = ["check", "system", "path", "violations", "of values", "documents", "for example"]
    rows = [
        [
            *(count.check, count.system, count.at),
            *(f"{number:,}" for number in (count.violations, count.values, count.documents)),
            describe_first_violation(count, 120),
        ]
        for count in summary.checks
    ]
    if rows:
        end = _more(summary.hidden_checks)
        yield Part("Checks that predictions violate", tables=[ReportTable("", head, rows)], end=end)


def _slice(summary: Summary, table: SliceTable) -> Part:
    rows = [[line.label, count_documents(line), *map(format_both, line.estimates)] for line in table.lines]
    title = f"{clip(table.metric, 100)} by {clip(table.key, 100)}"
    heads = ["", "documents", *summary.systems]
    return Part(title, tables=[ReportTable("", heads, rows)], end=_more(table.hidden))


def count_documents(line: SummaryLine) -> str:
    """Return the documents behind a line, of all systems together."""
    return f"{max((estimate.documents for estimate in line.estimates if estimate is not None), default=0):,}"


_NAME = 32


_PART = re.compile(r"^(?:\S+: )?[\d,]+ of [\d,]+ documents: ")
"""A note that only a part of the documents was scored, which no answer leaves out."""


def render_answer(summary: Summary, screen: Screen, *, has_numbers: bool = False) -> str:
    """Return the answer of a run, within the screen's width: verdict, systems, and what to fix first.

    With `has_numbers` the tables of metrics and slices are there too, for somebody who asked for them.
    """
    page = ScreenPage(screen)
    add_answer(page, summary, FEW_FIELDS)
    if has_numbers:
        _parts(page, numbers_parts(summary))
        page.line()
    page.line(describe_method(summary, SIDE_BY_SIDE), "dim")
    first = next(iter(summary.recommendation.systems), summary.systems[0])
    _parts(page, repairs_parts(summary, (first,), REPAIRS))
    _remarks(page, summary.warnings, [note for note in summary.notes if _PART.search(note)])
    _hint(page, summary)
    return page.text()


def render_systems(summary: Summary, screen: Screen) -> str:
    """Return the table of all systems alone."""
    page = ScreenPage(screen)
    add_systems(page, summary)
    return page.text()


def render_terminal(summary: Summary, screen: Screen) -> str:
    """Return the whole report of a result as text within the screen's width: the answer, then all of it."""
    page = ScreenPage(screen)
    add_answer(page, summary, MOST_FIELDS)
    page.line(describe_method(summary, SIDE_BY_SIDE), "dim")
    _parts(page, detail_parts(summary))
    _parts(page, gates_parts(summary.decisions))
    _remarks(page, summary.warnings, summary.notes)
    return page.text()


def _parts(page: ScreenPage, parts: Iterable[Part]) -> None:
    for part in parts:
        add_part(page, part)


def _hint(page: ScreenPage, summary: Summary) -> None:
    """Add a line on the parts of the whole report that the answer leaves out."""
    gates = max((len(decision.outcomes) for decision in summary.decisions), default=0)
    violations = sum(count.violations for count in summary.checks)
    parts = [
        "all metrics",
        "all fields",
        *(["comparisons"] if summary.compared is not None else []),
        *([format_count(gates, "gate")] if gates else []),
        *([format_count(violations, "violation") + " of checks"] if violations else []),
        *(["repeated runs"] if summary.repeats else []),
        *([format_count(len(summary.notes), "note")] if summary.notes else []),
    ]
    page.line(f"--verbose shows {join_names(parts, len(parts))}", "dim")


def _remarks(page: ScreenPage, warnings: Sequence[str], notes: Sequence[str]) -> None:
    if warnings or notes:
        page.line()
    for warning in warnings:
        page.line(f"warning: {clip(warning, 600)}", "yellow")
    for note in notes:
        page.line(f"note: {clip(note, 600)}")
