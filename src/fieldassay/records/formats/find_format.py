"""The format of a file: by the options, its first bytes, its name, its text."""

from __future__ import annotations

import re
from pathlib import Path

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.text.encoding import detect_encoding
from fieldassay.regex import lazy_regex

BINARY = ("parquet", "xlsx")
_SUFFIXES = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".parquet": "parquet", ".pq": "parquet",
}  # fmt: skip


_WITH_SHEET = lazy_regex(r"(.+?\.xls[xm])#(.+)", re.IGNORECASE | re.DOTALL)
_READ_VALUES = "give the values that were extracted from it"
ZIP = b"PK\x03\x04"
_ZIPPED = {
    "xl/workbook.xml": "xlsx",
    "word/document.xml": "a Word document",
    "ppt/presentation.xml": "a PowerPoint presentation",
    "xl/workbook.bin": "a binary Excel workbook",
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


URL = lazy_regex(r"([A-Za-z][A-Za-z0-9+.-]{1,20})://")


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
    found = _WITH_SHEET.fullmatch(str(path))
    return (found[1], found[2]) if found else (str(path), None)


def find_format(label: str, path: Path, head: bytes) -> str:
    """Return the format of a file by unmistakable first bytes, its suffix, its text."""
    if head.startswith(b"PAR1"):
        return "parquet"
    suffixes = [
        suffix.lower()
        for suffix in Path(split_sheet(label)[0]).suffixes
        if suffix.lower() not in (".gz", ".gzip", ".zst", ".zstd")
    ]
    known = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    is_named_workbook = bool(suffixes) and suffixes[-1] in (".xlsx", ".xlsm")
    if head.startswith(ZIP):
        kind = next((kind for part, kind in _ZIPPED.items() if part in _parts(path)), None)
        if kind == "xlsx" or (is_named_workbook and kind is None):
            return "xlsx"
        raise _refusal(
            label, f"is {kind or 'a zip archive'}", _READ_VALUES if kind else "unpack it, or use gzip or zstd"
        )
    for magic, what, remedy in _FOREIGN:
        if head.startswith(magic):
            raise _refusal(label, what, remedy)
    if is_named_workbook:
        raise _refusal(
            label, "is named like an Excel workbook and is none", "name the file after what it holds"
        )
    if known:
        return known
    encoding = detect_encoding(head) or "utf-8"
    first = head.decode(encoding, "replace").lstrip("\ufeff\0 \t\r\n")[:1]
    return {"[": "json", "{": "jsonl"}.get(first, "csv")


def _parts(path: Path) -> frozenset[str]:
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            return frozenset(archive.namelist())
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError):
        return frozenset()


def _refusal(label: str, what: str, remedy: str) -> ProblemsError:
    return problem(label, what, remedy, "unknown_format")
