"""Parts and tables of a report, and how Markdown and a terminal show them."""

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from fieldassay.io.text.shown import format_count, format_markdown, visible
from fieldassay.metrics.estimate import NOTHING
from fieldassay.reports.writers.page import PageColumn, Screen, ScreenPage

# What every writer takes: the parts of a report as titles, texts and tables, before their layout.

NUMBER = re.compile(
    r"[−+-]?\$?(?:[\d,]*+\.\d++|[\d,]*+(?<=\d))"
    r"(?:e[+-]?\d+)?…?%?(?: (?:s|points|tokens|few)|/min)?(?: \(.*\))?"
)
"""A number in its unit, with its interval."""


class Marked(str):
    """A text that is Markdown as it stands; any other text is escaped."""

    __slots__ = ()


class ReportTable(Struct, frozen=True):
    """A table: a caption, its heads, its rows, and the columns of numbers by position (None: as found)."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: tuple[int, ...] | None = None
    total: int = 0
    """How many rows there are, if `rows` does not have them all."""

    @property
    def aligned(self) -> tuple[int, ...]:
        """Return the positions of the columns that are set to the right: those of numbers."""
        if self.numbers is not None:
            return self.numbers
        columns = enumerate(zip(*self.rows, strict=True))
        filled = [(at, [cell for cell in cells if cell not in ("", NOTHING)]) for at, cells in columns if at]
        return tuple(at for at, cells in filled if cells and all(map(NUMBER.fullmatch, cells)))

    def without(self, *heads: str) -> "ReportTable":
        """Return the table without the columns of these heads.

        >>> ReportTable("", ("a", "n"), (("x", "1"),)).without("a").rows
        (('1',),)
        """
        columns = [at for at, head in enumerate(self.heads) if head not in heads]
        rows = tuple(tuple(row[at] for at in columns) for row in self.rows)
        numbers = tuple(new for new, at in enumerate(columns) if at in self.aligned)
        return ReportTable(self.caption, tuple(self.heads[at] for at in columns), rows, numbers)


class Part(Struct, frozen=True):
    """A part of a report: its title, sentences, tables, and remarks below them.

    `lead` and `end` are paragraphs before and after all else. `level` is that of the heading; a part that
    folds is opened by a click where there is one.
    """

    title: str
    lines: Sequence[str] = ()
    tables: Sequence[ReportTable] = ()
    remarks: Sequence[str] = ()
    lead: Sequence[str] = ()
    end: Sequence[str] = ()
    level: int = 2
    folds: bool = False
    style: str = ""
    """The color of the title on a terminal."""


class TextReport(Struct, frozen=True):
    """A whole report: a title, the warnings, the systems, the parts, and notes."""

    title: str
    warnings: tuple[str, ...]
    systems: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...]


# Reports as Markdown, for files, for releases, and for GitHub within its limits: no value is markup.

_HEAD, _CELL, _TEXT = 100, 200, 2_400
_UNLIMITED = 1 << 40
_RESERVE = 400
"""Room for the sentences on what is left out, and for the end of a part."""


def render_markdown(parts: Iterable[Part]) -> str:
    """Return the parts of a report as GitHub-flavored Markdown."""
    return "".join(write_markdown(parts))


def lay_out_markdown(report: TextReport) -> str:
    """Return a report with its warnings, systems and notes as Markdown."""
    lead = [Marked(f"**Warning:** {_markdown_text(warning)}.") for warning in report.warnings]
    systems = [f"{name}: {text}" for name, text in report.systems]
    notes = [Part("", [f"note: {note}" for note in report.notes])] if report.notes else []
    return render_markdown([Part(report.title, systems, lead=lead, level=1), *report.parts, *notes])


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

    >>> table = ReportTable("", ("a",), (("1",), ("2",)))
    >>> "".join(write_markdown([Part("One"), Part("", (), [table])], 1000))
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
        bullets = "\n".join(f"- {_markdown_text(line)}" for line in part.remarks)
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
    bullets = "\n".join(f"- {_markdown_text(line)}" for line in part.lines)
    return [*([heading] if title else []), *map(_markdown_text, part.lead), *([bullets] if bullets else [])]


def _head(table: ReportTable) -> str:
    """Return the caption and the head of a table; columns of numbers are set to the right."""
    caption = f"{_markdown_text(table.caption[:1].upper() + table.caption[1:])}:\n\n" if table.caption else ""
    rule = ["---:" if at in table.aligned else "---" for at in range(len(table.heads))]
    return (
        f"{caption}{markdown_row([format_markdown(head, _HEAD) for head in table.heads])}{markdown_row(rule)}"
    )


def _rows(table: ReportTable, room: _Room) -> Iterator[str]:
    written = 0
    for row in table.rows:
        line = markdown_row([_unbroken(format_markdown(cell, _CELL)) for cell in row])
        if not room.take(line, _RESERVE):
            break
        written += 1
        yield line
    hidden = max(len(table.rows), table.total) - written
    if hidden:
        more = f"\n**Left out**: {format_count(hidden, 'more row')}.\n"
        room.take(more)
        yield more


def markdown_row(cells: Iterable[str]) -> str:
    """Return a row of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |\n"


def _markdown_text(text: str) -> str:
    return text if isinstance(text, Marked) else format_markdown(text, _TEXT)


def _sentence(text: str) -> str:
    """Return a remark as a sentence; the sign of a p value at its beginning stays small."""
    if isinstance(text, Marked):
        return text
    return f"{_markdown_text(text if text.startswith('p:') else text[:1].upper() + text[1:])}."


def _unbroken(cell: str) -> str:
    """Return a number with its interval on one line."""
    return cell.replace(" ", "\u00a0") if NUMBER.fullmatch(cell) else cell


# Reports for a terminal or a pipe.

_GAP, _NAME = 3, 20
_DISPENSABLE = ("effect", "p", "n", "+/−/=")
"""The columns that a narrow screen does without, in this order."""


def lay_out_terminal(report: TextReport, screen: Screen) -> str:
    """Return the report as text that fits the screen; nothing in it can move the cursor."""
    page = ScreenPage(screen)
    page.title(report.title)
    for warning in report.warnings:
        page.line(f"WARNING: {visible(warning)}", "bold")
    if report.systems:
        page.pairs(report.systems)
    for part in report.parts:
        add_part(page, part)
    if report.notes:
        page.line()
    for note in report.notes:
        page.line(f"note: {visible(note)}", "dim")
    return page.text()


def add_part(page: ScreenPage, part: Part) -> None:
    """Add a part below an empty line, its remarks dim; columns for which there is no room are left out."""
    page.line()
    page.title(visible(part.title), part.style)
    for line in part.lead:
        page.line(visible(line))
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
                PageColumn(visible(head), at in shown.aligned, _is_whole(shown, at))
                for at, head in enumerate(shown.heads)
            ],
            [[visible(cell) for cell in row] for row in shown.rows],
        )
    for remark in (*part.remarks, *part.end):
        page.line(visible(remark), "dim")
    if left_out:
        page.line(f"left out at this width: {', '.join(left_out)}; the Markdown report has them", "dim")


def _fit(table: ReportTable, width: int) -> ReportTable:
    """Return the table without those of its columns, the least needed first, for which there is no room."""
    for head in _DISPENSABLE:
        if sum(_needs(table)) <= width:
            break
        table = table.without(head)
    return table


def _needs(table: ReportTable) -> list[int]:
    """Return the least widths of columns with their gaps: numbers and differences are never broken."""
    natural = [max(len(row[at]) for row in (table.heads, *table.rows)) for at in range(len(table.heads))]
    return [_GAP + (width if _is_whole(table, at) else min(width, _NAME)) for at, width in enumerate(natural)]


def _is_whole(table: ReportTable, at: int) -> bool:
    return at in table.aligned or table.heads[at] in ("difference", "place", "decision", "system")
