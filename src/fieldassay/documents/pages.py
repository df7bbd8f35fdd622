"""Pages as pictures: of PDFs and images as they are, of text and recognized words drawn at their places."""

import io
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any

from msgspec import Struct

from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.loaders.pdf import embedded_files, is_pdf, open_page, open_pdf
from fieldassay.documents.sources import DEFAULTS, DocumentFile, find_kind, load_bytes
from fieldassay.documents.transcript import Box, DocumentError, Page

_INK = "black"
_DRAWN = ("words", "text")
"""Kinds whose pages are drawn from their words: they have boxes and no pictures of their own."""


class PageRegion(Struct, frozen=True):
    """A part of a page as it is displayed, in shares of its width and height, from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float


class PictureOptions(Struct, frozen=True):
    """The rendering of a page, or of a part of it."""

    dpi: float = 150.0
    max_side: int = 2000
    """The longer side of the picture in pixels, at most."""
    crop: Box | PageRegion | None = None
    """The part of the page as it is displayed: in points, or in shares of its sides; None: all of it."""
    margin: float = 0.0
    """What is shown around the crop, in points."""
    colors: int | None = None
    """The colors of a palette, for small files; None: all colors."""


WHOLE_PAGE = PictureOptions()


class _Sheet(Struct, frozen=True):
    """A page that can be rendered: its size in points, upright, and what draws a part of it at a scale."""

    size: tuple[float, float]
    draw: Callable[[Box, float], Any]


def render_page(file: DocumentFile, number: int, options: PictureOptions = WHOLE_PAGE) -> bytes:
    """Return a page of a document, numbered from 1, or a part of it, as PNG, turned as it is displayed.

    Boxes of evidence are in points of the page as it is displayed, so `PictureOptions(crop=box)` shows them.
    Run it in a `DocumentPool`: pdfium is not safe in threads. Raises `DocumentError`, of kind `no_image` for
    a page or place that is not there, and for kinds of documents that have no pictures of their pages.
    """
    (picture,) = render_pages(file, [(number, options)])
    if isinstance(picture, DocumentError):
        raise picture
    return picture


def render_pages(
    file: DocumentFile, page_options: Sequence[tuple[int, PictureOptions]]
) -> list[bytes | DocumentError]:
    """Return pages of a document, or parts of them, as PNG, or why there is none; the file is opened once.

    Raises `DocumentError` for a document that cannot be read. See `render_page`.
    """
    places: dict[int, list[int]] = defaultdict(list)
    for at, (number, _) in enumerate(page_options):
        places[number].append(at)
    pictures: list[bytes | DocumentError] = [
        DocumentError("no_image", f"has no page {number}", number) for number, _ in page_options
    ]
    with closing(_sheets(file, sorted(places))) as sheets:
        for number, sheet in sheets:
            for at in places[number]:
                try:
                    pictures[at] = _draw(sheet, page_options[at][1])
                except DocumentError as error:
                    pictures[at] = error
    return pictures


def _sheets(file: DocumentFile, numbers: Sequence[int]) -> Generator[tuple[int, _Sheet], None, None]:
    """Yield those of some pages, in ascending order, that the document has; each is valid until the next."""
    data = file.read()
    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        yield from _pdf_sheets(data, numbers)
    elif kind == "image":
        yield from _image_sheets(data, numbers)
    elif kind in _DRAWN:
        pages = load_bytes(data, file.path.name).pages
        yield from (
            (number, _text_sheet(pages[number - 1])) for number in numbers if 1 <= number <= len(pages)
        )
    else:
        raise DocumentError("no_image", f"is of the kind {kind}, which has no pictures of its pages")


def _pdf_sheets(
    data: bytes, numbers: Sequence[int], before: int = 0, depth: int = 0
) -> Generator[tuple[int, _Sheet], None, int]:
    """Yield the pages of a PDF, then those of the PDFs inside of it; return the last number."""
    inner: list[bytes] = []
    with open_pdf(data) as document:
        if numbers and max(numbers) > before + len(document) and depth < DEFAULTS.max_depth:
            inner = [file_data for _, file_data in embedded_files(document) if is_pdf(file_data)]
        last = before + len(document)
        for number in (page_number for page_number in numbers if before < page_number <= last):
            with open_page(document, number - before) as page:
                width, height = page.get_size()

                def draw(part: Box, scale: float, page: Any = page, right: float = width,
                         bottom: float = height) -> Any:  # fmt: skip
                    cut = part.left, bottom - part.bottom, right - part.right, part.top
                    return page.render(scale=scale, crop=cut).to_pil().convert("RGB")

                yield number, _Sheet((width, height), draw)
    for file_data in inner:
        with suppress(DocumentError):  # it has no pages in the transcript
            last = yield from _pdf_sheets(file_data, numbers, last, depth + 1)
    return last


def _image_sheets(data: bytes, numbers: Sequence[int]) -> Generator[tuple[int, _Sheet], None, None]:
    last = max(numbers, default=0)
    with closing(open_pictures(data, DEFAULTS)) as pictures:
        for number, (picture, (width, height)) in enumerate(pictures, start=1):
            if number in numbers:
                dots = picture.width / width

                def draw(part: Box, scale: float, picture: Any = picture, dots: float = dots) -> Any:
                    corners = (part.left, part.top, part.right, part.bottom)
                    cut = picture.crop(tuple(round(corner * dots) for corner in corners))
                    sides = _sides(part, scale)
                    return cut.resize(sides) if sides[0] < cut.width else cut

                yield number, _Sheet((width, height), draw)
            if number >= last:
                return


def _text_sheet(page: Page) -> _Sheet:
    """Return a page whose words, and the texts of whose cells, are drawn at their places."""

    def draw(part: Box, scale: float) -> Any:
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", _sides(part, scale), "white")
        canvas = ImageDraw.Draw(picture)
        words = [(word.text, word.box) for line in page.lines for word in line.words if word.visible]
        words += [(cell.text, cell.box) for table in page.tables for cell in table.cells if cell.visible]
        for text, box in words:
            if box is not None:
                moved = (
                    box.left - part.left,
                    box.top - part.top,
                    box.right - part.left,
                    box.bottom - part.top,
                )
                _write(canvas, text, Box(*(side * scale for side in moved)))
        return picture

    return _Sheet((page.width, page.height), draw)


def _write(canvas: Any, text: str, box: Box) -> None:
    """Write a text into its box, as large as it fits."""
    from PIL import ImageFont

    high, wide = box.bottom - box.top, box.right - box.left
    font = ImageFont.load_default(max(high * 0.85, 4.0))
    needed = canvas.textlength(text.replace("\n", " "), font=font)
    if needed > wide > 0:
        font = ImageFont.load_default(max(high * 0.85 * wide / needed, 4.0))
    middle = (box.left, (box.top + box.bottom) / 2)
    canvas.text(middle, text.replace("\n", " "), fill=_INK, font=font, anchor="lm")


def _draw(sheet: _Sheet, options: PictureOptions) -> bytes:
    part = _part(sheet.size, options)
    longest = max(part.right - part.left, part.bottom - part.top, 1.0)
    picture = sheet.draw(part, min(options.dpi / 72, options.max_side / longest))
    if max(picture.size) > options.max_side:  # sides are rounded up
        picture.thumbnail((options.max_side, options.max_side))
    stream = io.BytesIO()
    (picture if options.colors is None else picture.quantize(options.colors)).save(stream, "PNG")
    return stream.getvalue()


def _part(size: tuple[float, float], options: PictureOptions) -> Box:
    """Return the part of a page of this size that is asked for, in points, with its margin."""
    width, height = size
    crop, margin = options.crop, options.margin
    if crop is None:
        return Box(0.0, 0.0, width, height)
    across, down = (width, height) if isinstance(crop, PageRegion) else (1.0, 1.0)
    left, right = max(crop.left * across - margin, 0.0), min(crop.right * across + margin, width)
    top, bottom = max(crop.top * down - margin, 0.0), min(crop.bottom * down + margin, height)
    if not (left < right and top < bottom):  # also where a number is none
        raise DocumentError("no_image", "has no such place on its page")
    return Box(left, top, right, bottom)


def _sides(part: Box, scale: float) -> tuple[int, int]:
    return max(1, round((part.right - part.left) * scale)), max(1, round((part.bottom - part.top) * scale))
