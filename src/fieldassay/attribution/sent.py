"""What a model was sent, and whether a value was in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.documents.transcript import Line, Page, Transcript, TranscriptStore, Word
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import NAME as JOURNAL
from fieldassay.extraction.endpoints.exchange import lines_of
from fieldassay.extraction.extract import split_job
from fieldassay.extraction.places import TEXTS, Place, Readings, Search, normalized, reading_key
from fieldassay.io.text.shown import make_printable
from fieldassay.records.envelope import pred_options
from fieldassay.records.files import is_extraction, read_manifest
from fieldassay.runs.value_sources import PredictedRows, open_predictions
from fieldassay.scoring.inputs import gold_twins
from fieldassay.scoring.provenance import digest_input

if TYPE_CHECKING:
    from fieldassay.io.json_value import Json
    from fieldassay.runs.run import Run
    from fieldassay.spec.plan.nodes import Leaf


# Whether a value is in the text that a model was sent, in any notation that its field's reader reads.

LOSSLESS = frozenset({"text", "markdown", "csv"})
"""Kinds of documents that are sent as they are: reading loses nothing of them."""
UNCOPIED = frozenset({"boolean"})
"""Types whose values are decided from a document, and not copied from it."""


class SentPlace(Struct, frozen=True):
    """A place of a value, as it is written there."""

    page: int
    """From 1."""
    quote: str
    line: str
    """The whole line."""


def find_shared(values: Sequence[tuple[str, Leaf, Json]]) -> Mapping[str, str]:
    """Return the paths of a document's values that another of them bears, each with the path of the other.

    Such a value is found in a text that lost it, where the other one stands: a total without tax in place of
    the net, a name in an address.
    """
    single = [(path, leaf, value) for path, leaf, value in values if not isinstance(value, list | dict)]
    words = [normalized(str(value)) for _, _, value in single]
    keys = [_shared_key(leaf, value) for _, leaf, value in single]
    shared: dict[str, str] = {}
    by_key: dict[str, list[int]] = {}
    for at, key in enumerate(keys):
        by_key.setdefault(key, []).append(at)
    lines = "\n".join(words)
    for at, (path, leaf, _) in enumerate(single):
        others = [other for other in by_key[keys[at]] if other != at]
        is_text = leaf.type in (*TEXTS, "enum") and words[at].strip()
        if not others and is_text and lines.count(words[at]) > 1:
            others = [other for other, text in enumerate(words) if other != at and words[at] in text]
        if others:
            shared[path] = single[others[0]][0]
    return shared


def _shared_key(leaf: Leaf, value: Json) -> str:
    """Return what equal values of a document share, whatever their types: numbers their number."""
    key = None if leaf.is_list or leaf.type in TEXTS else reading_key(leaf.reader.read(value))  # type: ignore[arg-type]
    if key is None:
        return normalized(str(value))
    return str(Decimal(key[0]).normalize()) if leaf.type in ("money", "number", "integer") else key[0]


class SentText(Struct, frozen=True, eq=False):
    """The text of a document as a model was sent it."""

    search: Search
    is_lossless: bool = False
    blank_pages: tuple[int, ...] = ()
    hidden: SentText | None = None
    """The same with the text that no person sees; None where there is none."""
    transcript: Transcript | None = None

    @classmethod
    def of(cls, transcript: Transcript, readings: Readings | None = None) -> SentText:
        """Return the text of a transcript: what is visible is what is sent."""
        search = Search.of(transcript.pages, readings=readings)
        every = Search.of(transcript.pages, hidden=True, readings=readings)
        has_hidden = [page.text for page in search.pages] != [page.text for page in every.pages]
        blank = tuple(page.number for page in search.pages if not page.text.strip())
        hidden = cls(every) if has_hidden else None
        return cls(search, transcript.kind in LOSSLESS, blank, hidden, transcript)

    def find(self, leaf: Leaf, value: Json) -> SentPlace | None:
        """Return where a value of a field stands, of a list its first item; None unless all of it stands."""
        places = [self.search.places(leaf, item) for item in (value if isinstance(value, list) else [value])]
        return self.shown(places[0][0]) if places and all(places) else None

    def places(self, leaf: Leaf, value: Json) -> list[SentPlace]:
        """Return every place of a value, of a list that of its first item."""
        if isinstance(value, list):
            return [place] if (place := self.find(leaf, value)) is not None else []
        return [self.shown(place) for place in self.search.places(leaf, value)]

    def shown(self, place: Place) -> SentPlace:
        """Return a place as it is shown to a person."""
        page = self.search.pages[place.page]
        start, _ = page.line_span(page.line_at(place.start))
        _, end = page.line_span(page.line_at(max(place.start, place.end - 1)))
        return SentPlace(page.number, self.search.text_at(place), " ".join(page.text[start:end].split()))


# What a model was sent of each document, as extractions and files of predictions keep it.

TRANSCRIPT = "transcript"
"""The key of a row of predictions with the text that was sent: a text, or a list of texts of pages."""


def text_transcript(name: str, pages: list[str]) -> Transcript:
    """Return the transcript of texts of pages, of a document that is not known itself."""
    numbered = tuple(
        Page(
            number, tuple(Line(tuple(map(Word, line.split()))) for line in text.splitlines() if line.strip())
        )
        for number, text in enumerate(pages, 1)
    )
    return Transcript(name, "", "words", numbered)


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
    _texts: dict[Any, SentText | None] = field(default_factory=dict)
    _stores: dict[Path, _Store] = field(default_factory=dict)
    _readings: Readings = field(default_factory=dict)

    def forget(self) -> None:
        """Drop the texts that are held: those of the document before."""
        self._texts.clear()

    def options(self, system: str) -> Mapping[str, Any]:
        """Return the options of a system's extraction; {} where they are not known."""
        folders = [rows.folder for (name, _), rows in self.rows.items() if name == system]
        options = [read_manifest(folder).options for folder in folders[:1] if is_extraction(folder)]
        return options[0] if options else {}

    def of(self, system: str, document: str, repeat: int | None) -> Sent:
        """Return what is known of a prediction."""
        rows = self.rows.get((system, repeat))
        row = {} if rows is None else rows.row(document, repeat)
        if rows is None:
            return Sent(row, None, self.changed.get(system, "its predictions were not read from a file"))
        sent = row.get(TRANSCRIPT)
        if isinstance(sent, str | list):
            pages = [str(page) for page in ([sent] if isinstance(sent, str) else sent)]
            return Sent(row, self._text((system, repeat, document), lambda: text_transcript(document, pages)))
        if not is_extraction(rows.folder):
            return Sent(row, None, f"its predictions have no {TRANSCRIPT!r} beside the record")
        return self._of_extraction(rows, document, row)

    def _of_extraction(self, rows: PredictedRows, document: str, row: Mapping[str, Any]) -> Sent:
        if rows.folder not in self._stores:
            self._stores[rows.folder] = _Store.open(rows.folder, rows.key)
        store = self._stores[rows.folder]
        if store.are_images:
            return Sent(row, None, "pictures of its pages were sent, not text")
        sha256 = store.documents.get(rows.form(document))
        if sha256 is None:
            return Sent(row, None, "the extraction did not load it")
        text = self._text(sha256, lambda: store.read(sha256))
        return Sent(row, text, "" if text is not None else "its transcript is not in the extraction's folder")

    def _text(self, key: Any, read: Callable[[], Transcript | None]) -> SentText | None:
        if key not in self._texts:
            transcript = read()
            self._texts[key] = None if transcript is None else SentText.of(transcript, self._readings)
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
        stores = tuple(TranscriptStore(parent / "transcripts") for parent in (folder, folder.parent))
        source = read_manifest(folder).options.get("input")
        form_of_input = source.get("as") if isinstance(source, dict) else source
        return cls(stores, documents, form_of_input == "images")

    def read(self, sha256: str) -> Transcript | None:
        """Return the transcript of a document by its digest."""
        for store in self.stores:
            try:
                return store.read(sha256)
            except (OSError, ValueError):
                continue
        return None


def open_extractions(run: Run) -> Extractions:
    """Return the predictions of a run with what was sent; those that cannot be read are told of."""
    reading = replace(pred_options(run.plan), systems_key=None)
    rows, changed = open_predictions(run.inputs, run.spec.text, run.documents["doc"].to_list(), reading)
    return Extractions(rows, changed)


# Twins: clean documents, which are read perfectly, with the same content as others.


class Twins(Struct, frozen=True, eq=False, dict=True):
    """Which documents are clean twins of others."""

    of: Mapping[str, str] = field(default_factory=dict)
    """The clean twin of each document that has one."""

    @property
    def named(self) -> str:
        """Return what missed values are measured on, the empty text without twins."""
        return "twins" if self.of else ""

    @cached_property
    def clean(self) -> frozenset[str]:
        """Return the documents that are clean twins of others."""
        return frozenset(self.of.values())


def find_twins(run: Run) -> Twins:
    """Return the twins that the gold of a run names by `twin_of`, if it has not changed."""
    if run.file.inputs is None:
        return Twins()
    label = run.inputs.gold
    digest = (run.inputs.sha256 or {}).get(label)
    try:
        if digest is None or digest_input(label) != digest:
            return Twins()
        twins = gold_twins(run.plan, label)
    except (OSError, ProblemsError):
        return Twins()
    return Twins({make_printable(name): make_printable(twin) for name, (twin, _) in twins.items()})
