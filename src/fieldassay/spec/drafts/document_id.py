"""The key that identifies a document in gold records, for a first spec."""

from __future__ import annotations

import re

from msgspec import Struct

from fieldassay.spec.drafts.field_summaries import FieldSummary
from fieldassay.spec.language.names import ID_NAMES

_NAMES = (*ID_NAMES, "_id", "uid")
"""Names of the id for a first spec, which writes them down; scoring does not look for the last by itself."""
_ENDINGS = ("id", "no", "nr", "number", "ref", "reference", "key", "file")


class DocumentId(Struct, frozen=True):
    """The key that identifies a document, or None, and the reason."""

    name: str | None
    why: str
    is_beside: bool = False
    """True if it is beside the record, not in it."""


def has_id_name(key: str) -> bool:
    """Return whether a key is a usual name of an id, in any spelling.

    >>> has_id_name("docId"), has_id_name("Image File"), has_id_name("vendor_tax_id")
    (True, True, False)
    """
    return _snake(key) in _NAMES


def find_document_id(root: FieldSummary, count: int, otherwise: str = "position") -> DocumentId:
    """Return the key with a usual name that is filled and unique in all records.

    `otherwise` is the way documents match without an id. A key with another name is never taken, whatever its
    values, since it may be an extracted field.
    """
    distinct: dict[str, int] = {}
    for key, seen in root.members.items():
        if has_id_name(key) or _snake(key).rpartition("_")[2] in _ENDINGS:
            distinct[key] = len({str(value).strip() for value in seen.scalars})
    unique = [key for key, number in distinct.items() if number == count == root.members[key].present]
    named = sorted(filter(has_id_name, distinct), key=lambda key: _NAMES.index(_snake(key)))
    for key in named:
        if key in unique:
            return DocumentId(key, f"the usual name of an id, in {count} of {count} documents, all different")
    if not named:
        hint = "".join(
            f"; if {key} identifies a document, write `id: {key}` and remove the field" for key in unique[:1]
        )
        why = f"no key has a usual name of one, so documents are matched by {otherwise}"
        return DocumentId(None, f"no id: {why}{hint}")
    key, seen = named[0], root.members[named[0]]
    if seen.present < count:
        why = f"is empty in {count - seen.present} of {count} documents"
    elif len(seen.scalars) < count:
        why = "is no text or number in some documents"
    else:
        why = f"is not different in each document ({distinct[key]} different of {count})"
    return DocumentId(None, f"no id: {key} {why}, so it is read as a field; correct it, or name the id")


def _snake(key: str) -> str:
    return re.sub(r"[\s-]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key[:100].strip())).casefold()
