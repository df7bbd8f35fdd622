"""Boxes of words: their union, the gaps between them, quarter turns of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from fieldassay.documents.transcript import Box

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

Number = TypeVar("Number", float, "Floats")

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
    return (
        gap > 0
        and gap > WIDE_GAP * (after.bottom - after.top)
        and gap > WIDE_GAP * (before.bottom - before.top)
    )


def turn(box: Box, quarters: int, width: float, height: float) -> Box:
    """Return a box of a page of this size after that many clockwise quarter turns of the page.

    >>> turn(Box(0, 0, 10, 2), 1, 100, 200)
    Box(left=198, top=0, right=200, bottom=10)
    """
    sides = (box.left, box.top, box.right, box.bottom)
    return Box(*turn_sides(sides, quarters, (width, height)))


def turn_sides(
    sides: tuple[Number, Number, Number, Number], quarters: int, size: tuple[float, float]
) -> tuple[Number, Number, Number, Number]:
    """Return the sides (left, top, right, bottom) of a box, or of many, after quarter turns of their page."""
    left, top, right, bottom = sides
    width, height = size
    quarters %= 4
    if quarters == 1:
        return height - bottom, left, height - top, right
    if quarters == 2:
        return width - right, height - bottom, width - left, height - top
    if quarters == 3:
        return top, width - right, bottom, width - left
    return sides


def round_all(values: Floats) -> list[float]:
    """Return numbers rounded to two decimals, exactly as `round` does.

    >>> import numpy as np
    >>> round_all(np.array([2.675, 0.125, -0.001])) == [round(2.675, 2), 0.12, -0.0]
    True
    """
    import numpy as np

    scaled = values * 100
    rounded: list[float] = (np.rint(scaled) / 100).tolist()
    is_doubtful = ~(np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) > 1e-6) | ~(np.abs(scaled) < 1e8)
    for at in np.flatnonzero(is_doubtful).tolist():
        rounded[at] = round(float(values[at]), 2)
    return rounded
