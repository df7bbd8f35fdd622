"""What an encoder is, and who is told how far it has come."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Watcher: TypeAlias = Callable[[int, int], None]
"""Called at the start and after every portion with the distinct texts done and their total number."""


def _silent(_done: int, _total: int) -> None:
    """Tell nobody."""


_watcher: ContextVar[Watcher] = ContextVar("encoding_watcher", default=_silent)


class Encoder(ABC):
    """A loaded model: texts to vectors of length 1."""

    @abstractmethod
    def facts(self) -> Mapping[str, object]:
        """Return the facts besides the model's files that determine the numbers.

        They are `dimension`, `max_length`, `pooling` and the versions of packages.
        """

    @abstractmethod
    def encode(self, texts: Sequence[str], batch: int) -> Array:
        """Return one unit vector per text, n x dimension; at most `batch` texts at a time.

        No vector depends on the other texts by more than 1e-6 in a component.
        """


@contextmanager
def watch_encoding(watcher: Watcher) -> Iterator[None]:
    """Tell `watcher` of the encoding that happens inside the block, in this process.

    >>> with watch_encoding(print):
    ...     report_progress(1, 2)
    1 2
    """
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@contextmanager
def encoding_part(start: int, total: int) -> Iterator[None]:
    """Report the progress of encoding inside the block as a part of a larger one.

    The larger one has `total` texts, `start` of which are done.

    >>> with watch_encoding(print), encoding_part(10, 20):
    ...     report_progress(1, 2)
    11 20
    """
    outer = _watcher.get()
    with watch_encoding(lambda done, _total: outer(start + done, total)):
        yield


def report_progress(done: int, total: int) -> None:
    """Tell the present watcher how far encoding has come; nobody listens by default."""
    _watcher.get()(done, total)


def unit_vectors(vectors: Array) -> Array:
    """Return the vectors divided by their lengths; a vector of zeros stays.

    >>> unit_vectors(np.array([[3.0, 4.0]], dtype=np.float32)).round(6).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    wide = vectors.astype(np.float64)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return np.asarray(wide / np.where(length == 0, 1.0, length)[:, None], dtype=np.float32)


def encodable(text: str) -> str:
    """Return the text with every lone surrogate, which no tokenizer takes, as U+FFFD.

    >>> encodable("a\\ud800") == "a\\ufffd"
    True
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
