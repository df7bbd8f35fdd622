"""Columns of a table as places in a record: `vendor.name` in an object, `lines[0].sku` in a list item."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from msgspec import Struct

from fieldassay.io.json_value import Json, is_blank
from fieldassay.paths import ITEM, Step, split_path
from fieldassay.records.decode import decode_json
from fieldassay.records.options import SourceOptions


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
