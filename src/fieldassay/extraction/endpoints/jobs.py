"""A document on its way through a strategy, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct, field

from fieldassay.extraction.endpoints.channel import Waiting
from fieldassay.extraction.endpoints.exchange import Answer, Failure, Request, Usage
from fieldassay.io.json_value import Json

T = TypeVar("T")
Steps: TypeAlias = Generator[tuple[Request, ...], tuple[Answer, ...], T]
"""A strategy at work: yields requests, receives their answers, returns what it extracted."""


class Job(Struct, Generic[T], frozen=True):
    """A document to work on: `start` begins its strategy; without it, `failure` is the loading failure."""

    id: str
    start: Callable[[], Steps[T]] | None
    failure: Failure | None = None
    load_ms: float = 0.0
    facts: Mapping[str, Json] = field(default_factory=dict)
    """What the journal notes of the document: digests, loader, versions."""


class DocumentTiming(Struct, frozen=True):
    """The times of a document in milliseconds: what it takes when it waits for nobody, and the waiting."""

    load_ms: float
    model_ms: float
    """The longest path of model calls: calls sent at once count as long as their longest."""
    post_ms: float
    """The processor time of the strategy itself."""
    wait_ms: float

    @property
    def duration_ms(self) -> float:
        """What the document takes when it waits for nobody."""
        return self.load_ms + self.model_ms + self.post_ms


class Finished(Struct, Generic[T], frozen=True):
    """A document that ended: its value or its failure, its times, and what all its attempts used."""

    id: str
    value: T | None
    failure: Failure | None
    timing: DocumentTiming
    usage: Usage
    cost_usd: float | None
    """The price of all its answers, whenever they were paid; None where tokens or prices are unknown."""
    possibly_billed: int = 0
    """Attempts with an unknown outcome: not in `cost_usd`."""
    reused: bool = False
    """Whether every answer came from a journal, so that the document cost nothing now."""
    retried: bool = False
    """Whether an answer replaced an earlier one that had failed."""
    model: str = ""
    """The model that the server says it served, of the last answer."""


class Progress(Struct, frozen=True):
    """How far a run is."""

    done: int = 0
    failed: int = 0
    reused: int = 0
    active: int = 0
    in_flight: int = 0
    spent_usd: float = 0.0
    """What this run spent, as far as prices are known."""
    unpriced: int = 0
    """Answers of this run whose price is unknown."""
    possibly_billed: int = 0
    waiting: tuple[Waiting, ...] = ()


class RunSummary(Struct, frozen=True):
    """How a run ended."""

    progress: Progress
    stop: Failure | None = None
    """The reason for an early stop: finished documents are valid, the others not begun or not ended."""
    unfinished: tuple[str, ...] = ()
    """Documents that were begun and not ended; there may be more that were not begun."""
    are_timings_reliable: bool = True
    """False if this machine was so busy that the times of the answers cannot be trusted."""
