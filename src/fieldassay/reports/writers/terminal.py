"""Reports for a terminal or a pipe."""

from __future__ import annotations

from fieldassay.io.text.shown import visible
from fieldassay.reports.writers.page import Column, Page, Screen
from fieldassay.reports.writers.tables import Part, Table, Told

_GAP, _NAME = 3, 20
_DISPENSABLE = ("effect", "p", "n", "+/−/=")
"""The columns that a narrow screen does without, in this order."""


def lay_out_terminal(told: Told, screen: Screen) -> str:
    """Return the report as text that fits the screen; nothing in it can move the cursor."""
    page = Page(screen)
    page.title(told.title)
    for warning in told.warnings:
        page.line(f"WARNING: {visible(warning)}", "bold")
    if told.systems:
        page.pairs(told.systems)
    for part in told.parts:
        add_part(page, part)
    if told.notes:
        page.line()
    for note in told.notes:
        page.line(f"note: {visible(note)}", "dim")
    return page.text()


def add_part(page: Page, part: Part) -> None:
    """Add a part below an empty line, its remarks dim; columns for which there is no room are left out."""
    page.line()
    page.title(visible(part.title), part.style)
    for line in part.lines:
        page.line(f"{'  ' * (part.level > 2)}{visible(line)}")
    left_out: dict[str, None] = {}
    for at, table in enumerate(part.tables):
        if at or part.lines:
            page.line()
        if len(part.tables) > 1:
            page.line(visible(table.caption), "dim")
        shown = _fit(table, page.width)
        left_out |= dict.fromkeys(head for head in table.heads if head not in shown.heads)
        page.table(
            [
                Column(visible(head), at in shown.aligned, _is_whole(shown, at))
                for at, head in enumerate(shown.heads)
            ],
            [[visible(cell) for cell in row] for row in shown.rows],
        )
    for remark in (*part.remarks, *part.end):
        page.line(visible(remark), "dim")
    if left_out:
        page.line(f"left out, for this width: {', '.join(left_out)}; --format markdown shows them", "dim")


def _fit(table: Table, width: int) -> Table:
    """Return the table without those of its columns, the least needed first, for which there is no room."""
    for head in _DISPENSABLE:
        if sum(_needs(table)) <= width:
            break
        table = _without(table, head)
    return table


def _without(table: Table, head: str) -> Table:
    if head not in table.heads:
        return table
    kept = [at for at, name in enumerate(table.heads) if name != head]
    rows = tuple(tuple(row[at] for at in kept) for row in table.rows)
    return Table(
        table.caption,
        tuple(table.heads[at] for at in kept),
        rows,
        tuple(new for new, at in enumerate(kept) if at in table.aligned),
    )


def _needs(table: Table) -> list[int]:
    """Return the least widths of columns with their gaps: numbers and differences are never broken."""
    natural = [max(len(row[at]) for row in (table.heads, *table.rows)) for at in range(len(table.heads))]
    return [_GAP + (width if _is_whole(table, at) else min(width, _NAME)) for at, width in enumerate(natural)]


def _is_whole(table: Table, at: int) -> bool:
    return at in table.aligned or table.heads[at] in ("difference", "place", "decision", "system")
