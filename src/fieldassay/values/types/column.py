"""Readers and what they make: a column of values as read."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import cache, wraps
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.io.json_value import Scalar, is_settled, settle

# Typed values in columns: the output of readers and the input of comparators.

Objects: TypeAlias = npt.NDArray[np.object_]
Derived = TypeVar("Derived")
Indices: TypeAlias = npt.NDArray[np.integer[Any]]


class Reading(Struct, frozen=True):
    """The reading of one raw value.

    `text` is the value as given (trimmed, its Unicode settled; JSON text for anything but a string). `value`
    is the typed value; it is None for an unreadable text, and `problem` then says why. `canonical` is the
    canonical text of the value: two readings of one field mean the same if and only if their canonical texts
    are equal. The canonical text of an unreadable reading is its trimmed text. `flags` are remarks such as
    `ambiguous`.
    """

    text: str
    value: Any
    canonical: str
    flags: tuple[str, ...] = ()
    problem: str | None = None


def objects(items: Sequence[Any]) -> Objects:
    """Return a one-dimensional object array of the items, nested ones included.

    >>> objects([[1, 2], "a"]).shape
    (2,)
    """
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def lengths(texts: Sequence[Sequence[object]] | Objects) -> npt.NDArray[np.int64]:
    """Return the number of characters of every text, of items of every sequence."""
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


class Column(Struct, frozen=True, eq=False):
    """Readings of one field as parallel arrays of equal length.

    The arrays hold the parts of `Reading`. `flags` and `problems` are sparse: they map the positions that
    have any. With `write`, which returns the texts and the canonical texts of values, both are written when
    they are needed; two values are then equal if and only if their canonical texts are.
    """

    _texts: Objects | Callable[[], Objects]
    values: Objects
    _canonical: Objects | Callable[[], Objects]
    flags: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    problems: Mapping[int, str] = field(default_factory=dict)
    write: Callable[[list[Any]], tuple[list[str], list[str]]] | None = None
    _derived: dict[Callable[..., Any], Any] = field(default_factory=dict)

    def derive(self, make: Callable[["Column"], Derived]) -> Derived:
        """Return the result of a function for the column; it is called once."""
        if make not in self._derived:
            self._derived[make] = make(self)
        return cast(Derived, self._derived[make])

    @classmethod
    def on_demand(
        cls, values: Objects, write: Callable[[list[Any]], tuple[list[str], list[str]]]
    ) -> "Column":
        """Return the column of values whose texts are written when they are needed."""

        @cache
        def written() -> list[Objects]:
            return list(map(objects, write(values.tolist())))

        return cls(lambda: written()[0], values, lambda: written()[1], write=write)

    @classmethod
    def of(cls, readings: Sequence[Reading]) -> "Column":
        """Return the column of the readings, in their order.

        >>> column = Column.of([Reading("1,0", 1, "1"), Reading("x", None, "x", problem="not a number")])
        >>> list(column.canonical), dict(column.problems)
        (['1', 'x'], {1: 'not a number'})
        """
        return cls(
            objects([reading.text for reading in readings]),
            objects([reading.value for reading in readings]),
            objects([reading.canonical for reading in readings]),
            {index: reading.flags for index, reading in enumerate(readings) if reading.flags},
            {index: reading.problem for index, reading in enumerate(readings) if reading.problem is not None},
        )

    @property
    def texts(self) -> Objects:
        """Return the values as given."""
        return self._texts() if callable(self._texts) else self._texts

    @property
    def canonical(self) -> Objects:
        """Return the canonical texts."""
        return self._canonical() if callable(self._canonical) else self._canonical

    def meanings(self) -> list[Any]:
        """Return a key of each value: two are equal if and only if the canonical texts are."""
        keys: list[Any] = (self.canonical if self.write is None else self.values).tolist()
        return keys

    def __len__(self) -> int:
        return len(self.values)

    def reading(self, index: int) -> Reading:
        """Return the reading at a position."""
        return Reading(
            self.texts[index],
            self.values[index],
            self.canonical[index],
            self.flags.get(index, ()),
            self.problems.get(index),
        )

    def join(self, other: "Column") -> "Column":
        """Return this column followed by the other."""
        shift = len(self)
        return Column(
            np.concatenate([self.texts, other.texts]),
            np.concatenate([self.values, other.values]),
            np.concatenate([self.canonical, other.canonical]),
            {**self.flags, **{index + shift: flags for index, flags in other.flags.items()}},
            {**self.problems, **{index + shift: problem for index, problem in other.problems.items()}},
        )

    def take(self, indices: Indices) -> "Column":
        """Return the values at the positions, in that order, with their flags and problems."""
        if self.write is not None:
            return Column.on_demand(self.values[indices], self.write)
        flags = _take_sparse(self.flags, indices)
        problems = _take_sparse(self.problems, indices)
        return Column(self.texts[indices], self.values[indices], self.canonical[indices], flags, problems)


def _take_sparse(sparse: Mapping[int, Any], indices: Indices) -> dict[int, Any]:
    if not sparse:
        return {}
    return {new: sparse[old] for new, old in enumerate(indices.tolist()) if old in sparse}


# A raw value as text, and the reading of one that is unreadable.

_MOST_BITS = 10_000  # Python refuses str() of integers above 4300 digits; Decimal does not


def json_text(raw: Scalar | None) -> str:
    """Return a string trimmed, any other scalar as JSON.

    >>> json_text(" a "), json_text(True), json_text(1.0), json_text(12)
    ('a', 'true', '1.0', '12')
    """
    if isinstance(raw, str):
        return raw.strip()
    if raw is None:
        return "null"
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int):
        return str(raw) if raw.bit_length() < _MOST_BITS else str(Decimal(raw))
    if math.isfinite(raw):
        return repr(float(raw))
    return "NaN" if math.isnan(raw) else "Infinity" if raw > 0 else "-Infinity"


class UnreadableError(Exception):
    """A text without a meaning of the wanted type; the message says why.

    `Reader` catches it; it never leaves `read`.
    """


def unreadable(text: str, why: object, flags: tuple[str, ...] = ()) -> Reading:
    """Return the reading of an unreadable text.

    >>> unreadable("soon", "is not a date").problem
    'is not a date'
    """
    return Reading(text, None, text, flags, str(why))


# The interface of readers.

SETTLED = "unicode"
"""The flag of a text that `settle` changed."""


def _read_settled(read: Callable[[Any, Any], Reading]) -> Callable[[Any, Any], Reading]:
    @wraps(read)
    def read_settled(reader: Reader, raw: Scalar) -> Reading:
        is_plain = not isinstance(raw, str) or raw.isascii() or reader.is_exact
        plain = raw if is_plain else settle(str(raw))
        try:
            reading = read(reader, plain)
        except UnreadableError as why:
            reading = unreadable(json_text(plain), why)
        return reading if plain is raw or plain == raw else replace(reading, flags=(*reading.flags, SETTLED))

    return read_settled


class Reader:
    """Turns the raw values of a field into typed values.

    A reader is a frozen `Struct` or dataclass whose fields are its options in a spec, under the same names.
    It is pure. A scalar that it cannot read gives a `Reading` with `value=None` and a `problem` in words, or
    raises `UnreadableError`, which becomes such a reading. Empty values never reach it. Texts reach it
    composed (NFC) and without invisible characters; a reading for which that changed something is
    flagged `unicode`.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        """Settle the Unicode of texts before a subclass reads them, whatever its type."""
        super().__init_subclass__(**options)
        if "read" in cls.__dict__:
            setattr(cls, "read", _read_settled(cls.__dict__["read"]))  # noqa: B010 - mypy refuses to assign it

    @property
    def is_exact(self) -> bool:
        """Return whether texts are read with the Unicode that they have."""
        return False

    @abstractmethod
    def read(self, raw: Scalar) -> Reading:
        """Return the reading of a raw value."""

    def read_column(self, raws: Sequence[Scalar]) -> Column:
        """Return the readings of distinct raw values."""
        is_plain = self.is_exact or is_settled("\n".join([raw for raw in raws if isinstance(raw, str)]))
        return self.read_settled(raws) if is_plain else Column.of(list(map(self.read, raws)))

    def read_settled(self, raws: Sequence[Scalar]) -> Column:
        """Return the same of values whose texts are settled; override it where a column is read faster."""
        return Column.of(list(map(self.read, raws)))

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:  # noqa: ARG002 - subclasses use it
        """Return a mask of the readings that amount to no value; None if there are none."""
        return None
