"""A document as it was written: its bytes, the text of its pages, and the places of its gold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fieldassay.corpus.marks import Mark

Frame = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle, in shares of the page as it is displayed."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A gold value on a page, numbered from 1; a box only where the kind of file has places."""

    mark: Mark
    page: int
    box: Frame | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """The file of a document, the text of each page as a person reads it, and the gold on it."""

    data: bytes
    pages: tuple[str, ...]
    placed: tuple[Placed, ...]


def around(frames: Iterable[Frame]) -> Frame:
    """Return the smallest rectangle around others.

    >>> around([(0.1, 0.2, 0.3, 0.4), (0.2, 0.1, 0.5, 0.3)])
    (0.1, 0.1, 0.5, 0.4)
    """
    lefts, tops, rights, bottoms = zip(*frames, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)
