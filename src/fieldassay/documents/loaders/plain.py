"""Loaders of plain text, Markdown, CSV, and words with boxes."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from msgspec import Struct

from fieldassay.documents.layout import lay_out, lay_out_scan, row_of
from fieldassay.documents.sources import Content, LoadTask, decode, plain_line
from fieldassay.documents.transcript import Box, Cell, DocumentError, Line, Page, Source, Table, Word
from fieldassay.io.text.encoding import split_named, split_rows

# Plain text, Markdown and delimited text to pages.

CHARACTER, LINE = 6.0, 12.0
"""The width and height, in points, of a character of plain text on its page."""
MOST_WORDS = 750_000
"""The words of a page of plain text, at most."""

_WORD = re.compile(r"\S+")
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
        found = list(_WORD.finditer(line.expandtabs(8)))
        if found:
            boxes = [
                Box(one.start() * CHARACTER, at * LINE, one.end() * CHARACTER, (at + 1) * LINE)
                for one in found
            ]
            words = [Word(one[0], box) for one, box in zip(found, boxes, strict=True)]
            rows.append(row_of(words, boxes))
            count += len(words)
            widest = max(widest, found[-1].end())
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
        for row, held in enumerate(rows)
        for column, cell in enumerate(held)
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

    The layout of each page is made from the boxes, in points (in XML: pixels) from the top left corner.
    """
    import msgspec

    if data[:1] != b"{":
        pages = _pages_of_xml(data)
        return Content(tuple(page_of_words(page, number) for number, page in enumerate(pages, start=1)))
    try:
        held = msgspec.json.decode(data, type=_WordsDocument)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DocumentError("unreadable", f"is no line of recognized words ({str(error)[:100]})") from None
    return Content(tuple(page_of_words(page, number) for number, page in enumerate(held.pages, start=1)))


def _pages_of_xml(data: bytes) -> list[WordsPage]:
    """Return the pages of PAGE XML, as PERO and Transkribus write it, or of ALTO."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
        if root.getroottree().docinfo.doctype:
            raise DocumentError("unreadable", "has a document type of its own, which is not read")
        return [
            WordsPage(
                float(page.get("imageWidth") or page.get("WIDTH") or 0),
                float(page.get("imageHeight") or page.get("HEIGHT") or 0),
                tuple(
                    word
                    for line in page.iter("{*}TextLine")
                    for part in [*line.iter("{*}Word", "{*}String")] or [line]
                    for word in _words_of(part)
                ),
            )
            for page in root.iter("{*}Page")
        ]
    except (etree.XMLSyntaxError, ValueError, TypeError) as error:
        raise DocumentError("unreadable", f"is damaged XML of recognized text ({str(error)[:100]})") from None


def _words_of(part: Any) -> Iterator[tuple[float, float, float, float, str]]:
    """Yield the words of a word or line of XML; those of a line share its width by their letters."""
    if part.get("CONTENT") is not None:
        left, top, width, height = (float(part.get(key)) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT"))
        yield left, top, left + width, top + height, part.get("CONTENT")
        return
    text = part.findtext("{*}TextEquiv/{*}Unicode") or ""
    coords = part.find("{*}Coords")
    if not text.strip() or coords is None:
        return
    points = [tuple(map(float, point.split(","))) for point in (coords.get("points") or "").split()]
    across, down = ([point[side] for point in points] for side in (0, 1))
    left, unit = min(across), (max(across) - min(across)) / len(text)
    for word in re.finditer(r"\S+", text):
        yield left + word.start() * unit, min(down), left + word.end() * unit, max(down), word[0]


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
