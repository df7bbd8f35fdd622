"""Pages of tables and lines for a terminal or a pipe, as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

NARROWEST, WIDEST = 40, 200


@dataclass(frozen=True, slots=True)
class Screen:
    """Where a page goes: its width in columns, whether it shows colors, and whether it can show more than ASCII."""

    width: int = 100
    has_colors: bool = False
    is_ascii: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its head, whether it holds numbers, and the least width it needs."""

    head: str
    is_number: bool = False
    least: int | None = None


class Page:
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

    def title(self, text: str) -> None:
        """Add a heading."""
        from rich.text import Text

        self._console.print(Text(text, style="bold"))

    def line(self, text: str = "", style: str = "") -> None:
        """Add a paragraph, or an empty line; it is wrapped where it is too long, never cut."""
        from rich.text import Text

        self._console.print(Text(text, style=style), soft_wrap=False, overflow="fold")

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> None:
        """Add a table; `styles` are those of the rows."""
        table = self._table(columns)
        for position, row in enumerate(rows):
            table.add_row(*map(_plain, row), style=styles[position] if position < len(styles) else "")
        self._console.print(table)

    def pairs(self, rows: Sequence[tuple[str, str]]) -> None:
        """Add labels with their texts, without a head; long texts go on below themselves."""
        from rich.table import Table

        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        for label, text in rows:
            table.add_row(_plain(label), _plain(text))
        self._console.print(table)

    def text(self) -> str:
        """Return the page; lines have no white space at their ends."""
        lines = [line.rstrip() for line in self._stream.getvalue().split("\n")]
        text = "\n".join(lines).rstrip("\n") + "\n"
        return text.encode("ascii", "backslashreplace").decode() if self.screen.is_ascii else text

    def _table(self, columns: Sequence[Column]) -> Table:
        from rich import box
        from rich.table import Table

        line = box.ASCII2 if self.screen.is_ascii else box.SIMPLE_HEAD
        table = Table(box=line, show_edge=False, pad_edge=False, padding=(0, 1), expand=False)
        for column in columns:
            side: Any = "right" if column.is_number else "left"
            table.add_column(_plain(column.head), justify=side, overflow="fold", min_width=column.least, header_style="dim")
        return table


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
