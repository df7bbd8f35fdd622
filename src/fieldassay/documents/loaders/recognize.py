"""Pictures of pages to pages, by recognition."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from msgspec.structs import replace

from fieldassay.documents.layout.turned import TurnedWord, lay_out_turned
from fieldassay.documents.loaders.content import require
from fieldassay.documents.ocr.upright import recognize
from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import Box, Page, Word
from fieldassay.io.workers.programs import find_program


def can_recognize(options: LoadOptions) -> bool:
    """Return whether pictures are recognized: the options allow it, and the engine is there."""
    if options.ocr == "off":
        return False
    if options.ocr == "always":
        return True  # a missing engine is then a failure
    if options.engine == "tesseract":
        return find_program("tesseract") is not None
    return all(find_spec(module) is not None for module in ("rapidocr", "onnxruntime", "PIL"))


def recognized_page(image: Any, number: int, size: tuple[float, float], options: LoadOptions) -> Page:
    """Return the page of an RGB picture; `size` is that of the page in points."""
    layout = lay_out_turned(recognized_words(image, size, options), size, source="ocr")
    return Page(number, layout.lines, layout.tables, round(size[0], 2), round(size[1], 2))


def recognized_words(image: Any, size: tuple[float, float], options: LoadOptions) -> list[TurnedWord]:
    """Return the words of an RGB picture of a page, boxes in points."""
    import numpy as np

    if options.engine == "rapidocr":
        for module in ("rapidocr", "onnxruntime"):
            require(module, "ocr")
    across, down = size[0] / image.width, size[1] / image.height
    return [
        TurnedWord(_scaled(found.word, across, down), found.quarters)
        for found in recognize(np.asarray(image), options.engine)
    ]


def _scaled(word: Word, across: float, down: float) -> Word:
    box = word.box
    assert box is not None
    places = (box.left * across, box.top * down, box.right * across, box.bottom * down)
    return replace(word, box=Box(*(round(place, 2) for place in places)))
