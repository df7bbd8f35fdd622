"""What a loader gets and gives: options and a way to load attachments; pages and notes."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from msgspec import Struct

from fieldassay.documents.options import LoadOptions
from fieldassay.documents.transcript import DocumentError, Line, Page, Source, Word
from fieldassay.io.text.encoding import decode_lines, detect_encoding


class Content(Struct, frozen=True):
    """The pages that a loader made, and its notes by kind."""

    pages: tuple[Page, ...]
    notes: tuple[str, ...] = ()


class Task(Struct, frozen=True):
    """What a loader may look at besides the bytes of the document."""

    name: str
    options: LoadOptions
    load_part: Callable[[bytes, str], Content]
    """Loads an attachment, given its bytes and its name; raises `DocumentError` as any loader."""
    beat: Callable[[], None] = lambda: None
    """Called after every recognized page: the limit of time counts from there."""


_PACKAGES = {"PIL": "pillow"}


def require(module: str, extra: str) -> None:
    """Raise `DocumentError` of kind `missing_extra` if a module is not installed, with the command for it."""
    if find_spec(module) is None:
        package = _PACKAGES.get(module, module)
        command = f"pip install 'fieldassay[{extra}]'"
        raise DocumentError("missing_extra", f"needs the package {package}; install it with: {command}")


def decode(data: bytes) -> str:
    """Return the text of bytes in whichever encoding, with plain line ends. Raises `DocumentError`."""
    encoding = detect_encoding(data)
    if encoding is None:
        raise DocumentError("unreadable", "its encoding cannot be told; save it as UTF-8")
    read = decode_lines(data) if encoding == "utf-8" else data.decode(encoding, "replace")
    text = read.removeprefix("\ufeff").replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def plain_line(text: str, source: Source = "text", visible: bool = True) -> Line | None:
    """Return a line without places; None for white space."""
    words = tuple(Word(word, visible=visible) for word in text.split())
    return Line(words, source=source) if words else None
