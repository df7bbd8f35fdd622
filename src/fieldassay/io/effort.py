"""What work may take: the processor time of a document, and the threads of numpy's BLAS."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np

# The processor time that work on one document may take: long loops ask whether it is used up.

_UNTIL = ContextVar("until", default=float("inf"))


class OvertimeError(Exception):
    """Work that took all of the time that it had."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Let what runs inside, on this thread, take so many seconds of processor time.

    >>> with at_most(-1.0):
    ...     check_time()
    Traceback (most recent call last):
    fieldassay.io.effort.OvertimeError: took all of its processor time
    """
    token = _UNTIL.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _UNTIL.reset(token)


def check_time() -> None:
    """Raise `OvertimeError` where the work that runs has used its time up; nothing outside of `at_most`."""
    if time.thread_time() > _UNTIL.get():
        raise OvertimeError("took all of its processor time")


# The threads of numpy's BLAS.

Control: TypeAlias = tuple[Callable[[], int], Callable[[int], None]]
"""The functions that return and set the number of threads."""

MOST = 16
"""Parallel threads; each has some 20 MB of intermediate results."""
_ONE_AT_A_TIME = threading.RLock()
_NAMES = (("scipy_openblas_", "64_"), ("scipy_openblas_", ""), ("openblas_", "64_"), ("openblas_", ""))


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Compute every product inside the block in one thread; yield the number of threads to run in parallel.

    The threads of one product wait for each other at every step, which takes ten times as long if other
    processes use the processors; independent products in parallel threads do not wait. A BLAS other than
    numpy's own OpenBLAS is left unchanged, and the number is 1.
    """
    control = _control()
    if control is None:
        yield 1
        return
    count, change = control
    with _ONE_AT_A_TIME:
        before = count()
        change(1)
        try:
            yield max(1, min(before, MOST))
        finally:
            change(before)


@cache
def _control() -> Control | None:
    """Return the control of numpy's OpenBLAS; it is already loaded, so no second one is loaded."""
    base = Path(np.__file__).parent
    for path in sorted(
        path
        for folder in (base.parent / "numpy.libs", base / ".dylibs")
        for path in folder.glob("*openblas*")
    ):
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for prefix, suffix in _NAMES:
            count, change = (
                getattr(library, f"{prefix}{verb}_num_threads{suffix}", None) for verb in ("get", "set")
            )
            if count is not None and change is not None:
                count.restype, change.argtypes, change.restype = ctypes.c_int, [ctypes.c_int], None
                return count, change
    return None
