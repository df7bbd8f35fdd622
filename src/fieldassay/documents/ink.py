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
"""The share of a word's height ignored at its top and bottom: rules and neighbors stand there."""


def find_ink(image: Any, words: Sequence[Word], width: float, height: float) -> list[bool]:
    """Return for each word whether it is on the page, large enough to be read, and shows ink.

    `image` is the rendered page (rows, columns) in gray values; width and height are those of the page. Text
    drawn over other ink counts as seen: that is how the text layer of a scan is spared.
    """
    page = _Pixels(image, width, height)
    return [page.shows(word) for word in words]


class _Pixels:
    """The gray values of a page, for quick looks at single rows of them."""

    def __init__(self, image: Any, width: float, height: float) -> None:
        self._image, self._data = image, image.tobytes()
        self._rows, self._columns = image.shape
        self._across, self._down = self._columns / width, self._rows / height

    def shows(self, word: Word) -> bool:
        """Return whether a word is on the page, is not tiny, and has ink."""
        box = word.box
        assert box is not None
        high, wide = box.bottom - box.top, box.right - box.left
        short = high if high < wide else wide
        margin = _MARGIN * short  # the part of the box in which the letters are
        x0 = max(floor((box.left + margin / 2) * self._across), 0)
        x1 = min(ceil((box.right - margin / 2) * self._across), self._columns)
        y0 = max(floor((box.top + margin) * self._down), 0)
        y1 = min(ceil((box.bottom - margin) * self._down), self._rows)
        if x1 <= x0 or y1 <= y0 or (short < TINY and len(word.text) > 1):
            return False
        start = (y0 + y1) // 2 * self._columns
        middle = self._data[start + x0 : start + x1]
        if max(middle) - min(middle) > _CONTRAST:
            return True
        area = self._image[y0:y1, x0:x1]
        if int(area.max()) - int(area.min()) > _CONTRAST:
            return True
        return not any(map(str.isalnum, word.text))  # a full stop may show no ink at this resolution


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
