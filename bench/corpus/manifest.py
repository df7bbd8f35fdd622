"""The challenge corpus: `corpus.json` and the rows of gold, read and written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from fieldassay.errors import Problem, ProblemsError
from fieldassay.io.json_value import Json

# Difficulties, and what the engineering protocol asks for at each.

DIFFICULTIES = ("easy", "medium", "hard", "very hard")

THRESHOLDS: Mapping[str, Mapping[str, float]] = {
    "easy": {"accuracy": 0.95, "critical_accuracy": 1.0},
    "medium": {"accuracy": 0.90, "critical_accuracy": 0.95},
    "hard": {"accuracy": 0.85, "critical_accuracy": 0.90},
    "very hard": {"accuracy": 0.80},
}
"""The least value of each metric, by difficulty."""


# `corpus.json`: the documents of a corpus, each with its gold values and their places.

NAME = "corpus.json"
SHIPPED = Path(__file__).parents[2] / "samples" / "corpus"
"""The corpus of the repository."""


class Value(Struct, frozen=True):
    """A gold value: its path, its text on the page, and where that stands."""

    path: str
    text: str | None
    """None: it stands nowhere and is to be inferred."""
    page: int | None
    """From 1; a sheet, a part of a message, or 1 where the kind of file has no pages."""
    box: tuple[float, float, float, float] | None
    """Left, top, right, bottom in shares of the page as displayed; None where a file has no places."""
    difficulty: str
    tests: str
    """The challenge that the value belongs to."""
    critical: bool = False


class Document(Struct, frozen=True):
    """A document of a corpus. Paths are relative to the folder of `corpus.json`."""

    id: str
    file: str
    sha256: str
    task: str
    spec: str
    kind: str
    difficulty: str
    tests: str
    text: str | None = None
    """The file with the text as a person reads it, pages separated by form feeds."""
    tags: tuple[str, ...] = ()
    twin_of: str | None = None
    """The document that this one is a degraded picture of: same gold, same text."""
    degradation: str | None = None
    refused: str | None = None
    """Why the file cannot be read, as loaders say: the kind of their failure."""
    values: tuple[Value, ...] = ()


class CorpusTask(Struct, frozen=True):
    """The files of one task: its spec, its gold, and the folder of its documents."""

    spec: str
    gold: str
    documents: str


class Corpus(Struct, frozen=True):
    """The content of `corpus.json`."""

    documents: tuple[Document, ...]
    tasks: Mapping[str, CorpusTask] = field(default_factory=dict)
    seed: int = 0
    scale: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    """The versions of everything that decides the bytes of the files."""


def read_corpus(folder: Path) -> Corpus:
    """Return the corpus in a folder."""
    return msgspec.json.decode((folder / NAME).read_bytes(), type=Corpus)


# What a corpus is written as.

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
    if document.refused is not None:
        row |= {"illegible_fields": list(record)}
    if document.twin_of is not None:
        row |= {"twin_of": document.twin_of, "degradation": document.degradation}
    return row
