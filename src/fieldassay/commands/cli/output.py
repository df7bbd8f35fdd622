"""Writing to standard output and error: safe against closed pipes, narrow encodings, hostile text."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from fieldassay.reports.writers.page import Screen

_DRAWN = "─—→…−·"


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
        held = os.dup(place)
    except (OSError, ValueError):  # a stream without a file, as in a notebook
        with redirect_stdout(sys.stderr):
            yield
        return
    try:
        os.dup2(sys.stderr.fileno(), place)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(held, place)
        os.close(held)


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
        _DRAWN.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
