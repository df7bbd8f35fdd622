"""Folders of extractions among predictions: the files of one, and its manifest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from fieldassay.atomic.whole_files import open_file
from fieldassay.errors import Problem, ProblemsError
from fieldassay.records.options import SourceOptions

MANIFEST = "extraction.json"
PREDICTIONS = "predictions.jsonl"
DATA_KEY = "pred"
RUNNING = "running"
"""The status in the manifest of an extraction that was killed, or is still at work."""


def is_extraction(folder: Path) -> bool:
    """Return whether a folder holds what `fieldassay extract` wrote."""
    try:
        return (folder / MANIFEST).is_file()
    except (OSError, ValueError):
        return False


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of an extraction. Raises `ProblemsError` if it cannot be read."""
    path = folder / MANIFEST
    try:
        with open_file(path) as stream:
            found = json.loads(stream.read())
    except (OSError, ValueError, RecursionError) as error:
        raise ProblemsError(
            [Problem(str(path), f"cannot be read ({error})", "extract again into the folder", "not_json")]
        ) from None
    if not isinstance(found, dict) or not isinstance(found.get("status"), str):
        what, remedy = "is no manifest of an extraction", "extract again into the folder"
        raise ProblemsError([Problem(str(path), what, remedy, "not_json")])
    return found


def open_extraction(folder: Path, options: SourceOptions) -> tuple[Path, SourceOptions]:
    """Return the file of an extraction's predictions, and the options to read it with.

    Raises `ProblemsError` for an extraction that has not ended: its predictions are not all there.
    """
    if read_manifest(folder)["status"] == RUNNING or not (folder / PREDICTIONS).is_file():
        what = "the extraction has not ended: its predictions are not all there"
        remedy = "run the same `fieldassay extract` again; it goes on where it was"
        raise ProblemsError([Problem(str(folder), what, remedy, "unfinished_extraction")])
    return folder / PREDICTIONS, replace(
        options, data_key=DATA_KEY, data_keys=(), id_names=("id",), systems_key=None
    )
