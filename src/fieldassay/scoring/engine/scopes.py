"""The results of flattening: scopes of nodes, and the places with the values judged at every node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec import field as default

from fieldassay.metrics.evidence import FieldInfo
from fieldassay.paths import is_item_path
from fieldassay.scoring.engine.variations import Acceptance, Noted
from fieldassay.spec.plan.nodes import Leaf, ListNode, ObjectNode

Ints: TypeAlias = npt.NDArray[np.int32]
Codes: TypeAlias = npt.NDArray[np.intp]
"""Positions among distinct values; -1 without a value."""
Masks: TypeAlias = npt.NDArray[np.bool_]


class Absent:
    """The type of ABSENT, which stands for a missing key where null is a value."""

    def __bool__(self) -> bool:
        return False


ABSENT = Absent()

NONE, GOOD, WRONG = 0, 1, 2
"""The content of a container's place: nothing, the declared kind of JSON, or another kind."""


class Side(Struct, frozen=True, eq=False):
    """The n nodes of a scope on one side.

    They are documents, or the items of one list field over all documents, in order. `doc` is the document of
    each node, `parent` the node with its list in the scope above, `position` its index in that list.
    """

    doc: Ints
    parent: Ints
    position: Ints
    keys: tuple[str, ...] = ()
    """Of the values of maps: the key of each node."""

    def __len__(self) -> int:
        return len(self.doc)


class Kinds(Struct, frozen=True, eq=False):
    """The kind of each node of a scope at a container's place (NONE, GOOD or WRONG).

    The wrong values are listed by node, and all values as given.
    """

    codes: npt.NDArray[np.int8]
    raws: list[Any]
    wrong: dict[int, Any] = default(default_factory=dict)
    coerced: frozenset[int] = frozenset()


class ObjectPlace(Struct, frozen=True, eq=False):
    """A nested object at every node of a scope."""

    node: ObjectNode
    gold: Kinds
    pred: Kinds
    ancestors: tuple[ObjectPlace, ...]
    is_grown: bool = False
    excuse: Acceptance | None = None
    """The predicted nodes accepted in place of gold nodes here: everything below them is right."""

    @property
    def is_item(self) -> bool:
        """Return whether the object is itself the item of a list or map, which has the row for it."""
        return is_item_path(self.node.path)

    @property
    def has_row(self) -> bool:
        """Return whether there is a row for the object itself."""
        return not self.is_item


class LeafPlace(Struct, frozen=True, eq=False):
    """A leaf's raw values at every node of a scope, gold and prediction; None without a value."""

    node: Leaf
    gold: list[Any]
    pred: list[Any]
    ancestors: tuple[ObjectPlace, ...]
    is_grown: bool = False
    accepted: Mapping[int, tuple[Any, ...]] = default(default_factory=dict)
    """The values that gold documents accept here, by gold node."""
    excuse: Acceptance | None = None
    """In a tree: the predictions accepted in place of objects and lists of gold."""


class ListPlace(Struct, frozen=True, eq=False):
    """A list at every node of a scope; its items are the nodes of the scope `items`."""

    node: ListNode
    gold: Kinds
    pred: Kinds
    items: Scope
    ancestors: tuple[ObjectPlace, ...]
    is_grown: bool = False
    excuse: Acceptance | None = None

    @property
    def has_row(self) -> bool:
        """Return whether there is a row for the list itself; the object of folded keys has its own."""
        return not self.node.folded


Place: TypeAlias = Union[LeafPlace, ObjectPlace, ListPlace]


class Scope(Struct, eq=False):
    """The places of all documents, or of all items of one list field.

    `noted` are the values that gold documents accept there.
    """

    gold: Side
    pred: Side
    leaves: list[LeafPlace] = default(default_factory=list)
    objects: list[ObjectPlace] = default(default_factory=list)
    lists: list[ListPlace] = default(default_factory=list)
    noted: Noted | None = None


class FieldTable(Struct, eq=False):
    """The fields that the rows of a batch can have, by path and kind.

    The plan's fields come first, then those grown from data.
    """

    fields: list[FieldInfo]
    known: dict[tuple[str, int], int] = default(default_factory=dict)
    by_type: dict[tuple[str, str], int] = default(default_factory=dict)
    folds: Mapping[str, frozenset[str]] = default(default_factory=dict)
    """As those of the plan."""

    def position(self, info: FieldInfo) -> int:
        """Return the position of the field; a new one is added."""
        key = (info.path, int(info.kind))
        if key not in self.known:
            self.known[key] = len(self.fields)
            self.fields.append(info)
        return self.known[key]

    def typed(self, info: FieldInfo) -> int:
        """Return the position of a value's field at a path with several types; a new one is added."""
        key = (info.path, info.type)
        if key not in self.by_type:
            self.by_type[key] = len(self.fields)
            self.fields.append(info)
        return self.by_type[key]
