"""Vectors that are known already: from earlier in this process, or from the disk."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from fieldassay.comparators.embedding.encoder import (
    Array,
    Encoder,
    encoding_part,
    report_progress,
    watch_encoding,
)
from fieldassay.comparators.embedding.model_folders import ModelFolder
from fieldassay.comparators.embedding.models import Backend, digest_model, load_encoder
from fieldassay.comparators.embedding.vector_file import VectorFile

MOST_BYTES = 128 << 20
"""Size of the vectors that a process keeps of one encoder; some 87,000 of 384 numbers."""
PORTION = 1_024
"""Texts that are encoded and put on the disk together: what an interrupted run loses at most, and how soon other processes share it."""
_STORED = np.dtype("<f4")
_PROBES = ("", "a", "heart attack", "12.50", "the quick brown fox", "Überweisung, Straße 3", "x y z " * 20)
"""Texts whose vectors say, to the last bit, what this machine computes."""


def text_key(text: str) -> bytes:
    """Return the SHA-256 of a text; lone surrogates are part of it.

    >>> text_key("a\\ud800") == text_key("a\\ufffd")
    False
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """Distinct texts by their keys, the row of each, and the vectors as far as they are filled in."""

    texts: Mapping[bytes, str]
    rows: Mapping[bytes, int]
    vectors: Array


class KnownVectors:
    """An encoder that is asked for each text once. What it is not asked for has the bytes that it computed."""

    def __init__(self, encoder: Encoder, told: Mapping[str, object]) -> None:
        self._encoder = encoder
        self._told = {**told, **encoder.facts()}
        self._dimension = int(str(self._told["dimension"]))
        self._kept: dict[bytes, Array] = {}
        self._lock = threading.RLock()
        self._room = ""

    def find(self, texts: Sequence[str], batch: int, folder: Path | None) -> Array:
        """Return one unit vector per text, n x dimension; `folder` holds those of other runs (None: they are not looked for, and none is left)."""
        keys = [text_key(text) for text in texts]
        distinct = dict(zip(keys, texts, strict=True))
        rows = {key: row for row, key in enumerate(distinct)}
        wanted = _Wanted(distinct, rows, np.empty((len(distinct), self._dimension), dtype=np.float32))
        with self._lock:
            self._fill(wanted, batch, self._file(folder))
        return wanted.vectors[[rows[key] for key in keys]] if len(keys) > len(distinct) else wanted.vectors

    def room(self) -> str:
        """Return the SHA-256 of all that decides a vector besides its text: the model, the packages, and what this machine computes.

        The kernels that a BLAS picks by the kind of processor round differently, so the vectors of a few texts are a part of it.
        """
        if not self._room:
            with watch_encoding(lambda _done, _total: None):
                probes = self._encoder.encode(_PROBES, len(_PROBES))
            told = {
                **self._told,
                "fieldassay": version("fieldassay"),
                "unicode": unicodedata.unidata_version,
                "probes": hashlib.sha256(probes.astype(_STORED).tobytes()).hexdigest(),
            }
            self._room = hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()
        return self._room

    def _file(self, folder: Path | None) -> VectorFile | None:
        if folder is None or not self._encoder.is_repeatable:
            return None
        return VectorFile(folder, self.room(), self._dimension * _STORED.itemsize)

    def _fill(self, wanted: _Wanted, batch: int, file: VectorFile | None) -> None:
        missing = [key for part in _portions(self._recall(wanted)) for key in self._fetch(wanted, part, file)]
        total = len(wanted.texts)
        done = total - len(missing)
        report_progress(done, total)
        for part in _portions(missing):
            new = self._fetch(wanted, part, file)  # other processes may have been here since
            with encoding_part(done + len(part) - len(new), total):
                self._make(wanted, new, batch, file)
            done += len(part)

    def _recall(self, wanted: _Wanted) -> list[bytes]:
        """Fill in what this process keeps; return the keys of the rest."""
        missing = []
        for key, row in wanted.rows.items():
            kept = self._kept.get(key)
            if kept is None:
                missing.append(key)
            else:
                wanted.vectors[row] = kept
        return missing

    def _fetch(self, wanted: _Wanted, keys: Sequence[bytes], file: VectorFile | None) -> list[bytes]:
        """Fill in what the file has; return the keys of the rest."""
        found = {} if file is None else file.load(keys)
        for key, stored in found.items():
            self._keep(wanted, key, np.frombuffer(stored, dtype=_STORED))
        return [key for key in keys if key not in found]

    def _make(self, wanted: _Wanted, keys: Sequence[bytes], batch: int, file: VectorFile | None) -> None:
        """Fill in what the encoder makes."""
        if not keys:
            return
        made = self._encoder.encode([wanted.texts[key] for key in keys], batch)
        for key, vector in zip(keys, made, strict=True):
            self._keep(wanted, key, vector)
        if file is not None:
            file.save({key: vector.astype(_STORED).tobytes() for key, vector in zip(keys, made, strict=True)})

    def _keep(self, wanted: _Wanted, key: bytes, vector: Array) -> None:
        wanted.vectors[wanted.rows[key]] = vector
        self._kept[key] = vector.astype(np.float32)
        if len(self._kept) * self._dimension * _STORED.itemsize > MOST_BYTES:
            del self._kept[next(iter(self._kept))]


def known_vectors(folder: ModelFolder, backend: Backend) -> KnownVectors:
    """Return what is known of a model's vectors; one per process as long as the model's files stay the same."""
    return _known(load_encoder(folder, backend), backend, digest_model(folder))


def forget_vectors() -> None:
    """Drop the vectors that this process keeps; those on the disk stay."""
    _known.cache_clear()


@cache
def _known(encoder: Encoder, backend: Backend, digest: str) -> KnownVectors:
    return KnownVectors(encoder, {"backend": backend, "digest": digest, "byteorder": sys.byteorder})


def _portions(keys: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    return (keys[at : at + PORTION] for at in range(0, len(keys), PORTION))
