"""How far a run is, on standard error: only for a person who is watching, and only if it takes a while."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.live import Live
    from rich.progress import Progress

    from fieldassay.extraction.endpoints.exchange import Progress as ExtractionProgress

PATIENCE_SECONDS = 1.0
"""Shorter runs show nothing."""


@contextmanager
def show_progress(is_quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Yield a function to call with each number of documents done; None without a terminal.

    Texts that are encoded inside the block, in this process, are shown too, with the remaining time. Warnings
    of packages become plain lines.
    """
    with _plain_warnings(is_quiet):
        if is_quiet or not sys.stderr.isatty():
            yield None
            return
        from fieldassay.values.comparators.embedding import watch_encoding

        counter = _Counter()
        timer = threading.Timer(PATIENCE_SECONDS, counter.start)
        timer.daemon = True
        timer.start()
        try:
            with watch_encoding(counter.encoded):
                yield counter.add
        finally:
            timer.cancel()
            counter.stop()


@contextmanager
def show_extraction(is_quiet: bool) -> Iterator[Callable[[ExtractionProgress], None] | None]:
    """Yield a function to call with how far an extraction is; None without a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    shown = Progress(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=Console(stderr=True),
        transient=True,
    )  # fmt: skip
    with shown:
        task = shown.add_task("loading documents", total=None)
        yield lambda told: shown.update(task, description=describe_progress(told))


def describe_progress(told: ExtractionProgress) -> str:
    """Return a line on the progress of an extraction: documents, answers awaited, cost so far.

    >>> from fieldassay.extraction.endpoints.exchange import Waiting
    >>> from fieldassay.extraction.endpoints.exchange import Progress
    >>> describe_progress(Progress(done=40, failed=1, in_flight=16, waiting=(Waiting("429", 12, 27.0),)))
    '41 documents (1 failed), 16 requests in flight, 12 waiting for 429 (27 s)'
    """
    done = told.done + told.failed
    parts = [f"{done:,} documents" + (f" ({told.failed:,} failed)" if told.failed else "")]
    if told.in_flight:
        parts.append(f"{told.in_flight:,} requests in flight")
    for one in told.waiting[:2]:
        left = "" if one.remaining_s is None else f" ({one.remaining_s:.0f} s)"
        parts.append(f"{one.count:,} waiting for {one.reason}{left}")
    if told.spent_usd:
        parts.append(f"${told.spent_usd:.2f} spent")
    return ", ".join(parts)


@contextmanager
def _plain_warnings(is_quiet: bool) -> Iterator[None]:
    """Show warnings for the user as lines without a place in the code; leave all others unchanged."""
    from fieldassay.commands.cli.output import complain

    with warnings.catch_warnings():
        show_as_usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, UserWarning):
                show_as_usual(message, category, filename, lineno, file, line)
            elif not is_quiet:
                complain(f"warning: {message}")

        warnings.showwarning = show
        yield


class _Counter:
    """The documents and texts done so far, shown once `start` is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._texts = (0, 0)
        self._shown: tuple[Live, Progress, Progress] | None = None
        self._is_over = False

    def start(self) -> None:
        with self._lock:
            if not self._is_over:
                self._shown = _drawn()
                self._shown[1].add_task("", total=None, completed=self._done)
                self._begin_texts()
                self._shown[0].start()

    def add(self, documents: int) -> None:
        with self._lock:
            self._done += documents
            if self._shown is not None:
                self._shown[1].update(self._shown[1].task_ids[0], completed=self._done)

    def encoded(self, done: int, total: int) -> None:
        """Take note of texts: `done` of `total` have their vectors."""
        with self._lock:
            was_done, was_total = self._texts
            is_another = total != was_total or done < was_done
            self._texts = (done, total)
            if self._shown is None:
                return
            if is_another:
                self._begin_texts()
            for task in self._shown[2].task_ids:
                self._shown[2].update(task, completed=done, visible=done < total)

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            if self._shown is not None:
                self._shown[0].stop()

    def _begin_texts(self) -> None:
        """Measure the speed of the next texts anew."""
        if self._shown is None:
            return
        done, total = self._texts
        for task in self._shown[2].task_ids:
            self._shown[2].remove_task(task)
        self._shown[2].add_task("", total=total, completed=done, visible=done < total)


def _drawn() -> tuple[Live, Progress, Progress]:
    """Return the display: a line of documents, and under it a bar of texts while any are being encoded."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    documents = Progress(
        SpinnerColumn(), TextColumn("{task.completed:,.0f} documents scored"), TimeElapsedColumn()
    )
    said = TextColumn("  {task.completed:,.0f} of {task.total:,.0f} texts encoded")
    texts = Progress(said, BarColumn(), TimeRemainingColumn(), TextColumn("left"))
    return (
        Live(Group(documents, texts), console=Console(stderr=True), transient=True, refresh_per_second=10),
        documents,
        texts,
    )
