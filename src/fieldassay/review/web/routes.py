"""The requests of the web room: sign in, sheets, and what a lead sees."""

import hashlib
import html
import json
import re
import secrets
import shlex
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

from starlette.responses import JSONResponse, RedirectResponse, Response

from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review import export
from fieldassay.review.log import ReviewJournal
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.sheets import Person, RefusedError
from fieldassay.review.status import read_status, render_status
from fieldassay.review.web import guard
from fieldassay.review.web.guard import EVERYTHING, list_people
from fieldassay.review.web.room import ReviewRoom, WebCall

# The requests of those who rule, lead and watch: differences, rulings, progress.

_QUICK = BootstrapSettings(replicates=500)


def list_open(call: WebCall) -> dict[str, Any]:
    """Return the documents that wait for a ruling by this person."""
    return {"documents": export.list_open(call.room.db, call.room.form, call.person)}


def view_lead(call: WebCall) -> dict[str, Any]:
    """Return the differences of a document, without names."""
    return export.view(call.room.db, call.room.form, call.person, call.params["document"])


def rule(call: WebCall) -> dict[str, Any]:
    """Save a ruling."""
    ruling = {name: call.text(name) for name in ("node", "choice", "text", "note")}
    room, document = call.room, call.number("document")
    waiting = room.write(lambda journal: export.rule(journal, room.form, call.person, document, ruling))
    return {"waiting": waiting}


def progress(call: WebCall) -> dict[str, Any]:
    """Return how far the review is, and what it says; names are for the lead alone."""
    status = read_status(call.room.db, call.room.form, _QUICK)
    people = list_people(call.room.db)
    if call.person.role == "observer":
        people = [{**person, "name": None} for person in people]
    return {"text": render_status(status), "status": status.to_dict(), "people": people}


# The pages of a server: shells without data, and the scripts and styles that fill them.

_SHARED = ("dom.js", "visible.js")
_SCRIPTS = ("api.js", "page.js", "labels.js", "grid.js", "keys.js", "sheet.js", "lead.js", "screens.js")
_STYLES = ("review.css",)
_TYPES = {"review.js": "text/javascript; charset=utf-8", "review.css": "text/css; charset=utf-8"}


@lru_cache(maxsize=64)
def bundle(name: str) -> bytes:
    """Return the script or the style of all pages, as one file."""
    own, shared = (
        files("fieldassay.review.web").joinpath("assets"),
        files("fieldassay.reports.html").joinpath("assets"),
    )
    if name == "review.js":
        parts = [shared.joinpath(asset) for asset in _SHARED] + [own.joinpath(asset) for asset in _SCRIPTS]
        return b'"use strict";\n' + b"\n".join(part.read_bytes() for part in parts)
    return b"\n".join(
        part.read_bytes()
        for part in (shared.joinpath("base.css"), *(own.joinpath(asset) for asset in _STYLES))
    )


@lru_cache(maxsize=64)
def digest(name: str) -> str:
    """Return the digest in the address of a script or style, so that a browser may keep it."""
    return hashlib.sha256(bundle(name)).hexdigest()[:16]


def shell(screen: str) -> Callable[[WebCall], Response]:
    """Return the handler of a page: a shell that its script fills."""

    def handle(call: WebCall) -> Response:  # noqa: ARG001 - every page is the same for everybody
        script, style = (f"/assets/{digest(name)}/{name}" for name in ("review.js", "review.css"))
        text = (
            '<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>Review</title>"
            f'<link rel="stylesheet" href="{html.escape(style)}">'
            f'<script src="{html.escape(script)}" defer></script></head>'
            f'<body data-screen="{html.escape(screen)}">'
            "<noscript>Reviewing needs JavaScript.</noscript></body></html>"
        )
        return Response(text, media_type="text/html; charset=utf-8")

    return handle


def asset(call: WebCall) -> Response:
    """Return a script or style."""
    name = call.params["name"]
    if name not in _TYPES or call.params["digest"] != digest(name):
        raise RefusedError("unknown", "there is no such file")
    headers = {"cache-control": "public, max-age=31536000, immutable"}
    return Response(bundle(name), media_type=_TYPES[name], headers=headers)


def no_icon(call: WebCall) -> Response:  # noqa: ARG001 - a browser asks for it by itself
    """Return nothing, which is no error."""
    return Response(status_code=204)


# Signing in: by name and password, or once by the link that the command prints.

TICKET_SECONDS = 60.0
_FREE_TRIES = 5
_LONGEST_DELAY = 900.0
_QUEUE_SECONDS = 10.0


def sign_in(call: WebCall) -> Response:
    """Begin a session for a name and a password. Every failure has the same answer."""
    name, password = call.text("name", 200), call.text("password", 1000)
    room, now = call.room, call.room.clock()
    keys = (f"name {name}", f"address {call.address}")
    with room.trying:
        wait = max(_delay(room, key, now) for key in keys)
        if wait > 0:
            raise RefusedError("forbidden", f"too many tries; try again in {int(wait) + 1} s")
        for key in keys:  # a failure until it is none, so that tries at the same time count, too
            room.failures[key] = (room.failures.get(key, (0, 0.0))[0] + 1, now)
    if not room.hashing.acquire(timeout=_QUEUE_SECONDS):
        raise RefusedError("forbidden", "many people are signing in; try again in a minute")
    try:  # one at a time: a hash takes 64 MB
        person = guard.check_password(room.db, name, password)
    finally:
        room.hashing.release()
    if person is None:
        raise RefusedError("forbidden", "wrong name or password")
    for key in keys:
        room.failures.pop(key, None)
    return _begin(room, person, JSONResponse({}))


def _delay(room: ReviewRoom, key: str, now: float) -> float:
    """Return the seconds before the next try: none at first, then twice as many each time.

    None either after the clock was set back: nobody is locked out for as long as it was wrong.
    """
    count, last = room.failures.get(key, (0, 0.0))
    if count < _FREE_TRIES or now < last:
        return 0.0
    return last + min(2.0 ** (count - _FREE_TRIES), _LONGEST_DELAY) - now


def sign_out(call: WebCall) -> Response:
    """End the session."""
    call.room.write(lambda journal: guard.end_session(journal.db, call.token))
    answer = JSONResponse({})
    answer.delete_cookie(call.room.cookie, path="/")
    return answer


def make_ticket(room: ReviewRoom) -> str:
    """Return the token of a new one-time link."""
    ticket = secrets.token_urlsafe(32)
    room.tickets[ticket] = room.clock() + TICKET_SECONDS
    return ticket


_NO_SITE = "this program does not say where the request comes from (Sec-Fetch-Site): use a current browser"
_NOT_TYPED = "the link was opened from another page: paste it into the address bar"


def enter(call: WebCall) -> Any:
    """Begin the session of the person who works alone, by the one-time link: once, and soon."""
    room = call.room
    if call.came_from != "none":
        raise RefusedError("forbidden", _NOT_TYPED if call.came_from else _NO_SITE)
    ends = room.tickets.pop(call.query.get("ticket", ""), 0.0)
    if room.clock() > ends:
        raise RefusedError("forbidden", "this link was used or has expired: run the command again")
    row = room.db.execute("SELECT id, alias, role FROM person WHERE role=?", (guard.EVERYTHING,)).fetchone()
    return _begin(room, Person(*row), RedirectResponse("/", 303))


def _begin(room: ReviewRoom, person: Person, answer: Response) -> Response:
    token = room.write(lambda journal: guard.begin_session(journal.db, person.id, room.clock()))
    answer.set_cookie(room.cookie, token, path="/", httponly=True, samesite="strict", secure=room.is_secure)
    return answer


# The requests of somebody who labels: the next sheet, its labels, its items, its pages.

_MOST_FOUND = 200
_CAMEL, _WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]"), re.compile(r"[^\W_]+")


def describe_form(call: WebCall) -> dict[str, Any]:
    """Return the fields of the spec, the person, and how far the review is."""
    room, db = call.room, call.room.db
    states = dict(db.execute("SELECT state, count(*) FROM sheet GROUP BY state"))
    spent, mine = db.execute(
        "SELECT (SELECT sum(active_ms) FROM label JOIN sheet ON sheet.id=label.sheet WHERE done_by=:person), "
        "(SELECT count(*) FROM sheet WHERE done_by=:person)",
        {"person": call.person.id},
    ).fetchone()
    rows = db.execute(
        "SELECT sheet.id, document.name FROM sheet JOIN document ON document.id=document WHERE holder=?",
        (call.person.id,),
    ).fetchall()
    promotion = f"fieldassay review promote {shlex.quote(str(room.store.folder))} --gold gold.jsonl"
    return {
        "name": room.store.folder.name if room.form.plan.spec.name == _UNNAMED else room.form.plan.spec.name,
        "fields": room.form.describe(),
        "person": {"alias": call.person.alias, "role": call.person.role},
        "states": states,
        "values": db.execute(_MOST_ASKED).fetchone()[0],
        "skipped": db.execute("SELECT count(*) FROM label WHERE state='skipped'").fetchone()[0],
        "seconds": spent / 1000 / mine if spent else None,
        "promote": promotion if call.person.role in ("lead", EVERYTHING) else None,
        "held": [{"id": number, "name": name} for number, name in rows],
        "closed": json.loads(db.execute("SELECT value FROM fact WHERE name='closed'").fetchone()[0]),
    }


_UNNAMED = "spec"
"""The name of a spec without one of its own."""
_MOST_ASKED = (
    "SELECT coalesce(max(n), 0) FROM "
    "(SELECT count(*) AS n FROM asked WHERE shown<>'context' GROUP BY document)"
)


def claim(call: WebCall) -> dict[str, Any]:
    """Return the sheet to work on, or why there is none."""
    number = call.room.write(lambda journal: sheets.claim(journal, call.person, call.room.now()))
    if number is not None:
        return {"sheet": number}
    db = call.room.db
    row = db.execute("SELECT count(*), min(until) FROM sheet WHERE state='held'").fetchone()
    return {"sheet": None, "held_by_others": row[0], "until": row[1]}


def view_sheet(call: WebCall) -> dict[str, Any]:
    """Return a sheet of the person's own."""
    return sheets.view(call.room.db, call.room.form, call.person, call.params["sheet"])


def put_label(call: WebCall) -> dict[str, Any]:
    """Save one label; the same key saves it once."""
    regions = call.body.get("regions", [])
    if not isinstance(regions, list) or not all(isinstance(region, dict) for region in regions):
        raise RefusedError("invalid", "regions must be a list")
    text = call.body.get("text")
    if text is not None and not isinstance(text, str):
        raise RefusedError("invalid", "text must be a text")
    state: Any = call.text("state", 20)
    answer = sheets.LabelAnswer(
        call.text("node", 1000),
        state,
        text,
        regions,
        call.body["note"] if isinstance(call.body.get("note"), str) else "",
        call.number("active_ms"),
        call.number("keys"),
        call.number("expects"),
    )
    key, sheet, room = f"{call.person.id}:{call.text('key', 100)}", call.params["sheet"], call.room

    def save(journal: ReviewJournal) -> int:
        seen = journal.db.execute("SELECT seq FROM seen WHERE key=?", (key,)).fetchone()
        if seen is not None:
            return int(seen[0])
        seq = sheets.save_label(journal, room.form, call.person, sheet, answer)
        journal.db.execute("INSERT INTO seen VALUES (?,?)", (key, seq))
        sheets.renew(journal.db, sheet, room.now())
        return seq

    seq = room.write(save)
    return {
        "seq": seq,
        "open": sheets.open_nodes(room.db, room.form, sheet),
        "unreadable": sheets.unreadable_nodes(room.db, sheet),
    }


def put_items(call: WebCall) -> dict[str, Any]:
    """Save the items of a list in a new order; null among them is a new one.

    `expects` is the event by which the list has the order that the person saw, 0 for the first one.
    """
    nodes = call.body.get("nodes")
    if not isinstance(nodes, list) or not all(node is None or isinstance(node, str) for node in nodes):
        raise RefusedError("invalid", "nodes must be a list of texts")
    listed, expects = call.text("list", 1000), call.number("expects")
    sheet, room = call.params["sheet"], call.room

    def save(journal: ReviewJournal) -> list[str]:
        sheets.check_holder(journal.db, call.person, sheet)
        sheets.check_order(journal.db, sheet, listed, expects)
        return sheets.save_items(journal, room.form, call.person, sheet, listed, nodes)

    named = room.write(save)
    return {"nodes": named, "open": sheets.open_nodes(room.db, room.form, sheet)}


def finish(call: WebCall) -> dict[str, Any]:
    """Finish a sheet; labels that the spec cannot read are taken if the body says so."""
    sheet, room = call.params["sheet"], call.room
    takes = call.body.get("takes_unreadable") is True
    room.write(lambda journal: sheets.finish(journal, room.form, call.person, sheet, takes_unreadable=takes))
    return {}


def undo(call: WebCall) -> dict[str, Any]:
    """Take a finished sheet up again."""
    call.room.write(lambda journal: sheets.undo_finish(journal, call.person, call.params["sheet"]))
    return {"sheet": call.params["sheet"]}


def renew(call: WebCall) -> dict[str, Any]:
    """Keep a sheet for longer."""
    sheet, room = call.params["sheet"], call.room
    room.write(lambda journal: sheets.keep(journal, call.person, sheet, room.now()))
    return {}


def release(call: WebCall) -> dict[str, Any]:
    """Put a sheet back."""
    call.room.write(lambda journal: sheets.release(journal, call.person, call.params["sheet"]))
    return {}


def decline(call: WebCall) -> dict[str, Any]:
    """Put a sheet back for somebody else, with a note."""
    note = call.text("note")
    call.room.write(lambda journal: sheets.decline(journal, call.person, call.params["sheet"], note))
    return {}


def read_text(call: WebCall) -> dict[str, Any]:
    """Return a text as the spec reads it in a field."""
    field, text, form = call.text("field", 1000), call.text("text"), call.room.form
    leaf = form.leaf(field)
    if leaf is None:
        raise RefusedError("invalid", "no such field")
    reading = form.read(field, text)
    if reading is None:
        return {"canonical": None, "is_empty": True, "problem": None, "flags": []}
    return {
        "canonical": reading.canonical,
        "is_empty": False,
        "problem": reading.problem,
        "flags": list(reading.flags),
    }


def list_pages(call: WebCall) -> dict[str, Any]:
    """Return the pages of a document: sizes, and the text of those without a picture."""
    return {"pages": [{**page, "words": []} for page in call.room.pages.read(_file_of(call))]}


def list_words(call: WebCall) -> dict[str, Any]:
    """Return the words of a page with their places."""
    return {"words": _page(call)["words"]}


def draw_page(call: WebCall) -> Response:
    """Return the picture of a page."""
    picture = call.room.pages.draw(_file_of(call), _page(call)["number"])
    headers = {
        "cache-control": "private, max-age=3600",
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(picture, media_type="image/png", headers=headers)


def find_value(call: WebCall) -> dict[str, Any]:
    """Return the places of a document where a text could stand: equal words, or words that read the same."""
    field, text = call.text("field", 1000), call.text("text")
    form = call.room.form
    reading = form.read(field, text) if form.leaf(field) is not None and text.strip() else None
    wanted = _fold(text)
    places: list[dict[str, Any]] = []
    pages = call.room.pages.read(_file_of(call))
    if not wanted:
        return {"places": [], "hint": _hint(pages, field)}
    for page in pages:
        words = page["words"]
        for first in range(len(words)):
            for size in range(1, min(8, len(words) - first) + 1):
                run = words[first : first + size]
                joined = " ".join(word[0] for word in run)
                if _fold(joined) == wanted and wanted:
                    places.append(_place(page, run, joined))
                elif size == 1 and reading is not None and reading.problem is None:
                    other = form.read(field, joined)
                    is_same = (
                        other is not None and other.problem is None and other.canonical == reading.canonical
                    )
                    if is_same:
                        places.append(_place(page, run, joined))
        if len(places) >= _MOST_FOUND:
            break
    return {"places": places[:_MOST_FOUND]}


def _hint(pages: list[dict[str, Any]], field: str) -> dict[str, Any] | None:
    """Return where the name of a field stands: its words in a row, or else the last one; None: nowhere.

    The last such place of a document is taken: totals stand below what they sum up.
    """
    names = _WORDS.findall(_CAMEL.sub(" ", field.rpartition(".")[2].removesuffix("[]")).casefold())
    for wanted in (names, names[-1:]):
        for page in reversed(pages):
            plain = ["".join(_WORDS.findall(_fold(word[0]))) for word in page["words"]]
            for first in reversed(range(len(plain) - len(wanted) + 1)):
                if wanted and plain[first : first + len(wanted)] == wanted:
                    return _place(page, page["words"][first : first + len(wanted)], "")
    return None


def _place(page: dict[str, Any], run: list[Any], text: str) -> dict[str, Any]:
    box = [min(word[1] for word in run), min(word[2] for word in run)]
    return {
        "page": page["number"],
        "box": [*box, max(word[3] for word in run), max(word[4] for word in run)],
        "text": text,
    }


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _page(call: WebCall) -> dict[str, Any]:
    pages = call.room.pages.read(_file_of(call))
    number = call.params["page"]
    if not 1 <= number <= len(pages):
        raise RefusedError("unknown", "there is no such page")
    page: dict[str, Any] = pages[number - 1]
    return page


def _file_of(call: WebCall) -> str:
    """Return the file of a document that a person has a sheet of, or may see as adjudicator or lead."""
    db, person = call.room.db, call.person
    row = db.execute("SELECT path FROM document WHERE id=?", (call.params["document"],)).fetchone()
    is_mine = (
        person.role != "reviewer"
        or db.execute(
            "SELECT 1 FROM sheet WHERE document=? AND (holder=? OR done_by=?)",
            (call.params["document"], person.id, person.id),
        ).fetchone()
    )
    if row is None or not is_mine:
        raise RefusedError("forbidden", "this document is not on a sheet of yours")
    if row[0] is None:
        raise RefusedError("unknown", "this document has no file")
    return str(row[0])
