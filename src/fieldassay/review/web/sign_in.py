"""Signing in: by name and password, or once by the link that the command prints."""

from __future__ import annotations

import secrets
from typing import Any

from starlette.responses import JSONResponse, RedirectResponse, Response

from fieldassay.review.sheets.sheets import Person, RefusedError
from fieldassay.review.web import people
from fieldassay.review.web.room import ReviewRoom, WebCall

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
        raise RefusedError("forbidden", "many people sign in just now; try again in a minute")
    try:  # one at a time: a hash takes 64 MB
        person = people.check_password(room.db, name, password)
    finally:
        room.hashing.release()
    if person is None:
        raise RefusedError("forbidden", "name and password do not fit")
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
    call.room.write(lambda journal: people.end_session(journal.db, call.token))
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
        raise RefusedError("forbidden", "this link was used, or is too old: run the command again")
    row = room.db.execute("SELECT id, alias, role FROM person WHERE role=?", (people.EVERYTHING,)).fetchone()
    return _begin(room, Person(*row), RedirectResponse("/", 303))


def _begin(room: ReviewRoom, person: Person, answer: Response) -> Response:
    token = room.write(lambda journal: people.begin_session(journal.db, person.id, room.clock()))
    answer.set_cookie(room.cookie, token, path="/", httponly=True, samesite="strict", secure=room.is_secure)
    return answer
