"""What of a gold record is judged: the values that the spec declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from fieldassay.paths import split_path
from fieldassay.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.plan.renaming import under_own_names

Picker: TypeAlias = Callable[[Any], Any]


def declared_values(plan: Plan) -> Picker:
    """Return a function from a gold record to its declared values: without the keys that the spec does not declare, or all of a tree without
    declared fields. The key that names the document's type stays: it decides which fields apply.

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
    """Return the function from a value at a node's place to its declared values; None where all of it is declared."""
    if isinstance(node, ListNode):
        inner = _picker(node.items)
        return None if inner is None else lambda value: [inner(item) for item in value] if isinstance(value, list) else inner(value)
    if not isinstance(node, ObjectNode) or any(isinstance(child, AnyNode) and not child.path for child in node.children):
        return None
    units = {name for child in node.children if isinstance(child, Leaf) for name in child.unit_fields}
    known = {child.name for child in node.children} | units
    deeper = {child.name: pick for child in node.children if (pick := _picker(child)) is not None}

    def pick_object(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        held = under_own_names(value, node.other_names) if node.other_names else value
        if not held.keys() <= known:
            held = {name: held[name] for name in held if name in known}
        changed = {name: pick(held[name]) for name, pick in deeper.items() if name in held}
        return {**held, **changed} if changed else held

    return pick_object
