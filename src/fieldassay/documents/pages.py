"""Pages as pictures: of PDFs and images as they are, of other pages drawn from their words."""

from __future__ import annotations

import io
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fieldassay.documents.kinds import find_kind
from fieldassay.documents.options import DEFAULTS
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.transcript import Box, DocumentError, Page

_INK = "black"


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """The rendering of a page: resolution, longest side in pixels, and the part of the page (None: all)."""

    dpi: float = 150.0
    max_side: int = 2000
    crop: Box | None = None


WHOLE_PAGE = PictureOptions()


def render_page(file: DocumentFile, number: int, options: PictureOptions = WHOLE_PAGE) -> bytes:
    """Return a page of a PDF or an image, numbered from 1, as PNG.

    Run it in a `DocumentPool`: pdfium is not safe in threads. Raises `DocumentError`, of kind `no_image` for
    kinds of documents that have no pictures of their pages.
    """
    from fieldassay.documents.loaders.image import open_pictures
    from fieldassay.documents.loaders.pdf import open_page, open_pdf

    data = file.read()
    kind = find_kind(file.id, data)
    if kind == "pdf":
        with open_pdf(data) as document:
            if not 1 <= number <= len(document):
                raise DocumentError("no_image", f"has no page {number}", number)
            with open_page(document, number) as page:
                width, height = page.get_size()
                picture = page.render(scale=_scale((width, height), options)).to_pil().convert("RGB")
    elif kind == "image":
        found = next(islice(open_pictures(data, DEFAULTS), number - 1, None), None)
        if found is None:
            raise DocumentError("no_image", f"has no page {number}", number)
        picture, (width, height) = found
        scale = _scale((width, height), options)
        sides = max(1, round(width * scale)), max(1, round(height * scale))
        picture = picture.resize(sides) if sides[0] < picture.width else picture
    else:
        raise DocumentError("no_image", f"is of the kind {kind}, which has no pictures of its pages", number)
    return _png(_cropped(picture, (width, height), options.crop))


def draw_page(page: Page, options: PictureOptions = WHOLE_PAGE) -> bytes:
    """Return a page with its words, and the texts of its cells, drawn at their places, as PNG."""
    from PIL import Image, ImageDraw

    scale = _scale((page.width, page.height), options)
    sides = max(1, round(page.width * scale)), max(1, round(page.height * scale))
    picture = Image.new("RGB", sides, "white")
    canvas = ImageDraw.Draw(picture)
    words = [(word.text, word.box) for line in page.lines for word in line.words if word.visible]
    words += [(cell.text, cell.box) for table in page.tables for cell in table.cells if cell.visible]
    for text, box in words:
        if box is not None:
            _draw(canvas, text, box, scale)
    return _png(_cropped(picture, (page.width, page.height), options.crop))


def _draw(canvas: Any, text: str, box: Box, scale: float) -> None:
    """Write a text into its box, as large as it fits."""
    from PIL import ImageFont

    high, wide = (box.bottom - box.top) * scale, (box.right - box.left) * scale
    font = ImageFont.load_default(max(high * 0.85, 4.0))
    needed = canvas.textlength(text.replace("\n", " "), font=font)
    if needed > wide > 0:
        font = ImageFont.load_default(max(high * 0.85 * wide / needed, 4.0))
    middle = ((box.left * scale), (box.top + box.bottom) / 2 * scale)
    canvas.text(middle, text.replace("\n", " "), fill=_INK, font=font, anchor="lm")


def _scale(size: tuple[float, float], options: PictureOptions) -> float:
    return min(options.dpi / 72, options.max_side / max(*size, 1.0))


def _cropped(picture: Any, size: tuple[float, float], crop: Box | None) -> Any:
    if crop is None:
        return picture
    across, down = picture.width / size[0], picture.height / size[1]
    left, top = max(0, int(crop.left * across)), max(0, int(crop.top * down))
    right = min(picture.width, max(left + 1, round(crop.right * across)))
    bottom = min(picture.height, max(top + 1, round(crop.bottom * down)))
    if right <= left or bottom <= top:
        raise DocumentError("no_image", "has no such place on its page")
    return picture.crop((left, top, right, bottom))


def _png(picture: Any) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()
