"""Boxes of words: their union, the gaps between them, quarter turns of a page."""

from __future__ import annotations

from collections.abc import Iterable

from fieldassay.documents.transcript import Box

WIDE_GAP = 1.0
"""A gap wider than this multiple of the height of its words separates columns."""


def union(boxes: Iterable[Box | None]) -> Box | None:
    """Return the smallest box around all boxes; None if there is none.

    >>> union([Box(0, 0, 1, 1), None, Box(2, 1, 3, 4)])
    Box(left=0, top=0, right=3, bottom=4)
    """
    known = [box for box in boxes if box is not None]
    if not known:
        return None
    if len(known) == 1:
        return known[0]
    return Box(
        min([box.left for box in known]),
        min([box.top for box in known]),
        max([box.right for box in known]),
        max([box.bottom for box in known]),
    )


def is_wide_gap(before: Box | None, after: Box | None) -> bool:
    """Return whether two words of a line are so far apart that they belong to different columns."""
    if before is None or after is None:
        return False
    gap = after.left - before.right
    return gap > 0 and gap > WIDE_GAP * max(before.bottom - before.top, after.bottom - after.top)


def turn(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box of a page of this size after that many clockwise quarter turns of the page.

    >>> turn(Box(0, 0, 10, 2), 1, 100, 200)
    Box(left=198, top=0, right=200, bottom=10)
    """
    quarters %= 4
    if quarters == 1:
        return Box(height - box.bottom, box.left, height - box.top, box.right)
    if quarters == 2:
        return Box(width - box.right, height - box.bottom, width - box.left, height - box.top)
    if quarters == 3:
        return Box(box.top, width - box.right, box.bottom, width - box.left)
    return box
