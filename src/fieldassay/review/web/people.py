"""The people of a review: accounts, passwords, and the sessions of their browsers."""

import hashlib
import secrets
import sqlite3
from typing import Any

from fieldassay.errors import MissingExtraError, install_line, nearest, problem
from fieldassay.review.log import ReviewEvent, ReviewJournal
from fieldassay.review.sheets.sheets import Person, release_all

ROLES = ("reviewer", "adjudicator", "lead", "observer")
EVERYTHING = "alone"
"""The role of somebody who works alone: all of them."""
SESSION_SECONDS, IDLE_SECONDS = 12 * 3600.0, 2 * 3600.0
_SHORTEST = 10


def add_person(journal: ReviewJournal, name: str, role: str, password: str | None) -> Person:
    """Return a new person, under the next alias. Names and passwords are in no event."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise problem("name", "is no name", "give 1 to 100 characters", "invalid_option")
    if journal.db.execute("SELECT 1 FROM person WHERE name=?", (name,)).fetchone():
        what = f"there is a person {name!r} already"
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
        names = [one for (one,) in db.execute("SELECT name FROM person WHERE name IS NOT NULL")]
        what = f"no person has the name {name[:100]!r}"
        raise problem("name", what, nearest(name[:100], names or ["-"]), "unknown_name")
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
