"""Twins: documents whose reading is known to be perfect, and the perfect text of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from fieldassay.attribution.presence import SentText
from fieldassay.attribution.sent import TextFolder, read_text
from fieldassay.errors import ProblemsError, problem
from fieldassay.io.text.shown import format_count, make_printable
from fieldassay.records.keys import ID_FORMS
from fieldassay.records.matching import join_names
from fieldassay.scoring.inputs.open_inputs import gold_twins
from fieldassay.scoring.provenance.inputs import digest_input

if TYPE_CHECKING:
    from fieldassay.documents.transcript import Transcript
    from fieldassay.runs.run import Run

TWIN_OF = "twin_of"
"""The key of a gold row that names the clean document with the same content."""
_WHAT = "name a corpus.json, a gold file with `twin_of`, or a folder with clean documents or their texts"


class Twins(Struct, frozen=True, eq=False, dict=True):
    """Which documents are clean twins of others, and texts of documents that are known to be perfect."""

    of: Mapping[str, str] = field(default_factory=dict)
    """The clean twin of each document that has one."""
    folder: TextFolder | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files with the perfect text of documents, as a corpus names them."""
    _texts: dict[str, SentText | None] = field(default_factory=dict)

    @property
    def has_any(self) -> bool:
        """Return whether any document is known to be read perfectly."""
        return bool(self.of) or bool(self.files) or self.folder is not None

    @property
    def named(self) -> str:
        """Return what missed values are measured on, the empty text without twins."""
        return "twins" if self.has_any else ""

    def is_clean(self, document: str) -> bool:
        """Return whether a document is the clean twin of another."""
        return document in self._clean

    @cached_property
    def _clean(self) -> frozenset[str]:
        return frozenset(self.of.values())

    def perfect_text(self, document: str) -> SentText | None:
        """Return the perfect text of a document; None where only its clean twin, if any, is known."""
        if document not in self._texts:
            self._texts.clear()
            found = self.perfect_transcript(document)
            self._texts[document] = None if found is None else SentText.of(found)
        return self._texts[document]

    def perfect_transcript(self, document: str) -> Transcript | None:
        """Return the perfect text of a document as a transcript. Raises `ProblemsError`."""
        if self.folder is not None:
            return self.folder.read(document)
        path = self.files.get(document)
        return None if path is None else read_text(path, document)


def find_twins(run: Run, given: Path | None) -> Twins:
    """Return the twins that a path names, else those that the gold of the run names.

    Raises `ProblemsError` for a path that names none.
    """
    if given is None:
        return Twins(_of_gold(run))
    if given.is_dir() and not (given / "corpus.json").is_file():
        folder = TextFolder(given, are_documents_read=True)
        documents = run.documents["doc"].unique().to_list()
        if not any(folder.find(document) for document in documents):
            what = f"has no text of any of {format_count(len(documents), 'document')}"
            raise problem(given, what, "write the text of each as ID.txt, or put in ID.pdf", "no_twins")
        return Twins(folder=folder)
    path = given / "corpus.json" if given.is_dir() else given
    try:
        rows = [row for row in _rows(path) if isinstance(row, dict) and row.get("id")]
    except (OSError, ValueError) as error:
        raise problem(path, f"cannot be read ({error})", _WHAT, "unreadable_file") from None
    key = _documents_of([make_printable(str(row["id"])) for row in rows], run)
    named = [(key(make_printable(str(row["id"]))), row) for row in rows]
    pairs = {name: key(make_printable(row[TWIN_OF])) for name, row in named if row.get(TWIN_OF)}
    files = {name: path.parent / row["text"] for name, row in named if isinstance(row.get("text"), str)}
    if not pairs and not files:
        raise problem(path, f"names no {TWIN_OF!r}", _WHAT, "no_twins")
    return Twins(pairs, files=files)


def _documents_of(names: Sequence[str], run: Run) -> Callable[[str], str]:
    """Return the documents of a run by names that belong to them as its predictions do."""
    form, documents = run.plan.spec.data.match_ids, run.documents["doc"].unique().to_list()
    if form in ID_FORMS and (form != "exact" or not {*documents}.isdisjoint(names)):
        return ID_FORMS[form]
    owners = join_names(names, documents, None if form == "exact" else form).owners
    return lambda name: owners.get(name, name)


def _rows(path: Path) -> list[Any]:
    """Return the objects of a JSON file, of its list of documents, or of its lines."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    listed = found.get("documents", [found]) if isinstance(found, dict) else found
    return listed if isinstance(listed, list) else []


def _of_gold(run: Run) -> dict[str, str]:
    """Return the twins that unchanged gold names."""
    if run.file.inputs is None:
        return {}
    label = run.inputs.gold
    digest = (run.inputs.sha256 or {}).get(label)
    try:
        if digest is None or digest_input(label) != digest:
            return {}
        found = gold_twins(run.plan, label)
    except (OSError, ProblemsError):
        return {}
    return {make_printable(name): make_printable(twin) for name, (twin, _) in found.items()}
