"""Recognized words with their boxes, in no order, to pages: what another OCR program wrote."""

from __future__ import annotations

from msgspec import Struct

from fieldassay.documents.layout.layout import lay_out
from fieldassay.documents.loaders.content import Content, Task
from fieldassay.documents.transcript import Box, DocumentError, Page, Word


class _WordsPage(Struct, frozen=True):
    width: float
    height: float
    words: tuple[tuple[float, float, float, float, str], ...]


class _WordsDocument(Struct, frozen=True):
    pages: tuple[_WordsPage, ...]


def load_words(data: bytes, _task: Task) -> Content:
    """Return the pages of a JSON file of words with boxes.

    Its form: `{"id", "pages": [{"width", "height", "words": [[left, top, right, bottom, text], …]}]}`.

    The layout of each page is made from the boxes, in points from the top left corner.
    """
    import msgspec

    try:
        held = msgspec.json.decode(data, type=_WordsDocument)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise DocumentError("unreadable", f"is no line of recognized words ({str(error)[:100]})") from None
    return Content(tuple(_page(page, number) for number, page in enumerate(held.pages, start=1)))


def _page(page: _WordsPage, number: int) -> Page:
    words = [
        Word(part, Box(min(left, right), min(top, bottom), max(left, right), max(top, bottom)))
        for left, top, right, bottom, text in page.words
        for part in [" ".join(text.split())]
        if part
    ]
    layout = lay_out(words, source="ocr")
    return Page(number, layout.lines, layout.tables, page.width, page.height)
