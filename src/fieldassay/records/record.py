"""Records for the engine: one document's data and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Json


class Meta(Struct, frozen=True):
    """The metadata of a row.

    `duration_ms` is finite and not negative. `confidence` is in the units given, by concrete or field path; a
    single number for the whole record is `{"": x}`. `attributes` are scalar facts for slices (`difficulty`,
    `type` …), as text; `labels` are lists of such facts (`focus_areas`). `repairs` are the names of the
    repairs made before the record could be read, in order, each once. `critical_paths`, `illegible_paths`,
    `unreviewed_paths` and `accepted_values` come with gold: paths that this document must have right, those
    that nobody can read, those that nobody was asked about, and per path the values accepted beside gold.
    """

    duration_ms: float | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    parse_success: bool | None = None
    confidence: Mapping[str, float] | None = None
    variant: str | None = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    critical_paths: tuple[str, ...] = ()
    illegible_paths: tuple[str, ...] = ()
    unreviewed_paths: tuple[str, ...] = ()
    accepted_values: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)


NOTHING_BESIDE = Meta()
"""The metadata of every record without any."""


class Record(Struct, frozen=True, gc=False):  # nothing of a record refers to it: no cycle, no walk
    """One document's data; `data` is None without a readable answer, and then `invalid` gives the reason.

    `place` is its place in the source. `start` is the beginning of the raw answer, of one that was repaired
    or could not be read.
    """

    id: str
    data: dict[str, Json] | None
    meta: Meta
    place: str
    invalid: str | None = None
    start: str = ""


class Repeat(Struct, frozen=True):
    """One run of a system: its number, from 1, and how many there are."""

    system: str
    number: int
    runs: int

    @property
    def name(self) -> str:
        """Return the name of the run among the names of systems.

        >>> Repeat("llama", 2, 5).name
        'llama (run 2 of 5)'
        """
        return f"{self.system} (run {self.number} of {self.runs})"


class Batch(Struct, frozen=True):
    """Some documents in gold order: gold and, by system, predictions, as parallel tuples (None: missing).

    `repeats` says of which system a prediction is a repeated run, and which.
    """

    ids: tuple[str, ...]
    gold: tuple[Record, ...]
    predictions: Mapping[str, tuple[Record | None, ...]]
    repeats: Mapping[str, Repeat] = field(default_factory=dict)


PREDICTION_KEY = "pred"
"""The key of the record in a row that fieldassay writes."""
GOLD_ID = "gold_id"
"""The key of the id of gold in such a row, where several documents have one gold record."""
CASE_KEY = "expected_extraction"
"""The key of the record in a case file."""


def is_prediction(row: Mapping[str, Any]) -> bool:
    """Return whether a row is a prediction as fieldassay writes it: with a system, and its time or error.

    >>> is_prediction({"id": "a", "pred": {"total": 5}, "system": "rules", "timing": {"duration_ms": 3.0}})
    True
    """
    return row.keys() >= {"id", PREDICTION_KEY, "system"} and not row.keys().isdisjoint(("timing", "error"))


CONFIDENCE = "confidence"
"""A part of the key of every confidence that is given within a record's data."""


class Row(Struct, frozen=True, repr_omit_defaults=True, gc=False):
    """One row of a source before its envelope is opened; an unreadable one has a `problem` and no `value`."""

    value: Json
    repairs: tuple[str, ...] = ()
    problem: str | None = None
    may_name_confidence: bool = True
    """False if no key of the value, at any depth, contains `CONFIDENCE`."""
