"""Tables: delimited text, frames and Parquet; columns as places in a record, rows as items of one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files import tables as guarded
from fieldassay.io.json_value import Json, id_text, is_blank
from fieldassay.io.text.encoding import decode_lines, read_rows, split_named
from fieldassay.io.text.shown import format_count
from fieldassay.paths import ITEM, Step, split_path
from fieldassay.records.files import Input
from fieldassay.records.keys import Positions, SourceOptions, cap_problems, find_id
from fieldassay.records.record import (
    PREDICTION_KEY,
    Row,
    UnplainError,
    decode_json,
    to_json,
    to_rows,
)
from fieldassay.records.rows import Contents, HeldRows, SourceRows, find_ids
from fieldassay.spec.language.names import ID_NAMES

if TYPE_CHECKING:
    import polars as pl


# Columns of a table as places in a record: `vendor.name` in an object, `lines[0].sku` in a list item.


class HeadedRows(Struct, frozen=True, eq=False):
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
        lists = dict.fromkeys(path[0] for path in steps if any(isinstance(step, int) for step in path))
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
    is_path = all(part[:1].isalnum() or part[:1] in ("_", "@", "$") for part in parts)
    return tuple(parts) if is_path else (name,)  # no path: `VAT-No.`, `MwSt.-Satz`, `Inv. No`


def _put(row: dict[str, Any], name: str, steps: tuple[Step, ...], value: Json) -> None:
    """Set a value at its place, making objects and lists on the way.

    Where another column holds a value at that place, the value stays under its column's name.
    """
    if len(steps) == 1:
        row[name] = value
        return
    inner: Any = row
    for step, after in pairwise(steps):
        container: dict[Any, Any] = _Items() if isinstance(after, int) else {}
        inner = inner.setdefault(step, container)
        if type(inner) is not type(
            container
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
        item = self.columns.nest([cells[at] for at in self.positions])
        return None if is_blank(item) else item


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
        ItemColumns(path, tuple(names), Columns.of(list(names.values()), inner))
        for path, names in places.items()
    )


LIST = "lines"
"""The name of the list of items where no spec has one."""


def group_rows(
    table: HeadedRows, options: SourceOptions
) -> tuple[list[tuple[dict[str, Json], str]], list[Problem]]:
    """Return one record per id, in order of appearance, with the place of its first row; and notes.

    A row without an id goes on with the one above. Columns that hold no items must be the same in all rows of
    an id, or blank after the first; those that are not hold items, too, unless the spec declares them. Raises
    `ProblemsError` with every cell that is neither, for a first row without an id, and for ids that repeat
    where no column holds items.
    """
    of_ids = [at for at, name in enumerate(table.header) if _names_id(name, options)]
    columns = Columns.of([table.header[at] for at in of_ids], options)
    groups: dict[str, list[int]] = {}
    name: str | None = None
    continued: list[str] = []
    for at, cells in enumerate(table.rows):
        own = find_id(columns.nest([cells[of_id] for of_id in of_ids]), options.names)
        if own is None and name is not None:
            continued.append(table.places[at])
        name = own or name
        if name is not None:
            groups.setdefault(name, []).append(at)
    items, others, notes = _item_columns(table, options, groups)
    columns = Columns.of([table.header[at] for at in others], options)
    if not groups:
        return [(columns.nest(()), place) for place in table.places], []  # it is told as everywhere
    unnamed = table.places[: min(rows[0] for rows in groups.values())]
    problems = [Problem(f"{table.label}{place}", "has no id", "write one", "no_id") for place in unnamed]
    if not items and len(groups) < len(table.rows):
        path, names = next(iter(options.item_lists), ("", frozenset[str]()))
        lacking = f"no column that holds items of {path}" if path else "the spec has no list of objects"
        raise problem(
            table.label,
            f"has ids that repeat, and {lacking}",
            f"name columns such as {path}.{min(names)}" if path else "declare the list that the rows are",
            "no_items",
        )
    for own, rows in groups.items():
        problems += _differences(table, others, own, rows)
    if problems:
        raise ProblemsError(cap_problems(problems))
    if continued:
        what = f"{format_count(len(continued), 'row')} without an id was joined to the one above"
        where = f"{table.label}{continued[0]}"
        notes.append(Problem(where, what, "if one is a record, give it an id", "continued_rows"))
    return [
        (_record(table, rows, others, columns, items), table.places[rows[0]]) for rows in groups.values()
    ], notes


def _names_id(column: str, options: SourceOptions) -> bool:
    """Return whether the id may be in a column, or in what it holds."""
    return any(
        name == column or name.startswith(f"{column}.") for name in (*options.names, "id", PREDICTION_KEY)
    )


def _item_columns(
    table: HeadedRows, options: SourceOptions, groups: Mapping[str, Sequence[int]]
) -> tuple[Sequence[ItemColumns], list[int], list[Problem]]:
    """Return the columns of items, the others, and a note on those of items by their values alone."""
    items = find_items(table.header, options)
    own = {
        at: name
        for item_columns in items
        for at, name in zip(item_columns.positions, item_columns.columns.names, strict=True)
    }
    others = [at for at in range(len(table.header)) if at not in own]
    paths = [path for path, _ in options.item_lists] or ([] if options.declared else [LIST])
    varying = [
        at
        for at in others
        if not (table.header[at] in options.declared or _names_id(table.header[at], options))
        and any(_differences(table, [at], "", rows) for rows in groups.values())
    ]
    if len(paths) != 1 or not varying:
        return items, others, []
    [path] = paths
    own = dict(sorted((own | {at: table.header[at] for at in varying}).items()))
    columns = Columns.of(list(own.values()), SourceOptions(id_names=()))
    names = ", ".join(table.header[at] for at in varying)[:200]
    what = f"columns vary within an id, and were taken as fields of the items of {path!r}: {names}"
    remedy = f"name them {path}.NAME; or make them equal in all rows of an id"
    note = Problem(table.label, what, remedy, "item_columns")
    return [ItemColumns(path, tuple(own), columns)], [at for at in others if at not in varying], [note]


def _differences(table: HeadedRows, others: Sequence[int], name: str, rows: Sequence[int]) -> list[Problem]:
    first = table.rows[rows[0]]
    return [
        Problem(
            f"{table.label}{table.places[at]}",
            f"column {table.header[other]!r} is {table.rows[at][other]!r}, and {first[other]!r} in the "
            f"first row of {name!r}{table.places[rows[0]]}",
            "make them equal, or leave it blank after the first row",
            "unequal_rows",
        )
        for at in rows[1:]
        for other in others
        if not is_blank(table.rows[at][other]) and _same(table.rows[at][other]) != _same(first[other])
    ]


def _same(cell: Json) -> Json:
    return cell.strip() if isinstance(cell, str) else cell


def _record(
    table: HeadedRows,
    rows: Sequence[int],
    others: Sequence[int],
    columns: Columns,
    items: Sequence[ItemColumns],
) -> dict[str, Json]:
    record = columns.nest([table.rows[rows[0]][at] for at in others])
    for item_columns in items:
        values = [item for at in rows if (item := item_columns.item(table.rows[at])) is not None]
        *folders, last = item_columns.path.split(".")
        inner = record
        for folder in folders:
            inner = inner.setdefault(folder, {})  # type: ignore[assignment]
        inner[last] = list(values)
    return record


# Delimited text: CSV and its relatives, one record per row, everything text.


class TableRows(HeldRows, frozen=True, eq=False):
    """Rows of a table in memory."""

    kind: ClassVar[Literal["file", "folder", "table"]] = "table"


def read_table(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a delimited file with a header; cells stay text.

    A row with more or fewer cells than the header is a problem. Dotted headers make nested objects unless the
    spec declares that very name.
    """
    text = decode_lines(source.as_utf8().read_bytes()).removeprefix("\ufeff")
    delimiter, text = ("\t", text) if source.format == "tsv" else split_named(text)
    sheet = TableSheet(source.label, read_rows(text, delimiter, source.label))
    contents = hold_table(lay_out(sheet, options), options)
    return replace(contents, notes=(*sheet.notes, *contents.notes))


def name_index(table: HeadedRows, names: Sequence[str], notes: list[Problem]) -> HeadedRows:
    """Return a table whose first column, an index without a name, is left out, or is the id if none else is.

    Numbers of rows, from 0 or 1, are no ids.
    """
    if len(table.header) < 2 or table.header[0] not in ("", "Unnamed: 0"):
        return table
    index = [id_text(cells[0]) if cells else None for cells in table.rows]
    are_numbers = any(index == list(map(str, range(start, start + len(index)))) for start in (0, 1))
    is_id = not are_numbers and table.header[0] == "" and set(names).isdisjoint(table.header)
    if not (is_id or are_numbers):
        return table
    what = f"the first column, an index, has no name, and was {'taken as the id' if is_id else 'left out'}"
    notes.append(Problem(table.label, what, "write the table without its index", "index_column"))
    if is_id:
        return replace(table, header=[names[0], *table.header[1:]])
    return replace(table, header=table.header[1:], rows=[cells[1:] for cells in table.rows])


def hold_table(table: HeadedRows, options: SourceOptions) -> Contents:
    """Return the rows of a table as records, those of one id together if asked for.

    A row with more or fewer cells than the header is a problem; it stops everything where rows are grouped.
    """
    notes: list[Problem] = []
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
        grouped, notes = group_rows(table, options)
        rows, places = [Row(record) for record, _ in grouped], [place for _, place in grouped]
    else:
        columns = Columns.of(table.header, options)
        rows = [
            Row(columns.nest(cells), problem=fault) for cells, fault in zip(table.rows, faults, strict=True)
        ]
        places = list(table.places)
    table_rows = tuple(Row(None, problem=row.problem) if row.problem else row for row in rows)
    return Contents(
        TableRows(table.label, table_rows, tuple(places)), find_ids(rows, options.names), ragged, notes
    )


# Tables as people lay them out: a title above the names, names in two rows, totals below.

MOST_TITLES = 20
"""Rows above the names of the columns that are looked at."""
_MOST_TOTALS = 5
MAX_AMOUNT = 40
_TOTALS = frozenset({
    "balance", "gesamt", "gesamtbetrag", "gesamtsumme", "grand total", "insgesamt", "saldo", "sub total",
    "sub-total", "subtotal", "sum", "suma", "summe", "somme", "sous-total", "totaal", "total",
    "total general", "total général", "totale", "totales", "totals", "totaux", "zwischensumme",
})  # fmt: skip
"""Words in front of the sums below a table."""
_NAME_ALL = "name every column, and delete the rows above the names"
_DIGITS = re.compile(r"[0-9]")
_DECIMALS = re.compile(r"[.,]([0-9]{1,2})$")


class TableSheet(Struct, frozen=True):
    """The rows of a table before its layout is known, with their numbers, and notes on the reading."""

    label: str
    rows: list[tuple[int, list[Any]]]
    notes: list[Problem] = []


def lay_out(sheet: TableSheet, options: SourceOptions) -> HeadedRows:
    """Return the table in a sheet: the names of its columns, and its rows without titles and totals.

    What is guessed is noted. Raises `ProblemsError` for columns without a name or with the same one, and for
    a total that is not certainly one.
    """
    rows = [cells for _, cells in sheet.rows]
    if not rows:
        raise problem(
            sheet.label, "has no header", "write the names of the columns into the first row", "empty_input"
        )
    names = options.names or ID_NAMES
    top, depth, header = _find_header(rows, names, options.declared)
    number = sheet.rows[top][0]
    if top or depth > 1:
        where = f"row {number} was" if depth == 1 else f"rows {number} and {sheet.rows[top + 1][0]} were"
        above = (
            "" if not top else ", the row above as a title" if top == 1 else f", {top} rows above as a title"
        )
        doubled = [name for name in header if "." in name] if depth > 1 else []
        such = f", such as {doubled[0][:100]}" if doubled else ""
        what = f"{where} taken as the names of its columns{above}{such}"
        remedy = "if that is wrong, delete the rows above the names, and name every column in one row"
        sheet.notes.append(Problem(sheet.label, what, remedy, "title_rows"))
        used = [at for at, name in enumerate(header) if name]
        rows = [
            [*(cells[at] for at in used if at < len(cells)), *cells[len(header) :]]
            if any(map(_text, cells[len(header) :]))
            else [cells[at] for at in used if at < len(cells)]
            for cells in rows
        ]
        header = [header[at] for at in used]
    places = [f":{at}" for at, _ in sheet.rows[top + depth :]]
    table = HeadedRows(sheet.label, header, rows[top + depth :], places)
    table = name_index(table, names, sheet.notes)
    _check_header(table, number)
    return _without_totals(table, names, sheet.notes)


def _find_header(
    rows: Sequence[Cells], names: Sequence[str], declared: frozenset[str]
) -> tuple[int, int, list[str]]:
    """Return the row that names the columns, how many rows it takes, and the names.

    It is the first row, unless that leaves columns without a name and a row below, or two, certainly do not:
    all of it text, an id or a field or the name of numbers among it, and above it nothing but titles.
    """
    first = [_name(cell) for cell in rows[0]]
    folded_names = frozenset(name.casefold() for name in (*names, *declared) if name)
    if all(first) and len(first) >= max(map(len, rows[1 : MOST_TITLES + 1]), default=0):
        return 0, 1, first
    for top in range(min(MOST_TITLES, len(rows) - 1)):
        for depth in (1, 2) if top else (2,):
            below = rows[top + depth :]
            if depth > 1 and _names_in(rows[top + 1 : top + 2], below):
                break  # the second row alone names the columns
            header = _names_in(rows[top : top + depth], below)
            titles = [
                [text for text, name in zip_longest(map(_text, cells), header) if text and text != name]
                for cells in rows[:top]
            ]
            are_titles = 2 * max(map(len, titles), default=0) <= len(header) and folded_names.isdisjoint(
                text.casefold() for texts in titles for text in texts
            )
            is_sure = not folded_names.isdisjoint(map(str.casefold, header)) or _names_numbers(header, below)
            if len(header) > 1 and are_titles and is_sure:
                return top, depth, header
    return 0, 1, first


def _names_in(rows: Sequence[Cells], below: Sequence[Cells]) -> list[str]:
    """Return the names that one row or two have for all columns with values below; none if they do not."""
    used = {at for cells in below for at, cell in enumerate(cells) if _text(cell)}
    width = max(used, default=-1) + 1
    texts = [[_name(cell) for cell in (*cells, *[""] * width)][: max(width, len(cells))] for cells in rows]
    header = texts[-1]
    if len(rows) == 2:
        upper, lower = texts
        group, groups = "", []
        for at, name in enumerate(lower):
            group = upper[at] if at < len(upper) and upper[at] else group if name else ""
            groups.append(group)
        counts = Counter(filter(None, lower))
        header = [
            (f"{group}.{name}" if group and counts[name] > 1 else name) if name else group
            for group, name in zip(groups, lower, strict=True)
        ]
    cells = [cell for row in rows for cell in row if _text(cell)]
    are_texts = all(isinstance(cell, str) and any(map(str.isalpha, cell)) for cell in cells)
    named = [name for name in header if name]
    is_whole = bool(used) and all(at < len(header) and header[at] for at in used)
    return header[:width] if are_texts and is_whole and len({*named}) == len(named) else []


def _names_numbers(header: Sequence[str], below: Sequence[Cells]) -> bool:
    """Return whether a column has values, and none of them with a letter."""
    columns = ([_text(cells[at]) for cells in below if at < len(cells)] for at in range(len(header)))
    return any(any(column) and not any(any(map(str.isalpha, text)) for text in column) for column in columns)


def _without_totals(table: HeadedRows, names: Sequence[str], notes: list[Problem]) -> HeadedRows:
    """Return a table without the sums below it. Raises `ProblemsError` for one that may be a record."""
    rows = list(table.rows)
    at_id = next((table.header.index(name) for name in names if name in table.header), None)
    lost: list[str] = []
    while len(rows) > 2 and len(lost) < _MOST_TOTALS:
        *above, last = rows
        texts = list(map(_text, last))
        first = next(filter(None, texts), "")
        own = texts[at_id] if at_id is not None and at_id < len(last) else ""
        lacks_id = at_id is not None and not own
        is_named = _is_total(first) and own in ("", first)
        if not (lacks_id or is_named):
            break
        is_sum = _are_sums(last, above)
        is_short = 2 * sum(map(bool, texts)) < len(table.header)
        if not (is_sum or (lacks_id and any(map(_is_total, texts))) or (is_named and is_short)):
            if is_named:
                raise problem(
                    f"{table.label}{table.places[len(above)]}",
                    f"{first!r} may be a total or a record: it is not the sum of the rows above",
                    "delete the row, or give it an id that says what it is",
                    "total_row",
                )
            break
        lost.append(table.places[len(above)].lstrip(":"))
        rows.pop()
    if lost:
        where = f"row {lost[0]} was" if len(lost) == 1 else f"rows {lost[-1]} to {lost[0]} were"
        what = f"{where} left out as a total of the rows above"
        notes.append(Problem(table.label, what, "if it is a record, give it an id", "total_row"))
    return replace(table, rows=rows, places=table.places[: len(rows)])


def _is_total(text: str) -> bool:
    return text.rstrip(" :").casefold() in _TOTALS


def _are_sums(cells: Cells, above: Sequence[Cells]) -> bool:
    """Return whether a cell is the sum of two or more numbers above it, and no number in the row is not."""
    has_sum = False
    for at, cell in enumerate(cells):
        total = _amount(cell)
        values = [value for row in above if at < len(row) and (value := _amount(row[at])) is not None]
        if total is None or len(values) < 2:
            continue
        if abs(sum(values) - total) > Decimal("0.005") * len(values):
            return False
        has_sum = True
    return has_sum


def _amount(cell: Any) -> Decimal | None:
    """Return the number in a cell, its last separator taken for a decimal one before one or two digits."""
    if isinstance(cell, bool) or cell is None:
        return None
    text = str(cell).strip()
    if any(map(str.isalpha, text)) or not _DIGITS.search(text) or len(text) > MAX_AMOUNT:
        return None
    if not isinstance(cell, str):
        return Decimal(str(cell))
    decimals = _DECIMALS.search(text)
    digits = "".join(filter(str.isdecimal, text)) if text.isascii() else ""
    sign = -1 if text.startswith(("-", "(")) else 1
    return Decimal(digits).scaleb(-len(decimals[1]) if decimals else 0) * sign if digits else None


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()


def _name(cell: Any) -> str:
    """Return the name of a column, which may be written in several lines."""
    return " ".join(_text(cell).split())


def _check_header(table: HeadedRows, number: int) -> None:
    """Raise `ProblemsError` for unnamed or repeated columns of the header in row `number`."""
    where, header = f"{table.label}:{number}", table.header
    twice = sorted(name for name, count in Counter(header).items() if count > 1 and name)
    problems = [
        Problem(
            where, f"the header has the column {name!r} twice", "rename or remove one", "duplicate_column"
        )
        for name in twice
    ]
    is_used = any(_text(cell) for cells in table.rows for cell in cells[len(header) - 1 : len(header)])
    if "" in header[:-1] or (header[-1] == "" and (is_used or len(header) == 1)):
        problems.append(
            Problem(
                where,
                f"column {header.index('') + 1} has no name",
                _NAME_ALL,
                "bad_header",
            )
        )
    if problems:
        raise ProblemsError(problems)


# Parquet files and data frames.


class FrameRows(SourceRows, Struct, frozen=True, eq=False):
    """Rows of a Polars frame, made objects on reading. `numbers` are their positions in the file, from 1."""

    label: str
    frame: pl.DataFrame
    numbers: Positions
    nesting: Columns
    read_keys: frozenset[str] = frozenset()
    columns: ClassVar[tuple[str, ...]] = ("frame", "numbers")
    kind: ClassVar[Literal["file", "folder", "table"]] = "table"

    def place(self, position: int) -> str:
        return f"{self.label}: row {self.numbers[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        cells = self.frame[list(positions)].rows()
        return to_rows([self.nesting.nest(row) for row in cells], self.read_keys)


def read_parquet(source: Input, options: SourceOptions) -> Contents:
    """Return the contents of a Parquet file."""
    frame = guarded.read_parquet(source.path.read_bytes(), source.label, "write it again, or name its format")
    return hold_frame(source.label, frame, options)


def hold_frame(label: str, frame: pl.DataFrame, options: SourceOptions) -> Contents:
    """Return the rows of a Polars frame; ids come from the first id column in which a row has one."""
    if options.group:
        return hold_table(table_of(label, frame.columns, frame.rows()), options)
    ids: list[str | None] = [None] * frame.height
    names = [name for name in options.names if name in frame.columns]
    for name in reversed(names or ["id"] * ({"id", PREDICTION_KEY} <= {*frame.columns})):
        for position, value in enumerate(frame[name].to_list()):
            ids[position] = id_text(value) or ids[position]
    numbers = np.arange(1, frame.height + 1, dtype=np.int64)
    columns = Columns.of(frame.columns, options)
    return Contents(FrameRows(label, frame, numbers, columns, options.read_keys), ids)


def table_of(label: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> HeadedRows:
    """Return the rows of a frame as a table of JSON; `ProblemsError` for what `to_json` refuses."""
    places = []
    cells = []
    for number, row in enumerate(rows, 1):
        places.append(f": row {number}")
        try:
            cells.append([to_json(value) for value in row])
        except UnplainError as error:
            raise problem(f"{label}{places[-1]}", str(error), "correct the row", "not_json") from None
    return HeadedRows(label, list(names), cells, places)
