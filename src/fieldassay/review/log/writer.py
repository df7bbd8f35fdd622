"""The one writer of a server: a thread that commits what many requests ask for in groups."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from types import TracebackType
from typing import Any, BinaryIO, TypeVar

from fieldassay.errors import problem
from fieldassay.io.files.locks import lock_file
from fieldassay.review.log.journal import Journal
from fieldassay.review.log.schema import connect, unwritable
from fieldassay.review.log.store import Store

Outcome = TypeVar("Outcome")

_MOST_AT_ONCE = 64
_LOCK = "server.lock"


class Writer:
    """Runs transactions one after another; a future is done when its transaction is on the disk.

    Each runs in a savepoint: one that raises is undone alone, and its future fails. Raises `ProblemsError`
    when another server has the review.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = _take_lock(store.folder)
        self._db = connect(store.file)
        self._queue: SimpleQueue[tuple[Future[Any], Callable[[Journal], Any]] | None] = SimpleQueue()
        self._thread = Thread(target=self._serve, name="review-writer", daemon=True)
        self._thread.start()

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def submit(self, work: Callable[[Journal], Outcome]) -> Future[Outcome]:
        """Return the future outcome of a transaction."""
        future: Future[Outcome] = Future()
        self._queue.put((future, work))
        return future

    def close(self) -> None:
        """Finish what was submitted, and give the review back."""
        self._queue.put(None)
        self._thread.join()
        self._db.close()
        self._lock.close()

    def _serve(self) -> None:
        while True:
            first = self._queue.get()
            group = [first]
            while group[-1] is not None and len(group) < _MOST_AT_ONCE:
                try:
                    group.append(self._queue.get_nowait())
                except Empty:
                    break
            works = [one for one in group if one is not None]
            if works:
                self._commit(works)
            if group[-1] is None:
                return

    def _commit(self, works: list[tuple[Future[Any], Callable[[Journal], Any]]]) -> None:
        """Run a group in one transaction; nothing is acknowledged before it is on the disk."""
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._db.execute("BEGIN IMMEDIATE")
            journal = Journal(self._db, self._store.source)
            for future, work in works:
                outcomes.append((future, *self._run(journal, work)))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            for future, _ in works:
                future.set_exception(unwritable(self._store.file, error))
            return
        for future, outcome, failure in outcomes:
            if failure is not None:
                future.set_exception(failure)
            else:
                future.set_result(outcome)

    def _run(self, journal: Journal, work: Callable[[Journal], Any]) -> tuple[Any, BaseException | None]:
        self._db.execute("SAVEPOINT one")
        try:
            outcome = work(journal)
        except sqlite3.OperationalError:
            raise  # a full disk: nothing of the group may be acknowledged
        except Exception as error:
            self._db.execute("ROLLBACK TO one")
            self._db.execute("RELEASE one")
            journal.reread()
            return None, error
        self._db.execute("RELEASE one")
        return outcome, None


def _take_lock(folder: Path) -> BinaryIO:
    """Return the lock of a review's server, held until it is closed."""
    stream = (folder / _LOCK).open("ab")
    try:
        lock_file(stream.fileno(), folder / _LOCK)
    except BlockingIOError:
        stream.close()
        remedy = "open its address in the browser, or stop that server"
        raise problem(folder, "another server has this review", remedy, "review_served") from None
    return stream
