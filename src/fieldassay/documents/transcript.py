"""Transcripts: the pages, lines and words of a document, boxes of words, and where all that is kept."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import FieldassayError
from fieldassay.io.files.whole_files import open_file, write_file

# Transcripts: the pages, lines and words of a document, and where they are kept.

# A transcript: the text of a document as a loader read it, page by page, each piece with its place.

Source = Literal["text", "ocr", "cell", "markup"]
"""How a piece was read: a text layer, recognized characters, a cell of a sheet, markup."""


class Box(Struct, frozen=True, gc=False, array_like=True):
    """A rectangle on a page, in points from the top left corner (1 point = 1/72 inch)."""

    left: float
    top: float
    right: float
    bottom: float


class Word(Struct, frozen=True, gc=False):
    """A run of characters without white space; `visible` is False where no ink is on the page."""

    text: str
    box: Box | None = None
    visible: bool = True
    confidence: float | None = None
    """Of recognized characters, in [0, 1]; None for text that was not recognized."""


class Line(Struct, frozen=True, gc=False):
    """A line of a page in reading order. Its text is its words joined by single blanks, or given as is."""

    words: tuple[Word, ...]
    box: Box | None = None
    source: Source = "text"

    @property
    def text(self) -> str:
        """The text of the line.

        >>> Line((Word("Total"), Word("12.00"))).text
        'Total 12.00'
        """
        return " ".join(word.text for word in self.words)


class Cell(Struct, frozen=True, gc=False):
    """A cell of a table: its first row and column (from 0), how many it spans, its text and place."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1
    box: Box | None = None
    visible: bool = True


class Table(Struct, frozen=True, gc=False):
    """A table of a page; `after` is the index of the page's line that it follows (-1: before the first).

    The words of a table are not repeated in the lines of its page.
    """

    cells: tuple[Cell, ...]
    after: int = -1
    name: str = ""


class Page(Struct, frozen=True):
    """A page, a sheet or a part of a document, numbered from 1; sizes in points, 0 where there are none."""

    number: int
    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    width: float = 0.0
    height: float = 0.0
    name: str = ""
    """The name of a sheet, of an attachment or of a part of a message."""


class Transcript(Struct, frozen=True):
    """The text of one document, with its places, and what the loader noticed."""

    id: str
    sha256: str
    """The digest of the document's bytes."""
    kind: str
    """The file type: `pdf`, `image`, `docx`, `xlsx`, `csv`, `eml`, `msg`, `html`, `text`, `markdown`,
    `words`."""
    pages: tuple[Page, ...]
    loader: Mapping[str, Any] = {}
    """The name, version and options of the loader and of the programs it used."""
    notes: tuple[str, ...] = ()
    """Remarks by kind: `hidden_text`, `tracked_changes`, `hidden_rows`, `ocr` and others."""
    load_ms: float = 0.0
    """The time that loading took, in milliseconds, when the document was loaded."""

    def lines(self) -> Iterator[tuple[Page, Line]]:
        """Yield the lines of all pages in reading order, each with its page."""
        return ((page, line) for page in self.pages for line in page.lines)


class DocumentError(FieldassayError):
    """A document that cannot be read: it fails alone, with its kind of failure and its page."""

    def __init__(self, kind: str, message: str, page: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        """`unreadable`, `encrypted`, `no_text`, `too_large`, `loader_timeout`, `loader_crash`,
        `missing_extra`."""
        self.page = page

    def __reduce__(self) -> tuple[type[DocumentError], tuple[str, str, int | None]]:
        return (type(self), (self.kind, str(self), self.page))


# Transcripts on disk: one compressed JSON document per file, found by the file's digest and loader.

MOST_BYTES = 1 << 30
"""The largest transcript that is read."""


def encode(transcript: Transcript) -> bytes:
    """Return a transcript as JSON."""
    import msgspec

    return msgspec.json.encode(transcript)


def decode_transcript(data: bytes) -> Transcript:
    """Return the transcript of a JSON text, its types checked. Raises ValueError."""
    import msgspec

    return msgspec.json.decode(data, type=Transcript)


class TranscriptStore(Struct, frozen=True):
    """A folder of transcripts: `<digest of the document>.json.zst`."""

    folder: Path

    def path(self, sha256: str) -> Path:
        """Return the file of the transcript of a document."""
        return self.folder / f"{sha256}.json.zst"

    def read(self, sha256: str) -> Transcript:
        """Return a document's transcript. Raises OSError if there is none, ValueError if it is damaged."""
        import zstandard

        with open_file(self.path(sha256)) as stream:
            data = stream.read(MOST_BYTES)
        try:
            return decode_transcript(
                zstandard.ZstdDecompressor().decompress(data, max_output_size=MOST_BYTES)
            )
        except zstandard.ZstdError as error:
            raise ValueError(f"is not compressed by zstd ({error})") from None

    def find(self, sha256: str, loader: Mapping[str, Any], name: str) -> Transcript | None:
        """Return the transcript of a document under a name if this very loader made it, else None.

        A damaged file counts as none: the document is then loaded again.
        """
        try:
            transcript = self.read(sha256)
        except (OSError, ValueError):
            return None
        return (
            replace(transcript, id=name)
            if transcript.sha256 == sha256 and transcript.loader == loader
            else None
        )

    def write(self, transcript: Transcript) -> None:
        """Write a transcript over that of another loader. Raises OSError; the file is then unchanged."""
        import zstandard

        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path(transcript.sha256), [zstandard.ZstdCompressor().compress(encode(transcript))])


# Boxes of words, and the text that stands in them.

# Boxes of words: their union, the gaps between them, quarter turns of a page.

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Number = TypeVar("Number", float, "Floats")

WIDE_GAP = 1.0
"""A gap wider than this multiple of the height of its words separates columns."""


def union(boxes: Iterable[Box | None]) -> Box | None:
    """Return the smallest box around all boxes; None if there is none.

    >>> union([Box(0, 0, 1, 1), None, Box(2, 1, 3, 4)])
    Box(left=0, top=0, right=3, bottom=4)
    """
    known_boxes = [box for box in boxes if box is not None]
    if not known_boxes:
        return None
    if len(known_boxes) == 1:
        return known_boxes[0]
    return Box(
        min([box.left for box in known_boxes]),
        min([box.top for box in known_boxes]),
        max([box.right for box in known_boxes]),
        max([box.bottom for box in known_boxes]),
    )


def is_wide_gap(before: Box | None, after: Box | None) -> bool:
    """Return whether two words of a line are so far apart that they belong to different columns."""
    if before is None or after is None:
        return False
    gap = after.left - before.right
    return (
        gap > 0
        and gap > WIDE_GAP * (after.bottom - after.top)
        and gap > WIDE_GAP * (before.bottom - before.top)
    )


def turn(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box of a page of this size after that many clockwise quarter turns of the page.

    >>> turn(Box(0, 0, 10, 2), 1, 100, 200)
    Box(left=198, top=0, right=200, bottom=10)
    """
    return Box(*turn_sides((box.left, box.top, box.right, box.bottom), quarters, (width, height)))


def turn_sides(
    sides: tuple[Number, Number, Number, Number], quarters: int, size: tuple[float, float]
) -> tuple[Number, Number, Number, Number]:
    """Return the sides (left, top, right, bottom) of a box, or of many, after quarter turns of their page."""
    left, top, right, bottom = sides
    width, height = size
    quarters %= 4
    if quarters == 1:
        return height - bottom, left, height - top, right
    if quarters == 2:
        return width - right, height - bottom, width - left, height - top
    if quarters == 3:
        return top, width - right, bottom, width - left
    return sides


def round_all(values: Floats) -> list[float]:
    """Return numbers rounded to two decimals, exactly as `round` does.

    >>> import numpy as np
    >>> round_all(np.array([2.675, 0.125, -0.001])) == [round(2.675, 2), 0.12, -0.0]
    True
    """
    import numpy as np

    scaled = values * 100
    rounded: list[float] = (np.rint(scaled) / 100).tolist()
    is_doubtful = ~(np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) > 1e-6) | ~(np.abs(scaled) < 1e8)
    for at in np.flatnonzero(is_doubtful).tolist():
        rounded[at] = round(float(values[at]), 2)
    return rounded


# The text of a page as it is sent to a model and searched for quotes, with the place of every character.

SEPARATOR = " | "
"""What stands between the cells of a row."""


class TextSpan(Struct, frozen=True, gc=False):
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
    spans: tuple[TextSpan, ...]

    def pieces(self, start: int, end: int) -> tuple[TextSpan, ...]:
        """Return the words and cells that the characters from `start` up to `end` touch."""
        first = bisect_right(self.spans, start, key=lambda span: span.end)
        return self.spans[first : bisect_left(self.spans, end, key=lambda span: span.start)]

    def box(self, start: int, end: int) -> Box | None:
        """Return the box around the words and cells of some characters; None where the page has no places."""
        return union(span.box for span in self.pieces(start, end))


def page_text(page: Page, hidden: bool = False) -> PageText:
    """Return the text of a page: its lines in reading order, each table after the line that it follows.

    Words are separated by a blank, or by three where the gap is wide; cells by ` | `, one row a line. Text
    that no person sees (`visible` is False) is left out unless `hidden` is true.

    >>> from fieldassay.documents.transcript import Word
    >>> page = Page(1, (Line((Word("Total"), Word("12.00"))),), (Table((Cell(0, 0, "a"), Cell(0, 1, "b"))),))
    >>> page_text(page).text
    'a | b\\nTotal 12.00'
    """
    writer = _TextWriter()
    tables: dict[int, list[int]] = defaultdict(list)
    for number, table in enumerate(page.tables):
        tables[min(max(table.after, -1), len(page.lines) - 1)].append(number)
    for at in range(-1, len(page.lines)):
        if at >= 0:
            writer.add_line(at, page.lines[at], hidden)
        for number in tables.get(at, ()):
            writer.add_table(number, page.tables[number], hidden)
    return PageText("".join(writer.parts), tuple(writer.spans))


class _TextWriter:
    """Gathers the pieces of a page and their offsets."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.spans: list[TextSpan] = []
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
            self.spans.append(TextSpan(start, self.length, word.box, line=number, index=index))
            before, begins = word.box, False

    def add_table(self, number: int, table: Table, hidden: bool) -> None:
        for row in _rows(table, hidden):
            self._write(self._next_line())
            for at, entry in enumerate(row):
                self._write(SEPARATOR if at else "")
                if entry is None:
                    continue
                index, cell = entry
                start = self.length
                self._write(" ".join(cell.text.split()))
                self.spans.append(TextSpan(start, self.length, cell.box, table=number, index=index))

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
