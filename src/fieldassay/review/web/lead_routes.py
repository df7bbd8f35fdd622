"""The requests of those who rule, lead and watch: differences, rulings, progress, histories."""

from __future__ import annotations

from typing import Any

from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review import adjudicate
from fieldassay.review.log.journal import COLUMNS, list_events
from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.review.status import read_status, render_status
from fieldassay.review.web.people import list_people
from fieldassay.review.web.room import WebCall

_QUICK = BootstrapSettings(replicates=500)


def list_open(call: WebCall) -> dict[str, Any]:
    """Return the documents that wait for a ruling by this person."""
    return {"documents": adjudicate.list_open(call.room.db, call.room.form, call.person)}


def view(call: WebCall) -> dict[str, Any]:
    """Return the differences of a document, without names."""
    return adjudicate.view(call.room.db, call.room.form, call.person, call.params["document"])


def rule(call: WebCall) -> dict[str, Any]:
    """Save a ruling."""
    given = {name: call.text(name) for name in ("node", "choice", "text", "note")}
    room, document = call.room, call.number("document")
    waiting = room.write(lambda journal: adjudicate.rule(journal, room.form, call.person, document, given))
    return {"waiting": waiting}


def progress(call: WebCall) -> dict[str, Any]:
    """Return how far the review is, and what it says; names are for the lead alone."""
    status = read_status(call.room.db, call.room.form, _QUICK)
    people = list_people(call.room.db)
    if call.person.role == "observer":
        people = [{**one, "name": None} for one in people]
    return {"text": render_status(status), "status": status.to_dict(), "people": people}


def history(call: WebCall) -> dict[str, Any]:
    """Return the events of a document that nobody labels any more: others' labels are not to be seen."""
    db, number = call.room.db, call.params["document"]
    row = db.execute("SELECT name FROM document WHERE id=?", (number,)).fetchone()
    if row is None:
        raise RefusedError("unknown", "there is no such document")
    waiting = db.execute(
        "SELECT count(*) FROM sheet WHERE document=? AND state NOT IN ('done', 'adjudicated')", (number,)
    )
    if waiting.fetchone()[0]:
        raise RefusedError("conflict", "this document is not labeled to the end yet")
    events = [dict(zip(COLUMNS, event, strict=True)) for event in list_events(db, row[0])]
    return {"name": row[0], "events": events}
