"""The events of a review: a chain of hashes over what happened, and the tables that follow from it."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.review.log.projections import project

START = bytes(32)
"""The hash that precedes the first event."""


def now() -> str:
    """Return the time in UTC as an event holds it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Source(Struct, frozen=True):
    """The clock and the randomness of new events."""

    clock: Callable[[], str] = now
    salt: Callable[[int], bytes] = os.urandom


SYSTEM = Source()


class Entry(Struct, frozen=True):
    """Something that happened: its kind and body, who did it (an alias), and the sheet it is about."""

    kind: str
    body: Mapping[str, Any]
    actor: str
    sheet: int | None = None


class Head(Struct, frozen=True):
    """How many events there are, and the hash of the last one: who remembers it sees every later change.

    >>> Head.parse("2:" + "00" * 32)
    Head(count=2, hash='0000000000000000000000000000000000000000000000000000000000000000')
    """

    count: int
    hash: str

    def __str__(self) -> str:
        return f"{self.count}:{self.hash}"

    @classmethod
    def parse(cls, text: str) -> Head:
        """Return the head in a text `COUNT:HASH`. Raises `ProblemsError` for another text."""
        count, _, digest = text.strip().partition(":")
        is_count = count.isascii() and count.isdigit() and len(count) < 16
        if not is_count or len(digest) != 64 or set(digest.lower()) - set("0123456789abcdef"):
            remedy = "write COUNT:HASH, as `fieldassay review verify` prints it"
            raise problem("--head", f"{text[:80]!r} is no head", remedy, "invalid_option")
        return cls(int(count), digest.lower())


def canonical(data: Any) -> str:
    """Return plain data as JSON text, the same for equal data."""
    return json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def body_digest(salt: bytes, body: str) -> bytes:
    """Return the digest of a body; without the salt nobody can try bodies against it."""
    return hashlib.sha256(salt + body.encode("ascii")).digest()


def event_hash(prev: bytes, head: tuple[int, str, str, str, int | None], digest: bytes) -> bytes:
    """Return the hash of an event (seq, at, actor, kind, sheet) after the one with the hash `prev`."""
    return hashlib.sha256(prev + canonical([*head, digest.hex()]).encode("ascii")).digest()


class Journal:
    """The log of one open transaction: appends events, and brings the tables up to each.

    Make one inside `BEGIN IMMEDIATE`: it reads the head when it is made.
    """

    def __init__(self, db: sqlite3.Connection, source: Source = SYSTEM) -> None:
        self.db = db
        self._source = source
        self.count, self.last, self._at = _read_head(db)

    @property
    def head(self) -> Head:
        """Return the head as it is now."""
        return Head(self.count, self.last.hex())

    def append(self, entry: Entry) -> int:
        """Return the number of the new event. A clock that went back is an event of its own before it."""
        at = self._source.clock()
        if at < self._at:
            self._write(Entry("clock", {"before": self._at, "now": at}, "system"), at)
        return self._write(entry, at)

    def reread(self) -> None:
        """Read the head again, after a savepoint was rolled back."""
        self.count, self.last, self._at = _read_head(self.db)

    def _write(self, entry: Entry, at: str) -> int:
        seq, salt, body = self.count + 1, self._source.salt(16), canonical(entry.body)
        digest = body_digest(salt, body)
        made = event_hash(self.last, (seq, at, entry.actor, entry.kind, entry.sheet), digest)
        self.db.execute(
            "INSERT INTO event VALUES (?,?,?,?,?,?,?,?,?,?)",
            (seq, at, entry.actor, entry.kind, entry.sheet, salt, body, digest, self.last, made),
        )
        project(self.db, seq, entry.kind, entry.sheet, entry.body)
        self.count, self.last, self._at = seq, made, at
        return seq


def _read_head(db: sqlite3.Connection) -> tuple[int, bytes, str]:
    found = db.execute("SELECT seq, hash, at FROM event ORDER BY seq DESC LIMIT 1").fetchone()
    return found or (0, START, "")


def read_head(db: sqlite3.Connection) -> Head:
    """Return the head of a log."""
    count, last, _ = _read_head(db)
    return Head(count, last.hex())
