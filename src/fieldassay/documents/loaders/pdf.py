"""PDF to pages: the text layer by the boxes of its characters, hidden text told from visible by its ink."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fieldassay.documents.loaders.content import Content, Task, require
from fieldassay.documents.loaders.pdf_rules import find_rules
from fieldassay.documents.loaders.pdf_words import find_words
from fieldassay.documents.loaders.recognize import can_recognize, recognized_page
from fieldassay.documents.transcript import DocumentError, Page
from fieldassay.documents.turned import TurnedWord, lay_out_turned

_TOO_FEW_CHARACTERS = 4
"""A page with fewer visible characters has no text layer worth the name, if it shows anything else."""

MOST_DOTS = 4000
"""The longer side of a page that is recognized, in pixels, at most."""

_PASSWORD_ERROR = 4


def load_pdf(data: bytes, task: Task) -> Content:
    """Return the pages of a PDF; pages without text are recognized if the options and the extra allow it."""
    pages, notes = [], set[str]()
    with open_pdf(data) as document:
        if len(document) > task.options.max_pages:
            raise DocumentError("too_large", f"has more than {task.options.max_pages:,} pages")
        for number in range(1, len(document) + 1):
            with open_page(document, number) as page:
                made, told = _load_page(page, number, task)
            pages.append(made)
            notes |= told
    if not any(page.lines or page.tables for page in pages):
        remedy = (
            "" if "unread_page" not in notes else "; it shows images: install fieldassay[ocr] to read them"
        )
        raise DocumentError("no_text", f"has no text layer{remedy}")
    return Content(tuple(pages), tuple(notes))


@contextlib.contextmanager
def open_pdf(data: bytes) -> Iterator[Any]:
    """Yield a PDF that pypdfium2 opened. Raises `DocumentError` if it is damaged or has a password."""
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


def _load_page(page: Any, number: int, task: Task) -> tuple[Page, set[str]]:
    width, height = page.get_size()
    notes = set[str]()
    words = [] if task.options.ocr == "always" else find_words(page)
    if words:
        words = mark_hidden(page, words)
    shown = sum(len(word.word.text) for word in words if word.word.visible)
    if shown < _TOO_FEW_CHARACTERS and shows_anything(page):
        if can_recognize(task.options):
            dots = min(task.options.dpi / 72, MOST_DOTS / max(width, height))
            image = page.render(scale=dots).to_pil().convert("RGB")
            return recognized_page(image, number, (width, height), task.options), {"ocr"}
        notes.add("unread_page")
    if any(not word.word.visible for word in words):
        notes.add("hidden_text")
    layout = lay_out_turned(words, (width, height), find_rules(page) if words else ())
    return Page(number, layout.lines, layout.tables, round(width, 2), round(height, 2)), notes


def shows_anything(page: Any) -> bool:
    """Return whether a rendered page is not of one color."""
    return bool(render_gray(page).std() > 1.0)


def render_gray(page: Any) -> Any:
    """Return a small rendering of a page as an array of gray values."""
    width, height = page.get_size()
    scale = min(1.0, 2000 / max(width, height, 1.0))
    pixels = page.render(scale=max(scale, 1 / max(width, height, 1.0)), grayscale=True).to_numpy()
    return pixels if pixels.ndim == 2 else pixels[:, :, 0]


def mark_hidden(page: Any, words: Sequence[TurnedWord]) -> list[TurnedWord]:
    """Return the words, those that leave no ink on the rendered page, or none that an eye sees, as invisible."""
    from fieldassay.documents.ink import find_ink

    width, height = page.get_size()
    seen = find_ink(render_gray(page), [word.word for word in words], width, height)
    if all(seen):
        return list(words)
    return [
        word if is_seen else TurnedWord(replace(word.word, visible=False), word.quarters)
        for word, is_seen in zip(words, seen, strict=True)
    ]
