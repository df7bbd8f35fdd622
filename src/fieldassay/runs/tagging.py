"""Tagging runs of a store: a tag moves from run to run."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.runs.locate import find_tagged, list_places
from fieldassay.runs.run_file import read_run
from fieldassay.runs.tags import add_tag, check_tag, read_tags, remove_tag


def tag_run(folder: str | Path, tag: str, now: datetime) -> Path | None:
    """Give a tag to the run in a folder; return the folder of the run that had it before, if another one had.

    Raises `ProblemsError` for an invalid tag, for a damaged run, and where the tag cannot be written.
    """
    check_tag(tag)
    folder = Path(folder)
    read_run(folder)
    before = find_tagged(tag, list_places(folder.parent))
    try:
        add_tag(
            folder, tag, now
        )  # of two runs with one tag the later one has it, so that dying between the two steps does no harm
        for place in list_places(folder.parent):
            if place.path.resolve() != folder.resolve():
                remove_tag(place.path, tag)
    except OSError as error:
        raise _refusal(folder, error) from None
    return None if before is None or before.resolve() == folder.resolve() else before


def untag_run(folder: Path, tag: str) -> None:
    """Remove a tag from the run in a folder.

    Raises `ProblemsError` if the run has no such tag, or the tag cannot be removed.
    """
    tags = read_tags(folder)
    if tag not in tags:
        remedy = nearest(tag[:100], tags) if tags else "it has none"
        raise ProblemsError([Problem(str(folder), f"is not tagged {tag[:100]!r}", remedy, "unknown_name")])
    try:
        remove_tag(folder, tag)
    except OSError as error:
        raise _refusal(folder, error) from None


def _refusal(folder: Path, error: OSError) -> ProblemsError:
    return ProblemsError(
        [
            Problem(
                str(folder),
                f"cannot be tagged ({error.strerror or error})",
                "see who may write there",
                "run_folder",
            )
        ]
    )
