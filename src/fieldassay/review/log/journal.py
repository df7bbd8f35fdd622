"""The events of a review: one table to which rows are only added, and the tables that follow from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from fieldassay.review.log.projections import project


def now() -> str:
    """Return the time in UTC as an event holds it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class Entry(Struct, frozen=True):
    """Something that happened: its kind and body, who did it (an alias), and the sheet it is about."""

    kind: str
    body: Mapping[str, Any]
    actor: str
    sheet: int | None = None


class Journal(Struct, frozen=True, eq=False):
    """The log of one open transaction: appends events, and brings the tables up to each."""

    db: sqlite3.Connection
    clock: Callable[[], str] = now

    def append(self, entry: Entry) -> int:
        """Return the number of the new event."""
        body = json.dumps(entry.body, allow_nan=False)
        [[seq]] = self.db.execute(
            "INSERT INTO event(at, actor, kind, sheet, body) VALUES (?,?,?,?,?) RETURNING seq",
            (self.clock(), entry.actor, entry.kind, entry.sheet, body),
        ).fetchall()
        project(self.db, seq, entry.kind, entry.sheet, entry.body)
        return int(seq)
