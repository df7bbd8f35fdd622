"""Long tables: one row per item, and the rows of one id together are one record."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.json_value import Json, is_blank
from fieldassay.records.formats.columns import Columns, Table
from fieldassay.records.ids import cap_problems, find_id
from fieldassay.records.options import SourceOptions

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
