"""The processor time that work on one document may take: long loops ask whether it is used up."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

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
