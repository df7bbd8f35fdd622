"""Tables: delimited text, frames and Parquet; columns as places in a record, rows as items of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files import parquet as guarded
from fieldassay.io.json_value import Json, id_text, is_blank
from fieldassay.io.text.delimited import find_delimiter, read_rows
from fieldassay.io.text.encoding import decode_lines
from fieldassay.paths import ITEM, Step, split_path
from fieldassay.records.files import Input
from fieldassay.records.keys import Positions, SourceOptions, cap_problems, find_id
from fieldassay.records.record import (
    PREDICTION_KEY,
    WITH_LOSSES,
    Row,
    UnplainError,
    convert_column,
    decode_json,
    to_json,
)
from fieldassay.records.rows import Contents, HeldRows, Rows, find_ids
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.names import ID_NAMES

if TYPE_CHECKING:
    import polars as pl


# Columns of a table as places in a record: `vendor.name` in an object, `lines[0].sku` in a list item.


class Table(Struct, frozen=True, eq=False):
    """The rows below a header. `places` are their places, as parts of messages after the label."""

    label: str
    header: list[str]
    rows: Sequence[Sequence[Json]]
    places: Sequence[str]


class _Items(dict[int, Any]):
    """The items of a list by their indices, while a row is put together."""


class Columns(Struct, frozen=True):
    """The mapping from the cells of a row to an object.

    For each column: its name, the steps to its place, and whether its text may be JSON.
    """

    names: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]
    may_be_json: tuple[bool, ...]
    lists: tuple[Step, ...]
    """Keys of the row whose values are lists of items."""

    @classmethod
    def of(cls, header: Sequence[str], options: SourceOptions) -> Columns:
        """Return the columns of a header; a declared name and an id are one key, whatever they look like."""
        steps = tuple(_steps(name, options) for name in header)
        lists = dict.fromkeys(found[0] for found in steps if any(isinstance(step, int) for step in found))
        nested = tuple(name in options.nested or name.partition(".")[0] in options.nested for name in header)
        return cls(tuple(header), steps, nested, tuple(lists))

    def nest(self, cells: Sequence[Json]) -> dict[str, Json]:
        """Return a row as an object, its items in the order of their indices, without blank ones at the end.

        >>> columns = Columns.of(["id", "vendor.name", "lines[0].sku", "lines[1].sku"], SourceOptions())
        >>> columns.nest(["7", "ACME", "A1", ""])
        {'id': '7', 'vendor': {'name': 'ACME'}, 'lines': [{'sku': 'A1'}]}
        """
        row: dict[str, Any] = {}
        for name, steps, may_be_json, cell in zip(
            self.names, self.steps, self.may_be_json, cells, strict=False
        ):
            _put(row, name, steps, decode_cell(cell) if may_be_json and isinstance(cell, str) else cell)
        for key in self.lists:
            if key in row:
                row[str(key)] = _settled(row[str(key)])
        return row


def _steps(name: str, options: SourceOptions) -> tuple[Step, ...]:
    if name in options.declared or name in options.names:
        return (name,)
    if "[" in name:
        try:
            steps = split_path(name)
        except ValueError:
            return (name,)
        has_index = any(isinstance(step, int) for step in steps)
        return steps if has_index and ITEM not in steps and isinstance(steps[0], str) else (name,)
    parts = name.split(".")
    return tuple(parts) if all(parts) else (name,)


def _put(row: dict[str, Any], name: str, steps: tuple[Step, ...], value: Json) -> None:
    """Set a value at its place, making objects and lists on the way.

    Where another column holds a value at that place, the value stays under its column's name.
    """
    if len(steps) == 1:
        row[name] = value
        return
    inner: Any = row
    for step, after in pairwise(steps):
        made: dict[Any, Any] = _Items() if isinstance(after, int) else {}
        inner = inner.setdefault(step, made)
        if type(inner) is not type(
            made
        ):  # a column `vendor` beside a column `vendor.name`: both stay as they are
            row[name] = value
            return
    inner[steps[-1]] = value


def _settled(value: Any) -> Any:
    if isinstance(value, _Items):
        items = [_settled(value[index]) for index in sorted(value)]
        while items and is_blank(items[-1]):
            items.pop()
        return items
    return {key: _settled(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def decode_cell(cell: str) -> Json:
    """Return the list or object that a cell holds as JSON, or the cell as it is."""
    if cell.lstrip()[:1] not in ("[", "{"):
        return cell
    row = decode_json(cell.encode("utf-8", "replace"))
    return cell if row.problem is not None or row.repairs else row.value


# Long tables: one row per item, and the rows of one id together are one record.

Cells = Sequence[Json]


class ItemColumns(Struct, frozen=True):
    """The columns of one list: its place in the record, the columns, and the mapping of cells to an item."""

    path: str
    positions: tuple[int, ...]
    columns: Columns

    def item(self, cells: Cells) -> dict[str, Json] | None:
        """Return the item of a row, None if all its cells are blank."""
        found = self.columns.nest([cells[at] for at in self.positions])
        return None if is_blank(found) else found


def find_items(header: Sequence[str], options: SourceOptions) -> tuple[ItemColumns, ...]:
    """Return the columns of a header that hold items, by list.

    Their names are `lines.sku` or `lines[].sku`; if the spec has only one list of objects, also the names of
    its items' fields.
    """
    places: dict[str, dict[int, str]] = {}
    for at, name in enumerate(header):
        if name in options.declared or name in options.names:
            continue
        for path, names in options.item_lists:
            rest = next(
                (name[len(start) :] for start in (f"{path}[].", f"{path}.") if name.startswith(start)), None
            )
            if rest is None and len(options.item_lists) == 1 and name.partition(".")[0] in names:
                rest = name
            if rest:
                places.setdefault(path, {})[at] = rest
                break
    inner = SourceOptions(id_names=())
    return tuple(
        ItemColumns(path, tuple(found), Columns.of(list(found.values()), inner))
        for path, found in places.items()
    )


def group_rows(table: Table, options: SourceOptions) -> list[tuple[dict[str, Json], str]]:
    """Return one record per id, in order of appearance, with the place of its first row.

    Columns that hold no items must be the same in all rows of an id, or blank after the first. Raises
    `ProblemsError` with every cell that is not, every row without an id, and for ids that repeat where no
    column holds items.
    """
    items = find_items(table.header, options)
    own = {at for one in items for at in one.positions}
    others = [at for at in range(len(table.header)) if at not in own]
    columns = Columns.of([table.header[at] for at in others], options)
    groups: dict[str, list[int]] = {}
    problems: list[Problem] = []
    for at, cells in enumerate(table.rows):
        name = find_id(columns.nest([cells[other] for other in others]), options.names)
        if name is None:
            problems.append(
                Problem(
                    f"{table.label}{table.places[at]}", "has no id", "write the id into every row", "no_id"
                )
            )
        else:
            groups.setdefault(name, []).append(at)
    if not groups:
        return [
            (columns.nest(()), place) for place in table.places
        ]  # without any id, which is told as everywhere
    if not items and len(groups) < len(table.rows):
        raise ProblemsError([_no_items(table.label, options)])
    problems += [
        problem for name, found in groups.items() for problem in _differences(table, others, name, found)
    ]
    if problems:
        raise ProblemsError(cap_problems(problems))
    return [
        (_record(table, found, others, columns, items), table.places[found[0]]) for found in groups.values()
    ]


def _no_items(label: str, options: SourceOptions) -> Problem:
    if not options.item_lists:
        return Problem(
            label,
            "has ids that repeat, and the spec has no list of objects to group rows into",
            "declare one",
            "no_items",
        )
    path, names = options.item_lists[0]
    remedy = f"name columns such as {path}.{min(names)}"
    return Problem(
        label, f"has ids that repeat, and no column that holds items of {path}", remedy, "no_items"
    )


def _differences(table: Table, others: Sequence[int], name: str, found: Sequence[int]) -> list[Problem]:
    first = table.rows[found[0]]
    return [
        Problem(
            f"{table.label}{table.places[at]}",
            f"column {table.header[other]!r} is {table.rows[at][other]!r}, and {first[other]!r} in the "
            f"first row of {name!r}{table.places[found[0]]}",
            "make them equal, or leave it blank after the first row",
            "unequal_rows",
        )
        for at in found[1:]
        for other in others
        if not is_blank(table.rows[at][other]) and _same(table.rows[at][other]) != _same(first[other])
    ]


def _same(cell: Json) -> Json:
    return cell.strip() if isinstance(cell, str) else cell


def _record(
    table: Table, found: Sequence[int], others: Sequence[int], columns: Columns, items: Sequence[ItemColumns]
) -> dict[str, Json]:
    record = columns.nest([table.rows[found[0]][at] for at in others])
    for one in items:
        values = [item for at in found if (item := one.item(table.rows[at])) is not None]
        *folders, last = one.path.split(".")
        inner = record
        for folder in folders:
            inner = inner.setdefault(folder, {})  # type: ignore[assignment]
        inner[last] = list(values)
    return record


# Delimited text: CSV and its relatives, one record per row, everything text.

_DELIMITER = lazy_regex(r"sep=([^\r\n])[,;\t]*\r?\n")
"""The first line by which Excel is told the delimiter."""


class TableRows(HeldRows, frozen=True, eq=False):
    """Rows of a table in memory."""

    kind: ClassVar[Literal["file", "folder", "table"]] = "table"


def read_table(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a delimited file with a header; cells stay text.

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


def hold_table(table: Table, options: SourceOptions) -> Contents:
    """Return the rows of a table as records, those of one id together if asked for.

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
    held = tuple(Row(None, problem=row.problem) if row.problem else row for row in rows)
    return Contents(TableRows(table.label, held, tuple(places)), find_ids(rows, options.names), ragged)


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


# Parquet files and data frames.


class FrameRows(Rows, Struct, frozen=True, eq=False):
    """Rows of a Polars frame, made objects on reading. `numbers` are their positions in the file, from 1."""

    label: str
    frame: pl.DataFrame
    numbers: Positions
    nesting: Columns
    read_columns: frozenset[str] = frozenset()
    columns: ClassVar[tuple[str, ...]] = ("frame", "numbers")
    kind: ClassVar[Literal["file", "folder", "table"]] = "table"

    def place(self, position: int) -> str:
        return f"{self.label}: row {self.numbers[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        part = self.frame[list(positions)]
        lost, problems = set[int](), dict[int, str]()
        columns = [
            convert_column(part[name].to_list(), lost, problems if self.is_read(name) else None)
            for name in part.columns
        ]
        return [
            Row(None, problem=problems[at])
            if at in problems
            else Row(self.nesting.nest(list(cells)), WITH_LOSSES if at in lost else ())
            for at, cells in enumerate(zip(*columns, strict=True))
        ]

    def is_read(self, name: str) -> bool:
        """Return whether the values of a column are read."""
        return not self.read_columns or name in self.read_columns


def read_parquet(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a Parquet file."""
    frame = guarded.read_parquet(source.path.read_bytes(), source.label, "write it again, or name its format")
    return hold_frame(source.label, frame, options)


def hold_frame(label: str, frame: pl.DataFrame, options: SourceOptions) -> Contents:
    """Return the rows of a Polars frame; ids come from the first id column in which a row has one."""
    if options.group:
        return hold_table(table_of(label, frame.columns, frame.rows()), options)
    found: list[str | None] = [None] * frame.height
    names = [name for name in options.names if name in frame.columns]
    for name in reversed(names or ["id"] * ({"id", PREDICTION_KEY} <= {*frame.columns})):
        for position, value in enumerate(frame[name].to_list()):
            found[position] = id_text(value) or found[position]
    read_keys = options.read_keys
    read = frozenset(name for name in frame.columns if re.split(r"[.\[]", name)[0] in read_keys)
    numbers = np.arange(1, frame.height + 1, dtype=np.int64)
    return Contents(FrameRows(label, frame, numbers, Columns.of(frame.columns, options), read), found)


def table_of(label: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Table:
    """Return the rows of a frame as a table of JSON; `ProblemsError` for what `to_json` refuses."""
    places = []
    cells = []
    for number, row in enumerate(rows, 1):
        places.append(f": row {number}")
        try:
            cells.append([to_json(value) for value in row])
        except UnplainError as error:
            raise problem(f"{label}{places[-1]}", str(error), "mend the row", "not_json") from None
    return Table(label, list(names), cells, places)
