"""Which words of a page a person sees: those whose place on the rendered page is not of one color."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from operator import attrgetter
from typing import Any

from fieldassay.documents.transcript import Word

TINY = 1.5
"""Text less high than this, in points, is not for readers."""

_CONTRAST = 16
_SAMPLE = 24
"""Dots of a word that are looked at before all of them."""
_CHUNK = 4096
"""Words that are looked at together, at most."""
_MARGIN = 0.2
"""The share of a word's height ignored at its top and bottom: rules and neighbors stand there."""


def find_ink(image: Any, words: Sequence[Word], width: float, height: float) -> list[bool]:
    """Return for each word whether it is on the page, large enough to be read, and shows ink.

    `image` is the rendered page (rows, columns) in gray values; width and height are those of the page. Text
    drawn over other ink counts as seen: that is how the text layer of a scan is spared.
    """
    seen: list[bool] = []
    for start in range(0, len(words), _CHUNK):
        seen += _shown(image, words[start : start + _CHUNK], width, height)
    return seen


def _shown(image: Any, words: Sequence[Word], width: float, height: float) -> list[bool]:
    """Return for each word whether it is on the page, is not tiny, and has ink."""
    import numpy as np

    x0, y0, x1, y1, is_tiny = _dots(image, words, width, height)
    is_placed = (x1 > x0) & (y1 > y0) & ~is_tiny
    places = np.flatnonzero(is_placed)
    first = ((y0 + y1) // 2 * image.shape[1] + x0)[places, None]
    beside = np.minimum(np.arange(_SAMPLE), (x1 - x0)[places, None] - 1)
    sample = image.ravel()[first + beside]  # dots at half the height of each word
    has_ink = sample.max(axis=1) - sample.min(axis=1) > _CONTRAST
    seen: list[bool] = is_placed.tolist()
    for at in places[~has_ink].tolist():
        area = image[y0[at] : y1[at], x0[at] : x1[at]]
        if int(area.max()) - int(area.min()) <= _CONTRAST:
            seen[at] = not any(map(str.isalnum, words[at].text))  # a full stop may show no ink this small
    return seen


def _dots(image: Any, words: Sequence[Word], width: float, height: float) -> tuple[Any, ...]:
    """Return the first and last dots, across and down, of the letters of each word, and which are tiny."""
    import numpy as np

    rows, columns = image.shape
    across, down = columns / width, rows / height
    boxes = [word.box for word in words]
    left, top, right, bottom = (
        np.fromiter(map(attrgetter(side), boxes), float, len(boxes))
        for side in ("left", "top", "right", "bottom")
    )
    short = np.minimum(bottom - top, right - left)
    margin = _MARGIN * short
    x0 = np.maximum(np.floor((left + margin / 2) * across), 0).astype(np.int64)
    x1 = np.minimum(np.ceil((right - margin / 2) * across), columns).astype(np.int64)
    y0 = np.maximum(np.floor((top + margin) * down), 0).astype(np.int64)
    y1 = np.minimum(np.ceil((bottom - margin) * down), rows).astype(np.int64)
    return x0, y0, x1, y1, (short < TINY) & [len(word.text) > 1 for word in words]


def uncovered_ink(image: Any, words: Sequence[Word], width: float, height: float) -> float:
    """Return the share of a page's ink (places where its gray changes) outside of the words' boxes."""
    import numpy as np

    edges = np.abs(np.diff(image.astype(np.int16), axis=1)) > _CONTRAST
    total = int(edges.sum())
    across, down = image.shape[1] / width, image.shape[0] / height
    for word in words:
        if word.box is not None:
            top, left = max(floor(word.box.top * down) - 1, 0), max(floor(word.box.left * across) - 1, 0)
            edges[top : ceil(word.box.bottom * down) + 1, left : ceil(word.box.right * across) + 1] = False
    return int(edges.sum()) / total if total else 0.0
