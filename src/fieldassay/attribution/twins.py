"""Twins: documents whose reading is known to be perfect, and the perfect text of others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fieldassay.attribution.presence import SentText
from fieldassay.attribution.sent import TextFolder
from fieldassay.errors import Problem, ProblemsError
from fieldassay.fingerprint.inputs import digest_input
from fieldassay.printable import make_printable
from fieldassay.records.ids import ID_FORMS
from fieldassay.records.source import open_source
from fieldassay.scoring.inputs import gold_options

if TYPE_CHECKING:
    from fieldassay.runs.run import Run

TWIN_OF = "twin_of"
"""The key of a gold row that names the clean document with the same content."""
_WHAT = "name a corpus.json, a gold file with `twin_of`, or a folder with the perfect text of documents"


@dataclass(frozen=True, eq=False)
class Twins:
    """Which documents are clean twins of others, and texts of documents that are known to be perfect."""

    of: Mapping[str, str] = field(default_factory=dict)
    """The clean twin of each document that has one."""
    folder: TextFolder | None = None
    _texts: dict[str, SentText | None] = field(default_factory=dict)

    @property
    def has_any(self) -> bool:
        """Return whether any document is known to be read perfectly."""
        return bool(self.of) or self.folder is not None

    @property
    def named(self) -> str:
        """Return what missed values are measured on, the empty text without twins."""
        return "twins" if self.has_any else ""

    def is_clean(self, document: str) -> bool:
        """Return whether a document is the clean twin of another."""
        return document in self._clean

    @property
    def _clean(self) -> frozenset[str]:
        return frozenset(self.of.values())

    def perfect_text(self, document: str) -> SentText | None:
        """Return the perfect text of a document from the folder of texts."""
        if self.folder is None:
            return None
        if document not in self._texts:
            self._texts.clear()
            found = self.folder.read(document)
            self._texts[document] = None if found is None else SentText.of(found)
        return self._texts[document]


def find_twins(run: Run, given: Path | None) -> Twins:
    """Return the twins that a path names, else those that the gold of the run names.

    Raises `ProblemsError` for a path that names none.
    """
    if given is None:
        return Twins(_of_gold(run))
    if given.is_dir() and not (given / "corpus.json").is_file():
        return Twins(folder=TextFolder(given))
    path = given / "corpus.json" if given.is_dir() else given
    form = ID_FORMS.get(run.input_options.match_ids, str)
    try:
        rows = _rows(path)
    except (OSError, ValueError) as error:
        problem = Problem(str(path), f"cannot be read ({error})", _WHAT, "unreadable_file")
        raise ProblemsError([problem]) from None
    found = _pairs(rows, form)
    if not found:
        raise ProblemsError([Problem(str(path), f"names no {TWIN_OF!r}", _WHAT, "no_twins")])
    return Twins(found)


def _rows(path: Path) -> list[Any]:
    """Return the objects of a JSON file, of its list of documents, or of its lines."""
    text = path.read_text(encoding="utf-8-sig")
    try:
        found = json.loads(text)
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(found, dict) and isinstance(found.get("documents"), dict):
        return [{"id": name, **row} for name, row in found["documents"].items() if isinstance(row, dict)]
    return list(found.get("documents") or [found]) if isinstance(found, dict) else list(found)


def _pairs(rows: list[Any], form: Any) -> dict[str, str]:
    return {
        form(make_printable(str(row["id"]))): form(make_printable(str(row[TWIN_OF])))
        for row in rows
        if isinstance(row, dict) and row.get("id") and row.get(TWIN_OF)
    }


def _of_gold(run: Run) -> dict[str, str]:
    """Return the twins that unchanged gold names."""
    if run.file.inputs is None:
        return {}
    label = run.inputs.gold
    digest = (run.inputs.sha256 or {}).get(label)
    try:
        if digest is None or digest_input(label) != digest:
            return {}
        source = open_source(label, gold_options(run.plan, run.input_options))
        rows = source.rows.read(range(len(source)))
    except (OSError, ProblemsError):
        return {}
    named = [(name, row.value) for name, row in zip(source.ids(), rows, strict=True)]
    return {
        make_printable(name): make_printable(str(value[TWIN_OF]))
        for name, value in named
        if isinstance(value, dict) and isinstance(value.get(TWIN_OF), str)
    }
