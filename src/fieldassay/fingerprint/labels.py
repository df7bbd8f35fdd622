"""The digest of gold data: ids and declared values, whatever the file and the order of records and keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.fingerprint.frozen import DECLARED, Labels, canonical, canonical_record, canonical_records
from fieldassay.paths import split_path
from fieldassay.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.plan.renaming import apply_aliases
from fieldassay.records.record import Record

Picker: TypeAlias = Callable[[Any], Any]


def declared_values(plan: Plan) -> Picker:
    """Return a function from a gold record to its declared values.

    These are the record without undeclared keys, or all of a tree without declared fields. The key with the
    document's type stays: it decides which fields apply.

    >>> from fieldassay.plan.compile import read_plan
    >>> pick = declared_values(read_plan("fields: {total: money, lines: {items: {fields: {sku: id}}}}"))
    >>> pick({"total": "5", "label_status": "reviewed", "lines": [{"sku": "A", "page": 3}]})
    {'total': '5', 'lines': [{'sku': 'A'}]}
    """
    pick = _picker(plan.root)
    kind = plan.spec.document_type
    key = split_path(kind.field)[0] if kind is not None else None
    if pick is None:
        return lambda data: data
    if key is None:
        return pick

    def pick_with_type(data: Any) -> Any:
        found = pick(data)
        is_left_out = isinstance(data, dict) and isinstance(found, dict) and key in data and key not in found
        return found | {key: data[key]} if is_left_out else found

    return pick_with_type


def _picker(node: Node) -> Picker | None:
    """Return the function from a value at a node's place to its declared values; None: all is declared."""
    if isinstance(node, ListNode):
        return _list_picker(node)
    if not isinstance(node, ObjectNode) or any(
        isinstance(child, AnyNode) and not child.path for child in node.children
    ):
        return None
    known = _declared_keys(node)
    deeper = {child.name: pick for child in node.children if (pick := _picker(child)) is not None}

    def pick_object(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        held = apply_aliases(value, node.other_names) if node.other_names else value
        if not held.keys() <= known:
            held = {name: held[name] for name in held if name in known}
        inner = {name: pick(held[name]) for name, pick in deeper.items() if name in held}
        return held if all(found is held[name] for name, found in inner.items()) else held | inner

    return pick_object


def _list_picker(node: ListNode) -> Picker | None:
    pick = _picker(node.items)
    if pick is None:
        return None
    known = frozenset[str]()
    if isinstance(node.items, ObjectNode) and not node.items.other_names:
        is_flat = all(_picker(child) is None for child in node.items.children)
        known = frozenset(_declared_keys(node.items)) if is_flat else known

    def pick_items(value: Any) -> Any:
        if not isinstance(value, list):
            return pick(value)
        if known and set(map(type, value)) == {dict} and known.issuperset(chain.from_iterable(value)):
            return value
        return [pick(item) for item in value]

    return pick_items


def _declared_keys(node: ObjectNode) -> set[str]:
    units = {name for child in node.children if isinstance(child, Leaf) for name in child.unit_fields}
    return {child.name for child in node.children} | units


SIZE = 16
"""Bytes of a document's digest."""

MOST_LISTED = 20_000
"""A lock of more documents keeps no digests of single ones, so that it stays a small file."""

_HEAD = b"fieldassay gold 1\n"


def digest_labels(plan: Plan, records: Iterable[Record], documents: int) -> Labels:
    """Return the digests of gold records, in number `documents`, each id once.

    Memory is bounded by `SIZE` bytes a document. The digest of a record covers its id, its declared values as
    read, and the data beside it that belongs to gold: critical and illegible paths, accepted values, variant,
    tags and difficulty.

    >>> from fieldassay.plan.compile import read_plan
    >>> from fieldassay.records.memory import hold_records
    >>> plan = read_plan("fields: {a: integer, b: integer}")
    >>> one = hold_records([{"id": 1, "a": 1, "b": 2}, {"id": 2}])
    >>> two = hold_records([{"id": 2}, {"b": 2, "id": 1, "a": 1, "note": "new"}])
    >>> digest_labels(plan, one.fetch([0, 1]), 2).digest == digest_labels(plan, two.fetch([0, 1]), 2).digest
    True
    """
    found = np.zeros((documents, SIZE), dtype=np.uint8)
    listed: dict[str, str] = {}
    pick = declared_values(plan)
    for position, record in enumerate(records):
        digest = _digest(canonical_record(_content(pick, record)))
        found[position] = np.frombuffer(digest, dtype=np.uint8)
        if documents <= MOST_LISTED:
            listed[record.id] = digest.hex()
    return Labels(
        digest_rows(found),
        documents,
        dict(sorted(listed.items())) if documents <= MOST_LISTED else None,
        DECLARED,
    )


def digest_part(plan: Plan, records: Sequence[Record]) -> npt.NDArray[np.uint8]:
    """Return the digests of some gold records, one row of `SIZE` bytes each, for `digest_rows`."""
    pick = declared_values(plan)
    texts = canonical_records([_content(pick, record) for record in records])
    return np.frombuffer(b"".join(map(_digest, texts)), dtype=np.uint8).reshape(len(records), SIZE)


def digest_listed(digests: Iterable[str]) -> str:
    """Return the digest of gold data from those of its documents, in hexadecimal.

    >>> digest_listed(["ff" * 16, "00" * 16]) == digest_listed(["00" * 16, "ff" * 16])
    True
    """
    rows = [bytes.fromhex(digest) for digest in digests]
    return digest_rows(np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), SIZE))


def _content(pick: Picker, record: Record) -> list[Any]:
    return [record.id, pick(record.data), _beside(record)]


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).digest()[:SIZE]


def digest_rows(rows: npt.NDArray[np.uint8]) -> str:
    """Return the digest of gold data from rows of `SIZE` bytes, one a document.

    It is the SHA-256 of the rows in sorted order.
    """
    words = np.ascontiguousarray(rows).view(">u8")
    order = np.lexsort((words[:, 1], words[:, 0]))
    return hashlib.sha256(_HEAD + np.ascontiguousarray(rows[order]).tobytes()).hexdigest()


def _beside(record: Record) -> dict[str, Any]:
    """Return the data beside the record that belongs to gold, without missing parts."""
    meta = record.meta
    paths = meta.critical_paths or meta.illegible_paths
    if not (paths or meta.accepted_values or meta.variant or meta.tags or meta.attributes):
        return {}
    accepted = {path: sorted(values, key=canonical) for path, values in meta.accepted_values.items()}
    facts = {
        "critical": sorted(set(meta.critical_paths)),
        "illegible": sorted(set(meta.illegible_paths)),
        "accepted": accepted,
        "variant": meta.variant,
        "tags": sorted(set(meta.tags)),
        "difficulty": meta.attributes.get("difficulty"),
    }
    return {name: value for name, value in facts.items() if value}
