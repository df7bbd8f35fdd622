"""A baseline: the reference of later runs, document by document, without any content of the documents."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.text.shown import Brief
from fieldassay.metrics.estimate import PARTS

Ints = npt.NDArray[np.int64]


_DIGITS = 32
MOST_REASON = 1000
"""Characters that the reason of a baseline may have."""


class Headline(Struct, frozen=True):
    """One number of the baseline, for people: nothing is computed from it."""

    system: str
    metric: str
    value: float | None
    n: int
    documents: int
    interval: tuple[float, float] | None = None
    unit: str = "ratio"
    better: str = "higher"


class Entry(Struct, frozen=True):
    """One baseline of the history: when it was set, from which run, with which release, and why."""

    created: str
    run: str
    fieldassay: str
    reason: str = ""
    is_frozen: bool = False


class BaselineSystem(Struct, frozen=True, eq=False):
    """One system: its slices (values of the documents by key), and its columns by statistic and field.

    A column has one whole number a document.

    `predictions` is the SHA-256 of its predictions; empty where they were not in a file.
    """

    name: str
    slices: Mapping[str, tuple[tuple[str, ...], ...]]
    columns: Mapping[tuple[str, str | None], Ints]
    predictions: str = ""
    repeats: int = 1
    """The number of runs that the numbers of a document are the sum of."""


class Baseline(Brief, Struct, frozen=True, eq=False):
    """The measurements of a baseline, and their basis.

    `documents` are sorted ids, or, if `is_hashed`, the digests of ids (values of slices are digests then
    too), and `gold` the digests of their gold. `digests` has one for each of the `PARTS`, `basis` the content
    of each except gold. `history` ends with this baseline.
    """

    fieldassay: str
    created: str
    run: str
    spec: str
    reason: str
    is_frozen: bool
    """Whether a run is refused unless its basis is this one; else it is compared where gold is the same."""
    digests: Mapping[str, str]
    basis: Mapping[str, Any]
    metrics: tuple[str, ...]
    headlines: tuple[Headline, ...]
    is_hashed: bool
    documents: tuple[str, ...]
    gold: tuple[str, ...]
    systems: tuple[BaselineSystem, ...]
    history: tuple[Entry, ...]

    def label(self) -> str:
        """Return in a few words which baseline it is."""
        return f"the {'frozen ' if self.is_frozen else ''}baseline of {self.created[:40]}"


def hash_text(text: str) -> str:
    """Return the digest that stands for an id or a slice's value; whoever can guess the text can confirm it.

    >>> hash_text("invoice-17")
    'feb9e7e1a54714ced3e21530bbbc9e02'
    """
    return hashlib.sha256(b"fieldassay id 1\n" + text.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def check_reason(reason: str, remedy: str = "say why a new baseline is needed; its history keeps it") -> str:
    """Return the reason of a change, in one line. Raises `ProblemsError` if it is empty or too long.

    >>> check_reason(" doses are compared\\n as numbers ")
    'doses are compared as numbers'
    """
    text = " ".join(reason.split())
    if not any(char.isalnum() for char in text):
        raise problem("--reason", "says nothing", remedy, "no_reason")
    if len(text) > MOST_REASON:
        what = f"has {len(text):,} characters; {MOST_REASON:,} are the most"
        raise problem("--reason", what, "shorten it", "no_reason")
    return text


def find_faults(baseline: Baseline) -> Iterator[str]:
    """Yield the contradictions in a baseline that its checksum cannot show."""
    if set(baseline.digests) != set(PARTS) or not all(baseline.digests.values()):
        yield f"its digests are not those of {', '.join(PARTS)}"
    if any(first >= second for first, second in pairwise(baseline.documents)):
        yield "its documents are not sorted, or one is there twice"
    if not baseline.documents:
        yield "it has no documents"
    if not baseline.systems:
        yield "it has no system"
    yield from (f"the system {name[:60]!r} is there {count} times" for name, count in _repeated(baseline))
    for system in baseline.systems:
        if any(len(groups) != len(baseline.documents) for groups in system.slices.values()):
            yield f"a slice of the system {system.name[:60]!r} does not have a line for each document"


def _repeated(baseline: Baseline) -> Sequence[tuple[str, int]]:
    counts = Counter(system.name for system in baseline.systems)
    return [(name, count) for name, count in counts.items() if count > 1]
