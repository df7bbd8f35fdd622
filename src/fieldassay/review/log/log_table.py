"""The log of a review as a table for auditors: who did what to which value, and when."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from fieldassay.errors import ProblemsError, nearest, problem

COLUMNS = ("seq", "at", "actor", "kind", "document", "sheet", "node", "before", "after", "note")


def list_events(db: sqlite3.Connection, document: str | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield a row with a value for each of `COLUMNS` per event, in order.

    `before` and `after` are labels: the text, or a state in parentheses.
    Raises `ProblemsError` for an unknown document.
    """
    if document is not None and not db.execute("SELECT 1 FROM document WHERE name=?", (document,)).fetchone():
        raise unknown_document(db, document)
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
            after = labels[sheet, body["node"]] = describe_label(body["state"], body["text"])
        elif kind == "ruling":
            after = body.get("choice")
        if document is None or name == document:
            yield seq, at, actor, kind, name, sheet, node, before, after, note


def unknown_document(db: sqlite3.Connection, name: str) -> ProblemsError:
    """Return the error for an id that no document of a review has."""
    names = [row[0] for row in db.execute("SELECT name FROM document LIMIT 10000")]
    what = f"no document has the id {name[:200]!r}"
    return problem("--document", what, nearest(name[:200], names), "unknown_document")


def describe_label(state: str, text: str | None) -> str:
    """Return a label as one text.

    >>> describe_label("value", "5.00"), describe_label("absent", None)
    ('5.00', '(absent)')
    """
    return text or "" if state == "value" else f"({state})"
