"""A strategy: its task, what it extracts, and the predictions that are written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

import msgspec
from msgspec import Struct, field
from msgspec.structs import asdict

from fieldassay.documents.transcript import Box, Transcript
from fieldassay.extraction.endpoints.exchange import Attachment, Failure, Finished, ModelAnswer, Request
from fieldassay.io.json_value import Json
from fieldassay.records.record import PREDICTION_KEY

# Strategies: ways to extract a record from a document, as pure generators of requests.

if TYPE_CHECKING:
    from fieldassay.spec.language.model import Spec
else:
    Spec = Any  # a name that annotations resolve to without loading numpy

AT_LEAST_ONE = {"least": 1}
"""The metadata of an option, a number, that a file of systems cannot set to less."""

EvidenceClass = Literal["found", "elsewhere", "assembled", "absent", "hidden", "example"]
"""The place of a quote: the claimed one, elsewhere in the document, in pieces, nowhere, in hidden text,
or in a shown example and not in the document."""


class Evidence(Struct, frozen=True):
    """The place of an extracted value in its document: quote, page (from 1), characters and box."""

    quote: str
    page: int | None = None
    start: int | None = None
    """The first character of the quote in the text of its page (`transcript_text`), from 0."""
    end: int | None = None
    box: Box | None = None
    kind: EvidenceClass = "found"


class Example(Struct, frozen=True):
    """A document whose record is known, to show or to learn from: never one that is scored."""

    document: Transcript
    record: Mapping[str, Json]
    group: str = ""


class Task(Struct, frozen=True):
    """What a strategy is asked for: the record that a spec describes, with what it may look at."""

    spec: Spec
    examples: tuple[Example, ...] = ()
    repeat: int = 0
    """Which repetition this is, from 0; requests carry it, so that repeats are asked anew."""
    images: tuple[Attachment, ...] = ()
    """The page images of the document in order, for strategies with images in their input; else empty."""
    path: str | None = None
    """The absolute path of the document's file; None where the document is a line of a file of words."""


class Extracted(Struct, frozen=True):
    """The record that a strategy made of a document, or why it made none."""

    record: Mapping[str, Json] | None
    raw: str | None = None
    """The raw answer that the record was parsed from; None where there is none (`rules`)."""
    confidence: Mapping[str, float] = field(default_factory=dict)
    """In [0, 1], by path of the value (`lines[3].amount`); values without one are left out."""
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    """By path of the value."""
    failure: Failure | None = None
    notes: Mapping[str, int] = field(default_factory=dict)
    """Counted events: `reask`, `merged_duplicates`, `chunk_conflicts`, `leaked_example` and others."""


@runtime_checkable
class Strategy(Protocol):
    """A way to extract: a frozen dataclass whose fields are its options; no clock, network or file.

    Found by the entry point `fieldassay.extractors`. Several requests yielded at once are sent at once; their
    answers come back in the same order.
    """

    def extract(
        self, document: Transcript, task: Task
    ) -> Generator[tuple[Request, ...], tuple[ModelAnswer, ...], Extracted]:
        """Yield requests, receive their answers, and return the record."""
        ...


# The predictions of an extraction: a row per document, written in the order of the documents.

MOST_RAW = 1_000_000
"""Characters of a raw answer that a prediction keeps; the journal has all of it."""


def prediction_row(document: str, finished: Finished[Extracted], system: str) -> dict[str, Any]:
    """Return the row of a document: prediction or error, times, tokens, cost, confidence and evidence.

    A document that could not be loaded has no times.

    >>> from fieldassay.extraction.endpoints.exchange import Usage
    >>> from fieldassay.extraction.endpoints.exchange import DocumentTiming
    >>> timing = DocumentTiming(1.0, 0.0, 2.0, 0.0)
    >>> done = Finished("a", Extracted({"total": "5"}), None, timing, Usage(), 0.0)
    >>> row = prediction_row("a", done, "rules")
    >>> row["id"], row["pred"], row["timing"]["duration_ms"]
    ('a', {'total': '5'}, 3.0)
    """
    found, timing = finished.value, finished.timing
    row: dict[str, Any] = {"id": document, PREDICTION_KEY: None, "system": system}
    failure = failure_of(finished)
    if failure is None or failure.stage != "load":
        row["timing"] = {"duration_ms": timing.duration_ms, **asdict(timing)}
    if found is not None or finished.usage.attempts:
        used = {name: value for name, value in asdict(finished.usage).items() if value not in (None, "", 0)}
        row["usage"] = used if finished.cost_usd is None else used | {"cost_usd": finished.cost_usd}
    if found is not None:
        row[PREDICTION_KEY] = found.record
        row["raw"] = None if found.raw is None else found.raw[:MOST_RAW]
        row["confidence"] = dict(found.confidence)
        row["evidence"] = {path: evidence_data(one) for path, one in found.evidence.items()}
        row["notes"] = dict(found.notes)
    if failure is not None:
        row[PREDICTION_KEY] = None
        row["error"] = {"kind": failure.kind, "stage": failure.stage, "message": failure.message}
        if row.pop("raw", None) is not None and found is not None and found.raw is not None:
            row["error"]["answer"] = found.raw[:MOST_RAW]  # under `raw`, scoring would judge it after all
    row["model"] = finished.model or None
    row["reused"] = finished.reused or None
    row["retried"] = finished.retried or None
    row["possibly_billed"] = finished.possibly_billed or None
    return {name: value for name, value in row.items() if value not in (None, {}) or name == PREDICTION_KEY}


def failure_of(finished: Finished[Extracted]) -> Failure | None:
    """Return why a document has no prediction, None if it has one."""
    if finished.failure is not None:
        return finished.failure
    return None if finished.value is None else finished.value.failure


def evidence_data(found: Evidence) -> dict[str, Any]:
    """Return the evidence of a value as plain data, without the places that are unknown."""
    box = found.box
    row = {
        "quote": found.quote,
        "page": found.page,
        "start": found.start,
        "end": found.end,
        "box": None if box is None else [box.left, box.top, box.right, box.bottom],
        "class": found.kind,
    }
    return {name: value for name, value in row.items() if value is not None}


def read_evidence(row: Mapping[str, Any]) -> dict[str, Evidence]:
    """Return the evidence of a row by path, as `prediction_row` wrote it; what is no evidence is left out.

    >>> read_evidence({"evidence": {"total": {"quote": "5", "page": 2, "class": "found"}, "date": 7}})
    {'total': Evidence(quote='5', page=2, start=None, end=None, box=None, kind='found')}
    """
    given = row.get("evidence")
    found: dict[str, Evidence] = {}
    for path, one in given.items() if isinstance(given, dict) else ():
        try:
            written = msgspec.convert(one, _Written)
        except msgspec.ValidationError:
            continue
        box = None if written.box is None else Box(*written.box)
        found[path] = Evidence(written.quote, written.page, written.start, written.end, box, written.kind)
    return found


class _Written(msgspec.Struct, rename={"kind": "class"}):
    """The evidence of a value in a row."""

    quote: str = ""
    page: int | None = None
    start: int | None = None
    end: int | None = None
    box: tuple[float, float, float, float] | None = None
    kind: EvidenceClass = "found"


class RowSpool:
    """Rows in the order in which they come, kept on disk; read back in any other order.

    Use within `with`; the file goes with it.
    """

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115
        self._places: dict[int, tuple[int, int]] = {}

    def __enter__(self) -> RowSpool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def add(self, number: int, row: dict[str, Any]) -> None:
        """Keep the row of a document, by the document's place in the order."""
        line = msgspec.json.encode(row) + b"\n"
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(line)
        self._places[number] = (start, len(line))

    def lines(self, numbers: Sequence[int]) -> Iterator[bytes]:
        """Yield the rows of documents that have one, in the given order."""
        for number in numbers:
            if number in self._places:
                start, length = self._places[number]
                self._file.seek(start)
                yield self._file.read(length)
