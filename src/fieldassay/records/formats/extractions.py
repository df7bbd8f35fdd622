"""Folders of extractions among predictions: the files of one, and its manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from fieldassay.errors import problem
from fieldassay.io.files.typed_json import Form, read_typed
from fieldassay.io.files.whole_files import open_file

MANIFEST = "extraction.json"
PREDICTIONS = "predictions.jsonl"
RUNNING = "running"
"""The status in the manifest of an extraction that was killed, or is still at work."""


def is_extraction(folder: Path) -> bool:
    """Return whether a folder holds what `fieldassay extract` wrote."""
    try:
        return (folder / MANIFEST).is_file()
    except (OSError, ValueError):
        return False


class Manifest(Struct, frozen=True):
    """What others need of the manifest of an extraction; `failures` are counts by kind (None: not ended)."""

    status: str
    parts: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, int] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


_JOURNAL = "journal.jsonl"
_AGAIN = f"run the same `fieldassay extract` again: it is written anew, from the answers in {_JOURNAL}"
_ANOTHER = "name a folder that `fieldassay extract` wrote"


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of an extraction. Raises `ProblemsError` if it cannot be read."""
    path = folder / MANIFEST
    form = Form(
        "a manifest of an extraction", "not_json", _AGAIN if (folder / _JOURNAL).is_file() else _ANOTHER
    )
    try:
        with open_file(path) as stream:
            data = stream.read()
    except (OSError, ValueError) as error:
        raise problem(path, f"cannot be read ({error})", form.remedy, form.kind) from None
    return read_typed(data, Manifest, form, str(path))


def find_predictions(folder: Path) -> Path:
    """Return the file of an extraction's predictions.

    Raises `ProblemsError` for an extraction that has not ended: its predictions are not all there.
    """
    if read_manifest(folder).status == RUNNING or not (folder / PREDICTIONS).is_file():
        what = "the extraction has not ended: its predictions are not all there"
        remedy = "run the same `fieldassay extract` again; it goes on where it was"
        raise problem(folder, what, remedy, "unfinished_extraction")
    return folder / PREDICTIONS
