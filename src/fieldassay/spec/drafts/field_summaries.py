"""The contents of gold records at each place: the raw material of an inferred spec."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Scalar

MOST_VALUES = 20_000
"""The number of values kept per place, the first ones."""
DEEPEST = 20
_LONGEST_CELL = 200_000
_MOST_BITS = 10_000  # Python writes no integer above 4300 digits
_NULLS = (
    "not_found",
    "not found",
    "n/a",
    "null",
    "none",
    "-",
    "--",
    "nan",
    "nil",
    "not available",
    "not applicable",
)


class FieldSummary(Struct, eq=False):
    """The sightings at one place.

    `present` is the number of non-empty values, of which `scalars` are kept (texts unchanged).
    """

    present: int = 0
    lists: int = 0
    objects: int = 0
    scalars: list[Scalar] = field(default_factory=list)
    members: dict[str, FieldSummary] = field(default_factory=dict)
    items: FieldSummary | None = None
    nulls: Counter[str] = field(default_factory=Counter)
    most: int = MOST_VALUES
    """The number of scalars kept."""

    def see(self, value: Any, depth: int = 0) -> None:
        """Add one value; empty ones do not count, texts that mean empty are noted in `nulls`."""
        value = _decoded(value)
        if is_empty(value):
            return
        if isinstance(value, str) and value.strip().casefold() in _NULLS:
            self.nulls[value.strip()] += 1
            return
        self.present += 1
        if isinstance(value, Mapping):
            self._see_object(value, depth)
        elif isinstance(value, list | tuple):
            self._see_list(value, depth)
        elif len(self.scalars) < self.most and not (
            isinstance(value, int) and value.bit_length() > _MOST_BITS
        ):
            self.scalars.append(value if isinstance(value, str | bool | int | float) else str(value))

    def _see_object(self, value: Mapping[Any, Any], depth: int) -> None:
        self.objects += 1
        if depth < DEEPEST:
            for key, inner in value.items():
                self.members.setdefault(str(key), FieldSummary()).see(inner, depth + 1)

    def _see_list(self, value: Iterable[Any], depth: int) -> None:
        self.lists += 1
        self.items = self.items or FieldSummary()
        if depth < DEEPEST:
            for inner in value:
                self.items.see(inner, depth + 1)

    def all_nulls(self) -> Counter[str]:
        """Return the texts that mean empty, here and below, with their counts."""
        total = Counter(self.nulls)
        for inner in (*self.members.values(), *((self.items,) if self.items is not None else ())):
            total.update(inner.all_nulls())
        return total


def sight(
    records: Iterable[Mapping[str, Any]], is_whole: Callable[[str], object] = lambda _: False
) -> tuple[FieldSummary, int]:
    """Return the sightings in the records, and the number of records.

    All scalars are kept for the top-level keys named by `is_whole`.

    >>> seen, count = sight([{"a": "x"}, {"a": None, "b": [1, 2]}])
    >>> count, seen.members["a"].present, seen.members["b"].items.scalars
    (2, 1, [1, 2])
    """
    root, count = FieldSummary(), 0
    for record in records:
        count += 1
        root.objects += 1
        for key, value in record.items():
            name = str(key)
            if name not in root.members:
                root.members[name] = FieldSummary(most=sys.maxsize if is_whole(name) else MOST_VALUES)
            root.members[name].see(value, 1)
    return root, count


def is_empty(value: Any) -> bool:
    """Return whether a value is empty: null, NaN, white space, an empty list or object."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, Mapping | list | tuple) and not value


def _decoded(value: Any) -> Any:
    """Return the content of a JSON cell; any other value unchanged."""
    if isinstance(value, str) and len(value) < _LONGEST_CELL and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
