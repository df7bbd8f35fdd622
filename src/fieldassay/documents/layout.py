"""The layout of a page: rows, ruled tables, columns, and pages that are turned."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate, pairwise
from math import atan, cos, radians, sin
from typing import TypeAlias
from unicodedata import bidirectional

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.transcript import (
    WIDE_GAP,
    Box,
    Cell,
    Line,
    Source,
    Table,
    Word,
    is_wide_gap,
    turn,
    union,
)

# The rows of a page: words side by side, from left to right, and the wide gaps between them.

_SAME_ROW = 0.5
"""The share of a word's height that lies beside its neighbor's if both are in one row."""
_APART = 0.25
"""How far words of two lines overlap, and the lines stand apart, in shares of their height, at least."""
_LIKE = 0.55
"""The height of a word on a line of its own, in shares of that of its neighbor, at least."""
_LOW = 0.1
"""The height, in points, that lower words are taken to have."""

Segment: TypeAlias = tuple[float, float, list[Word], list[Box]]
"""The left and the right end of words without a wide gap between them, the words, and their boxes.

The boxes of words of a page that lies askew are those as if it lay straight.
"""


class LayoutRow(Struct, gc=False):
    """Words side by side, in segments; `top` and `bottom` are the medians of those of its words."""

    top: float
    bottom: float
    box: Box
    segments: list[Segment]

    @property
    def words(self) -> list[Word]:
        """Return its words from left to right."""
        if len(self.segments) == 1:
            return self.segments[0][2]
        return [word for segment in self.segments for word in segment[2]]


def row_with(boxes: Iterable[Box], segments: list[Segment]) -> LayoutRow:
    """Return the row of segments whose words have these boxes, one or more."""
    tops, bottoms = [box.top for box in boxes], [box.bottom for box in boxes]
    top, bottom = median(tops), median(bottoms)
    right = max([segment[1] for segment in segments])
    return LayoutRow(top, bottom, Box(segments[0][0], tops[0], right, bottoms[-1]), segments)


def median(values: list[float]) -> float:
    """Return the median of one number or more, and sort them."""
    values.sort()
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def find_rows(words: Sequence[Word]) -> list[LayoutRow]:
    """Return the rows of words from top to bottom; a row may slope, as in a photograph."""
    placed = [word for word in words if word.box is not None]
    boxes = [word.box for word in placed if word.box is not None]
    return _rows_of(_side_by_side(boxes), placed, boxes)


def _rows_of(lines: Iterable[list[int]], words: Sequence[Word], boxes: Sequence[Box]) -> list[LayoutRow]:
    """Return the rows, from top to bottom, of words that stand side by side."""
    rows = []
    for line in lines:
        line_boxes = [boxes[at] for at in line]
        if len(line) > 1 and any(
            box.right > other.left and _is_above(box, other) for box, other in pairwise(line_boxes)
        ):
            for row in _stacked(line, boxes):
                rows.append(row_of([words[at] for at in row], [boxes[at] for at in row]))
        else:
            rows.append(row_of([words[at] for at in line], line_boxes))
    return sorted(rows, key=lambda row: (row.top + row.bottom, row.segments[0][0]))


def _side_by_side(boxes: Sequence[Box]) -> list[list[int]]:
    """Return the boxes of each row from left to right.

    A white strip across the page parts rows. Between two of them, where not all boxes stand side by side,
    each joins the row whose last is most beside it.
    """
    if not boxes:
        return []
    tops, bottoms = [box.top for box in boxes], [box.bottom for box in boxes]
    heights = [box.bottom - box.top for box in boxes]
    common = 0.49 * min(heights)  # of boxes in different rows, at most
    bands: list[list[int]] = []
    reach = -_INFINITY
    for at in sorted(range(len(boxes)), key=tops.__getitem__):
        if tops[at] > reach - common:
            bands.append([])
        bands[-1].append(at)
        if bottoms[at] > reach:
            reach = bottoms[at]
    lefts, step = [box.left for box in boxes], max(median(list(heights)), 1.0)
    rows: list[list[int]] = []
    for band in bands:
        if len(band) > 1:
            tallest, lowest = max(map(heights.__getitem__, band)), tops[band[-1]]
            beside = min(map(bottoms.__getitem__, band)) - lowest
            band.sort(key=lefts.__getitem__)
            if beside <= _SAME_ROW * max(tallest, _LOW) or tallest > 2 * step:
                rows += _join_rows(band, tops, bottoms, step)
                continue
        rows.append(band)
    return rows


def _join_rows(
    order: Sequence[int], tops: Sequence[float], bottoms: Sequence[float], step: float
) -> list[list[int]]:
    """Return the rows of boxes from left to right; each joins the row whose last is most beside it.

    A row is looked for by the strip of the page, of the height `step`, that holds the middle of its last.
    """
    rows: list[list[int]] = []
    slots: list[int] = []
    near: dict[int, list[int]] = {}
    for at in order:
        top, bottom = tops[at], bottoms[at]
        slot, best, most = int((top + bottom) / 2 / step), -1, _SAME_ROW
        for place in (slot - 1, slot, slot + 1):
            for row in near.get(place, ()):
                last = rows[row][-1]
                above, below = tops[last], bottoms[last]
                common = (bottom if bottom < below else below) - (top if top > above else above)
                if common <= 0 or slots[row] != place:
                    continue
                share = common / max(min(bottom - top, below - above), _LOW)
                if share > most or (share == most and best < 0):
                    best, most = row, share
        if best < 0:
            best = len(rows)
            rows.append([])
            slots.append(slot - 1)
        rows[best].append(at)
        if slots[best] != slot:
            near.setdefault(slot, []).append(best)
            slots[best] = slot
    return rows


def _stacked(row: list[int], boxes: Sequence[Box]) -> list[list[int]]:
    """Return the lines of a row in which words stand above words, whose boxes overlap."""
    lines: list[list[int]] = []
    reach = -_INFINITY
    for at in sorted(row, key=lambda at: boxes[at].top + boxes[at].bottom):
        middle = (boxes[at].top + boxes[at].bottom) / 2
        if middle - reach > _APART * (boxes[at].bottom - boxes[at].top):
            lines.append([])
        lines[-1].append(at)
        reach = middle
    return [sorted(line, key=lambda at: (boxes[at].left, boxes[at].top)) for line in lines]


def _is_above(box: Box, other: Box) -> bool:
    """Return whether two boxes of like heights stand on different lines, one above the other."""
    low, high = sorted((box.bottom - box.top, other.bottom - other.top))
    shift = abs(box.top + box.bottom - other.top - other.bottom) / 2
    is_across = min(box.right, other.right) - max(box.left, other.left) > _APART * low
    return is_across and shift > _APART * low and low > _LIKE * high


def row_of(words: list[Word], boxes: list[Box]) -> LayoutRow:
    """Return the row of words given from left to right."""
    if len(boxes) == 1:
        (box,) = boxes
        return LayoutRow(box.top, box.bottom, box, [(box.left, box.right, words, boxes)])
    segments: list[Segment] = []
    for start, end in _find_segments(boxes):
        segment_boxes = boxes[start:end]
        segments.append(
            (
                segment_boxes[0].left,
                max([box.right for box in segment_boxes]),
                words[start:end],
                segment_boxes,
            )
        )
    return row_with(boxes, segments)


def _find_segments(boxes: Sequence[Box]) -> Iterable[tuple[int, int]]:
    """Return the begins and ends of words without wide gaps between them."""
    wide = [
        at + 1
        for at, (before, box) in enumerate(pairwise(boxes))
        if box.left - before.right > box.bottom - box.top and is_wide_gap(before, box)
    ]
    return pairwise([0, *wide, len(boxes)])


# Tables drawn with rules: horizontal and vertical strokes to grids of cells, merged cells among them.

NEAR = 3.0
"""Rules closer than this, in points, are one; ends of rules within this of another rule meet it."""

_MOST_RULES = 3000
_COVERED = 0.7


class GridCell(Struct, frozen=True):
    """A cell of a grid: its first row and column, from 0, and how many it spans."""

    row: int
    column: int
    rows: int
    columns: int


class Grid(Struct, frozen=True):
    """A grid of rules: places of its columns and rows, and its cells; `owners` has the cell of a square."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[GridCell, ...]
    owners: dict[tuple[int, int], int] = field(default_factory=dict)

    @property
    def box(self) -> Box:
        """Return the box around its rules."""
        return Box(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1])

    def find(self, x: float, y: float) -> int | None:
        """Return the index of the cell that holds a point; None outside of the grid."""
        column, row = bisect_right(self.xs, x) - 1, bisect_right(self.ys, y) - 1
        return self.owners.get((row, column))


def find_grids(rules: Iterable[Box]) -> list[Grid]:
    """Return the grids that rules (boxes of no width or no height) make; a plain frame is none."""
    flat = [rule for rule in rules if rule.right - rule.left > NEAR and rule.bottom - rule.top <= NEAR]
    upright = [rule for rule in rules if rule.bottom - rule.top > NEAR and rule.right - rule.left <= NEAR]
    if not upright or len(flat) + len(upright) > _MOST_RULES or len(flat) < 2:
        return []
    flat = _join_strokes(flat, lambda rule: (rule.top, rule.bottom, rule.left, rule.right))
    upright = _join_strokes(upright, lambda rule: (rule.left, rule.right, rule.top, rule.bottom))
    grids = []
    for across, down in _groups(flat, upright):
        grid = _grid(across, down)
        if grid is not None:
            grids.append(grid)
    return sorted(grids, key=lambda grid: (grid.box.top, grid.box.left))


def _join_strokes(rules: list[Box], places: Callable[[Box], tuple[float, float, float, float]]) -> list[Box]:
    """Return rules, those on one line that touch or overlap as one: programs draw each cell's border anew.

    `places` returns the two sides of a rule, then its two ends.
    """
    joined: list[Box] = []
    line, reach = (0.0, 0.0), 0.0
    for rule in sorted(rules, key=places):
        near, far, begin, end = places(rule)
        if not joined or (near, far) != line or begin > reach:
            joined.append(rule)
            line, reach = (near, far), end
        elif end > reach:
            joined[-1], reach = union([joined[-1], rule]) or rule, end
    return joined


def _groups(flat: Sequence[Box], upright: Sequence[Box]) -> Iterable[tuple[list[Box], list[Box]]]:
    """Yield the sets of rules that touch each other, in whatever roundabout way."""
    rules = [*flat, *upright]
    parent = list(range(len(rules)))

    def root(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    order = sorted(range(len(rules)), key=lambda at: rules[at].left)
    open_rules: list[int] = []
    for at in order:
        rule = rules[at]
        open_rules = [other for other in open_rules if rules[other].right >= rule.left - NEAR]
        for other in open_rules:
            if rule.top <= rules[other].bottom + NEAR and rule.bottom >= rules[other].top - NEAR:
                parent[root(at)] = root(other)
        open_rules.append(at)
    groups: dict[int, tuple[list[Box], list[Box]]] = {}
    for at, rule in enumerate(rules):
        groups.setdefault(root(at), ([], []))[at >= len(flat)].append(rule)
    return [group for group in groups.values() if len(group[0]) >= 2 and group[1]]


def _grid(across: list[Box], down: list[Box]) -> Grid | None:
    """Return the grid of rules that touch; the outer border may be missing at the sides."""
    ys = _merge([(rule.top + rule.bottom) / 2 for rule in across])
    ends = [end for rule in across for end in (rule.left, rule.right)]
    xs = _merge([*((rule.left + rule.right) / 2 for rule in down), min(ends), max(ends)])
    rows, columns = len(ys) - 1, len(xs) - 1
    if rows * columns < 2 or rows < 1 or columns < 1 or rows * columns > 20_000:
        return None
    flat = _covered((((rule.top + rule.bottom) / 2, rule.left, rule.right) for rule in across), ys, xs)
    upright = _covered((((rule.left + rule.right) / 2, rule.top, rule.bottom) for rule in down), xs, ys)
    cells, owners = _join(xs, ys, flat, upright)
    return Grid(tuple(xs), tuple(ys), tuple(cells), owners) if len(cells) > 1 else None


def _merge(places: Iterable[float]) -> list[float]:
    merged: list[float] = []
    for place in sorted(places):
        if not merged or place - merged[-1] > NEAR:
            merged.append(place)
    return merged


def _covered(
    lines: Iterable[tuple[float, float, float]], places: list[float], steps: list[float]
) -> set[tuple[int, int]]:
    """Return the lines of a grid, at some places, with those of its steps along which they have a rule.

    A rule is given by the place that it stands at, its begin and its end.
    """
    intervals_by_place: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for place, begin, end in lines:
        intervals_by_place[_nearest(places, place)].append((begin, end))
    return {
        (at, step)
        for at, intervals in intervals_by_place.items()
        for step, (begin, end) in enumerate(pairwise(steps))
        if _covers(intervals, begin, end)
    }


def _nearest(places: list[float], place: float) -> int:
    return min(range(len(places)), key=lambda at: abs(places[at] - place))


def _covers(intervals: Iterable[tuple[float, float]], begin: float, end: float) -> bool:
    """Return whether intervals, which may touch, cover most of the way from `begin` to `end`."""
    covered, reach = 0.0, begin
    for left, right in sorted(intervals):
        left, right = max(left, reach), min(right, end)
        if right > left:
            covered += right - left
            reach = right
    return covered >= _COVERED * (end - begin)


def _join(
    xs: list[float], ys: list[float], flat: Collection[tuple[int, int]], upright: Collection[tuple[int, int]]
) -> tuple[list[GridCell], dict[tuple[int, int], int]]:
    """Return the cells, squares without a rule between them joined to rectangles, and each square's cell."""
    cells: list[GridCell] = []
    owners: dict[tuple[int, int], int] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            if (row, column) in owners:
                continue
            last = column
            while last + 2 < len(xs) and (last + 1, row) not in upright and (row, last + 1) not in owners:
                last += 1
            bottom = row
            while bottom + 2 < len(ys) and not any(
                (bottom + 1, at) in flat for at in range(column, last + 1)
            ):
                bottom += 1
            cell = GridCell(row, column, bottom - row + 1, last - column + 1)
            for square in ((y, x) for y in range(row, bottom + 1) for x in range(column, last + 1)):
                owners[square] = len(cells)
            cells.append(cell)
    return cells, owners


# The layout of a page: words with places to lines and tables in reading order.

_PROSE_WORDS = 4.0
_PROSE_FILL = 0.6
_FEWEST_PROSE_ROWS = 3
_TABLE_COLUMNS = 3
_ROW_GAP = 2.0
_LOOK_AHEAD = 60
"""Rows among which columns show that they are running text; then twice as many, and so on."""
_LINE_GAP, _BLOCK_GAP = 0.6, 0.9
"""What parts a row from those above it, in shares of its height: a heading, and blocks of three columns."""
_INFINITY = float("inf")


class Layout(Struct, frozen=True):
    """The lines of a page in reading order and its tables."""

    lines: tuple[Line, ...]
    tables: tuple[Table, ...]


def lay_out(
    words: Iterable[Word],
    grids: Sequence[Grid] = (),
    source: Source = "text",
    rows: list[LayoutRow] | None = None,
) -> Layout:
    """Return the lines and tables that words with boxes make, in the order in which a person reads them.

    Words inside a ruled grid are the cells of its table. The other words make rows. Columns of running text
    are read one after the other; rows whose cells align in three or more columns are a table; every other
    row is a line, however wide its gaps. `rows` are those of the words if they are known: without grids.
    """
    placed = [word for word in words if word.box is not None]
    ruled: list[tuple[Grid, dict[int, list[Word]]]] = []
    for grid in grids:
        inside, placed = _split(placed, grid)
        ruled.append((grid, inside))
    bands = sorted(grid.box.bottom for grid in grids if _is_broad(grid, placed))
    lines: list[Line] = []
    tables: list[Table] = []
    for band in _bands(find_rows(placed) if rows is None or grids else rows, bands):
        for block in _reading_order(band):
            _emit(block, lines, tables, source)
    for grid, inside in ruled:
        cells = _fill(grid, inside)
        if cells:
            tables.append(Table(cells, _line_before(lines, grid)))
    tables.sort(
        key=lambda table: (
            table.after,
            min((cell.box.top if cell.box else 0.0 for cell in table.cells), default=0.0),
        )
    )
    return Layout(tuple(lines), tuple(tables))


def _split(words: list[Word], grid: Grid) -> tuple[dict[int, list[Word]], list[Word]]:
    """Return the words inside of a grid by cell, and those outside."""
    inside: dict[int, list[Word]] = defaultdict(list)
    outside: list[Word] = []
    for word in words:
        box = word.box
        at = grid.find((box.left + box.right) / 2, (box.top + box.bottom) / 2) if box else None
        (outside if at is None else inside[at]).append(word)
    return inside, outside


def _fill(grid: Grid, words_by_cell: dict[int, list[Word]]) -> tuple[Cell, ...]:
    """Return the cells of a grid that hold words; the lines of a cell are joined by line breaks."""
    cells = []
    for at, cell_words in sorted(words_by_cell.items()):
        place = grid.cells[at]
        lines = (
            [cell_words] if len(cell_words) == 1 else [_as_read(row.words) for row in find_rows(cell_words)]
        )
        text = "\n".join(" ".join([word.text for word in words]) for words in lines)
        cells.append(
            Cell(
                place.row,
                place.column,
                text,
                place.rows,
                place.columns,
                union(word.box for word in cell_words),
                any(word.visible for word in cell_words),
            )
        )
    return tuple(cells)


def _is_broad(grid: Grid, words: list[Word]) -> bool:
    around = union(word.box for word in words)
    return around is not None and grid.box.right - grid.box.left > 0.6 * (around.right - around.left)


def _bands(rows: list[LayoutRow], bounds: Sequence[float]) -> Iterable[list[LayoutRow]]:
    """Yield the rows between the bottoms of broad grids: columns never reach across them."""
    rest = rows
    for bound in bounds:
        yield [row for row in rest if (row.top + row.bottom) / 2 <= bound]
        rest = [row for row in rest if (row.top + row.bottom) / 2 > bound]
    yield rest


def _line_before(lines: Sequence[Line], grid: Grid) -> int:
    above = [
        (at, line.box.left < grid.box.right and line.box.right > grid.box.left)
        for at, line in enumerate(lines)
        if line.box is not None and line.box.bottom <= grid.box.top + (line.box.bottom - line.box.top) / 2
    ]
    overlapping = [at for at, overlaps in above if overlaps]
    return max(overlapping or [at for at, _ in above], default=-1)


def _reading_order(rows: list[LayoutRow]) -> Iterable[list[LayoutRow]]:
    """Yield blocks of rows in reading order: where text runs in columns, each column is a block."""
    single: list[LayoutRow] = []
    at = 0
    last = _last_of_columns(rows)
    while at < len(rows):
        may_begin = at <= last and (at == 0 or _may_begin_columns(rows, at))
        columns = _find_columns(rows, at) if may_begin else None
        if columns is None:
            single.append(rows[at])
            at += 1
            continue
        yield single
        single = []
        end, gutter = columns
        for is_left in (True, False):
            side = [_side(row, gutter, is_left) for row in rows[at:end]]
            yield from _reading_order([row for row in side if row.segments])
        at = end
    yield single


def _last_of_columns(rows: list[LayoutRow]) -> int:
    """Return the last row from which on words enough for two columns of running text stand side by side."""
    left, right = -_INFINITY, _INFINITY
    for at in range(len(rows) - 1, -1, -1):
        for begin, end, words, _ in rows[at].segments:
            if len(words) >= _PROSE_WORDS:
                left, right = max(left, begin), min(right, end)
        if left >= right:
            return at
    return -1


def _may_begin_columns(rows: list[LayoutRow], at: int) -> bool:
    """Return whether a row follows a gap, or a row of another number of segments."""
    above, row = rows[at - 1], rows[at]
    is_apart = row.top - above.bottom > _LINE_GAP * (row.bottom - row.top)
    return is_apart or len(above.segments) != len(row.segments)


def _side(row: LayoutRow, gutter: float, is_left: bool) -> LayoutRow:
    segments = [segment for segment in row.segments if (segment[0] < gutter) == is_left]
    boxes = [box for segment in segments for box in segment[3]]
    return row_with(boxes, segments) if boxes else LayoutRow(row.top, row.bottom, row.box, [])


def _find_columns(rows: list[LayoutRow], start: int) -> tuple[int, float] | None:
    """Return the end of the rows from `start` that an empty strip divides into two columns of running text.

    The second value is a place inside the strip. None if there is no strip, or no running text beside it.
    """
    free = [(-_INFINITY, _INFINITY)]
    least = WIDE_GAP * 0.7 * max(rows[start].bottom - rows[start].top, 1.0)
    end, looked_at = start, start + _LOOK_AHEAD
    for row in rows[start:]:
        strips = _subtract(free, row, least)
        if len(free) > 3 and end > start + 2:
            gap = (row.top - rows[end - 1].bottom) / max(row.bottom - row.top, 1.0)
            if gap > (_BLOCK_GAP if len(strips) == len(free) else _LINE_GAP):
                break
        if len(free) > 2 and len(strips) <= 2:
            break
        free, end = strips, end + 1
        if end == looked_at:
            if _find_gutter(rows[start:end], free) is None:
                return None
            looked_at = start + 2 * (end - start)
    gutter = _find_gutter(rows[start:end], free)
    return None if gutter is None else (end, gutter)


def _find_gutter(rows: list[LayoutRow], free: list[tuple[float, float]]) -> float | None:
    """Return the middle of the widest of the free strips if all columns are running text, else None."""
    inner = [(right - left, left, right) for left, right in free if left > -_INFINITY and right < _INFINITY]
    if not inner:
        return None
    _, left, right = max(inner)
    gutter = (left + right) / 2
    segments = [segment for row in rows for segment in row.segments]
    sides = [
        [segment for segment in segments if (segment[0] < gutter) == is_left] for is_left in (True, False)
    ]
    if not all(map(_is_prose, sides)):  # three columns or more: one side has several
        strips = [begin for _, begin, _ in inner]
        sides = [
            [segment for segment in segments if bisect_right(strips, segment[0]) == at]
            for at in range(len(strips) + 1)
        ]
        going_on = sum(segment[2][0].text[0].islower() for segment in segments)
        if 2 * going_on < len(segments):  # each row begins anew, as in a table
            return None
    return gutter if all(map(_is_prose, sides)) else None


def _subtract(free: list[tuple[float, float]], row: LayoutRow, least: float) -> list[tuple[float, float]]:
    for left, right, *_ in row.segments:
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


def _is_prose(segments: Sequence[Segment]) -> bool:
    if len(segments) < _FEWEST_PROSE_ROWS:
        return False
    width = max(segment[1] for segment in segments) - min(segment[0] for segment in segments)
    words = sum(len(segment[2]) for segment in segments) / len(segments)
    is_wide = median([right - left for left, right, *_ in segments]) >= _PROSE_FILL * width
    return words >= _PROSE_WORDS and is_wide


def _emit(rows: list[LayoutRow], lines: list[Line], tables: list[Table], source: Source) -> None:
    """Append the lines and aligned tables of a block."""
    at = 0
    while at < len(rows):
        end, columns = _find_table(rows, at)
        if end > at:
            tables.append(Table(_cells(rows[at:end], columns), len(lines) - 1))
            at = end
            continue
        words = tuple(_as_read(rows[at].words))
        is_recognized = source == "ocr" or any(word.confidence is not None for word in words)
        lines.append(Line(words, rows[at].box, "ocr" if is_recognized else source))
        at += 1


def _as_read(words: list[Word]) -> list[Word]:
    """Return the words of a row, given from left to right, in the direction of their script."""
    if "".join([word.text for word in words]).isascii():
        return words
    leftward = sum(word.text > "\u0590" and bidirectional(word.text[0]) in ("R", "AL") for word in words)
    return words[::-1] if leftward * 2 > len(words) else words


def _find_table(rows: list[LayoutRow], start: int) -> tuple[int, list[tuple[float, float]]]:
    """Return the end of the table that begins at a row, and its columns; the start itself if none begins."""
    if len(rows[start].segments) < _TABLE_COLUMNS:
        return start, []
    columns: list[tuple[float, float]] = []
    end, table_columns = start, columns
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
            end, table_columns = at + 1, columns
            full += len(row.segments) >= _TABLE_COLUMNS
    several = sum(len(row.segments) > 1 for row in rows[start:end])
    is_table = several >= 3 and full >= 2 and len(table_columns) >= _TABLE_COLUMNS
    return (end, table_columns) if is_table else (start, [])


def _grow(columns: list[tuple[float, float]], row: LayoutRow, adds: bool) -> list[tuple[float, float]] | None:
    """Return the columns widened by a row's segments; None if a segment crosses columns or shares one."""
    begins, ends, grown = [begin for begin, _ in columns], [end for _, end in columns], list(columns)
    fresh: list[tuple[float, float]] = []
    last = -1
    for left, right, *_ in row.segments:
        first = bisect_right(ends, left)
        touched = bisect_left(begins, right, first) - first
        if touched > 1 or (touched and first == last) or not (touched or adds):
            return None
        if touched:
            grown[first], last = (min(begins[first], left), max(ends[first], right)), first
        else:
            fresh.append((left, right))
    if not fresh and grown == columns:
        return columns
    grown = sorted(grown + fresh)
    return None if any(column[1] > other[0] for column, other in pairwise(grown)) else grown


def _cells(rows: list[LayoutRow], columns: list[tuple[float, float]]) -> tuple[Cell, ...]:
    cells = []
    ends = [end for _, end in columns]
    for at, row in enumerate(rows):
        for left, _, words, _ in row.segments:
            column = bisect_right(ends, left)
            text, box, visible = words[0].text, words[0].box, words[0].visible
            if len(words) > 1:
                text, box = " ".join([word.text for word in _as_read(words)]), union([w.box for w in words])
                visible = any(word.visible for word in words)
            cells.append(Cell(at, column, text, box=box, visible=visible))
    return tuple(cells)


# Pages that lie askew: their rows, by the boxes of words as if the page lay straight.

_MOST_SLANT, _LEAST_SLANT = radians(9.5), radians(0.5)
"""Slants that are looked for, and from which on a page is straightened."""
_MANY_ROWS = 1.4
"""How many times as many rows a page never has when it lies straight: it did before."""


def find_level_rows(words: Sequence[Word]) -> tuple[list[LayoutRow], bool]:
    """Return the rows of words as if their page lay straight, and whether it lies askew.

    Words close together show how far rows fall; all words of a row, once the page lies almost straight.
    """
    placed = [word for word in words if word.box is not None]
    page_boxes = boxes = [word.box for word in placed if word.box is not None]
    level = lines = _side_by_side(page_boxes)
    slant, least = 0.0, _LEAST_SLANT / 2
    for reaches in (False, False, True):
        turned = _find_slant([[boxes[at] for at in line] for line in lines], reaches)
        if abs(turned) >= least:
            slant += turned
            boxes = _straighten(page_boxes, slant)
            lines = _side_by_side(boxes)
        elif not slant:
            break
        least = _LEAST_SLANT
    is_likely = _LEAST_SLANT <= abs(slant) <= _MOST_SLANT and len(lines) <= _MANY_ROWS * len(level)
    return (
        (_rows_of(lines, placed, boxes), True) if is_likely else (_rows_of(level, placed, page_boxes), False)
    )


def lay_out_scan(words: Sequence[Word], grids: Sequence[Grid] = (), source: Source = "ocr") -> Layout:
    """Return the layout of words of a page that may lie askew; then there are no grids."""
    rows, is_askew = find_level_rows(words)
    layout = lay_out(words, () if is_askew else grids, source, rows)
    if not is_askew:
        return layout
    around = [union([word.box for word in line.words]) for line in layout.lines]
    lines = [Line(line.words, box, line.source) for line, box in zip(layout.lines, around, strict=True)]
    return Layout(tuple(lines), layout.tables)


def _find_slant(lines: Iterable[list[Box]], reaches: bool) -> float:
    """Return the angle, in radians, by which lines fall to the right, or by which their segments do.

    It is the median, each weighed by its length; 0 where fewer than three words stand close together.
    """
    if not reaches:
        lines = [line[start:end] for line in lines for start, end in _find_segments(line)]
    falls, count = [], 0
    for line in lines:
        first, last = line[0], line[-1]
        step = last.left + last.right - first.left - first.right
        count += len(line) - 1
        if step > 0:
            falls.append(((last.top + last.bottom - first.top - first.bottom) / step, step))
    if count < 2 or not falls:
        return 0.0
    falls.sort()
    sums = list(accumulate(step for _, step in falls))
    return atan(falls[bisect_left(sums, sums[-1] / 2)][0])


def _straighten(boxes: Iterable[Box], slant: float) -> list[Box]:
    """Return the boxes of words as if their page lay straight, turned about the corner of the page."""
    sine, cosine = sin(slant), cos(slant)
    tilt, double = abs(sine), cosine * cosine - sine * sine
    straight = []
    for box in boxes:
        width, height = box.right - box.left, box.bottom - box.top
        x, y = box.left + box.right, box.top + box.bottom
        across, down = x * cosine + y * sine, y * cosine - x * sine
        wide, high = (width * cosine - height * tilt) / double, (height * cosine - width * tilt) / double
        if wide < 0.1 * width or high < 0.3 * height:
            wide, high = max(wide, 0.1 * width), max(high, 0.3 * min(width, height))
        straight.append(Box((across - wide) / 2, (down - high) / 2, (across + wide) / 2, (down + high) / 2))
    return straight


# Words that run in several directions to lines and tables: each direction is laid out by itself.


class TurnedWord(Struct, frozen=True, gc=False):
    """A word and how many clockwise quarter turns its text has made on the displayed page."""

    word: Word
    quarters: int = 0


def lay_out_turned(
    words: Sequence[TurnedWord],
    size: tuple[float, float],
    rules: Sequence[Box] = (),
    source: Source = "text",
    is_scan: bool = False,
) -> Layout:
    """Return the layout of words that run in several directions: most frequent direction first.

    A scan may lie askew: its words are laid out as if it lay straight.
    """
    width, height = size
    turns = list({word.quarters for word in words})
    if len(turns) > 1:
        sizes = {
            turned: sum(len(word.word.text) for word in words if word.quarters == turned) for turned in turns
        }
        turns.sort(key=lambda turned: (-sizes[turned], turned))
    lines: list[Line] = []
    tables: list[Table] = []
    for position, quarters in enumerate(turns):
        group = [word.word for word in words if word.quarters == quarters]
        straight = [_turn_word(word, -quarters, (width, height)) for word in group] if quarters else group
        upright = [turn(rule, -quarters, width, height) for rule in rules] if position == 0 else []
        layout = (lay_out_scan if is_scan else lay_out)(straight, find_grids(upright), source)
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
