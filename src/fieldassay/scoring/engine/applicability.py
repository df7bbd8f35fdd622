"""The fields of each document, by document type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fieldassay.scoring.engine.scopes import Masks
from fieldassay.spec.language.model import fold_type
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode, Plan


def applicability(plan: Plan, types: Sequence[str | None]) -> dict[str, Masks]:
    """Return masks over the documents, by field path, for fields of only some document types.

    `types` are canonical or None. A document of unknown type has all fields.
    """
    masks: dict[frozenset[str], Masks] = {}
    found: dict[str, Masks] = {}
    for child in plan.root.children:
        _collect(child, frozenset(), types, (masks, found))
    return found


def _collect(
    node: Node,
    inherited: frozenset[str],
    types: Sequence[str | None],
    into: tuple[dict[frozenset[str], Masks], dict[str, Masks]],
) -> None:
    masks, found = into
    wanted = node.applies_to & inherited if node.applies_to and inherited else node.applies_to or inherited
    if wanted:
        if wanted not in masks:
            masks[wanted] = np.array([kind is None or kind in wanted for kind in types], dtype=bool)
        found[node.path] = masks[wanted]
    children: tuple[Node, ...] = ()
    if isinstance(node, ObjectNode):
        children = node.children
    elif isinstance(node, ListNode):
        children = (node.items,)
    if not isinstance(node, Leaf):
        for child in children:
            _collect(child, wanted, types, into)


def canonical_type(plan: Plan, value: object) -> str | None:
    """Return the canonical document type of a gold value; None if the spec knows no such type.

    Without declared types or aliases the folded text is the type.
    """
    if not isinstance(value, str) or not value.strip():
        return None
    text = fold_type(value)
    aliases = dict(plan.document_types)
    return aliases.get(text, None if aliases else text)
