"""Who is told how far encoding has come, and the backend of sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
_PORTION = 4_096
_watcher: ContextVar[Callable[[int, int], object]] = ContextVar("encoding_watcher", default=max)


@contextmanager
def watch_encoding(watcher: Callable[[int, int], object]) -> Iterator[None]:
    """Tell `watcher` how many of how many texts are encoded, inside the block and in this process.

    >>> with watch_encoding(print):
    ...     report_progress(1, 2)
    1 2
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


def report_progress(done: int, total: int) -> None:
    """Tell the present watcher how far encoding has come; nobody listens by default."""
    _watcher.get()(done, total)


class SentenceTransformersEncoder:
    """Any model of sentence-transformers, on the device that the package picks; `facts` says which."""

    def __init__(self, folder: Path) -> None:
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(folder), local_files_only=True)
        self.facts: dict[str, Any] = {
            "dimension": int(self._model.encode([""]).shape[1]),
            "max_length": int(self._model.max_seq_length),
            "device": str(self._model.device),
            "versions": {name: version(name) for name in ("sentence-transformers", "torch", "transformers")},
        }

    def encode(self, texts: Sequence[str], batch: int) -> Array:
        parts = []
        for start in range(0, len(texts), _PORTION):
            portion = list(texts[start : start + _PORTION])
            parts.append(self._model.encode(portion, batch_size=batch, show_progress_bar=False))
            report_progress(start + len(portion), len(texts))
        return np.concatenate(parts, dtype=np.float32)
