"""What of a gold record is judged: the values that the spec declares."""

from __future__ import annotations

from typing import Any

from fieldassay.paths import split_path
from fieldassay.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan
from fieldassay.plan.renaming import under_own_names


def judged_data(plan: Plan, data: Any) -> Any:
    """Return a gold record without the keys that the spec does not declare; of a tree without declared fields, all of it.

    The key that names the document's type stays: it decides which fields apply.

    >>> from fieldassay.plan.compile import read_plan
    >>> plan = read_plan("fields: {total: money, lines: {items: {fields: {sku: id}}}}")
    >>> judged_data(plan, {"total": "5", "label_status": "reviewed", "lines": [{"sku": "A", "page": 3}]})
    {'total': '5', 'lines': [{'sku': 'A'}]}
    """
    found = _declared(plan.root, data)
    kind = plan.spec.document_type
    key = split_path(kind.field)[0] if kind is not None else None
    if isinstance(data, dict) and isinstance(found, dict) and key in data and key not in found:
        return found | {key: data[key]}
    return found


def _declared(node: Node, value: Any) -> Any:
    if isinstance(node, ListNode):
        return [_declared(node.items, item) for item in value] if isinstance(value, list) else _declared(node.items, value)
    if not isinstance(node, ObjectNode) or not isinstance(value, dict):
        return value
    if any(isinstance(child, AnyNode) and not child.path for child in node.children):
        return value
    held = under_own_names(value, node.other_names) if node.other_names else value
    units = {name: held[name] for child in node.children if isinstance(child, Leaf) for name in child.unit_fields if name in held}
    return {child.name: _declared(child, held[child.name]) for child in node.children if child.name in held} | units
