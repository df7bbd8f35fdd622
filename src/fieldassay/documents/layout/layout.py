"""The layout of a page: words with places to lines and tables in reading order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from unicodedata import bidirectional

from msgspec import Struct

from fieldassay.documents.layout.geometry import WIDE_GAP, union
from fieldassay.documents.layout.rows import Row, find_rows, median, row_with
from fieldassay.documents.layout.ruled import Grid
from fieldassay.documents.transcript import Box, Cell, Line, Source, Table, Word

_PROSE_WORDS = 4.0
_PROSE_FILL = 0.6
_FEWEST_PROSE_ROWS = 3
_TABLE_COLUMNS = 3
_ROW_GAP = 2.0
_INFINITY = float("inf")


class Layout(Struct, frozen=True):
    """The lines of a page in reading order and its tables."""

    lines: tuple[Line, ...]
    tables: tuple[Table, ...]


def lay_out(words: Iterable[Word], grids: Sequence[Grid] = (), source: Source = "text") -> Layout:
    """Return the lines and tables that words with boxes make, in the order in which a person reads them.

    Words inside a ruled grid are the cells of its table. The other words make rows. Columns of running text
    are read one after the other; rows whose cells align in three or more columns are a table; every other
    row is a line, however wide its gaps.
    """
    placed = [word for word in words if word.box is not None]
    ruled: list[tuple[Grid, dict[int, list[Word]]]] = []
    for grid in grids:
        inside, placed = _split(placed, grid)
        ruled.append((grid, inside))
    lines: list[Line] = []
    tables: list[Table] = []
    bands = sorted(grid.bottom for grid in grids if _is_broad(grid, placed))
    for rows in _bands(find_rows(placed), bands):
        for block in _reading_order(rows):
            _emit(block, lines, tables, source)
    for grid, inside in ruled:
        cells = _fill(grid, inside)
        if cells:
            tables.append(Table(cells, _line_before(lines, grid)))
    tables.sort(key=lambda table: (table.after, min((_top(cell) for cell in table.cells), default=0.0)))
    return Layout(tuple(lines), tuple(tables))


def _top(cell: Cell) -> float:
    return cell.box.top if cell.box else 0.0


def _split(words: list[Word], grid: Grid) -> tuple[dict[int, list[Word]], list[Word]]:
    """Return the words inside of a grid by cell, and those outside."""
    inside: dict[int, list[Word]] = defaultdict(list)
    outside: list[Word] = []
    for word in words:
        at = grid.find(*_center(word.box)) if word.box else None
        (outside if at is None else inside[at]).append(word)
    return inside, outside


def _center(box: Box) -> tuple[float, float]:
    return (box.left + box.right) / 2, (box.top + box.bottom) / 2


def _fill(grid: Grid, held: dict[int, list[Word]]) -> tuple[Cell, ...]:
    """Return the cells of a grid that hold words; the lines of a cell are joined by line breaks."""
    cells = []
    for at, found in sorted(held.items()):
        place = grid.cells[at]
        text = "\n".join(" ".join([word.text for word in words]) for words in _read_lines(found))
        cells.append(
            Cell(
                place.row,
                place.column,
                text,
                place.rows,
                place.columns,
                union(word.box for word in found),
                any(word.visible for word in found),
            )
        )
    return tuple(cells)


def _read_lines(words: list[Word]) -> list[list[Word]]:
    """Return the words of each line of a cell, as they are read."""
    return [words] if len(words) == 1 else [_as_read(row.words) for row in find_rows(words)]


def _is_broad(grid: Grid, words: list[Word]) -> bool:
    around = union(word.box for word in words)
    return around is not None and grid.right - grid.left > 0.6 * (around.right - around.left)


def _bands(rows: list[Row], bounds: Sequence[float]) -> Iterable[list[Row]]:
    """Yield the rows between the bottoms of broad grids: columns never reach across them."""
    rest = rows
    for bound in bounds:
        yield [row for row in rest if (row.top + row.bottom) / 2 <= bound]
        rest = [row for row in rest if (row.top + row.bottom) / 2 > bound]
    yield rest


def _line_before(lines: Sequence[Line], grid: Grid) -> int:
    above = [
        (at, line.box.left < grid.right and line.box.right > grid.left)
        for at, line in enumerate(lines)
        if line.box is not None and line.box.bottom <= grid.top + (line.box.bottom - line.box.top) / 2
    ]
    overlapping = [at for at, overlaps in above if overlaps]
    return max(overlapping or [at for at, _ in above], default=-1)


def _reading_order(rows: list[Row]) -> Iterable[list[Row]]:
    """Yield blocks of rows in reading order: where text runs in columns, each column is a block."""
    single: list[Row] = []
    at = 0
    last = _last_of_prose(rows)
    while at < len(rows):
        may_begin = at <= last and (at == 0 or _may_begin_columns(rows, at))
        found = _find_columns(rows, at) if may_begin else None
        if found is None:
            single.append(rows[at])
            at += 1
            continue
        yield single
        single = []
        end, gutter = found
        for is_left in (True, False):
            side = [_side(row, gutter, is_left) for row in rows[at:end]]
            yield from _reading_order([row for row in side if row.segments])
        at = end
    yield single


def _last_of_prose(rows: list[Row]) -> int:
    """Return the last row from which on there are words enough for two columns of running text."""
    long = [at for at, row in enumerate(rows) for _, _, words in row.segments if len(words) >= _PROSE_WORDS]
    return long[-2] if len(long) > 1 else -1


def _may_begin_columns(rows: list[Row], at: int) -> bool:
    """Return whether a row follows a gap, or a row of another number of segments."""
    above, row = rows[at - 1], rows[at]
    is_apart = row.top - above.bottom > 0.6 * (row.bottom - row.top)
    return is_apart or len(above.segments) != len(row.segments)


def _side(row: Row, gutter: float, is_left: bool) -> Row:
    kept = [segment for segment in row.segments if (segment[0] < gutter) == is_left]
    boxes = [word.box for _, _, words in kept for word in words if word.box is not None]
    return row_with(boxes, kept) if boxes else Row(row.top, row.bottom, row.highest, row.lowest, [])


def _find_columns(rows: list[Row], start: int) -> tuple[int, float] | None:
    """Return the end of the rows from `start` that an empty strip divides into two columns of running text.

    The second value is a place inside the strip. None if there is no strip, or no running text beside it.
    """
    free = [(-_INFINITY, _INFINITY)]
    least = WIDE_GAP * 0.7 * max(rows[start].bottom - rows[start].top, 1.0)
    end = start
    for row in rows[start:]:
        kept = _subtract(free, row, least)
        if len(free) > 2 and len(kept) <= 2:
            break
        free, end = kept, end + 1
    inner = [(right - left, left, right) for left, right in free if left > -_INFINITY and right < _INFINITY]
    if not inner:
        return None
    _, left, right = max(inner)
    gutter = (left + right) / 2
    segments = [segment for row in rows[start:end] for segment in row.segments]
    sides = [[one for one in segments if (one[0] < gutter) == is_left] for is_left in (True, False)]
    return (end, gutter) if all(map(_is_prose, sides)) else None


def _subtract(free: list[tuple[float, float]], row: Row, least: float) -> list[tuple[float, float]]:
    for left, right, _ in row.segments:
        if not [1 for begin, end in free if left < end and right > begin]:
            continue
        cut: list[tuple[float, float]] = []
        for begin, end in free:
            if right <= begin or left >= end:
                cut.append((begin, end))
                continue
            cut += [(a, b) for a, b in ((begin, left), (right, end)) if b - a >= least]
        free = cut
    return free


def _is_prose(segments: Sequence[tuple[float, float, list[Word]]]) -> bool:
    if len(segments) < _FEWEST_PROSE_ROWS:
        return False
    width = max(right for _, right, _ in segments) - min(left for left, _, _ in segments)
    words = sum(len(words) for _, _, words in segments) / len(segments)
    return words >= _PROSE_WORDS and median([r - a for a, r, _ in segments]) >= _PROSE_FILL * width


def _emit(rows: list[Row], lines: list[Line], tables: list[Table], source: Source) -> None:
    """Append the lines and aligned tables of a block."""
    at = 0
    while at < len(rows):
        end, columns = _find_table(rows, at)
        if end > at:
            tables.append(Table(_cells(rows[at:end], columns), len(lines) - 1))
            at = end
            continue
        words = tuple(_as_read(rows[at].words))
        is_recognized = any(word.confidence is not None for word in words)
        lines.append(Line(words, rows[at].box, "ocr" if is_recognized else source))
        at += 1


def _as_read(words: list[Word]) -> list[Word]:
    """Return the words of a row, given from left to right, in the direction of their script."""
    if "".join([word.text for word in words]).isascii():
        return words
    leftward = sum(_is_leftward(word.text) for word in words)
    return words[::-1] if leftward * 2 > len(words) else words


def _is_leftward(text: str) -> bool:
    return text > "\u0590" and bidirectional(text[0]) in ("R", "AL")


def _find_table(rows: list[Row], start: int) -> tuple[int, list[tuple[float, float]]]:
    """Return the end of the table that begins at a row, and its columns; the start itself if none begins."""
    if len(rows[start].segments) < _TABLE_COLUMNS:
        return start, []
    columns: list[tuple[float, float]] = []
    end, kept = start, columns
    full = 0
    for at in range(start, len(rows)):
        row = rows[at]
        height = max(row.bottom - row.top, 1.0)
        gap = row.top - rows[at - 1].bottom if at > start else 0.0
        if gap > _ROW_GAP * height:
            break
        is_rest = len(row.segments) == 1  # the next line of a cell
        grown = None if is_rest and gap > height else _grow(columns, row, adds=not is_rest)
        if grown is None:
            break
        columns = grown
        if not is_rest:
            end, kept = at + 1, columns
            full += len(row.segments) >= _TABLE_COLUMNS
    several = sum(len(row.segments) > 1 for row in rows[start:end])
    is_table = several >= 3 and full >= 2 and len(kept) >= _TABLE_COLUMNS
    return (end, kept) if is_table else (start, [])


def _grow(columns: list[tuple[float, float]], row: Row, adds: bool) -> list[tuple[float, float]] | None:
    """Return the columns widened by a row's segments; None if a segment crosses columns or shares one."""
    grown = list(columns)
    taken: set[int] = set()
    fresh: list[tuple[float, float]] = []
    for left, right, _ in row.segments:
        first = bisect_right(columns, left, key=itemgetter(1))
        touched = range(first, bisect_left(columns, right, first, key=itemgetter(0)))
        if len(touched) > 1 or (touched and touched[0] in taken):
            return None
        if touched:
            begin, end = grown[touched[0]]
            grown[touched[0]] = (min(begin, left), max(end, right))
            taken.add(touched[0])
        elif adds:
            fresh.append((left, right))
        else:
            return None
    grown = sorted(grown + fresh)
    return None if any(one[1] > other[0] for one, other in pairwise(grown)) else grown


def _cells(rows: list[Row], columns: list[tuple[float, float]]) -> tuple[Cell, ...]:
    cells = []
    ends = [end for _, end in columns]
    for at, row in enumerate(rows):
        for left, _, words in row.segments:
            column = bisect_right(ends, left)
            text = " ".join([word.text for word in _as_read(words)])
            box = union([word.box for word in words])
            cells.append(Cell(at, column, text, box=box, visible=any(word.visible for word in words)))
    return tuple(cells)
