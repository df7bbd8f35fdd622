"""Trees without a schema: declaring the values of one batch at a place."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from fieldassay.metrics.evidence import FieldInfo, Kind
from fieldassay.paths import KEY, Pattern, Step, join_path, split_path
from fieldassay.scoring.engine.scopes import ABSENT, FieldTable
from fieldassay.spec.language.model import Accept
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode
from fieldassay.values.aligners.map_keys import MapKeys
from fieldassay.values.aligners.ordered import Ordered
from fieldassay.values.comparators.exact import Exact
from fieldassay.values.types.anything import AnyReader

UNDECLARED = -1
"""The slot of fields below an undeclared top-level key: none of the declared ones."""


def grow(
    node: AnyNode, values: tuple[list[Any], list[Any]], table: FieldTable
) -> tuple[list[Node], frozenset[int], Leaf]:
    """Return the branches for the values, their fields, and the place's leaf.

    There is a leaf, an object and a list branch, each if any value is one. Growth goes one level deep: the
    children of the branches are trees again.
    """
    objects: dict[str, None] = {}
    kinds: set[type] = set()
    for column in values:
        for value in column:
            kinds.add(value.__class__)
            if value.__class__ is dict:
                objects.update(dict.fromkeys(value))
    leaf = _template(node)
    branches: list[Node] = []
    has_scalars = bool(kinds - {dict, list, ABSENT.__class__, type(None)})
    if has_scalars or (leaf.is_list and list in kinds) or (leaf.null_is_value and type(None) in kinds):
        branches.append(leaf)
    if dict in kinds:
        kept = table.folds.get(node.path)
        steps = split_path(node.path)
        folded = () if kept is None else [key for key in objects if is_folded(node, steps, key, kept)]
        rest = frozenset(folded)
        children: list[Node] = [
            replace(node, name=key, path=member_path(node.path, key)) for key in objects if key not in rest
        ]
        if rest:
            children.append(_rest(node, rest, leaf.null_is_value, table))
        branches.append(ObjectNode(node.name, node.path, 0, tuple(children), accepted=leaf.accepted))
    if list in kinds and not leaf.is_list:
        item = replace(node, name="", path=f"{node.path}[]")
        keeps_empty = leaf.null_is_value
        branches.append(
            ListNode(
                node.name,
                node.path,
                0,
                0,
                item,
                node.aligner,
                keeps_empty=keeps_empty,
                accepted=leaf.accepted,
            )
        )
    return (*_placed(branches, node, table), leaf)


def is_folded(node: AnyNode, steps: tuple[Step, ...], key: str, kept: frozenset[str]) -> bool:
    """Return whether a key is folded, where the `kept` ones are not.

    A key that a pattern names, or gives a type of its own, is kept too.
    """
    if key in kept:
        return False
    patterns = [Pattern(text) for text, _ in node.patterns[:-1]]
    own, every = (*steps, key), (*steps, KEY)
    return not any(
        key in pattern.parts or pattern.matches_steps(own) != pattern.matches_steps(every)
        for pattern in patterns
    )


def _rest(node: AnyNode, folded: frozenset[str], keeps_empty: bool, table: FieldTable) -> ListNode:
    """Return the map of the folded keys of an object."""
    slot = _slot(node, table)
    item = replace(node, name="", path=join_path([*split_path(node.path), KEY]))
    own = table.position(FieldInfo(node.path, "map", Kind.LIST, slot))
    of_item = table.position(FieldInfo(item.path, "object", Kind.ITEM, slot))
    return ListNode(
        node.name,
        node.path,
        own,
        of_item,
        item,
        MapKeys(),
        keeps_empty=keeps_empty,
        is_map=True,
        folded=folded,
    )


def _slot(node: AnyNode, table: FieldTable) -> int:
    return table.fields[node.field].slot if node.field >= 0 else UNDECLARED


def _placed(branches: list[Node], node: AnyNode, table: FieldTable) -> tuple[list[Node], frozenset[int]]:
    slot = _slot(node, table)
    placed: list[Node] = []
    for branch in branches:
        if isinstance(branch, ListNode):
            item = table.position(FieldInfo(f"{node.path}[]", "object", Kind.ITEM, slot))
            own = table.position(FieldInfo(node.path, "list", Kind.LIST, slot))
            placed.append(replace(branch, field=own, item_field=item))
        elif isinstance(branch, ObjectNode):
            placed.append(
                replace(branch, field=table.position(FieldInfo(node.path, "object", Kind.OBJECT, slot)))
            )
        else:
            value = FieldInfo(node.path, branch.type, Kind.VALUE, slot)  # type: ignore[union-attr]
            placed.append(replace(branch, field=table.position(value)))
    objects = (branch.children for branch in placed if isinstance(branch, ObjectNode))
    maps = [child for children in objects for child in children if isinstance(child, ListNode)]
    return placed, frozenset(branch.field for branch in (*placed, *maps))


def _template(node: AnyNode) -> Leaf:
    """Return the leaf of the first pattern that matches the node's path; the last one matches everything."""
    for pattern, template in node.patterns:
        if isinstance(template, Leaf) and Pattern(pattern).matches(node.path):
            return replace(template, name=node.name, path=node.path)
    raise ValueError(f"no pattern matches {node.path!r}")


def member_path(path: str, key: str) -> str:
    """Return the path of an object's key; odd keys are quoted."""
    return join_path([*split_path(path), str(key)])


def extra_tree(node: ObjectNode, key: str, path: str) -> AnyNode:
    """Return the tree for an undeclared key of an object, where such keys are spurious."""
    leaf = Leaf(key, path, node.field, "any", AnyReader(), Exact(), Accept(1.0), frozenset())
    return AnyNode(key, path, node.field, (("**", leaf),), Ordered())
