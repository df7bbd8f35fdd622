"""Files and streams: what format they are in, and their bytes as plain UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import shutil
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.records.encoding import SAMPLE, detect_encoding
from fieldassay.records.options import FORMATS, SourceOptions

CHUNK = 1 << 20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


class Spool:
    """A temporary file that is removed with the object that made it. A pickled copy only names the file."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="fieldassay-")
        os.close(handle)
        self.path = Path(name)
        weakref.finalize(self, _remove, name, os.getpid())

    def __reduce__(self) -> tuple[type[object], tuple[()]]:
        return (object, ())


def _remove(name: str, process: int) -> None:
    if os.getpid() == process:  # a forked worker must not take the file away from its parent
        Path(name).unlink(missing_ok=True)


class Input:
    """A file or standard input, decompressed, with a name for messages. `path` is a plain file that can be read at any place.

    `guess` is the encoding if it is neither Unicode nor named by the user.
    """

    def __init__(self, path: str | Path, options: SourceOptions) -> None:
        self.label = "<stdin>" if str(path) == "-" else str(path)
        self.spool: Spool | None = None
        self.path = self._settle(path)
        self.head = _read_head(self.path)
        if not self.head.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
            raise _error(self.label, "is empty", "give a file with at least one record", "empty_input")
        self.format = find_format(self.label, self.head, options)
        self.encoding = options.encoding or "utf-8"
        if self.format != "parquet":
            self.encoding = _check_encoding(self.label, options.encoding or detect_encoding(self.head))
        self.guess = self.encoding if options.encoding is None and not self.encoding.startswith("utf-") else None

    def _settle(self, path: str | Path) -> Path:
        if str(path) == "-":
            return self._unpack(self._copy(sys.stdin.buffer))
        file = Path(path)
        try:
            if file.is_file():
                return self._unpack(file)
            with file.open("rb") as stream:  # a named pipe can be read once only
                return self._unpack(self._copy(stream))
        except (OSError, ValueError) as error:
            raise _error(self.label, f"cannot be read ({_why(error)})", "check the path", "unreadable_file") from None

    def _copy(self, stream: BinaryIO) -> Path:
        spool = Spool()
        with spool.path.open("wb") as target:
            shutil.copyfileobj(stream, target, CHUNK)
        self.spool = spool
        return spool.path

    def _unpack(self, file: Path) -> Path:
        is_gzip, is_zstd = _starts_with(file, GZIP), _starts_with(file, ZSTD)
        if not (is_gzip or is_zstd):
            return file
        try:
            with _decompressed(file, is_gzip) as stream:
                kept = self.spool  # the packed copy must outlive its unpacking
                unpacked = self._copy(stream)
                del kept
                return unpacked
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise _error(self.label, f"cannot be decompressed ({_why(error)})", "pack the file again", "bad_compression") from None

    def as_utf8(self) -> Path:
        """Return a file with the same text in UTF-8: the file itself if it is that already."""
        if self.encoding in ("utf-8", "utf-8-sig", "ascii"):
            return self.path
        spool = Spool()
        decoder = codecs.getincrementaldecoder(self.encoding)("replace")
        with self.path.open("rb") as source, spool.path.open("wb") as target:
            while chunk := source.read(CHUNK):
                target.write(decoder.decode(chunk).encode("utf-8", "replace"))
            target.write(decoder.decode(b"", final=True).encode("utf-8", "replace"))
        self.spool, self.path, self.encoding = spool, spool.path, "utf-8"
        return self.path


@contextmanager
def _decompressed(file: Path, is_gzip: bool) -> Iterator[BinaryIO]:
    if is_gzip:
        with gzip.open(file, "rb") as stream:
            yield io.BufferedReader(stream)
        return
    import zstandard

    try:
        with file.open("rb") as packed:
            yield zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def read_plain(file: Path) -> bytes:
    """Return the bytes of a file, decompressed if it is packed; OSError, EOFError or ValueError if they cannot be had."""
    data = file.read_bytes()
    if data.startswith((GZIP, ZSTD)):
        try:
            with _decompressed(file, data.startswith(GZIP)) as stream:
                return stream.read()
        except zlib.error as error:
            raise ValueError(str(error)) from None
    return data


def find_format(label: str, head: bytes, options: SourceOptions) -> str:
    """Return the format of a file by the options, then by its suffix, then by its first bytes."""
    if options.format is not None:
        if options.format not in FORMATS:
            raise _error(label, f"unknown format {options.format!r}", nearest(options.format, FORMATS), "unknown_format")
        return options.format
    if head.startswith(b"PAR1"):
        return "parquet"
    suffixes = [suffix.lower() for suffix in Path(label).suffixes if suffix.lower() not in (".gz", ".gzip", ".zst", ".zstd")]
    known = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    if head.startswith((b"PK\x03\x04", b"BZh", b"\xfd7zXZ")):
        raise _error(label, "is packed in a way that is not supported", "unpack it, or use gzip or zstd", "unknown_format")
    if known:
        return known
    encoding = detect_encoding(head) or "utf-8"
    first = head.decode(encoding, "replace").lstrip("\ufeff\0 \t\r\n")[:1]
    return {"[": "json", "{": "jsonl"}.get(first, "csv")


def _read_head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SAMPLE)


def _starts_with(path: Path, magic: bytes) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def _check_encoding(label: str, encoding: str | None) -> str:
    if encoding is None:
        raise _error(label, "its encoding cannot be told", "name it with the encoding option", "unknown_encoding")
    try:
        return codecs.lookup(encoding).name.replace("_", "-")
    except LookupError:
        raise _error(label, f"unknown encoding {encoding!r}", "use a name such as utf-8 or cp1252", "unknown_encoding") from None


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def _error(label: str, what: str, remedy: str, kind: str) -> ProblemsError:
    return ProblemsError([Problem(label, what, remedy, kind)])
