"""Documents of a folder or a list: their kinds and options, and how they are loaded as transcripts."""

import hashlib
import io
import json
import os
import re
import sys
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import lru_cache, partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import compress, count, islice
from pathlib import Path, PurePath
from types import TracebackType
from typing import Any, Literal, NoReturn, TypeVar

from msgspec import Struct, field
from msgspec.structs import asdict, replace

from fieldassay.documents.transcript import (
    DocumentError,
    Line,
    Page,
    Source,
    Transcript,
    TranscriptStore,
    Word,
    decode_transcript,
    encode,
)
from fieldassay.errors import Problem, install_line, problem
from fieldassay.io.files.whole_files import list_folder, open_file
from fieldassay.io.json_value import Json
from fieldassay.io.text.encoding import decode_charset, decode_detected
from fieldassay.io.text.shown import clip
from fieldassay.io.workers.program import WorkerEndedError, WorkerLateError, Workers, beat

# Documents of a folder or a list: kinds, options, and the content of a file.

# How documents are loaded: OCR, resolution, limits.

Ocr = Literal["auto", "off", "always"]


class LoadOptions(Struct, frozen=True):
    """The options of all loaders; they are part of what a transcript says of its loader."""

    ocr: Ocr = "auto"
    """`auto` recognizes pages without a text layer, `always` every page of PDFs and images, `off` none."""
    dpi: int = 200
    """The resolution at which pages are rendered for recognition."""
    max_bytes: int = 1 << 28
    """The largest file, and the most that a compressed one may unpack to."""
    max_pages: int = 5000
    max_pixels: int = 120_000_000
    """The largest image, against decompression bombs."""
    max_cells: int = 2_000_000
    max_depth: int = 4
    """Levels of attachments within attachments."""
    reader: str = ""
    """Another reader than the loaders: a library of `documents/loaders/readers.py`, or `module:function`."""


DEFAULTS = LoadOptions()


# The kind of a document: by its content where that is unmistakable, else by its suffix, else by its text.

KINDS = ("pdf", "image", "docx", "xlsx", "csv", "eml", "html", "text", "markdown", "words")

SUFFIXES = {
    ".pdf": "pdf", ".png": "image", ".jpg": "image", ".jpeg": "image", ".tif": "image", ".tiff": "image",
    ".bmp": "image", ".gif": "image", ".webp": "image", ".docx": "docx", ".docm": "docx", ".xlsx": "xlsx",
    ".xlsm": "xlsx", ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".eml": "eml", ".msg": "msg",
    ".html": "html", ".htm": "html", ".xhtml": "html", ".txt": "text", ".text": "text", ".log": "text",
    ".md": "markdown", ".markdown": "markdown",
    **dict.fromkeys((
        ".odt", ".ods", ".odp", ".epub", ".pptx", ".ppt", ".doc", ".xls", ".rtf", ".pages", ".numbers",
        ".heic", ".heif", ".avif", ".jp2", ".j2k",
    ), "other"),
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
_MARKITDOWN, _DOCLING = (f", or read it with `reader: {name}`" for name in ("markitdown", "docling"))
_BOTH = f"{_MARKITDOWN} or `reader: docling`"
_OLE_STREAMS = (
    (
        "__properties_version1.0",
        "unreadable",
        "is a message of Outlook; save it as .eml or PDF" + _MARKITDOWN,
    ),
    ("EncryptedPackage", "encrypted", "is an Office document with a password; save it without one"),
    ("WordDocument", "unreadable", "is a Word document in the old format; save it as .docx" + _DOCLING),
    ("Workbook", "unreadable", "is an Excel workbook in the old format; save it as .xlsx" + _BOTH),
    ("PowerPoint Document", "unreadable", "is a presentation; save it as .pdf" + _DOCLING),
)
_FOREIGN = (
    (b"{\\rtf", "is an RTF document; save it as .docx or .pdf" + _DOCLING),
    ((b"\0\0\0\x0cjP  ", b"\xff\x4f\xff\x51"), "is a picture in the format JPEG 2000; save it as .png"),
    (b"SQLite format 3\0", "is a database; export the table as CSV"),
    ((b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"7z\xbc\xaf\x27\x1c", b"Rar!"), "is an archive; unpack it"),
    (b"\x7fELF", "is a program"),
    (b"\x78\x9f\x3e\x22", "is Outlook's winmail.dat; ask for the message as HTML or plain text"),
)
_OPEN_DOCUMENT = "application/vnd.oasis.opendocument."
_PACKED = {
    f"{_OPEN_DOCUMENT}text": "an OpenDocument text; save it as .docx or .pdf" + _DOCLING,
    f"{_OPEN_DOCUMENT}spreadsheet": "an OpenDocument spreadsheet; save it as .xlsx" + _DOCLING,
    f"{_OPEN_DOCUMENT}presentation": "an OpenDocument presentation; save it as .pdf" + _DOCLING,
    f"{_OPEN_DOCUMENT}graphics": "an OpenDocument drawing; save it as .pdf",
    "application/epub+zip": "an EPUB book; save it as .pdf" + _BOTH,
    "ppt/presentation.xml": "a presentation; save it as .pdf" + _BOTH,
    "Index/Document.iwa": "a document of Apple's iWork; save it as .pdf" + _DOCLING,
}
"""Zip archives that are documents, by their first entry, `mimetype`, or by the name of an entry."""
_BRANDS = {
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "HEIC"),
    **dict.fromkeys((b"avif", b"avis"), "AVIF"),
}
"""Pictures in the container of films, by the name that it begins with."""
_SEALED, _ARMOR = bytes.fromhex("06092A864886F70D0107"), b"-----BEGIN PGP MESSAGE"
"""What S/MIME and PGP begin with: the object identifiers of PKCS #7, and the line above an armored text."""
_HEADER = re.compile(
    rb"^(?:from|to|cc|date|subject|received|return-path|message-id|mime-version|delivered-to|content-type):",
    re.IGNORECASE | re.MULTILINE,
)
_WORDS = re.compile(rb'"pages"\s*:\s*\[')
_RECOGNIZED = re.compile(rb"<(?:\w{1,20}:)?(?:PcGts|alto)\b", re.I)
"""The root of recognized text as XML: PAGE or ALTO."""
_MARKUP = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)


def find_media_type(name: str) -> str:
    """Return the media type of a file by the suffix of its name.

    >>> find_media_type("a.JPG"), find_media_type("a.csv"), find_media_type("a.log"), find_media_type("a.x")
    ('image/jpeg', 'text/csv', 'text/plain', 'application/octet-stream')
    """
    suffix = PurePath(name).suffix.lower()
    kind = SUFFIXES.get(suffix, "other")
    if suffix in _MEDIA_TYPES or kind == "other":
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
    if data[4:8] == b"ftyp" and data[8:12] in _BRANDS:
        raise DocumentError(
            "unreadable", f"is a picture in the format {_BRANDS[data[8:12]]}; save it as .jpg"
        )
    if (data[:1] == b"0" and _SEALED in data[:64]) or data[:200].lstrip().startswith(_ARMOR):
        raise DocumentError(
            "encrypted", "is encrypted or signed; open it in your mail program, save it as PDF"
        )
    for magic, what in _FOREIGN:
        if data.startswith(magic):
            raise DocumentError("unreadable", what)
    return _text_kind(suffix, data)


def _text_kind(suffix: str, data: bytes) -> str:
    named = SUFFIXES.get(suffix, "")
    if named == "image" and (suffix != ".bmp" or not data.startswith(b"BM")):
        raise DocumentError("unreadable", f"is named like an image ({suffix}), but is something else")
    if named in ("pdf", "docx", "xlsx", "msg", "other"):
        raise DocumentError(
            "unreadable", f"is named like a {suffix[1:].upper()} file, but is damaged or something else"
        )
    if named:
        return named
    start = _in_ascii(data)
    if (data[:1] == b"{" and _WORDS.search(data)) or _RECOGNIZED.search(start):
        return "words"
    if _MARKUP.match(start):
        return "html"
    if data.startswith(b"From ") and len(_HEADER.findall(data[:4096])) > 1:
        return "eml"
    if len(_HEADER.findall(data[:4096].split(b"\n\n")[0].split(b"\r\n\r\n")[0])) >= 3:
        return "eml"
    head = data[:4096]
    if not head.startswith((b"\xff\xfe", b"\xfe\xff")) and head.count(0) * 10 > len(head):
        raise DocumentError("unreadable", "is of a kind that cannot be read")
    return "text"


_START = 8192


def _in_ascii(data: bytes) -> bytes:
    """Return the start of a text whose ASCII can be searched, in UTF-16 too, without a byte order mark."""
    return data[:_START].lstrip(b"\xff\xfe\xef\xbb\xbf").replace(b"\0", b"")


def _zipped_kind(data: bytes) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            is_typed = names[:1] == ["mimetype"] and archive.getinfo("mimetype").file_size < 200
            media_type = archive.read("mimetype").decode("ascii", "replace").strip() if is_typed else ""
    except (
        zipfile.BadZipFile, OSError, ValueError, NotImplementedError, EOFError, RuntimeError, zlib.error,
    ) as error:  # fmt: skip
        raise DocumentError("unreadable", f"is a damaged archive ({error})") from None
    for part, kind in _PARTS.items():
        if part in names:
            return kind
    contents = {media_type.removesuffix("-template"), *names}
    what = next((what for name, what in _PACKED.items() if name in contents), "a zip archive; unpack it")
    raise DocumentError("unreadable", f"is {what}")


def _refuse_compound(data: bytes) -> NoReturn:
    """Raise the failure of a compound file; names of its streams are UTF-16."""
    for stream, kind, what in _OLE_STREAMS:
        if stream.encode("utf-16-le") in data:
            raise DocumentError(kind, what)
    raise DocumentError("unreadable", "is an Office file in an old format; save it in a current one")


# The documents of a folder or a file: their ids and where their bytes are.


class DocumentFile(Struct, frozen=True):
    """A document: its id, its file, and the part of the file that it is."""

    id: str
    """The path of the file from the folder that was given, with `/`; of a line of words, its own id.

    Bytes of a name that are no UTF-8 are written as `\\xff`.
    """
    path: Path
    start: int = 0
    length: int | None = None
    """The bytes that the document takes of its file; None for the whole file."""
    gold: str = ""
    """The id of its gold record, where several documents have the same."""

    def read(self, options: LoadOptions = DEFAULTS) -> bytes:
        """Return the bytes of the document. Raises `DocumentError` for unreadable or too many bytes."""
        try:
            with open_file(self.path) as stream:
                stream.seek(self.start)
                data = stream.read(options.max_bytes + 1 if self.length is None else self.length)
        except (OSError, ValueError) as error:
            raise DocumentError("unreadable", f"cannot be opened ({error})") from None
        if len(data) > options.max_bytes:
            raise DocumentError("too_large", f"is larger than {options.max_bytes / 1e6:,.0f} MB")
        return data


class DocumentList(Struct, frozen=True):
    """The documents found, in order of their ids, and the files that are of no kind that is loaded."""

    files: tuple[DocumentFile, ...]
    skipped: tuple[Path, ...] = ()
    notes: tuple[Problem, ...] = ()
    """What else of the folder is left out."""


def list_documents(path: Path) -> DocumentList:
    """Return the documents of a folder, its subfolders included, or of a single file.

    A `.jsonl` file holds recognized words, one document a line. In a folder, files with other suffixes than
    those that are loaded are skipped, and so is what `list_folder` leaves out. Raises
    `ProblemsError` where there is no document.
    """
    if not path.exists():
        what, remedy = "is not there", "name a folder with documents, or one document"
        raise problem(path, what, remedy, "unreadable_file")
    if path.is_dir():
        listing = list_folder(path)
        notes = listing.notes
        listed = [DocumentFile(_name(inner), Path(place)) for inner, place in listing.files]
        is_document = [file.path.suffix.lower() in SUFFIXES or _is_recognized(file.path) for file in listed]
        files = tuple(compress(listed, is_document))
        skipped = tuple(file.path for file, is_read in zip(listed, is_document, strict=True) if not is_read)
    else:
        files, skipped, notes = tuple(_of_file(path)), (), ()
    if not files:
        raise problem(
            path, "holds no document", "name a folder with documents, or one document", "no_documents"
        )
    return DocumentList(files, skipped, notes)


def _is_recognized(path: Path) -> bool:
    """Return whether a file is recognized text as XML; other XML stands beside documents."""
    if path.suffix.lower() != ".xml":
        return False
    try:
        with path.open("rb") as file:
            return _RECOGNIZED.search(_in_ascii(file.read(_START))) is not None
    except OSError:
        return False


def _name(path: str) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _of_file(path: Path) -> Iterator[DocumentFile]:
    if path.suffix.lower() != ".jsonl":
        yield DocumentFile(_name(path.name), path)
        return
    try:
        with open_file(path) as stream:
            start = 0
            for number, line in enumerate(stream, start=1):
                if line.strip():
                    yield DocumentFile(_id_of(line, path, number), path, start, len(line))
                start += len(line)
    except (OSError, ValueError) as error:
        raise problem(
            path, f"cannot be opened ({error})", "name a file that can be read", "unreadable_file"
        ) from None


def _id_of(line: bytes, path: Path, number: int) -> str:
    try:
        document = json.loads(line)
        document_id = document["id"]
        if isinstance(document_id, str | int) and isinstance(document["pages"], list):
            return str(document_id)
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    what, remedy = (
        "is not a line of recognized words",
        'write {"id": …, "pages": [{"width", "height", "words"}]}',
    )
    raise problem(f"{path}:{number}", what, remedy, "bad_words")


# What a loader gets and gives: options and a way to load attachments; pages and notes.


class Content(Struct, frozen=True):
    """The pages that a loader made, and its notes by kind."""

    pages: tuple[Page, ...]
    notes: tuple[str, ...] = ()


def name_part(kind: str, name: str, size: int) -> str:
    """Return the note that names a part of a document which is not read, with its size in bytes.

    >>> name_part("embedded_file", "factur-x.xml", 4)
    'embedded_file: factur-x.xml (4 bytes)'
    """
    return f"{kind}: {clip(name, 100)} ({size:,} bytes)"


class LoadTask(Struct, frozen=True):
    """What a loader may look at besides the bytes of the document."""

    name: str
    options: LoadOptions
    load_part: Callable[[bytes, str], Content]
    """Loads an attachment as pages named after it, given its bytes and its name; raises as any loader."""
    beat: Callable[[], None] = lambda: None
    """Called after every recognized page: the limit of time counts from there."""


_PACKAGES = {"PIL": "pillow"}


def require(module: str, extra: str) -> None:
    """Raise `DocumentError` of kind `missing_extra` if a module is not installed, with the command for it."""
    if module not in sys.modules and find_spec(module) is None:
        package = _PACKAGES.get(module, module)
        raise DocumentError(
            "missing_extra", f"needs the package {package}; install it with: {install_line(extra)}"
        )


def decode(data: bytes, charset: str = "") -> str:
    """Return the text of bytes, in the encoding that they name or in whichever, with plain line ends.

    Raises `DocumentError` where no encoding is named and none makes sense.
    """
    read = decode_charset(data, charset) if charset else decode_detected(data)
    if read is None:
        raise DocumentError("unreadable", "its encoding cannot be recognized; save it as UTF-8")
    text = read.removeprefix("\ufeff").replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def parse_xml(data: bytes, damaged: str, declares: str) -> Any:
    """Return the root element of XML, without comments; nothing that it names is fetched.

    Raises `DocumentError`: `damaged` says that it cannot be read, `declares` that it has a document type.
    """
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as error:
        raise DocumentError("unreadable", f"{damaged} ({str(error)[:100]})") from None
    if root.getroottree().docinfo.doctype:
        raise DocumentError("unreadable", declares)
    return root


def plain_line(text: str, source: Source = "text", visible: bool = True) -> Line | None:
    """Return a line without places; None for white space."""
    words = tuple(Word(word, visible=visible) for word in text.split())
    return Line(words, source=source) if words else None


CHECKED, UNCHECKED = "☒", "☐"
"""The states of check boxes, as text."""

# Raised and lowered marks: a number never takes the digits of a footnote or of its cents.

_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
_UNIT = re.compile(r"(?<![^\W\d_])(?:[a-zµ]{1,3}|[^\W\d_][a-z]?)\Z")
"""What may be a unit, or a variable, whose power is raised."""
_TEN = re.compile(r"[×xX·⋅*]\s?10\Z")
_OPEN_DECIMALS = re.compile(r"\d[.,]\Z")
_ORDINAL = re.compile(r"(?<![\d.,])\d{1,2}\Z")
_NOTES = frozenset("*†‡§#¶+")


class MarkedText:
    """Text that is gathered piece by piece, some of them above (rise 1) or below (rise -1) its line.

    A mark is glued where it surely belongs to what it follows: powers of units and of ten, ordinals,
    formulas, decimals with their point. Elsewhere it is a word of its own. Raised digits are written as
    such, but for those of units. `before` is what stands in front of the first piece.

    >>> def joined(*pieces: tuple[str, int]) -> str:
    ...     text = MarkedText()
    ...     for piece in pieces:
    ...         text.add(*piece)
    ...     return text.text
    >>> joined(("Net 318", 0), ("2", 1), (" of $12", 0), ("99", 1)), joined(("5 m", 0), ("3", 1), ("/h", 0))
    ('Net 318 ² of $12 ⁹⁹', '5 m3/h')
    >>> joined(("May 1", 0), ("st", 1)), joined(("2×10", 0), ("-6", 1)), joined(("H", 0), ("2", -1), ("O", 0))
    ('May 1st', '2×10⁻⁶', 'H2O')
    """

    def __init__(self, before: str = "") -> None:
        self.pieces: list[str] = []
        self._last = before
        self._rise = 0
        self._is_apart = False

    def add(self, piece: str, rise: int = 0) -> bool:
        """Append a piece; return whether a blank was set before it."""
        if not piece:
            return False
        is_border = rise != self._rise and not piece[0].isspace() and self._last[-1:].strip() != ""
        is_apart = is_border and (self._stands_apart(piece, rise) if rise else self._goes_on_apart(piece))
        if is_border or piece.strip():
            self._is_apart = is_apart
        is_glued = is_border and not is_apart and piece[0].isdigit()
        is_plain = rise <= 0 or piece[0] in ".," or (is_glued and not self._last[-1].isdigit())
        shown = " " * is_apart + (piece if is_plain else piece.translate(_RAISED))
        self.pieces.append(shown)
        self._last = (self._last + shown)[-40:]
        self._rise = rise
        return is_apart

    @property
    def text(self) -> str:
        """Return what was gathered."""
        return "".join(self.pieces)

    def _stands_apart(self, mark: str, rise: int) -> bool:
        word, first = self._last.split()[-1], mark[0]
        if _OPEN_DECIMALS.search(self._last) and first.isdigit():
            return False
        if rise < 0 or first in ".,":
            return rise < 0 and word[-1].isdigit() and first.isdigit()
        if first.isdigit() or first in "(+-−":
            is_power = _TEN.search(self._last) or (first in "+-−" and mark[1:].isdigit())
            return not (is_power or _UNIT.search(self._last))
        has_digit = any(map(str.isdigit, word))
        return has_digit and (first in _NOTES or (first.isalpha() and not _ORDINAL.search(self._last)))

    def _goes_on_apart(self, piece: str) -> bool:
        """Return whether text behind a mark is a word of its own."""
        are_digits = self._last[-1].isdigit() and piece[0].isdigit()
        return are_digits or (self._is_apart and piece[0].isalnum())


# Documents as transcripts, one by one or many at once.

# Loads one document: its kind, its loader, its transcript.

LOADER_VERSION = 8
"""Raised whenever any loader reads a document in another way than before."""

_LOADERS = {
    "pdf": "pdf:load_pdf",
    "image": "image:load_image",
    "xlsx": "xlsx:load_xlsx",
    "docx": "docx:load_docx",
    "eml": "html:load_eml",
    "html": "html:load_html",
    "text": "plain:load_text",
    "markdown": "plain:load_markdown",
    "csv": "plain:load_csv",
    "words": "plain:load_words",
    "other": "readers:load_with_reader",
}
_DECODED = frozenset(("eml", "html", "text", "markdown", "csv"))
_OCR = ("rapidocr", "onnxruntime")
_PROGRAMS = {
    "pdf": ("pypdfium2", *_OCR), "image": ("pillow", *_OCR), "docx": ("lxml", *_OCR), "xlsx": ("lxml", *_OCR),
    "html": ("lxml",), "eml": ("pypdfium2", "pillow", "lxml", *_OCR),
}  # fmt: skip


def load(path: Path, options: LoadOptions = DEFAULTS, name: str | None = None) -> Transcript:
    """Return the transcript of a file, whose id is `name`, by default the name of the file.

    Raises `DocumentError` where it cannot be read. Nothing that the document names is fetched, opened or run.
    """
    return replace(
        load_bytes(DocumentFile(path.name, path).read(options), path.name, options), id=name or path.name
    )


def load_bytes(
    data: bytes, name: str, options: LoadOptions = DEFAULTS, beat: Callable[[], None] = lambda: None
) -> Transcript:
    """Return the transcript of the bytes of a file, whose name, and id, is `name`.

    `beat` is called after every recognized page, which takes seconds. Raises `DocumentError`.
    """
    kind = _kind_for(name, data, options)
    content = _load_part(data, name, kind, _Loading(options, beat))
    return Transcript(
        name,
        hashlib.sha256(data).hexdigest(),
        kind,
        content.pages,
        describe_loader(kind, options),
        tuple(sorted(set(content.notes))),
    )


def _kind_for(name: str, data: bytes, options: LoadOptions) -> str:
    """Return the kind of a document; `other` where another reader takes all."""
    return "other" if options.reader else find_kind(name, data)


def describe_loader(kind: str, options: LoadOptions) -> Mapping[str, Json]:
    """Return what decides the transcript of a document besides its bytes: versions and options."""
    programs: dict[str, Json] = {name: version_of(name) for name in _PROGRAMS.get(kind, ())}
    chosen: dict[str, Json] = asdict(options)
    if options.reader:
        readers = import_module("fieldassay.documents.loaders.readers")
        programs[options.reader] = readers.describe_reader(options.reader)
    else:
        del chosen["reader"]  # so that transcripts without one stay what they were
    return {"name": kind, "version": LOADER_VERSION, "programs": programs, "options": chosen}


@lru_cache(maxsize=64)
def version_of(package: str) -> str | None:
    """Return the version of an installed package, None for one that is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


_MOST_PARTS = 1000
"""Attachments of a document, and of its attachments, that are read."""


class _Loading(Struct, frozen=True):
    """What a document and its attachments have in common, and how deep the attachment is."""

    options: LoadOptions
    beat: Callable[[], None]
    depth: int = 0
    parts: Iterator[int] = field(default_factory=count)
    """Counts the attachments of all levels."""


def _load_part(data: bytes, name: str, kind: str, loading: _Loading) -> Content:
    options = loading.options

    def load_attachment(inner: bytes, inner_name: str) -> Content:
        if loading.depth >= options.max_depth:
            raise DocumentError("too_large", f"has attachments nested deeper than {options.max_depth} levels")
        if next(loading.parts) >= _MOST_PARTS:
            raise DocumentError("too_large", f"comes behind {_MOST_PARTS:,} others")
        deeper = replace(loading, depth=loading.depth + 1)
        content = _load_part(inner, inner_name, find_kind(inner_name, inner), deeper)
        names = (f"{inner_name}: {page.name}" if page.name else inner_name for page in content.pages)
        pages = (replace(page, name=name) for page, name in zip(content.pages, names, strict=True))
        return Content(tuple(pages), content.notes)

    module, _, function = _LOADERS[kind].partition(":")
    loader: Callable[[bytes, LoadTask], Content] = getattr(
        import_module(f"fieldassay.documents.loaders.{module}"), function
    )
    try:
        content = loader(data, LoadTask(name, options, load_attachment, loading.beat))
    except (MemoryError, RecursionError) as error:
        raise DocumentError(
            "too_large", f"needs more memory than there is ({type(error).__name__})"
        ) from None
    pages = tuple(replace(page, number=at) for at, page in enumerate(content.pages, start=1))
    if len(pages) > options.max_pages:
        raise DocumentError("too_large", f"has more than {options.max_pages:,} pages")
    if not any(page.lines or page.tables for page in pages):
        raise DocumentError("no_text", "holds no text")
    if kind in _DECODED and any(map(_has_undecodable, pages)):
        return Content(pages, (*content.notes, "undecodable"))
    return Content(pages, content.notes)


def _has_undecodable(page: Page) -> bool:
    words = [word.text for line in page.lines for word in line.words]
    return "\ufffd" in "".join(words + [cell.text for table in page.tables for cell in table.cells])


# Loads documents in processes of their own, each with a limit of memory and of time: one fails alone.

Outcome = TypeVar("Outcome")

_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Workers share the processors, and threads take of the address space that a document may have."""
_NO_MEMORY = "needs more memory than a document may have"
_MOST_OF = 0.75
"""The part of its address space that a worker has in memory when a library aborts for want of more."""


class Limits(Struct, frozen=True):
    """The limits of a document: bytes of address space (0: none), and seconds, per page if recognized."""

    memory: int = 2 << 30
    seconds: float = 120.0


DEFAULT_LIMITS = Limits()


class DocumentPool:
    """Worker processes for whatever reads documents; with no workers, everything runs in this process.

    A worker that dies, or exceeds its time, is replaced; what it worked on fails with a `DocumentError` of
    kind `loader_crash` or `loader_timeout`. Calls come from any thread.
    """

    def __init__(self, workers: int = 1, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._threads = ThreadPoolExecutor(max(workers, 1), thread_name_prefix="documents")
        self._ahead = 2 * max(workers, 1)
        self._is_local = workers == 0
        self._workers = Workers(limits.memory, _ONE_THREAD)

    def __enter__(self) -> "DocumentPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Wait for what was submitted; after an error, or an interrupt, end the workers at once."""
        self._threads.shutdown(wait=kind is None, cancel_futures=True)
        self._workers.kill()
        if kind is None:
            self._workers.stop()

    def submit(self, function: Callable[..., Outcome], *arguments: Any) -> Future[Outcome]:
        """Return the future outcome of a module's function in a worker; it fails with `DocumentError`."""
        return self._threads.submit(self._run, function, arguments)

    def load_all(
        self,
        files: Iterable[DocumentFile],
        options: LoadOptions = DEFAULTS,
        store: TranscriptStore | None = None,
    ) -> Iterator[tuple[DocumentFile, Transcript | DocumentError]]:
        """Yield each document with its transcript, or why there is none, as they are ready.

        Documents are taken from `files` as they are needed, never more than a few ahead of what was yielded.
        """
        waiting: dict[Future[bytes], DocumentFile] = {}
        rest = iter(files)
        while True:
            for file in islice(rest, self._ahead - len(waiting)):
                waiting[self.submit(load_file, file, options, store)] = file
            if not waiting:
                return
            finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in [future for future in waiting if future in finished]:
                yield waiting.pop(future), _transcript_of(future)

    def _run(self, function: Callable[..., Outcome], arguments: tuple[Any, ...]) -> Outcome:
        call = partial(function, *arguments)
        if self._is_local:
            return _guarded(call)
        seconds = self._limits.seconds
        try:
            with self._workers.worker(__name__, function.__module__) as worker:
                outcome: Outcome = worker.call(_guarded, call, seconds=seconds)
                return outcome
        except WorkerLateError:
            raise DocumentError("loader_timeout", f"took longer than {seconds:g} s") from None
        except WorkerEndedError as error:
            if error.memory > _MOST_OF * self._limits.memory > 0:
                raise DocumentError("too_large", _NO_MEMORY) from None
            raise DocumentError("loader_crash", f"crashed its loader ({error})") from None


def _transcript_of(future: Future[bytes]) -> Transcript | DocumentError:
    try:
        return decode_transcript(future.result())
    except DocumentError as error:
        return error.with_traceback(None)
    except ValueError as error:  # a place that is no number
        return DocumentError("loader_crash", f"made its loader fail ({str(error)[:200]})")


def load_file(file: DocumentFile, options: LoadOptions, store: TranscriptStore | None) -> bytes:
    """Return a document's transcript as JSON: the stored one of the same loader, else a new one."""
    begun = time.monotonic()
    data = file.read(options)
    if store is not None:
        kind = _kind_for(file.path.name, data, options)
        stored_transcript = store.find(
            hashlib.sha256(data).hexdigest(), describe_loader(kind, options), file.id
        )
        if stored_transcript is not None:
            return encode(stored_transcript)
    transcript = load_bytes(data, file.path.name, options, beat)
    transcript = replace(transcript, id=file.id, load_ms=round((time.monotonic() - begun) * 1000, 3))
    if store is not None:
        store.write(transcript)
    return encode(transcript)


def timed(function: Callable[..., Outcome], *arguments: Any) -> tuple[Outcome, float]:
    """Return the outcome of a function, and the milliseconds that it took where it ran."""
    begun = time.monotonic()
    return function(*arguments), round((time.monotonic() - begun) * 1000, 3)


def _guarded(call: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a call; whatever else than `DocumentError` it raises becomes one."""
    try:
        return call()
    except DocumentError:
        raise
    except MemoryError:
        raise DocumentError("too_large", _NO_MEMORY) from None
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())[:200]
        raise DocumentError(
            "loader_crash", f"made its loader fail ({type(error).__name__}: {message})"
        ) from None
