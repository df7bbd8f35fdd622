"""The files below a folder that somebody named: none that lies elsewhere, and none that fieldassay wrote."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path, PurePath

from msgspec import Struct

from fieldassay.errors import Problem
from fieldassay.io.text.shown import clip, format_count

WRITTEN = (
    {"extraction.json", "journal.jsonl"},
    {"run.json", "metrics.json"},
    {"review.sqlite"},
    {"sweep.json"},
    {"corpus-run.json"},
)
"""Files by which the folder of an extraction, a run, a review, a sweep or its tasks is known."""

WRITTEN_FOLDER, WRITTEN_FILE, OUTER_LINK = "written_folder", "written_file", "outer_link"
_NOUNS = {
    WRITTEN_FOLDER: ("folder that fieldassay wrote", "folders that fieldassay wrote"),
    WRITTEN_FILE: ("file that fieldassay wrote", "files that fieldassay wrote"),
    OUTER_LINK: ("link out of the folder", "links out of the folder"),
    "special_file": ("pipe, socket or device", "pipes, sockets and devices"),
    "hidden_file": ("hidden file", "hidden files"),
}
"""What is left out, by the kind of its note."""

_NAME = attrgetter("name")

Listed = tuple[str, str]
"""A file below a folder: its path in it with `/` between its parts, and the path or URL to read it by."""


class Listing(Struct, frozen=True):
    """The files below a folder, sorted by the parts of their paths, and notes on what is left out."""

    files: tuple[Listed, ...]
    notes: tuple[Problem, ...] = ()


def list_folder(folder: Path | str) -> Listing:
    """Return the files below a folder, without hidden ones.

    Left out with a note are folders that fieldassay wrote, links that lead nowhere or out of the folder, what
    is no file, and hidden files that end as a visible one does. Linked folders are not entered, nor hidden
    ones. Paths are plain texts: to make a `Path` takes longer than to read a file.
    """
    left_out: dict[str, list[str]] = {kind: [] for kind in _NOUNS}
    files = tuple(_list_files(str(folder), left_out))
    endings = {PurePath(inner).suffix for inner, _ in files} - {""}
    left_out["hidden_file"] = [name for name in left_out["hidden_file"] if PurePath(name).suffix in endings]
    notes = (note_left_out(folder, names, kind) for kind, names in left_out.items() if names)
    return Listing(files, tuple(notes))


def _list_files(folder: str, left_out: Mapping[str, list[str]]) -> Iterator[Listed]:
    here, root = os.curdir + os.sep, os.path.realpath(folder)
    opened = [("", iter(_list_entries(folder)))]
    while opened:
        inner, entries = opened[-1]
        for entry in entries:
            is_file = _is_kind(entry.is_file)
            if entry.name.startswith("."):
                if is_file and not entry.name.startswith("._"):  # what macOS puts beside a file
                    left_out["hidden_file"].append(inner + entry.name)
            elif entry.is_symlink() and not _is_below(entry.path, root):
                left_out[OUTER_LINK].append(inner + entry.name)
            elif is_file:
                yield inner + entry.name, entry.path.removeprefix(here)
            elif not _is_kind(entry.is_dir):
                left_out["special_file"].append(inner + entry.name)
            elif not entry.is_symlink():
                below = _list_entries(entry.path)
                if any(marks.issubset(map(_NAME, below)) for marks in WRITTEN):
                    left_out[WRITTEN_FOLDER].append(inner + entry.name)
                    continue
                opened.append((f"{inner}{entry.name}/", iter(below)))
                break
        else:
            opened.pop()


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what is in a folder, by name; nothing for one that nobody may list."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=_NAME)
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


def note_left_out(folder: Path | str, names: Sequence[str], kind: str) -> Problem:
    """Return the note on what of a folder is left out, of a kind such as `WRITTEN_FILE`."""
    shown = ", ".join(clip(each, 60) for each in names[:3]) + (", …" if len(names) > 3 else "")
    what = f"{format_count(len(names), *_NOUNS[kind])} left out: {shown}"
    return Problem(str(folder), what, "name it itself to read it, or move it away", kind)
