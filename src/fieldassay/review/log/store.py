"""A review on disk: a folder with a database, made whole or not at all, written in single transactions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.files.locks import lock_file
from fieldassay.review.log.journal import Entry, Journal, now
from fieldassay.review.log.schema import FILE, check_place, connect, create_tables, damaged, unwritable

Outcome = TypeVar("Outcome")

_LOCK = "server.lock"


class Store(Struct, frozen=True):
    """The folder of a review."""

    folder: Path
    clock: Callable[[], str] = now

    @property
    def file(self) -> Path:
        """Return the file of the database."""
        return self.folder / FILE

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for reading. Raises `ProblemsError` for a folder that is no review."""
        with closing(connect(self.file, is_reading=True)) as db:
            try:
                yield db
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                raise damaged(self.file, error) from None

    def write(self, work: Callable[[Journal], Outcome], writer: sqlite3.Connection | None = None) -> Outcome:
        """Return the outcome of one transaction; it is on the disk, or nothing changed.

        Others may write at the same time, a server too: SQLite lets one transaction write at a time.
        `writer` is a connection that stays open, by which many transactions take a tenth of the time.
        Raises `ProblemsError` where nothing can be written, such as on a full disk.
        """
        with nullcontext(writer) if writer is not None else closing(connect(self.file)) as db:
            try:
                return _transact(db, lambda: work(Journal(db, self.clock)))
            except sqlite3.OperationalError as error:
                raise unwritable(self.file, error) from None

    def append(self, entry: Entry) -> int:
        """Return the number of a new event."""
        return self.write(lambda journal: journal.append(entry))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep other servers from the review. Raises `ProblemsError` where one has it."""
        with (self.folder / _LOCK).open("ab") as stream:
            try:
                lock_file(stream.fileno(), self.folder / _LOCK)
            except BlockingIOError:
                remedy = "open its address in the browser, or stop that server"
                raise problem(
                    self.folder, "another server has this review", remedy, "review_served"
                ) from None
            yield


def _transact(db: sqlite3.Connection, work: Callable[[], Outcome]) -> Outcome:
    db.execute("BEGIN IMMEDIATE")
    try:
        outcome = work()
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return outcome


def create_store(
    folder: Path,
    entries: Iterable[Entry],
    clock: Callable[[], str] = now,
) -> Store:
    """Return a new review with its first events, in a folder that holds none yet.

    Raises `ProblemsError` if the folder holds a review, or cannot be written; then nothing is left behind.
    """
    folder.mkdir(_OWNER_FOLDER, parents=True, exist_ok=True)
    check_place(folder)
    target, staged = folder / FILE, folder / f".{FILE}.new"
    if target.exists():
        remedy = "name another folder; `fieldassay review status` says how far this one is"
        raise problem(folder, "holds a review already", remedy, "review_exists")
    staged.unlink(missing_ok=True)
    try:
        _fill(staged, entries, clock)
        staged.rename(target)
    except sqlite3.OperationalError as error:
        raise unwritable(target, error) from None
    finally:
        for name in (staged.name, f"{staged.name}-journal", f"{staged.name}-wal", f"{staged.name}-shm"):
            (folder / name).unlink(missing_ok=True)
    return Store(folder, clock)


_OWNER_FOLDER, _OWNER_FILE = 0o700, 0o600
"""The modes of a new review: sessions and values of documents are for its owner alone."""


def _fill(staged: Path, entries: Iterable[Entry], clock: Callable[[], str]) -> None:
    staged.touch(_OWNER_FILE)
    with closing(sqlite3.connect(staged, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        db.execute("PRAGMA synchronous=OFF")
        create_tables(db)
        db.execute("BEGIN IMMEDIATE")
        journal = Journal(db, clock)
        for entry in entries:
            journal.append(entry)
        db.execute("COMMIT")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def read_facts(db: sqlite3.Connection) -> dict[str, Any]:
    """Return the facts of a review by name: its spec, seed, shares, and whether it is closed."""
    return {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM fact")}
