"""The rows of a page: words side by side, from left to right, and the wide gaps between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct

from fieldassay.documents.layout.geometry import is_wide_gap
from fieldassay.documents.transcript import Box, Word

_SAME_ROW = 0.5
"""The share of a word's height that lies beside its neighbor's if both are in one row."""
_LOW = 0.1
"""The height, in points, that lower words are taken to have."""

Segment: TypeAlias = tuple[float, float, list[Word]]
"""The left and the right end of words without a wide gap between them, and the words."""


class Row(Struct):
    """Words side by side, in segments; `top` and `bottom` are the medians of those of its words."""

    top: float
    bottom: float
    highest: float
    lowest: float
    segments: list[Segment]

    @property
    def words(self) -> list[Word]:
        """Return its words from left to right."""
        if len(self.segments) == 1:
            return self.segments[0][2]
        return [word for _, _, words in self.segments for word in words]

    @property
    def box(self) -> Box:
        """Return the box around its words."""
        right = max(right for _, right, _ in self.segments)
        return Box(self.segments[0][0], self.highest, right, self.lowest)


def row_with(boxes: Iterable[Box], segments: list[Segment]) -> Row:
    """Return the row of segments whose words have these boxes, one or more."""
    tops, bottoms = [box.top for box in boxes], [box.bottom for box in boxes]
    highest, lowest = min(tops), max(bottoms)
    return Row(median(tops), median(bottoms), highest, lowest, segments)


def median(values: list[float]) -> float:
    """Return the median of one number or more, and sort them."""
    values.sort()
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def find_rows(words: Sequence[Word]) -> list[Row]:
    """Return the rows of words from top to bottom; a row may slope, as in a photograph."""
    placed = [(word, word.box) for word in words if word.box is not None]
    if not placed:
        return []
    boxes = [box for _, box in placed]
    rows = [_row_of([placed[at][0] for at in row], [boxes[at] for at in row]) for row in _side_by_side(boxes)]
    return sorted(rows, key=lambda row: (row.top + row.bottom, row.segments[0][0]))


class _Last(Struct, gc=False):
    """The place of the last word of a row; its slot is the strip of the page that holds its middle."""

    top: float
    bottom: float
    height: float
    slot: int


def _side_by_side(boxes: Sequence[Box]) -> list[list[int]]:
    """Return the boxes of each row from left to right; each joins the row whose last is most beside it."""
    tops, bottoms = [box.top for box in boxes], [box.bottom for box in boxes]
    heights = [box.bottom - box.top for box in boxes]
    step = max(median(list(heights)), 1.0)
    order = sorted(range(len(boxes)), key=tops.__getitem__)
    order.sort(key=[box.left for box in boxes].__getitem__)
    rows: list[list[int]] = []
    last: list[_Last] = []
    near: dict[int, list[int]] = {}
    for at in order:
        top, bottom, height = tops[at], bottoms[at], heights[at]
        word = _Last(top, bottom, height, int((top + bottom) / 2 / step))
        row = _most_beside(word, last, near)
        if row < 0:
            row = len(rows)
            rows.append([at])
            last.append(word)
            near.setdefault(word.slot, []).append(row)
            continue
        rows[row].append(at)
        if last[row].slot != word.slot:
            near.setdefault(word.slot, []).append(row)
        last[row] = word
    return rows


def _most_beside(word: _Last, last: Sequence[_Last], near: dict[int, list[int]]) -> int:
    """Return the row whose last word is most beside a word; -1 if there is none."""
    top, bottom, height, slot = word.top, word.bottom, word.height, word.slot
    best, most = -1, _SAME_ROW
    for place in (slot - 1, slot, slot + 1):
        for at in near.get(place, ()):
            other = last[at]
            if other.slot != place:
                continue
            common = (bottom if bottom < other.bottom else other.bottom) - (
                top if top > other.top else other.top
            )
            if common <= 0:
                continue
            least = height if height < other.height else other.height
            share = common / (least if least > _LOW else _LOW)
            if share > most or (share == most and best < 0):
                best, most = at, share
    return best


def _row_of(words: list[Word], boxes: list[Box]) -> Row:
    segments: list[Segment] = []
    start, before, right = 0, boxes[0], boxes[0].right
    for at, box in enumerate(boxes):
        if is_wide_gap(before, box):
            segments.append((boxes[start].left, right, words[start:at]))
            start, right = at, box.right
        elif box.right > right:
            right = box.right
        before = box
    segments.append((boxes[start].left, right, words[start:]))
    return row_with(boxes, segments)
