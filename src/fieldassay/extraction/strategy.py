"""Strategies: ways to extract a record from a document, as pure generators of requests."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, runtime_checkable

from msgspec import Struct, field

from fieldassay.documents.transcript import Box, Transcript
from fieldassay.extraction.endpoints.exchange import Answer, Attachment, Failure, Request
from fieldassay.io.json_value import Json

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
    ) -> Generator[tuple[Request, ...], tuple[Answer, ...], Extracted]:
        """Yield requests, receive their answers, and return the record."""
        ...
