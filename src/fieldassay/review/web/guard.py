"""Who may connect to the server of a review: hosts, accounts, passwords and sessions."""

import asyncio
import hashlib
import json
import re
import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeAlias

from msgspec import Struct

from fieldassay.errors import MissingExtraError, install_line, nearest, problem
from fieldassay.review.log import ReviewEvent, ReviewJournal
from fieldassay.review.sheets.sheets import Person, release_all

# Who may connect to the server of a review.


# The gate around the whole server: refuses by default, before any route sees a request.

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

MOST_BYTES = 1 << 20
LITTLE = 1 << 16
"""Bytes of a body that anybody may send at any time, without a session too."""
_MOST_LARGE = 8
"""Larger bodies that are read at once; what is not read yet waits in its connection."""
_LONG_NUMBER = re.compile(r"/[0-9]{17,}(?:/|$)")
_READING = ("GET", "HEAD")
_WRITING = ("POST", "PUT")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'"
)
HEADERS: Mapping[str, str] = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
"""The headers of every answer that does not set them itself."""


class Site(Struct, frozen=True):
    """The addresses at which a server may be asked: hosts as a browser names them, and the scheme."""

    hosts: frozenset[str]
    scheme: str = "http"

    @property
    def origins(self) -> frozenset[str]:
        """Return the origins of the server's own pages."""
        return frozenset(f"{self.scheme}://{host}" for host in self.hosts)


class Refusal(Struct, frozen=True):
    """Why a request is refused, with the status of the answer."""

    status: int
    why: str


class Guard:
    """Wraps a server: whatever is not explicitly right is refused, other kinds of connections too."""

    def __init__(self, app: App, site: Site, has_session: Callable[[Message], Awaitable[bool]]) -> None:
        self._app = app
        self._site = site
        self._has_session = has_session
        self._large = asyncio.Semaphore(_MOST_LARGE)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one connection."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            return
        refusal = check(scope, self._site)
        if refusal is None:
            body = await self._body(scope, receive) if scope["method"] in _WRITING else b""
            refusal = Refusal(413, "the request is too large") if body is None else None
        if refusal is not None:
            await _refuse(refusal, send)
            return
        await self._app(scope, _replay(body or b"", receive), _with_headers(send))

    async def _body(self, scope: Message, receive: Receive) -> bytes | None:
        """Return the body, at most `LITTLE` of it without a session; None if it is too large."""
        length = int(dict(scope["headers"]).get(b"content-length", MOST_BYTES))
        if length <= LITTLE:
            return await _read(receive, LITTLE)
        if not await self._has_session(scope):
            return None
        async with self._large:
            return await _read(receive, MOST_BYTES)


def check(scope: Mapping[str, Any], site: Site) -> Refusal | None:
    """Return why a request is refused by where it comes from and what it is; None if it is not.

    SameSite cookies do not stop another port of this machine: only `Sec-Fetch-Site` and `Origin` tell it.
    """
    headers: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    repeated = [
        name
        for name in ("host", "origin", "sec-fetch-site", "content-type")
        if len(headers.get(name, ())) > 1
    ]
    header = {name: values[0] for name, values in headers.items()}
    if repeated or header.get("host", "").lower() not in site.hosts:
        return Refusal(421, "this address is not served here")
    method, path = scope["method"], scope["path"]
    if method not in (*_READING, *_WRITING):
        return Refusal(405, "no such method")
    if not path.startswith("/") or "\\" in path or "//" in path or "\0" in path or ".." in path.split("/"):
        return Refusal(400, "no such path")
    if _LONG_NUMBER.search(path):
        return Refusal(404, "there is no such thing")
    if "origin" in header and header["origin"] not in site.origins:
        return Refusal(403, "the request comes from another site")
    came_from = header.get("sec-fetch-site")
    is_navigation = (
        method == "GET"
        and header.get("sec-fetch-mode") == "navigate"
        and header.get("sec-fetch-dest") == "document"
    )
    if came_from in ("cross-site", "same-site") and not is_navigation:
        return Refusal(403, "the request comes from another site")
    return _check_writing(header, came_from) if method in _WRITING else None


def _check_writing(headers: Mapping[str, str], came_from: str | None) -> Refusal | None:
    if came_from != "same-origin" and "origin" not in headers:
        return Refusal(403, "the request does not come from a page of this server")
    if came_from not in (None, "same-origin"):
        return Refusal(403, "the request comes from another site")
    if headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        return Refusal(415, "send JSON")
    length = headers.get("content-length")
    if length is not None and (not length.isdigit() or int(length) > MOST_BYTES):
        return Refusal(413, "the request is too large")
    return None


async def _read(receive: Receive, most: int) -> bytes | None:
    """Return the body, counted as it arrives; None if it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            return None
        if not message.get("more_body"):
            return bytes(body)


def _replay(body: bytes, receive: Receive) -> Receive:
    is_given = False

    async def replay() -> Message:
        nonlocal is_given
        if is_given:
            return await receive()
        is_given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            names = {name.lower() for name, _ in message.get("headers", ())}
            message["headers"] = [
                *message.get("headers", ()),
                *(
                    (name.encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.encode() not in names
                ),
            ]
        await send(message)

    return send_with_headers


async def _refuse(refusal: Refusal, send: Send) -> None:
    body = json.dumps({"problem": refusal.why}).encode()
    head = {**HEADERS, "content-type": "application/json", "content-length": str(len(body))}
    await send(
        {
            "type": "http.response.start",
            "status": refusal.status,
            "headers": [(name.encode(), value.encode()) for name, value in head.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})


# The people of a review: accounts, passwords, and the sessions of their browsers.

ROLES = ("reviewer", "adjudicator", "lead", "observer")
EVERYTHING = "alone"
"""The role of somebody who works alone: all of them."""
SESSION_SECONDS, IDLE_SECONDS = 12 * 3600.0, 2 * 3600.0
_SHORTEST = 10


def add_person(journal: ReviewJournal, name: str, role: str, password: str | None) -> Person:
    """Return a new person, under the next alias. Names and passwords are in no event."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise problem("name", "is not a name", "give 1 to 100 characters", "invalid_option")
    if journal.db.execute("SELECT 1 FROM person WHERE name=?", (name,)).fetchone():
        what = f"there already is a person {name!r}"
        raise problem("name", what, "name them apart", "duplicate")
    number = 1 + journal.db.execute("SELECT coalesce(max(id), 0) FROM person").fetchone()[0]
    alias = f"r{number}"
    journal.append(
        ReviewEvent("person", {"id": number, "alias": alias, "role": role, "disabled": 0}, "command")
    )
    hashed = None if password is None else hash_password(password)
    journal.db.execute("UPDATE person SET name=?, password=? WHERE id=?", (name, hashed, number))
    return Person(number, alias, role)


def change_person(
    journal: ReviewJournal, name: str, *, role: str | None = None, is_disabled: bool = False
) -> None:
    """Change the role of a person, or disable the account; sessions end with that.

    The sheets that a disabled person holds go back into the queue.
    """
    number, alias, old = _find(journal.db, name)
    body = {"id": number, "alias": alias, "role": role or old, "disabled": int(is_disabled)}
    journal.append(ReviewEvent("person", body, "command"))
    if is_disabled:
        release_all(journal, Person(number, alias, old))
    end_sessions(journal.db, number)


def set_password(journal: ReviewJournal, name: str, password: str) -> None:
    """Change the password of a person; sessions end with that."""
    number, _, _ = _find(journal.db, name)
    journal.db.execute("UPDATE person SET password=? WHERE id=?", (hash_password(password), number))
    end_sessions(journal.db, number)


def _find(db: sqlite3.Connection, name: str) -> tuple[int, str, str]:
    row: tuple[int, str, str] | None = db.execute(
        "SELECT id, alias, role FROM person WHERE name=?", (name,)
    ).fetchone()
    if row is None:
        names = [other for (other,) in db.execute("SELECT name FROM person WHERE name IS NOT NULL")]
        what = f"no person has the name {name[:100]!r}"
        raise problem(
            "name", what, nearest(name[:100], names) if names else "add people first", "unknown_name"
        )
    return row


def list_people(db: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return everybody, with how many sheets each has finished."""
    return [
        {"alias": alias, "name": name, "role": role, "disabled": bool(disabled), "sheets": sheets}
        for alias, name, role, disabled, sheets in db.execute(
            "SELECT alias, name, role, disabled, (SELECT count(*) FROM sheet WHERE done_by=person.id) "
            "FROM person ORDER BY id"
        )
    ]


def hash_password(password: str) -> str:
    """Return the hash of a password. Raises `ProblemsError` for a short one."""
    if len(password) < _SHORTEST:
        remedy = f"give at least {_SHORTEST} characters"
        raise problem("password", "is too short", remedy, "invalid_option")
    return str(_hasher().hash(password))


_NO_ONE = "$argon2id$v=19$m=65536,t=3,p=4$ZiMFWhOf/GSfXBcWNRCu3g$si+6cEipDh8jdDZrdpf56szLt/zEMznrjpviSmZkhMU"
"""The hash that a password is held against where there is no account, so that it takes as long."""


def check_password(db: sqlite3.Connection, name: str, password: str) -> Person | None:
    """Return the person with a name and a password; None for every failure, after as long a time."""
    row = db.execute(
        "SELECT id, alias, role, password FROM person WHERE name=? AND disabled=0 AND password IS NOT NULL",
        (name,),
    ).fetchone()
    try:
        is_right = bool(_hasher().verify(_NO_ONE if row is None else row[3], password[:1000]))
    except Exception:  # the library has an error for each way in which a password is wrong
        is_right = False
    return Person(row[0], row[1], row[2]) if row is not None and is_right else None


def _hasher() -> Any:
    try:
        from argon2 import PasswordHasher
    except ImportError:
        raise missing_extra() from None
    return PasswordHasher()


def missing_extra() -> MissingExtraError:
    """Return the error for an installation without the extra of the review in the browser."""
    return MissingExtraError(
        f"reviewing in the browser needs the extra `review`; install it with: {install_line('review')}"
    )


def begin_session(db: sqlite3.Connection, person: int, now: float) -> str:
    """Return the token of a new session; the database holds its hash."""
    token = secrets.token_urlsafe(32)
    db.execute("INSERT INTO session VALUES (?,?,?,?)", (_hash(token), person, now, now))
    return token


def find_session(db: sqlite3.Connection, token: str, now: float) -> tuple[Person, float] | None:
    """Return the person of a session and when it was last used; None for an unknown or ended one."""
    row = db.execute(
        "SELECT person.id, alias, role, session.created, session.used FROM session JOIN person ON "
        "person.id=session.person WHERE token_hash=? AND disabled=0",
        (_hash(token),),
    ).fetchone()
    if row is None or now - row[3] > SESSION_SECONDS or now - row[4] > IDLE_SECONDS or now < row[3] - 60:
        return None
    return Person(row[0], row[1], row[2]), float(row[4])


def touch_session(db: sqlite3.Connection, token: str, now: float) -> None:
    """Note that a session is in use."""
    db.execute("UPDATE session SET used=? WHERE token_hash=?", (now, _hash(token)))


def end_session(db: sqlite3.Connection, token: str) -> None:
    """End one session."""
    db.execute("DELETE FROM session WHERE token_hash=?", (_hash(token),))


def end_sessions(db: sqlite3.Connection, person: int | None = None) -> None:
    """End the sessions of a person, or all."""
    db.execute("DELETE FROM session WHERE person=?1 OR ?1 IS NULL", (person,))


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
