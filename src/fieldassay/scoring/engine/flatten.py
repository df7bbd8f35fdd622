"""Records to columns: one walk of the plan's tree per batch lists the raw values of every place."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import chain, count, repeat
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.io.json_value import is_empty_text
from fieldassay.paths import ITEM, is_item_path
from fieldassay.scoring.engine.scopes import (
    ABSENT,
    GOOD,
    NONE,
    WRONG,
    Acceptance,
    FieldTable,
    Kinds,
    LeafPlace,
    ListPlace,
    Masks,
    Noted,
    ObjectPlace,
    Scope,
    Side,
    accepted_lists,
    content_of,
    extra_tree,
    find_accepted,
    grow,
    member_path,
    with_items_of_gold,
)
from fieldassay.spec.language.model import thaw
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, with_units
from fieldassay.values.types.closed_sets import ListReader

_NOTHING: dict[str, Any] = {}
_UNLIKE = "\0"
"""The content of values that are not compared."""
DEEPEST = 100
"""The maximum nesting of a JSON text that is read as its list or object."""
_PORTION = 500
"""The number of objects read at a time, few enough for the processor's cache."""
_LONGEST_KEY = 200
"""The maximum of characters in a counted key; longer keys are cut."""


class Undeclared(Struct, frozen=True):
    """The number of undeclared keys of each side, by path."""

    gold: dict[str, int] = default(default_factory=dict)
    pred: dict[str, int] = default(default_factory=dict)


class Flattener(Struct, frozen=True, eq=False):
    """Walks one batch.

    `applies` maps a field path to a mask of the documents that have it (absent: all); `undeclared` collects
    the undeclared keys.
    """

    table: FieldTable
    applies: dict[str, Masks]
    undeclared: Undeclared
    null_values: frozenset[str] = frozenset()
    absent: Any = None
    """The value of a missing key: None, or ABSENT where null is a value."""
    grown: frozenset[int] = frozenset()
    takes_null: bool = False
    """True inside a tree in which null is a value, and so are empty containers, each a kind of its own."""
    takes_blank: bool = False
    """True inside a tree in which blank texts are values."""

    def flatten(
        self, root: ObjectNode, gold: Sequence[Any], pred: Sequence[Any], noted: Noted | None = None
    ) -> Scope:
        """Return the scope of the documents.

        `gold[i]` and `pred[i]` are document i's objects, `{}` if absent. `noted` are the values that gold
        documents accept.
        """
        documents = np.arange(len(gold), dtype=np.int32)
        side = Side(documents, documents, np.zeros(len(gold), dtype=np.int32))
        scope = Scope(side, side, noted=noted)
        self._children(root, scope, (list(gold), list(pred)), ())
        return scope

    def _children(
        self,
        node: ObjectNode,
        scope: Scope,
        values: tuple[list[Any], list[Any]],
        ancestors: tuple[ObjectPlace, ...],
    ) -> None:
        gold, pred = (
            [apply_aliases(value, node.other_names) for value in column] if node.other_names else column
            for column in values
        )
        members = (_members(column, node.children, self.absent) for column in (gold, pred))
        for child, of_gold, of_pred in zip(node.children, *members, strict=True):
            if isinstance(child, Leaf) and child.unit_fields:
                of_gold, of_pred = _joint(child, gold, of_gold), _joint(child, pred, of_pred)
            mask = self.applies.get(child.path)
            if mask is not None:
                of_gold, of_pred = (
                    _masked(of_gold, mask[scope.gold.doc]),
                    _masked(of_pred, mask[scope.pred.doc]),
                )
            self._walk(child, scope, (of_gold, of_pred), ancestors)
        self._undeclared(node, scope, (gold, pred), ancestors)

    def _walk(
        self,
        node: Node,
        scope: Scope,
        values: tuple[list[Any], list[Any]],
        ancestors: tuple[ObjectPlace, ...],
    ) -> None:
        is_grown = node.field in self.grown
        if isinstance(node, AnyNode):
            branches, fields, leaf = grow(node, values, self.table)
            takes_null = leaf.null_is_value and self.absent is ABSENT
            inner = replace(
                self,
                applies={},
                grown=self.grown | fields,
                takes_null=takes_null,
                takes_blank=takes_null and leaf.blank_is_value,
            )
            for branch in branches:
                inner._walk(branch, scope, values, ancestors)
        elif isinstance(node, Leaf):
            accepted = scope.noted.at(node.path) if scope.noted is not None else {}
            excuse = self._excuse(node, scope, values)
            (gold, pred), amended, lists = _with_items_of_gold(node, scope, values)
            accepted = {at: (*accepted.get(at, ()), *lists.get(at, ())) for at in {*accepted, *lists}}
            scope.leaves.append(LeafPlace(node, gold, pred, ancestors, is_grown, accepted, excuse, amended))
        elif isinstance(node, ObjectNode):
            (gold, gold_kinds), (pred, pred_kinds) = (
                self._as_objects(column, node, is_grown) for column in values
            )
            place = ObjectPlace(
                node,
                gold_kinds,
                pred_kinds,
                ancestors,
                is_grown,
                self._excuse(node, scope, values, gold_kinds),
            )
            scope.objects.append(place)
            self._children(node, scope, (gold, pred), (*ancestors, place))
        else:
            self._list(node, scope, values, ancestors)

    def _list(
        self,
        node: ListNode,
        scope: Scope,
        values: tuple[list[Any], list[Any]],
        ancestors: tuple[ObjectPlace, ...],
    ) -> None:
        is_grown = node.field in self.grown
        as_given = self._as_objects if node.is_map else self._as_lists
        (gold, gold_kinds), (pred, pred_kinds) = (as_given(column, node, is_grown) for column in values)
        gold_side, gold_items = _items(scope.gold, gold)
        pred_side, pred_items = _items(scope.pred, pred)
        steps = gold_side.keys or gold_side.position
        noted = scope.noted.under(gold_side.parent, steps) if scope.noted is not None else None
        items = Scope(gold_side, pred_side, noted=noted)
        self._walk(node.items, items, (gold_items, pred_items), ())
        excuse = self._excuse(node, scope, values, gold_kinds)
        scope.lists.append(ListPlace(node, gold_kinds, pred_kinds, items, ancestors, is_grown, excuse))

    def _excuse(
        self,
        node: Leaf | ObjectNode | ListNode,
        scope: Scope,
        values: tuple[list[Any], list[Any]],
        kinds: Kinds | None = None,
    ) -> Acceptance | None:
        """Return the values accepted in place of gold's objects and lists; None without any.

        A tree's leaf stands beside both.
        """
        own = scope.noted.at(node.path) if scope.noted is not None else {}
        is_grown = node.field in self.grown
        if not (own or node.accepted) or (kinds is None and not is_grown):
            return None
        takes_null = self.takes_null if is_grown else None
        gold, pred = values
        if is_grown or kinds is None:
            has_value = np.fromiter(
                (
                    isinstance(raw, dict | list) and (self.takes_null or self._has_content(raw))
                    for raw in gold
                ),
                bool,
                len(gold),
            )
        else:
            has_value = kinds.codes == GOOD
        everywhere = frozenset(content_of(node, thaw(value), takes_null) for value in node.accepted)
        by_gold = {
            at: [content_of(node, value, takes_null) for value in listed]
            for at, listed in own.items()
            if has_value[at]
        }
        near = {at: np.flatnonzero(scope.pred.doc == scope.gold.doc[at]).tolist() for at in by_gold}
        wanted = (
            range(len(pred))
            if everywhere and has_value.any()
            else {at for nodes in near.values() for at in nodes}
        )
        contents = [_UNLIKE] * len(pred)
        for at in wanted:
            value = pred[at]
            if value is not ABSENT or not takes_null:
                contents[at] = content_of(node, None if value is ABSENT else value, takes_null)
        return find_accepted(has_value, contents, by_gold, everywhere, near)

    def _undeclared(
        self,
        node: ObjectNode,
        scope: Scope,
        values: tuple[list[Any], list[Any]],
        ancestors: tuple[ObjectPlace, ...],
    ) -> None:
        declared = {child.name for child in node.children} | node.skipped
        declared = declared.union(*(child.folded for child in node.children if isinstance(child, ListNode)))
        declared.update(
            name for child in node.children if isinstance(child, Leaf) for name in child.unit_fields
        )
        if any(not child.path for child in node.children):
            return  # the record is judged as a whole, as a tree
        gold, pred = values
        _count_keys(node, gold, declared, self.undeclared.gold)
        if not node.are_extra_keys_spurious:
            _count_keys(node, pred, declared, self.undeclared.pred)
            return
        for key in sorted(set().union(*pred) - declared):
            tree = extra_tree(node, key, member_path(node.path, key))
            (members,) = _members(pred, [tree], self.absent)
            self._walk(tree, scope, ([self.absent] * len(scope.gold), members), ancestors)

    def _as_objects(
        self, column: list[Any], node: ObjectNode | ListNode, is_grown: bool
    ) -> tuple[list[Any], Kinds]:
        """Return the values as objects (`{}` if absent), and the kind of each."""
        if set(map(type, column)) == {dict} and not (is_grown and self.takes_null):
            # The row of an item depends on its values.
            is_filled = bool if is_item_path(node.path) and not is_grown else self._has_content
            return column, Kinds(
                np.fromiter(map(is_filled, column), dtype=np.int8, count=len(column)) * np.int8(GOOD), column
            )
        codes = np.full(len(column), GOOD, dtype=np.int8)
        wrong: dict[int, Any] = {}
        coerced = []
        objects = []
        for index, value in enumerate(column):
            if value.__class__ is str and not is_grown:
                value, was_text = _parsed(value, "{", dict)
                if was_text:
                    coerced.append(index)
            if value.__class__ is list and isinstance(node, ObjectNode) and node.is_tuple:
                value = dict(zip(map(str, count()), value, strict=False))
            if value.__class__ is dict:
                codes[index] = GOOD if self._is_there(value, value, is_grown) else NONE
                objects.append(value)
                continue
            objects.append(_NOTHING)
            codes[index] = NONE if self._is_nothing_here(value, is_grown) else WRONG
            if codes[index] == WRONG:
                wrong[index] = value
        return objects, Kinds(codes, column, wrong, frozenset(coerced))

    def _as_lists(self, column: list[Any], node: ListNode, is_grown: bool) -> tuple[list[list[Any]], Kinds]:
        """Return the values as lists (`[]` if absent), and the kind of each."""
        if set(map(type, column)) == {list} and not (is_grown and self.takes_null):
            return column, Kinds(
                np.fromiter(map(self._has_content, column), dtype=np.int8, count=len(column)) * np.int8(GOOD),
                column,
            )
        codes = np.full(len(column), GOOD, dtype=np.int8)
        wrong: dict[int, Any] = {}
        coerced = []
        lists: list[list[Any]] = []
        for index, value in enumerate(column):
            if value.__class__ is list:
                items, is_wrong = value, False
            elif node.is_empty_if_other:  # the content of a JSON text or a single object counts as items too
                items, is_wrong = (
                    [] if isinstance(node.items, Leaf) else self._coerced_list(value, node)[0],
                    False,
                )
            elif is_grown:  # a tree takes every value as it is
                items, is_wrong = [], not self._is_nothing_here(value, is_grown)
            else:
                items, is_wrong = self._coerced_list(value, node)
                if items:
                    coerced.append(index)
            lists.append(items)
            if is_wrong:
                wrong[index] = value
            codes[index] = WRONG if is_wrong else GOOD if self._is_there(items, value, is_grown) else NONE
        return lists, Kinds(codes, column, wrong, frozenset(coerced))

    def _coerced_list(self, value: Any, node: ListNode) -> tuple[list[Any], bool]:
        """Return the items of a value of another kind, and whether a non-empty value gives none."""
        if self._is_nothing(value):
            return [], False
        parsed, was_text = _parsed(value, "[", list)
        if was_text:
            return parsed, False
        if isinstance(value, str) and node.separator is not None:
            return [part.strip() for part in value.split(node.separator)], False
        takes_scalars = isinstance(node.items, Leaf)
        is_scalar = not isinstance(value, dict)
        if takes_scalars == is_scalar and not isinstance(node.items, ListNode):
            return [value], False
        return [], True

    def _is_there(self, members: Any, value: Any, is_grown: bool) -> bool:
        """Return whether a container is present: not empty or, where null is a value, a container at all."""
        return self._has_content(members) or (
            is_grown and self.takes_null and isinstance(value, (dict, list))
        )

    def _has_content(self, value: Any) -> bool:
        """Return whether a container holds a non-empty value; where null is a value, null counts.

        Its leaves decide about texts of nothing but invisible characters.
        """
        for member in value.values() if value.__class__ is dict else value:
            kind = member.__class__
            if kind is float or kind is int:
                return True
            if kind is str:
                if not is_empty_text(member, self.null_values, True):
                    return True
            elif kind is dict or kind is list:
                if self._has_content(member):
                    return True
            elif not self._is_nothing(member) or (member is None and self.absent is ABSENT):
                return True
        return False

    def _is_nothing_here(self, value: Any, is_grown: bool) -> bool:
        """Return whether a value of another kind counts as absent.

        In some trees null and blank text are values.
        """
        if is_grown and self.takes_null and not (isinstance(value, str) and not self.takes_blank):
            return value is ABSENT
        return self._is_nothing(value)

    def _is_nothing(self, value: Any) -> bool:
        if isinstance(value, str):
            return is_empty_text(value, self.null_values)
        return value is None or value is ABSENT or (isinstance(value, (dict, list)) and not value)


def _count_keys(node: ObjectNode, column: list[Any], declared: set[str], counts: dict[str, int]) -> None:
    """Count the undeclared keys of objects, by path."""
    extra = set().union(*column) - declared
    if not extra:
        return
    key_counts = Counter(chain.from_iterable(column))
    for key in extra:
        path = member_path(node.path, key if len(key) <= _LONGEST_KEY else f"{key[:_LONGEST_KEY]}…")
        counts[path] = counts.get(path, 0) + key_counts[key]


def _members(column: list[Any], children: Sequence[Node], absent: Any) -> list[list[Any]]:
    """Return the values of each child; the child without a path is the record itself, as a tree."""
    columns: list[list[Any]] = [[] for _ in children]
    for start in range(0, len(column), _PORTION):
        part = column[start : start + _PORTION]
        for child, values in zip(children, columns, strict=True):
            if isinstance(child, ListNode) and child.folded:
                values += [{key: record[key] for key in record if key in child.folded} for record in part]
                continue
            values += map(dict.get, part, repeat(child.name), repeat(absent)) if child.path else part
    return columns


def _joint(leaf: Leaf, holders: list[Any], values: list[Any]) -> list[Any]:
    return [with_units(leaf, holder, value) for holder, value in zip(holders, values, strict=True)]


def _with_items_of_gold(
    leaf: Leaf, scope: Scope, values: tuple[list[Any], list[Any]]
) -> tuple[tuple[list[Any], list[Any]], dict[int, Any], dict[int, list[Any]]]:
    """Return both sides with gold's item for each accepted one, and the amended values as they were.

    These are by their place among the values of gold and, after them, of the predictions. In items of a list
    it is not known yet which are paired: there whole lists are accepted, by gold node.
    """
    (gold, pred), reader = values, leaf.reader
    amended: dict[int, Any] = {}
    lists: dict[int, list[Any]] = {}
    everywhere = list(map(thaw, leaf.accepted_items))
    if not (scope.noted or everywhere) or not isinstance(reader, ListReader):
        return values, amended, lists
    is_record = scope.gold is scope.pred
    noted = scope.noted.of_items(leaf.path) if scope.noted is not None else {}
    filled = (node for node, value in enumerate(gold if everywhere else ()) if value not in (None, ABSENT))
    sides = [*gold, *pred]
    for node in dict.fromkeys((*noted, *filled)):
        of_items = {**noted.get(node, {})}
        of_items[ITEM] = [*of_items.get(ITEM, ()), *everywhere]
        if not is_record:
            lists[node] = list(accepted_lists(reader, gold[node], of_items))
            continue
        before = [] if pred[node] in (None, ABSENT) else pred[node]
        for at, raw, after in zip(
            (node, len(gold) + node),
            (gold[node], before),
            with_items_of_gold(reader, gold[node], before, of_items),
            strict=True,
        ):
            if after != reader.split(raw):
                amended[at], sides[at] = raw, after
    return (sides[: len(gold)], sides[len(gold) :]), amended, lists


def _masked(column: list[Any], mask: Masks) -> list[Any]:
    return [value if applies else None for value, applies in zip(column, mask.tolist(), strict=True)]


def _parsed(value: Any, opening: str, kind: type) -> tuple[Any, bool]:
    """Return the container in a JSON text, and whether there is one of that kind."""
    if not isinstance(value, str) or not value.lstrip().startswith(opening):
        return value, False
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value, False
    return (parsed, True) if isinstance(parsed, kind) and _is_shallow(parsed) else (value, False)


def _is_shallow(value: Any) -> bool:
    """Return whether a value is nested at most `DEEPEST` levels, like records; deeper texts stay texts."""
    level = [value]
    for _ in range(DEEPEST):
        members = (container.values() if isinstance(container, dict) else container for container in level)
        level = [member for container in members for member in container if isinstance(member, (dict, list))]
        if not level:
            return True
    return False


def _items(parents: Side, lists: list[Any]) -> tuple[Side, list[Any]]:
    """Return the nodes of the items of each parent's list, or values of its map, and their raw values."""
    counts = np.fromiter(map(len, lists), dtype=np.int32, count=len(lists))
    parent = np.repeat(np.arange(len(lists), dtype=np.int32), counts)
    starts = np.cumsum(counts) - counts
    position = np.arange(len(parent), dtype=np.int32) - np.repeat(starts, counts).astype(np.int32)
    if lists and lists[0].__class__ is dict:
        keys = tuple(map(str, chain.from_iterable(lists)))
        values = [value for members in lists for value in members.values()]
        return Side(parents.doc[parent], parent, position, keys), values
    return Side(parents.doc[parent], parent, position), [*chain.from_iterable(lists)]
