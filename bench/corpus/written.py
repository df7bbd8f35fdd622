"""A document as it was written: its bytes, the text of its pages, and the places of its gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from bench.corpus.marks import Mark, read_runs
from msgspec import Struct

Frame = tuple[float, float, float, float]
"""Left, top, right and bottom of a rectangle, in shares of the page as it is displayed."""


class Placed(Struct, frozen=True):
    """A gold value on a page, numbered from 1; a box only where the kind of file has places."""

    mark: Mark
    page: int
    box: Frame | None = None


class Written(Struct, frozen=True):
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


def place_on(blocks: Sequence[Any], page: int) -> list[Placed]:
    """Return the gold of blocks that stand on one page without places."""
    runs = (run for text in texts_of(list(blocks)) for run in read_runs(text))
    return [Placed(run.mark, page) for run in runs if run.mark is not None]


def texts_of(block: Any) -> Iterator[str]:
    """Yield the marked texts inside of a block, in their order."""
    if isinstance(block, str):
        yield block
    elif isinstance(block, Mapping):
        for inner in block.values():
            yield from texts_of(inner)
    elif isinstance(block, list | tuple):
        for inner in block:
            yield from texts_of(inner)
