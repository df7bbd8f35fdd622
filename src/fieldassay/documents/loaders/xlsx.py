"""Excel workbooks: every sheet a page with one table, its cells as a person sees them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fieldassay.documents.loaders.content import Content, Task
from fieldassay.documents.loaders.number_formats import BUILT_IN, format_number
from fieldassay.documents.loaders.package import Package, attribute, local, open_package
from fieldassay.documents.transcript import Cell, DocumentError, Page, Table
from fieldassay.regex import lazy_regex

_PLACE = lazy_regex(r"([A-Z]{1,3})([0-9]{1,7})")
_MOST_COLUMNS = 16_384


class _Book(Struct, frozen=True):
    """What the cells of all sheets refer to."""

    strings: tuple[str, ...]
    formats: tuple[str, ...]
    """The number format of each style of cells."""
    is_1904: bool
    max_cells: int


class _Sheet(Struct):
    """What is known of a sheet besides its cells, gathered while it is read."""

    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    hidden_columns: list[tuple[int, int]] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    cells: list[Cell] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)


def load_xlsx(data: bytes, task: Task) -> Content:
    """Return the sheets of a workbook; hidden sheets, rows and columns are marked invisible, and noted."""
    notes: set[str] = set()
    pages: list[Page] = []
    with open_package(data, task.options.max_bytes) as package:
        root = package.parse("xl/workbook.xml")
        relations = package.relations("xl/workbook.xml")
        book = _read_book(package, root, relations, task.options.max_cells)
        count = 0
        for one in (element for element in root.iter() if local(element) == "sheet"):
            kind, part = relations.get(attribute(one, "id") or "", ("", ""))
            if kind != "worksheet":
                continue
            is_hidden = one.get("state") in ("hidden", "veryHidden")
            sheet = _read_sheet(package, part, book, book.max_cells - count, is_hidden)
            count += len(sheet.cells)
            notes |= sheet.notes | ({"hidden_sheets"} if is_hidden and sheet.cells else set())
            tables = (Table(tuple(sheet.cells), name=one.get("name") or ""),) if sheet.cells else ()
            pages.append(Page(len(pages) + 1, (), tables, name=one.get("name") or ""))
    if not pages:
        raise DocumentError("unreadable", "has no sheet")
    return Content(tuple(pages), tuple(notes))


def _read_book(
    package: Package, root: Any, relations: Mapping[str, tuple[str, str]], max_cells: int
) -> _Book:
    parts = {kind: part for kind, part in relations.values() if kind in ("sharedStrings", "styles")}
    strings = tuple(
        _text(element) for element in package.stream(parts["sharedStrings"], ("si",))
    ) if "sharedStrings" in parts else ()  # fmt: skip
    formats = _read_formats(package.parse(parts["styles"])) if "styles" in parts else ()
    settings = next((element for element in root.iter() if local(element) == "workbookPr"), None)
    is_1904 = settings is not None and settings.get("date1904") in ("1", "true")
    return _Book(strings, formats, is_1904, max_cells)


def _text(element: Any) -> str:
    """Return the text of a string with runs, without its phonetic guides."""
    parts = []
    for one in element.iter():
        if local(one) == "t" and not any(local(above) == "rPh" for above in one.iterancestors()):
            parts.append(one.text or "")
    return "".join(parts)


def _read_formats(root: Any) -> tuple[str, ...]:
    codes = dict(BUILT_IN)
    for one in root.iter():
        if local(one) == "numFmt" and (one.get("numFmtId") or "").isdecimal():
            codes[int(one.get("numFmtId"))] = one.get("formatCode") or "General"
    styles = next((one for one in root.iter() if local(one) == "cellXfs"), ())
    numbers = [one.get("numFmtId") or "0" for one in styles if local(one) == "xf"]
    return tuple(codes.get(int(number) if number.isdecimal() else 0, "General") for number in numbers)


def _read_sheet(package: Package, part: str, book: _Book, room: int, is_hidden: bool) -> _Sheet:
    sheet = _Sheet()
    rows: list[tuple[int, int, str, str, str]] = []
    at_row = 0
    for element in package.stream(part, ("row", "col", "mergeCell")):
        name = local(element)
        if name == "row":
            number = element.get("r") or ""
            at_row = int(number) if number.isdecimal() and len(number) < 8 else at_row + 1
            if element.get("hidden") in ("1", "true"):
                sheet.hidden_rows.add(at_row - 1)
            _read_row(element, at_row - 1, book, rows, sheet.notes)
            if len(rows) > room:
                raise DocumentError("too_large", f"has more than {book.max_cells:,} cells")
        elif name == "col" and element.get("hidden") in ("1", "true"):
            sheet.hidden_columns.append((_count(element.get("min")) - 1, _count(element.get("max")) - 1))
        elif name == "mergeCell":
            _read_merged(element.get("ref") or "", sheet)
    comments = _read_comments(package, part, sheet.notes)
    for row, column, text, note, hidden in rows:
        place = (row, column)
        is_seen = not (is_hidden or hidden or _is_hidden(sheet, row, column))
        high, wide = sheet.merged.get(place, (1, 1))
        told = "; ".join(filter(None, [note, f"comment: {comments[place]}" if place in comments else ""]))
        sheet.cells.append(Cell(row, column, text, high, wide, visible=is_seen, note=told))
    return sheet


def _count(text: str | None) -> int:
    return min(int(text), _MOST_COLUMNS) if text and text.isdecimal() and len(text) < 8 else 1


def _is_hidden(sheet: _Sheet, row: int, column: int) -> bool:
    if row in sheet.hidden_rows:
        sheet.notes.add("hidden_rows")
        return True
    if any(first <= column <= last for first, last in sheet.hidden_columns):
        sheet.notes.add("hidden_columns")
        return True
    return False


def _read_merged(reference: str, sheet: _Sheet) -> None:
    first, _, last = reference.partition(":")
    start, end = _place(first), _place(last)
    if start is not None and end is not None and end >= start:
        sheet.merged[start] = (end[0] - start[0] + 1, max(end[1] - start[1] + 1, 1))


def _place(reference: str | None) -> tuple[int, int] | None:
    """Return the row and column of a reference such as `B3`, from 0."""
    found = _PLACE.fullmatch((reference or "").replace("$", ""))
    if found is None:
        return None
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return int(found[2]) - 1, column - 1


def _read_row(
    row: Any, number: int, book: _Book, rows: list[tuple[int, int, str, str, str]], notes: set[str]
) -> None:
    """Append row, column, text, note and hidden format (as text) of the cells of a row."""
    column = -1
    for cell in row:
        if local(cell) != "c":
            continue
        place = _place(cell.get("r"))
        column = place[1] if place is not None else column + 1
        text, raw, code, formula = _read_cell(cell, book)
        if formula and not raw:
            notes.add("uncomputed_formula")
        hidden = "hidden" if raw.strip() and not text.strip() else ""
        if hidden:
            notes.add("hidden_text")
        told = [f"formula: ={formula}" if formula else "", f"format: {code}" if code != "General" else ""]
        told.append(f"value: {raw}" if raw != text else "")
        if raw.strip():
            rows.append((number, column, (text or raw).strip(), "; ".join(filter(None, told)), hidden))


def _read_cell(cell: Any, book: _Book) -> tuple[str, str, str, str]:
    """Return the text of a cell as shown, its value as stored, its format, and its formula."""
    kind = cell.get("t") or "n"
    held = {local(one): one for one in cell}
    formula = (held["f"].text or "") if "f" in held else ""
    if kind == "inlineStr":
        text = _text(held["is"]) if "is" in held else ""
        return text, text, "General", formula
    raw = (held["v"].text or "") if "v" in held else ""
    if kind == "s":
        at = int(raw) if raw.isdecimal() and len(raw) < 10 else -1
        text = book.strings[at] if 0 <= at < len(book.strings) else ""
        return text, text, "General", formula
    if kind == "b":
        text = {"1": "TRUE", "0": "FALSE"}.get(raw, raw)
        return text, text, "General", formula
    if kind in ("str", "e", "d") or not raw:
        return raw, raw, "General", formula
    style = cell.get("s") or "0"
    at = int(style) if style.isdecimal() and len(style) < 8 else 0
    code = book.formats[at] if at < len(book.formats) else "General"
    try:
        return format_number(float(raw), code, book.is_1904), raw, code, formula
    except (ValueError, OverflowError):
        return raw, raw, code, formula


def _read_comments(package: Package, part: str, notes: set[str]) -> dict[tuple[int, int], str]:
    found = {}
    for kind, name in package.relations(part).values():
        if kind != "comments":
            continue
        for one in package.parse(name).iter():
            place = _place(one.get("ref")) if local(one) == "comment" else None
            if place is not None:
                found[place] = " ".join(_text(one).split())
                notes.add("comments")
    return found
