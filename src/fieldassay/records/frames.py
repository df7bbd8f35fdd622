"""Parquet files and data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fieldassay import parquet as guarded
from fieldassay.errors import Problem
from fieldassay.records.files import Input
from fieldassay.records.ids import Positions, id_text, settle_ids
from fieldassay.records.options import SourceOptions
from fieldassay.records.plain import UnplainError, to_json
from fieldassay.records.record import Row
from fieldassay.records.rows import Rows
from fieldassay.records.tables import decode_cell, put_nested
from fieldassay.values.json import Json

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, eq=False)
class FrameRows(Rows):
    """Rows of a Polars frame, turned into objects when they are read. `numbers` are the rows' positions in the file, from 1."""

    label: str
    ids: tuple[str, ...]
    frame: pl.DataFrame
    numbers: Positions
    options: SourceOptions
    is_numbered: bool = False

    def place(self, position: int) -> str:
        return f"{self.label}: row {self.numbers[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        return [self._row(row) for row in self.frame[list(positions)].iter_rows(named=True)]

    def _row(self, row: dict[str, Any]) -> Row:
        try:
            cells = {name: self._cell(name, value) for name, value in row.items()}
        except UnplainError as error:
            return Row(None, problem=str(error))
        nested: dict[str, Json] = {}
        for name, value in cells.items():
            put_nested(nested, name, value, self.options)
        return Row(nested)

    def _cell(self, name: str, value: Any) -> Json:
        return decode_cell(value) if name in self.options.nested and isinstance(value, str) else to_json(value)

    def take(self, positions: Positions) -> FrameRows:
        chosen = positions.tolist()
        return replace(
            self,
            ids=tuple(self.ids[position] for position in chosen),
            frame=self.frame[chosen],
            numbers=self.numbers[positions],
        )


def read_parquet(source: Input, options: SourceOptions) -> tuple[FrameRows, tuple[Problem, ...]]:
    """Return the rows of a Parquet file, and what is wrong with it."""
    frame = guarded.read_parquet(source.path.read_bytes(), source.label, "write it again, or name its format")
    return hold_frame(source.label, frame, options)


def hold_frame(label: str, frame: pl.DataFrame, options: SourceOptions) -> tuple[FrameRows, tuple[Problem, ...]]:
    """Return the rows of a Polars frame; ids are taken from the first column named as an id in which a row has one."""
    found: list[str | None] = [None] * frame.height
    for name in reversed([name for name in options.names if name in frame.columns]):
        for position, value in enumerate(frame[name].to_list()):
            found[position] = id_text(value) or found[position]
    index = settle_ids(found, (), lambda position: f"{label}: row {position + 1}")
    kept = index.kept
    frame = frame if len(kept) == frame.height else frame[kept.tolist()]
    return FrameRows(label, index.ids, frame, kept + 1, options, index.is_numbered), index.problems
