"""Pages of tables and lines for a terminal or a pipe, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.shown import draw_plainly

if TYPE_CHECKING:
    from rich.table import Table


ENOUGH = 8
"""The least width of a column of prose, whatever its words, before the table is set in blocks."""


class Extent(Struct, frozen=True):
    """The widths of a column's longest line and longest word; a name (a path, an id) is not broken."""

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
    """Return a width for each column, at most `room` together; None if names would have to be broken.

    Long lines are wrapped first, then the long words of prose are broken.

    >>> fit([Extent(20, 20, True), Extent(60, 10)], 60), fit([Extent(20, 20, True), Extent(60, 60)], 60)
    ([20, 40], [20, 40])
    >>> fit([Extent(50, 50, True), Extent(60, 60)], 55) is None
    True
    """
    least = [extent.least for extent in extents]
    words = [max(extent.least, extent.word) for extent in extents]
    lines = [max(extent.least, extent.line) for extent in extents]
    if sum(lines) <= room:
        return lines
    if sum(words) <= room:
        return _share(words, lines, room)
    return _share(least, words, room) if sum(least) <= room else None


def _share(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Return widths between two bounds that fill the room.

    Narrow columns get their full width, wide ones an equal share.
    """
    cap = max(most, default=0)
    while sum(max(low, min(high, cap)) for low, high in zip(least, most, strict=True)) > room:
        cap -= 1
    widths = [max(low, min(high, cap)) for low, high in zip(least, most, strict=True)]
    for position, high in enumerate(most):
        if sum(widths) < room and widths[position] < high:
            widths[position] += 1
    return widths


NARROWEST, WIDEST = 40, 200
_GAP = 3
"""The gap between two columns: a space on each side of a line that is drawn in the head alone."""


class Screen(Struct, frozen=True):
    """The target of a page: its width in columns, whether it has colors, and only ASCII to draw with."""

    width: int = 100
    has_colors: bool = False
    is_ascii: bool = False


class PageColumn(Struct, frozen=True):
    """A column of a table: its head, whether it holds numbers, and whether it holds names.

    Names, such as paths and ids, are not broken.
    """

    head: str
    is_number: bool = False
    is_name: bool = False


class ScreenPage:
    """A page that is filled from the top. No text in it is ever read as markup."""

    def __init__(self, screen: Screen) -> None:
        import io

        from rich.console import Console

        self.screen = screen
        self.width = min(max(screen.width, NARROWEST), WIDEST)
        self._stream = io.StringIO()
        self._console = Console(
            file=self._stream,
            width=self.width,
            force_terminal=screen.has_colors,
            color_system="standard" if screen.has_colors else None,
            markup=False,
            highlight=False,
            emoji=False,
            legacy_windows=False,
        )

    def title(self, text: str, style: str = "") -> None:
        """Add a heading."""
        from rich.text import Text

        self._console.print(Text(self._draw(text), style=style or "bold"))

    def spans(self, parts: Sequence[tuple[str, str]]) -> None:
        """Add a paragraph of several texts, each with its style."""
        from rich.text import Text

        self._console.print(
            Text.assemble(*((self._draw(text), style) for text, style in parts)),
            soft_wrap=False,
            overflow="fold",
        )

    def line(self, text: str = "", style: str = "") -> None:
        """Add a paragraph, or an empty line; it is wrapped where it is too long, never cut."""
        from rich.text import Text

        self._console.print(Text(self._draw(text), style=style), soft_wrap=False, overflow="fold")

    def table(
        self, columns: Sequence[PageColumn], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()
    ) -> None:
        """Add a table; `styles` are those of the rows.

        Every character of every cell is shown. Where the columns do not fit side by side, each row is a block
        of lines.
        """
        cells = [[*map(self._draw, map(str, row))] for row in rows]
        columns = [replace(column, head=self._draw(column.head)) for column in columns]
        widths = self._fit(columns, cells)
        styled = zip_longest(cells, styles[: len(cells)], fillvalue="")
        if widths is None:
            self._blocks([column.head.replace("\n", " ") for column in columns], styled)
            return
        table = self._table(columns, widths)
        for row, style in styled:
            table.add_row(*map(_plain, row), style=style)
        self._console.print(table)

    def pairs(self, rows: Sequence[tuple[str, str]], style: str = "") -> None:
        """Add labels with their texts, without a head; long texts go on below themselves."""
        from rich.table import Table

        rows = [(self._draw(label), self._draw(text)) for label, text in rows]
        extents = [measure([label for label, _ in rows], is_name=True), measure([text for _, text in rows])]
        label, text = fit(extents, self.width - 2) or (self.width // 3, self.width - 2 - self.width // 3)
        table = Table.grid(padding=(0, 2))
        table.add_column(width=label, overflow="fold")
        table.add_column(width=text, overflow="fold")
        for pair in rows:
            table.add_row(*map(_plain, pair), style=style)
        self._console.print(table)

    def _blocks(self, heads: Sequence[str], rows: Iterable[tuple[Sequence[str], str]]) -> None:
        """Add rows as blocks: the first cell on a line, the others below it, each after its column's head."""
        for row, style in rows:
            first, *others = row
            self.line(first, style)
            self.pairs(
                [(f"  {head}", text) for head, text in zip(heads[1:], others, strict=True) if text], style
            )

    def text(self) -> str:
        """Return the page; lines have no white space at their ends."""
        lines = [line.rstrip() for line in self._stream.getvalue().split("\n")]
        return "\n".join(lines).rstrip("\n") + "\n"

    def _draw(self, text: str) -> str:
        return draw_plainly(text) if self.screen.is_ascii else text

    def has_room(self, columns: Sequence[PageColumn], rows: Sequence[Sequence[str]]) -> bool:
        """Return whether the columns of a table fit side by side."""
        return self._fit(columns, rows) is not None

    def _fit(self, columns: Sequence[PageColumn], rows: Sequence[Sequence[str]]) -> list[int] | None:
        extents = [
            measure([column.head, *(row[place] for row in rows)], is_name=column.is_name)
            for place, column in enumerate(columns)
        ]
        return fit(extents, self.width - _GAP * (len(columns) - 1))

    def _table(self, columns: Sequence[PageColumn], widths: Sequence[int]) -> Table:
        from rich import box
        from rich.table import Table

        line = box.ASCII2 if self.screen.is_ascii else box.SIMPLE_HEAD
        table = Table(box=line, show_edge=False, pad_edge=False, padding=(0, 1), expand=False)
        for column, width in zip(columns, widths, strict=True):
            side: Any = "right" if column.is_number else "left"
            table.add_column(
                _plain(column.head), justify=side, overflow="fold", width=width, header_style="dim"
            )
        return table


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
