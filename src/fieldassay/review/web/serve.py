"""Running the server of a review: for one person on this machine, or for a team."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fieldassay.documents.pool import DocumentPool
from fieldassay.errors import Problem, ProblemsError
from fieldassay.review import people
from fieldassay.review.form_of import read_form
from fieldassay.review.store import Store
from fieldassay.review.web.app import make_app
from fieldassay.review.web.guard import App, Site
from fieldassay.review.web.room import LIMITS, Pages, Room
from fieldassay.review.web.sign_in import make_ticket
from fieldassay.review.writer import Writer

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens, and how browsers name it: `hosts` are the authorities that are answered."""

    host: str
    port: int
    hosts: frozenset[str]
    scheme: str = "http"


@contextmanager
def open_room(store: Store, cookie: str, *, is_secure: bool = False) -> Iterator[Room]:
    """Yield what the handlers share; old sessions are over when it begins, and its own when it ends.

    Raises `ProblemsError` when another server has the review, or its documents are not there.
    """
    form, facts = read_form(store)
    with ExitStack() as stack:
        writer = stack.enter_context(Writer(store))
        pool = stack.enter_context(DocumentPool(1, LIMITS))
        folder = None if facts["documents"] is None else Path(facts["documents"])
        room = Room(store, form, facts, writer, Pages(folder, pool), cookie, is_secure)
        room.write(lambda journal: people.end_sessions(journal.db))
        yield room
        room.write(lambda journal: people.end_sessions(journal.db))


def open_alone(
    store: Store, tell: Callable[[str], None], *, opens_browser: bool = True, port: int = 0
) -> None:
    """Serve a review to the person at this machine until interrupted.

    `tell` gets the one-time link. Raises `ProblemsError` where a team has accounts already.
    """
    _ensure_alone(store)
    listener = listen(LOOPBACK, port)
    number = listener.getsockname()[1]
    site = Site(frozenset({f"{LOOPBACK}:{number}", f"localhost:{number}"}))
    with open_room(store, f"fieldassay-{number}") as room:
        link = f"http://{LOOPBACK}:{number}/enter?ticket={make_ticket(room)}"
        tell(link)
        if opens_browser:
            threading.Timer(0.5, webbrowser.open, (link,)).start()
        make_server(make_app(room, site)).run(sockets=[listener])


def _ensure_alone(store: Store) -> None:
    with store.reading() as db:
        roles = [role for (role,) in db.execute("SELECT role FROM person")]
    if not roles:
        store.write(lambda journal: people.add_person(journal, "me", people.EVERYTHING, None))
    elif roles != [people.EVERYTHING]:
        what = "has accounts of a team"
        remedy = "start it with `fieldassay review serve`"
        raise ProblemsError([Problem(str(store.folder), what, remedy, "review_of_team")])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises `ProblemsError` for an address that cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        what = f"cannot be listened at ({error.strerror or error})"
        raise ProblemsError(
            [Problem(f"{host}:{port}", what, "name another address or port", "bad_address")]
        ) from None
    return listener


def make_server(app: App, **more: Any) -> Any:
    """Return the server of an application: `run(sockets=…)` serves until it is interrupted."""
    try:
        import uvicorn
    except ImportError:
        raise people.missing_extra() from None
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=3,
        **more,
    )
    return uvicorn.Server(config)
