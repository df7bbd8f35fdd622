"""Tags of runs: names given by users, each a small file in the run's folder.

A tag names one run of a store: the one that got it last.
"""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from fieldassay.atomic.whole_files import write_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.regex import lazy_regex

TAGS = "tags"
MOST_CHARACTERS = 64
LATEST = "latest"
BASELINE = "baseline"

_TAG = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ID = lazy_regex(r"[0-9a-f]{8}|\d{8}T\d{6}Z.*")
_MOST_BYTES = 100


def check_tag(tag: str) -> str:
    """Return a tag as it is. Raises `ProblemsError` if it could not be told from an id, a path or an option.

    >>> check_tag("v1.2-beta")
    'v1.2-beta'
    """
    remedy = (
        f"use 1 to {MOST_CHARACTERS} letters, digits, `.`, `_` and `-`, with a letter or a digit in front"
    )
    if not _TAG.fullmatch(tag):
        raise ProblemsError(
            [Problem(f"tag {tag[:100]!r}", "is not a name that a tag can have", remedy, "bad_tag")]
        )
    if tag == LATEST or _ID.fullmatch(tag):
        raise ProblemsError(
            [Problem(f"tag {tag[:100]!r}", "means a run already", "choose another name", "bad_tag")]
        )
    return tag


def read_tags(folder: Path) -> dict[str, str]:
    """Return the time of each tag of the run in a folder (ISO time in UTC, empty text if unreadable)."""
    try:
        with os.scandir(folder / TAGS) as entries:
            names = [entry.name for entry in entries if _TAG.fullmatch(entry.name) and entry.is_file()]
    except OSError:
        return {}
    return {name: _read(folder / TAGS / name) for name in sorted(names)}


def add_tag(folder: Path, tag: str, now: datetime) -> None:
    """Give a tag to the run in a folder.

    Raises `ProblemsError` for an invalid tag, OSError where it cannot be written.
    """
    place = folder / TAGS / check_tag(tag)
    place.parent.mkdir(exist_ok=True)
    write_file(place, [now.isoformat(timespec="microseconds").encode() + b"\n"])


def remove_tag(folder: Path, tag: str) -> bool:
    """Remove a tag from the run in a folder; return whether it had the tag.

    Raises OSError where that fails.
    """
    if tag not in read_tags(folder):
        return False
    (folder / TAGS / tag).unlink(missing_ok=True)
    return True


def _read(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(_MOST_BYTES).decode("utf-8").strip()
    except (OSError, ValueError):
        return ""
