"""The results of some documents of a run, a batch's or a shard's; they join exactly, in document order."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.errors import Problem
from fieldassay.metrics.evidence import Evidence
from fieldassay.metrics.fold import Partial, merge
from fieldassay.scoring.shards.answer_remarks import MOST_NAMED
from fieldassay.scoring.validation.checking import Tallies, join_tallies
from fieldassay.scoring.validation.fit import Fill, merge_fills

if TYPE_CHECKING:
    import polars as pl

Frame: TypeAlias = "pl.DataFrame | Path | HeldRows"
Key = TypeVar("Key")
Value = TypeVar("Value")


class HeldRows(Struct, frozen=True):
    """The evidence of a judged batch, of which a table is made on demand."""

    evidence: Evidence
    only_errors: bool

    def table(self) -> pl.DataFrame:
        """Return the table of the rows, or of those that are neither right nor absent."""
        assert self.evidence.table is not None
        frame = self.evidence.table()
        if not self.only_errors:
            return frame
        import polars as pl

        return frame.filter(~pl.col("outcome").is_in(["match", "absent"]))


class Done(Struct, frozen=True, eq=False):
    """The results of some documents.

    `frames` are evidence tables, in order: their batches where the work is local, or (where the work names a
    folder) their files.
    """

    partials: Mapping[str, Partial]
    """By system; what follows by system is by run where a system has repeated runs."""
    frames: tuple[Frame, ...]
    fills: Mapping[str, Fill]
    """Each side's values in the declared fields and beside them; gold under the empty name."""
    claims: Mapping[str, Counter[str]]
    """By system, the number of documents for which each claim of the document table is true."""
    untyped: int
    documents: int
    excluded: Counter[str]
    """Gold values in fields that do not apply to their documents, by field."""
    unreviewed: Counter[str]
    """Fields of gold that nobody was asked about, and the documents that have any."""
    grouped: frozenset[str]
    """Slice keys under which any document had a value."""
    without: Mapping[str, Counter[str]]
    """By system, how many documents had no value for each slice key."""
    tallies: Mapping[str, Tallies]
    """By system, the results of the spec's checks on predictions."""
    classes: Mapping[str, Counter[str]]
    """By system, the number of documents by status."""
    repairs: Mapping[str, Counter[str]]
    """By system, and for gold, the number of records by repair made before reading."""
    repaired: Mapping[str, Mapping[str, tuple[str, ...]]]
    """By system, and for gold, the first documents of some of these repairs."""
    labels: tuple[npt.NDArray[np.uint8], ...]
    """The digests of the gold records, part by part."""
    too_long: tuple[Problem, ...]
    """Documents with a list that is too long to be judged."""
    unreadable: Mapping[tuple[str, str], tuple[int, str]]
    """The number of gold values that cannot be read, and the first document, by field and its type."""
    invalid: Mapping[str, tuple[int, str, str]]
    """By system, the number of answers that cannot be read, and the first document with its reason."""
    violations: Mapping[str, tuple[bytes | Path, ...]] = {}
    """By system, the violations of the spec's checks as lines of JSON, or (in a folder) their files."""


def join_outcomes(parts: Iterable[Done]) -> Done:
    """Return the results of all parts, at least one, which follow one another; two are held at a time."""
    return reduce(_join, parts)


def _join(first: Done, second: Done) -> Done:
    return Done(
        partials=_by_name(first.partials, second.partials, lambda one, other: merge([one, other])),
        frames=first.frames + second.frames,
        fills=merge_fills([first.fills, second.fills]),
        claims=_add(first.claims, second.claims),
        untyped=first.untyped + second.untyped,
        documents=first.documents + second.documents,
        excluded=_sum(first.excluded, second.excluded),
        unreviewed=_sum(first.unreviewed, second.unreviewed),
        grouped=first.grouped | second.grouped,
        without=_add(first.without, second.without),
        tallies=_by_name(first.tallies, second.tallies, lambda one, other: join_tallies([one, other])),
        classes=_add(first.classes, second.classes),
        repairs=_add(first.repairs, second.repairs),
        repaired=_by_name(first.repaired, second.repaired, _name_first),
        labels=first.labels + second.labels,
        too_long=first.too_long + second.too_long,
        unreadable=_by_name(first.unreadable, second.unreadable, _count_on),
        invalid=_by_name(first.invalid, second.invalid, _count_on),
        violations=_by_name(first.violations, second.violations, operator.add),
    )


def _by_name(
    first: Mapping[Key, Value], second: Mapping[Key, Value], join: Callable[[Value, Value], Value]
) -> dict[Key, Value]:
    return {
        **first,
        **{name: join(first[name], value) if name in first else value for name, value in second.items()},
    }


def _add(first: Mapping[str, Counter[str]], second: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
    return _by_name(first, second, _sum)


def _sum(first: Counter[str], second: Counter[str]) -> Counter[str]:
    """Return the sum with its zeros, which the operator of counters drops."""
    whole = Counter(first)
    whole.update(second)
    return whole


def _count_on(first: Any, second: Any) -> Any:
    """Return a count with its first example, and that of later documents added."""
    return (first[0] + second[0], *first[1:])


def _name_first(
    first: Mapping[str, tuple[str, ...]], second: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    return _by_name(first, second, lambda one, other: (one + other)[:MOST_NAMED])
