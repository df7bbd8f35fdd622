"""The kind of a document: by its content where that is unmistakable, else by its suffix, else by its text."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import PurePath
from typing import NoReturn

from fieldassay.documents.transcript import DocumentError
from fieldassay.regex import lazy_regex

KINDS = ("pdf", "image", "docx", "xlsx", "csv", "eml", "html", "text", "markdown", "words")

SUFFIXES = {
    ".pdf": "pdf", ".png": "image", ".jpg": "image", ".jpeg": "image", ".tif": "image", ".tiff": "image",
    ".bmp": "image", ".gif": "image", ".webp": "image", ".docx": "docx", ".docm": "docx", ".xlsx": "xlsx",
    ".xlsm": "xlsx", ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".eml": "eml", ".msg": "msg",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".txt": "text", ".text": "text", ".log": "text",
    ".md": "markdown", ".markdown": "markdown",
}  # fmt: skip

_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".docm": "application/vnd.ms-word.document.macroenabled.12",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xlsm": "application/vnd.ms-excel.sheet.macroenabled.12",
    ".eml": "message/rfc822",
    ".msg": "application/vnd.ms-outlook",
    ".jsonl": "application/jsonl",
    ".jpg": "image/jpeg",
    ".tif": "image/tiff",
    ".tsv": "text/tab-separated-values",
    ".tab": "text/tab-separated-values",
    ".xhtml": "application/xhtml+xml",
}
"""The types that are neither `image/` and the suffix nor `text/` and the kind."""

_IMAGES = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a", b"II*\0", b"MM\0*", b"BM")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PARTS = {"word/document.xml": "docx", "xl/workbook.xml": "xlsx"}
_OLE_STREAMS = (
    ("__properties_version1.0", "unreadable", "is a message of Outlook; save it as .eml or PDF"),
    ("EncryptedPackage", "encrypted", "is an Office document with a password; save it without one"),
    ("WordDocument", "unreadable", "is a Word document in the old format; save it as .docx"),
    ("Workbook", "unreadable", "is an Excel workbook in the old format; save it as .xlsx"),
    ("PowerPoint Document", "unreadable", "is a presentation; save it as .pdf"),
)
_FOREIGN = (
    (b"{\\rtf", "is an RTF document; save it as .docx or .pdf"),
    (b"SQLite format 3\0", "is a database; export the table as CSV"),
    ((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf\x27\x1c", b"Rar!"), "is an archive; unpack it"),
    (b"\x7fELF", "is a program"),
)
_HEADER = lazy_regex(
    rb"^(?:from|to|cc|date|subject|received|return-path|message-id|mime-version|delivered-to|content-type):",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = lazy_regex(rb'"pages"\s*:\s*\[')
_MARKUP = lazy_regex(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


def find_media_type(name: str) -> str:
    """Return the media type of a file by the suffix of its name.

    >>> find_media_type("a.JPG"), find_media_type("a.csv"), find_media_type("a.log"), find_media_type("a.x")
    ('image/jpeg', 'text/csv', 'text/plain', 'application/octet-stream')
    """
    suffix = PurePath(name).suffix.lower()
    kind = SUFFIXES.get(suffix, "")
    if suffix in _MEDIA_TYPES or not kind:
        return _MEDIA_TYPES.get(suffix, "application/octet-stream")
    return f"image/{suffix[1:]}" if kind == "image" else f"text/{'plain' if kind == 'text' else kind}"


def find_kind(name: str, data: bytes) -> str:
    """Return the kind of a document (one of `KINDS`), given the name of its file and its bytes.

    Raises `DocumentError` for content that no loader reads, with the remedy.

    >>> find_kind("a.txt", b"%PDF-1.7"), find_kind("a.md", b"# Title"), find_kind("a", b"<html><p>x")
    ('pdf', 'markdown', 'html')
    """
    if not data.strip(b"\0 \t\r\n"):
        raise DocumentError("unreadable", "is empty")
    if data.startswith(_IMAGES[:-1]) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return "image"
    if data.startswith(b"PK\x03\x04"):
        return _zipped_kind(data)
    if data.startswith(_OLE):
        _refuse_compound(data)
    suffix = PurePath(name).suffix.lower()
    if data.startswith(b"%PDF-") or (b"%PDF-" in data[:1024] and SUFFIXES.get(suffix, "pdf") == "pdf"):
        return "pdf"
    for magic, what in _FOREIGN:
        if data.startswith(magic):
            raise DocumentError("unreadable", what)
    return _text_kind(suffix, data)


def _text_kind(suffix: str, data: bytes) -> str:
    named = SUFFIXES.get(suffix, "")
    if named == "image" and (suffix != ".bmp" or not data.startswith(b"BM")):
        raise DocumentError("unreadable", f"is named like an image ({suffix}) and is none")
    if named in ("pdf", "docx", "xlsx", "msg"):
        raise DocumentError(
            "unreadable", f"is named like a {suffix[1:].upper()} file and is none, or is damaged"
        )
    if named:
        return named
    if data[:1] == b"{" and _WORDS.search(data):
        return "words"
    if _MARKUP.match(data[:4096]):
        return "html"
    if len(_HEADER.findall(data[:4096].split(b"\n\n")[0].split(b"\r\n\r\n")[0])) >= 3:
        return "eml"
    head = data[:4096]
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and head.count(0) * 10 > len(head):
        raise DocumentError("unreadable", "is of no kind that can be read")
    return "text"


def _zipped_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = frozenset(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
        raise DocumentError("unreadable", f"is a damaged archive ({error})") from None
    for part, kind in _PARTS.items():
        if part in names:
            return kind
    what = (
        "a presentation; save it as .pdf" if "ppt/presentation.xml" in names else "a zip archive; unpack it"
    )
    raise DocumentError("unreadable", f"is {what}")


def _refuse_compound(data: bytes) -> NoReturn:
    """Raise the failure of a compound file; names of its streams are UTF-16."""
    for stream, kind, what in _OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            raise DocumentError(kind, what)
    raise DocumentError("unreadable", "is an Office file in an old format; save it in a current one")
