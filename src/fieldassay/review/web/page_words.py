"""The pages of a document for a person who labels it: sizes, and words with their places."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from fieldassay.documents.geometry import page_text
from fieldassay.documents.load import load_bytes
from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.loaders.pdf import open_page, open_pdf
from fieldassay.documents.sources import DEFAULTS, DocumentFile, find_kind
from fieldassay.documents.transcript import DocumentError, Line, Page, Transcript

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
    return json.dumps([_page(page, transcript.kind) for page in transcript.pages])


def _page(page: Page, kind: str) -> dict[str, Any]:
    has_picture = page.width > 0 and page.height > 0
    if kind == "text" and has_picture:
        page = replace(page, lines=tuple(_turned(line, page.width) for line in page.lines))
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "words": list(_words(page)) if has_picture else [],
        "text": None if has_picture else page_text(page).text,
        "is_drawn": kind in _DRAWN and has_picture,
        "has_widths": kind == "words" and has_picture,
    }


def _turned(line: Line, width: float) -> Line:
    """Return a line of plain text with its words where a reader sees them.

    The columns of plain text are in the order of writing. A line that begins from right to left begins at the
    right edge; words from left to right that follow each other in it keep their order.
    """
    if any(word.box is None for word in line.words):
        return line
    words = sorted(line.words, key=lambda word: 0.0 if word.box is None else word.box.left)  # as written
    directions = [_direction(word.text) for word in words]
    if next((one for one in directions if one), "L") != "R":
        return replace(line, words=tuple(words))
    for run in _runs(directions):
        boxes = [box for at in run if (box := words[at].box) is not None]
        by = width - max(box.right for box in boxes) - min(box.left for box in boxes)
        for at, box in zip(run, boxes, strict=True):
            words[at] = replace(words[at], box=replace(box, left=box.left + by, right=box.right + by))
    return replace(line, words=tuple(words))


def _runs(directions: Sequence[str]) -> list[list[int]]:
    """Return the places of words that move together: those from left to right, with digits between them.

    >>> _runs(["R", "L", "", "L", "", "R"])
    [[0], [1, 2, 3], [4], [5]]
    """
    runs: list[list[int]] = []
    for at, direction in enumerate(directions):
        following = next((one for one in directions[at:] if one), "R")
        is_left = bool(runs) and directions[runs[-1][0]] == "L"
        if is_left and (direction or following) == "L":
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _direction(text: str) -> str:
    """Return the direction of a word by its first letter: L, R, or nothing for digits and signs."""
    kinds = (unicodedata.bidirectional(one) for one in text)
    return next(("L" if kind == "L" else "R" for kind in kinds if kind in ("L", "R", "AL")), "")


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
    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        pages = []
        with open_pdf(data) as document:
            for number in range(1, min(len(document), MOST_PAGES) + 1):
                with open_page(document, number) as page:
                    width, height = page.get_size()
                pages.append(Page(number, width=width, height=height))
        return tuple(pages)
    if kind == "image":
        found = enumerate(open_pictures(data, _OPTIONS), 1)
        return tuple(Page(number, width=size[0], height=size[1]) for number, (_, size) in found)
    raise DocumentError("no_text", "holds no text")
