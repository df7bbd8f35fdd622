"""Tags of runs: names that a person gives to a run, kept in its folder. A tag names one run of a store: the one that was given it last."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from fieldassay.errors import Problem, ProblemsError

TAGS = "tags.json"
MOST_CHARACTERS = 64
LATEST = "latest"
BASELINE = "baseline"

_TAG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_ID = re.compile(r"[0-9a-f]{8}|\d{8}T\d{6}Z.*")
_MOST_BYTES = 1_000_000


def check_tag(tag: str) -> str:
    """Return a tag as it is. Raises `ProblemsError` if it could not be told from an id, a path or an option.

    >>> check_tag("v1.2-beta")
    'v1.2-beta'
    """
    remedy = f"use 1 to {MOST_CHARACTERS} letters, digits, `.`, `_` and `-`, with a letter or a digit in front"
    if not _TAG.fullmatch(tag):
        raise ProblemsError([Problem(f"tag {tag[:100]!r}", "is not a name that a tag can have", remedy, "bad_tag")])
    if tag == LATEST or _ID.fullmatch(tag):
        raise ProblemsError([Problem(f"tag {tag[:100]!r}", "means a run already", "choose another name", "bad_tag")])
    return tag


def read_tags(folder: Path) -> dict[str, str]:
    """Return when each tag was given to the run in a folder (ISO time in UTC); what cannot be read is no tag."""
    try:
        with (folder / TAGS).open("rb") as stream:
            given = json.loads(stream.read(_MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    tags = given.get("tags") if isinstance(given, dict) else None
    if not isinstance(tags, dict):
        return {}
    return {tag: when for tag, when in tags.items() if _TAG.fullmatch(tag) and isinstance(when, str)}


def add_tag(folder: Path, tag: str, now: datetime) -> None:
    """Give a tag to the run in a folder. Raises `ProblemsError` for a name that no tag can have, OSError where it cannot be written."""
    _write(folder, {**read_tags(folder), check_tag(tag): now.isoformat(timespec="microseconds")})


def remove_tag(folder: Path, tag: str) -> bool:
    """Take a tag off the run in a folder; return whether it had it."""
    tags = read_tags(folder)
    if tag not in tags:
        return False
    _write(folder, {name: when for name, when in tags.items() if name != tag})
    return True


def _write(folder: Path, tags: Mapping[str, str]) -> None:
    """Replace the file of tags, whole or not at all."""
    handle, name = tempfile.mkstemp(prefix=f".{TAGS}.", dir=folder)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(json.dumps({"tags": dict(sorted(tags.items()))}, indent=1).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(folder / TAGS)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
