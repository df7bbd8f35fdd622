"""Delimited text: CSV and its relatives, one record per row, everything text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from fieldassay.errors import Problem, ProblemsError
from fieldassay.records.decode import decode_json
from fieldassay.records.files import Input
from fieldassay.records.ids import find_id, settle_ids
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import Row
from fieldassay.records.rows import HeldRows
from fieldassay.values.json import Json

DELIMITERS = (",", ";", "\t", "|")
FIELD_LIMIT = 1 << 30


def read_table(source: Input, options: SourceOptions) -> tuple[HeldRows, tuple[Problem, ...]]:
    """Return the rows of a delimited file with a header, and what is wrong with it; cells stay text.

    A row with more or fewer cells than the header is a problem. Dotted headers make nested objects unless the spec declares that very name.
    """
    text = _read_text(source)
    lines = _split(text, "\t" if source.format == "tsv" else find_delimiter(text))
    number, header = next(lines, (1, []))
    header = [name.strip() for name in header]
    problems = _check_header(source.label, number, header)
    if problems:
        raise ProblemsError(problems)
    rows: list[Row] = []
    places: list[str] = []
    ragged: list[Problem] = []
    for number, cells in lines:
        row = Row(nest_cells(header, cells, options))
        if len(cells) != len(header):
            what = f"has {len(cells)} cells, the header has {len(header)}"
            row = Row(row.value, problem=what)
            ragged.append(Problem(f"{source.label}:{number}", what, "quote cells that hold the delimiter or a line break", "ragged_row"))
        rows.append(row)
        places.append(f":{number}")
    found = [find_id(row.value, options.names) if isinstance(row.value, dict) else None for row in rows]
    index = settle_ids(found, ragged, lambda position: f"{source.label}{places[position]}")
    kept = index.kept.tolist()
    held = tuple(Row(None, problem=rows[at].problem) if rows[at].problem else rows[at] for at in kept)
    return HeldRows(source.label, index.ids, held, tuple(places[at] for at in kept), index.is_numbered), index.problems


def find_delimiter(text: str) -> str:
    """Return the delimiter of a delimited text: the one that splits its first rows into equally many cells, most of them.

    >>> find_delimiter('id;amount\\n1;"2,5"\\n2;3,5\\n')
    ';'
    """
    sample = text[:65536]
    if len(text) > len(sample) and "\n" in sample:
        sample = sample[: sample.rindex("\n") + 1]
    best, delimiter = (0.0, 1), ","
    for candidate in DELIMITERS:
        widths = [len(cells) for _, (_, cells) in zip(range(50), _split(sample, candidate), strict=False)]
        if not widths or widths[0] < 2:
            continue
        agreement = sum(width == widths[0] for width in widths) / len(widths)
        if (agreement, widths[0]) > best:
            best, delimiter = (agreement, widths[0]), candidate
    return delimiter


def nest_cells(header: Sequence[str], cells: Sequence[str], options: SourceOptions) -> dict[str, Json]:
    """Return a row as an object: `vendor.name` becomes a `name` in `vendor`; text of nested fields that is JSON is decoded.

    >>> nest_cells(["id", "vendor.name"], ["7", "ACME"], SourceOptions())
    {'id': '7', 'vendor': {'name': 'ACME'}}
    """
    row: dict[str, Json] = {}
    for name, cell in zip(header, cells, strict=False):
        value = decode_cell(cell) if name.partition(".")[0] in options.nested or name in options.nested else cell
        put_nested(row, name, value, options)
    return row


def decode_cell(cell: str) -> Json:
    """Return the list or object that a cell holds as JSON, or the cell as it is."""
    if cell.lstrip()[:1] not in ("[", "{"):
        return cell
    row = decode_json(cell.encode("utf-8", "replace"))
    return cell if row.problem is not None or row.repairs else row.value


def put_nested(row: dict[str, Json], name: str, value: Json, options: SourceOptions) -> None:
    """Set a value of a row under a dotted name, making the objects on the way; a declared name and an id are never split."""
    parts = name.split(".")
    if name in options.declared or name in options.names or not all(parts):
        row[name] = value
        return
    inner = row
    for part in parts[:-1]:
        child = inner.setdefault(part, {})
        if not isinstance(child, dict):  # a column `vendor` beside a column `vendor.name`: both stay as they are
            row[name] = value
            return
        inner = child
    inner[parts[-1]] = value


def _read_text(source: Input) -> str:
    data = source.path.read_bytes()
    encoding = source.encoding
    if encoding == "utf-8":
        try:
            return data.decode("utf-8").removeprefix("\ufeff")
        except UnicodeDecodeError:  # a file whose beginning is UTF-8 and whose end is not
            lines = data.split(b"\n")
            return "\n".join(_decode_line(line) for line in lines).removeprefix("\ufeff")
    return data.decode(encoding, "replace").removeprefix("\ufeff")


def _decode_line(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("cp1252", "replace")


def _split(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the physical line number at which each row starts, and its cells; empty lines are passed over."""
    csv.field_size_limit(max(csv.field_size_limit(), FIELD_LIMIT))
    reader = csv.reader(io.StringIO(text.replace("\0", ""), newline=""), delimiter=delimiter)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error:
            yield number, []
            continue
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield number, cells


def _check_header(label: str, number: int, header: Sequence[str]) -> list[Problem]:
    where = f"{label}:{number}"
    if not header:
        return [Problem(label, "has no header", "write the names of the columns into the first row", "empty_input")]
    twice = sorted({name for name in header if header.count(name) > 1 and name})
    problems = [Problem(where, f"column {name!r} stands twice in the header", "rename or remove one", "duplicate_column") for name in twice]
    if "" in header[:-1] or header == [""]:
        problems.append(Problem(where, f"column {header.index('') + 1} has no name", "name every column", "bad_header"))
    return problems
