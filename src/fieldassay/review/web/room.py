"""The room of a review on the web, and the pages of its documents."""

import hashlib
import json
import sqlite3
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.loaders.pdf import open_page, open_pdf
from fieldassay.documents.pages import PictureOptions, render_page
from fieldassay.documents.sources import (
    DEFAULTS,
    DocumentFile,
    DocumentPool,
    Limits,
    find_kind,
    list_documents,
    load_bytes,
)
from fieldassay.documents.transcript import DocumentError, Line, Page, Transcript, page_text
from fieldassay.review.log import ReviewJournal, Store, connect
from fieldassay.review.sheets.sheets import Person, RefusedError, ReviewForm

# The pages of a document for a person who labels it: sizes, and words with their places.

MOST_PAGES = 2000
_DRAWN = ("text", "words")
"""Kinds of documents without a picture of their own: a browser writes their words at their places."""
_OPTIONS = replace(DEFAULTS, ocr="off", max_pages=MOST_PAGES, max_pixels=40_000_000)


def read_pages(file: DocumentFile, sha256: str | None = None) -> str:
    """Return the pages of a document as JSON; run it in a `DocumentPool`.

    Each has `number`, `width` and `height` in points, `words` (text, left, top, right, bottom as shares of
    the page) and, where the page has no picture, its `text`. Scans have pages without words. Pages of plain
    text are drawn from their words (`is_drawn`). Raises `DocumentError`, also for a file of another `sha256`.
    """
    data = file.read(_OPTIONS)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise DocumentError("unreadable", "is not the file that the review was made with")
    try:
        transcript = load_bytes(data, file.path.name, _OPTIONS)
    except DocumentError as error:
        if error.kind != "no_text":
            raise
        transcript = Transcript(file.id, "", "", _empty_pages(file, data))
    return json.dumps([_page(page, transcript.kind) for page in transcript.pages])


def _page(page: Page, kind: str) -> dict[str, Any]:
    has_picture = page.width > 0 and page.height > 0
    if kind == "text" and has_picture:
        page = replace(page, lines=tuple(_turned(line, page.width) for line in page.lines))
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "words": list(_words(page)) if has_picture else [],
        "text": None if has_picture else page_text(page).text,
        "is_drawn": kind in _DRAWN and has_picture,
        "has_widths": kind == "words" and has_picture,
    }


def _turned(line: Line, width: float) -> Line:
    """Return a line of plain text with its words where a reader sees them.

    The columns of plain text are in the order of writing. A line that begins from right to left begins at the
    right edge; words from left to right that follow each other in it keep their order.
    """
    if any(word.box is None for word in line.words):
        return line
    words = sorted(line.words, key=lambda word: 0.0 if word.box is None else word.box.left)  # as written
    directions = [_direction(word.text) for word in words]
    if next((direction for direction in directions if direction), "L") != "R":
        return replace(line, words=tuple(words))
    for run in _runs(directions):
        boxes = [box for at in run if (box := words[at].box) is not None]
        by = width - max(box.right for box in boxes) - min(box.left for box in boxes)
        for at, box in zip(run, boxes, strict=True):
            words[at] = replace(words[at], box=replace(box, left=box.left + by, right=box.right + by))
    return replace(line, words=tuple(words))


def _runs(directions: Sequence[str]) -> list[list[int]]:
    """Return the places of words that move together: those from left to right, with digits between them.

    >>> _runs(["R", "L", "", "L", "", "R"])
    [[0], [1, 2, 3], [4], [5]]
    """
    runs: list[list[int]] = []
    for at, direction in enumerate(directions):
        following = next((other for other in directions[at:] if other), "R")
        is_left = bool(runs) and directions[runs[-1][0]] == "L"
        if is_left and (direction or following) == "L":
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _direction(text: str) -> str:
    """Return the direction of a word by its first letter: L, R, or nothing for digits and signs."""
    kinds = (unicodedata.bidirectional(char) for char in text)
    return next(("L" if kind == "L" else "R" for kind in kinds if kind in ("L", "R", "AL")), "")


def _words(page: Page) -> Iterator[tuple[str, float, float, float, float]]:
    pieces = [(word.text, word.box, word.visible) for line in page.lines for word in line.words]
    pieces += [(cell.text, cell.box, cell.visible) for table in page.tables for cell in table.cells]
    for text, box, visible in pieces:
        if box is not None and visible and text.strip():
            left, right = (_share(side, page.width) for side in (box.left, box.right))
            top, bottom = (_share(side, page.height) for side in (box.top, box.bottom))
            yield " ".join(text.split()), left, top, right, bottom


def _share(side: float, whole: float) -> float:
    return round(min(max(side / whole, 0.0), 1.0), 5)


def _empty_pages(file: DocumentFile, data: bytes) -> tuple[Page, ...]:
    """Return the pages of a PDF or image without a text layer."""
    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        pages = []
        with open_pdf(data) as document:
            for number in range(1, min(len(document), MOST_PAGES) + 1):
                with open_page(document, number) as page:
                    width, height = page.get_size()
                pages.append(Page(number, width=width, height=height))
        return tuple(pages)
    if kind == "image":
        pictures = enumerate(open_pictures(data, _OPTIONS), 1)
        return tuple(Page(number, width=size[0], height=size[1]) for number, (_, size) in pictures)
    raise DocumentError("no_text", "holds no text")


# What the handlers of a server share: the review, its fields, its documents, the clock.

Outcome = TypeVar("Outcome")

LIMITS = Limits(memory=1 << 30, seconds=20.0)
_MOST_CACHED = 64
_EXPENSIVE = frozenset({"too_large", "loader_timeout", "loader_crash"})
"""Failures that took time, and come again as long as the file is the same."""
_COLORS = 16
"""A palette of so many colors is enough for printed text, at a fifth of the size."""


class Pages:
    """The documents of a review, read and drawn in child processes that have no secrets.

    `digests` are the SHA-256 of the files by name, as the review was made: another file in the place of one
    is refused. What takes long is done once for all who wait for it, and what fails expensively fails at
    once from then on, until the file changes.
    """

    def __init__(
        self, folder: Path | None, pool: DocumentPool, digests: Mapping[str, str | None] | None = None
    ) -> None:
        self._pool = pool
        self._digests = digests or {}
        self._files: Mapping[str, DocumentFile] = {}
        if folder is not None:
            root = folder.resolve()
            self._files = {
                file.id: file
                for file in list_documents(folder).files
                if file.path.resolve().is_relative_to(root)
            }
        self._cache: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        self._running: dict[Hashable, Future[Any]] = {}
        self._failed: dict[Hashable, str] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> list[dict[str, Any]]:
        """Return the pages of a file, with their words. Raises `RefusedError` where none can be shown."""
        with self._lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        pages: list[dict[str, Any]] = json.loads(
            self._run(read_pages, self._file(name), self._digests.get(name))
        )
        with self._lock:
            self._cache[name] = pages
            while len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
        return pages

    def draw(self, name: str, number: int) -> bytes:
        """Return a page as PNG."""
        return self._run(render_page, self._file(name), number, PictureOptions(colors=_COLORS))

    def _file(self, name: str) -> DocumentFile:
        if name not in self._files:
            raise RefusedError("unknown", "the file of this document is not there")
        return self._files[name]

    def _run(self, function: Callable[..., Outcome], file: DocumentFile, *arguments: Any) -> Outcome:
        key = (function, file, _stamp(file), *arguments)
        with self._lock:
            if key in self._failed:
                raise RefusedError("unknown", self._failed[key])
            if key not in self._running:
                self._running[key] = self._pool.submit(function, file, *arguments)
            future: Future[Outcome] = self._running[key]
        try:
            return future.result()
        except DocumentError as error:
            message = f"this document {error}"
            with self._lock:
                if error.kind in _EXPENSIVE:
                    self._failed[key] = message
            raise RefusedError("unknown", message) from None
        finally:
            with self._lock:
                self._running.pop(key, None)


def _stamp(file: DocumentFile) -> tuple[int, int]:
    """Return by what a changed file is known without being read; zeros where it is not there."""
    try:
        file_stat = file.path.stat()
    except OSError:
        return 0, 0
    return file_stat.st_mtime_ns, file_stat.st_size


class ReviewRoom(Struct, dict=True):
    """Everything that a request may need."""

    store: Store
    form: ReviewForm
    pages: Pages
    writer: sqlite3.Connection
    cookie: str
    is_secure: bool = False
    clock: Callable[[], float] = time.time
    tickets: dict[str, float] = field(default_factory=dict)
    """The tokens of one-time links that were not used, and when each ends."""
    failures: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Failed sign-ins by account and by address: how many, and when the last one was."""
    trying: threading.Lock = field(default_factory=threading.Lock)
    """Held while failures are looked at and counted."""
    writing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a request writes."""
    hashing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a password is hashed."""
    _local: threading.local = field(default_factory=threading.local)

    @property
    def db(self) -> sqlite3.Connection:
        """Return this thread's connection for reading."""
        if not hasattr(self._local, "db"):
            self._local.db = connect(self.store.file, is_reading=True)
        db: sqlite3.Connection = self._local.db
        return db

    def write(self, work: Callable[[ReviewJournal], Outcome]) -> Outcome:
        """Return the outcome of a transaction, once it is on the disk. Requests write one after the other."""
        with self.writing:
            return self.store.write(work, self.writer)

    def now(self) -> datetime:
        """Return the time."""
        return datetime.fromtimestamp(self.clock(), UTC)


class WebCall(Struct, frozen=True):
    """One request, after the guard and the session: who asks, the places in its path, its query and body."""

    room: ReviewRoom
    person: Person
    params: Mapping[str, Any]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    token: str = ""
    address: str = ""
    came_from: str = ""
    """What the browser says of the site that the request comes from."""

    def text(self, name: str, most: int = 20_000) -> str:
        """Return a text of the body. Raises `RefusedError` for another type."""
        value = self.body.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise RefusedError("invalid", f"{name} must be a text")
        return value

    def number(self, name: str, default: int = 0) -> int:
        """Return a whole number of the body, not below zero. Raises `RefusedError` for anything else."""
        value = self.body.get(name, default)
        if type(value) is not int or not 0 <= value <= 1 << 53:
            raise RefusedError("invalid", f"{name} must be a whole number, not below 0")
        return value
