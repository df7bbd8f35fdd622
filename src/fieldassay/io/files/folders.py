"""The files below a folder that somebody named: none that lies elsewhere, and none that fieldassay wrote."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from pathlib import Path

from msgspec import Struct

from fieldassay.errors import Problem
from fieldassay.io.text.shown import clip, format_count

WRITTEN = ({"extraction.json", "journal.jsonl"}, {"run.json", "metrics.json"}, {"review.sqlite"})
"""Files by which the folder of an extraction, a run or a review is known."""

WRITTEN_FOLDER, OUTER_LINK = "written_folder", "outer_link"
"""The kinds of the notes."""

_NAME = attrgetter("name")

Listed = tuple[str, str]
"""A file below a folder: its path in it with `/` between its parts, and the path or URL to read it by."""


class Listing(Struct, frozen=True):
    """The files below a folder, sorted by the parts of their paths, and notes on what is left out."""

    files: tuple[Listed, ...]
    notes: tuple[Problem, ...] = ()


def list_folder(folder: Path | str) -> Listing:
    """Return the files below a folder, without hidden ones.

    Left out with a note are folders that fieldassay wrote, and links that lead nowhere or out of the folder.
    Linked folders are not entered. Paths are plain texts: to make a `Path` takes longer than to read a file.
    """
    written: list[str] = []
    outside: list[str] = []
    files = tuple(_list_files(str(folder), written, outside))
    notes = (
        _note(
            folder, written, ("folder that fieldassay wrote", "folders that fieldassay wrote"), WRITTEN_FOLDER
        ),
        _note(folder, outside, ("link out of the folder", "links out of the folder"), OUTER_LINK),
    )
    return Listing(files, tuple(filter(None, notes)))


def _list_files(folder: str, written: list[str], outside: list[str]) -> Iterator[Listed]:
    here, root = os.curdir + os.sep, os.path.realpath(folder)
    opened = [("", iter(_list_entries(folder)))]
    while opened:
        inner, entries = opened[-1]
        for entry in entries:
            if entry.is_symlink() and not _is_below(entry.path, root):
                outside.append(inner + entry.name)
            elif _is_kind(entry.is_file):
                yield inner + entry.name, entry.path.removeprefix(here)
            elif _is_kind(entry.is_dir) and not entry.is_symlink():
                below = _list_entries(entry.path)
                if any(marks.issubset(map(_NAME, below)) for marks in WRITTEN):
                    written.append(inner + entry.name)
                    continue
                opened.append((f"{inner}{entry.name}/", iter(below)))
                break
        else:
            opened.pop()


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name, without what is hidden; nothing for one that nobody may list."""
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not entry.name.startswith(".")), key=_NAME)
    except PermissionError:
        return []


def _is_below(link: str, root: str) -> bool:
    target = os.path.realpath(link)
    return target.startswith(root.rstrip(os.sep) + os.sep) and Path(target).exists()


def _is_kind(ask: Callable[[], bool]) -> bool:
    try:
        return ask()
    except OSError:  # a link in a circle
        return False


def _note(folder: Path | str, names: Sequence[str], nouns: Sequence[str], kind: str) -> Problem | None:
    if not names:
        return None
    shown = ", ".join(clip(each, 60) for each in names[:3]) + (", …" if len(names) > 3 else "")
    what = f"{format_count(len(names), nouns[0], nouns[1])} left out: {shown}"
    return Problem(str(folder), what, "name it itself to read it, or move it away", kind)
