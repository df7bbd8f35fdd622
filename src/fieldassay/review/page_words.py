"""The pages of a document for a person who labels it: sizes, and words with their places."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fieldassay.documents.load import load_bytes
from fieldassay.documents.options import DEFAULTS
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.text import page_text
from fieldassay.documents.transcript import DocumentError, Page, Transcript

MOST_PAGES = 2000
_DRAWN = ("text", "words")
"""Kinds of documents without a picture of their own: a browser writes their words at their places."""
_OPTIONS = replace(DEFAULTS, ocr="off", max_pages=MOST_PAGES, max_pixels=40_000_000)


def read_pages(file: DocumentFile, sha256: str | None = None) -> str:
    """Return the pages of a document as JSON; run it in a `DocumentPool`.

    Each has `number`, `width` and `height` in points, `words` (text, left, top, right, bottom as shares of
    the page) and, where the page has no picture, its `text`. Scans have pages without words. Pages of plain
    text are drawn from their words (`is_drawn`). Raises `DocumentError`, also for a file of another `sha256`.
    """
    data = file.read(_OPTIONS)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise DocumentError("unreadable", "is not the file that the review was made with")
    try:
        transcript = load_bytes(data, file.path.name, _OPTIONS)
    except DocumentError as error:
        if error.kind != "no_text":
            raise
        transcript = Transcript(file.id, "", "", _empty_pages(file, data))
    return json.dumps([_page(page, transcript.kind in _DRAWN) for page in transcript.pages])


def _page(page: Page, is_drawn: bool) -> dict[str, Any]:
    has_picture = page.width > 0 and page.height > 0
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "words": list(_words(page)) if has_picture else [],
        "text": None if has_picture else page_text(page).text,
        "is_drawn": is_drawn and has_picture,
    }


def _words(page: Page) -> Iterator[tuple[str, float, float, float, float]]:
    pieces = [(word.text, word.box, word.visible) for line in page.lines for word in line.words]
    pieces += [(cell.text, cell.box, cell.visible) for table in page.tables for cell in table.cells]
    for text, box, visible in pieces:
        if box is not None and visible and text.strip():
            left, right = (_share(side, page.width) for side in (box.left, box.right))
            top, bottom = (_share(side, page.height) for side in (box.top, box.bottom))
            yield " ".join(text.split()), left, top, right, bottom


def _share(side: float, whole: float) -> float:
    return round(min(max(side / whole, 0.0), 1.0), 5)


def _empty_pages(file: DocumentFile, data: bytes) -> tuple[Page, ...]:
    """Return the pages of a PDF or image without a text layer."""
    from fieldassay.documents.kinds import find_kind

    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        from fieldassay.documents.loaders.pdf import open_page, open_pdf

        pages = []
        with open_pdf(data) as document:
            for number in range(1, min(len(document), MOST_PAGES) + 1):
                with open_page(document, number) as page:
                    width, height = page.get_size()
                pages.append(Page(number, width=width, height=height))
        return tuple(pages)
    if kind == "image":
        from fieldassay.documents.loaders.image import open_pictures

        found = enumerate(open_pictures(data, _OPTIONS), 1)
        return tuple(Page(number, width=size[0], height=size[1]) for number, (_, size) in found)
    raise DocumentError("no_text", "holds no text")
