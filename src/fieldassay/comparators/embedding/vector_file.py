"""Vectors in a file that several processes may use at once; what is damaged in it is found out and made again."""

from __future__ import annotations

import hashlib
import os
import re
import sqlite3
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

Vectors: TypeAlias = Mapping[bytes, bytes]
"""The bytes of vectors by the keys of their texts."""

MOST_BYTES = 1 << 30
"""Size of one file; beyond it the older half of the vectors goes."""
MOST_BYTES_OF_OTHERS = 2 << 30
"""Size of all the other files together; beyond it those not used for longest go."""
_AT_ONCE = 500
"""Keys of one query; SQLite of old took 999 parameters."""
_PATIENCE_SECONDS = 4.0
_PAGE = 16_384
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_MISMATCH}
"""What SQLite says of a file that is none of ours; SQLITE_ERROR stands for other tables and columns."""
_NAME = re.compile(r"[0-9a-f]{64}\.sqlite")
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, seal BLOB NOT NULL)"
_OLDER_HALF = "DELETE FROM vectors WHERE rowid <= (SELECT rowid FROM vectors ORDER BY rowid LIMIT 1 OFFSET (SELECT count(*) / 2 FROM vectors))"


class CacheWarning(UserWarning):
    """The embedding cache could not be used, or not all of it. It changes no number."""


@cache
def warn_once(message: str) -> None:
    """Issue a `CacheWarning`, each message once per process."""
    warnings.warn_explicit(f"{message}; no number changes", CacheWarning, "<fieldassay>", 1)


@dataclass(frozen=True, slots=True)
class VectorFile:
    """The vectors of one encoder, each of `size` bytes, in `folder`. `room` is a SHA-256 in hexadecimal that tells encoders apart.

    Every vector is sealed: a digest over the room, the key and the vector stands beside it, and what does not fit it is not believed. Nothing
    here raises: without a usable file nothing is found, and nothing is kept.
    """

    folder: Path
    room: str
    size: int

    @property
    def path(self) -> Path:
        """Return the file."""
        return self.folder / f"{self.room}.sqlite"

    def load(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return those of the vectors that the file has."""
        found: dict[bytes, bytes] = {}
        if not _exists(self.path):
            return found
        with self._tolerance("read"), closing(self._open()) as connection:
            if not _has_table(connection):  # another process has just begun the file
                return found
            for at in range(0, len(keys), _AT_ONCE):
                found |= self._believed(_select(connection, keys[at : at + _AT_ONCE]))
        return found

    def save(self, vectors: Vectors) -> None:
        """Keep the vectors, as far as the disk allows."""
        with self._tolerance("written"):
            is_new = not _exists(self.path)
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as connection:
                self._insert(connection, vectors)
            if is_new:
                _clear_others(self.path)

    def _open(self) -> sqlite3.Connection:
        if os.access(self.folder, os.W_OK):
            return sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS, isolation_level=None)
        return sqlite3.connect(f"{self.path.as_uri()}?immutable=1", uri=True, isolation_level=None)

    def _insert(self, connection: sqlite3.Connection, vectors: Vectors) -> None:
        connection.execute(f"PRAGMA page_size = {_PAGE}")
        connection.execute(
            "PRAGMA synchronous = OFF"
        )  # a power cut may damage the file, and a damaged file is found out
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_TABLE)
        rows = ((key, vector, self._seal(key, vector)) for key, vector in vectors.items())
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?)", rows)
        count, free, size = (
            _number(connection, pragma) for pragma in ("page_count", "freelist_count", "page_size")
        )
        if (count - free) * size > MOST_BYTES:
            connection.execute(_OLDER_HALF)
        connection.execute("COMMIT")

    def _believed(self, rows: Sequence[tuple[object, ...]]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for key, vector, seal in rows:
            if (
                isinstance(key, bytes)
                and isinstance(vector, bytes)
                and len(vector) == self.size
                and seal == self._seal(key, vector)
            ):
                found[key] = vector
            else:
                warn_once(f"the embedding cache {self.path} has damaged vectors, which are computed again")
        return found

    def _seal(self, key: bytes, vector: bytes) -> bytes:
        return hashlib.blake2b(key + vector, key=bytes.fromhex(self.room), digest_size=16).digest()

    @contextmanager
    def _tolerance(self, doing: str) -> Iterator[None]:
        """Turn whatever a file can be, or a disk can do, into a warning."""
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(
                error, "sqlite_errorcode", None
            )  # the module itself, not SQLite, refuses text that is no UTF-8: without a code
            if (sqlite3.SQLITE_CORRUPT if code is None else code & 0xFF) in _DAMAGED:
                warn_once(f"the embedding cache {self.path} is damaged ({error}) and is begun anew")
                self._remove()
            else:
                warn_once(f"the embedding cache {self.path} cannot be {doing} ({error})")
        except OSError as error:
            warn_once(f"the embedding cache {self.path} cannot be {doing} ({error})")

    def _remove(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                warn_once(f"the embedding cache {path} cannot be removed ({error})")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a folder that nobody may look into, a name that is too long
        return False


def _has_table(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'vectors'").fetchone() is not None


def _select(connection: sqlite3.Connection, keys: Sequence[bytes]) -> list[tuple[object, ...]]:
    marks = ",".join("?" * len(keys))
    return connection.execute(
        f"SELECT key, vector, seal FROM vectors WHERE key IN ({marks})", keys
    ).fetchall()


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    return int(connection.execute(f"PRAGMA {pragma}").fetchone()[0])


def _clear_others(path: Path) -> None:
    """Remove the files of other encoders that were not used for longest, as far as there is too much of them."""
    used: list[tuple[float, int, Path]] = []
    for other in path.parent.iterdir():
        with suppress(FileNotFoundError):  # another process was faster
            status = other.stat()
            used.append((max(status.st_mtime, status.st_atime), status.st_size, other))
    total = 0
    for _, size, other in sorted(used, reverse=True):
        if _NAME.fullmatch(other.name) and other != path:
            total += size
            if total > MOST_BYTES_OF_OTHERS:
                other.unlink(missing_ok=True)
