"""What a model was sent of each document, as extractions and files of predictions keep it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.attribution.presence import SentText
from fieldassay.documents.sources import list_documents
from fieldassay.documents.store import TranscriptStore
from fieldassay.documents.transcript import DocumentError, Line, Page, Transcript, Word
from fieldassay.errors import problem
from fieldassay.extraction.endpoints.journal import NAME as JOURNAL
from fieldassay.extraction.endpoints.journal import lines_of
from fieldassay.extraction.extract import split_job
from fieldassay.extraction.places.search import Known
from fieldassay.records.envelope import pred_options
from fieldassay.records.files import is_extraction, read_manifest
from fieldassay.runs.value_sources import PredictedRows, open_predictions

if TYPE_CHECKING:
    from fieldassay.runs.run import Run

TRANSCRIPT = "transcript"
"""The key of a row of predictions with the text that was sent: a text, or a list of texts of pages."""
_SUFFIXES = (".txt", ".json", ".md")


def text_transcript(name: str, pages: list[str]) -> Transcript:
    """Return the transcript of texts of pages, of a document that is not known itself."""
    made = tuple(Page(number, text_lines(text)) for number, text in enumerate(pages, 1))
    return Transcript(name, "", "words", made)


def text_lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a text that have words."""
    return tuple(Line(tuple(map(Word, line.split()))) for line in text.splitlines() if line.strip())


class TextFolder(Struct, frozen=True, eq=False, dict=True):
    """A folder with the text of each document: `ID.txt` (a form feed begins a page), or `ID.json`, a list."""

    folder: Path
    are_documents_read: bool = False
    """Whether a document itself, such as `ID.pdf`, counts as its text."""

    def read(self, document: str) -> Transcript | None:
        """Return the transcript of a document; None if there is none. Raises `ProblemsError`."""
        path = self.find(document)
        if path is None or path.suffix.lower() in _SUFFIXES:
            return None if path is None else read_text(path, document)
        from fieldassay.documents.load import load

        try:
            return load(path, name=document)
        except DocumentError as error:
            raise problem(path, str(error), "write the text of it as ID.txt", "unreadable_file") from None

    def find(self, document: str) -> Path | None:
        """Return the file with the text of a document; None if there is none."""
        stem = Path(document).stem
        names = [one + end for one in (document, stem) for end in _SUFFIXES]
        path = next((path for name in (document, *names) if (path := self.folder / name).is_file()), None)
        if not self.are_documents_read:
            return path if path is None or path.suffix.lower() in _SUFFIXES else None
        return path or self._documents.get(stem)

    @cached_property
    def _documents(self) -> Mapping[str, Path]:
        return {Path(file.id).stem: file.path for file in list_documents(self.folder).files}


def read_text(path: Path, document: str) -> Transcript:
    """Return the transcript in a file of text, or of a JSON list. Raises `ProblemsError`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        pages = json.loads(text) if path.suffix == ".json" else text.split("\f")
    except (OSError, ValueError) as error:
        what = f"cannot be read ({error})"
        raise problem(path, what, _TEXT, "unreadable_file") from None
    if not isinstance(pages, list) or not all(isinstance(page, str) for page in pages):
        what = "is no list of the texts of pages"
        raise problem(path, what, _TEXT, "unreadable_file")
    return text_transcript(document, pages)


_TEXT = "write a text in UTF-8, or a JSON list with the text of each page"


class Sent(Struct, frozen=True):
    """What is known of one prediction: the text that was sent, or why not, and the row of the prediction."""

    row: Mapping[str, Any]
    text: SentText | None = None
    no_text: str = ""


class Extractions(Struct, frozen=True, eq=False, dict=True):
    """The predictions of a run, each with the text that was sent for it."""

    rows: Mapping[tuple[str, int | None], PredictedRows]
    changed: Mapping[str, str]
    """By system, why its predictions cannot be read."""
    folder: TextFolder | None = None
    _texts: dict[Any, SentText | None] = field(default_factory=dict)
    _stores: dict[Path, _Store] = field(default_factory=dict)
    _known: Known = field(default_factory=dict)

    def forget(self) -> None:
        """Drop the texts that are held: those of the document before."""
        self._texts.clear()

    def strategy(self, system: str) -> str:
        """Return the strategy of a system's extraction; the empty text where it is not known."""
        folders = [held.folder for (name, _), held in self.rows.items() if name == system]
        found = [read_manifest(folder).options for folder in folders[:1] if is_extraction(folder)]
        return str(found[0].get("strategy", "")) if found else ""

    def of(self, system: str, document: str, repeat: int | None) -> Sent:
        """Return what is known of a prediction."""
        held = self.rows.get((system, repeat))
        row = {} if held is None else held.row(document, repeat)
        if self.folder is not None:
            text = self._held(document, lambda: self.folder.read(document) if self.folder else None)
            return Sent(row, text, "" if text is not None else f"{self.folder.folder} has no text of it")
        if held is None:
            return Sent(row, None, self.changed.get(system, "its predictions were not read from a file"))
        given = row.get(TRANSCRIPT)
        if isinstance(given, str | list):
            pages = [str(page) for page in ([given] if isinstance(given, str) else given)]
            return Sent(row, self._held((system, repeat, document), lambda: text_transcript(document, pages)))
        if not is_extraction(held.folder):
            return Sent(row, None, f"its predictions have no {TRANSCRIPT!r}, and no --transcripts are given")
        return self._of_extraction(held, document, row)

    def _of_extraction(self, held: PredictedRows, document: str, row: Mapping[str, Any]) -> Sent:
        if held.folder not in self._stores:
            self._stores[held.folder] = _Store.open(held.folder, held.key)
        store = self._stores[held.folder]
        if store.are_images:
            return Sent(row, None, "pictures of its pages were sent, not text")
        sha256 = store.documents.get(held.form(document))
        if sha256 is None:
            return Sent(row, None, "the extraction did not load it")
        text = self._held(sha256, lambda: store.read(sha256))
        return Sent(row, text, "" if text is not None else "its transcript is not in the extraction's folder")

    def _held(self, key: Any, read: Callable[[], Transcript | None]) -> SentText | None:
        if key not in self._texts:
            found = read()
            self._texts[key] = None if found is None else SentText.of(found, self._known)
        return self._texts[key]


class _Store(Struct, frozen=True, dict=True):
    """The transcripts of an extraction, and the digest of each document."""

    stores: tuple[TranscriptStore, ...]
    documents: Mapping[str, str]
    are_images: bool

    @classmethod
    def open(cls, folder: Path, key: Callable[[str], str]) -> _Store:
        """Return the transcripts of a folder, or of the sweep that it is in."""
        documents = {
            key(split_job(line["document"])[0]): str(line["sha256"])
            for line in lines_of(folder / JOURNAL)
            if line.get("kind") == "load" and line.get("sha256")
        }
        stores = tuple(TranscriptStore(one / "transcripts") for one in (folder, folder.parent))
        given = read_manifest(folder).options.get("input")
        form_of_input = given.get("as") if isinstance(given, dict) else given
        return cls(stores, documents, form_of_input == "images")

    def read(self, sha256: str) -> Transcript | None:
        """Return the transcript of a document by its digest."""
        for store in self.stores:
            try:
                return store.read(sha256)
            except (OSError, ValueError):
                continue
        return None


def open_extractions(run: Run, transcripts: Path | None = None) -> Extractions:
    """Return the predictions of a run with what was sent; those that cannot be read are told of."""
    if transcripts is not None and not transcripts.is_dir():
        what, remedy = "is not a folder", "name a folder with a text of each document"
        raise problem(transcripts, what, remedy, "unreadable_file")
    reading = replace(pred_options(run.plan), systems_key=None)
    rows, changed = open_predictions(run.inputs, run.spec.text, run.documents["doc"].to_list(), reading)
    folder = None if transcripts is None else TextFolder(transcripts)
    return Extractions(rows, changed, folder)
