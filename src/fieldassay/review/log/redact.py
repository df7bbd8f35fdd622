"""Taking the personal data of a document out of a review, without breaking the chain of its events."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from fieldassay.errors import problem
from fieldassay.review.log.journal import Entry, Journal
from fieldassay.review.log.log_table import unknown_document
from fieldassay.review.log.schema import connect
from fieldassay.review.log.store import Store


def redact_document(store: Store, name: str, reason: str, actor: str = "command") -> int:
    """Return how many events lost their content: all that are about a document.

    The document, what was asked of it and every label on it are gone afterwards, from the file too. Raises
    `ProblemsError` for an unknown document and for an empty reason.
    """
    if not reason.strip():
        remedy = "say who asked for it, and why"
        raise problem("--reason", "is empty", remedy, "invalid_option")

    def redact(journal: Journal) -> int:
        db = journal.db
        found = db.execute("SELECT id FROM document WHERE name=?", (name,)).fetchone()
        if found is None:
            raise unknown_document(db, name)
        events = [
            row[0]
            for row in db.execute(
                "SELECT seq FROM event WHERE body IS NOT NULL AND (sheet IN (SELECT id FROM sheet WHERE "
                "document=?) OR (kind='document' AND json_extract(body, '$.id')=?)) ORDER BY seq",
                (found[0], found[0]),
            )
        ]
        db.executemany("UPDATE event SET body=NULL, salt=NULL WHERE seq=?", [(seq,) for seq in events])
        journal.append(Entry("redact", {"document": found[0], "events": events, "reason": reason}, actor))
        return len(events)

    count = store.write(redact)
    _forget_pages(store)
    return count


def _forget_pages(store: Store) -> None:
    """Empty the write-ahead log, which still holds the old pages. Raises `ProblemsError` where it cannot."""
    with closing(connect(store.file)) as db:
        try:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError as error:
            what = f"is redacted, but its files still hold the old content ({error})"
            remedy = "make room on its disk, stop its server, and run a command that writes, such as `people`"
            raise problem(store.file, what, remedy, "unwritable_review") from None
