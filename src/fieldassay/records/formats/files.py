"""Files and streams: their formats, and their bytes as plain UTF-8."""

from __future__ import annotations

import codecs
import gzip
import io
import os
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from encodings.aliases import aliases
from pathlib import Path
from typing import BinaryIO

from fieldassay.errors import Problem, ProblemsError, nearest, problem
from fieldassay.io.files.whole_files import open_file
from fieldassay.io.text.encoding import SAMPLE, detect_encoding, is_unicode
from fieldassay.records.formats.find_format import BINARY, find_format, is_url, split_sheet
from fieldassay.records.options import RATIO, UNPACKED, SourceOptions

CHUNK = 1 << 20
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
NAME_ENCODING = "name it: `data: {encoding: NAME}`"
_DESCRIPTORS = tuple(map(Path, ("/dev/fd", "/proc/self/fd")))


class Spool:
    """A temporary file, removed together with the object that made it. A pickled copy only names the file."""

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
    """A file or standard input, decompressed, with a name for messages.

    `path` is a plain file that can be read at any place; `sheet` is the one named with the path; `notes` are
    for the user, on how the file is read.
    """

    def __init__(self, path: str | Path, options: SourceOptions) -> None:
        self.label = "<stdin>" if str(path) == "-" else str(path)
        self.spool: Spool | None = None
        self.notes: list[Problem] = []
        named, self.sheet = split_sheet(path)
        self._most, self._is_changed = options.unpacked, False
        self.path = self._settle(named)
        self.head = _read_head(self.path)
        if not self.head.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
            raise problem(self.label, "is empty", "give a file with at least one record", "empty_input")
        self.format = find_format(self.label, self.path, self.head)
        self.encoding, self._errors = "utf-8", "replace"
        if self.format not in BINARY:
            self._settle_encoding(options.encoding)

    def _settle(self, path: str) -> Path:
        if path == "-":
            return self._unpack(self._copy(sys.stdin.buffer))
        if is_url(path):
            from fieldassay.records.formats.storage import open_url

            with open_url(path) as stream:
                return self._unpack(self._copy(stream))
        file = Path(path)
        try:
            if is_open_pipe(file):  # it can be read once only
                with file.open("rb") as stream:
                    return self._unpack(self._copy(stream))
            open_file(file).close()
            return self._unpack(file)
        except (OSError, ValueError) as error:
            raise problem(
                self.label, f"cannot be read ({_why(error)})", "check the path", "unreadable_file"
            ) from None

    def _settle_encoding(self, named: str | None) -> None:
        """Settle on the encoding of the user, if the file is not in Unicode, else on the detected one."""
        if named is not None:
            named = _check_encoding(self.label, named)
            if not is_unicode(self.path, named):
                self.encoding, self._errors = named, "strict"
                return
        found = detect_encoding(self.head)
        if found is None:
            raise problem(self.label, "its encoding cannot be told", NAME_ENCODING, "unknown_encoding")
        self.encoding = _check_encoding(self.label, found)
        if not found.startswith("utf-"):
            remedy = f"if that is wrong, {NAME_ENCODING}"
            self.notes.append(
                Problem(
                    self.label, f"is not UTF-8 and was read as {self.encoding}", remedy, "guessed_encoding"
                )
            )

    @property
    def url(self) -> str | None:
        """Return the object of which `path` is a copy, byte for byte; None if it is none."""
        named = split_sheet(self.label)[0]
        is_copy = is_url(named) and not self._is_changed and self.encoding in ("utf-8", "utf-8-sig", "ascii")
        return named if is_copy else None

    def bound(self, file: Path | None = None) -> int:
        """Return how many bytes a packed file may unpack to."""
        return _unpacked_bound((file or self.path).stat().st_size) if self._most is None else self._most

    def _copy(self, stream: BinaryIO, bound: int | None = None) -> Path:
        spool = Spool()
        size = 0
        with spool.path.open("wb") as target:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if bound is not None and size > bound:
                    raise too_large(self.label, bound)
                target.write(chunk)
        self.spool = spool
        return spool.path

    def _unpack(self, file: Path) -> Path:
        is_gzip, is_zstd = _starts_with(file, GZIP), _starts_with(file, ZSTD)
        if not (is_gzip or is_zstd):
            return file
        self._is_changed = True
        try:
            with file.open("rb") as packed, _decompressed(packed, is_gzip) as stream:
                kept = self.spool  # the packed copy must outlive its unpacking
                unpacked = self._copy(stream, self.bound(file))
                del kept
                return unpacked
        except (OSError, EOFError, zlib.error, ValueError) as error:
            raise problem(
                self.label,
                f"cannot be decompressed ({_why(error)})",
                "pack the file again",
                "bad_compression",
            ) from None

    def as_utf8(self) -> Path:
        """Return a file with the same text in UTF-8: the file itself if it is that already."""
        if self.encoding in ("utf-8", "utf-8-sig", "ascii"):
            return self.path
        spool = Spool()
        decoder = codecs.getincrementaldecoder(self.encoding)(self._errors)
        try:
            with self.path.open("rb") as source, spool.path.open("wb") as target:
                while chunk := source.read(CHUNK):
                    target.write(decoder.decode(chunk).encode("utf-8", "replace"))
                target.write(decoder.decode(b"", final=True).encode("utf-8", "replace"))
        except UnicodeError:
            what = f"is neither in Unicode nor in {self.encoding}"
            raise problem(
                self.label,
                what,
                "name its encoding, or leave out the option to have it found out",
                "unknown_encoding",
            ) from None
        self.spool, self.path, self.encoding, self._is_changed = spool, spool.path, "utf-8", True
        return self.path


def is_open_pipe(path: Path) -> bool:
    """Return whether a path is a pipe that is already open in this process, as a shell's `<(command)` is.

    Any other named pipe is refused: to open it would wait for a writer that may never come.
    """
    try:
        return path.parent in _DESCRIPTORS and stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _unpacked_bound(size: int) -> int:
    """Return the default limit in bytes for unpacking a file of a size."""
    return max(UNPACKED, RATIO * size)


def too_large(label: str, bound: int) -> ProblemsError:
    """Return the error that a packed file unpacks to more than it may."""
    size = next(
        f"{bound / 1024**power:.4g} {unit}"
        for power, unit in ((3, "GB"), (2, "MB"), (1, "kB"), (0, "bytes"))
        if bound >= 1024**power or not power
    )
    return problem(
        label,
        f"unpacks to more than {size}",
        "if it may, allow more: `data: {max_unpacked: SIZE}`",
        "too_large",
    )


@contextmanager
def _decompressed(packed: BinaryIO, is_gzip: bool) -> Iterator[BinaryIO]:
    if is_gzip:
        with gzip.open(packed, "rb") as stream:
            yield io.BufferedReader(stream)
        return
    import zstandard

    try:
        yield zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None


def unpack_plain(data: bytes) -> bytes:
    """Return bytes, decompressed if they are packed; raise OSError, EOFError or ValueError."""
    if data.startswith((GZIP, ZSTD)):
        bound = _unpacked_bound(len(data))
        try:
            with _decompressed(io.BytesIO(data), data.startswith(GZIP)) as stream:
                data = stream.read(bound + 1)
                if len(data) > bound:
                    raise ValueError(f"unpacks to more than {bound:,} bytes")
        except zlib.error as error:
            raise ValueError(str(error)) from None
    return data


def _read_head(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SAMPLE)


def _starts_with(path: Path, magic: bytes) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def _check_encoding(label: str, encoding: str) -> str:
    """Return the usual name of an encoding. Raises `ProblemsError` with a near one if there is none such."""
    try:
        "".encode(encoding)  # refuses codecs that are not of text
        return codecs.lookup(encoding).name.replace("_", "-")
    except (LookupError, UnicodeError, ValueError):
        near = nearest(encoding, set(aliases.values()))
        remedy = near if near.startswith("did you mean") else "use a name such as utf-8 or cp1252"
        raise problem(label, f"unknown encoding {encoding!r}", remedy, "unknown_encoding") from None


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
