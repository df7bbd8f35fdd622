"""Pages as pictures in shades of gray, and pictures as files."""

from __future__ import annotations

import io
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fieldassay.documents.transcript import DocumentError

if TYPE_CHECKING:
    from PIL.Image import Image

_MOST_DOTS = 4000
"""The longest side of a picture."""

_STILL = time.gmtime(1_767_225_600)
"""The time that files are dated by, so that they are the same every time."""


def render_pdf(data: bytes, dpi: float, most: int = 5000) -> list[Image]:
    """Return the pages of a PDF in gray. Raises `DocumentError`, also for more pages than `most`."""
    from fieldassay.documents.loaders.pdf import open_page, open_pdf

    with open_pdf(data) as document:
        if len(document) > most:
            raise DocumentError("too_large", f"has more than {most:,} pages")
        pictures = []
        for number in range(1, len(document) + 1):
            with open_page(document, number) as page:
                scale = min(dpi / 72, _MOST_DOTS / max(*page.get_size(), 1.0))
                pictures.append(page.render(scale=scale, grayscale=True).to_pil().convert("L"))
        return pictures


def save_pictures(pictures: Sequence[Image], suffix: str, dpi: float, quality: int = 60) -> bytes:
    """Return pictures as a file of the kind that a suffix names; several only as PDF or TIFF."""
    stream = io.BytesIO()
    first, others = pictures[0], list(pictures[1:])
    if suffix == ".pdf":
        options: dict[str, Any] = {"creationDate": _STILL, "modDate": _STILL}
        options |= {} if first.mode == "1" else {"quality": quality}
        first.save(stream, "PDF", save_all=True, append_images=others, resolution=dpi, **options)
    elif suffix in (".tif", ".tiff"):
        first.save(
            stream, "TIFF", save_all=True, append_images=others, dpi=(dpi, dpi), compression="tiff_lzw"
        )
    elif suffix in (".jpg", ".jpeg"):
        first.convert("L").save(stream, "JPEG", quality=quality, dpi=(dpi, dpi))
    else:
        first.save(stream, "PNG", dpi=(dpi, dpi), optimize=True)
    return stream.getvalue()
