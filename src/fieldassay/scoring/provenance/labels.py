"""The digest of gold data: ids and declared values, whatever the file and the order of records and keys."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import chain, islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from fieldassay.paths import split_path
from fieldassay.records.record import Record
from fieldassay.scoring.provenance.frozen import canonical, canonical_records
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.spec.plan.renaming import apply_aliases

Picker: TypeAlias = Callable[[list[Any]], list[Any]]
"""From values at one place of many records to their declared parts; the same list if all is declared."""


def declared_values(plan: Plan) -> Picker:
    """Return a function from gold records to their declared values.

    These are the records without undeclared keys, or all of a tree without declared fields. The key with the
    document's type stays: it decides which fields apply.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> pick = declared_values(read_plan("fields: {total: money, lines: {items: {fields: {sku: id}}}}"))
    >>> pick([{"total": "5", "label_status": "reviewed", "lines": [{"sku": "A", "page": 3}]}])
    [{'total': '5', 'lines': [{'sku': 'A'}]}]
    """
    pick = _picker(plan.root)
    kind = plan.spec.document_type
    key = split_path(kind.field)[0] if kind is not None else None
    if pick is None:
        return lambda records: records
    if key is None:
        return pick

    def pick_with_type(records: list[Any]) -> list[Any]:
        return [
            found | {key: data[key]} if isinstance(data, dict) and key in data and key not in found else found
            for data, found in zip(records, pick(records), strict=True)
        ]

    return pick_with_type


def _picker(node: Node) -> Picker | None:
    """Return the function from values at a node's place to their declared parts; None: all is declared."""
    if isinstance(node, ListNode):
        return _list_picker(node)
    if not isinstance(node, ObjectNode) or any(
        isinstance(child, AnyNode) and not child.path for child in node.children
    ):
        return None
    known = _declared_keys(node)
    deeper = {child.name: pick for child in node.children if (pick := _picker(child)) is not None}

    def pick_objects(values: list[Any]) -> list[Any]:
        given = [value for value in values if value.__class__ is dict]
        held = [apply_aliases(value, node.other_names) for value in given] if node.other_names else given
        if not set().union(*held) <= known:
            held = [{name: value[name] for name in value if name in known} for value in held]
        for name, pick in deeper.items():
            inner = [value[name] for value in held if name in value]
            picked = pick(inner)
            if picked is not inner:
                rest = iter(picked)
                held = [value | {name: next(rest)} if name in value else value for value in held]
        if held is given:
            return values
        rest = iter(held)
        return [next(rest) if value.__class__ is dict else value for value in values]

    return pick_objects


def _list_picker(node: ListNode) -> Picker | None:
    pick = _picker(node.items)
    if pick is None:
        return None

    def is_members(value: Any) -> bool:
        return node.is_map and value.__class__ is dict

    def pick_items(values: list[Any]) -> list[Any]:
        lists = [
            value if value.__class__ is list else [*value.values()] if is_members(value) else [value]
            for value in values
        ]
        items = [*chain.from_iterable(lists)]
        picked = pick(items)
        if picked is items:
            return values
        rest = iter(picked)
        return [
            dict(zip(value, islice(rest, len(value)), strict=True))
            if is_members(value)
            else [*islice(rest, len(value))]
            if value.__class__ is list
            else next(rest)
            for value in values
        ]

    return pick_items


def _declared_keys(node: ObjectNode) -> set[str]:
    units = {name for child in node.children if isinstance(child, Leaf) for name in child.unit_fields}
    return {child.name for child in node.children} | units


SIZE = 16
"""Bytes of a document's digest."""

_HEAD = b"fieldassay gold 1\n"
_PORTION = 256
"""Records digested at once: few enough that the collector of the process has no cause to look at them."""


def digest_part(plan: Plan, records: Sequence[Record]) -> npt.NDArray[np.uint8]:
    """Return the digests of some gold records, one row of `SIZE` bytes each, for `digest_rows`.

    The digest of a record covers its id, its declared values as read, and the data beside it that belongs to
    gold: critical, illegible and unreviewed paths, accepted values, variant, tags and difficulty.

    >>> from fieldassay.spec.plan.compile import read_plan
    >>> from fieldassay.records.source import open_source
    >>> plan = read_plan("fields: {a: integer, b: integer}")
    >>> one = open_source([{"id": 1, "a": 1, "b": 2}]).fetch([0])
    >>> two = open_source([{"b": 2, "id": 1, "a": 1, "note": "new"}]).fetch([0])
    >>> digest_part(plan, one).tobytes() == digest_part(plan, two).tobytes()
    True
    """
    picked = declared_values(plan)([record.data for record in records])
    digests: list[bytes] = []
    for at in range(0, len(records), _PORTION):
        pairs = zip(records[at : at + _PORTION], picked[at : at + _PORTION], strict=True)
        texts = canonical_records([[record.id, data, _beside(record)] for record, data in pairs])
        digests += [hashlib.sha256(text).digest()[:SIZE] for text in texts]
    return np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(len(records), SIZE)


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
    paths = meta.critical_paths or meta.illegible_paths or meta.unreviewed_paths
    if not (paths or meta.accepted_values or meta.variant or meta.tags or meta.attributes):
        return {}
    accepted = {path: sorted(values, key=canonical) for path, values in meta.accepted_values.items()}
    facts = {
        "critical": sorted(set(meta.critical_paths)),
        "illegible": sorted(set(meta.illegible_paths)),
        "unreviewed": sorted(set(meta.unreviewed_paths)),
        "accepted": accepted,
        "variant": meta.variant,
        "tags": sorted(set(meta.tags)),
        "difficulty": meta.attributes.get("difficulty"),
    }
    return {name: value for name, value in facts.items() if value}
