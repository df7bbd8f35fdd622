"""Loaders of plain text, Markdown, CSV, and words with boxes."""

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.layout import lay_out, lay_out_scan, row_of
from fieldassay.documents.sources import Content, LoadTask, decode, parse_xml, plain_line
from fieldassay.documents.transcript import Box, Cell, DocumentError, Line, Page, Source, Table, Word
from fieldassay.errors import list_names
from fieldassay.io.text.encoding import split_named, split_rows

# Plain text, Markdown and delimited text to pages.

CHARACTER, LINE = 6.0, 12.0
"""The width and height, in points, of a character of plain text on its page."""
MOST_WORDS = 750_000
"""The words of a page of plain text, at most."""

_WORD = re.compile(r"\S+")
_POINT = re.compile(r"(?<![\w.])(\d{1,7}(?:\.\d{1,7})?),(\d{1,7}(?:\.\d{1,7})?)(?![\w.])")
_FARTHEST = 1e7
"""No page of recognized text reaches so far."""
_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-++:?\s*+(?:\|\s*+:?-++:?\s*+)*+(?:\|\s*+)?")
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def load_text(data: bytes, _task: LoadTask) -> Content:
    """Return plain text as if printed in a font of fixed width, so that aligned columns make a table.

    A form feed begins a page.
    """
    texts = [text for text in decode(data).split("\f") if text.strip()]
    return Content(tuple(lay_out_text(text, number) for number, text in enumerate(texts, start=1)))


def lay_out_text(text: str, number: int = 1) -> Page:
    """Return a page of lines in a font of fixed width. Raises `DocumentError` for too many words."""
    rows, count, widest, height = [], 0, 0, 0
    for at, line in enumerate(text.split("\n")):
        height = at + 1
        matches = list(_WORD.finditer(line.expandtabs(8)))
        if matches:
            boxes = [
                Box(match.start() * CHARACTER, at * LINE, match.end() * CHARACTER, (at + 1) * LINE)
                for match in matches
            ]
            words = [Word(match[0], box) for match, box in zip(matches, boxes, strict=True)]
            rows.append(row_of(words, boxes))
            count += len(words)
            widest = max(widest, matches[-1].end())
        if count > MOST_WORDS:
            raise DocumentError("too_large", f"has a page of more than {MOST_WORDS:,} words")
    layout = lay_out((), rows=rows)
    return Page(number, layout.lines, layout.tables, widest * CHARACTER, height * LINE)


def load_markdown(data: bytes, _task: LoadTask) -> Content:
    """Return the lines of a Markdown text as written, its pipe tables as tables."""
    lines: list[Line] = []
    tables: list[Table] = []
    rows: list[str] = []
    for text in [*decode(data).split("\n"), ""]:
        if "|" in text:
            rows.append(text)
            continue
        _flush(rows, lines, tables)
        rows = []
        lines += filter(None, [plain_line(text, "markup")])
    return Content((Page(1, tuple(lines), tuple(tables)),))


def _flush(rows: list[str], lines: list[Line], tables: list[Table]) -> None:
    """Append rows with pipes: as a table if a rule stands under the first, else as lines."""
    if len(rows) < 2 or not _RULE.fullmatch(rows[1]) or "-" not in rows[1]:
        lines += filter(None, [plain_line(text, "markup") for text in rows])
        return
    cells = []
    for at, text in enumerate([rows[0], *rows[2:]]):
        parts = _CELL_BORDER.split(text.strip().removeprefix("|").removesuffix("|"))
        cells += [
            Cell(at, column, part.strip().replace("\\|", "|"))
            for column, part in enumerate(parts)
            if part.strip()
        ]
    tables.append(Table(tuple(cells), len(lines) - 1))


def load_csv(data: bytes, task: LoadTask) -> Content:
    """Return delimited text as one table; text of a single column as lines."""
    text = decode(data)
    is_tabbed = task.name.lower().endswith((".tsv", ".tab"))
    delimiter, text = ("\t", text) if is_tabbed else split_named(text)
    rows = [cells for _, cells in islice(split_rows(text, delimiter), task.options.max_cells)]
    if sum(map(len, rows)) > task.options.max_cells:
        raise DocumentError("too_large", f"has more than {task.options.max_cells:,} cells")
    if all(len(cells) < 2 for cells in rows):
        lines = filter(None, [plain_line(cells[0], "cell") for cells in rows if cells])
        return Content((Page(1, tuple(lines)),))
    cells = tuple(
        Cell(row, column, cell.strip())
        for row, row_cells in enumerate(rows)
        for column, cell in enumerate(row_cells)
        if cell.strip()
    )
    return Content((Page(1, (), (Table(cells),)),))


# Recognized words with their boxes, in no order, to pages: what another OCR program wrote.


class WordsPage(Struct, frozen=True):
    """A page of words in no order: left, top, right, bottom in points, and the text of each."""

    width: float
    height: float
    words: tuple[tuple[float, float, float, float, str], ...]


class _WordsDocument(Struct, frozen=True):
    pages: tuple[WordsPage, ...]


def load_words(data: bytes, _task: LoadTask) -> Content:
    """Return the pages of recognized words with boxes: of a JSON text, of PAGE XML or of ALTO.

    The JSON: `{"id", "pages": [{"width", "height", "words": [[left, top, right, bottom, text], …]}]}`.

    The layout of each page is made from the boxes, in points (in XML: pixels) from the top left corner; in
    PAGE XML that of each region, in the reading order.
    """
    import msgspec

    if data[:1] != b"{":
        return Content(tuple(_pages_of_xml(data)))
    try:
        document = msgspec.json.decode(data, type=_WordsDocument)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DocumentError("unreadable", f"is not a line of recognized words ({str(error)[:100]})") from None
    return Content(tuple(page_of_words(page, number) for number, page in enumerate(document.pages, start=1)))


_UNITS = {"mm10": 72 / 254, "inch1200": 72 / 1200}
"""Points for a unit of ALTO; pixels count as points."""


def _pages_of_xml(data: bytes) -> Iterator[Page]:
    """Yield the pages of PAGE XML, as PERO and Transkribus write it, or of ALTO."""
    root = parse_xml(data, "is damaged XML", "has a document type of its own, which is not read")
    unit = _UNITS.get((root.findtext("{*}Description/{*}MeasurementUnit") or "").strip(), 1.0)
    for number, page in enumerate(root.iter("{*}Page"), start=1):
        width = _size_of(page, "imageWidth", "WIDTH") * unit
        height = _size_of(page, "imageHeight", "HEIGHT") * unit
        # The regions of PAGE are columns and paragraphs; the blocks of ALTO may be the parts of one line.
        parts = [list(region.iter("{*}TableCell")) or [region] for region in _regions_of(page)]
        parts = parts or [list(page.iter("{*}TextBlock"))]
        lines: list[Line] = []
        tables: list[Table] = []
        for regions in parts:
            # A region or line without parts that have text is read by its own text.
            words = [
                word
                for region in regions
                for line in _parts_with_text(region, "{*}TextLine")
                for part in _parts_with_text(line, "{*}Word", "{*}String")
                for word in _words_of(part, Box(0, 0, width, height), unit)
            ]
            region_page = page_of_words(WordsPage(width, height, tuple(words)), number)
            tables += [replace(table, after=table.after + len(lines)) for table in region_page.tables]
            lines += region_page.lines
        yield Page(number, tuple(lines), tuple(tables), width, height)


def _regions_of(page: Any) -> list[Any]:
    """Return the regions of a page of PAGE XML in its reading order; those not named there come last."""
    names = (name for group in page.iterfind("{*}ReadingOrder") for name in _names_of(group))
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    regions = page.iter("{*}TextRegion", "{*}TableRegion")
    return sorted(regions, key=lambda region: order.get(region.get("id"), len(order)))


def _names_of(group: Any) -> Iterator[str]:
    """Yield the regions that a group of a reading order names, those of groups in it at their places."""
    for part in sorted(group, key=lambda part: (part.get("index") or "").zfill(9)):
        if name := part.get("regionRef"):
            yield name
        yield from _names_of(part)


def _parts_with_text(element: Any, *names: str) -> list[Any]:
    """Return the parts of these names that have text; the element itself if it has none."""
    parts = [part for name in names for part in element.iterfind(name)]
    own = [
        part
        for part in parts
        if part.get("CONTENT") or part.find("{*}String") is not None or "".join(part.itertext()).strip()
    ]
    return own or ([] if element.find("{*}TextRegion") is not None else [element])


def _size_of(element: Any, *names: str) -> float:
    """Return a number that stands under one of some names. Raises `DocumentError` where there is none."""
    try:
        number = float(next(value for name in names if (value := element.get(name)) is not None))
    except (StopIteration, ValueError):
        number = math.nan
    if not abs(number) < _FARTHEST:
        place = f"line {element.sourceline}"
        raise DocumentError("unreadable", f"has no number {list_names(names, 2)} in {place}")
    return number


def _words_of(part: Any, page: Box, unit: float) -> Iterator[tuple[float, float, float, float, str]]:
    """Yield the words of a word, line or region; those of one box share its width by their letters."""
    if part.get("CONTENT") is not None:
        left, top, width, height = (
            _size_of(part, name) * unit for name in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
        )
        yield left, top, left + width, top + height, part.get("CONTENT")
        return
    readings = sorted(
        part.iterfind("{*}TextEquiv"), key=lambda reading: (reading.get("index") or "", reading.sourceline)
    )
    text = next(
        (reading.findtext("{*}Unicode") or reading.findtext("{*}PlainText") or "" for reading in readings), ""
    )
    lines = [line for line in text.splitlines() if line.strip()]
    box = _box_of(part) or page
    tall = (box.bottom - box.top) / max(len(lines), 1)
    for at, line in enumerate(lines):
        wide = (box.right - box.left) / len(line)
        for word in re.finditer(r"\S+", line):
            left, right = (box.left + end * wide for end in word.span())
            yield left, box.top + at * tall, right, box.top + (at + 1) * tall, word[0]


def _box_of(part: Any) -> Box | None:
    """Return the box of the nearest coordinates at or above an element that can be read."""
    while part is not None:
        coords = part.find("{*}Coords")
        points = [] if coords is None else _POINT.findall(coords.get("points") or "")
        points += (
            [] if coords is None else [(point.get("x"), point.get("y")) for point in coords.iter("{*}Point")]
        )
        if points:
            across, down = ([float(point[side] or 0) for point in points] for side in (0, 1))
            return Box(min(across), min(down), max(across), max(down))
        part = part.getparent()
    return None


def page_of_words(page: WordsPage, number: int, source: Source = "ocr") -> Page:
    """Return a page of words, whose layout is made from their boxes."""
    words = [
        Word(part, Box(left, top, right, bottom))
        if left <= right and top <= bottom
        else Word(part, Box(min(left, right), min(top, bottom), max(left, right), max(top, bottom)))
        for left, top, right, bottom, text in page.words
        for part in [" ".join(text.split())]
        if part
    ]
    layout = (lay_out_scan if source == "ocr" else lay_out)(words, (), source)
    return Page(number, layout.lines, layout.tables, page.width, page.height)
