"""Vectors that are known already: from earlier in this process, or from the disk."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
from msgspec import Struct

from fieldassay.values.comparators.embedding.encoder import Array, Encoder, encoding_part, report_progress
from fieldassay.values.comparators.embedding.model_folders import ModelFolder
from fieldassay.values.comparators.embedding.models import Backend, digest_model, load_encoder

MOST_BYTES = 128 << 20
"""Size of the vectors that a process keeps of one encoder; some 87,000 of 384 numbers."""
MOST_FILE_BYTES = 1 << 30
"""Size of one file; beyond it the file is begun anew."""
PORTION = 512
"""Texts that are encoded and saved together: the most that an interrupted run loses."""
_STORED = np.dtype("<f4")
_SEAL = 8
_PATIENCE_SECONDS = 4.0
_TABLE = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, sealed BLOB NOT NULL)"
Vectors: TypeAlias = Mapping[bytes, Array]
"""Vectors by the keys of their texts."""
_Found = TypeVar("_Found")


def text_key(text: str) -> bytes:
    """Return the SHA-256 of a text; lone surrogates are part of it.

    >>> text_key("a\\ud800") == text_key("a\\ufffd")
    False
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


class VectorFile(Struct, frozen=True):
    """The vectors of one encoder in `folder`; `name` is a SHA-256 in hexadecimal that tells encoders apart.

    A damaged vector counts as missing, a damaged file is removed, and without a usable file nothing is found
    or kept: none of this changes a number.
    """

    folder: Path
    name: str

    @property
    def path(self) -> Path:
        """Return the file, a SQLite database: several processes may use it at once."""
        return self.folder / f"{self.name}.sqlite"

    def load(self, keys: Sequence[bytes]) -> dict[bytes, Array]:
        """Return those of the vectors that the file has."""
        query = f"SELECT key, CAST(sealed AS BLOB) FROM vectors WHERE key IN ({','.join('?' * len(keys))})"
        nothing: list[tuple[bytes, bytes]] = []
        rows = self._try(lambda connection: connection.execute(query, keys).fetchall(), nothing)
        return {
            key: np.frombuffer(sealed[:-_SEAL], dtype=_STORED)
            for key, sealed in rows
            if sealed[-_SEAL:] == self._seal(key, sealed[:-_SEAL])
        }

    def save(self, vectors: Vectors) -> None:
        """Keep the vectors, as far as the disk allows."""
        stored = ((key, vector.astype(_STORED).tobytes()) for key, vector in vectors.items())
        rows = [(key, data + self._seal(key, data)) for key, data in stored]
        with suppress(OSError):
            if self.path.stat().st_size > MOST_FILE_BYTES:
                self._remove()
        insert = "INSERT OR REPLACE INTO vectors VALUES (?, ?)"
        self._try(lambda connection: connection.executemany(insert, rows), None)

    def _seal(self, key: bytes, data: bytes) -> bytes:
        return hashlib.blake2b(key + data, key=bytes.fromhex(self.name), digest_size=_SEAL).digest()

    def _try(self, work: Callable[[sqlite3.Connection], _Found], otherwise: _Found) -> _Found:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_PATIENCE_SECONDS)) as connection, connection:
                connection.execute(_TABLE)
                return work(connection)
        except (OSError, sqlite3.OperationalError):  # no room, no permission, another process for too long
            return otherwise
        except sqlite3.Error:
            self._remove()
            return otherwise

    def _remove(self) -> None:
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with suppress(OSError):
                path.unlink()


class KnownVectors:
    """An encoder that is asked for each text once."""

    def __init__(self, encoder: Encoder, identity: Mapping[str, object]) -> None:
        facts = {**identity, **encoder.facts()}
        facts |= {"fieldassay": version("fieldassay"), "unicode": unicodedata.unidata_version}
        self._name = hashlib.sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()
        self._encoder = encoder
        self._dimension = int(str(facts["dimension"]))
        self._kept: dict[bytes, Array] = {}
        self._lock = threading.RLock()

    def find(self, texts: Sequence[str], batch: int, folder: Path | None) -> Array:
        """Return one unit vector per text, n x dimension.

        `folder` holds the vectors of other runs (None: they are neither read nor written).
        """
        keys = [text_key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        file = None if folder is None else VectorFile(folder, self._name)
        with self._lock:
            found = {key: self._kept[key] for key in distinct if key in self._kept}
            missing = [key for key in distinct if key not in found]
            report_progress(len(found), len(distinct))
            for at in range(0, len(missing), PORTION):
                part = missing[at : at + PORTION]
                loaded = {} if file is None else file.load(part)
                new = {key: distinct[key] for key in part if key not in loaded}
                with encoding_part(len(found) + len(loaded), len(distinct)):
                    made = self._encode(new, batch)
                if made and file is not None:
                    file.save(made)
                found |= loaded | made
                self._keep(loaded | made)
                report_progress(len(found), len(distinct))
        return np.array([found[key] for key in keys], dtype=np.float32).reshape(len(keys), self._dimension)

    def _encode(self, texts: Mapping[bytes, str], batch: int) -> dict[bytes, Array]:
        made = self._encoder.encode(list(texts.values()), batch) if texts else ()
        return dict(zip(texts, made, strict=True))

    def _keep(self, vectors: Vectors) -> None:
        self._kept |= vectors
        most = MOST_BYTES // (self._dimension * _STORED.itemsize)
        for key in list(self._kept)[: max(0, len(self._kept) - most)]:
            del self._kept[key]


def known_vectors(folder: ModelFolder, backend: Backend) -> KnownVectors:
    """Return the known vectors of a model; one object per process until the model's files change."""
    return _known(load_encoder(folder, backend), backend, digest_model(folder))


@lru_cache(maxsize=4)
def _known(encoder: Encoder, backend: Backend, digest: str) -> KnownVectors:
    return KnownVectors(encoder, {"backend": backend, "digest": digest})
