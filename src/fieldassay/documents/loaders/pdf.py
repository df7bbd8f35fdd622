"""PDF to pages: the text layer by the boxes of its characters, hidden text told from visible by its ink."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from ctypes import c_ubyte
from typing import Any

from msgspec.structs import replace

from fieldassay.documents.layout.ink import find_ink, uncovered_ink
from fieldassay.documents.layout.turned import TurnedWord, lay_out_turned
from fieldassay.documents.loaders.content import Content, Task, require
from fieldassay.documents.loaders.pdf_calls import CharacterBoxes
from fieldassay.documents.loaders.pdf_drawings import Drawings
from fieldassay.documents.loaders.pdf_words import find_words
from fieldassay.documents.loaders.recognize import can_recognize, recognized_words
from fieldassay.documents.options import DEFAULTS, LoadOptions
from fieldassay.documents.transcript import Box, DocumentError, Page

_TOO_FEW_CHARACTERS = 4
"""A page with fewer visible characters has no text layer worth the name, if it shows anything else."""

_BLANK = 1.0
"""The standard deviation of the gray values of a page that shows nothing."""

_LARGE_PICTURE = 0.5
_MOST_INK = 0.5

MOST_DOTS = 4000
"""The longer side of a page that is recognized, in pixels, at most."""

_PASSWORD_ERROR = 4


def load_pdf(data: bytes, task: Task) -> Content:
    """Return the pages of a PDF; pages without text are recognized if the options and the extra allow it."""
    pages, notes = [], set[str]()
    with open_pdf(data, task.options) as document:
        reused = _Reused()
        for number in range(1, len(document) + 1):
            with open_page(document, number) as page:
                made, told = _load_page(page, number, task, reused)
            pages.append(made)
            notes |= told
    if not any(page.lines or page.tables for page in pages):
        remedy = (
            "; it shows pictures: load it with recognition, from the extra ocr"
            if "unread_page" in notes
            else ""
        )
        raise DocumentError("no_text", f"has no text{remedy}")
    return Content(tuple(pages), tuple(notes))


@contextlib.contextmanager
def open_pdf(data: bytes, options: LoadOptions = DEFAULTS) -> Iterator[Any]:
    """Yield a PDF that pypdfium2 opened.

    Raises `DocumentError` if it is damaged, has a password, or more pages than the options allow.
    """
    require("pypdfium2", "documents")
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
        count = len(document)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR and b"/Encrypt" in data:
            raise DocumentError("encrypted", "has a password; save it without one") from None
        raise DocumentError("unreadable", f"is no PDF that can be read ({str(error)[:100]})") from None
    if not count:
        raise DocumentError("unreadable", "has no page")
    try:
        if count > options.max_pages:
            raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
        yield document
    finally:
        document.close()


@contextlib.contextmanager
def open_page(document: Any, number: int) -> Iterator[Any]:
    """Yield a page of a PDF, numbered from 1, with the values of its form fields in its text."""
    import pypdfium2
    from pypdfium2 import raw

    try:
        page = document[number - 1]
        if raw.FPDFPage_GetAnnotCount(page) and raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == 1:
            page.close()
            page = document[number - 1]
    except pypdfium2.PdfiumError as error:
        raise DocumentError("unreadable", f"has a page that cannot be read ({error})", number) from None
    try:
        yield page
    finally:
        page.close()


class _Reused:
    """The places in memory that pdfium fills for every page, which take longer to make than to fill."""

    def __init__(self) -> None:
        self.boxes = CharacterBoxes()
        self._pixels: Any = b""

    def bitmap(self, width: int, height: int, *, format: int, rev_byteorder: bool) -> Any:
        """Return a picture of one byte for each dot, in the place of the one before."""
        import pypdfium2

        if len(self._pixels) < width * height:
            self._pixels = (c_ubyte * (width * height))()
        return pypdfium2.PdfBitmap.new_native(width, height, format, rev_byteorder, self._pixels)


def _load_page(page: Any, number: int, task: Task, reused: _Reused) -> tuple[Page, set[str]]:
    size = page.get_size()
    notes = set[str]()
    found = [] if task.options.ocr == "always" else find_words(page, reused.boxes)
    gray = _render_gray(page, size, reused)
    words = _mark_hidden(gray, found, size)
    drawings = Drawings(page)
    if task.options.ocr == "always" or _shows_more(drawings, gray, words, size):
        if can_recognize(task.options):
            words += _recognize(page, words, size, task)
            task.beat()
            notes.add("ocr")
        else:
            notes.add("unread_page")
    if any(not word.word.visible for word in words):
        notes.add("hidden_text")
    layout = lay_out_turned(words, size, drawings.rules if words else ())
    return Page(number, layout.lines, layout.tables, round(size[0], 2), round(size[1], 2)), notes


def _render_gray(page: Any, size: tuple[float, float], reused: _Reused) -> Any:
    """Return a small rendering of a page as an array of gray values; the next page takes its place."""
    longest = max(*size, 1.0)
    scale = max(min(1.0, 2000 / longest), 1 / longest)
    pixels = page.render(scale=scale, grayscale=True, bitmap_maker=reused.bitmap).to_numpy()
    return pixels if pixels.ndim == 2 else pixels[:, :, 0]


def _mark_hidden(gray: Any, words: list[TurnedWord], size: tuple[float, float]) -> list[TurnedWord]:
    """Return the words, with those without ink on the rendered page, or without visible ink, as invisible."""
    seen = find_ink(gray, [word.word for word in words], *size)
    if all(seen):
        return words
    return [
        word if is_seen else TurnedWord(replace(word.word, visible=False), word.quarters)
        for word, is_seen in zip(words, seen, strict=True)
    ]


def _shows_more(
    drawings: Drawings, gray: Any, words: Sequence[TurnedWord], size: tuple[float, float]
) -> bool:
    """Return whether a page shows something that its text layer does not say.

    It has next to no text and is not blank; or a picture takes most of it, and most of the ink lies outside
    of the words: a scan that was stamped or signed digitally.
    """
    seen = [word.word for word in words if word.word.visible]
    if sum([len(word.text) for word in seen[:_TOO_FEW_CHARACTERS]]) < _TOO_FEW_CHARACTERS:
        return bool(gray.std() > _BLANK)
    return drawings.largest_picture >= _LARGE_PICTURE and uncovered_ink(gray, seen, *size) > _MOST_INK


def _recognize(
    page: Any, words: Sequence[TurnedWord], size: tuple[float, float], task: Task
) -> list[TurnedWord]:
    """Return the recognized words of a page, without those where the text layer has visible words."""
    image = page.render(scale=min(task.options.dpi / 72, MOST_DOTS / max(size))).to_pil().convert("RGB")
    known = [word.word.box for word in words if word.word.visible and word.word.box is not None]
    return [
        found
        for found in recognized_words(image, size, task.options)
        if not any(_holds_center(box, found.word.box) for box in known)
    ]


def _holds_center(outer: Box, inner: Box | None) -> bool:
    if inner is None:
        return False
    x, y = (inner.left + inner.right) / 2, (inner.top + inner.bottom) / 2
    return outer.left - 1 <= x <= outer.right + 1 and outer.top - 1 <= y <= outer.bottom + 1
