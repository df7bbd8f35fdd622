"""Which words of a page a person sees: those whose place on the rendered page is not of one color."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fieldassay.documents.transcript import Word

TINY = 1.5
"""Text less high than this, in points, is not for readers."""

_CONTRAST = 16
_MARGIN = 0.2
"""The share of a word's height at its top and bottom that is not looked at: rules and neighbors stand there."""


def find_ink(image: Any, words: Sequence[Word], width: float, height: float) -> list[bool]:
    """Return for each word whether it is on the page, large enough to be read, and shows ink.

    `image` is the rendered page (rows, columns) in gray values; width and height are those of the page. Text
    drawn over other ink counts as seen: that is how the text layer of a scan is spared.
    """
    import numpy as np

    rows, columns = image.shape
    gray = image.astype(np.int16)
    edges = np.zeros((rows, columns), dtype=bool)
    edges[:, 1:] |= np.abs(np.diff(gray, axis=1)) > _CONTRAST
    edges[1:, :] |= np.abs(np.diff(gray, axis=0)) > _CONTRAST
    sums = np.zeros((rows + 1, columns + 1), dtype=np.int32)
    sums[1:, 1:] = edges.cumsum(axis=0, dtype=np.int32).cumsum(axis=1)
    boxes = np.array([_inner(word) for word in words], dtype=np.float64).reshape(-1, 4)
    scale = np.array([columns / width, rows / height, columns / width, rows / height])
    limit = np.array([columns, rows, columns, rows])
    low = np.clip(np.floor(boxes * scale), 0, limit).astype(np.int64)
    high = np.clip(np.ceil(boxes * scale), 0, limit).astype(np.int64)
    left, top, right, bottom = low[:, 0], low[:, 1], high[:, 2], high[:, 3]
    ink = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
    is_on_page = (right > left) & (bottom > top)
    return [
        bool(on_page and (found or not any(map(str.isalnum, word.text))) and not _is_tiny(word))
        for word, found, on_page in zip(words, ink > 0, is_on_page, strict=True)
    ]


def _inner(word: Word) -> tuple[float, float, float, float]:
    """Return the part of a word's box in which its letters are."""
    box = word.box
    assert box is not None
    short = _MARGIN * min(box.bottom - box.top, box.right - box.left)
    return box.left + short / 2, box.top + short, box.right - short / 2, box.bottom - short


def _is_tiny(word: Word) -> bool:
    box = word.box
    assert box is not None
    return min(box.bottom - box.top, box.right - box.left) < TINY and len(word.text) > 1
