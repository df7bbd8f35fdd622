"""What the handlers of a server share: the review, its fields, its documents, the clock."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field

from fieldassay.documents.load import DocumentPool, Limits
from fieldassay.documents.pages import PictureOptions, render_page
from fieldassay.documents.sources import DocumentFile, list_documents
from fieldassay.documents.transcript import DocumentError
from fieldassay.review.log.journal import ReviewJournal
from fieldassay.review.log.store import Store, connect
from fieldassay.review.sheets.forms import ReviewForm
from fieldassay.review.sheets.sheets import Person, RefusedError
from fieldassay.review.web.page_words import read_pages

Outcome = TypeVar("Outcome")

LIMITS = Limits(memory=1 << 30, seconds=20.0)
_MOST_HELD = 64
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
        self._held: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        self._running: dict[Hashable, Future[Any]] = {}
        self._failed: dict[Hashable, str] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> list[dict[str, Any]]:
        """Return the pages of a file, with their words. Raises `RefusedError` where none can be shown."""
        with self._lock:
            if name in self._held:
                self._held.move_to_end(name)
                return self._held[name]
        found: list[dict[str, Any]] = json.loads(
            self._run(read_pages, self._file(name), self._digests.get(name))
        )
        with self._lock:
            self._held[name] = found
            while len(self._held) > _MOST_HELD:
                self._held.popitem(last=False)
        return found

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
            told = f"this document {error}"
            with self._lock:
                if error.kind in _EXPENSIVE:
                    self._failed[key] = told
            raise RefusedError("unknown", told) from None
        finally:
            with self._lock:
                self._running.pop(key, None)


def _stamp(file: DocumentFile) -> tuple[int, int]:
    """Return by what a changed file is known without being read; zeros where it is not there."""
    try:
        found = file.path.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


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
