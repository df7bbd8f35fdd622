"""How far a run is, on standard error: only for a person who is watching, and only if it takes a while."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE_SECONDS = 1.0
"""Shorter runs show nothing."""


@contextmanager
def show_progress(is_quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with each number of documents done; None where nobody is watching."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    counter = _Counter()
    timer = threading.Timer(PATIENCE_SECONDS, counter.start)
    timer.daemon = True
    timer.start()
    try:
        yield counter.add
    finally:
        timer.cancel()
        counter.stop()


class _Counter:
    """Documents done so far, shown once `start` is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._shown: Progress | None = None
        self._is_over = False

    def start(self) -> None:
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._is_over:
                return
            columns = (SpinnerColumn(), TextColumn("{task.completed:,.0f} documents scored"), TimeElapsedColumn())
            self._shown = Progress(*columns, console=Console(stderr=True), transient=True)
            self._shown.add_task("", total=None, completed=self._done)
            self._shown.start()

    def add(self, documents: int) -> None:
        with self._lock:
            self._done += documents
            if self._shown is not None:
                self._shown.update(self._shown.task_ids[0], completed=self._done)

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            if self._shown is not None:
                self._shown.stop()
