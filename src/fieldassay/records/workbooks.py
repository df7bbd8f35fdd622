"""Excel workbooks: one sheet as a table, its cells typed as they are stored."""

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from xml.etree import ElementTree

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.json_value import Json
from fieldassay.io.text.shown import format_count
from fieldassay.records.files import CHUNK, Input, unpack_archive
from fieldassay.records.keys import SourceOptions
from fieldassay.records.rows import Contents
from fieldassay.records.tables import TableSheet, hold_table, lay_out

MOST_CELLS = 1 << 26
"""Cells of the rectangle that a sheet fills; the reader holds every one of them, blank ones too."""

_TAG = rb"(?:\w{1,20}:)?"
_CELL = re.compile(rb"<%sc(?:\s([^<>]*[^<>/]))?>((?:[^<]++|<(?!/?%sc[\s>]))*+)</%sc>" % (_TAG, _TAG, _TAG))
_PLACE = re.compile(rb'\br="([A-Z]{1,3})([0-9]{1,7})"')
_VALUE = re.compile(rb"<%sv(?:\s[^<>]*)?>([^<]+)<" % _TAG)
_FORMULA = re.compile(rb"<%sf[\s/>]" % _TAG)
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


_STYLE = re.compile(rb'\bs="([0-9]{1,6})"')
_LITERAL = re.compile(r'"[^"]*"|\\.|_.|\*.|\[[^\[\]]*+\]')
_PLACES = re.compile(r"([0#?,]*)(?:\.([0#?]*))?")
_FORMATS = {1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%"} | {
    number: "#,##0.00" if number % 2 else "#,##0" for number in (37, 38, 39, 40, 41, 42, 43, 44)
}
"""The formats of numbers that Excel has built in."""
_LARGEST = 10**15


class _Scan(Struct, frozen=True):
    """A scan of a sheet's XML before reading: its extent; its error cells, and the formats of its numbers.

    Both are by row and column, from 0.
    """

    rows: int
    columns: int
    errors: dict[tuple[int, int], str]
    formats: dict[tuple[int, int], str]


def read_workbook(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of one sheet of a workbook: the one named, else the first non-empty.

    Numbers stay numbers, whole ones integers; dates and times become ISO text; a cell with an error is its
    text (`#N/A`). The first row that is not blank holds the names of the columns; columns that are blank
    throughout are skipped.
    """
    try:
        sheet, cells, merged, scan = _read_cells(source)
    except ProblemsError:
        raise
    except BaseException as error:  # a panic of the reader is no Exception
        if not isinstance(error, _DAMAGE) and type(error).__module__.partition(".")[0] not in (
            "python_calamine",
            "pyo3_runtime",
        ):
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise problem(
            source.label,
            f"not an Excel workbook that can be read ({reason})",
            "save it again, or save the sheet as CSV",
            "bad_workbook",
        ) from None
    for (row, column), text in scan.errors.items():
        if row < len(cells) and column < len(cells[row]):
            cells[row][column] = text
    named = source.label if source.sheet is not None else f"{source.label}#{sheet}"
    notes: list[Problem] = []
    _show_numbers(named, cells, scan.formats, notes)
    _fill_merged(named, cells, merged, notes)
    contents = _hold(named, cells, options, notes)
    return replace(contents, notes=(*notes, *contents.notes))


def _show_numbers(
    label: str, cells: list[list[Any]], formats: Mapping[tuple[int, int], str], notes: list[Problem]
) -> None:
    """Replace numbers by what Excel shows of them; what that leaves out is noted."""
    cut: list[str] = []
    places: dict[tuple[str, bool], _ShownPlaces | None] = {}
    for (row, column), code in formats.items():
        value = cells[row][column] if row < len(cells) and column < len(cells[row]) else None
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        if (code, value < 0) not in places:
            places[code, value < 0] = find_places(code, is_negative=value < 0)
        shown_by = places[code, value < 0]
        if shown_by is not None and abs(value) < _LARGEST:
            cells[row][column], is_cut = shown_by.show(value)
            if is_cut:
                cut.append(f"{value:.15g} in row {row + 1} is shown as {cells[row][column]}")
    if cut:
        count = format_count(len(cut), "number")
        what = f"{count} with more digits than Excel shows: read as shown ({cut[0]})"
        notes.append(Problem(label, what, "show all digits in Excel if they count", "shown_numbers"))


class _ShownPlaces(Struct, frozen=True):
    """The digits of a format: the places before and behind the point, and how often it has a percent sign."""

    whole: str
    behind: str
    percents: int

    @property
    def pads(self) -> bool:
        """Return whether a number has leading zeros."""
        return self.whole.count("0") > 1 and "," not in self.whole and not self.behind

    def show(self, value: float) -> tuple[Json, bool]:
        """Return a number as Excel shows it, and whether that leaves digits out.

        A percentage and a number with leading zeros are text; any other stays a number, rounded.
        """
        if not (self.percents or self.pads) and round(value, len(self.behind)) == value:
            return value, False
        number = Decimal(f"{value:.15g}").scaleb(2 * self.percents)
        shown = number.quantize(Decimal(1).scaleb(-len(self.behind)), ROUND_HALF_UP)
        if self.percents:
            text = f"{shown:f}"
            optional = len(self.behind) - self.behind.count("0")
            text = text[: len(text) - optional] + text[len(text) - optional :].rstrip("0")
            return f"{text.rstrip('.') if self.behind else text}%", shown != number
        if self.pads:
            return f"{int(shown):0{self.whole.count('0') + (shown < 0)}}", shown != number
        return float(shown), shown != number


def find_places(code: str, *, is_negative: bool = False) -> _ShownPlaces | None:
    """Return the digits of a format; None for one that is more than digits in one place.

    Fractions, exponents and telephone numbers are such.

    >>> find_places("0%").show(0.19), find_places("0000000000").show(221602), find_places("# ?/?")
    (('19%', False), ('0000221602', False), None)
    >>> find_places("#,##0.00 [$€]").show(12.345)
    (12.35, True)
    """
    sections = _LITERAL.sub("\0", code).split(";")
    section = sections[1] if is_negative and sections[1:] else sections[0]
    places = [match for match in _PLACES.finditer(section) if match[0].strip(",.")]
    is_other = any(char in "EGgyYdDhHsSmM/@" for char in section)
    if len(places) != 1 or is_other or places[0][1].endswith(","):
        return None
    return _ShownPlaces(places[0][1], places[0][2] or "", section.count("%"))


def _fill_merged(
    label: str, cells: list[list[Any]], merged: "Sequence[_Range]", notes: list[Problem]
) -> None:
    """Give the first column of each merged range its value in every row; names and titles alone are wider.

    Raises `ProblemsError` for ranges that overlap.
    """
    filled = 0
    for (top, left), (bottom, _) in merged:
        rows = cells[top + 1 : bottom + 1]
        if not rows or left >= len(rows[0]):
            continue
        filled += len(rows)
        if filled > len(cells) * len(cells[0]):
            raise problem(label, "has merged cells that overlap", "unmerge them", "bad_workbook")
        for row in rows:
            row[left] = cells[top][left]
    if filled:
        what = f"{format_count(filled, 'merged cell')} took the value of the first of the range"
        notes.append(
            Problem(label, what, "unmerge the cells whose value is not that of each row", "merged_cells")
        )


_Range: TypeAlias = tuple[tuple[int, int], tuple[int, int]]


def _read_cells(source: Input) -> tuple[str, list[list[Any]], Sequence[_Range], _Scan]:
    from python_calamine import CalamineWorkbook

    with zipfile.ZipFile(source.path) as archive:
        for _ in unpack_archive(archive, source):  # all of it is bounded before any of it is read
            pass
        parts = _sheets(archive)
        sheet = _choose(source, {name: _extent(archive, part) for name, part in parts.items()})
        scan = _scan(archive, parts[sheet], source)
    with CalamineWorkbook.from_path(str(source.path)) as book:
        read = book.get_sheet_by_name(sheet)
        cells = [list(row) for row in read.to_python(skip_empty_area=False)]
        return sheet, cells, read.merged_cell_ranges or (), scan


def _sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """Return the parts of the archive that hold the sheets, by the sheets' names, in order."""
    root = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    relations = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {relation.get("Id"): str(relation.get("Target")) for relation in relations}
    parts = {}
    for element in root.iter():
        if element.tag.rpartition("}")[2] == "sheet":
            target = targets[
                element.get(_RELATION) or next(value for key, value in element.items() if key.endswith("}id"))
            ]
            part = target.lstrip("/") if target.startswith("/") else str(PurePosixPath("xl") / target)
            if "worksheets" in part:  # a chart has no cells
                parts[str(element.get("name"))] = part
    if not parts:
        raise ValueError("it has no sheet")
    return parts


def _extent(archive: zipfile.ZipFile, part: str) -> int:
    """Return 0 for an empty sheet, 2 for one with cells in several rows and columns, 1 for any other."""
    rows, columns = set[int](), set[int]()
    for text in _portions(archive, part):
        for cell in _CELL.finditer(text):
            row, column = _place(cell[1] or b"")
            rows.add(row)
            columns.add(column)
            if len(rows) > 1 and len(columns) > 1:
                return 2
    return min(len(rows), 1)


def _choose(source: Input, extents: Mapping[str, int]) -> str:
    if source.sheet is not None:
        if source.sheet not in extents:
            raise problem(
                source.label, f"has no sheet {source.sheet!r}", nearest(source.sheet, extents), "no_sheet"
            )
        return source.sheet
    chosen = max(extents, key=lambda name: extents[name])  # the first of several alike
    filled = [name for name, extent in extents.items() if extent]
    if len(filled) > 1:
        listed = ", ".join(map(repr, filled[:8]))
        what = f"has {len(filled)} filled sheets ({listed}), and {chosen!r} was taken"
        other = next(name for name in filled if name != chosen)
        source.notes.append(Problem(source.label, what, f"name another: {source.label}#{other}", "sheet"))
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
    formats: dict[tuple[int, int], str] = {}
    styles = _styles(archive)
    for text in _portions(archive, part):
        for attributes, content in _CELL.findall(text):
            row, column = _place(attributes)
            rows, columns = max(rows, row + 1), max(columns, column + 1)
            style = _STYLE.search(attributes) if styles and b's="' in attributes else None
            if style and style[1] in styles and (b't="' not in attributes or b't="n"' in attributes):
                formats[row, column] = styles[style[1]]
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
        raise problem(
            source.label,
            f"has a sheet that reaches over {rows:,} rows and {columns:,} columns",
            "delete the cells far from the table",
            "too_large",
        )
    return _Scan(rows, columns, errors, formats)


def _styles(archive: zipfile.ZipFile) -> dict[bytes, str]:
    """Return the formats of numbers by the styles of cells; styles without one of digits are left out."""
    if "xl/styles.xml" not in archive.namelist():
        return {}
    root = ElementTree.fromstring(archive.read("xl/styles.xml"))
    parts = {element.tag.rpartition("}")[2]: element for element in root}
    own = {element.get("numFmtId"): element.get("formatCode", "") for element in parts.get("numFmts", ())}
    codes = [
        own.get(style.get("numFmtId")) or _FORMATS.get(int(style.get("numFmtId", "0")), "")
        for style in parts.get("cellXfs", ())
    ]
    return {str(number).encode(): code for number, code in enumerate(codes) if "0" in code or "#" in code}


def _place(attributes: bytes) -> tuple[int, int]:
    """Return the row and the column of a cell, from 0."""
    match = _PLACE.search(attributes)
    if match is None:
        raise ValueError("its cells do not say where they stand")
    column = 0
    for letter in match[1]:
        column = column * 26 + letter - 64
    return int(match[2]) - 1, column - 1


def _hold(label: str, cells: list[list[Any]], options: SourceOptions, notes: list[Problem]) -> Contents:
    filled = [at for at, row in enumerate(cells) if any(cell != "" for cell in row)]
    if not filled:
        raise problem(
            label, "is an empty sheet", "give a sheet with a header and at least one row", "empty_input"
        )
    used = [at for at in range(len(cells[filled[0]])) if any(cells[row][at] != "" for row in filled)]
    rows = [(row + 1, [_plain(cells[row][at]) for at in used]) for row in filled]
    sheet = TableSheet(label, rows, [])
    table = lay_out(sheet, options)
    first = filled[0]
    if first and not any(note.kind == "title_rows" for note in sheet.notes):
        blank = "first row is" if first == 1 else f"first {first} rows are"
        what = f"its {blank} blank; row {first + 1} was taken as the header"
        sheet.notes.insert(0, Problem(label, what, kind="blank_rows"))
    notes += sheet.notes
    return hold_table(table, options)


def _plain(cell: Any) -> Json:
    """Return a cell as JSON: whole numbers as integers, dates and times as ISO text.

    Times over a day are hours, minutes and seconds.
    """
    if isinstance(cell, float):
        cell = float(f"{cell:.15g}")  # as many digits as Excel has
        return int(cell) if cell.is_integer() and abs(cell) < 2**53 else cell
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        seconds = round(cell.total_seconds())
        return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return cell if isinstance(cell, str | bool | int) else str(cell)
