"""A result for the terminal."""

import re
from collections.abc import Sequence

from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.estimate import Estimate, format_interval, format_value
from fieldassay.reports.content.run.fields import FEW_FIELDS, MOST_FIELDS
from fieldassay.reports.content.run.parts import (
    REPAIRS,
    add_answer,
    add_repairs,
    add_systems,
    checks_parts,
    count_documents,
    shorten_names,
)
from fieldassay.reports.content.run.sections import SIDE_BY_SIDE, gates_parts, repeats_parts
from fieldassay.reports.content.run.summary import (
    MOST_LOSSES,
    SliceTable,
    Summary,
    SummaryLine,
    SummaryTable,
    describe_method,
)
from fieldassay.reports.findings.recommendation import LONGEST_NAME
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage
from fieldassay.reports.writers.tables import add_part

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
        page.line()
        _head(page, summary)
        _tables(page, summary)
    page.line(describe_method(summary, SIDE_BY_SIDE), "dim")
    first = summary.systems.index(next(iter(summary.recommendation.systems), summary.systems[0]))
    add_repairs(page, summary, (first,), REPAIRS)
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
    page.line()
    _head(page, summary)
    page.line(describe_method(summary, SIDE_BY_SIDE), "dim")
    positions = range(len(summary.systems))
    add_repairs(page, summary, positions, MOST_LOSSES)
    compared = [summary.compared] if summary.compared is not None else []
    for part in (*compared, *repeats_parts(summary.repeats)):
        add_part(page, part)
    for part in checks_parts(summary):
        add_part(page, part)
    _tables(page, summary)
    for part in gates_parts(summary.decisions):
        add_part(page, part)
    _remarks(page, summary.warnings, summary.notes)
    return page.text()


def _tables(page: ScreenPage, summary: Summary) -> None:
    for table in summary.slices:
        _slice(page, summary, table)
    for grid in summary.grids:
        _grid(page, grid)


def _hint(page: ScreenPage, summary: Summary) -> None:
    """Add a line on the parts of the whole report that the answer leaves out."""
    gates = max((len(one.outcomes) for one in summary.decisions), default=0)
    violations = sum(one.violations for one in summary.checks)
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


def _head(page: ScreenPage, summary: Summary) -> None:
    names = _names(summary)
    room = (page.width - 24) // len(names) - 2
    rows = [[line.label, *_cells(line, room)] for line in summary.headline]
    rows.append(["failures", *summary.failures])
    page.table([PageColumn(""), *(PageColumn(name) for name in names)], rows)


def _names(summary: Summary) -> list[str]:
    """Return the systems' names, shortened if they stay apart."""
    short = [clip(system, _NAME) for system in summary.systems]
    return short if len(set(short)) == len(short) else [clip(system, 200) for system in summary.systems]


def _cells(line: SummaryLine, room: int) -> list[str]:
    return [_cell(line, estimate, room) for estimate in line.estimates]


def _cell(line: SummaryLine, estimate: Estimate | None, room: int) -> str:
    """Return value and interval, on two lines where they do not fit on one."""
    value, interval = format_value(estimate), format_interval(estimate)
    interval = f"({interval})" if interval else ""
    if line.label == "accuracy" and estimate is not None:
        interval = f"{interval} n={estimate.n:,}".lstrip()
    gap = " " if len(value) + len(interval) < room else "\n"
    return f"{value}{gap}{interval}".rstrip()


def _slice(page: ScreenPage, summary: Summary, table: SliceTable) -> None:
    page.line()
    page.title(f"{clip(table.metric, 60)} by {clip(table.key)}")
    names = _names(summary)
    columns = [PageColumn(""), PageColumn("documents", is_number=True), *(PageColumn(name) for name in names)]
    room = (page.width - 34) // len(names) - 2
    rows = [[clip(line.label, 30), count_documents(line), *_cells(line, room)] for line in table.lines]
    page.table(columns, rows)
    if table.hidden:
        page.line(f"and {table.hidden} more", "dim")


def _grid(page: ScreenPage, grid: SummaryTable) -> None:
    page.line()
    page.title(clip(grid.title, 60))
    named = [[clip(row[0], LONGEST_NAME), *row[1:]] for row in grid.rows]
    whole = sum(3 + max(map(len, column)) for column in zip(grid.head, *named, strict=True))
    heads = [name if whole <= page.width else name.replace(" ", "\n") for name in grid.head[1:]]
    columns = [PageColumn(grid.head[0], is_name=True), *(PageColumn(name, is_number=True) for name in heads)]
    page.table(columns, shorten_names(page, columns, grid.rows, 0))
    if grid.hidden:
        page.line(f"and {grid.hidden} more", "dim")


def _remarks(page: ScreenPage, warnings: Sequence[str], notes: Sequence[str]) -> None:
    if warnings or notes:
        page.line()
    for warning in warnings:
        page.line(f"warning: {clip(warning, 600)}", "yellow")
    for note in notes:
        page.line(f"note: {clip(note, 600)}")
