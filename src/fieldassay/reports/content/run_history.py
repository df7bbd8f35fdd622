"""The history of runs as a drawing: the headline of each system, run after run, with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import pairwise

from msgspec import Struct

from fieldassay.io.text.shown import clip, escape_xml, format_count
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.notation import HIGHEST, format_both, format_in_unit
from fieldassay.runs.run import DAMAGED, Run

_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555")
_INK, _PALE = "#1f2328", "#d0d7de"
_LEFT, _TOP, _PLOT, _HEIGHT, _LEGEND, _ROW = 64, 40, 560, 280, 200, 20
_TICKS = 5
MOST_SYSTEMS = 20
"""The most systems that are drawn; further ones are counted in the legend."""


class _Point(Struct, frozen=True):
    """The headline of a system in one run; points of one `basis` (spec and gold) can be compared."""

    at: int
    estimate: Estimate
    basis: tuple[str | None, ...]


class RunHistory(Struct, frozen=True, eq=False):
    """The runs with a headline by one metric, the oldest first; `hidden` have none, or another one."""

    runs: tuple[Run, ...]
    metric: str
    hidden: int

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems, in the order of their first runs."""
        return tuple(dict.fromkeys(one.system for run in self.runs for one in run.headline))


def gather_history(runs: Sequence[Run]) -> RunHistory:
    """Return the history of runs, listed with the newest first, by their most frequent headline metric."""
    known = [
        run for run in runs if run.status != DAMAGED and any(one.value is not None for one in run.headline)
    ]
    names = Counter(run.headline[0].metric for run in known)
    metric = names.most_common(1)[0][0] if names else ""
    shown = tuple(run for run in reversed(known) if run.headline[0].metric == metric)
    return RunHistory(shown, metric, len(runs) - len(shown))


def draw_history(found: RunHistory) -> str:
    """Return the history as SVG: a line for each system, broken where spec or gold is another one."""
    systems = found.systems[:MOST_SYSTEMS]
    height = max(_TOP + _HEIGHT + 60, _TOP + _ROW * (len(systems) + 3))
    width = _LEFT + _PLOT + _LEGEND
    title = f"{found.metric.replace('_', ' ')}, {format_count(len(found.runs), 'run')}"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        'font-size="12" role="img">',
        f"<title>{escape_xml(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-weight="600" fill="{_INK}">{escape_xml(title)}</text>',
    ]
    points = {system: _points(found, system) for system in systems}
    low, high = _span(points.values())
    lines += _axes(found, low, high)
    for number, system in enumerate(systems):
        lines += _draw(points[system], _COLORS[number % len(_COLORS)], (low, high), len(found.runs))
    lines += _legend(systems, found)
    return "\n".join([*lines, "</svg>"]) + "\n"


def render_history_page(found: RunHistory) -> str:
    """Return a page with the drawing and a table of its numbers; it loads nothing."""
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape_xml(cell)}</td>' for cell in _row(run, one))}</tr>"
        for run in found.runs
        for one in run.headline
    )
    heads = "".join(
        f"<th>{head}</th>" for head in ("started (UTC)", "run", "system", escape_xml(found.metric), "n")
    )
    style = (
        "body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
        "table{border-collapse:collapse}th,td{padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%}"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>History of runs</title>'
        f"<style>{style}</style></head><body><h1>History of runs</h1>\n{draw_history(found)}"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></body></html>\n"
    )


def _row(run: Run, one: Estimate) -> list[str]:
    name, system = clip(run.id or run.folder.name, 40), clip(one.system, 60)
    return [_when(run.started), name, system, format_both(one), f"{one.n:,}"]


def _points(found: RunHistory, system: str) -> list[_Point]:
    return [
        _Point(at, one, (run.digests.get("spec"), run.digests.get("gold")))
        for at, run in enumerate(found.runs)
        for one in run.headline
        if one.system == system and one.value is not None
    ]


def _span(points: Iterable[list[_Point]]) -> tuple[float, float]:
    """Return the ends of the axis: all values and intervals, with a little room."""
    estimates = [point.estimate for one in points for point in one]
    ends = [end for one in estimates for end in (one.value, *(one.interval or ())) if end is not None]
    if not ends:
        return 0.0, 1.0
    room = 0.05 * (max(ends) - min(ends)) or 0.05 * abs(max(ends)) or 0.05
    highest = HIGHEST.get(estimates[0].unit)
    low, high = max(0.0, min(ends) - room), max(ends) + room
    return low, high if highest is None else min(high, highest)


def _axes(found: RunHistory, low: float, high: float) -> list[str]:
    unit = next((one.unit for run in found.runs for one in run.headline), "ratio")
    lines = []
    for tick in range(_TICKS):
        value = low + (high - low) * tick / (_TICKS - 1)
        y = _y(value, (low, high))
        lines.append(f'<path d="M{_LEFT} {y:.1f}H{_LEFT + _PLOT}" stroke="{_PALE}"/>')
        shown = escape_xml(format_in_unit(value, unit))
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end" fill="{_INK}">{shown}</text>')
    step = max(1, -(-len(found.runs) // 6))
    for at in range(0, len(found.runs), step):
        x = _x(at, len(found.runs))
        lines.append(
            f'<text x="{x:.1f}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle" fill="{_INK}">'
            f"{escape_xml(_when(found.runs[at].started)[:10])}</text>"
        )
    return lines


def _draw(points: Sequence[_Point], color: str, span: tuple[float, float], runs: int) -> list[str]:
    lines = []
    for before, after in pairwise(points):
        if before.basis == after.basis:
            ends = [(_x(one.at, runs), _y(float(one.estimate.value or 0.0), span)) for one in (before, after)]
            (x, y), (right, end) = ends
            lines.append(
                f'<path d="M{x:.1f} {y:.1f}L{right:.1f} {end:.1f}" stroke="{color}" stroke-width="2"/>'
            )
    for one in points:
        x = _x(one.at, runs)
        if one.estimate.interval is not None:
            low, high = (_y(end, span) for end in one.estimate.interval)
            lines.append(f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{color}" stroke-opacity="0.5"/>')
        told = escape_xml(f"{clip(one.estimate.system, 60)}: {format_both(one.estimate)}")
        y = _y(float(one.estimate.value or 0.0), span)
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"><title>{told}</title></circle>')
    return lines


def _legend(systems: Sequence[str], found: RunHistory) -> list[str]:
    left = _LEFT + _PLOT + 24
    lines = []
    for number, name in enumerate(systems):
        y, color = _TOP + 12 + _ROW * number, _COLORS[number % len(_COLORS)]
        lines.append(f'<circle cx="{left}" cy="{y - 4}" r="5" fill="{color}"/>')
        lines.append(f'<text x="{left + 12}" y="{y}" fill="{_INK}">{escape_xml(clip(name, 24))}</text>')
    more = len(found.systems) - len(systems)
    told = [format_count(more, "more system")] if more else []
    told += [f"{format_count(found.hidden, 'run')} without this metric"] if found.hidden else []
    lines += [
        f'<text x="{left}" y="{_TOP + 12 + _ROW * (len(systems) + at)}" fill="{_INK}">{text}</text>'
        for at, text in enumerate(map(escape_xml, told))
    ]
    about = "lines join runs on the same spec and gold; bars are intervals"
    return [*lines, f'<text x="{_LEFT}" y="{_TOP + _HEIGHT + 44}" fill="{_INK}">{about}</text>']


def _x(at: int, runs: int) -> float:
    return _LEFT + _PLOT * ((at + 0.5) / max(1, runs))


def _y(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return _TOP + _HEIGHT * (1 - (value - low) / ((high - low) or 1.0))


def _when(started: datetime) -> str:
    return started.strftime("%Y-%m-%d %H:%M") if started.year > 1 else "—"
