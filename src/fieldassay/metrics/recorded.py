"""The records of a run in `run.json` and `metrics.json`: the origin of its numbers, and its counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

Count = Annotated[int, Meta(ge=0, le=2**53)]
PARTS = ("spec", "formulas", "models", "gold")
"""The basis of a run's numbers: runs with an equal basis can be compared."""

Level = Annotated[float, Meta(gt=0, lt=1, examples=[0.95])]
Replicates = Annotated[int, Meta(ge=0, le=10_000_000, examples=[2000])]
Seed = Annotated[int, Meta(ge=0, examples=[0])]
Correction: TypeAlias = Literal["min_p", "holm"]


class RecordedText(msgspec.Struct, frozen=True):
    """The spec of a run: its name, its digest and its whole text."""

    text: str = ""
    name: str | None = None
    digest: str | None = None


class RecordedMetrics(msgspec.Struct, frozen=True):
    """The metrics used to compare systems, and those with statistics kept in addition."""

    compared: list[str]
    also: list[str]


class RecordedDraw(msgspec.Struct, frozen=True):
    """The settings of the bootstrap draws."""

    replicates: Replicates
    seed: Seed
    level: Level


class RecordedGiven(msgspec.Struct, frozen=True):
    """The paths of the inputs as given."""

    gold: str
    predictions: dict[str, str]


class RecordedInputs(msgspec.Struct, frozen=True):
    """The inputs of a run: labels, digests by label (None: a stream), paths as given."""

    gold: str
    predictions: dict[str, str]
    sha256: dict[str, str | None] | None = None
    given: RecordedGiven | None = None
    repeats: dict[str, list[str]] = {}
    """The names of the predictions that are repeated runs of a system, by system."""

    @property
    def systems(self) -> tuple[str, ...]:
        """Return the names of the systems."""
        return tuple(self.by_system(self.predictions))

    @property
    def opened(self) -> dict[str, str]:
        """Return the path to open for each of the predictions: of those of an extraction, its folder."""
        given = {} if self.given is None else self.given.predictions
        return {name: given.get(name, label) for name, label in self.predictions.items()}

    def by_system(self, paths: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
        """Return paths of predictions by system, several for one with repeated runs in files of their own."""
        system_of = {name: system for system, names in self.repeats.items() for name in names}
        found: dict[str, tuple[str, ...]] = {}
        for name, path in paths.items():
            system = system_of.get(name, name)
            found[system] = tuple(dict.fromkeys((*found.get(system, ()), path)))
        return {system: given[0] if len(given) == 1 else given for system, given in found.items()}


class Provenance(msgspec.Struct, frozen=True):
    """The origin of a run's numbers. Runs from Python lack parts of it."""

    spec: RecordedText | None = None
    metrics: list[str] = []
    score: str | None = None
    """The metric of a document's score, by which systems are ranked; None: the accuracy."""
    definitions: list[str] = []
    kept: RecordedMetrics | None = None
    slices: list[str] = []
    gates: list[str] = []
    bootstrap: RecordedDraw | None = None
    inputs: RecordedInputs | None = None
    models: list[dict[str, Any]] = []
    versions: dict[str, str] = {}
    digests: dict[str, str | None] | None = None


class SystemCounts(msgspec.Struct, frozen=True):
    """The counts of one system's documents; with repeated runs (`repeats`) those of all runs together."""

    documents: Count = 0
    repeats: Count = 1
    missing: Count = 0
    unmatched: Count = 0
    invalid: Count = 0
    error: Count = 0
    timeout: Count = 0
    repaired: Count = 0
    undeclared: dict[str, Count] = {}
    classes: dict[str, Count] = {}
    checks: list[dict[str, Any]] = []


class Counts(msgspec.Struct, frozen=True):
    """The counts of evaluated and excluded documents."""

    documents: Count = 0
    systems: dict[str, SystemCounts] = {}


class Part(Struct, frozen=True):
    """A part of the documents of a run: a description, and the option that excluded the others."""

    words: str
    option: str

    def __str__(self) -> str:
        return f"{self.words} only ({self.option})"


def parts_of(facts: Mapping[str, Any]) -> tuple[Part, ...]:
    """Return the options that restrict a run to part of the documents; () for a whole run.

    >>> [str(part) for part in parts_of({"limit": 5, "where": ["type=invoice"]})]
    ['documents with type=invoice only (--where)', 'the first 5 documents only (--limit)']
    """
    where, only, limit = (facts.get(name) for name in ("where", "only", "limit"))
    parts = [Part(f"documents with {', '.join(map(str, where))[:200]}", "--where")] if where else []
    parts += [Part("chosen documents", "--only")] if only is not None else []
    return (*parts, *([Part(f"the first {limit} documents", "--limit")] if limit is not None else []))
