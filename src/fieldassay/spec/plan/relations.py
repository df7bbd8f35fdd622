"""The checks of a spec; relations among them are bound to its fields, whose types read the values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import nearest
from fieldassay.paths import ITEM, Pattern, Step, join_path, split_path
from fieldassay.spec.language.model import Spec
from fieldassay.spec.language.report import Report, Steps
from fieldassay.spec.plan.build import build_call
from fieldassay.spec.plan.joint import with_units
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, PlannedCheck
from fieldassay.spec.plan.renaming import apply_aliases
from fieldassay.values.checks.catalogue import CHECKS
from fieldassay.values.checks.holds import Chosen, Holds, filled_items, member
from fieldassay.values.checks.relations import Aggregate, Operation, Path, Term, paths_of

RECORD = "."
"""A pattern for the whole record, like the empty one."""

_COMPUTED = ("integer", "number", "money", "quantity", "any")
_AS_VALUE = (*_COMPUTED, "date", "boolean")


class Typed(Struct, frozen=True):
    """A record, or an object in it, with values read as the types of its fields.

    A value that is empty for its field is absent.
    """

    node: Node
    data: Any

    def value(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[tuple[Step, ...], Any]:
        node, value, place = self._reach(steps, chosen)
        return place, _read(node, value)

    def items(self, steps: tuple[Step, ...], chosen: Chosen) -> Sequence[int]:
        return filled_items(self._reach(steps[:-1], chosen)[1])

    def _reach(self, steps: tuple[Step, ...], chosen: Chosen) -> tuple[Node | None, Any, tuple[Step, ...]]:
        node: Node | None = self.node
        value = self.data
        place: list[Step] = []
        for at, step in enumerate(steps):
            if isinstance(node, ObjectNode) and node.other_names and isinstance(value, dict):
                value = apply_aliases(value, node.other_names)
            node = None if node is None else child_of(node, step)
            key = chosen[steps[: at + 1]] if step == ITEM else step
            place.append(key)
            holder = value
            value = member(value, key)
            if isinstance(node, Leaf) and node.unit_fields and isinstance(holder, dict):
                value = with_units(node, holder, value)
            if isinstance(node, ListNode) and node.separator is not None and isinstance(value, str):
                value = [part.strip() for part in value.split(node.separator)]
        return node, value, tuple(place)


def child_of(node: Node, step: Step) -> Node | None:
    """Return the child of a node at a step, None if the spec declares none."""
    if isinstance(node, ListNode):
        return node.items if step == ITEM else None
    tree = (
        node
        if isinstance(node, AnyNode)
        else next((one for one in _children(node) if isinstance(one, AnyNode) and not one.path), None)
    )
    if tree is not None:
        return replace(tree, name=str(step), path=join_path([*split_path(tree.path), step]))
    return next((child for child in _children(node) if child.name == step), None)


def _children(node: Node) -> tuple[Node, ...]:
    return node.children if isinstance(node, ObjectNode) else ()


def compile_checks(spec: Spec, root: ObjectNode, report: Report) -> tuple[PlannedCheck, ...]:
    """Return the built checks of a spec, in order; their problems are noted."""
    found = []
    for text, calls in spec.checks:
        pattern = _pattern(text, report)
        for position, call in enumerate(calls):
            steps = ("checks", text) if len(calls) == 1 else ("checks", text, position)
            check = build_call(call, CHECKS, steps, report)
            name = call.name
            if isinstance(check, Holds) and pattern is not None:
                name = check.named()
                check = bind_relation(check, root, text, (steps, report))
            if check is not None and pattern is not None:
                found.append(PlannedCheck(text, pattern, name, check))
    return tuple(found)


def _pattern(text: str, report: Report) -> Pattern | None:
    try:
        return Pattern("" if text == RECORD else text)
    except ValueError as error:
        report.add(
            ("checks", text),
            str(error),
            'write a path or a pattern such as "**.*_unit", or "." for the whole record',
        )
        return None


def bind_relation(check: Holds, root: ObjectNode, at: str, place: tuple[Steps, Report]) -> Holds | None:
    """Return the check with the fields of its relation; None after noting a problem with them.

    `at` is the path of the check.
    """
    steps, report = place
    if "*" in at:
        remedy = 'put it under ".", or under the path of an object such as lines[]'
        report.add(steps, "a relation cannot stand under a pattern with a star", remedy, "misplaced_key")
        return None
    base = _descend(root, () if at in ("", RECORD) else split_path(at), place)
    if base is None:
        return None
    sides = (check.parsed.left, check.parsed.right)
    ends = {path.steps: _descend(base, path.steps, place) for side in sides for path in paths_of(side)}
    computed = [path.steps for side in sides for path in _computed(side)]
    is_sound = all(end is not None for end in ends.values())
    for path in dict.fromkeys(computed):
        end = ends[path]
        if isinstance(end, Leaf) and end.type not in _COMPUTED and "." not in end.type:
            what = f"{join_path(path)} has the type {end.type!r}, with which nothing can be computed"
            report.add(
                steps,
                what,
                f"take a field of one of the types {', '.join(_COMPUTED[:-1])}",
                "invalid_expression",
            )
            is_sound = False
    return check.bound(partial(Typed, base)) if is_sound else None


def _descend(node: Node, path: tuple[Step, ...], place: tuple[Steps, Report]) -> Node | None:
    """Return the node at a path below another; note a missing one."""
    for at, step in enumerate(path):
        below = child_of(node, step)
        if below is None:
            known = tuple(child.name for child in _children(node))
            what = f"has no field {join_path(path[: at + 1])!r}"
            remedy = (
                "it is a list: write its items with `[]`"
                if isinstance(node, ListNode)
                else nearest(str(step), known)
                if known
                else ""
            )
            place[1].add(
                place[0], what, remedy or f"{join_path(path[:at])!r} holds no fields", "unknown_name"
            )
            return None
        node = below
    return node


def _computed(term: Term) -> Iterator[Path]:
    """Yield the paths used in arithmetic.

    Paths that are only compared, counted, or the least or the largest of a list are left out.
    """
    if isinstance(term, Operation):
        yield from paths_of(term)
    elif isinstance(term, Aggregate) and (
        term.name == "sum" or (term.name != "count" and isinstance(term.term, Operation))
    ):
        yield from paths_of(term.term)


def _read(node: Node | None, value: Any) -> Any:
    """Return a value as read by a field's type; None if empty, unreadable, an object or a list."""
    leaf = node
    if isinstance(node, AnyNode):
        leaf = next((one for pattern, one in node.patterns if Pattern(pattern).matches(node.path)), None)
    if not isinstance(leaf, Leaf) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str) and leaf.is_empty(value):
        return None
    if leaf.type == "any":
        return value
    reading = leaf.reader.read(value)
    if reading.value is None or reading.problem is not None:
        return None
    return reading.value if leaf.type in _AS_VALUE else reading.canonical
