"""Draws the rooms of the package, floor by floor, as docs/images/rooms.svg: from the contract of imports."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "fieldassay"
TARGET = ROOT / "docs" / "images" / "rooms.svg"
WIDTH, FLOOR, GAP = 860, 34, 6
_ROOM = 150
STYLE = (
    "rect{fill:#f6f8fa;stroke:#57606a}text{font:13px ui-sans-serif,sans-serif;fill:#1f2328}"
    ".name{font-weight:600}"
)


def floors() -> list[list[str]]:
    """Return the rooms and modules of each floor, the highest first: imports go downward only."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [[name.strip() for name in layer.split("|")] for layer in layers if layer != "__main__"]


def sentence_of(room: str) -> str:
    """Return what a room says of itself in its `__init__.py`; the empty text for a module."""
    file = PACKAGE / room / "__init__.py"
    return ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "" if file.is_file() else ""


def draw() -> str:
    """Return the drawing: a row for each floor, in it the rooms with their sentences."""
    parts, y = [], 1
    for rooms in floors():
        are_modules = not any(map(sentence_of, rooms))
        for room in rooms:
            name = ", ".join(rooms) if are_modules else room
            sentence = "modules" if are_modules else sentence_of(room)
            parts.append(
                f'<rect x="1" y="{y}" width="{WIDTH - 2}" height="{FLOOR - GAP}" rx="4"/>'
                f'<text class="name" x="12" y="{y + 19}">{escape(name)}</text>'
                f'<text x="{_ROOM}" y="{y + 19}">{escape(sentence)}</text>'
            )
            y += FLOOR - GAP if room != rooms[-1] and not are_modules else FLOOR
            if are_modules:
                break
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}">'
    title = "<title>The rooms of fieldassay; each may import those below it</title>"
    return f"{head}{title}<style>{STYLE}</style>{''.join(parts)}</svg>\n"


if __name__ == "__main__":
    TARGET.write_text(draw(), encoding="utf-8")
