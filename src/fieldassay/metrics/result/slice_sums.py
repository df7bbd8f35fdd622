"""The sums of a slice: drawn batch by batch where they are small, else later, in portions of fields."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.metrics.statistics.packing import PackedInts
from fieldassay.metrics.statistics.statistics import Statistic
from fieldassay.metrics.statistics.sums import Sum, Sums, add_sums
from fieldassay.metrics.uncertainty.bootstrap import draw_sums
from fieldassay.metrics.uncertainty.weights import document_keys

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
SliceKey: TypeAlias = tuple[str, str] | None
Fields: TypeAlias = tuple[str | None, ...]

SMALL_SUMS = 1 << 25
"""Bytes of bootstrap sums that are drawn at once; larger ones only where the documents take more."""

PORTION = 1 << 24
"""Bytes of the bootstrap sums of one portion of fields: metrics of them take some ten times as much."""


class UndrawnDocuments(Struct, frozen=True, eq=False):
    """Documents before their bootstrap sums are drawn: the keys of their weights, and their statistics."""

    keys: npt.NDArray[np.uint64]
    statistics: Mapping[Statistic, tuple[Fields, PackedInts]]
    """The fields of each statistic, and its values, fields x documents."""

    @classmethod
    def hold(
        cls, documents: Sequence[str], seed: int, statistics: Mapping[Statistic, Sum]
    ) -> UndrawnDocuments:
        """Return the documents with their statistics, fields x documents, packed."""
        packed = {one: (total.fields, PackedInts.pack(total.values)) for one, total in statistics.items()}
        return cls(document_keys(documents, seed), packed)

    @property
    def nbytes(self) -> int:
        """Return the bytes of the values."""
        return sum(values.held.nbytes for _, values in self.statistics.values())

    def take(self, rows: Ints) -> UndrawnDocuments:
        """Return the documents at these positions."""
        if len(rows) == len(self.keys):
            return self
        own = {
            one: (fields, PackedInts(values.held[:, rows], values.shift))
            for one, (fields, values) in self.statistics.items()
        }
        return UndrawnDocuments(self.keys[rows], own)

    def choose(self, names: frozenset[str | None]) -> UndrawnDocuments:
        """Return the documents with the fields that have these names."""
        chosen = {}
        for one, (fields, packed) in self.statistics.items():
            rows = [at for at, name in enumerate(fields) if name in names]
            chosen[one] = (tuple(fields[at] for at in rows), PackedInts(packed.held[rows], packed.shift))
        return UndrawnDocuments(self.keys, chosen)

    def sum_each(
        self, subsets: Sequence[Ints], replicates: int, names: frozenset[str | None] | None = None
    ) -> list[dict[Statistic, Sum]]:
        """Return the sums over each subset of the documents, of all fields or of those with these names."""
        named, parts, bits = [], [np.zeros((0, len(self.keys)), np.int64)], []
        for statistic, (fields, packed) in self.statistics.items():
            rows = [at for at, name in enumerate(fields) if names is None or name in names]
            named.append((statistic, tuple(fields[at] for at in rows)))
            parts.append(PackedInts(packed.held[rows], packed.shift).unpack())
            bits += [statistic.bits] * len(rows)
        stacked = np.concatenate(parts)
        totals = [stacked[:, rows].sum(axis=1, keepdims=True) for rows in subsets]
        if replicates:
            drawn = draw_sums(stacked, self.keys, replicates, subsets, bits=bits)
            totals = [np.concatenate(both, axis=1) for both in zip(totals, drawn, strict=True)]
        ends = np.cumsum([len(fields) for _, fields in named])
        return [
            {
                statistic: Sum(fields, total[end - len(fields) : end])
                for (statistic, fields), end in zip(named, ends, strict=True)
            }
            for total in totals
        ]


class Portion(Struct, frozen=True, eq=False):
    """Sums of some fields (None: all), or of all added up (`of_whole`), or both."""

    sums: Sums
    fields: frozenset[str | None] | None = None
    of_whole: bool = True

    def holds(self, field: str | None) -> bool:
        """Return whether estimates of a field, or of the whole (None), are made of these sums."""
        return self.of_whole if field is None else self.fields is None or field in self.fields


class SliceSums(Struct, frozen=True, eq=False):
    """The sums of one slice, the document numbers for its quantiles, and its number of documents.

    The document numbers are the known ones, part by part. `undrawn` are documents that are in no sum yet, and
    the positions of those in the slice.
    """

    sums: Mapping[Statistic, Sum]
    numbers: Mapping[str, tuple[Floats, ...]]
    documents: int
    repeats: int = 1
    """The number of runs of each document, whose statistics are added up."""
    undrawn: tuple[tuple[UndrawnDocuments, Ints], ...] = ()

    def merge(self, other: SliceSums) -> SliceSums:
        """Return the sums of both."""
        names = dict.fromkeys([*self.numbers, *other.numbers])
        numbers = {name: self.numbers.get(name, ()) + other.numbers.get(name, ()) for name in names}
        return SliceSums(
            add_sums(self.sums, other.sums),
            numbers,
            self.documents + other.documents,
            self.repeats,
            self.undrawn + other.undrawn,
        )

    def portions(self, replicates: int) -> Iterator[Portion]:
        """Yield all sums if they are small; else those of some fields by name at a time, then the whole."""
        count = -(-self.size(replicates) // PORTION)
        names = sorted({name for _, fields in self._drawn() for name in fields if name is not None})
        if not replicates or count <= 1 or len(names) < 2:
            yield Portion(self.sum_fields(replicates))
            return
        whole: Sums = {}
        width = -(-len(names) // count)
        for first in range(0, len(names), width):
            part = frozenset((None, *names[first : first + width]))
            sums = self.sum_fields(replicates, part)
            yield Portion(sums, part, of_whole=False)
            whole = add_sums(
                whole,
                {
                    statistic: Sum((None,), total.values.sum(axis=0, keepdims=True))
                    for statistic, total in sums.items()
                    if first == 0 or total.fields != (None,)
                },
            )
        yield Portion(whole, frozenset())

    def of_own_fields(self) -> SliceSums:
        """Return the sums of the fields that occur in any of the documents: other slices may have others."""
        present = frozenset(
            name
            for total in self.sum_plain().values()
            for name, row in zip(total.fields, total.values, strict=True)
            if row.any() or name is None
        )
        return replace(
            self,
            sums={one: _choose(total, present) for one, total in self.sums.items()},
            undrawn=tuple((documents.choose(present), rows) for documents, rows in self.undrawn),
        )

    def count_fields(self) -> int:
        """Return how many fields the statistic with most of them has."""
        names: defaultdict[Statistic, set[str | None]] = defaultdict(set)
        parts = (documents.statistics.items() for documents, _ in self.undrawn)
        undrawn = ((one, fields) for part in parts for one, (fields, _) in part)
        for one, fields in (*((one, total.fields) for one, total in self.sums.items()), *undrawn):
            names[one].update(fields)
        return max(map(len, names.values()), default=0)

    def size(self, replicates: int) -> int:
        """Return the bytes of the sums when all are drawn."""
        return len({(one, name) for one, fields in self._drawn() for name in fields}) * (1 + replicates) * 8

    def sum_fields(self, replicates: int, names: frozenset[str | None] | None = None) -> Sums:
        """Return the sums of all documents, of all fields or of those with these names."""
        sums: Sums = self.sums
        if names is not None:
            sums = {statistic: _choose(total, names) for statistic, total in sums.items()}
        for documents, rows in self.undrawn:
            own = documents.take(rows)
            sums = add_sums(sums, own.sum_each([np.arange(len(rows))], replicates, names)[0])
        return sums

    def sum_plain(self) -> Sums:
        """Return the sums without replicates."""
        drawn = {one: Sum(total.fields, total.values[:, :1]) for one, total in self.sums.items()}
        return replace(self, sums=drawn).sum_fields(0)

    def _drawn(self) -> Iterator[tuple[Statistic, Fields]]:
        """Yield the statistics with replicates and their fields, some of them several times."""
        yield from ((one, total.fields) for one, total in self.sums.items() if total.values.shape[1] > 1)
        for documents, _ in self.undrawn:
            yield from ((one, fields) for one, (fields, _) in documents.statistics.items())


def _choose(total: Sum, names: frozenset[str | None]) -> Sum:
    rows = [at for at, name in enumerate(total.fields) if name in names]
    return Sum(tuple(total.fields[at] for at in rows), total.values[rows])


def settle_slices(slices: Mapping[SliceKey, SliceSums], replicates: int) -> dict[SliceKey, SliceSums]:
    """Return the slices with the sums of their documents drawn, if these are small beside the documents.

    So they take at most as many bytes as the documents, or `SMALL_SUMS`.
    """
    undrawn = {id(one): one for table in slices.values() for one, _ in table.undrawn}
    held = sum(documents.nbytes for documents in undrawn.values())
    if not undrawn or len(slices) * slices[None].size(replicates) > max(SMALL_SUMS, held):
        return dict(slices)
    settled = {key: replace(table, undrawn=()) for key, table in slices.items()}
    for documents in undrawn.values():
        own = {
            key: rows for key, table in slices.items() for each, rows in table.undrawn if each is documents
        }
        for key, sums in zip(own, documents.sum_each(list(own.values()), replicates), strict=True):
            settled[key] = replace(settled[key], sums=add_sums(settled[key].sums, sums))
    return settled
