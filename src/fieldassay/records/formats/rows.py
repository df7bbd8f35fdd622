"""Rows of a source by position: slices of a file, held in memory, or one file each."""

from __future__ import annotations

import os
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, problem
from fieldassay.io.files.whole_files import read_portions
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.records.decode import decode_json, decode_rows
from fieldassay.records.formats.files import Spool, unpack_plain
from fieldassay.records.formats.find_format import is_url
from fieldassay.records.ids import Positions, settle_ids
from fieldassay.records.record import Row


class Rows:
    """The rows of a source. It pickles small where it can: readers of files reopen them by path."""

    ids: tuple[str, ...]
    is_numbered: bool
    is_table: bool
    """Whether several rows may make one record."""

    @abstractmethod
    def place(self, position: int) -> str:
        """Return the place of the row, for messages."""

    @abstractmethod
    def read(self, positions: Sequence[int]) -> list[Row]:
        """Return the rows at the positions, in that order."""

    @abstractmethod
    def take(self, positions: Positions) -> Rows:
        """Return the rows at the positions as rows of their own."""

    def bytes(self, positions: Positions) -> Positions:
        """Return how many bytes of a file are read for each row; 0 for rows that are in memory."""
        return np.zeros(len(positions), dtype=np.int64)

    def __len__(self) -> int:
        return len(self.ids)


class SlicedRows(Rows, Struct, frozen=True, eq=False):
    """Rows that are slices of one plain file; in memory are only ids, int64 offsets and line numbers."""

    path: Path
    label: str
    ids: tuple[str, ...]
    starts: Positions
    lengths: Positions
    numbers: Positions
    is_numbered: bool = False
    spool: Spool | None = None
    size: int = 0
    is_table: bool = False
    url: str | None = None
    """The object of which the file is a copy, byte for byte."""

    def place(self, position: int) -> str:
        return f"{self.label}:{self.numbers[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        try:
            with self._open() as stream:
                self._check(stream.seek(0, 2))
                slices = []
                at = -1
                chosen = np.asarray(positions, dtype=np.int64)
                for start, length in zip(
                    self.starts[chosen].tolist(), self.lengths[chosen].tolist(), strict=True
                ):
                    if start != at:
                        stream.seek(start)
                    slices.append(stream.read(length))
                    at = start + length
        except OSError as error:
            raise problem(
                self.label, f"cannot be read ({error.strerror})", "check the path", "unreadable_file"
            ) from None
        return decode_rows(slices)

    def _open(self) -> BinaryIO:
        """Return the file; on a machine that does not have the copy of an object, the object itself."""
        if self.url is None or self.path.exists():
            return self.path.open("rb")
        from fieldassay.records.formats.storage import open_url

        return open_url(self.url)

    def bytes(self, positions: Positions) -> Positions:
        return self.lengths[positions].copy()

    def _check(self, size: int) -> None:
        if size < self.size:
            raise problem(
                self.label, "became shorter while it was read", "write it before it is scored", "changed_file"
            )

    def take(self, positions: Positions) -> SlicedRows:
        return replace(
            self,
            ids=tuple(self.ids[position] for position in positions.tolist()),
            starts=self.starts[positions],
            lengths=self.lengths[positions],
            numbers=self.numbers[positions],
        )


class HeldRows(Rows, Struct, frozen=True, eq=False):
    """Rows in memory: JSON texts as bytes, or values. `places` are the parts of places after the label."""

    label: str
    ids: tuple[str, ...]
    held: tuple[Any, ...]
    places: tuple[str, ...]
    is_numbered: bool = False
    is_table: bool = False

    def place(self, position: int) -> str:
        return f"{self.label}{self.places[position]}"

    def read(self, positions: Sequence[int]) -> list[Row]:
        held = [self.held[position] for position in positions]
        if set(map(type, held)) == {bytes}:
            return decode_rows(held)
        return [_to_row(one) for one in held]

    def take(self, positions: Positions) -> HeldRows:
        chosen = positions.tolist()
        return replace(
            self,
            ids=tuple(self.ids[position] for position in chosen),
            held=tuple(self.held[position] for position in chosen),
            places=tuple(self.places[position] for position in chosen),
        )


def hold_rows(
    label: str,
    found: Sequence[str | None],
    rows: Sequence[Any],
    places: Sequence[str],
    problems: Sequence[Problem] = (),
    *,
    is_table: bool = False,
) -> tuple[HeldRows, tuple[Problem, ...]]:
    """Return rows in memory by the ids that were found, without those that have none, and all problems."""
    index = settle_ids(found, problems, lambda position: f"{label}{places[position]}")
    kept = index.kept.tolist()
    held, at = tuple(rows[position] for position in kept), tuple(places[position] for position in kept)
    return HeldRows(label, index.ids, held, at, index.is_numbered, is_table), index.problems


def _to_row(held: Any) -> Row:
    if isinstance(held, bytes):
        return decode_json(held)
    return held if isinstance(held, Row) else Row(held)


class FolderRows(Rows, Struct, frozen=True, eq=False):
    """Rows of one file each, read on demand: JSON or, if `takes_text`, a text where it is not JSON."""

    ids: tuple[str, ...]
    paths: tuple[str, ...]
    encoding: str | None = None
    is_numbered: bool = False
    takes_text: bool = False
    is_table: bool = False

    def place(self, position: int) -> str:
        return self.paths[position].encode("utf-8", "replace").decode("utf-8")

    def read(self, positions: Sequence[int]) -> list[Row]:
        return read_json_files(
            [self.paths[position] for position in positions], self.encoding, takes_text=self.takes_text
        )

    def bytes(self, positions: Positions) -> Positions:
        return np.array([_size(self.paths[position]) for position in positions.tolist()], dtype=np.int64)

    def take(self, positions: Positions) -> FolderRows:
        chosen = positions.tolist()
        return replace(
            self,
            ids=tuple(self.ids[position] for position in chosen),
            paths=tuple(self.paths[position] for position in chosen),
        )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size  # noqa: PTH116 - a Path takes longer
    except (OSError, ValueError):  # it is told when it is read
        return 0


def read_json_files(paths: Sequence[str], encoding: str | None, *, takes_text: bool = False) -> list[Row]:
    """Return the one JSON value of each file or object; an unreadable one is a row with a problem.

    With `takes_text`, a file that is not JSON is a text.
    """
    contents = [_to_text(content, encoding) for content in _contents(paths)]
    rows = iter(decode_rows([text for text in contents if isinstance(text, bytes)]))
    return [_settle(text, next(rows), takes_text) if isinstance(text, bytes) else text for text in contents]


def _contents(paths: Sequence[str]) -> Iterable[bytes | Exception]:
    if not paths or not is_url(paths[0]):
        return map(_content, paths)
    from fieldassay.records.formats.storage import read_urls

    return read_urls(paths)


def _content(path: str) -> bytes | Exception:
    try:
        return b"".join(read_portions(path))
    except (OSError, EOFError, ValueError) as error:
        return error


def _to_text(data: bytes | Exception, encoding: str | None) -> bytes | Row:
    """Return the content of a file in UTF-8, or the problem of reading it."""
    if isinstance(data, Exception):
        return Row(None, problem=f"cannot be read ({data})")
    try:
        data = unpack_plain(data)
    except (OSError, EOFError, ValueError) as error:
        return Row(None, problem=f"cannot be read ({error})")
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        return Row(None, problem="is empty")
    found = encoding or detect_encoding(data)
    if found is None:
        return Row(None, problem="its encoding cannot be told")
    return data if found == "utf-8" else data.decode(found, "replace").encode("utf-8", "replace")


def _settle(text: bytes, row: Row, takes_text: bool) -> Row:
    return Row(text.decode("utf-8", "replace")) if takes_text and row.problem is not None else row


def int64(numbers: array[int]) -> Positions:
    """Return an array of int64 without a copy of Python integers."""
    return np.array(numbers, dtype=np.int64)
