"""Curves F(t) as a drawing and as a table."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from fieldassay.io.text.shown import escape_xml

if TYPE_CHECKING:
    import polars as pl

_LEFT, _TOP, _SIDE = 56, 24, 360
_WIDTH, _ROW = 720, 20
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
_DASHES = ("none", "7 3", "2 3")
MOST_CURVES = 21
"""The most curves drawn: more cannot be distinguished by colors and dashes."""


def draw_curves(curves: pl.DataFrame, title: str = "F(t)") -> str:
    """Return an SVG drawing of the curves of whole systems (slice ``) from `trace_curves`.

    Each has the area under it; only the first `MOST_CURVES` are drawn.
    """
    import polars as pl

    whole = curves.filter(pl.col("slice") == "")
    fields = whole["field"].n_unique()
    parts = [
        (str(system) if fields < 2 else f"{system} {field}", part.select("t", "share").rows())
        for (system, field), part in whole.group_by("system", "field", maintain_order=True)
    ][:MOST_CURVES]
    height = max(_TOP + _SIDE + 48, _TOP + _ROW * (len(parts) + 1))
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" '
        'font-size="12" role="img">'
    ]
    lines += [
        f"<title>{escape_xml(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        *_axes(),
    ]
    for number, (name, steps) in enumerate(parts):
        lines += _curve(name, steps, number)
    return "\n".join([*lines, "</svg>"]) + "\n"


def area(steps: list[tuple[float, float]]) -> float:
    """Return the area under a curve's steps (t, share).

    >>> area([(0.0, 1.0), (0.25, 0.8), (1.0, 0.4)])
    0.5
    """
    pairs = pairwise(steps)
    return sum((after - before) * share for (before, _), (after, share) in pairs)


def _axes() -> list[str]:
    bottom, right = _TOP + _SIDE, _LEFT + _SIDE
    lines = []
    for tick in range(6):
        share = tick / 5
        x, y = _x(share), _y(share)
        lines.append(f'<path d="M{_LEFT} {y:g}H{right}M{x:g} {_TOP}V{bottom}" stroke="#ddd" fill="none"/>')
        lines.append(f'<text x="{_LEFT - 8}" y="{y + 4:g}" text-anchor="end">{share:.1f}</text>')
        lines.append(f'<text x="{x:g}" y="{bottom + 18}" text-anchor="middle">{share:.1f}</text>')
    lines.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" stroke="#000" fill="none"/>')
    lines.append(f'<text x="{_LEFT + _SIDE // 2}" y="{bottom + 38}" text-anchor="middle">t</text>')
    lines.append(
        f'<text x="16" y="{_TOP + _SIDE // 2}" text-anchor="middle" transform="rotate(-90 16 '
        f'{_TOP + _SIDE // 2})">F(t)</text>'
    )
    return lines


def _curve(name: str, steps: list[tuple[float, float]], number: int) -> list[str]:
    """Return a curve, which falls just behind each of its points, and its line of the legend."""
    color, dash = _COLORS[number % len(_COLORS)], _DASHES[number // len(_COLORS) % len(_DASHES)]
    style = f'stroke="{color}" stroke-width="2" stroke-dasharray="{dash}" fill="none"'
    path = f"M{_x(0):g} {_y(steps[0][1]):.2f}" + "".join(
        f"V{_y(share):.2f}H{_x(t):.2f}" for t, share in steps[1:]
    )
    x, y = _LEFT + _SIDE + 24, _TOP + _ROW * (number + 1)
    shown = escape_xml(name if len(name) <= 30 else f"{name[:29]}…")
    return [
        f'<path d="{path}V{_y(0):g}" {style}/>',
        f'<path d="M{x} {y - 4}h24" {style}/>',
        f'<text x="{x + 32}" y="{y}">{shown} ({area(steps):.3f})</text>',
    ]


def _x(t: float) -> float:
    return _LEFT + _SIDE * t


def _y(share: float) -> float:
    return _TOP + _SIDE * (1 - share)
