"""The widths of the columns of a table, so that all of its text is shown and no name is broken without need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ENOUGH = 8
"""The width to which a column of prose may be pressed, whatever its words, before the table is set in blocks instead."""


@dataclass(frozen=True, slots=True)
class Extent:
    """What a column would like: the width of its longest line and of its longest word; a name (a path, an id) is not to be broken."""

    line: int
    word: int
    is_name: bool = False

    @property
    def least(self) -> int:
        """Return the width below which the column cannot be pressed."""
        return max(2, self.word if self.is_name else min(self.word, ENOUGH))


def measure(texts: Sequence[str], *, is_name: bool = False) -> Extent:
    """Return the extent of texts, in columns of a terminal.

    >>> measure(["the value belongs", "漢字"])
    Extent(line=17, word=7, is_name=False)
    """
    from rich.cells import cell_len

    lines = max((cell_len(line) for text in texts for line in text.split("\n")), default=0)
    words = max((cell_len(word) for text in texts for word in text.split()), default=0)
    return Extent(lines, words, is_name)


def fit(extents: Sequence[Extent], room: int) -> list[int] | None:
    """Return a width for each column, at most `room` together; None if they cannot stand side by side without breaking a name.

    Long lines are wrapped first, then the long words of prose are broken.

    >>> fit([Extent(20, 20, True), Extent(60, 10)], 60), fit([Extent(20, 20, True), Extent(60, 60)], 60)
    ([20, 40], [20, 40])
    >>> fit([Extent(50, 50, True), Extent(60, 60)], 55) is None
    True
    """
    least, words, lines = ([getter(one) for one in extents] for getter in (_least, _word, _line))
    if sum(lines) <= room:
        return lines
    if sum(words) <= room:
        return _share(words, lines, room)
    return _share(least, words, room) if sum(least) <= room else None


def _least(extent: Extent) -> int:
    return extent.least


def _word(extent: Extent) -> int:
    return max(extent.least, extent.word)


def _line(extent: Extent) -> int:
    return max(extent.least, extent.line)


def _share(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Return widths between two bounds that fill the room: the narrow columns get all that they want, the wide ones the same width."""
    cap = max(most, default=0)
    while sum(max(low, min(high, cap)) for low, high in zip(least, most, strict=True)) > room:
        cap -= 1
    widths = [max(low, min(high, cap)) for low, high in zip(least, most, strict=True)]
    for position, high in enumerate(most):
        if sum(widths) < room and widths[position] < high:
            widths[position] += 1
    return widths
