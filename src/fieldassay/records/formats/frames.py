"""Parquet files and data frames."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, problem
from fieldassay.io.files import tables as guarded
from fieldassay.io.json_value import id_text
from fieldassay.records.formats.columns import Columns, Table
from fieldassay.records.formats.files import Input
from fieldassay.records.formats.plain import WITH_LOSSES, UnplainError, convert_column, to_json
from fieldassay.records.formats.rows import Rows
from fieldassay.records.formats.tables import hold_table
from fieldassay.records.ids import Positions, settle_ids
from fieldassay.records.options import SourceOptions
from fieldassay.records.record import PREDICTION_KEY, Row

if TYPE_CHECKING:
    import polars as pl


class FrameRows(Rows, Struct, frozen=True, eq=False):
    """Rows of a Polars frame, made objects on reading. `numbers` are their positions in the file, from 1."""

    label: str
    ids: tuple[str, ...]
    frame: pl.DataFrame
    numbers: Positions
    columns: Columns
    is_numbered: bool = False
    is_table: bool = True
    read_columns: frozenset[str] = frozenset()

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
            else Row(self.columns.nest(list(cells)), WITH_LOSSES if at in lost else ())
            for at, cells in enumerate(zip(*columns, strict=True))
        ]

    def is_read(self, name: str) -> bool:
        """Return whether the values of a column are read."""
        return not self.read_columns or name in self.read_columns

    def take(self, positions: Positions) -> FrameRows:
        chosen = positions.tolist()
        return replace(
            self,
            ids=tuple(self.ids[position] for position in chosen),
            frame=self.frame[chosen],
            numbers=self.numbers[positions],
        )


def read_parquet(source: Input, options: SourceOptions) -> tuple[Rows, tuple[Problem, ...]]:
    """Return the rows of a Parquet file, and its problems."""
    frame = guarded.read_parquet(source.path.read_bytes(), source.label, "write it again, or name its format")
    return hold_frame(source.label, frame, options)


def hold_frame(label: str, frame: pl.DataFrame, options: SourceOptions) -> tuple[Rows, tuple[Problem, ...]]:
    """Return the rows of a Polars frame; ids come from the first id column in which a row has one."""
    if options.group:
        return hold_table(table_of(label, frame.columns, frame.rows()), options)
    found: list[str | None] = [None] * frame.height
    names = [name for name in options.names if name in frame.columns]
    for name in reversed(names or ["id"] * ({"id", PREDICTION_KEY} <= {*frame.columns})):
        for position, value in enumerate(frame[name].to_list()):
            found[position] = id_text(value) or found[position]
    index = settle_ids(found, (), lambda position: f"{label}: row {position + 1}")
    kept = index.kept
    frame = frame if len(kept) == frame.height else frame[kept.tolist()]
    read_keys = options.read_keys
    read = [name for name in frame.columns if re.split(r"[.\[]", name)[0] in read_keys]
    return FrameRows(
        label,
        index.ids,
        frame,
        kept + 1,
        Columns.of(frame.columns, options),
        index.is_numbered,
        read_columns=frozenset(read),
    ), index.problems


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
