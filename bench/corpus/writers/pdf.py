"""Recipes as PDF: text at known places, so that the boxes of gold and the text of the page come with it."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bench.corpus.marks import Mark, Run, plain_text, read_runs
from bench.corpus.recipe import Block, Recipe
from bench.corpus.written import Frame, Placed, Written, around
from msgspec import Struct, field

PORTRAIT, LANDSCAPE = (595.0, 842.0), (842.0, 595.0)
MARGIN, SIZE, LEADING = 48.0, 10.0, 14.0
PLAIN, BOLD = "Helvetica", "Helvetica-Bold"
_RISE = 0.35


def write_pdf(recipe: Recipe) -> Written:
    """Return a recipe as a PDF; the same bytes every time under the same versions of reportlab and zlib."""
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=PORTRAIT, invariant=1, pageCompression=1)
    canvas.setTitle(recipe.id)
    pen = Pen(canvas)
    pen.blocks(recipe.blocks)
    pen.end_page()
    canvas.save()
    return Written(stream.getvalue(), tuple(pen.pages), tuple(pen.placed))


class Area(Struct):
    """Where text goes: from `left`, so wide, from `y` downward."""

    left: float
    width: float
    y: float
    bottom: float = MARGIN


class Pen(Struct):
    """Draws blocks one below the other, and notes where gold values come to stand."""

    canvas: Any
    size: tuple[float, float] = PORTRAIT
    placed: list[Placed] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    frame: tuple[str, str] = ("", "")
    """The header and the footer of each page."""
    is_turned: bool = False
    """Whether the content stands upright only after a quarter turn of the page."""
    area: Area = field(default_factory=lambda: Area(MARGIN, PORTRAIT[0] - 2 * MARGIN, 0.0))

    def __post_init__(self) -> None:
        self.start_page()

    def start_page(self) -> None:
        """Begin a page: its size, its header and footer, and the cursor at its top."""
        width, height = self.size
        self.canvas.setPageSize((height, width) if self.is_turned else self.size)
        if self.is_turned:
            self.canvas.translate(height, 0)
            self.canvas.rotate(90)
        self.area = Area(MARGIN, width - 2 * MARGIN, height - MARGIN)
        self.edge(0, height - 30)

    def edge(self, which: int, y: float) -> None:
        """Draw the header or the footer; the gold in them stands on one page."""
        if self.frame[which]:
            self.write(read_runs(self.frame[which]), MARGIN, y, PLAIN, 8)
            texts = [plain_text(text) if at == which else text for at, text in enumerate(self.frame)]
            self.frame = (texts[0], texts[1])

    def end_page(self) -> None:
        """Close the page."""
        self.edge(1, 28)
        self.canvas.showPage()
        self.pages.append("\n".join(self.lines))
        self.lines = []

    def room(self, height: float) -> None:
        """Go on to another page where the height is not left on this one."""
        if self.area.y - height < self.area.bottom:
            self.end_page()
            self.start_page()

    def blocks(self, blocks: Sequence[Block]) -> None:
        """Draw blocks in their order."""
        for block in blocks:
            if isinstance(block, str):
                paragraph(self, block)
                continue
            (name, content), *more = block.items()
            DRAWN[name](self, content, dict(more))

    def write(self, runs: Sequence[Run], x: float, y: float, font: str = PLAIN, size: float = SIZE) -> float:
        """Draw parts of a line side by side, note the places of gold, and return where the line ends."""
        self.lines.append("".join(run.text for run in runs).replace("^", ""))
        for run in runs:
            start = x
            for at, part in enumerate(run.text.split("^")):
                small = size * 0.65 if at % 2 else size
                self.canvas.setFont(font, small)
                self.canvas.drawString(x, y + (size * _RISE if at % 2 else 0.0), part)
                x += self.canvas.stringWidth(part, font, small)
            if run.mark is not None:
                self.note(run.mark, (start, y - 0.22 * size, x, y + 0.76 * size))
        return x

    def note(self, mark: Mark, corners: tuple[float, float, float, float]) -> None:
        """Note the place of a gold value; of one that goes on in another line, around both."""
        left, bottom, right, top = corners
        width, height = self.size
        box: Frame = (left / width, 1 - top / height, right / width, 1 - bottom / height)
        if self.is_turned:
            box = (box[1], 1 - box[2], box[3], 1 - box[0])
        page = len(self.pages) + 1
        if self.placed and self.placed[-1].mark == mark and self.placed[-1].page == page:
            last = self.placed.pop()
            box = around([box] if last.box is None else [last.box, box])
        self.placed.append(Placed(mark, page, box))

    def wrap(self, text: str, width: float, font: str = PLAIN, size: float = SIZE) -> list[tuple[Run, ...]]:
        """Return the lines that a marked text takes in a width."""
        lines: list[list[Run]] = [[]]
        used = 0.0
        for word in _words(read_runs(text)):
            needed = self.canvas.stringWidth(word.text.replace("^", ""), font, size)
            if lines[-1] and used + needed > width and word.text.strip():
                lines.append([])
                used = 0.0
            if lines[-1] or word.text.strip():
                lines[-1].append(word)
                used += needed
        return [_joined(line) for line in lines]


def _words(runs: Sequence[Run]) -> Iterator[Run]:
    """Yield the words of runs and the blanks between them."""
    for run in runs:
        for at, word in enumerate(run.text.split(" ")):
            if at:
                yield Run(" ", run.mark)
            if word:
                yield Run(word, run.mark)


def _joined(words: Sequence[Run]) -> tuple[Run, ...]:
    """Return the words of a line, those of one mark in one piece, without a blank at its end."""
    runs: list[Run] = []
    for word in words:
        if runs and runs[-1].mark is word.mark:
            runs[-1] = Run(runs[-1].text + word.text, word.mark)
        else:
            runs.append(word)
    if runs:
        runs[-1] = Run(runs[-1].text.rstrip(), runs[-1].mark)
    return tuple(runs)


def paragraph(pen: Pen, text: str, font: str = PLAIN, size: float = SIZE) -> None:
    """Draw a text over the width of the area."""
    for line in pen.wrap(text, pen.area.width, font, size):
        pen.room(LEADING)
        pen.area.y -= size * 1.4
        pen.write(line, pen.area.left, pen.area.y, font, size)
    pen.area.y -= 5


def _title(pen: Pen, text: str, _: Mapping[str, Any]) -> None:
    paragraph(pen, text, BOLD, 15)


def _section(pen: Pen, text: str, _: Mapping[str, Any]) -> None:
    paragraph(pen, text, BOLD, 11)


def _pairs(pen: Pen, pairs: Mapping[str, str], _: Mapping[str, Any]) -> None:
    """Draw labels with their values beside them."""
    for label, text in pairs.items():
        lines = pen.wrap(text, pen.area.width - 170)
        pen.room(LEADING * len(lines))
        pen.area.y -= LEADING
        pen.write((Run(label),), pen.area.left, pen.area.y, BOLD)
        pen.lines.pop()
        for at, line in enumerate(lines):
            pen.area.y -= LEADING if at else 0
            pen.write(line, pen.area.left + 170, pen.area.y)
            if not at:
                pen.lines[-1] = f"{label} {pen.lines[-1]}"
    pen.area.y -= 6


def _table(pen: Pen, rows: Sequence[Sequence[str]], options: Mapping[str, Any]) -> None:
    """Draw a table whose first row is its head, which is repeated on each page."""
    shares = options.get("widths") or [1] * len(rows[0])
    widths = [pen.area.width * share / sum(shares) for share in shares]
    look = _Look(widths, options.get("ruled", True), options.get("height", 0))
    _row(pen, rows[0], look, BOLD)
    for row in rows[1:]:
        page = len(pen.pages)
        pen.room(max(LEADING + 4, look.height))
        if len(pen.pages) > page:
            _row(pen, rows[0], look, BOLD)
        _row(pen, row, look, PLAIN)
    pen.area.y -= 8


class _Look(Struct, frozen=True):
    """The widths of a table's columns, whether it has lines, and the least height of its rows."""

    widths: Sequence[float]
    is_ruled: bool
    height: float


def _row(pen: Pen, cells: Sequence[str], look: _Look, font: str) -> None:
    widths = look.widths
    wrapped = [pen.wrap(str(cell), wide - 6, font, 9) for cell, wide in zip(cells, widths, strict=True)]
    height = max(12 * max(map(len, wrapped)) + 4, look.height)
    pen.room(height)
    x, top, told = pen.area.left, pen.area.y, len(pen.lines)
    for lines, wide in zip(wrapped, widths, strict=True):
        for at, line in enumerate(lines):
            pen.write(line, x + 3, top - 12 * (at + 1) + 1, font, 9)
        if look.is_ruled:
            pen.canvas.rect(x, top - height, wide, height)
        x += wide
    pen.lines[told:] = [" ".join(text for text in pen.lines[told:] if text)]
    pen.area.y -= height


def _columns(pen: Pen, columns: Sequence[Sequence[Block]], _: Mapping[str, Any]) -> None:
    """Draw running texts beside each other, to be read one after the other."""
    held, gap = pen.area, 24.0
    width = (held.width - gap * (len(columns) - 1)) / len(columns)
    lowest = held.y
    for at, blocks in enumerate(columns):
        pen.area = Area(held.left + at * (width + gap), width, held.y)
        pen.blocks(blocks)
        lowest = min(lowest, pen.area.y)
    pen.area = Area(held.left, held.width, lowest)


def _page(pen: Pen, how: str, _: Mapping[str, Any]) -> None:
    """Begin a page: `portrait`, `landscape`, or `turned` (a page in landscape, lying on its side)."""
    pen.end_page()
    pen.size = PORTRAIT if how == "portrait" else LANDSCAPE
    pen.is_turned = how == "turned"
    pen.start_page()


def _frame(pen: Pen, texts: Sequence[str], _: Mapping[str, Any]) -> None:
    """Put a header and a footer on this page and all that follow."""
    pen.frame = (texts[0], texts[1])
    pen.edge(0, pen.size[1] - 30)


def _picture(pen: Pen, blocks: Sequence[Block], _: Mapping[str, Any]) -> None:
    """Draw blocks as a picture of them: their text is no text of the page."""
    from bench.corpus.pictures import render_pdf
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    stream = io.BytesIO()
    canvas = Canvas(stream, pagesize=PORTRAIT, invariant=1, pageCompression=1)
    inner = Pen(canvas)
    inner.blocks(blocks)
    used = PORTRAIT[1] - MARGIN - inner.area.y
    inner.end_page()
    canvas.save()
    pen.room(used)
    picture = render_pdf(stream.getvalue(), 120)[0]
    scale = picture.height / PORTRAIT[1]
    part = picture.crop((0, round(MARGIN * scale), picture.width, round((MARGIN + used) * scale)))
    pen.canvas.drawImage(ImageReader(part), 0, pen.area.y - used, PORTRAIT[0], used)
    lower = (PORTRAIT[1] - MARGIN - pen.area.y) / PORTRAIT[1]
    for one in inner.placed:
        left, top, right, bottom = one.box or (0.0, 0.0, 0.0, 0.0)
        pen.placed.append(Placed(one.mark, len(pen.pages) + 1, (left, top + lower, right, bottom + lower)))
    pen.lines += inner.pages[0].split("\n")
    pen.area.y -= used


def _hidden(pen: Pen, text: str, options: Mapping[str, Any]) -> None:
    """Draw a text that nobody sees: in white, or without ink."""
    pen.area.y -= LEADING
    drawn = pen.canvas.beginText(pen.area.left, pen.area.y)
    drawn.setFont(PLAIN, SIZE)
    if options.get("how") == "white":
        drawn.setFillGray(1)
    else:
        drawn.setTextRenderMode(3)
    drawn.textOut(text)
    drawn.setTextRenderMode(0)
    drawn.setFillGray(0)
    pen.canvas.drawText(drawn)


DRAWN: Mapping[str, Callable[[Pen, Any, Mapping[str, Any]], None]] = {
    "title": _title,
    "section": _section,
    "pairs": _pairs,
    "table": _table,
    "columns": _columns,
    "page": _page,
    "frame": _frame,
    "picture": _picture,
    "hidden": _hidden,
}
"""How each block is drawn, by its key."""
