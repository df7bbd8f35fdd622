"""Files, streams and objects in storage: their formats, and their bytes as plain UTF-8."""

import codecs
import gzip
import io
import os
import re
import stat
import struct
import sys
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from encodings.aliases import aliases
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field

from fieldassay.errors import MissingExtraError, Problem, ProblemsError, install_line, nearest, problem
from fieldassay.io.files.whole_files import JsonFormat, open_file, read_typed
from fieldassay.io.text.encoding import SAMPLE, detect_encoding, is_unicode
from fieldassay.records.keys import RATIO, UNPACKED, SourceOptions

# The format of a file: by the options, its first bytes, its name, its text.

BINARY = ("parquet", "xlsx", "inspect")
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


_WITH_SHEET = re.compile(r"(.+?\.xls[xm])#(.+)", re.IGNORECASE | re.DOTALL)
_READ_VALUES = "give the values that were extracted from it"
ZIP = b"PK\x03\x04"
_ZIPPED_BY_ZSTD = 93
_ZIPPED = {
    "xl/workbook.xml": "xlsx",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "xl/workbook.bin": "a binary Excel workbook",
    "_journal/start.json": "inspect",
}
"""The format of a zip archive with a part of this name."""

_FOREIGN: tuple[tuple[bytes | tuple[bytes, ...], str, str], ...] = (
    (b"\x89PNG\r\n", "is a PNG image", _READ_VALUES),
    (b"\xff\xd8\xff", "is a JPEG image", _READ_VALUES),
    ((b"GIF87a", b"GIF89a"), "is a GIF image", _READ_VALUES),
    ((b"II*\0", b"MM\0*"), "is a TIFF image", _READ_VALUES),
    (b"%PDF-", "is a PDF document", _READ_VALUES),
    (b"{\\rtf", "is an RTF document", _READ_VALUES),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "is an Office file in the old format, or with a password", "save it as .xlsx without a password",
    ),
    (
        (b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf\x27\x1c", b"Rar!"),
        "is packed in a way that is not supported", "unpack it, or use gzip or zstd",
    ),
    (b"SQLite format 3\0", "is an SQLite database", "export the table as CSV or JSONL"),
)  # fmt: skip
"""Formats without records by their first bytes, and the remedy for each."""


URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{1,20})://")


def is_url(path: object) -> bool:
    """Return whether a path is a URL, which no file system has.

    >>> is_url("s3://bucket/gold.jsonl"), is_url("C:/gold.jsonl"), is_url("gold.jsonl")
    (True, False, False)
    """
    return isinstance(path, str) and URL.match(path) is not None


def split_sheet(path: str | Path) -> tuple[str, str | None]:
    """Return the path of a workbook and the sheet that is named after `#`; None where a path names none.

    >>> split_sheet("gold.xlsx#Sheet 1"), split_sheet("a#b.csv")
    (('gold.xlsx', 'Sheet 1'), ('a#b.csv', None))
    """
    match = _WITH_SHEET.fullmatch(str(path))
    return (match[1], match[2]) if match else (str(path), None)


def find_format(label: str, path: Path, head: bytes) -> str:
    """Return the format of a file by unmistakable first bytes, its suffix, its text."""
    if head.startswith(b"PAR1"):
        return "parquet"
    suffixes = [
        suffix.lower()
        for suffix in Path(split_sheet(label)[0]).suffixes
        if suffix.lower() not in (".gz", ".gzip", ".zst", ".zstd")
    ]
    suffix_format = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    is_named_workbook = bool(suffixes) and suffixes[-1] in (".xlsx", ".xlsm")
    if head.startswith(ZIP):
        kind = next((kind for part, kind in _ZIPPED.items() if part in _parts(path)), None)
        if kind in BINARY:
            return kind
        if is_named_workbook and kind is None:
            return "xlsx"
        raise _refusal(
            label, f"is {kind or 'a zip archive'}", _READ_VALUES if kind else "unpack it, or use gzip or zstd"
        )
    for magic, what, remedy in _FOREIGN:
        if head.startswith(magic):
            raise _refusal(label, what, remedy)
    if is_named_workbook:
        raise _refusal(
            label,
            "is named like an Excel workbook, but is something else",
            "name the file after what it holds",
        )
    if suffix_format:
        return suffix_format
    encoding = detect_encoding(head) or "utf-8"
    first = head.decode(encoding, "replace").lstrip("\ufeff\0 \t\r\n")[:1]
    return {"[": "json", "{": "jsonl"}.get(first, "csv")


def _parts(path: Path) -> frozenset[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError):
        return frozenset()


def _refusal(label: str, what: str, remedy: str) -> ProblemsError:
    return problem(label, what, remedy, "unknown_format")


# Files and folders in object storage by URL (`s3://bucket/key`); only what the user names is read.

SCHEME = "s3"
_REMEDY = (
    "check the URL, the credentials (AWS_PROFILE, AWS_ACCESS_KEY_ID …) and the address (AWS_ENDPOINT_URL)"
)


def open_url(url: str) -> BinaryIO:
    """Return an object's bytes as a stream that can seek. Raises `ProblemsError` if it cannot be read."""
    try:
        opened: BinaryIO = _storage(url).open(url, "rb", block_size=1 << 23)
        return opened
    except ProblemsError:
        raise
    except Exception as error:  # of the library below, which raises many kinds
        raise _unreadable(url, error) from None


def list_urls(url: str) -> list[tuple[str, str]] | None:
    """Return the objects below a URL as their relative paths and URLs, sorted; None if it is one object.

    Those with a hidden part in their path are left out.

    Raises `ProblemsError` if there is neither.
    """
    storage = _storage(url)
    try:
        if storage.isfile(url):
            return None
        root = storage._strip_protocol(url).rstrip("/")
        objects = [
            (key[len(root) + 1 :], f"{SCHEME}://{key}") for key in storage.find(root) if key[len(root) + 1 :]
        ]
    except Exception as error:
        raise _unreadable(url, error) from None
    if not objects:
        raise _unreadable(url, FileNotFoundError("neither an object nor a folder has this name"))
    seen = [each for each in objects if "/." not in f"/{each[0]}"]
    return sorted(seen, key=lambda each: each[0].split("/"))


def read_urls(urls: Sequence[str]) -> list[bytes | Exception]:
    """Return the bytes of objects, many at a time; or why one cannot be read."""
    if not urls:
        return []
    storage = _storage(urls[0])
    contents = storage.cat(list(urls), on_error="return")
    if isinstance(contents, bytes):  # of a single one
        return [contents]
    return [contents[storage._strip_protocol(url)] for url in urls]


def _storage(url: str) -> Any:
    match = URL.match(url)
    scheme = match[1].lower() if match else ""
    if scheme != SCHEME:
        what, remedy = f"is a URL of the kind {scheme}://", "give a path, or a URL of the kind s3://"
        raise problem(url, what, remedy, "unreadable_file")
    try:
        import s3fs
    except ImportError:
        raise MissingExtraError(
            f"{url}: to read object storage needs s3fs, which is not installed: {install_line('s3')}"
        ) from None
    return s3fs.S3FileSystem(use_listings_cache=False)


def _unreadable(url: str, error: Exception) -> ProblemsError:
    reason = " ".join(str(error).split())[:200] or type(error).__name__
    return problem(url, f"cannot be read ({reason})", _REMEDY, "unreadable_file")


# Files and streams: their formats, and their bytes as plain UTF-8.

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
        encoding = detect_encoding(self.head)
        if encoding is None:
            raise problem(self.label, "its encoding cannot be recognized", NAME_ENCODING, "unknown_encoding")
        self.encoding = _check_encoding(self.label, encoding)
        if not encoding.startswith("utf-"):
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
        head = _read_head(file)
        is_gzip = head.startswith(GZIP)
        if not head.startswith((GZIP, ZSTD)):
            return file
        self._is_changed = True
        try:
            with file.open("rb") as packed, _decompressed(packed, is_gzip) as stream:
                packed_copy = self.spool  # the packed copy must outlive its unpacking
                unpacked = self._copy(stream, self.bound(file))
                del packed_copy
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
            raise problem(
                self.label,
                f"is neither in Unicode nor in {self.encoding}",
                "name its encoding, or leave out the option to have it detected",
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


def unpack_archive(archive: zipfile.ZipFile, source: Input) -> Iterator[tuple[zipfile.ZipInfo, bytes]]:
    """Yield an archive in pieces; no part may exceed the size stated there, nor their sum the limit."""
    bound, size = source.bound(), 0
    for info in archive.infolist():
        with _open_member(archive, info) as stream:
            while chunk := stream.read(CHUNK):
                size += len(chunk)
                if size > bound:
                    raise too_large(source.label, bound)
                yield info, chunk


@contextmanager
def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[BinaryIO]:
    """Open a part of an archive, which may be packed by zstd, as Inspect packs its logs."""
    if info.compress_type != _ZIPPED_BY_ZSTD:
        with archive.open(info) as stream:
            yield stream  # type: ignore[misc]
        return
    with Path(str(archive.filename)).open("rb") as file:
        file.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        file.seek(name + extra, os.SEEK_CUR)
        with _decompressed(io.BytesIO(file.read(info.compress_size)), is_gzip=False) as stream:
            yield stream


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


def _check_encoding(label: str, encoding: str) -> str:
    """Return the usual name of an encoding. Raises `ProblemsError` with a near one if there is none such."""
    try:
        "".encode(encoding)  # refuses codecs that are not of text
        return codecs.lookup(encoding).name.replace("_", "-")
    except (LookupError, UnicodeError, ValueError):
        near = nearest(encoding, set(aliases.values()))
        raise problem(
            label,
            f"unknown encoding {encoding!r}",
            near if near.startswith("did you mean") else "use a name such as utf-8 or cp1252",
            "unknown_encoding",
        ) from None


def _why(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


# Folders of extractions among predictions: the files of one, and its manifest.

MANIFEST = "extraction.json"
PREDICTIONS = "predictions.jsonl"
RUNNING = "running"
"""The status in the manifest of an extraction that was killed, or is still at work."""


def is_extraction(folder: Path) -> bool:
    """Return whether a folder holds what `fieldassay extract` wrote."""
    return os.path.isfile(folder / MANIFEST)  # noqa: PTH113 - a Path raises for one that no system call takes


class Manifest(Struct, frozen=True):
    """What others need of the manifest of an extraction; `failures` are counts by kind (None: not ended)."""

    status: str
    parts: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, int] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    seen: tuple[str, ...] = ()
    """The documents that are examples of the system's prompt, or that this was tuned on."""


_JOURNAL = "journal.jsonl"
_AGAIN = f"run the same `fieldassay extract` again: it rebuilds the file from the answers in {_JOURNAL}"
_ANOTHER = "name a folder that `fieldassay extract` wrote"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an extraction. Raises `ProblemsError` if it cannot be read."""
    path = folder / MANIFEST
    again = _AGAIN if (folder / _JOURNAL).is_file() else _ANOTHER
    form = JsonFormat("manifest of an extraction", again, "not_json")
    try:
        with open_file(path) as stream:
            data = stream.read()
    except (OSError, ValueError) as error:
        raise form.refusal(path, f"cannot be read ({error})") from None
    return read_typed(data, Manifest, form, str(path))


def seen_documents(predictions: str) -> frozenset[str]:
    """Return the ids of documents that a system was tuned on, by the path of an extraction's predictions.

    They are with and without the ending of a file; none are known of other predictions.
    """
    path = Path(predictions)
    if path.name != PREDICTIONS or not is_extraction(path.parent):
        return frozenset()
    seen = read_manifest(path.parent).seen
    return frozenset((*seen, *(Path(name).stem for name in seen)))


def find_predictions(folder: Path) -> Path:
    """Return the file of an extraction's predictions.

    Raises `ProblemsError` for an extraction that has not ended: its predictions are not all there.
    """
    if read_manifest(folder).status == RUNNING or not (folder / PREDICTIONS).is_file():
        raise problem(
            folder,
            "the extraction has not ended: its predictions are not all there",
            "run the same `fieldassay extract` again; it continues where it stopped",
            "unfinished_extraction",
        )
    return folder / PREDICTIONS
