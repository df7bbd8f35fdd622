"""Parquet files that may be damaged; whatever Polars raises for a damaged one becomes one problem."""

from __future__ import annotations

import faulthandler
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from threading import Lock
from typing import IO, TYPE_CHECKING

from fieldassay.errors import problem
from fieldassay.regex import lazy_regex

if TYPE_CHECKING:
    import polars as pl

_STDERR = 2
_PANIC = lazy_regex(
    rb"\n?thread '[^\n]* panicked at .*?(?:\nnote: [^\n]*RUST_BACKTRACE[^\n]*\n|\Z)", re.DOTALL
)


@contextmanager
def guarded(label: str, remedy: str = "write it again", kind: str = "bad_parquet") -> Iterator[None]:
    """Turn any error of Polars on the file `label` into one `ProblemsError`, panics included.

    The text of a panic stays off standard error. All reading of the file belongs inside, `collect` of a lazy
    frame too. What another thread writes to standard error comes out at the end.
    """
    import polars as pl

    try:
        with quiet_panics():
            yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError) as error:
        told = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise problem(label, f"not a Parquet file that can be read ({told})", remedy, kind) from None


def read_parquet(
    source: Path | bytes, label: str, remedy: str = "write it again", kind: str = "bad_parquet"
) -> pl.DataFrame:
    """Return the table of a Parquet file. Raises `ProblemsError` if it is damaged or of another format."""
    import polars as pl

    with guarded(label, remedy, kind):
        return pl.read_parquet(source)


def quiet_panics() -> AbstractContextManager[None]:
    """Return a context that keeps the text of Rust panics off standard error; it is thread-safe."""
    return _PANICS


class _Panics:
    """Keeps the text of Rust panics off standard error while any thread is inside.

    Rust writes it to the file descriptor, which is therefore redirected.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0
        self._kept: IO[bytes] | None = None
        self._stderr = -1
        self._tells_faults = False

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._divert()

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._restore()

    def _divert(self) -> None:
        try:
            self._stderr = os.dup(_STDERR)
            self._kept = tempfile.TemporaryFile()  # noqa: SIM115
            os.dup2(self._kept.fileno(), _STDERR)
            # a damaged file can make Polars ask for more memory than there is, which ends the process: show
            # its message
            self._tells_faults = not faulthandler.is_enabled()
            if self._tells_faults:
                faulthandler.enable(self._stderr, all_threads=False)
        except OSError:  # no standard error, or no room for a file: a panic is then shown twice
            self._restore()

    def _restore(self) -> None:
        kept, self._kept = self._kept, None
        if self._tells_faults:
            faulthandler.disable()
            self._tells_faults = False
        if self._stderr >= 0:
            os.dup2(self._stderr, _STDERR)
            os.close(self._stderr)
            self._stderr = -1
        if kept is None:
            return
        with kept, suppress(OSError):
            kept.seek(0)
            told = _PANIC.sub(b"", kept.read())
            while told:
                told = told[os.write(_STDERR, told) :]


_PANICS = _Panics()
