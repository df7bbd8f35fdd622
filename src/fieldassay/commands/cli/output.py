"""What a command prints: documents, JSON and progress."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from fieldassay.extraction.endpoints.exchange import Progress as ExtractionProgress
    from fieldassay.reports.writers.page import Screen
    from fieldassay.reports.writers.tables import TextReport


# Writing to standard output and error: safe against closed pipes, narrow encodings, hostile text.

_SYMBOLS = "─—→…−·"


def fill_streams() -> None:
    """Open the standard streams that are closed on the null device, lest other files get their numbers."""
    while (place := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(place, True)
    os.close(place)
    for place, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(place, "w" if place else "r", encoding="utf-8", closefd=False))  # noqa: SIM115


def write(text: str, *, has_commands: bool = False) -> None:
    """Write a text to standard output; a reader that has gone away (`| head`) is no error.

    Without `has_commands` a runner of GitHub Actions finds no command in it, whatever names and values hold.
    """
    from fieldassay.io.text.shown import break_commands

    _write(sys.stdout, text if has_commands else break_commands(text))


def tell(data: Callable[[], Any], text: Callable[[], str], *, is_json: bool) -> None:
    """Write data as JSON, or else the text that says it."""
    from fieldassay.io.json_value import json_text

    write(json_text(data()) if is_json else text())


PAGE_ENDINGS = ".md, .json, or else text"


def tell_page(
    report: TextReport, data: Callable[[], Any], target: Path | None = None, *, is_json: bool = False
) -> None:
    """Print a page, or write it into a file: as JSON, as Markdown if its name ends in .md, else as a text."""
    from fieldassay.io.files.whole_files import write_whole
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.writers.page import Screen
    from fieldassay.reports.writers.tables import lay_out_markdown, lay_out_terminal

    ending = "" if target is None else target.suffix.lower()
    if is_json or ending == ".json":
        text = json_text(data())
    elif ending == ".md":
        text = lay_out_markdown(report)
    else:
        text = lay_out_terminal(report, screen() if target is None else Screen(120))
    if target is None:
        write(text)
        return
    write_whole(target, [text])
    complain(f"written to {target}")


def write_bytes(data: bytes) -> None:
    """Write UTF-8 to standard output without a change but that of `break_commands`."""
    from fieldassay.io.text.shown import break_commands

    if b"::" in data or b"##" in data:
        data = break_commands(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    try:
        stream = getattr(sys.stdout, "buffer", None)
        if stream is None:
            sys.stdout.write(data.decode())
        else:
            sys.stdout.flush()
            stream.write(data)
        sys.stdout.flush()
    except BrokenPipeError:
        _silence(sys.stdout)


def complain(text: str) -> None:
    """Write lines to standard error, with characters that move the cursor escaped."""
    from fieldassay.io.text.shown import break_commands, visible

    lines = "".join(f"{visible(line)}\n" for line in text.split("\n"))
    _write(sys.stderr, break_commands(lines))


def open_page(path: Path) -> None:
    """Open a file in the browser, in the background; tell its path where there is no browser."""
    from fieldassay.io.browser import open_browser

    with keep_output_clean():
        is_open = open_browser(path.resolve().as_uri())
    if not is_open:
        complain(f"there is no browser to open {path}")


@contextmanager
def keep_output_clean() -> Iterator[None]:
    """Send to standard error what code of the user prints, here or in a program that it starts."""
    sys.stdout.flush()
    try:
        place = sys.stdout.fileno()
        descriptor = os.dup(place)
    except (OSError, ValueError):  # a stream without a file, as in a notebook
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(sys.stderr.fileno(), place)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(descriptor, place)
        os.close(descriptor)


def screen() -> Screen:
    """Return the screen of standard output: the terminal's width, or 100 columns without colors."""
    from fieldassay.reports.writers.page import Screen

    is_terminal = sys.stdout.isatty()
    has_colors = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Screen(shutil.get_terminal_size((100, 24)).columns, has_colors, not _can_draw(sys.stdout))


def _write(stream: TextIO, text: str) -> None:
    from fieldassay.io.text.shown import draw_plainly

    try:
        encoding = stream.encoding or "utf-8"
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            text = draw_plainly(text)
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _silence(stream)


def _silence(stream: TextIO) -> None:
    """Send the rest of the output to nowhere after a pipe has closed, so that the final flush succeeds."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())


def _can_draw(stream: TextIO) -> bool:
    try:
        _SYMBOLS.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


# How far a run is, on standard error: only for a person who is watching, and only if it takes a while.

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

        from fieldassay.values.comparators.embedding import watch_encoding

        documents = Progress(
            SpinnerColumn(), TextColumn("{task.completed:,.0f} documents scored"), TimeElapsedColumn()
        )
        said = TextColumn("  {task.completed:,.0f} of {task.total:,.0f} texts encoded")
        texts = Progress(said, BarColumn(), TimeRemainingColumn(), TextColumn("left"))
        shown = Live(
            Group(documents, texts), console=Console(stderr=True), transient=True, refresh_per_second=10
        )
        scored, encoding = documents.add_task("", total=None), texts.add_task("", visible=False)

        def encoded(count: int, total: int) -> None:
            task = texts.tasks[0]
            if total != task.total or count < task.completed:  # other texts: their speed is measured anew
                texts.reset(encoding, total=total)
            texts.update(encoding, completed=count, visible=count < total)

        timer = threading.Timer(PATIENCE_SECONDS, shown.start)
        timer.daemon = True
        timer.start()
        try:
            with watch_encoding(encoded):
                yield lambda count: documents.advance(scored, count)
        finally:
            timer.cancel()
            timer.join()
            shown.stop()


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
        yield lambda progress: shown.update(task, description=describe_progress(progress))


def describe_progress(progress: ExtractionProgress) -> str:
    """Return a line on the progress of an extraction: documents, answers awaited, cost so far.

    >>> from fieldassay.extraction.endpoints.exchange import Waiting
    >>> from fieldassay.extraction.endpoints.exchange import Progress
    >>> describe_progress(Progress(done=40, failed=1, in_flight=16, waiting=(Waiting("429", 12, 27.0),)))
    '41 documents (1 failed), 16 requests in flight, 12 waiting for 429 (27 s)'
    """
    finished = progress.done + progress.failed
    parts = [f"{finished:,} documents" + (f" ({progress.failed:,} failed)" if progress.failed else "")]
    if progress.in_flight:
        parts.append(f"{progress.in_flight:,} requests in flight")
    for waiting in progress.waiting[:2]:
        left = "" if waiting.remaining_s is None else f" ({waiting.remaining_s:.0f} s)"
        parts.append(f"{waiting.count:,} waiting for {waiting.reason}{left}")
    if progress.spent_usd:
        parts.append(f"${progress.spent_usd:.2f} spent")
    return ", ".join(parts)


@contextmanager
def _plain_warnings(is_quiet: bool) -> Iterator[None]:
    """Show warnings for the user as lines without a place in the code; leave all others unchanged."""

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
