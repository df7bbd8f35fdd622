"""A compiled spec: the tree of nodes walked by the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from fieldassay.io.returned import Brief
from fieldassay.io.text.settled import is_empty_text
from fieldassay.metrics.evidence import FieldInfo
from fieldassay.paths import Pattern, field_of
from fieldassay.regex import lazy_regex
from fieldassay.spec.language.model import Accept, Spec
from fieldassay.spec.plan.renaming import OtherNames
from fieldassay.values.aligners.base import Aligner
from fieldassay.values.checks.base import Check
from fieldassay.values.comparators.base import Comparator
from fieldassay.values.types.base import Reader
from fieldassay.values.types.column import Column, Reading

_NUMERIC = frozenset({"number", "integer", "money", "quantity"})
_ZERO = lazy_regex(r"\W*0+(?:[.,]0+)?\W*")


class Leaf(Struct, frozen=True):
    """A field judged as one value.

    A list judged as a whole (`compare:` on the list) is a leaf with a reader of lists.
    """

    name: str
    path: str
    field: int
    """Position in `Plan.fields`."""
    type: str
    reader: Reader
    comparator: Comparator
    accept: Accept
    null_values: frozenset[str]
    """Casefolded texts that mean empty."""
    null_is_value: bool = False
    blank_is_value: bool = False
    """True: a text of white space is a value, not empty."""
    is_empty_if_other: bool = False
    """True: in place of a list judged as a whole, any other value counts as absent."""
    unit_fields: tuple[str, ...] = ()
    """Keys beside it whose texts are appended to the value."""
    takes_only_item: bool = False
    """True: a list of one value is read as that value."""
    is_gold_failable: bool = False
    """True: an unreadable gold value makes the row FAILED; False: it is compared as text and flagged."""
    is_list: bool = False
    separator: str | None = None
    accepted: tuple[object, ...] = ()
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0

    def is_empty(self, text: str) -> bool:
        """Return whether a text means that there is no value."""
        return is_empty_text(text, self.null_values, self.reader.is_exact)

    def find_empty(self, column: Column) -> npt.NDArray[np.bool_] | None:
        """Return a mask of the readings that amount to no value; None if there are none.

        Where a zero means empty, zero in any writing of a number does.
        """
        if self.type not in _NUMERIC or not any(map(_ZERO.fullmatch, self.null_values)):
            return self.reader.find_empty(column)
        values = zip(column.values, column.canonical, strict=True)
        is_zero = [value is not None and text.partition(" ")[0] == "0" for value, text in values]
        return np.array(is_zero, dtype=np.bool_)

    def is_match(self, gold: Reading, pred: Reading) -> bool:
        """Return whether a prediction is judged as a match of gold.

        Unreadable ones match if their texts are equal.
        """
        if gold.canonical == pred.canonical:
            return True
        if gold.problem is not None or pred.problem is not None:
            return False
        return bool(self.accept.admits(self.comparator.compare_one(gold, pred)[0]))


class ObjectNode(Struct, frozen=True):
    """An object with declared children."""

    name: str
    path: str
    field: int
    children: tuple[Node, ...]
    are_extra_keys_spurious: bool = False
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    other_names: OtherNames = ()
    """Alternative keys of the object's children."""
    accepted: tuple[object, ...] = ()
    skipped: frozenset[str] = frozenset()
    """Keys that the spec declares and that are not judged, since gold never has them."""


class ListNode(Struct, frozen=True):
    """A list whose items are aligned and judged one by one, or a map, whose values pair by key.

    `items` is a leaf, an object or a list with path `<path>[]`, of a map `<path>.*`.
    """

    name: str
    path: str
    field: int
    item_field: int
    """Position in `Plan.fields` of the item itself (kind ITEM)."""
    items: Node
    aligner: Aligner
    combine: str = "mean"
    separator: str | None = None
    is_distinct: bool = False
    keeps_empty: bool = False
    """True: an empty item counts as an item."""
    is_empty_if_other: bool = False
    """True: a value of another JSON kind is an empty list, not a structure error."""
    accepted: tuple[object, ...] = ()
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0
    is_map: bool = False
    folded: frozenset[str] = frozenset()
    """In a tree: the keys of an object that are the values of this map; its other keys are fields."""


class AnyNode(Struct, frozen=True):
    """A tree without a schema.

    The engine grows it per batch from the values, and types leaves by the first matching path pattern.
    """

    name: str
    path: str
    field: int
    patterns: tuple[tuple[str, Node], ...]
    aligner: Aligner
    applies_to: frozenset[str] = frozenset()
    weight: float = 1.0


Node: TypeAlias = Union[Leaf, ObjectNode, ListNode, AnyNode]


class PlannedCheck(Struct, frozen=True):
    """A check of predictions with its place and name.

    `path` is as in the spec, `pattern` is compiled.
    """

    path: str
    pattern: Pattern
    name: str
    check: Check


class Plan(Brief, Struct, frozen=True, eq=False):
    """A spec with every name resolved.

    `fields` are all fields that can have rows, in declaration order, parents first.
    """

    spec: Spec
    root: ObjectNode
    fields: tuple[FieldInfo, ...]
    slots: tuple[str, ...]
    document_types: tuple[tuple[str, str], ...] = ()
    """Casefolded alias -> canonical document type."""
    has_null_values: bool = False
    """True if null is a value in any field, so that null and a missing key differ."""
    checks: tuple[PlannedCheck, ...] = ()
    digest: str = ""
    """SHA-256 of the scoring-relevant content of the spec, in hexadecimal."""
    maps: frozenset[str] = frozenset()
    """The fields of the values of maps, such as `rates.*`."""
    folds: Mapping[str, frozenset[str]] = {}
    """The objects of trees with more keys than fields, and those keys that are fields."""

    def field_of(self, path: str) -> str:
        """Return the field of a concrete path."""
        return field_of(path, self.maps)


def list_leaves(node: Node) -> list[Leaf]:
    """Return the leaves under a node, in order."""
    if isinstance(node, Leaf):
        return [node]
    if isinstance(node, ObjectNode):
        return [leaf for child in node.children for leaf in list_leaves(child)]
    if isinstance(node, ListNode):
        return list_leaves(node.items)
    return [template for _, template in node.patterns if isinstance(template, Leaf)]


def single_values(plan: Plan) -> set[str]:
    """Return the paths of the fields that are one value each, lists judged as a whole left out."""
    return {leaf.path for leaf in list_leaves(plan.root) if not leaf.is_list}
