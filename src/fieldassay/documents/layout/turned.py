"""Words that run in several directions to lines and tables: each direction is laid out by itself."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.documents.layout.geometry import turn
from fieldassay.documents.layout.layout import Layout, lay_out
from fieldassay.documents.layout.ruled import find_grids
from fieldassay.documents.transcript import Box, Line, Source, Table, Word


class TurnedWord(Struct, frozen=True, gc=False):
    """A word and how many clockwise quarter turns its text has made on the displayed page."""

    word: Word
    quarters: int = 0


def lay_out_turned(
    words: Sequence[TurnedWord], size: tuple[float, float], rules: Sequence[Box] = (), source: Source = "text"
) -> Layout:
    """Return the layout of words that run in several directions: most frequent direction first."""
    width, height = size
    turns = list({word.quarters for word in words})
    if len(turns) > 1:
        sizes = {
            turned: sum(len(one.word.text) for one in words if one.quarters == turned) for turned in turns
        }
        turns.sort(key=lambda turned: (-sizes[turned], turned))
    lines: list[Line] = []
    tables: list[Table] = []
    for position, quarters in enumerate(turns):
        group = [word.word for word in words if word.quarters == quarters]
        straight = [_turn_word(word, -quarters, (width, height)) for word in group] if quarters else group
        grids = find_grids([turn(rule, -quarters, width, height) for rule in rules]) if position == 0 else []
        layout = lay_out(straight, grids, source)
        sides = (height, width) if quarters % 2 else (width, height)
        tables += [_turn_table(table, len(lines), quarters, sides) for table in layout.tables]
        lines += [_turn_line(line, quarters, sides) for line in layout.lines]
    return Layout(tuple(lines), tuple(tables))


def _turn_word(word: Word, quarters: int, sides: tuple[float, float]) -> Word:
    return replace(word, box=turn(word.box, quarters, *sides)) if quarters and word.box else word


def _turn_line(line: Line, quarters: int, sides: tuple[float, float]) -> Line:
    if not quarters:
        return line
    words = tuple(_turn_word(word, quarters, sides) for word in line.words)
    return replace(line, words=words, box=turn(line.box, quarters, *sides) if line.box else None)


def _turn_table(table: Table, lines_before: int, quarters: int, sides: tuple[float, float]) -> Table:
    cells = tuple(
        replace(cell, box=turn(cell.box, quarters, *sides) if cell.box else None) if quarters else cell
        for cell in table.cells
    )
    return replace(table, cells=cells, after=table.after + lines_before)
