"""Tables drawn with rules: horizontal and vertical strokes to grids of cells, merged cells among them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct, field

from fieldassay.documents.layout.geometry import union
from fieldassay.documents.transcript import Box

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
    def left(self) -> float:
        return self.xs[0]

    @property
    def right(self) -> float:
        return self.xs[-1]

    @property
    def top(self) -> float:
        return self.ys[0]

    @property
    def bottom(self) -> float:
        return self.ys[-1]

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
    return sorted(grids, key=lambda grid: (grid.top, grid.left))


def _join_strokes(rules: list[Box], places: Callable[[Box], tuple[float, float, float, float]]) -> list[Box]:
    """Return rules, those on one line that touch or overlap as one: programs draw each cell's border anew.

    `places` returns the two sides of a rule, then its two ends.
    """
    joined: list[Box] = []
    line, reach = (0.0, 0.0), 0.0
    for rule in sorted(rules, key=places):
        one, other, begin, end = places(rule)
        if not joined or (one, other) != line or begin > reach:
            joined.append(rule)
            line, reach = (one, other), end
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
    cells, owners = _join(xs, ys, _Borders(across, down, xs, ys))
    return Grid(tuple(xs), tuple(ys), tuple(cells), owners) if len(cells) > 1 else None


def _merge(places: Iterable[float]) -> list[float]:
    merged: list[float] = []
    for place in sorted(places):
        if not merged or place - merged[-1] > NEAR:
            merged.append(place)
    return merged


class _Borders:
    """Which sides of the squares of a grid have a rule."""

    def __init__(self, across: list[Box], down: list[Box], xs: list[float], ys: list[float]) -> None:
        self._across: dict[int, list[tuple[float, float]]] = {}
        self._down: dict[int, list[tuple[float, float]]] = {}
        self._xs, self._ys = xs, ys
        for rule in across:
            at = _nearest(ys, (rule.top + rule.bottom) / 2)
            self._across.setdefault(at, []).append((rule.left, rule.right))
        for rule in down:
            at = _nearest(xs, (rule.left + rule.right) / 2)
            self._down.setdefault(at, []).append((rule.top, rule.bottom))

    def is_below(self, row: int, column: int) -> bool:
        return _covers(self._across.get(row + 1, ()), self._xs[column], self._xs[column + 1])

    def is_right(self, row: int, column: int) -> bool:
        return _covers(self._down.get(column + 1, ()), self._ys[row], self._ys[row + 1])


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
    xs: list[float], ys: list[float], borders: _Borders
) -> tuple[list[GridCell], dict[tuple[int, int], int]]:
    """Return the cells, squares without a rule between them joined to rectangles, and each square's cell."""
    cells: list[GridCell] = []
    owners: dict[tuple[int, int], int] = {}
    for row in range(len(ys) - 1):
        for column in range(len(xs) - 1):
            if (row, column) in owners:
                continue
            last = column
            while last + 2 < len(xs) and not borders.is_right(row, last) and (row, last + 1) not in owners:
                last += 1
            bottom = row
            while bottom + 2 < len(ys) and not any(
                borders.is_below(bottom, at) for at in range(column, last + 1)
            ):
                bottom += 1
            cell = GridCell(row, column, bottom - row + 1, last - column + 1)
            for square in ((y, x) for y in range(row, bottom + 1) for x in range(column, last + 1)):
                owners[square] = len(cells)
            cells.append(cell)
    return cells, owners
