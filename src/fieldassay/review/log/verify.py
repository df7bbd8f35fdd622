"""Whether a review is as it was written: the chain of its events, its tables, and heads seen before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import zip_longest
from typing import Any

from msgspec import Struct

from fieldassay.errors import ProblemsError
from fieldassay.review.log.journal import START, Head, body_digest, event_hash
from fieldassay.review.log.projections import project
from fieldassay.review.log.schema import COMPARED, create_projections
from fieldassay.review.log.store import Store

_MOST_TOLD = 20


class Verification(Struct, frozen=True):
    """The number of events read, the head, and every fault found."""

    events: int
    head: Head
    faults: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Return whether nothing was found."""
        return not self.faults

    def to_dict(self) -> dict[str, Any]:
        """Return the verification as plain data."""
        counts = {"events": self.events, "head": str(self.head)}
        return {"whole": self.is_whole, **counts, "faults": list(self.faults)}


def verify(store: Store, heads: Sequence[Head] = ()) -> Verification:
    """Return whether the events are the ones that were written, and the tables are those of the events.

    Without a remembered head, a log that was cut off, or written anew from some event on, looks whole: give
    the heads that were printed, committed or seen. Raises `ProblemsError` for a folder that is no review.
    """
    try:
        with store.reading() as db, closing(sqlite3.connect(":memory:", isolation_level=None)) as replayed:
            db.execute("BEGIN")  # one state, while others write
            create_projections(replayed)
            replayed.execute("BEGIN")
            check = _Check(replayed, {head.count: head.hash for head in heads})
            faults = [f"the file is damaged: {told}" for told in _integrity(db)]
            faults += check.events(db)
            faults += check.unknown_heads(heads)
            if not faults:
                faults += _compare(db, replayed)
            return Verification(check.count, Head(check.count, check.last.hex()), tuple(faults[:_MOST_TOLD]))
    except ProblemsError as error:
        if any(problem.kind == "not_a_review" for problem in error.problems):
            raise
        faults = [problem.what for problem in error.problems]
        return Verification(0, Head(0, START.hex()), tuple(faults))


def _integrity(db: sqlite3.Connection) -> Iterator[str]:
    for (told,) in db.execute("PRAGMA integrity_check(3)"):
        if told != "ok":
            yield str(told)[:200]


class _Check:
    """One pass over the events: recomputes the chain, and replays them into empty tables."""

    def __init__(self, replayed: sqlite3.Connection, heads: dict[int, str]) -> None:
        self.replayed = replayed
        self.heads = heads
        self.count, self.last = 0, START

    def events(self, db: sqlite3.Connection) -> Iterator[str]:
        """Yield what is wrong with the events; the pass ends at the first break of the chain."""
        for row in db.execute("SELECT * FROM event ORDER BY seq"):
            fault = self._event(row)
            if fault is not None:
                yield fault
                return

    def unknown_heads(self, heads: Iterable[Head]) -> Iterator[str]:
        """Yield the remembered heads that the log no longer holds."""
        for head in heads:
            if head.count > self.count:
                yield f"the log ends at event {self.count:,}, and a head of {head.count:,} events was seen"
            elif self.heads.get(head.count) is not None:
                yield f"event {head.count:,} is not the one that was seen: the log was written anew"

    def _event(self, row: tuple[Any, ...]) -> str | None:
        seq, at, actor, kind, sheet, salt, body, digest, prev, made = row
        if seq != self.count + 1:
            return f"event {self.count + 1:,} is missing"
        is_chained = prev == self.last and made == event_hash(prev, (seq, at, actor, kind, sheet), digest)
        if not is_chained or body is None or salt is None or not _fits(salt, body, digest):
            return f"event {seq:,} is not the one that was written"
        self.count, self.last = seq, made
        if self.heads.get(seq) == made.hex():
            del self.heads[seq]
        try:
            project(self.replayed, seq, kind, sheet, json.loads(body))
        except (KeyError, sqlite3.Error) as error:
            return f"event {seq:,} cannot be replayed ({type(error).__name__}: {error})"
        return None


def _fits(salt: bytes, body: str, digest: bytes) -> bool:
    try:
        return body_digest(salt, body) == digest
    except UnicodeEncodeError:
        return False


def _compare(db: sqlite3.Connection, replayed: sqlite3.Connection) -> Iterator[str]:
    """Yield the tables that are not those of the events, with the first row that differs."""
    for table, columns in COMPARED.items():
        query = f"SELECT {', '.join(columns)} FROM {table} ORDER BY 1, 2"
        if table in ("asked", "label", "item", "region"):
            query += ", 3"
        for found, expected in zip_longest(db.execute(query), replayed.execute(query)):
            if found != expected:
                place = next(row for row in (found, expected) if row is not None)
                yield f"the table {table} is not what the events say, at {place[:2]!r}"
                break
