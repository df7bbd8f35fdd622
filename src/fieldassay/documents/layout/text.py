"""The text of a page as it is sent to a model and searched for quotes, with the place of every character."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator

from msgspec import Struct

from fieldassay.documents.layout.geometry import is_wide_gap, union
from fieldassay.documents.transcript import Box, Cell, Line, Page, Table, Transcript

SEPARATOR = " | "
"""What stands between the cells of a row."""


class Span(Struct, frozen=True, gc=False):
    """A word or a cell in the text of a page: its characters, and where it stands in the page."""

    start: int
    end: int
    box: Box | None
    line: int | None = None
    """The index of its line in `Page.lines`; None for a cell."""
    table: int | None = None
    """The index of its table in `Page.tables`; None for a word of a line."""
    index: int = 0
    """The index of the word in its line, or of the cell in its table."""


class PageText(Struct, frozen=True):
    """The text of one page and its pieces in order."""

    text: str
    spans: tuple[Span, ...]

    def pieces(self, start: int, end: int) -> tuple[Span, ...]:
        """Return the words and cells that the characters from `start` up to `end` touch."""
        first = bisect_right(self.spans, start, key=lambda span: span.end)
        last = bisect_left(self.spans, end, key=lambda span: span.start)
        return self.spans[first:last]

    def box(self, start: int, end: int) -> Box | None:
        """Return the box around the words and cells of some characters; None where the page has no places."""
        return union(span.box for span in self.pieces(start, end))


def transcript_text(transcript: Transcript, page: int, hidden: bool = False) -> PageText:
    """Return the text of a page, numbered from 1, of a transcript; see `page_text`."""
    return page_text(transcript.pages[page - 1], hidden)


def page_text(page: Page, hidden: bool = False) -> PageText:
    """Return the text of a page: its lines in reading order, each table after the line that it follows.

    Words are separated by a blank, or by three where the gap is wide; cells by ` | `, one row a line. Text
    that no person sees (`visible` is False) is left out unless `hidden` is true.

    >>> from fieldassay.documents.transcript import Word
    >>> page = Page(1, (Line((Word("Total"), Word("12.00"))),), (Table((Cell(0, 0, "a"), Cell(0, 1, "b"))),))
    >>> page_text(page).text
    'a | b\\nTotal 12.00'
    """
    writer = _Writer()
    tables: dict[int, list[int]] = defaultdict(list)
    for number, table in enumerate(page.tables):
        tables[min(max(table.after, -1), len(page.lines) - 1)].append(number)
    for at in range(-1, len(page.lines)):
        if at >= 0:
            writer.add_line(at, page.lines[at], hidden)
        for number in tables.get(at, ()):
            writer.add_table(number, page.tables[number], hidden)
    return PageText("".join(writer.parts), tuple(writer.spans))


class _Writer:
    """Gathers the pieces of a page and their offsets."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.spans: list[Span] = []
        self.length = 0

    def add_line(self, number: int, line: Line, hidden: bool) -> None:
        before: Box | None = None
        begins = True
        for index, word in enumerate(line.words):
            if not (word.visible or hidden) or not word.text:
                continue
            gap = "   " if is_wide_gap(before, word.box) else " "
            self._write(self._next_line() if begins else gap)
            start = self.length
            self._write(word.text)
            self.spans.append(Span(start, self.length, word.box, line=number, index=index))
            before, begins = word.box, False

    def add_table(self, number: int, table: Table, hidden: bool) -> None:
        for row in _rows(table, hidden):
            self._write(self._next_line())
            for at, found in enumerate(row):
                self._write(SEPARATOR if at else "")
                if found is None:
                    continue
                index, cell = found
                start = self.length
                self._write(" ".join(cell.text.split()))
                self.spans.append(Span(start, self.length, cell.box, table=number, index=index))

    def _next_line(self) -> str:
        return "\n" if self.length else ""

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)


def _rows(table: Table, hidden: bool) -> Iterator[list[tuple[int, Cell] | None]]:
    """Yield the cells of each row that says something, by column; None where a column has no text there."""
    rows: dict[int, list[tuple[int, Cell]]] = defaultdict(list)
    for index, cell in enumerate(table.cells):
        if (cell.visible or hidden) and cell.text.strip():
            rows[cell.row].append((index, cell))
    columns = sorted({cell.column for row in rows.values() for _, cell in row})
    places = {column: at for at, column in enumerate(columns)}
    for _, row in sorted(rows.items()):
        placed: list[tuple[int, Cell] | None] = [None] * (1 + max(places[cell.column] for _, cell in row))
        for index, cell in row:
            placed[places[cell.column]] = (index, cell)
        yield placed
