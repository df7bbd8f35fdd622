"""The journal of an extraction: every answer on disk before it is used; a file that only grows.

A line is `crc32 SP json LF`. Kinds: `run` (configuration), `load` (a document), `send` (a request leaves),
`outcome` (an attempt that failed), `answer` (the last word of an endpoint on a request), `end`.
"""

import json
import os
import threading
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import msgspec

from fieldassay.errors import FieldassayError
from fieldassay.io.files.whole_files import lock_file
from fieldassay.io.json_value import Json

NAME = "journal.jsonl"
SYNC_SECONDS = 0.2
_LENGTH_BITS = 32


class JournalError(FieldassayError):
    """A journal that cannot be read, written or taken."""


class _LineHead(msgspec.Struct):
    """The parts of a line by which it is found again."""

    kind: str
    key: str = ""
    billed: str = "no"
    final: bool = True
    document: str = ""


class Index:
    """Where the last answer to each request stands in a journal, and the attempts that have none yet."""

    def __init__(self) -> None:
        self._places: dict[bytes, int] = {}
        self._open: dict[bytes, tuple[int, int, int]] = {}
        self._again: dict[bytes, int] = {}
        self.loads: dict[str, tuple[int, int, int]] = {}
        """The offset, the length and the checksum of the last `load` line of each document."""
        self.lines = 0

    def note(self, head: _LineHead, offset: int, length: int, crc: int) -> None:
        """Take note of a line."""
        self.lines += 1
        if head.kind == "load":
            self.loads[head.document] = (offset, length, crc)
        if not head.key:
            return
        key = bytes.fromhex(head.key)
        attempts, running, maybe = self._open.get(key, (0, 0, 0))
        if head.kind == "send":
            self._open[key] = (attempts + 1, running + 1, maybe)
        elif head.kind == "answer" or (head.kind == "outcome" and head.final):
            if key in self._places:
                self._again[key] = self._again.get(key, 0) + 1
            self._places[key] = offset << _LENGTH_BITS | length
            self._open.pop(key, None)
        elif head.kind == "outcome":
            self._open[key] = (attempts, max(running - 1, 0), maybe + (head.billed == "maybe"))

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def place(self, key: str) -> tuple[int, int] | None:
        """Return the offset and the length of the line that answers a request."""
        found = self._places.get(bytes.fromhex(key))
        return None if found is None else (found >> _LENGTH_BITS, found & (1 << _LENGTH_BITS) - 1)

    def unsettled(self, key: str) -> tuple[int, int]:
        """Return the attempts at a request without an answer, and how many of them may have been billed."""
        attempts, running, maybe = self._open.get(bytes.fromhex(key), (0, 0, 0))
        return attempts, running + maybe

    def answered_before(self, key: str) -> int:
        """Return how many answers to a request the journal holds."""
        as_bytes = bytes.fromhex(key)
        return self._again.get(as_bytes, 0) + (as_bytes in self._places)


class ReadJournal:
    """A journal that is only read: that of another extraction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = Index()
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise JournalError(f"{path}: the journal cannot be read ({error.strerror})") from None
        self.sound_bytes = _scan(path, self._file, self.index)

    def find(self, key: str) -> dict[str, Any] | None:
        """Return the line that answers a request, None if there is none."""
        place = self.index.place(key)
        return None if place is None else self._read(*place)

    def load(self, document: str) -> dict[str, Any]:
        """Return what the journal says of a document that was loaded, nothing if it says nothing."""
        place = self.index.loads.get(document)
        return {} if place is None else self._read(*place[:2])

    def _read(self, offset: int, length: int) -> dict[str, Any]:
        found: dict[str, Any] = msgspec.json.decode(os.pread(self._file.fileno(), length, offset)[9:])
        return found

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Journal(ReadJournal):
    """The journal of a running extraction: one writer per file.

    What `write` wrote survives the end of the process at once, and a loss of power after 0.2 seconds.
    Raises `JournalError` if another process writes it, or if it is damaged other than at its end.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / NAME
        self._out = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        _lock(self._out, path)
        super().__init__(path)
        size = os.fstat(self._out).st_size
        self.cut_bytes = size - self.sound_bytes
        """The length of the torn line that was removed from the end."""
        if self.cut_bytes:
            os.ftruncate(self._out, self.sound_bytes)
        self._offset = self.sound_bytes
        self._guard = threading.Lock()
        self._is_dirty = self.cut_bytes > 0
        self._closed = threading.Event()
        self._syncing = threading.Thread(target=self._sync_in_groups, daemon=True, name="journal")
        self._syncing.start()

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a line. When it returns, the end of this process cannot lose it."""
        payload = _encode({"kind": kind, **fields})
        crc = zlib.crc32(payload)
        line = b"%08x %s\n" % (crc, payload)
        head = _LineHead(
            kind,
            fields.get("key", ""),
            fields.get("billed", "no"),
            fields.get("final", True),
            fields.get("document", ""),
        )
        with self._guard:
            if self._closed.is_set():
                return
            try:
                written = 0
                while written < len(line):
                    written += os.write(self._out, line[written:])
            except OSError as error:
                os.ftruncate(self._out, self._offset)
                raise JournalError(f"{self.path}: cannot be written ({error.strerror})") from None
            self.index.note(head, self._offset, len(line), crc)
            self._offset += len(line)
            self._is_dirty = True

    def write_load(self, document: str, facts: Mapping[str, Json]) -> None:
        """Append what is known of a document, unless the journal says exactly that already."""
        fields = {"document": document, **facts}
        crc = zlib.crc32(_encode({"kind": "load", **fields}))
        if self.index.loads.get(document, ())[-1:] != (crc,):
            self.write("load", fields)

    def _sync_in_groups(self) -> None:
        while not self._closed.wait(SYNC_SECONDS):
            with self._guard:
                is_dirty, self._is_dirty = self._is_dirty, False
            if is_dirty:
                _sync(self._out)

    def close(self) -> None:
        """Write what the system still holds to the disk, and let others write the journal."""
        with self._guard:
            if self._closed.is_set():
                return
            self._closed.set()
        self._syncing.join()
        _sync(self._out)
        os.close(self._out)
        super().close()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a journal, in order."""
    with path.open("rb") as file:
        for line in file:
            if _is_sound(line):
                yield msgspec.json.decode(line[9:])


def _scan(path: Path, file: BinaryIO, index: Index) -> int:
    """Fill the index; return the length of the sound part. Raises `JournalError` for earlier damage."""
    decoder = msgspec.json.Decoder(_LineHead)
    offset = 0
    for number, line in enumerate(file, 1):
        if not _is_sound(line):
            if file.read(1):
                raise JournalError(
                    f"{path}:{number}: the line is damaged (checksum); the {number - 1:,} lines before it "
                    "are sound: restore the file, or keep those lines only"
                )
            return offset
        index.note(decoder.decode(line[9:]), offset, len(line), int(line[:8], 16))
        offset += len(line)
    return offset


def _is_sound(line: bytes) -> bool:
    try:
        return line.endswith(b"\n") and int(line[:8], 16) == zlib.crc32(line[9:-1])
    except ValueError:
        return False


def _lock(file: int, path: Path) -> None:
    """Take a file for this process. Raises `JournalError` if another one has it."""
    try:
        lock_file(file, path)
    except BlockingIOError:
        os.close(file)
        raise JournalError(
            f"{path}: another process writes this extraction; wait for it, or choose another folder"
        ) from None


def _encode(line: Mapping[str, Any]) -> bytes:
    """Return a line as JSON; halves of surrogate pairs, which UTF-8 cannot hold, become question marks."""
    try:
        return msgspec.json.encode(line)
    except UnicodeEncodeError:
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def _sync(file: int) -> None:
    getattr(os, "fdatasync", os.fsync)(file)
