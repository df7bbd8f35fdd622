"""Other readers of documents: libraries, and functions of the user, in place of the loaders."""

import io
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path, PurePath
from typing import Any

import msgspec
from msgspec.structs import replace

from fieldassay.documents.loaders.plain import WordsPage, load_markdown, page_of_words
from fieldassay.documents.sources import Content, LoadTask, find_kind, plain_line, version_of
from fieldassay.documents.transcript import Box, Cell, DocumentError, Line, Page, Table, Word
from fieldassay.errors import MissingExtraError, install_line
from fieldassay.io.files.code import digest_function
from fieldassay.options import import_function

LIBRARIES: Mapping[str, str] = {
    "pdfplumber": "read_pdfplumber",
    "markitdown": "read_markitdown",
    "docling": "read_docling",
    "hidden": "read_hidden",
}
"""What reads documents, and the functions here that call it; all but `hidden` are extras of their names."""
_EMU_PER_POINT = 12_700


def check_reader(reader: str) -> None:
    """Raise `MissingExtraError` for a library that is not installed, `ProblemsError` for no function."""
    if reader not in LIBRARIES:
        import_function(reader)
    elif reader != "hidden" and find_spec(reader) is None:
        raise MissingExtraError(f"the reader {reader} is not installed; run: {install_line(reader)}")


def describe_reader(reader: str) -> str | None:
    """Return the version of a library; of a function the digest of its code."""
    return version_of(reader) if reader in LIBRARIES else digest_function(import_function(reader))


def load_with_reader(data: bytes, task: LoadTask) -> Content:
    """Return the pages of a document as the reader of the options makes them.

    Raises `DocumentError`, also for what a function returns that is neither text nor pages.
    """
    reader = task.options.reader
    if reader in LIBRARIES:
        _check_kind(reader, data, task.name)
    try:
        pages: tuple[Page, ...] = globals()[LIBRARIES.get(reader, "read_by_function")](data, task)
    except (DocumentError, MemoryError):
        raise
    except (Exception, SystemExit) as error:  # the code of a library or of the user
        message = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        raise DocumentError("unreadable", f"the reader {reader} fails on it ({message})") from None
    return Content(pages)


def _check_kind(reader: str, data: bytes, name: str) -> None:
    """Raise `DocumentError` for content that a library does not read: some make a text of any bytes."""
    try:
        kind = find_kind(name, data)
    except DocumentError as error:
        if f"`reader: {reader}`" not in str(error):
            raise
        kind = ""
    if reader == "pdfplumber" and kind != "pdf":
        raise DocumentError("unreadable", "is not a PDF; the reader pdfplumber reads only PDFs")


def read_by_function(data: bytes, task: LoadTask) -> tuple[Page, ...]:
    """Return what a function of the user makes of the path of a document: a text, or pages."""
    reader = task.options.reader
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"document{PurePath(task.name).suffix}"
        path.write_bytes(data)
        output = import_function(reader)(str(path))
    if isinstance(output, str):
        output = {"pages": output.split("\f")}
    listed = output.get("pages") if isinstance(output, Mapping) else None
    if not isinstance(listed, list | tuple):
        raise DocumentError(
            "unreadable",
            f"the reader {reader} returned {type(output).__name__}; return a text, or {{'pages': […]}}",
        )
    return tuple(_page_of(page, number, task) for number, page in enumerate(listed, start=1))


def _page_of(content: Any, number: int, task: LoadTask) -> Page:
    """Return a page of a text, with pipe tables as tables, or of words with boxes in any order."""
    if isinstance(content, str):
        return _page_of_text(content, number, task)
    try:
        return page_of_words(msgspec.convert(content, WordsPage), number, "text")
    except msgspec.ValidationError as error:
        raise DocumentError(
            "unreadable",
            f"page {number} of the reader {task.options.reader} is neither text nor words ({error})",
        ) from None


def _page_of_text(text: str, number: int, task: LoadTask) -> Page:
    page = load_markdown(text.encode("utf-8", "replace"), task).pages[0]
    return Page(number, page.lines, page.tables)


def read_hidden(data: bytes, task: LoadTask) -> tuple[Page, ...]:
    """Return what the loaders read, with the text that no person sees as if it were seen."""
    pages = task.load_part(data, task.name).pages
    return tuple(
        replace(
            page,
            name=page.name.removeprefix(task.name).removeprefix(": "),
            lines=tuple(
                replace(line, words=tuple(replace(word, visible=True) for word in line.words))
                for line in page.lines
            ),
            tables=tuple(
                replace(table, cells=tuple(replace(cell, visible=True) for cell in table.cells))
                for table in page.tables
            ),
        )
        for page in pages
    )


def read_pdfplumber(data: bytes, task: LoadTask) -> tuple[Page, ...]:
    """Return the words of a PDF with their boxes, laid out as recognized words are."""
    import pdfplumber

    pages = []
    with pdfplumber.open(io.BytesIO(data)) as document:
        for number, page in enumerate(document.pages[: task.options.max_pages + 1], start=1):
            left, top, right, bottom = map(float, page.bbox)
            words = [
                (word["x0"] - left, word["top"] - top, word["x1"] - left, word["bottom"] - top, word["text"])
                for word in page.extract_words()
            ]
            pages.append(page_of_words(WordsPage(right - left, bottom - top, tuple(words)), number, "text"))
            page.close()
            task.beat()
    return tuple(pages)


def read_markitdown(data: bytes, task: LoadTask) -> tuple[Page, ...]:
    """Return the Markdown that is made of a document as one page without places."""
    import markitdown

    converter = markitdown.MarkItDown(enable_plugins=False)
    about = markitdown.StreamInfo(extension=PurePath(task.name).suffix.lower() or None)
    text = converter.convert_stream(io.BytesIO(data), stream_info=about).markdown
    return (_page_of_text(text, 1, task),)


def read_docling(data: bytes, task: LoadTask) -> tuple[Page, ...]:
    """Return the texts and tables of a document in reading order, each word with the box of its text."""
    from docling.datamodel.base_models import DocumentStream
    from docling.document_converter import DocumentConverter

    stream = DocumentStream(name=task.name, stream=io.BytesIO(data))
    document = DocumentConverter().convert(stream, max_num_pages=task.options.max_pages).document
    lines: dict[int, list[Line]] = defaultdict(list)
    tables: dict[int, list[Table]] = defaultdict(list)
    tallest = max((page.size.height for page in document.pages.values()), default=0.0)
    unit = 1.0 if tallest < _EMU_PER_POINT else _EMU_PER_POINT  # of slides it gives Office's own unit
    sizes = {
        number: (page.size.width / unit, page.size.height / unit) for number, page in document.pages.items()
    }

    def box_of(bounds: Any, number: int) -> Box | None:
        if bounds is None or number not in sizes:
            return None
        box = bounds.to_top_left_origin(document.pages[number].size.height)
        top, bottom = sorted((box.t, box.b))
        return Box(box.l / unit, top / unit, box.r / unit, bottom / unit)

    for item, _ in document.iterate_items():
        where = next(iter(getattr(item, "prov", ())), None)
        number = where.page_no if where is not None else 1
        item_data: Any = getattr(item, "data", None)
        if hasattr(item_data, "table_cells"):
            cells = tuple(
                Cell(
                    cell.start_row_offset_idx, cell.start_col_offset_idx, cell.text, cell.row_span,
                    cell.col_span, box_of(cell.bbox, number),
                )
                for cell in item_data.table_cells
            )  # fmt: skip
            tables[number].append(Table(cells, len(lines[number]) - 1))
        elif getattr(item, "text", ""):
            box = None if where is None else box_of(where.bbox, number)
            for text in item.text.splitlines():
                line = plain_line(text)
                if line is not None:
                    lines[number].append(Line(tuple(Word(word.text, box) for word in line.words), box))
    numbers = sorted({1, *sizes, *lines, *tables})
    return tuple(
        Page(
            number, tuple(lines[number]), tuple(tables[number]),
            *sizes.get(number, ()),
        )
        for number in numbers
    )  # fmt: skip
