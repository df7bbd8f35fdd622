"""A diff as Markdown, for a comment or a file."""

from __future__ import annotations

from fieldassay.io.text.shown import escape_markdown
from fieldassay.reports.writers.tables import Part, Table, Told


def render_diff_markdown(told: Told) -> str:
    """Return the report as Markdown; no value in it can be taken for markup."""
    parts = [f"# {escape_markdown(told.title)}"]
    parts += [f"**Warning:** {escape_markdown(warning)}." for warning in told.warnings]
    if told.systems:
        parts.append(
            "\n".join(f"- {escape_markdown(name)}: {escape_markdown(text)}" for name, text in told.systems)
        )
    for part in told.parts:
        parts += _paragraphs(part)
    if told.notes:
        parts.append("\n".join(f"- note: {escape_markdown(note)}" for note in told.notes))
    return "\n\n".join(parts) + "\n"


def _paragraphs(part: Part) -> list[str]:
    found = [f"## {escape_markdown(part.title)}"]
    if part.lines:
        found.append("\n".join(f"- {escape_markdown(line)}" for line in part.lines))
    for table in part.tables:
        found += [f"{escape_markdown(table.caption[:1].upper() + table.caption[1:])}:", _table(table)]
    if part.remarks:
        found.append("\n".join(f"- {escape_markdown(line)}" for line in part.remarks))
    return found


def _table(table: Table) -> str:
    rule = ["---:" if at in table.numbers else "---" for at in range(len(table.heads))]
    rows = [[escape_markdown(cell) for cell in row] for row in (table.heads, *table.rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], rule, *rows[1:]))
