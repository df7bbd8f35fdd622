"""What a corpus is written as: `corpus.json` and the rows of gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from fieldassay.documents.corpus.manifest import Corpus, Document
from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.json_value import Json

GOLD_FORMS: Mapping[str, tuple[str, str | None]] = {
    "engineering": ("test_case_id", "expected_extraction"),
    "business": ("image_file", None),
    "prescription": ("doc_id", None),
    "lab_report": ("doc_id", None),
}
"""The key of the id, and the key of the record if it has one, as the published protocols have them."""


def check_new(folder: Path) -> None:
    """Raise `ProblemsError` for a folder that is there and not empty."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what, remedy = "is there and not empty", "name a new folder"
        raise ProblemsError([Problem(str(folder), what, remedy, "folder_exists")])


def manifest_parts(corpus: Corpus, documents: Iterator[Document]) -> Iterator[bytes]:
    """Yield the content of `corpus.json`, a document a line; the documents are taken as they come."""
    head = {
        "schema_version": 1,
        "seed": corpus.seed,
        "scale": corpus.scale,
        "versions": dict(corpus.versions),
        "tasks": msgspec.to_builtins(corpus.tasks),
    }
    yield msgspec.json.encode(head)[:-1] + b',"documents":['
    for number, document in enumerate(documents):
        yield (b",\n" if number else b"\n") + msgspec.json.encode(document)
    yield b"\n]}\n"


def gold_row(document: Document, record: Mapping[str, Json], accepted: Mapping[str, Json]) -> dict[str, Any]:
    """Return a document's row of gold in the form of its task's protocol."""
    name, key = GOLD_FORMS.get(document.task, ("id", None))
    row: dict[str, Any] = {name: document.id, "difficulty": document.difficulty}
    if key is not None:
        row |= {"description": document.tests, "focus_areas": list(document.tags[:1])}
    row |= record if key is None else {key: record}
    row["tags"] = list(document.tags)
    critical = [value.path for value in document.values if value.critical]
    row |= {"critical_fields": critical} if critical else {}
    row |= {"acceptable_variations": accepted} if accepted else {}
    if document.twin_of is not None:
        row |= {"twin_of": document.twin_of, "degradation": document.degradation}
    return row
