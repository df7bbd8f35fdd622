"""The server of a review: its routes, and how it runs for one person on this machine, or for a team."""

import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import uvicorn
from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from fieldassay.documents.sources import DocumentPool
from fieldassay.errors import FieldassayError, problem
from fieldassay.io.browser import open_browser
from fieldassay.io.files.whole_files import parse_json
from fieldassay.review.log import Store, connect
from fieldassay.review.sheets.sheets import Person, RefusedError, read_form
from fieldassay.review.web import guard, routes
from fieldassay.review.web.guard import EVERYTHING, ROLES, App, Guard, Message, Site
from fieldassay.review.web.routes import LIMITS, Pages, ReviewRoom, WebCall, make_ticket

# The server of a review: every route in one table, each with the roles that may use it.

Handler = Callable[[WebCall], Any]
_STATUS = {"conflict": 409, "forbidden": 403, "invalid": 422, "unknown": 404}
_TOUCH_SECONDS = 60.0
_LARGEST = 1 << 53
NOBODY = Person(0, "", "")


class WebRoute(Struct, frozen=True):
    """A route: path, method, handler, and the roles that may use it; no roles: nobody need be signed in."""

    path: str
    method: Literal["GET", "POST", "PUT"]
    handler: Handler
    roles: frozenset[str]


ALL = frozenset(ROLES)
LABELING = frozenset({"reviewer", "adjudicator", "lead"})
RULING = frozenset({"adjudicator", "lead"})
WATCHING = frozenset({"lead", "observer"})
OPEN = frozenset[str]()

PATHS: tuple[WebRoute, ...] = (
    WebRoute("/", "GET", routes.shell("queue"), ALL),
    WebRoute("/sheet/{sheet:int}", "GET", routes.shell("sheet"), LABELING),
    WebRoute("/adjudicate", "GET", routes.shell("adjudicate"), RULING),
    WebRoute("/adjudicate/{document:int}", "GET", routes.shell("ruling"), RULING),
    WebRoute("/progress", "GET", routes.shell("progress"), WATCHING),
    WebRoute("/help", "GET", routes.shell("help"), ALL),
    WebRoute("/sign-in", "GET", routes.shell("sign-in"), OPEN),
    WebRoute("/sign-in", "POST", routes.sign_in, OPEN),
    WebRoute("/sign-out", "POST", routes.sign_out, ALL),
    WebRoute("/enter", "GET", routes.enter, OPEN),
    WebRoute("/assets/{digest}/{name}", "GET", routes.asset, OPEN),
    WebRoute("/favicon.ico", "GET", routes.no_icon, OPEN),
    WebRoute("/api/form", "GET", routes.describe_form, ALL),
    WebRoute("/api/claim", "POST", routes.claim, LABELING),
    WebRoute("/api/sheets/{sheet:int}", "GET", routes.view_sheet, LABELING),
    WebRoute("/api/sheets/{sheet:int}/labels", "PUT", routes.put_label, LABELING),
    WebRoute("/api/sheets/{sheet:int}/items", "PUT", routes.put_items, LABELING),
    WebRoute("/api/sheets/{sheet:int}/renew", "POST", routes.renew, LABELING),
    WebRoute("/api/sheets/{sheet:int}/release", "POST", routes.release, LABELING),
    WebRoute("/api/sheets/{sheet:int}/decline", "POST", routes.decline, LABELING),
    WebRoute("/api/sheets/{sheet:int}/finish", "POST", routes.finish, LABELING),
    WebRoute("/api/sheets/{sheet:int}/undo", "POST", routes.undo, LABELING),
    WebRoute("/api/adjudicate", "GET", routes.list_open, RULING),
    WebRoute("/api/adjudicate/{document:int}", "GET", routes.view_lead, RULING),
    WebRoute("/api/rulings", "POST", routes.rule, RULING),
    WebRoute("/api/progress", "GET", routes.progress, WATCHING),
    WebRoute("/api/read", "POST", routes.read_text, LABELING),
    WebRoute("/api/pages/{document:int}", "GET", routes.list_pages, LABELING),
    WebRoute("/api/pages/{document:int}/{page:int}", "GET", routes.draw_page, LABELING),
    WebRoute("/api/pages/{document:int}/{page:int}/words", "GET", routes.list_words, LABELING),
    WebRoute("/api/pages/{document:int}/find", "POST", routes.find_value, LABELING),
)


def make_app(room: ReviewRoom, site: Site) -> App:
    """Return the server as an ASGI application, the guard around it."""
    routes = [Route(route.path, _endpoint(room, route), methods=[route.method]) for route in PATHS]

    async def has_session(scope: Message) -> bool:
        with suppress(sqlite3.Error):  # the route says so
            return (await run_in_threadpool(_session, room, Request(scope)))[1] is not None
        return False

    return Guard(Starlette(routes=routes), site, has_session)


def _session(room: ReviewRoom, request: Request) -> tuple[str, tuple[Person, float] | None]:
    """Return the token of a request, and who has a session by it since when."""
    token = request.cookies.get(room.cookie, "")
    return token, guard.find_session(room.db, token, room.clock()) if token else None


def _endpoint(room: ReviewRoom, path: WebRoute) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        body = await request.body()
        try:
            return await run_in_threadpool(_answer, room, path, request, body)
        except sqlite3.Error as error:
            return _problem(500, f"the review cannot be read ({error})")

    return endpoint


def _answer(room: ReviewRoom, path: WebRoute, request: Request, body: bytes) -> Response:
    """Answer a request that passed the guard: session, role, handler."""
    token, session = _session(room, request)
    if path.roles:
        if session is None:
            is_page = path.method == "GET" and not path.path.startswith("/api/")
            return RedirectResponse("/sign-in", 303) if is_page else _problem(401, "sign in first")
        if session[0].role != EVERYTHING and session[0].role not in path.roles:
            return _problem(403, "your role does not allow this")
        if room.clock() - session[1] > _TOUCH_SECONDS:
            room.write(lambda journal: guard.touch_session(journal.db, token, room.clock()))
    if any(isinstance(parameter, int) and parameter > _LARGEST for parameter in request.path_params.values()):
        return _problem(404, "there is no such thing")
    try:
        data = parse_json(body) if body else {}
        if not isinstance(data, dict):
            return _problem(422, "an object is expected")
        call = WebCall(
            room,
            session[0] if session is not None else NOBODY,
            request.path_params,
            request.query_params,
            data,
            token,
            request.client.host if request.client is not None else "",
            request.headers.get("sec-fetch-site", ""),
        )
        answer = path.handler(call)
    except RefusedError as error:
        return _problem(_STATUS[error.kind], str(error))
    except FieldassayError as error:
        return _problem(500, str(error))
    except (ValueError, OverflowError, RecursionError):
        return _problem(422, "this is not JSON")
    return answer if isinstance(answer, Response) else JSONResponse(answer)


def _problem(status: int, text: str) -> Response:
    return JSONResponse({"problem": text}, status)


# Running the server of a review: for one person on this machine, or for a team.

LOOPBACK = "127.0.0.1"
MOST_CONNECTIONS = 256
_WORKERS = 2
"""Child processes for documents: while one reads a slow document, the others' pages come from the second."""


class Address(Struct, frozen=True):
    """Where a server for a team listens; `behind` is the address of a proxy that ends TLS and asks here."""

    host: str = LOOPBACK
    port: int = 0
    behind: str | None = None

    def site(self, port: int) -> Site:
        """Return the addresses that are answered, once the port is known.

        Raises `ProblemsError` for an address that would send passwords in the open.
        """
        if self.behind is None:
            if self.host not in (LOOPBACK, "::1", "localhost"):
                what = f"{self.host} is reached by others, and passwords would be readable on the way"
                remedy = "give --behind with the address of a proxy that ends TLS"
                raise problem("--host", what, remedy, "invalid_option")
            return Site(frozenset({f"[{self.host}]:{port}" if ":" in self.host else f"{self.host}:{port}"}))
        proxy = urlsplit(self.behind)
        if not proxy.netloc:
            what, remedy = f"{self.behind[:100]!r} is not an address", "write https://review.example"
            raise problem("--behind", what, remedy, "invalid_option")
        return Site(frozenset({proxy.netloc.lower()}), proxy.scheme)


@contextmanager
def open_room(
    store: Store, cookie: str, *, is_secure: bool = False, documents: Path | None = None
) -> Iterator[ReviewRoom]:
    """Yield what the handlers share; old sessions are over when it begins, and its own when it ends.

    `documents` are those of the review, where they have another place now.
    Raises `ProblemsError` when another server has the review, or its documents are not there.
    """
    form, facts = read_form(store)
    with ExitStack() as stack:
        stack.enter_context(store.serving())
        writer = stack.enter_context(closing(connect(store.file)))
        pool = stack.enter_context(DocumentPool(_WORKERS, LIMITS))
        with store.reading() as db:
            digests = dict(db.execute("SELECT path, sha256 FROM document WHERE path IS NOT NULL"))
        pages = Pages(_find_documents(facts, documents), pool, digests)
        room = ReviewRoom(store, form, pages, writer, cookie, is_secure)
        room.write(lambda journal: guard.end_sessions(journal.db))
        yield room
        room.write(lambda journal: guard.end_sessions(journal.db))


def _find_documents(facts: Mapping[str, Any], moved: Path | None) -> Path | None:
    """Return where the documents of a review are. Raises `ProblemsError` where they are not."""
    made_with = facts["documents"]
    if made_with is None and moved is not None:
        what, remedy = "the review was made without documents", "make one with `review new --documents`"
        raise problem("--documents", what, remedy, "invalid_option")
    folder = moved or (None if made_with is None else Path(made_with))
    if folder is not None and not folder.exists():
        what, remedy = "the documents are not there", "say with --documents where they are now"
        raise problem(folder, what, remedy, "unreadable_file")
    return folder


def serve_team(
    store: Store, address: Address, tell: Callable[[str], None], documents: Path | None = None
) -> None:
    """Serve a review to people with accounts until interrupted; `tell` gets the address.

    Raises `ProblemsError` without accounts, and for an address that is not safe.
    """
    address.site(0)
    with store.reading() as db:
        ready = db.execute(
            "SELECT count(*) FROM person WHERE password IS NOT NULL AND disabled=0"
        ).fetchone()[0]
    if not ready:
        remedy = "add people with `fieldassay review team DIR add NAME`"
        raise problem(store.folder, "has no accounts", remedy, "no_accounts")
    listener = listen(address.host, address.port)
    number = listener.getsockname()[1]
    site = address.site(number)
    is_secure = site.scheme == "https"
    with open_room(
        store,
        "__Host-fieldassay" if is_secure else f"fieldassay-{number}",
        is_secure=is_secure,
        documents=documents,
    ) as room:
        tell(sorted(site.origins)[0])
        make_server(make_app(room, site)).run(sockets=[listener])


def open_alone(
    store: Store,
    tell: Callable[[str], None],
    *,
    opens_browser: bool = True,
    port: int = 0,
    documents: Path | None = None,
) -> None:
    """Serve a review to the person at this machine until interrupted.

    `tell` gets the one-time link. Raises `ProblemsError` where a team has accounts already.
    """
    _ensure_alone(store)
    listener = listen(LOOPBACK, port)
    number = listener.getsockname()[1]
    site = Site(frozenset({f"{LOOPBACK}:{number}", f"localhost:{number}"}))
    with open_room(store, f"fieldassay-{number}", documents=documents) as room:
        link = f"http://{LOOPBACK}:{number}/enter?ticket={make_ticket(room)}"
        tell(link)
        if opens_browser:
            threading.Timer(0.5, open_browser, (link,)).start()
        make_server(make_app(room, site)).run(sockets=[listener])


def _ensure_alone(store: Store) -> None:
    with store.reading() as db:
        roles = [role for (role,) in db.execute("SELECT role FROM person")]
    if not roles:
        store.write(lambda journal: guard.add_person(journal, "me", guard.EVERYTHING, None))
    elif roles != [guard.EVERYTHING]:
        what = "belongs to a team"
        remedy = "start it with `fieldassay review team DIR`"
        raise problem(store.folder, what, remedy, "review_of_team")


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens. Raises `ProblemsError` for an address that cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Only of a socket that names TCP does asyncio turn off the delay of small packets (40 ms per answer).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        what = f"cannot be served ({error.strerror or error})"
        raise problem(f"{host}:{port}", what, "name another address or port", "bad_address") from None
    return listener


def make_server(app: App) -> Any:
    """Return the server of an application: `run(sockets=…)` serves until it is interrupted."""
    config = uvicorn.Config(
        app,
        http="h11",
        limit_concurrency=MOST_CONNECTIONS,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=3,
    )
    return uvicorn.Server(config)
