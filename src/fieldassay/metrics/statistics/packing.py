"""Numbers of documents in the narrowest type that gives every one of them back to the bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.metrics.statistics.statistics import Statistic
from fieldassay.metrics.statistics.sums import Sum

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FLOATS = (np.float16, np.float32)
_INTEGERS = (np.int8, np.int16, np.int32)


class PackedFloats(Struct, frozen=True, eq=False):
    """A column of float64 in a type of floats that holds each of its values, NaN and the sign of 0 too."""

    held: npt.NDArray[np.floating]

    @classmethod
    def pack(cls, values: Floats) -> PackedFloats:
        """Return the column, packed.

        >>> [PackedFloats.pack(np.array([value, np.nan])).held.dtype.name for value in (0.75, 0.1)]
        ['float16', 'float64']
        """
        bits = np.ascontiguousarray(values).view(np.int64)
        for narrow in _FLOATS:
            with np.errstate(over="ignore", under="ignore"):
                held: npt.NDArray[np.floating] = values.astype(narrow)
            if np.array_equal(held.astype(np.float64).view(np.int64), bits):
                return cls(held)
        return cls(values.copy())

    def unpack(self) -> Floats:
        """Return the column as float64."""
        return self.held.astype(np.float64)


class PackedInts(Struct, frozen=True, eq=False):
    """A column or columns of int64: `held`, of a narrower type of integers, times 2^shift."""

    held: npt.NDArray[np.signedinteger]
    shift: int

    @classmethod
    def pack(cls, values: Ints) -> PackedInts:
        """Return the column, packed.

        >>> PackedInts.pack(np.array([0, 3 << 32])).held
        array([0, 3], dtype=int8)
        """
        bits = int(np.bitwise_or.reduce(values, axis=None)) if values.size else 0
        shift = min((bits & -bits).bit_length() - 1, 62) if bits else 0
        held = values >> shift
        low, high = (int(held.min()), int(held.max())) if held.size else (0, 0)
        fitting = (one for one in _INTEGERS if np.iinfo(one).min <= low and high <= np.iinfo(one).max)
        return cls(held.astype(next(fitting, np.int64)), shift)

    def unpack(self) -> Ints:
        """Return the column as int64."""
        return self.held.astype(np.int64) << self.shift


class PackedSum(Struct, frozen=True, eq=False, dict=True):
    """The sums of one statistic (fields x documents), each field packed by itself."""

    fields: tuple[str | None, ...]
    rows: tuple[PackedInts, ...]
    documents: int

    @classmethod
    def pack(cls, total: Sum) -> PackedSum:
        """Return the sums, packed."""
        return cls(total.fields, tuple(map(PackedInts.pack, total.values)), total.values.shape[1])

    def unpack(self) -> Sum:
        """Return the sums as int64."""
        values = np.zeros((len(self.fields), self.documents), np.int64)
        for at, row in enumerate(self.rows):
            values[at] = row.unpack()
        return Sum(self.fields, values)

    def row(self, field: str | None) -> Ints:
        """Return the sums of one field, zeros for one that it does not have."""
        at = self._places.get(field)
        return np.zeros(self.documents, np.int64) if at is None else self.rows[at].unpack()

    @cached_property
    def _places(self) -> dict[str | None, int]:
        return {name: at for at, name in enumerate(self.fields)}


class PackedColumns(Mapping[str, Floats]):
    """Columns by name that are held packed; each lookup unpacks one."""

    def __init__(self, packed: Mapping[str, PackedFloats]) -> None:
        self.packed = packed

    @classmethod
    def pack(cls, columns: Mapping[str, Floats]) -> PackedColumns:
        """Return the columns, packed."""
        return cls({name: PackedFloats.pack(values) for name, values in columns.items()})

    def __getitem__(self, name: str) -> Floats:
        return self.packed[name].unpack()

    def __iter__(self) -> Iterator[str]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)


class PackedSums(Mapping[Statistic, Sum]):
    """Sums by statistic that are held packed; each lookup unpacks one."""

    def __init__(self, packed: Mapping[Statistic, PackedSum]) -> None:
        self.packed = packed

    def __getitem__(self, statistic: Statistic) -> Sum:
        return self.packed[statistic].unpack()

    def __iter__(self) -> Iterator[Statistic]:
        return iter(self.packed)

    def __len__(self) -> int:
        return len(self.packed)
