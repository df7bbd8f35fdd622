"""A result for the terminal."""

import re
from collections.abc import Iterable, Sequence

from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.reports.content.run.fields import FEW_FIELDS, MOST_FIELDS
from fieldassay.reports.content.run.parts import (
    REPAIRS,
    add_answer,
    add_systems,
    detail_parts,
    numbers_parts,
    repairs_parts,
)
from fieldassay.reports.content.run.sections import SIDE_BY_SIDE, gates_parts
from fieldassay.reports.content.run.summary import (
    Summary,
    describe_method,
)
from fieldassay.reports.writers.page import Screen, ScreenPage
from fieldassay.reports.writers.tables import Part, add_part

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
