"""Delimited text: CSV and its relatives, one record per row, everything text."""

from __future__ import annotations

from collections import Counter

from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.json_value import id_text
from fieldassay.io.text.encoding import decode_lines, find_delimiter, read_rows
from fieldassay.records.formats.columns import Columns, Table
from fieldassay.records.formats.files import Input
from fieldassay.records.formats.grouping import group_rows
from fieldassay.records.formats.rows import HeldRows, hold_rows
from fieldassay.records.ids import cap_problems, find_id
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import Row
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.names import ID_NAMES

_DELIMITER = lazy_regex(r"sep=([^\r\n])[,;\t]*\r?\n")
"""The first line by which Excel is told the delimiter."""


def read_table(source: Input, options: SourceOptions) -> tuple[HeldRows, tuple[Problem, ...]]:
    """Return the rows of a delimited file with a header, and its problems; cells stay text.

    A row with more or fewer cells than the header is a problem. Dotted headers make nested objects unless the
    spec declares that very name.
    """
    text = decode_lines(source.as_utf8().read_bytes()).removeprefix("\ufeff")
    named = _DELIMITER.match(text)
    text = f"\n{text[named.end() :]}" if named else text  # the numbers of lines stay
    delimiter = named[1] if named else "\t" if source.format == "tsv" else find_delimiter(text)
    (number, header), *below = read_rows(text, delimiter, source.label) or [(1, [])]
    table = Table(
        source.label,
        [name.strip() for name in header],
        [cells for _, cells in below],
        [f":{at}" for at, _ in below],
    )
    table = name_index(table, options, source)
    check_header(table, number)
    return hold_table(table, options)


def name_index(table: Table, options: SourceOptions, source: Input) -> Table:
    """Return a table whose first column, an index without a name, is left out, or is the id if none else is.

    Numbers of rows, from 0 or 1, are no ids.
    """
    names = options.names or ID_NAMES
    if len(table.header) < 2 or table.header[0] not in ("", "Unnamed: 0"):
        return table
    index = [id_text(cells[0]) if cells else None for cells in table.rows]
    are_numbers = any(index == list(map(str, range(start, start + len(index)))) for start in (0, 1))
    is_id = not are_numbers and table.header[0] == "" and set(names).isdisjoint(table.header)
    if not (is_id or are_numbers):
        return table
    what = f"the first column, an index, has no name, and was {'taken as the id' if is_id else 'left out'}"
    source.notes.append(Problem(table.label, what, "write the table without its index", "index_column"))
    if is_id:
        return replace(table, header=[names[0], *table.header[1:]])
    return replace(table, header=table.header[1:], rows=[cells[1:] for cells in table.rows])


def hold_table(table: Table, options: SourceOptions) -> tuple[HeldRows, tuple[Problem, ...]]:
    """Return the rows of a table as records, those of one id together if asked for, and their problems.

    A row with more or fewer cells than the header is a problem; it stops everything where rows are grouped.
    """
    width = len(table.header)
    faults = [
        f"has {len(cells)} cells, the header has {width}" if len(cells) != width else None
        for cells in table.rows
    ]
    remedy = "quote cells that hold the delimiter or a line break"
    ragged = [
        Problem(f"{table.label}{place}", what, remedy, "ragged_row")
        for what, place in zip(faults, table.places, strict=True)
        if what
    ]
    if options.group:
        if ragged:
            raise ProblemsError(cap_problems(ragged))
        grouped = group_rows(table, options)
        rows, places = [Row(record) for record, _ in grouped], [place for _, place in grouped]
    else:
        columns = Columns.of(table.header, options)
        rows = [
            Row(columns.nest(cells), problem=fault) for cells, fault in zip(table.rows, faults, strict=True)
        ]
        places = list(table.places)
    found = [find_id(row.value, options.names) if isinstance(row.value, dict) else None for row in rows]
    held = [Row(None, problem=row.problem) if row.problem else row for row in rows]
    return hold_rows(table.label, found, held, places, ragged, is_table=True)


def check_header(table: Table, number: int) -> None:
    """Raise `ProblemsError` for unnamed or repeated columns of the header in row `number`."""
    where, header = f"{table.label}:{number}", table.header
    if not header:
        raise problem(
            table.label, "has no header", "write the names of the columns into the first row", "empty_input"
        )
    twice = sorted(name for name, count in Counter(header).items() if count > 1 and name)
    problems = [
        Problem(
            where, f"column {name!r} stands twice in the header", "rename or remove one", "duplicate_column"
        )
        for name in twice
    ]
    if "" in header[:-1] or header == [""]:
        problems.append(
            Problem(where, f"column {header.index('') + 1} has no name", "name every column", "bad_header")
        )
    if problems:
        raise ProblemsError(problems)
