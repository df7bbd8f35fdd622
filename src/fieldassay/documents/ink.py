"""Which words of a page a person sees: those whose place on the rendered page is not of one color."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
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
    rows, columns = image.shape
    across, down = columns / width, rows / height
    return [_is_seen(image, word, across, down) for word in words]


def uncovered_ink(image: Any, words: Sequence[Word], width: float, height: float) -> float:
    """Return the share of a page's ink (places where its gray changes) that lies outside of the words' boxes."""
    import numpy as np

    edges = np.abs(np.diff(image.astype(np.int16), axis=1)) > _CONTRAST
    total = int(edges.sum())
    across, down = image.shape[1] / width, image.shape[0] / height
    for word in words:
        if word.box is not None:
            top, left = max(floor(word.box.top * down) - 1, 0), max(floor(word.box.left * across) - 1, 0)
            edges[top : ceil(word.box.bottom * down) + 1, left : ceil(word.box.right * across) + 1] = False
    return int(edges.sum()) / total if total else 0.0


def _is_seen(image: Any, word: Word, across: float, down: float) -> bool:
    left, top, right, bottom = _inner(word)
    rows, columns = image.shape
    x0, x1 = max(floor(left * across), 0), min(ceil(right * across), columns)
    y0, y1 = max(floor(top * down), 0), min(ceil(bottom * down), rows)
    if x1 <= x0 or y1 <= y0 or _is_tiny(word):
        return False
    area = image[y0:y1, x0:x1]
    if int(area.max()) - int(area.min()) > _CONTRAST:
        return True
    return not any(map(str.isalnum, word.text))  # a full stop may show no ink at this resolution


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
