"""`statistics.parquet`: the statistics of every document as whole numbers, for later comparisons."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from fieldassay.errors import ProblemsError
from fieldassay.io.files.parquet import read_parquet, write_parquet
from fieldassay.io.text.shown import make_printable
from fieldassay.metrics.result.documents import gather_groups
from fieldassay.metrics.result.pairing import DocumentStatistics
from fieldassay.metrics.statistics.packing import PackedInts
from fieldassay.metrics.statistics.statistics import Statistic
from fieldassay.metrics.statistics.sums import Sum

if TYPE_CHECKING:
    import polars as pl

STATISTICS = "statistics.parquet"
SYSTEM, DOCUMENT, GROUP, REPEATS, GOLD = "system", "doc", "group", "repeats", "gold"


MOST_REPEATS = 10_000

ROWS = 1 << 17
"""The rows of statistics that are written at a time."""


def name_statistic(statistic: Statistic) -> str:
    """Return the name of a statistic in files.

    It is a digest of its definition, so that a changed definition is never mistaken for it.
    """
    return hashlib.sha256(f"{statistic!r} in units of 2^-{statistic.bits}".encode()).hexdigest()[:16]


def scan_statistics(systems: Iterable[DocumentStatistics]) -> pl.LazyFrame:
    """Return one row per system and document.

    Columns are named by JSON lists: `["system"]`, `["doc"]` (as UTF-8 bytes, so that no id is lost),
    `["group", KEY]` (lists of texts), and `[STATISTIC, FIELD]` (int64; FIELD is null for the document as a
    whole). `["gold"]` has the digest of the document's gold. `["repeats"]` exists if the statistics of some
    system are sums over several runs of each document. Missing values are null.
    """
    import polars as pl

    frames = [_frame(system) for system in systems]
    if not frames:
        return pl.LazyFrame(schema={_column(SYSTEM): pl.String, _column(DOCUMENT): pl.Binary})
    return pl.concat(frames, how="diagonal")


def _frame(system: DocumentStatistics) -> pl.LazyFrame:
    """Return the rows of a system; statistics are held packed, and widened where the rows are used."""
    import polars as pl

    count = len(system.documents)
    columns = {
        _column(SYSTEM): pl.Series([make_printable(system.system)]).new_from_index(0, count),
        _column(DOCUMENT): pl.Series(
            [name.encode("utf-8", "surrogatepass") for name in system.documents], dtype=pl.Binary
        ),
    }
    if system.repeats > 1:
        columns[_column(REPEATS)] = pl.Series([system.repeats] * count, dtype=pl.Int64)
    if system.gold is not None:
        columns[_column(GOLD)] = pl.Series([row.tobytes() for row in system.gold], dtype=pl.Binary)
    for key, groups in system.groups.items():
        columns[_column(GROUP, key)] = gather_groups(groups, list, pl.List(pl.String))
    wide: list[pl.Expr] = []
    for statistic, total in system.statistics.items():
        name = name_statistic(statistic)
        for field, values in zip(total.fields, total.values, strict=True):
            packed, column = PackedInts.pack(values), _column(name, field)
            columns[column] = pl.Series(packed.held)
            wide.append(pl.col(column).cast(pl.Int64) * pl.lit(1 << packed.shift, pl.Int64))
    return pl.LazyFrame(columns).with_columns(wide)


def _column(*parts: str | None) -> str:
    return json.dumps(parts)


def systems_of(frame: pl.DataFrame, wanted: Iterable[Statistic]) -> tuple[DocumentStatistics, ...]:
    """Return the systems of a frame made by `scan_statistics`, with the available wanted statistics.

    Raises ValueError for a frame of another form.
    """
    import polars as pl

    names = {name_statistic(statistic): statistic for statistic in wanted}
    try:
        systems = frame.get_column(_column(SYSTEM)).unique(maintain_order=True).to_list()
        if not all(isinstance(name, str) for name in systems):
            raise TypeError("a system without a name")
        found = tuple(_system(name, frame.filter(pl.col(_column(SYSTEM)) == name), names) for name in systems)
    except (
        pl.exceptions.PolarsError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        RecursionError,
    ) as error:
        raise ValueError(f"not a table of statistics ({type(error).__name__})") from None
    if not found or any(one.documents != found[0].documents or not one.documents for one in found):
        raise ValueError("not a table of statistics (every system has a row for each document)")
    return found


def _system(name: str, frame: pl.DataFrame, names: dict[str, Statistic]) -> DocumentStatistics:
    documents = tuple(
        text.decode("utf-8", "surrogatepass") for text in frame.get_column(_column(DOCUMENT)).to_list()
    )
    parts: dict[Statistic, list[tuple[str | None, np.ndarray]]] = {}
    groups: dict[str, tuple[tuple[str, ...], ...]] = {}
    repeats, gold = 1, None
    for column in frame.columns:
        kind, *rest = json.loads(column)
        values = frame.get_column(column)
        if kind == REPEATS:
            repeats = _read_repeats(values.to_list())
        elif kind == GOLD:
            gold = np.frombuffer(b"".join(values.to_list()), np.uint8).reshape(len(documents), -1)
        elif kind == GROUP:
            groups[rest[0]] = tuple(tuple(one or ()) for one in values.to_list())
        elif kind in names and values.null_count() < len(values):
            parts.setdefault(names[kind], []).append(
                (rest[0], values.fill_null(0).to_numpy().astype(np.int64))
            )
    statistics = {
        statistic: Sum(tuple(field for field, _ in found), np.stack([one for _, one in found]))
        for statistic, found in parts.items()
    }
    return DocumentStatistics(name, documents, statistics, groups, repeats, gold)


def _read_repeats(values: list[int | None]) -> int:
    found = set(values) or {None}
    runs = found.pop() or 1
    if found or not 1 <= runs <= MOST_REPEATS:
        raise ValueError("the number of runs of a system")
    return runs


def write_statistics(file: Path, systems: Sequence[DocumentStatistics]) -> None:
    """Write the statistics of the systems' documents, `ROWS` at a time."""
    write_parquet(scan_statistics(systems), file, compression="zstd", row_group_size=ROWS)


def read_statistics(file: Path, wanted: Iterable[Statistic]) -> tuple[DocumentStatistics, ...]:
    """Return the wanted statistics written by `write_statistics`.

    Raises ValueError for a damaged file, OSError for a missing one.
    """
    with file.open("rb") as stream:
        data = stream.read()
    try:
        return systems_of(read_parquet(data, STATISTICS), wanted)
    except ProblemsError as error:
        raise ValueError(error.problems[0].what) from None
