"""What every writer takes: the parts of a report as titles, texts and tables, before their layout."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fieldassay.metrics.estimate import NOTHING
from fieldassay.regex import lazy_regex

NUMBER = lazy_regex(
    r"[−+-]?\$?(?:[\d,]*+\.\d++|[\d,]*+(?<=\d))"
    r"(?:e[+-]?\d+)?…?%?(?: (?:s|points|tokens|few)|/min)?(?: \(.*\))?"
)
"""A number in its unit, with its interval."""


class Marked(str):
    """A text that is Markdown as it stands; any other text is escaped."""

    __slots__ = ()


class Table(Struct, frozen=True):
    """A table: a caption, its heads, its rows, and the columns of numbers by position (None: as found)."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: tuple[int, ...] | None = None
    total: int = 0
    """How many rows there are, if `rows` does not have them all."""

    @property
    def aligned(self) -> tuple[int, ...]:
        """Return the positions of the columns that are set to the right: those of numbers."""
        if self.numbers is not None:
            return self.numbers
        columns = enumerate(zip(*self.rows, strict=True))
        filled = [(at, [cell for cell in cells if cell not in ("", NOTHING)]) for at, cells in columns if at]
        return tuple(at for at, cells in filled if cells and all(map(NUMBER.fullmatch, cells)))


class Part(Struct, frozen=True):
    """A part of a report: its title, sentences, tables, and remarks below them.

    `lead` and `end` are paragraphs before and after all else. `level` is that of the heading; a part that
    folds is opened by a click where there is one.
    """

    title: str
    lines: Sequence[str] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    lead: Sequence[str] = ()
    end: Sequence[str] = ()
    level: int = 2
    folds: bool = False
    style: str = ""
    """The color of the title on a terminal."""


class Told(Struct, frozen=True):
    """A whole report: a title, the warnings, the systems, the parts, and notes."""

    title: str
    warnings: tuple[str, ...]
    systems: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...]
