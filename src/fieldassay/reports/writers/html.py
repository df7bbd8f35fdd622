"""A diff as one self-contained HTML section: no scripts, nothing loaded, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fieldassay.io.text.shown import visible
from fieldassay.reports.writers.tables import Part, Table, Told


def lay_out_html(told: Told) -> str:
    """Return the report as a `<section>` in ASCII, to be put into any page, or opened as it is."""
    parts = ['<section class="fieldassay-diff">', _element("h2", told.title)]
    parts += [f'<p role="alert"><strong>Warning:</strong> {_text(warning)}.</p>' for warning in told.warnings]
    if told.systems:
        listed = "".join(f"{_element('dt', name)}{_element('dd', text)}" for name, text in told.systems)
        parts.append(f"<dl>{listed}</dl>")
    for part in told.parts:
        parts += _section(part)
    parts += _list(told.notes)
    return "\n".join((*parts, "</section>")) + "\n"


def _section(part: Part) -> list[str]:
    found = [_element("h3", part.title)]
    found += [_element("p", line) for line in part.lines]
    found += [_table(table) for table in part.tables]
    return [*found, *_list(part.remarks)]


def _table(table: Table) -> str:
    heads = "".join(
        f'<th scope="col"{_align(table, at)}>{_text(head)}</th>' for at, head in enumerate(table.heads)
    )
    rows = "\n".join(f"<tr>{_cells(table, row)}</tr>" for row in table.rows)
    caption = _element("caption", table.caption[:1].upper() + table.caption[1:])
    return f"<table>\n{caption}\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"


def _cells(table: Table, row: Sequence[str]) -> str:
    first, *others = row
    rest = "".join(f"<td{_align(table, at)}>{_isolated(cell)}</td>" for at, cell in enumerate(others, 1))
    return f'<th scope="row">{_isolated(first)}</th>{rest}'


def _align(table: Table, at: int) -> str:
    return ' style="text-align:right"' if at in table.aligned else ""


def _isolated(text: str) -> str:
    """Return a cell's text isolated, so that right-to-left text does not affect its surroundings."""
    return f"<bdi>{_text(text)}</bdi>"


def _list(lines: Sequence[str]) -> list[str]:
    return ["<ul>" + "".join(_element("li", line) for line in lines) + "</ul>"] if lines else []


def _element(name: str, text: str) -> str:
    return f"<{name}>{_text(text)}</{name}>"


def _text(text: str) -> str:
    """Return a text without markup and in ASCII, so that no encoding can be mistaken."""
    return escape(visible(text)).encode("ascii", "xmlcharrefreplace").decode()
