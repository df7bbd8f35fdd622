"""How documents are loaded: OCR, resolution, limits."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Ocr = Literal["auto", "off", "always"]


class LoadOptions(Struct, frozen=True):
    """The options of all loaders; they are part of what a transcript says of its loader."""

    ocr: Ocr = "auto"
    """`auto` recognizes pages without a text layer, `always` every page of PDFs and images, `off` none."""
    engine: Literal["rapidocr", "tesseract"] = "rapidocr"
    dpi: int = 200
    """The resolution at which pages are rendered for recognition."""
    max_bytes: int = 1 << 28
    """The largest file, and the most that a compressed one may unpack to."""
    max_pages: int = 5000
    max_pixels: int = 120_000_000
    """The largest image, against decompression bombs."""
    max_cells: int = 2_000_000
    max_depth: int = 4
    """Levels of attachments within attachments."""


DEFAULTS = LoadOptions()
