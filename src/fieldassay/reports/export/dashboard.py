"""The dashboard of an executive comparison: one SVG drawing of accuracy, slices and speed of systems."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from msgspec import Struct

from fieldassay.io.text.shown import clip
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.notation import format_rounded
from fieldassay.metrics.result.headline import TIMES, by_system, find_main, find_named
from fieldassay.metrics.result.result import Result

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555")
_WIDTH, _NAMES, _RIGHT, _ROW = 760, 190, 90, 24
_INK, _PALE = "#1f2328", "#d0d7de"
MOST_ROWS = 24
"""The most rows of a panel; omitted ones are counted in it."""


class _Dot(Struct, frozen=True):
    """A value in a row of a panel: its system (by position) and its interval."""

    system: int
    value: float
    interval: tuple[float, float] | None
    shown: str


class _Panel(Struct, frozen=True):
    title: str
    rows: Sequence[tuple[str, Sequence[_Dot]]]
    low: float
    high: float
    unit: str
    hidden: int = 0

    @property
    def row(self) -> int:
        """Return the height of a row: room for every dot of the fullest."""
        return max(_ROW, 13 * max((len(dots) for _, dots in self.rows), default=1))

    @property
    def height(self) -> int:
        return 64 + self.row * len(self.rows)


def draw_dashboard(result: Result) -> str:
    """Return the drawing: the main metric by system and by slice, and the time of a document.

    Values by system have intervals. Systems are distinguished by their number and by color. A result without
    a main metric gets a drawing with a note.
    """
    main = find_main(result)
    panels = [] if main is None else [*_main_panels(result, main), *_time_panel(result)]
    lines, top = [], 16
    for panel in panels:
        lines += _draw(panel, top)
        top += panel.height
    lines += _legend(result.systems, top)
    height = top + 28 + 20 * len(result.systems[:MOST_ROWS])
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" '
        f'height="{height}" role="img"'
    )
    title = "<title>Performance by system</title>" if panels else "<title>There is nothing to draw</title>"
    ground = f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    return (
        "\n".join(
            [f'{head} font-family="system-ui, sans-serif" font-size="13">', title, ground, *lines, "</svg>"]
        )
        + "\n"
    )


def _main_panels(result: Result, main: Estimate) -> list[_Panel]:
    whole = by_system(result, main)
    scale, unit = (1.0 if main.unit == "percent" else 100.0), "%"
    rows = [
        (_name(name), [_dot(result, whole[name], scale)])
        for name in result.systems
        if name in whole and whole[name].value is not None
    ]
    panels = [_Panel(_name(main.metric), rows[:MOST_ROWS], 0.0, 100.0, unit, max(0, len(rows) - MOST_ROWS))]
    for key in result.run.get("slices", ()):
        values = list(dict.fromkeys(one.slice[key] for one in result.estimates if key in one.slice))
        sliced = [(_name(value), _dots(result, main, str(key), value, scale)) for value in values]
        if sliced:
            panels.append(
                _Panel(
                    f"{_name(main.metric)} by {_name(str(key))}",
                    sliced[:MOST_ROWS],
                    0.0,
                    100.0,
                    unit,
                    max(0, len(sliced) - MOST_ROWS),
                )
            )
    return [panel for panel in panels if panel.rows]


def _dots(result: Result, main: Estimate, key: str, value: str, scale: float) -> list[_Dot]:
    found = by_system(result, main, {key: value})
    return [_dot(result, one, scale) for one in found.values() if one.value is not None]


def _dot(result: Result, estimate: Estimate, scale: float) -> _Dot:
    value = scale * float(estimate.value or 0.0)
    interval = (
        None if estimate.interval is None else (scale * estimate.interval[0], scale * estimate.interval[1])
    )
    return _Dot(result.systems.index(estimate.system), value, interval, format_rounded(value, 1, 100.0))


def _time_panel(result: Result) -> list[_Panel]:
    found = [(name, find_named(result, name, tuple(TIMES))) for name in result.systems]
    known = [(name, one) for name, one in found if one is not None and one.value is not None]
    if not known:
        return []
    rows = [(_name(name), [_seconds(result, one)]) for name, one in known]
    most = max(max(dot.value, dot.interval[1] if dot.interval else 0.0) for _, [dot] in rows)
    return [
        _Panel(
            f"{TIMES[known[0][1].metric]} time of a document",
            rows[:MOST_ROWS],
            0.0,
            _round_up(most),
            " s",
            max(0, len(rows) - MOST_ROWS),
        )
    ]


def _seconds(result: Result, estimate: Estimate) -> _Dot:
    value = float(estimate.value or 0.0) / 1000
    interval = (
        None if estimate.interval is None else (estimate.interval[0] / 1000, estimate.interval[1] / 1000)
    )
    return _Dot(result.systems.index(estimate.system), value, interval, f"{value:.2f}")


def _round_up(most: float) -> float:
    """Return the end of an axis from 0: the next of 1, 2, 4, 8, 10, 20 …, with short quarters.

    >>> _round_up(4.99), _round_up(0.03), _round_up(0.0)
    (8.0, 0.04, 1.0)
    """
    if most <= 0:
        return 1.0
    power = math.floor(math.log10(most))
    return next(end for end in (float(f"{step}e{power}") for step in (1, 2, 4, 8, 10)) if end >= most)


def _draw(panel: _Panel, top: int) -> list[str]:
    more = f" ({panel.hidden} more are not drawn)" if panel.hidden else ""
    lines = [f'<text x="0" y="{top + 14}" font-weight="600" fill="{_INK}">{panel.title}{more}</text>']
    bottom = top + 30 + panel.row * len(panel.rows)
    for step in range(5):
        at = panel.low + (panel.high - panel.low) * step / 4
        x = _x(panel, at)
        lines.append(f'<line x1="{x:.1f}" y1="{top + 26}" x2="{x:.1f}" y2="{bottom}" stroke="{_PALE}"/>')
        lines.append(
            f'<text x="{x:.1f}" y="{bottom + 14}" font-size="11" text-anchor="middle" '
            f'fill="{_INK}">{at:g}{panel.unit}</text>'
        )
    for place, (name, dots) in enumerate(panel.rows):
        y = top + 30 + panel.row * (place + 0.5)
        lines.append(f'<text x="{_NAMES - 10}" y="{y + 4:.1f}" text-anchor="end" fill="{_INK}">{name}</text>')
        lines += [
            line
            for number, dot in enumerate(dots)
            for line in _draw_dot(panel, dot, y + (12.0 * (number - (len(dots) - 1) / 2)), len(dots) == 1)
        ]
    return lines


def _draw_dot(panel: _Panel, dot: _Dot, y: float, is_alone: bool) -> list[str]:
    color, x = _COLORS[dot.system % len(_COLORS)], _x(panel, dot.value)
    lines = []
    if dot.interval is not None:
        low, high = (_x(panel, bound) for bound in dot.interval)
        lines.append(
            f'<line x1="{low:.1f}" y1="{y:.1f}" x2="{high:.1f}" y2="{y:.1f}" stroke="{color}" '
            'stroke-width="2"/>'
        )
    lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{color}"/>')
    lines.append(
        f'<text x="{x:.1f}" y="{y + 3:.1f}" font-size="8" font-weight="700" text-anchor="middle" '
        f'fill="#ffffff">{dot.system + 1}</text>'
    )
    if is_alone:
        lines.append(
            f'<text x="{_WIDTH - _RIGHT + 16}" y="{y + 4:.1f}" fill="{_INK}">{dot.shown}{panel.unit}</text>'
        )
    return lines


def _x(panel: _Panel, value: float) -> float:
    share = (value - panel.low) / ((panel.high - panel.low) or 1.0)
    return _NAMES + min(1.0, max(0.0, share)) * (_WIDTH - _NAMES - _RIGHT)


def _legend(systems: Sequence[str], top: int) -> list[str]:
    lines = []
    for number, name in enumerate(systems[:MOST_ROWS]):
        y, color = top + 20 + 20 * number, _COLORS[number % len(_COLORS)]
        lines.append(f'<circle cx="8" cy="{y}" r="6" fill="{color}"/>')
        lines.append(
            f'<text x="8" y="{y + 3}" font-size="8" font-weight="700" text-anchor="middle" '
            f'fill="#ffffff">{number + 1}</text>'
        )
        lines.append(f'<text x="22" y="{y + 4}" fill="{_INK}">{_name(name)}</text>')
    return lines


def _name(text: str) -> str:
    return escape(clip(text, 26))
