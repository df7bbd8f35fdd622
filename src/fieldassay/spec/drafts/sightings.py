"""The contents of gold records at each place, and the key among them that identifies a document."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, field

from fieldassay.io.json_value import Scalar
from fieldassay.spec.language.names import ID_NAMES

DEEPEST = 20
_MOST_VALUES, _LONGEST_CELL = 20_000, 200_000
_MOST_BITS = 10_000  # Python writes no integer above 4300 digits
_NULLS = (
    "not_found", "not found", "n/a", "null", "none", "-", "--", "nan", "nil", "not available",
    "not applicable",
)  # fmt: skip
_ID_NAMES = (*ID_NAMES, "_id", "uid")
"""Names of the id for a first spec, which writes them down; scoring does not look for the last by itself."""
_ID_ENDINGS = ("id", "no", "nr", "number", "ref", "reference", "key", "file")


class Sightings(Struct, eq=False):
    """The values at one place: `present` counts the non-empty ones, `scalars` are the first of them."""

    present: int = 0
    lists: int = 0
    objects: int = 0
    scalars: list[Scalar] = field(default_factory=list)
    members: dict[str, Sightings] = field(default_factory=dict)
    items: Sightings | None = None
    nulls: Counter[str] = field(default_factory=Counter)
    """Texts that mean empty, at all places."""
    depth: int = 0
    most: int = _MOST_VALUES

    def see(self, value: Any) -> None:
        """Add one value; empty ones do not count, texts that mean empty are noted in `nulls`."""
        text = value.strip() if isinstance(value, str) else None
        if text is not None:
            if text.casefold() in _NULLS:
                self.nulls[text] += 1
                return
            if text[:1] in ("[", "{") and len(value) < _LONGEST_CELL:
                with suppress(ValueError, RecursionError):
                    value = json.loads(text)
        if value is None or value != value or value in ([], (), {}) or text == "":
            return
        self.present += 1
        if isinstance(value, Mapping):
            self.objects += 1
            for key, inner in value.items() if self.depth < DEEPEST else ():
                self.member(str(key)).see(inner)
        elif isinstance(value, list | tuple):
            self.lists += 1
            self.items = self.items or Sightings(nulls=self.nulls, depth=self.depth + 1)
            for inner in value if self.depth < DEEPEST else ():
                self.items.see(inner)
        elif len(self.scalars) < self.most and not (
            isinstance(value, int) and value.bit_length() > _MOST_BITS
        ):
            self.scalars.append(value if isinstance(value, str | bool | int | float) else str(value))

    def member(self, key: str) -> Sightings:
        """Return the sightings under a key; all values are kept of what may identify a document."""
        if key not in self.members:
            most = sys.maxsize if self.depth == 0 and _snake(key) in _ID_NAMES else _MOST_VALUES
            self.members[key] = Sightings(nulls=self.nulls, depth=self.depth + 1, most=most)
        return self.members[key]


def sight(records: Iterable[Mapping[str, Any]]) -> tuple[Sightings, int]:
    """Return the sightings in the records, and the number of records.

    >>> seen, count = sight([{"a": "x"}, {"a": None, "b": [1, 2]}])
    >>> count, seen.members["a"].present, seen.members["b"].items.scalars
    (2, 1, [1, 2])
    """
    root, count = Sightings(), 0
    for record in records:
        count += 1
        for key, value in record.items():
            root.member(str(key)).see(value)
    return root, count


def has_id_name(key: str) -> bool:
    """Return whether a key is a usual name of an id, in any spelling.

    >>> has_id_name("docId"), has_id_name("Image File"), has_id_name("vendor_tax_id")
    (True, True, False)
    """
    return _snake(key) in _ID_NAMES


def find_document_id(root: Sightings, count: int, otherwise: str = "position") -> tuple[str | None, str]:
    """Return the key with a usual name that is filled and unique in all records, or None; and the reason.

    `otherwise` is the way documents match without an id. A key with another name is never taken, whatever its
    values, since it may be an extracted field.
    """
    likely = [
        key for key in root.members if has_id_name(key) or _snake(key).rpartition("_")[2] in _ID_ENDINGS
    ]
    distinct = {
        key: len({str(value).strip() for value in root.members[key].scalars if not isinstance(value, bool)})
        for key in likely
    }
    unique = [key for key in likely if distinct[key] == count == root.members[key].present]
    named = sorted(filter(has_id_name, likely), key=lambda key: _ID_NAMES.index(_snake(key)))
    for key in named:
        if key in unique:
            return key, f"the usual name of an id, in {count} of {count} documents, all different"
    if not named:
        hints = [
            f"; if {key} identifies a document, write `data: {{id_key: {key}}}` and remove the field"
            for key in unique
        ]
        why = f"no key has a usual name of one, so documents are matched by {otherwise}"
        return None, "".join((f"no id: {why}", *hints[:1]))
    key, seen = named[0], root.members[named[0]]
    why = f"is not different in each document ({distinct[key]} different of {count})"
    if seen.present < count:
        why = f"is empty in {count - seen.present} of {count} documents"
    elif len(seen.scalars) < count:
        why = "is no text or number in some documents"
    return None, f"no id: {key} {why}, so it is read as a field; correct it, or name the id"


def _snake(key: str) -> str:
    return re.sub(r"[\s-]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key[:100].strip())).casefold()
