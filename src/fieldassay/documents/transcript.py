"""Transcripts: the pages, lines and words of a document, and where they are kept."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import FieldassayError
from fieldassay.io.files.whole_files import open_file, write_file

# A transcript: the text of a document as a loader read it, page by page, each piece with its place.

Source = Literal["text", "ocr", "cell", "markup"]
"""How a piece was read: a text layer, recognized characters, a cell of a sheet, markup."""


class Box(Struct, frozen=True, gc=False):
    """A rectangle on a page, in points from the top left corner (1 point = 1/72 inch)."""

    left: float
    top: float
    right: float
    bottom: float


class Word(Struct, frozen=True, gc=False):
    """A run of characters without white space; `visible` is False where no ink is on the page."""

    text: str
    box: Box | None = None
    visible: bool = True
    confidence: float | None = None
    """Of recognized characters, in [0, 1]; None for text that was not recognized."""


class Line(Struct, frozen=True, gc=False):
    """A line of a page in reading order. Its text is its words joined by single blanks, or given as is."""

    words: tuple[Word, ...]
    box: Box | None = None
    source: Source = "text"

    @property
    def text(self) -> str:
        """The text of the line.

        >>> Line((Word("Total"), Word("12.00"))).text
        'Total 12.00'
        """
        return " ".join(word.text for word in self.words)


class Cell(Struct, frozen=True, gc=False):
    """A cell of a table: its first row and column (from 0), how many it spans, its text and place."""

    row: int
    column: int
    text: str
    rows: int = 1
    columns: int = 1
    box: Box | None = None
    visible: bool = True
    note: str = ""
    """What a text alone cannot say: the number format, a formula, a comment."""


class Table(Struct, frozen=True, gc=False):
    """A table of a page; `after` is the index of the page's line that it follows (-1: before the first).

    The words of a table are not repeated in the lines of its page.
    """

    cells: tuple[Cell, ...]
    after: int = -1
    name: str = ""


class Page(Struct, frozen=True):
    """A page, a sheet or a part of a document, numbered from 1; sizes in points, 0 where there are none."""

    number: int
    lines: tuple[Line, ...] = ()
    tables: tuple[Table, ...] = ()
    width: float = 0.0
    height: float = 0.0
    name: str = ""
    """The name of a sheet, of an attachment or of a part of a message."""


class Transcript(Struct, frozen=True):
    """The text of one document, with its places, and what the loader noticed."""

    id: str
    sha256: str
    """The digest of the document's bytes."""
    kind: str
    """The file type: `pdf`, `image`, `docx`, `xlsx`, `csv`, `eml`, `msg`, `html`, `text`, `markdown`,
    `words`."""
    pages: tuple[Page, ...]
    loader: Mapping[str, Any] = {}
    """The name, version and options of the loader and of the programs it used."""
    notes: tuple[str, ...] = ()
    """Remarks by kind: `hidden_text`, `tracked_changes`, `hidden_rows`, `ocr` and others."""
    load_ms: float = 0.0
    """The time that loading took, in milliseconds, when the document was loaded."""

    def lines(self) -> Iterator[tuple[Page, Line]]:
        """Yield the lines of all pages in reading order, each with its page."""
        return ((page, line) for page in self.pages for line in page.lines)


class DocumentError(FieldassayError):
    """A document that cannot be read: it fails alone, with its kind of failure and its page."""

    def __init__(self, kind: str, message: str, page: int | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        """`unreadable`, `encrypted`, `no_text`, `too_large`, `loader_timeout`, `loader_crash`,
        `missing_extra`."""
        self.page = page

    def __reduce__(self) -> "tuple[type[DocumentError], tuple[str, str, int | None]]":
        return (type(self), (self.kind, str(self), self.page))


# Transcripts on disk: one compressed JSON document per file, found by the file's digest and loader.

MOST_BYTES = 1 << 30
"""The largest transcript that is read."""


def encode(transcript: Transcript) -> bytes:
    """Return a transcript as JSON."""
    import msgspec

    return msgspec.json.encode(transcript)


def decode(data: bytes) -> Transcript:
    """Return the transcript of a JSON text, its types checked. Raises ValueError."""
    import msgspec

    return msgspec.json.decode(data, type=Transcript)


class TranscriptStore(Struct, frozen=True):
    """A folder of transcripts: `<digest of the document>.json.zst`."""

    folder: Path

    def path(self, sha256: str) -> Path:
        """Return the file of the transcript of a document."""
        return self.folder / f"{sha256}.json.zst"

    def read(self, sha256: str) -> Transcript:
        """Return a document's transcript. Raises OSError if there is none, ValueError if it is damaged."""
        import zstandard

        with open_file(self.path(sha256)) as stream:
            data = stream.read(MOST_BYTES)
        try:
            return decode(zstandard.ZstdDecompressor().decompress(data, max_output_size=MOST_BYTES))
        except zstandard.ZstdError as error:
            raise ValueError(f"is not compressed by zstd ({error})") from None

    def find(self, sha256: str, loader: Mapping[str, Any], name: str) -> Transcript | None:
        """Return the transcript of a document under a name if this very loader made it, else None.

        A damaged file counts as none: the document is then loaded again.
        """
        try:
            held = self.read(sha256)
        except (OSError, ValueError):
            return None
        return replace(held, id=name) if held.sha256 == sha256 and held.loader == loader else None

    def write(self, transcript: Transcript) -> None:
        """Write a transcript over that of another loader. Raises OSError; the file is then unchanged."""
        import zstandard

        self.folder.mkdir(parents=True, exist_ok=True)
        write_file(self.path(transcript.sha256), [zstandard.ZstdCompressor().compress(encode(transcript))])
