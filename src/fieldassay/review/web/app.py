"""The server of a review: every route in one table, each with the roles that may use it."""

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

from msgspec import Struct
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from fieldassay.errors import FieldassayError
from fieldassay.io.files.typed_json import parse_json
from fieldassay.review.sheets.sheets import Person, RefusedError
from fieldassay.review.web import people, routes
from fieldassay.review.web.guard import App, Guard, Message, Site
from fieldassay.review.web.people import EVERYTHING, ROLES
from fieldassay.review.web.room import ReviewRoom, WebCall

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
    WebRoute("/history/{document:int}", "GET", routes.shell("history"), WATCHING),
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
    WebRoute("/api/history/{document:int}", "GET", routes.history, WATCHING),
    WebRoute("/api/read", "POST", routes.read_text, LABELING),
    WebRoute("/api/pages/{document:int}", "GET", routes.list_pages, LABELING),
    WebRoute("/api/pages/{document:int}/{page:int}", "GET", routes.draw_page, LABELING),
    WebRoute("/api/pages/{document:int}/{page:int}/words", "GET", routes.list_words, LABELING),
    WebRoute("/api/pages/{document:int}/find", "POST", routes.find_value, LABELING),
)


def make_app(room: ReviewRoom, site: Site) -> App:
    """Return the server as an ASGI application, the guard around it."""
    routes = [Route(one.path, _endpoint(room, one), methods=[one.method]) for one in PATHS]

    async def has_session(scope: Message) -> bool:
        with suppress(sqlite3.Error):  # the route says so
            return (await run_in_threadpool(_session, room, Request(scope)))[1] is not None
        return False

    return Guard(Starlette(routes=routes), site, has_session)


def _session(room: ReviewRoom, request: Request) -> tuple[str, tuple[Person, float] | None]:
    """Return the token of a request, and who has a session by it since when."""
    token = request.cookies.get(room.cookie, "")
    return token, people.find_session(room.db, token, room.clock()) if token else None


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
    token, found = _session(room, request)
    if path.roles:
        if found is None:
            is_page = path.method == "GET" and not path.path.startswith("/api/")
            return RedirectResponse("/sign-in", 303) if is_page else _problem(401, "sign in first")
        if found[0].role != EVERYTHING and found[0].role not in path.roles:
            return _problem(403, "your role does not allow this")
        if room.clock() - found[1] > _TOUCH_SECONDS:
            room.write(lambda journal: people.touch_session(journal.db, token, room.clock()))
    if any(isinstance(one, int) and one > _LARGEST for one in request.path_params.values()):
        return _problem(404, "there is no such thing")
    try:
        data = parse_json(body) if body else {}
        if not isinstance(data, dict):
            return _problem(422, "an object is expected")
        call = WebCall(
            room,
            found[0] if found is not None else NOBODY,
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
