"""Reports as Markdown, for files, for releases, and for GitHub within its limits: no value is markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from fieldassay.io.text.shown import format_count, format_markdown
from fieldassay.reports.writers.tables import NUMBER, Marked, Part, Table, Told

_HEAD, _CELL, _TEXT = 100, 200, 2_400
_UNLIMITED = 1 << 40
_RESERVE = 400
"""Room for the sentences on what is left out, and for the end of a part."""


def render_markdown(parts: Iterable[Part]) -> str:
    """Return the parts of a report as GitHub-flavored Markdown."""
    return "".join(write_markdown(parts))


def lay_out_markdown(told: Told) -> str:
    """Return a report with its warnings, systems and notes as Markdown."""
    lead = [Marked(f"**Warning:** {_text(warning)}.") for warning in told.warnings]
    systems = [f"{name}: {text}" for name, text in told.systems]
    notes = [Part("", [f"note: {note}" for note in told.notes])] if told.notes else []
    return render_markdown([Part(told.title, systems, lead=lead, level=1), *told.parts, *notes])


class _Room(Struct):
    """The rest of a limit, in bytes of UTF-8."""

    left: int

    def take(self, text: str, reserve: int = 0) -> bool:
        size = len(text.encode("utf-8"))
        if size + reserve > self.left:
            return False
        self.left -= size
        return True


def write_markdown(parts: Iterable[Part], limit: int = _UNLIMITED) -> Iterator[str]:
    """Yield the Markdown of parts, fewer than `limit` bytes of UTF-8 together.

    It is cut between two parts, tables or rows, with a sentence on what is left out.

    >>> "".join(write_markdown([Part("One"), Part("", (), [Table("", ("a",), (("1",), ("2",)))])], 1000))
    '## One\\n\\n| a |\\n| --- |\\n| 1 |\\n| 2 |\\n'
    """
    room, omitted, gap = _Room(limit - _RESERVE), 0, ""
    for part in parts:
        opened = "\n".join(f"{text}\n" for text in _open(part))
        opened = f"{gap}{opened}" if opened else ""
        if omitted or not room.take(opened, _RESERVE):
            omitted += 1
            continue
        yield opened
        gap = "\n" if opened else gap
        for table in part.tables:
            head = f"{gap}{_head(table)}"
            if not room.take(head, _RESERVE):
                omitted += 1
                continue
            yield head
            gap = "\n"
            yield from _rows(table, room)
        bullets = "\n".join(f"- {_text(line)}" for line in part.remarks)
        for text in [*([bullets] if bullets else []), *map(_sentence, part.end)]:
            if room.take(f"\n{text}\n", _RESERVE):
                yield f"\n{text}\n"
        if part.folds:
            room.take("\n</details>\n")
            yield "\n</details>\n"
    if omitted:
        yield f"\n**Cut short**: {format_count(omitted, 'more part')} of the report would not fit here.\n"


def _open(part: Part) -> list[str]:
    """Return the paragraphs of a part before its tables."""
    title = format_markdown(part.title, _TEXT)
    heading = f"<details><summary>{title}</summary>" if part.folds else f"{'#' * part.level} {title}"
    bullets = "\n".join(f"- {_text(line)}" for line in part.lines)
    return [*([heading] if title else []), *map(_text, part.lead), *([bullets] if bullets else [])]


def _head(table: Table) -> str:
    """Return the caption and the head of a table; columns of numbers are set to the right."""
    caption = f"{_text(table.caption[:1].upper() + table.caption[1:])}:\n\n" if table.caption else ""
    rule = ["---:" if at in table.aligned else "---" for at in range(len(table.heads))]
    return f"{caption}{_line([format_markdown(head, _HEAD) for head in table.heads])}{_line(rule)}"


def _rows(table: Table, room: _Room) -> Iterator[str]:
    written = 0
    for row in table.rows:
        line = _line([_unbroken(format_markdown(cell, _CELL)) for cell in row])
        if not room.take(line, _RESERVE):
            break
        written += 1
        yield line
    hidden = max(len(table.rows), table.total) - written
    if hidden:
        more = f"\n**Left out**: {format_count(hidden, 'more row')}.\n"
        room.take(more)
        yield more


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _text(text: str) -> str:
    return text if isinstance(text, Marked) else format_markdown(text, _TEXT)


def _sentence(text: str) -> str:
    """Return a remark as a sentence; the sign of a p value at its beginning stays small."""
    if isinstance(text, Marked):
        return text
    return f"{_text(text if text.startswith('p:') else text[:1].upper() + text[1:])}."


def _unbroken(cell: str) -> str:
    """Return a number with its interval on one line."""
    return cell.replace(" ", "\u00a0") if NUMBER.fullmatch(cell) else cell
