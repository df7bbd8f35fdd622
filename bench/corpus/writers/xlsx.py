"""Recipes as workbooks: number formats, merged cells, hidden rows, formulas with their values."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from bench.corpus.marks import plain_text, read_runs
from bench.corpus.recipe import Block, Recipe
from bench.corpus.written import Written, place_on

_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_DATED = datetime(2026, 1, 1)


def write_xlsx(recipe: Recipe) -> Written:
    """Return a recipe as a workbook; a block `sheet` begins a sheet, which is a page.

    A cell is a marked text (a gold value that looks like a number is written as one), or a mapping: `text`,
    and `format`, `formula`, `across`, `down`, `color`, `comment`. Rows of `hidden` are hidden.
    """
    from xlsxwriter import Workbook

    stream = io.BytesIO()
    book = Workbook(stream, {"in_memory": True})
    book.set_properties({"title": recipe.id, "created": _DATED})
    sheets = _split_sheets(recipe.blocks)
    for name, blocks in sheets:
        sheet = book.add_worksheet(name)
        for row, (cells, is_hidden) in enumerate(_rows(blocks)):
            _write_row(book, sheet, row, cells)
            if is_hidden:
                sheet.set_row(row, None, None, {"hidden": True})
    book.close()
    return Written(
        stream.getvalue(),
        tuple("\n".join(_line(cells) for cells, _ in _rows(blocks)) for _, blocks in sheets),
        tuple(placed for at, (_, blocks) in enumerate(sheets, 1) for placed in place_on(blocks, at)),
    )


def _split_sheets(blocks: Sequence[Block]) -> list[tuple[str, list[Block]]]:
    sheets: list[tuple[str, list[Block]]] = []
    for block in blocks:
        if isinstance(block, Mapping) and "sheet" in block:
            sheets.append((block["sheet"], []))
        else:
            if not sheets:
                sheets.append(("Sheet1", []))
            sheets[-1][1].append(block)
    return sheets


def _rows(blocks: Sequence[Block]) -> Iterator[tuple[Sequence[Any], bool]]:
    """Yield the rows of a sheet, and whether they are hidden."""
    for block in blocks:
        if isinstance(block, str):
            yield [block], False
            continue
        name, content = next(iter(block.items()))
        if name == "pairs":
            yield from (([label, text], False) for label, text in content.items())
        elif name in ("table", "hidden"):
            yield from ((row, name == "hidden") for row in content)
        else:
            yield [content], False


def _line(cells: Sequence[Any]) -> str:
    texts = (plain_text(str(cell["text"] if isinstance(cell, Mapping) else cell)) for cell in cells)
    return " ".join(text for text in texts if text)


def _write_row(book: Any, sheet: Any, row: int, cells: Sequence[Any]) -> None:
    column = 0
    for cell in cells:
        options = cell if isinstance(cell, Mapping) else {}
        text = str(options["text"] if options else cell)
        looks = {"num_format": options["format"]} if "format" in options else {}
        looks |= {"bg_color": options["color"]} if "color" in options else {}
        look = book.add_format(looks) if looks else None
        value = _value(text, is_number="format" in options or "formula" in options)
        across, down = options.get("across", 1), options.get("down", 1)
        if across > 1 or down > 1:
            sheet.merge_range(row, column, row + down - 1, column + across - 1, value, look)
        elif "formula" in options:
            sheet.write_formula(row, column, options["formula"], look, value)
        elif value != "":
            sheet.write(row, column, value, look)
        column += across


def _value(text: str, *, is_number: bool) -> Any:
    """Return the value of a cell: the number behind a text that is one gold value, else the text."""
    runs, shown = read_runs(text), plain_text(text)
    mark = runs[0].mark if len(runs) == 1 else None
    gold = None if mark is None else mark.gold
    if isinstance(gold, int | float) and (is_number or _NUMBER.fullmatch(shown)):
        return gold
    return shown
