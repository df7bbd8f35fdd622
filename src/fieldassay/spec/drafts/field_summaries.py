"""The contents of gold records at each place: the raw material of an inferred spec."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Scalar

MOST_VALUES = 20_000
"""The number of values kept per place, the first ones."""
DEEPEST = 20
_LONGEST_CELL = 200_000
_MOST_BITS = 10_000  # Python writes no integer above 4300 digits
_NULLS = frozenset(
    (
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
    """Texts that mean empty, here and below, with their counts."""
    most: int = MOST_VALUES
    """The number of scalars kept."""
    depth: int = 0

    def see(self, value: Any) -> None:
        """Add one value; empty ones do not count, texts that mean empty are noted in `nulls`."""
        if isinstance(value, str):
            if value.strip().casefold() in _NULLS:
                self.nulls[value.strip()] += 1
                return
            if len(value) < _LONGEST_CELL and value.lstrip()[:1] in ("[", "{"):
                with suppress(ValueError, RecursionError):
                    value = json.loads(value)
        if (
            value is None
            or value != value
            or value in ([], (), {})
            or (isinstance(value, str) and not value.strip())
        ):
            return
        self.present += 1
        if isinstance(value, Mapping):
            self.objects += 1
            for key, inner in value.items() if self.depth < DEEPEST else ():
                self.member(str(key)).see(inner)
        elif isinstance(value, list | tuple):
            self.lists += 1
            self.items = self.items or FieldSummary(nulls=self.nulls, depth=self.depth + 1)
            for inner in value if self.depth < DEEPEST else ():
                self.items.see(inner)
        elif len(self.scalars) < self.most and not (
            isinstance(value, int) and value.bit_length() > _MOST_BITS
        ):
            self.scalars.append(value if isinstance(value, str | bool | int | float) else str(value))

    def member(self, key: str, most: int = MOST_VALUES) -> FieldSummary:
        """Return the sightings under a key."""
        if key not in self.members:
            self.members[key] = FieldSummary(nulls=self.nulls, most=most, depth=self.depth + 1)
        return self.members[key]


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
        for key, value in record.items():
            name = str(key)
            seen = root.members.get(name) or root.member(name, sys.maxsize if is_whole(name) else MOST_VALUES)
            seen.see(value)
    return root, count
