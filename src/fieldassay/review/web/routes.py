"""The room of a review on the web, the pages of its documents, and what its paths answer."""

import hashlib
import html
import json
import re
import secrets
import shlex
import sqlite3
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace
from starlette.responses import JSONResponse, RedirectResponse, Response

from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.loaders.pdf import open_page, open_pdf
from fieldassay.documents.pages import PictureOptions, render_page
from fieldassay.documents.sources import (
    DEFAULTS,
    DocumentFile,
    DocumentPool,
    Limits,
    find_kind,
    list_documents,
    load_bytes,
)
from fieldassay.documents.transcript import DocumentError, Line, Page, Transcript, page_text
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.review import export
from fieldassay.review.log import ReviewJournal, Store, connect
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.sheets import Person, RefusedError, ReviewForm
from fieldassay.review.status import read_status, render_status
from fieldassay.review.web import guard
from fieldassay.review.web.guard import EVERYTHING, list_people

# The pages of a document for a person who labels it: sizes, and words with their places.

MOST_PAGES = 2000
_DRAWN = ("text", "words")
"""Kinds of documents without a picture of their own: a browser writes their words at their places."""
_OPTIONS = replace(DEFAULTS, ocr="off", max_pages=MOST_PAGES, max_pixels=40_000_000)


def read_pages(file: DocumentFile, sha256: str | None = None) -> str:
    """Return the pages of a document as JSON; run it in a `DocumentPool`.

    Each has `number`, `width` and `height` in points, `words` (text, left, top, right, bottom as shares of
    the page) and, where the page has no picture, its `text`. Scans have pages without words. Pages of plain
    text are drawn from their words (`is_drawn`). Raises `DocumentError`, also for a file of another `sha256`.
    """
    data = file.read(_OPTIONS)
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise DocumentError("unreadable", "is not the file that the review was made with")
    try:
        transcript = load_bytes(data, file.path.name, _OPTIONS)
    except DocumentError as error:
        if error.kind != "no_text":
            raise
        transcript = Transcript(file.id, "", "", _empty_pages(file, data))
    return json.dumps([_page_data(page, transcript.kind) for page in transcript.pages])


def _page_data(page: Page, kind: str) -> dict[str, Any]:
    has_picture = page.width > 0 and page.height > 0
    if kind == "text" and has_picture:
        page = replace(page, lines=tuple(_turned(line, page.width) for line in page.lines))
    return {
        "number": page.number,
        "width": page.width,
        "height": page.height,
        "words": list(_words(page)) if has_picture else [],
        "text": None if has_picture else page_text(page).text,
        "is_drawn": kind in _DRAWN and has_picture,
        "has_widths": kind == "words" and has_picture,
    }


def _turned(line: Line, width: float) -> Line:
    """Return a line of plain text with its words where a reader sees them.

    The columns of plain text are in the order of writing. A line that begins from right to left begins at the
    right edge; words from left to right that follow each other in it keep their order.
    """
    if any(word.box is None for word in line.words):
        return line
    words = sorted(line.words, key=lambda word: 0.0 if word.box is None else word.box.left)  # as written
    directions = [_direction(word.text) for word in words]
    if next((direction for direction in directions if direction), "L") != "R":
        return replace(line, words=tuple(words))
    for run in _runs(directions):
        boxes = [box for at in run if (box := words[at].box) is not None]
        by = width - max(box.right for box in boxes) - min(box.left for box in boxes)
        for at, box in zip(run, boxes, strict=True):
            words[at] = replace(words[at], box=replace(box, left=box.left + by, right=box.right + by))
    return replace(line, words=tuple(words))


def _runs(directions: Sequence[str]) -> list[list[int]]:
    """Return the places of words that move together: those from left to right, with digits between them.

    >>> _runs(["R", "L", "", "L", "", "R"])
    [[0], [1, 2, 3], [4], [5]]
    """
    runs: list[list[int]] = []
    for at, direction in enumerate(directions):
        following = next((other for other in directions[at:] if other), "R")
        is_left = bool(runs) and directions[runs[-1][0]] == "L"
        if is_left and (direction or following) == "L":
            runs[-1].append(at)
        else:
            runs.append([at])
    return runs


def _direction(text: str) -> str:
    """Return the direction of a word by its first letter: L, R, or nothing for digits and signs."""
    kinds = (unicodedata.bidirectional(char) for char in text)
    return next(("L" if kind == "L" else "R" for kind in kinds if kind in ("L", "R", "AL")), "")


def _words(page: Page) -> Iterator[tuple[str, float, float, float, float]]:
    pieces = [(word.text, word.box, word.visible) for line in page.lines for word in line.words]
    pieces += [(cell.text, cell.box, cell.visible) for table in page.tables for cell in table.cells]
    for text, box, visible in pieces:
        if box is not None and visible and text.strip():
            left, right = (_share(side, page.width) for side in (box.left, box.right))
            top, bottom = (_share(side, page.height) for side in (box.top, box.bottom))
            yield " ".join(text.split()), left, top, right, bottom


def _share(side: float, whole: float) -> float:
    return round(min(max(side / whole, 0.0), 1.0), 5)


def _empty_pages(file: DocumentFile, data: bytes) -> tuple[Page, ...]:
    """Return the pages of a PDF or image without a text layer."""
    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        pages = []
        with open_pdf(data) as document:
            for number in range(1, min(len(document), MOST_PAGES) + 1):
                with open_page(document, number) as page:
                    width, height = page.get_size()
                pages.append(Page(number, width=width, height=height))
        return tuple(pages)
    if kind == "image":
        pictures = enumerate(open_pictures(data, _OPTIONS), 1)
        return tuple(Page(number, width=size[0], height=size[1]) for number, (_, size) in pictures)
    raise DocumentError("no_text", "holds no text")


# What the handlers of a server share: the review, its fields, its documents, the clock.

Outcome = TypeVar("Outcome")

LIMITS = Limits(memory=1 << 30, seconds=20.0)
_MOST_CACHED = 64
_EXPENSIVE = frozenset({"too_large", "loader_timeout", "loader_crash"})
"""Failures that took time, and come again as long as the file is the same."""
_COLORS = 16
"""A palette of so many colors is enough for printed text, at a fifth of the size."""


class Pages:
    """The documents of a review, read and drawn in child processes that have no secrets.

    `digests` are the SHA-256 of the files by name, as the review was made: another file in the place of one
    is refused. What takes long is done once for all who wait for it, and what fails expensively fails at
    once from then on, until the file changes.
    """

    def __init__(
        self, folder: Path | None, pool: DocumentPool, digests: Mapping[str, str | None] | None = None
    ) -> None:
        self._pool = pool
        self._digests = digests or {}
        self._files: Mapping[str, DocumentFile] = {}
        if folder is not None:
            root = folder.resolve()
            self._files = {
                file.id: file
                for file in list_documents(folder).files
                if file.path.resolve().is_relative_to(root)
            }
        self._cache: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        self._running: dict[Hashable, Future[Any]] = {}
        self._failed: dict[Hashable, str] = {}
        self._lock = threading.Lock()

    def read(self, name: str) -> list[dict[str, Any]]:
        """Return the pages of a file, with their words. Raises `RefusedError` where none can be shown."""
        with self._lock:
            if name in self._cache:
                self._cache.move_to_end(name)
                return self._cache[name]
        pages: list[dict[str, Any]] = json.loads(
            self._run(read_pages, self._file(name), self._digests.get(name))
        )
        with self._lock:
            self._cache[name] = pages
            while len(self._cache) > _MOST_CACHED:
                self._cache.popitem(last=False)
        return pages

    def draw(self, name: str, number: int) -> bytes:
        """Return a page as PNG."""
        return self._run(render_page, self._file(name), number, PictureOptions(colors=_COLORS))

    def _file(self, name: str) -> DocumentFile:
        if name not in self._files:
            raise RefusedError("unknown", "the file of this document is not there")
        return self._files[name]

    def _run(self, function: Callable[..., Outcome], file: DocumentFile, *arguments: Any) -> Outcome:
        key = (function, file, _stamp(file), *arguments)
        with self._lock:
            if key in self._failed:
                raise RefusedError("unknown", self._failed[key])
            if key not in self._running:
                self._running[key] = self._pool.submit(function, file, *arguments)
            future: Future[Outcome] = self._running[key]
        try:
            return future.result()
        except DocumentError as error:
            message = f"this document {error}"
            with self._lock:
                if error.kind in _EXPENSIVE:
                    self._failed[key] = message
            raise RefusedError("unknown", message) from None
        finally:
            with self._lock:
                self._running.pop(key, None)


def _stamp(file: DocumentFile) -> tuple[int, int]:
    """Return by what a changed file is known without being read; zeros where it is not there."""
    try:
        file_stat = file.path.stat()
    except OSError:
        return 0, 0
    return file_stat.st_mtime_ns, file_stat.st_size


class ReviewRoom(Struct, dict=True):
    """Everything that a request may need."""

    store: Store
    form: ReviewForm
    pages: Pages
    writer: sqlite3.Connection
    cookie: str
    is_secure: bool = False
    clock: Callable[[], float] = time.time
    tickets: dict[str, float] = field(default_factory=dict)
    """The tokens of one-time links that were not used, and when each ends."""
    failures: dict[str, tuple[int, float]] = field(default_factory=dict)
    """Failed sign-ins by account and by address: how many, and when the last one was."""
    trying: threading.Lock = field(default_factory=threading.Lock)
    """Held while failures are looked at and counted."""
    writing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a request writes."""
    hashing: threading.Lock = field(default_factory=threading.Lock)
    """Held while a password is hashed."""
    _local: threading.local = field(default_factory=threading.local)

    @property
    def db(self) -> sqlite3.Connection:
        """Return this thread's connection for reading."""
        if not hasattr(self._local, "db"):
            self._local.db = connect(self.store.file, is_reading=True)
        db: sqlite3.Connection = self._local.db
        return db

    def write(self, work: Callable[[ReviewJournal], Outcome]) -> Outcome:
        """Return the outcome of a transaction, once it is on the disk. Requests write one after the other."""
        with self.writing:
            return self.store.write(work, self.writer)

    def now(self) -> datetime:
        """Return the time."""
        return datetime.fromtimestamp(self.clock(), UTC)


class WebCall(Struct, frozen=True):
    """One request, after the guard and the session: who asks, the places in its path, its query and body."""

    room: ReviewRoom
    person: Person
    params: Mapping[str, Any]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    token: str = ""
    address: str = ""
    came_from: str = ""
    """What the browser says of the site that the request comes from."""

    def text(self, name: str, most: int = 20_000) -> str:
        """Return a text of the body. Raises `RefusedError` for another type."""
        value = self.body.get(name)
        if not isinstance(value, str) or len(value) > most:
            raise RefusedError("invalid", f"{name} must be a text")
        return value

    def number(self, name: str, default: int = 0) -> int:
        """Return a whole number of the body, not below zero. Raises `RefusedError` for anything else."""
        value = self.body.get(name, default)
        if type(value) is not int or not 0 <= value <= 1 << 53:
            raise RefusedError("invalid", f"{name} must be a whole number, not below 0")
        return value


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
