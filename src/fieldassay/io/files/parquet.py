"""Parquet files that may be damaged; whatever Polars raises for a damaged one becomes one problem."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.errors import problem

if TYPE_CHECKING:
    import polars as pl


@contextmanager
def guarded(label: str, remedy: str = "write it again", kind: str = "bad_parquet") -> Iterator[None]:
    """Turn any error of Polars on the file `label` into one `ProblemsError`, panics included.

    All reading of the file belongs inside, `collect` of a lazy frame too. Rust writes the text of a panic to
    standard error before; only a redirection of the whole process could keep it off.
    """
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        told = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise problem(label, f"not a Parquet file that can be read ({told})", remedy, kind) from None


def write_parquet(frame: pl.DataFrame | pl.LazyFrame, path: Path, **options: Any) -> None:
    """Write a table to a file of any name; what Polars says of a full disk is an `OSError`."""
    import polars as pl

    write = frame.sink_parquet if isinstance(frame, pl.LazyFrame) else frame.write_parquet
    with path.open("wb") as stream:  # Polars takes no path that is not UTF-8
        try:
            write(stream, **options)
        except pl.exceptions.PolarsError as error:
            raise OSError(errno.EIO, " ".join(str(error).split())[:200], str(path)) from None


def scannable(path: Path) -> Path | bytes:
    """Return what Polars scans for a file: its path, or its bytes where the path is not UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return path.read_bytes()
    return path


def read_parquet(
    source: Path | bytes, label: str, remedy: str = "write it again", kind: str = "bad_parquet"
) -> pl.DataFrame:
    """Return the table of a Parquet file. Raises `ProblemsError` if it is damaged or of another format."""
    import polars as pl

    with guarded(label, remedy, kind):
        return pl.read_parquet(source if isinstance(source, bytes) else scannable(source))
