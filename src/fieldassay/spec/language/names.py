"""The names usable in a spec, and the messages for unknown ones."""

from __future__ import annotations

from functools import cache

from fieldassay.errors import nearest
from fieldassay.registry import Catalogue
from fieldassay.values.aligners.catalogue import ALIGNERS
from fieldassay.values.comparators.catalogue import COMPARATORS
from fieldassay.values.types.catalogue import NORMALIZERS, READERS

CONTAINERS = ("list", "map", "object", "any")
"""Types with other fields inside."""

CATALOGUES: dict[str, Catalogue] = {"compare": COMPARATORS, "normalize": NORMALIZERS, "align": ALIGNERS}
"""The catalogue of the names under these keys of a field."""

FIELD_KEYS = (
    "type", "names", "compare", "normalize", "accept", "weight", "critical", "accepted", "applies_to", "null",
    "null_values", "unreadable_gold", "blank", "items", "align", "combine", "empty_items", "other_kind",
    "separator", "distinct", "fields", "extra", "description", "labels", "find", "unit_field",
)  # fmt: skip
"""Keys of a field with one meaning for all types; any other key is an option of its reader or comparator."""

SPEC_KEYS = (
    "fieldassay", "name", "version", "description", "citation", "protocol", "null_values", "locale",
    "calendar", "unreadable_gold", "extra", "document_type", "types", "type", "align", "fields", "data",
    "statistics", "absent_fields", "checks", "definitions", "score", "metrics", "gates", "slices", "prices",
)  # fmt: skip
"""Keys of a spec."""

MOVED = {
    ("id",): "id_key", ("names",): "names", ("data", "gold"): "gold_key", ("data", "pred"): "pred_key",
}  # fmt: skip
"""The place of an old key, and the key of `data:` to write today."""


ID_NAMES = (
    "id", "doc_id", "document_id", "image_file", "filename", "image_name", "file", "source_identifier",
    "test_case_id", "case_id", "file_name", "uuid",
)  # fmt: skip
"""Names of a document's id if neither the spec nor the user names one; the first in a row counts."""


def is_type(name: object) -> bool:
    """Return whether a name is a valid type of a field."""
    return name in CONTAINERS or name in READERS


@cache
def type_names() -> tuple[str, ...]:
    """Return every valid type of a field."""
    return tuple(sorted({*READERS.names(), *CONTAINERS}))


def unknown(kind: str, name: str, names: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the problem, the remedy and the kind for a name that is none of `names`.

    >>> unknown("type", "mony", ("money", "text"))
    ("unknown type 'mony'", "did you mean 'money'?", 'unknown_name')
    """
    return f"unknown {kind} {name[:100]!r}", nearest(name[:100], names), "unknown_name"


TOKEN_KINDS = ("cached_prompt", "completion", "embedding", "image", "prompt")
"""Kinds of tokens that have a price; those of `cached_prompt` and `image` are counted in `prompt`, too."""
