"""The key that identifies a document in gold records, for a first spec."""

from __future__ import annotations

import re

from msgspec import Struct

from fieldassay.spec.drafts.field_summaries import FieldSummary
from fieldassay.spec.language.names import ID_NAMES

_MORE_NAMES = ("_id", "uid")
"""Names of the id for a first spec, which writes them down; scoring does not look for them by itself."""

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
    return _snake(key) in (*ID_NAMES, *_MORE_NAMES)


def find_document_id(root: FieldSummary, count: int, otherwise: str = "position") -> DocumentId:
    """Return the key with a usual name that is filled and unique in all records.

    `otherwise` is the way documents match without an id. A key with another name is never taken, whatever its
    values, since it may be an extracted field.
    """
    order = (*ID_NAMES, *_MORE_NAMES)
    named = sorted(
        (key for key in root.members if has_id_name(key)), key=lambda key: order.index(_snake(key))
    )
    for key in named:
        if _identifies(root.members[key], count):
            return DocumentId(key, f"the usual name of an id, in {count} of {count} documents, all different")
    if named:
        return DocumentId(
            None,
            f"no id: {_lacks(named[0], root.members[named[0]], count)}, "
            "so it is read as a field; correct it, or name the id",
        )
    likely = [
        key
        for key, seen in root.members.items()
        if _snake(key).rpartition("_")[2] in _ENDINGS and _identifies(seen, count)
    ]
    hint = (
        f"; if {likely[0]} identifies a document, write `id: {likely[0]}` and remove the field"
        if likely
        else ""
    )
    return DocumentId(
        None, f"no id: no key has a usual name of one, so documents are matched by {otherwise}{hint}"
    )


def _identifies(seen: FieldSummary, count: int) -> bool:
    return bool(count) and seen.present == count == len(seen.scalars) == len(_distinct(seen))


def _lacks(key: str, seen: FieldSummary, count: int) -> str:
    if seen.present < count:
        return f"{key} is empty in {count - seen.present} of {count} documents"
    if len(seen.scalars) < count:
        return f"{key} is no text or number in some documents"
    return f"{key} is not different in each document ({len(_distinct(seen))} different of {count})"


def _distinct(seen: FieldSummary) -> set[str]:
    return {str(value).strip() for value in seen.scalars}


def _snake(key: str) -> str:
    return re.sub(r"[\s-]+", "_", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key[:100].strip())).casefold()
