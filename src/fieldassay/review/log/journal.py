"""The events of a review: one table to which rows are only added, and the tables that follow from it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import Struct

from fieldassay.review.log.nodes import list_items


def now() -> str:
    """Return the time in UTC as an event holds it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class ReviewEvent(Struct, frozen=True):
    """Something that happened: its kind and body, who did it (an alias), and the sheet it is about."""

    kind: str
    body: Mapping[str, Any]
    actor: str
    sheet: int | None = None


class ReviewJournal(Struct, frozen=True, eq=False):
    """The log of one open transaction: appends events, and brings the tables up to each."""

    db: sqlite3.Connection
    clock: Callable[[], str] = now

    def append(self, entry: ReviewEvent) -> int:
        """Return the number of the new event. Raises KeyError for an unknown kind."""
        body = json.dumps(entry.body, allow_nan=False)
        [[seq]] = self.db.execute(
            "INSERT INTO event(at, actor, kind, sheet, body) VALUES (?,?,?,?,?) RETURNING seq",
            (self.clock(), entry.actor, entry.kind, entry.sheet, body),
        ).fetchall()
        _KINDS[entry.kind](self.db, seq, -1 if entry.sheet is None else entry.sheet, entry.body)
        return int(seq)


# The tables follow from the events: what each kind changes, and nothing else changes them

Body: TypeAlias = Mapping[str, Any]


def _fact(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.executemany(
        "INSERT OR REPLACE INTO fact VALUES (?,?)",
        [(name, json.dumps(value, sort_keys=True)) for name, value in body.items()],
    )


def _document(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    number = body["id"]
    db.execute(
        "INSERT INTO document VALUES (?,?,?,?,?)",
        (number, body["name"], body["path"], body["sha256"], body["gold_digest"]),
    )
    db.executemany(
        "INSERT INTO asked VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        [(number, one[0], place, *one[1:]) for place, one in enumerate(body["asked"])],
    )
    for one in body["sheets"]:
        db.execute(
            "INSERT INTO sheet VALUES (?,?,?,?,?,'open',NULL,NULL,NULL,NULL)",
            (one["id"], number, one["slot"], one["blind"], one["margin"]),
        )
        _first_items(db, one["id"])


def _write_items(db: sqlite3.Connection, sheet: int, listed: str, nodes: list[str]) -> None:
    db.executemany(
        "INSERT INTO item VALUES (?,?,?,?)", [(sheet, listed, node, rank) for rank, node in enumerate(nodes)]
    )


def _first_items(db: sqlite3.Connection, sheet: int) -> None:
    """Write the items that the asked values of a sheet are in."""
    asked = db.execute(
        "SELECT node FROM asked WHERE document=(SELECT document FROM sheet WHERE id=?)", (sheet,)
    )
    for listed, nodes in list_items(node for (node,) in asked).items():
        _write_items(db, sheet, listed, nodes)


def _person(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute(
        "INSERT INTO person(id, alias, role, disabled) VALUES (?,?,?,?) "
        "ON CONFLICT(id) DO UPDATE SET role=excluded.role, disabled=excluded.disabled",
        (body["id"], body["alias"], body["role"], body["disabled"]),
    )


def _claim(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    """Give a sheet to a person; labels that somebody else left on it are not shown, and begin anew."""
    person = body["person"]
    last = db.execute("SELECT last FROM sheet WHERE id=?", (sheet,)).fetchone()
    if last is not None and last[0] not in (None, person):
        for table in ("label", "region", "item"):
            db.execute(f"DELETE FROM {table} WHERE sheet=?", (sheet,))
        _first_items(db, sheet)
    db.execute("UPDATE sheet SET state='held', holder=?, last=? WHERE id=?", (person, person, sheet))


def _release(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("UPDATE sheet SET state='open', holder=NULL, until=NULL WHERE id=?", (sheet,))


def _decline(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    _release(db, seq, sheet, body)
    if db.execute("SELECT 1 FROM sheet WHERE id=?", (sheet,)).fetchone() is not None:
        db.execute("INSERT OR REPLACE INTO decline VALUES (?,?,?)", (sheet, body["person"], body["note"]))


def _label(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    node = body["node"]
    db.execute("DELETE FROM region WHERE sheet=? AND node=?", (sheet, node))
    if body["state"] == "open":
        db.execute("DELETE FROM label WHERE sheet=? AND node=?", (sheet, node))
        return
    db.execute(
        "INSERT INTO label VALUES (?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(sheet, node) DO UPDATE SET "
        "state=excluded.state, text=excluded.text, canonical=excluded.canonical, flags=excluded.flags, "
        "origin=excluded.origin, note=excluded.note, person=excluded.person, "
        "active_ms=active_ms+excluded.active_ms, keys=keys+excluded.keys, seq=excluded.seq",
        (
            sheet, node, body["state"], body["text"], body["canonical"], json.dumps(body["flags"]),
            body["origin"], body["note"], body["person"], body["active_ms"], body["keys"], seq,
        ),
    )  # fmt: skip
    db.executemany(
        "INSERT INTO region VALUES (?,?,?,?,?,?,?,?,?)",
        [(sheet, node, n, one["page"], *one["box"], one["text"]) for n, one in enumerate(body["regions"])],
    )


def _items(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("DELETE FROM item WHERE sheet=? AND list=?", (sheet, body["list"]))
    _write_items(db, sheet, body["list"], body["nodes"])


def _finish(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    db.execute(
        "UPDATE sheet SET state='done', holder=NULL, until=NULL, done_by=? WHERE id=?",
        (body["person"], sheet),
    )
    db.execute("INSERT OR REPLACE INTO finish VALUES (?,?,?)", (sheet, body["person"], seq))


def _undo(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("UPDATE sheet SET state='held', holder=?, done_by=NULL WHERE id=?", (body["person"], sheet))
    db.execute("DELETE FROM finish WHERE sheet=?", (sheet,))


def _ruling(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute(
        "INSERT OR REPLACE INTO ruling VALUES (?,?,?,?,?,?,?)",
        (
            body["document"], body["node"], body["choice"], body["text"], body["person"], body["note"], seq,
        ),
    )  # fmt: skip
    if body["is_last"]:
        db.execute("UPDATE sheet SET state='adjudicated' WHERE document=?", (body["document"],))


_KINDS: Mapping[str, Callable[[sqlite3.Connection, int, int, Body], None]] = {
    "review": _fact,
    "document": _document,
    "person": _person,
    "claim": _claim,
    "release": _release,
    "decline": _decline,
    "label": _label,
    "items": _items,
    "finish": _finish,
    "undo": _undo,
    "ruling": _ruling,
    "close": _fact,
    "promotion": _fact,
}


# The log as a table for auditors: who did what to which value, and when

COLUMNS = ("seq", "at", "actor", "kind", "document", "sheet", "node", "before", "after", "note")


def list_events(db: sqlite3.Connection, document: str | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield a row with a value for each of `COLUMNS` per event, in order.

    `before` and `after` are labels: the text, or a state in parentheses. `document` is the id of the one
    whose events are wanted.
    """
    documents = dict(
        db.execute("SELECT sheet.id, document.name FROM sheet JOIN document ON document=document.id")
    )
    labels: dict[tuple[int, str], str] = {}
    for seq, at, actor, kind, sheet, text in db.execute(
        "SELECT seq, at, actor, kind, sheet, body FROM event ORDER BY seq"
    ):
        body: Mapping[str, Any] = json.loads(text)
        name = body.get("name") if kind == "document" else documents.get(sheet)
        node, note = body.get("node"), body.get("note") or body.get("reason")
        before = after = None
        if kind == "label":
            before = labels.get((sheet, body["node"]))
            said = body["text"] or "" if body["state"] == "value" else f"({body['state']})"
            after = labels[sheet, body["node"]] = said
        elif kind == "ruling":
            after = body.get("choice")
        if document is None or name == document:
            yield seq, at, actor, kind, name, sheet, node, before, after, note
