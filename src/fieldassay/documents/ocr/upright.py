"""Recognizes the words of an image, and which way up it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.layout.geometry import turn
from fieldassay.documents.layout.turned import TurnedWord
from fieldassay.documents.ocr.rapid import recognize_rapidly
from fieldassay.documents.ocr.tesseract import recognize_by_tesseract
from fieldassay.documents.transcript import Word

_GOOD = 0.8
"""The mean confidence of characters from which an image counts as the right way up."""

_ENGINES: dict[str, Callable[[Any], list[Word]]] = {
    "rapidocr": recognize_rapidly,
    "tesseract": recognize_by_tesseract,
}


class _Trial(Struct, frozen=True):
    """The words of an image after it was turned back by some quarter turns, boxes in pixels of that image."""

    words: Sequence[Word]
    quarters: int
    size: tuple[int, int]

    @property
    def quality(self) -> float:
        weight = sum(len(word.text) for word in self.words)
        return (
            sum((word.confidence or 0.0) * len(word.text) for word in self.words) / weight if weight else 0.0
        )

    @property
    def is_upright(self) -> bool:
        """Whether most characters stand in words that are wider than high."""
        upright = sideways = 0
        for word in self.words:
            if word.box is not None and len(word.text) > 2:
                is_wide = word.box.right - word.box.left >= word.box.bottom - word.box.top
                upright += len(word.text) * is_wide
                sideways += len(word.text) * (not is_wide)
        return upright >= sideways


def recognize(image: Any, engine: str) -> list[TurnedWord]:
    """Return the words of an image (rows, columns, RGB), boxes in pixels, with the image's turns.

    The image is turned by quarters, and recognized again, if it lies on its side or if few characters are
    confident; the turn with the greatest confidence is kept.
    """
    best = _try(image, 0, engine)
    if not best.words:
        best = _try(image, 2, engine)
        if not best.words:  # lines on their side would have been found in one of the two
            return []
    if best.quality < _GOOD or not best.is_upright:
        for quarters in (2, 1, 3) if best.is_upright else (1, 3):
            if quarters == best.quarters:
                continue
            trial = _try(image, quarters, engine)
            if (trial.is_upright >= best.is_upright and trial.quality > best.quality) or not best.is_upright:
                best = trial
            if best.quality >= _GOOD and best.is_upright:
                break
    return [
        TurnedWord(replace(word, box=turn(word.box, best.quarters, *best.size)), best.quarters)
        for word in best.words
        if word.box is not None
    ]


def _try(image: Any, quarters: int, engine: str) -> _Trial:
    import numpy as np

    straight = np.ascontiguousarray(np.rot90(image, quarters))
    return _Trial(_ENGINES[engine](straight), quarters, (straight.shape[1], straight.shape[0]))
