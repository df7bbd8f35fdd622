"""Excel workbooks: one sheet as a table, its cells typed as they are stored."""

from __future__ import annotations

import datetime
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.json_value import Json
from fieldassay.records.files import CHUNK, Input, too_large
from fieldassay.records.keys import SourceOptions
from fieldassay.records.rows import Contents
from fieldassay.records.tables import Table, check_header, hold_table, name_index
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook


MOST_CELLS = 1 << 26
"""Cells of the rectangle that a sheet fills; the reader holds every one of them, blank ones too."""

_TAG = rb"(?:\w{1,20}:)?"
_CELL = lazy_regex(rb"<%sc(?:\s([^<>]*[^<>/]))?>((?:[^<]++|<(?!/?%sc[\s>]))*+)</%sc>" % (_TAG, _TAG, _TAG))
_PLACE = lazy_regex(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
_VALUE = lazy_regex(rb"<%sv(?:\s[^<>]*)?>([^<]+)<" % _TAG)
_FORMULA = lazy_regex(rb"<%sf[\s/>]" % _TAG)
_CELL_BEGINS = (b"<c ", b":c ")
_DAMAGE = (
    zipfile.BadZipFile,
    EOFError,
    ElementTree.ParseError,
    OSError,
    ValueError,
    LookupError,  # also of an encoding that XML names
    NotImplementedError,
    RuntimeError,
    zlib.error,
)
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


class _Scan(Struct, frozen=True):
    """A scan of a sheet's XML before reading: its extent, and its error cells by row and column, from 0."""

    rows: int
    columns: int
    errors: dict[tuple[int, int], str]


def read_workbook(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of one sheet of a workbook: the one named, else the first non-empty.

    Numbers stay numbers, whole ones integers; dates and times become ISO text; a cell with an error is its
    text (`#N/A`). The first row that is not blank holds the names of the columns; columns that are blank
    throughout are skipped.
    """
    try:
        sheet, cells, scan = _read_cells(source)
    except ProblemsError:
        raise
    except BaseException as error:  # a panic of the reader is no Exception
        if not isinstance(error, _DAMAGE) and type(error).__module__.partition(".")[0] not in (
            "python_calamine",
            "pyo3_runtime",
        ):
            raise
        told = (str(error).splitlines() or [type(error).__name__])[0][:200]
        what = f"not an Excel workbook that can be read ({told})"
        raise problem(source.label, what, "save it again, or save the sheet as CSV", "bad_workbook") from None
    for (row, column), text in scan.errors.items():
        if row < len(cells) and column < len(cells[row]):
            cells[row][column] = text
    return _hold(source, sheet, cells, options)


def _read_cells(source: Input) -> tuple[str, list[list[Any]], _Scan]:
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(source.path) as archive:
        _check_size(archive, source)
        parts = _sheets(archive)
        filled = [name for name, part in parts.items() if _is_filled(archive, part)]
        sheet = _choose(source, list(parts), filled)
        scan = _scan(archive, parts[sheet], source)
    with CalamineWorkbook.from_path(str(source.path)) as book:
        return sheet, _cells_of(book, sheet), scan


def _cells_of(book: CalamineWorkbook, sheet: str) -> list[list[Any]]:
    return [list(row) for row in book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)]


def _check_size(archive: zipfile.ZipFile, source: Input) -> None:
    """Unpack everything once: no part may exceed the size stated in the archive, nor the sum the limit."""
    bound, size = source.bound(), 0
    for info in archive.infolist():
        with archive.open(info) as stream:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if size > bound:
                    raise too_large(source.label, bound)


def _sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the parts of the archive that hold the sheets, by the sheets' names, in order."""
    root = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {one.get("Id"): str(one.get("Target")) for one in relations}
    found = {}
    for one in root.iter():
        if one.tag.rpartition("}")[2] == "sheet":
            target = targets[
                one.get(_RELATION) or next(value for key, value in one.items() if key.endswith("}id"))
            ]
            part = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
            if "worksheets" in part:  # a chart has no cells
                found[str(one.get("name"))] = part
    if not found:
        raise ValueError("it has no sheet")
    return found


def _is_filled(archive: zipfile.ZipFile, part: str) -> bool:
    return any(_CELL.search(text) for text in _portions(archive, part))


def _choose(source: Input, names: list[str], filled: list[str]) -> str:
    if source.sheet is not None:
        if source.sheet not in names:
            remedy = nearest(source.sheet, names)
            raise problem(source.label, f"has no sheet {source.sheet!r}", remedy, "no_sheet")
        return source.sheet
    chosen = (filled or names)[0]
    if len(filled) > 1:
        listed = ", ".join(map(repr, filled[:8]))
        what = f"has {len(filled)} filled sheets ({listed}), and {chosen!r} was taken"
        source.notes.append(Problem(source.label, what, f"name another: {source.label}#{filled[1]}", "sheet"))
    return chosen


def _portions(archive: zipfile.ZipFile, part: str) -> Iterator[bytes]:
    """Yield the bytes of a part in pieces that end where a cell begins."""
    rest = b""
    with archive.open(part) as stream:
        while chunk := stream.read(CHUNK):
            rest += chunk
            cut = max(rest.rfind(mark) for mark in _CELL_BEGINS)
            if cut > 0:
                cut = rest.rfind(b"<", 0, cut + 1)
                yield rest[:cut]
                rest = rest[cut:]
    yield rest


def _scan(archive: zipfile.ZipFile, part: str, source: Input) -> _Scan:
    rows = columns = 0
    errors: dict[tuple[int, int], str] = {}
    for text in _portions(archive, part):
        for attributes, content in _CELL.findall(text):
            row, column = _place(attributes)
            rows, columns = max(rows, row + 1), max(columns, column + 1)
            if b't="e"' not in attributes and b"f" not in content:
                continue
            value = _VALUE.search(content)
            if b't="e"' in attributes and value is not None:
                errors[row, column] = value[1].decode("utf-8", "replace")
            elif value is None and _FORMULA.search(content):
                raise ValueError(
                    f"row {row + 1}: a formula was never computed; open it in a spreadsheet program and "
                    "save it there"
                )
    if rows * columns > MOST_CELLS:
        what = f"has a sheet that reaches over {rows:,} rows and {columns:,} columns"
        raise problem(source.label, what, "delete what stands far from the table", "too_large")
    return _Scan(rows, columns, errors)


def _place(attributes: bytes) -> tuple[int, int]:
    """Return the row and the column of a cell, from 0."""
    found = _PLACE.search(attributes)
    if found is None:
        raise ValueError("its cells do not say where they stand")
    column = 0
    for letter in found[1]:
        column = column * 26 + letter - 64
    return int(found[2]) - 1, column - 1


def _hold(source: Input, sheet: str, cells: list[list[Any]], options: SourceOptions) -> Contents:
    named = source.label if source.sheet is not None else f"{source.label}#{sheet}"
    filled = [at for at, row in enumerate(cells) if any(cell != "" for cell in row)]
    if not filled:
        raise problem(
            named, "is an empty sheet", "give a sheet with a header and at least one row", "empty_input"
        )
    first, *below = filled
    if first:
        told = "first row is" if first == 1 else f"first {first} rows are"
        source.notes.append(
            Problem(named, f"its {told} blank; row {first + 1} was taken as the header", kind="blank_rows")
        )
    used = [at for at in range(len(cells[first])) if any(cells[row][at] != "" for row in filled)]
    header = [str(_plain(cells[first][at])).strip() for at in used]
    rows = [[_plain(cells[row][at]) for at in used] for row in below]
    table = Table(named, header, rows, [f":{row + 1}" for row in below])
    table = name_index(table, options, source)
    check_header(table, first + 1)
    return hold_table(table, options)


def _plain(cell: Any) -> Json:
    """Return a cell as JSON: whole numbers as integers, dates and times as ISO text.

    Times over a day are hours, minutes and seconds.
    """
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        seconds = round(cell.total_seconds())
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return cell if isinstance(cell, str | bool | int) else str(cell)
