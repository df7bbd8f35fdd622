"""The log of a review: its events, its tables, and how they are written."""

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from fieldassay.errors import ProblemsError, problem
from fieldassay.io.files.whole_files import lock_file
from fieldassay.paths import ITEM, Step, field_of, join_path, split_path


class Showing(StrEnum):
    """What stands in the field of a value before the reviewer answers."""

    PREDICTION = "prediction"
    NOTHING = "nothing"
    CONTEXT = "context"
    """Not asked: shown beside asked values of its item, so that the item can be found on the page."""


class Reason(StrEnum):
    """Why a value is asked, besides the reasons of a review policy."""

    AUDIT = "random audit"
    NOT_PREDICTED = "not predicted"
    DOUBLE = "double review"
    DOUBLE_FLAGGED = "double review, sent to review by the policy"
    NO_PREDICTIONS = "no predictions"
    SUSPICIOUS = "all systems contradict gold"
    CONTEXT = "context"


# Nodes: the places of a document that are asked, under paths that stay when items come and go.


def items_above(path: str) -> Iterator[tuple[str, str]]:
    """Yield the list and the item of each item that a path is in, outermost first.

    >>> list(items_above("lines[3].parts[0].sku"))
    [('lines', 'lines[3]'), ('lines[3].parts', 'lines[3].parts[0]')]
    """
    if "[" in path:
        steps: tuple[Step, ...] = split_path(path)
        for end, step in enumerate(steps, 1):
            if isinstance(step, int) and step != ITEM:
                yield join_path(steps[: end - 1]), join_path(steps[:end])


def list_items(paths: Iterable[str]) -> dict[str, list[str]]:
    """Return the items that paths are in, by list, by rising numbers.

    >>> list_items(["lines[3].sku", "total", "lines[1].sku", "lines[3].amount"])
    {'lines': ['lines[1]', 'lines[3]']}
    """
    items_by_list: dict[str, set[str]] = {}
    for path in paths:
        for listed, item in items_above(path):
            items_by_list.setdefault(listed, set()).add(item)
    return {listed: sorted(items, key=number_of) for listed, items in items_by_list.items()}


def emptied_lists(nodes: Iterable[str], live: Collection[str]) -> set[str]:
    """Return the lists that asked places are in and that have no item left, in items that are there.

    >>> sorted(emptied_lists(["lines[0].sku", "lines[0].tags[0]", "codes[0]"], ["lines[0]"]))
    ['codes', 'lines[0].tags']
    """
    filled = {listed for item in live for listed, _ in items_above(item)}
    lists = {listed for node in nodes for listed, _ in items_above(node)} - filled
    return {listed for listed in lists if all(item in live for _, item in items_above(listed))}


def number_of(item: str) -> int:
    """Return the number at the end of the path of an item."""
    last = split_path(item)[-1]
    return last if isinstance(last, int) else ITEM


def is_in_list(path: str) -> bool:
    """Return whether a path leads through an item of a list."""
    return field_of(path) != path


# The events of a review: one table to which rows are only added, and the tables that follow from it.


def now() -> str:
    """Return the time in UTC as an event holds it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


class ReviewEvent(Struct, frozen=True):
    """Something that happened: its kind and body, who did it (an alias), and the sheet it is about."""

    kind: str
    body: Mapping[str, Any]
    actor: str
    sheet: int | None = None


class ReviewJournal(Struct, frozen=True, eq=False):
    """The log of one open transaction: appends events, and brings the tables up to each."""

    db: sqlite3.Connection
    clock: Callable[[], str] = now

    def append(self, entry: ReviewEvent) -> int:
        """Return the number of the new event. Raises KeyError for an unknown kind."""
        body = json.dumps(entry.body, allow_nan=False)
        [[seq]] = self.db.execute(
            "INSERT INTO event(at, actor, kind, sheet, body) VALUES (?,?,?,?,?) RETURNING seq",
            (self.clock(), entry.actor, entry.kind, entry.sheet, body),
        ).fetchall()
        _KINDS[entry.kind](self.db, seq, -1 if entry.sheet is None else entry.sheet, entry.body)
        return int(seq)


# The tables follow from the events: what each kind changes, and nothing else changes them

Body: TypeAlias = Mapping[str, Any]


def _fact(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.executemany(
        "INSERT OR REPLACE INTO fact VALUES (?,?)",
        [(name, json.dumps(value, sort_keys=True)) for name, value in body.items()],
    )


def _document(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    number = body["id"]
    db.execute(
        "INSERT INTO document VALUES (?,?,?,?,?)",
        (number, body["name"], body["path"], body["sha256"], body["gold_digest"]),
    )
    db.executemany(
        "INSERT INTO asked VALUES (?,?,?,?,?,?,?,?,?,?,?)",
        [(number, value[0], place, *value[1:]) for place, value in enumerate(body["asked"])],
    )
    for sheet_body in body["sheets"]:
        db.execute(
            "INSERT INTO sheet VALUES (?,?,?,?,?,'open',NULL,NULL,NULL,NULL)",
            (sheet_body["id"], number, sheet_body["slot"], sheet_body["blind"], sheet_body["margin"]),
        )
        _first_items(db, sheet_body["id"])


def _write_items(db: sqlite3.Connection, sheet: int, listed: str, nodes: list[str]) -> None:
    db.executemany(
        "INSERT INTO item VALUES (?,?,?,?)", [(sheet, listed, node, rank) for rank, node in enumerate(nodes)]
    )


def _first_items(db: sqlite3.Connection, sheet: int) -> None:
    """Write the items that the asked values of a sheet are in."""
    rows = db.execute(
        "SELECT node FROM asked WHERE document=(SELECT document FROM sheet WHERE id=?)", (sheet,)
    )
    for listed, nodes in list_items(node for (node,) in rows).items():
        _write_items(db, sheet, listed, nodes)


def _person(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute(
        "INSERT INTO person(id, alias, role, disabled) VALUES (?,?,?,?) "
        "ON CONFLICT(id) DO UPDATE SET role=excluded.role, disabled=excluded.disabled",
        (body["id"], body["alias"], body["role"], body["disabled"]),
    )


def _claim(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    """Give a sheet to a person; labels that somebody else left on it are not shown, and begin anew."""
    person = body["person"]
    last = db.execute("SELECT last FROM sheet WHERE id=?", (sheet,)).fetchone()
    if last is not None and last[0] not in (None, person):
        for table in ("label", "region", "item"):
            db.execute(f"DELETE FROM {table} WHERE sheet=?", (sheet,))
        _first_items(db, sheet)
    db.execute("UPDATE sheet SET state='held', holder=?, last=? WHERE id=?", (person, person, sheet))


def _release(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("UPDATE sheet SET state='open', holder=NULL, until=NULL WHERE id=?", (sheet,))


def _decline(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    _release(db, seq, sheet, body)
    if db.execute("SELECT 1 FROM sheet WHERE id=?", (sheet,)).fetchone() is not None:
        db.execute("INSERT OR REPLACE INTO decline VALUES (?,?,?)", (sheet, body["person"], body["note"]))


def _label(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    node = body["node"]
    db.execute("DELETE FROM region WHERE sheet=? AND node=?", (sheet, node))
    if body["state"] == "open":
        db.execute("DELETE FROM label WHERE sheet=? AND node=?", (sheet, node))
        return
    db.execute(
        "INSERT INTO label VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(sheet, node) DO UPDATE SET "
        "state=excluded.state, text=excluded.text, flags=excluded.flags, "
        "origin=excluded.origin, note=excluded.note, person=excluded.person, "
        "active_ms=active_ms+excluded.active_ms, keys=keys+excluded.keys, seq=excluded.seq",
        (
            sheet, node, body["state"], body["text"], json.dumps(body["flags"]),
            body["origin"], body["note"], body["person"], body["active_ms"], body["keys"], seq,
        ),
    )  # fmt: skip
    db.executemany(
        "INSERT INTO region VALUES (?,?,?,?,?,?,?,?,?)",
        [
            (sheet, node, n, region["page"], *region["box"], region["text"])
            for n, region in enumerate(body["regions"])
        ],
    )


def _items(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("DELETE FROM item WHERE sheet=? AND list=?", (sheet, body["list"]))
    _write_items(db, sheet, body["list"], body["nodes"])


def _finish(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:
    db.execute(
        "UPDATE sheet SET state='done', holder=NULL, until=NULL, done_by=? WHERE id=?",
        (body["person"], sheet),
    )
    db.execute("INSERT OR REPLACE INTO finish VALUES (?,?,?)", (sheet, body["person"], seq))


def _undo(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute("UPDATE sheet SET state='held', holder=?, done_by=NULL WHERE id=?", (body["person"], sheet))
    db.execute("DELETE FROM finish WHERE sheet=?", (sheet,))


def _ruling(db: sqlite3.Connection, seq: int, sheet: int, body: Body) -> None:  # noqa: ARG001
    db.execute(
        "INSERT OR REPLACE INTO ruling VALUES (?,?,?,?,?,?,?)",
        (
            body["document"], body["node"], body["choice"], body["text"], body["person"], body["note"], seq,
        ),
    )  # fmt: skip
    if body["is_last"]:
        db.execute("UPDATE sheet SET state='adjudicated' WHERE document=?", (body["document"],))


_KINDS: Mapping[str, Callable[[sqlite3.Connection, int, int, Body], None]] = {
    "review": _fact,
    "document": _document,
    "person": _person,
    "claim": _claim,
    "release": _release,
    "decline": _decline,
    "label": _label,
    "items": _items,
    "finish": _finish,
    "undo": _undo,
    "ruling": _ruling,
    "close": _fact,
    "promotion": _fact,
}


# A review on disk: a folder with a database, made whole or not at all, written in single transactions.

Outcome = TypeVar("Outcome")

_LOCK = "server.lock"


class Store(Struct, frozen=True):
    """The folder of a review."""

    folder: Path
    clock: Callable[[], str] = now

    @property
    def file(self) -> Path:
        """Return the file of the database."""
        return self.folder / FILE

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection for reading. Raises `ProblemsError` for a folder that is no review."""
        with closing(connect(self.file, is_reading=True)) as db:
            try:
                yield db
            except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
                raise damaged(self.file, error) from None

    def write(
        self, work: Callable[[ReviewJournal], Outcome], writer: sqlite3.Connection | None = None
    ) -> Outcome:
        """Return the outcome of one transaction; it is on the disk, or nothing changed.

        Others may write at the same time, a server too: SQLite lets one transaction write at a time.
        `writer` is a connection that stays open, by which many transactions take a tenth of the time.
        Raises `ProblemsError` where nothing can be written, such as on a full disk.
        """
        with nullcontext(writer) if writer is not None else closing(connect(self.file)) as db:
            try:
                db.execute("BEGIN IMMEDIATE")
                try:
                    outcome = work(ReviewJournal(db, self.clock))
                    db.execute("COMMIT")
                finally:
                    if db.in_transaction:
                        db.execute("ROLLBACK")
            except sqlite3.OperationalError as error:
                raise unwritable(self.file, error) from None
            return outcome

    def append(self, entry: ReviewEvent) -> int:
        """Return the number of a new event."""
        return self.write(lambda journal: journal.append(entry))

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Keep other servers from the review. Raises `ProblemsError` where one has it."""
        with (self.folder / _LOCK).open("ab") as stream:
            try:
                lock_file(stream.fileno(), self.folder / _LOCK)
            except BlockingIOError:
                remedy = "open its address in the browser, or stop that server"
                raise problem(
                    self.folder, "another server has this review", remedy, "review_served"
                ) from None
            yield


def create_store(
    folder: Path,
    entries: Iterable[ReviewEvent],
    clock: Callable[[], str] = now,
) -> Store:
    """Return a new review with its first events, in a folder that holds none yet.

    Raises `ProblemsError` if the folder holds a review, or cannot be written; then nothing is left behind.
    """
    folder.mkdir(_OWNER_FOLDER, parents=True, exist_ok=True)
    check_place(folder)
    target, staged = folder / FILE, folder / f".{FILE}.new"
    if target.exists():
        remedy = "name another folder; `fieldassay review status` says how far this one is"
        raise problem(folder, "holds a review already", remedy, "review_exists")
    staged.unlink(missing_ok=True)
    try:
        _fill(staged, entries, clock)
        staged.rename(target)
    except sqlite3.OperationalError as error:
        raise unwritable(target, error) from None
    finally:
        for name in (staged.name, f"{staged.name}-journal", f"{staged.name}-wal", f"{staged.name}-shm"):
            (folder / name).unlink(missing_ok=True)
    return Store(folder, clock)


_OWNER_FOLDER, _OWNER_FILE = 0o700, 0o600
"""The modes of a new review: sessions and values of documents are for its owner alone."""


def _fill(staged: Path, entries: Iterable[ReviewEvent], clock: Callable[[], str]) -> None:
    staged.touch(_OWNER_FILE)
    with closing(sqlite3.connect(staged, isolation_level=None)) as db:
        db.execute("PRAGMA foreign_keys=ON")
        db.execute("PRAGMA synchronous=OFF")
        create_tables(db)
        db.execute("BEGIN IMMEDIATE")
        journal = ReviewJournal(db, clock)
        for entry in entries:
            journal.append(entry)
        db.execute("COMMIT")
        db.execute("PRAGMA synchronous=FULL")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def read_facts(db: sqlite3.Connection) -> dict[str, Any]:
    """Return the facts of a review by name: its spec, seed, shares, and whether it is closed."""
    return {name: json.loads(value) for name, value in db.execute("SELECT name, value FROM fact")}


# The database: its tables, and how it is opened

VERSION = 3
FILE = "review.sqlite"
_APPLICATION = 0x6661_7276
_OLDEST_SQLITE = (3, 37)
_BUSY_SECONDS = 30.0

_EVENTS = """
CREATE TABLE event(
  seq INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, kind TEXT NOT NULL, sheet INTEGER,
  body TEXT NOT NULL) STRICT;
CREATE INDEX event_sheet ON event(sheet) WHERE sheet IS NOT NULL;
CREATE TRIGGER event_kept BEFORE DELETE ON event BEGIN SELECT RAISE(ABORT, 'events are kept'); END;
CREATE TRIGGER event_fixed BEFORE UPDATE ON event BEGIN SELECT RAISE(ABORT, 'events are fixed'); END;
"""

_PROJECTIONS = """
CREATE TABLE fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE document(
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, path TEXT, sha256 TEXT, gold_digest TEXT) STRICT;
CREATE TABLE asked(
  document INTEGER NOT NULL REFERENCES document(id), node TEXT NOT NULL, place INTEGER NOT NULL,
  field TEXT NOT NULL, shown TEXT NOT NULL, given TEXT, predicted TEXT, truth TEXT, reason TEXT NOT NULL,
  margin REAL NOT NULL, probability REAL NOT NULL, PRIMARY KEY(document, node)) STRICT, WITHOUT ROWID;
CREATE TABLE sheet(
  id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES document(id), slot INTEGER NOT NULL,
  blind INTEGER NOT NULL, margin REAL NOT NULL, state TEXT NOT NULL, holder INTEGER, done_by INTEGER,
  last INTEGER, until TEXT, UNIQUE(document, slot)) STRICT;
CREATE INDEX sheet_queue ON sheet(state, margin DESC, id);
CREATE INDEX sheet_holder ON sheet(holder) WHERE holder IS NOT NULL;
CREATE INDEX sheet_done_by ON sheet(done_by) WHERE done_by IS NOT NULL;
CREATE TABLE label(
  sheet INTEGER NOT NULL REFERENCES sheet(id), node TEXT NOT NULL, state TEXT NOT NULL, text TEXT,
  flags TEXT NOT NULL, origin TEXT NOT NULL, note TEXT NOT NULL, person INTEGER NOT NULL,
  active_ms INTEGER NOT NULL, keys INTEGER NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(sheet, node)) STRICT, WITHOUT ROWID;
CREATE TABLE item(
  sheet INTEGER NOT NULL REFERENCES sheet(id), list TEXT NOT NULL, node TEXT NOT NULL, rank INTEGER NOT NULL,
  PRIMARY KEY(sheet, list, node)) STRICT, WITHOUT ROWID;
CREATE TABLE region(
  sheet INTEGER NOT NULL REFERENCES sheet(id), node TEXT NOT NULL, n INTEGER NOT NULL, page INTEGER NOT NULL,
  x0 REAL NOT NULL, y0 REAL NOT NULL, x1 REAL NOT NULL, y1 REAL NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY(sheet, node, n)) STRICT, WITHOUT ROWID;
CREATE TABLE finish(
  sheet INTEGER PRIMARY KEY REFERENCES sheet(id), person INTEGER NOT NULL, seq INTEGER NOT NULL) STRICT;
CREATE TABLE ruling(
  document INTEGER NOT NULL REFERENCES document(id), node TEXT NOT NULL, choice TEXT NOT NULL, text TEXT,
  person INTEGER NOT NULL, note TEXT NOT NULL, seq INTEGER NOT NULL,
  PRIMARY KEY(document, node)) STRICT, WITHOUT ROWID;
CREATE TABLE decline(
  sheet INTEGER NOT NULL REFERENCES sheet(id), person INTEGER NOT NULL, note TEXT NOT NULL,
  PRIMARY KEY(sheet, person)) STRICT, WITHOUT ROWID;
CREATE TABLE person(
  id INTEGER PRIMARY KEY, alias TEXT NOT NULL UNIQUE, role TEXT NOT NULL, disabled INTEGER NOT NULL,
  name TEXT UNIQUE, password TEXT) STRICT;
"""

_BESIDE = """
CREATE TABLE session(
  token_hash BLOB PRIMARY KEY, person INTEGER NOT NULL, created REAL NOT NULL, used REAL NOT NULL)
  STRICT, WITHOUT ROWID;
CREATE TABLE seen(key TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
"""


def create_tables(db: sqlite3.Connection) -> None:
    """Create all tables in an empty database."""
    db.executescript(_EVENTS + _PROJECTIONS + _BESIDE)
    db.execute(f"PRAGMA application_id={_APPLICATION}")
    db.execute(f"PRAGMA user_version={VERSION}")


def connect(file: Path, *, is_reading: bool = False) -> sqlite3.Connection:
    """Return a connection to the database of a review, in autocommit mode.

    Every commit is on the disk when it returns. Raises `ProblemsError` for anything but a review of this
    version, and for a file system on which a write-ahead log does not work.
    """
    check_place(file.parent)
    if not file.is_file():
        remedy = "name the folder of a review, or make one with `fieldassay review new`"
        raise problem(file.parent, "is not a review", remedy, "not_a_review")
    try:
        db = sqlite3.connect(
            f"{file.resolve().as_uri()}?mode={'ro' if is_reading else 'rw'}",
            uri=True,
            timeout=_BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        version, application = (
            db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("user_version", "application_id")
        )
        for pragma in ("foreign_keys=ON", "synchronous=FULL", "secure_delete=ON", "trusted_schema=OFF"):
            db.execute(f"PRAGMA {pragma}")
    except sqlite3.OperationalError as error:
        what, remedy = (
            f"cannot be opened ({error})",
            "see that its disk has room, and that you may write there",
        )
        raise problem(file, what, remedy, "unwritable_review") from None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the library cannot decode the text of some errors
        raise damaged(file, error) from None
    if application != _APPLICATION or version < 1:
        raise damaged(file, "another kind of database")
    if version != VERSION:
        what = f"has version {version} of the format, and this release reads only {VERSION}"
        remedy = "install the release of fieldassay that wrote it, and finish and export it there"
        raise problem(file, what, remedy, "version")
    return db


def damaged(file: Path, reason: object) -> ProblemsError:
    """Return the error for a file that is not the database of a review."""
    return problem(
        file, f"is not the database of a review ({reason})", "restore it from a backup", "bad_review"
    )


def unwritable(file: Path, error: sqlite3.Error) -> ProblemsError:
    """Return the error for a database that takes no more, such as on a full disk."""
    what, remedy = f"cannot be written ({error})", "make room on its disk; nothing was saved"
    return problem(file, what, remedy, "unwritable_review")


_REMOTE = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "fuse.sshfs")
_MOUNTS = Path("/proc/mounts")


def check_place(folder: Path, mounts: Path = _MOUNTS) -> None:
    """Raise `ProblemsError` for a network file system, and for a library without strict tables."""
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        what = f"has SQLite {sqlite3.sqlite_version}, and a review needs 3.37"
        raise problem("Python", what, "install a newer Python", "sqlite_version")
    kind = _file_system(folder, mounts)
    if kind in _REMOTE:
        what = f"is on a network file system ({kind}), on which a database loses writes"
        remedy = "put the review on a local disk"
        raise problem(folder, what, remedy, "network_file_system")


def _file_system(folder: Path, mounts: Path) -> str:
    """Return the type of the file system that a folder is on, as the system names it; empty if unknown."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    place = os.fspath(folder.resolve())
    best, kind = -1, ""
    for line in lines:
        parts = line.split(" ")
        point = parts[1].replace("\\040", " ") if len(parts) > 2 else ""
        is_above = place == point or place.startswith(point.rstrip("/") + "/")
        if point and is_above and len(point) >= best:
            best, kind = len(point), parts[2]
    return kind
