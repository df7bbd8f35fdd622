"""Values accepted beside gold, by a spec or a gold document, and the predictions equal to them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.text.settled import is_empty_text
from fieldassay.paths import ITEM, KEY, AnyKey, Step, field_of, split_path
from fieldassay.spec.plan.joint import with_units
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode
from fieldassay.spec.plan.renaming import apply_aliases
from fieldassay.values.types.anything import AnyReader

Masks = npt.NDArray[np.bool_]
Positions = npt.NDArray[Any]

NOTHING: Final = ""
"""The content of a place without a value."""
_PLAIN = AnyReader(trim=False)


class Noted(Struct, frozen=True, eq=False):
    """The values that gold documents accept, by field path and document, seen from one scope.

    `nodes` are its gold nodes in such documents. A node is identified by its document and the indices or keys
    of the items around it; the steps `ITEM` and `KEY` of an entry mean any.
    """

    entries: Mapping[str, Mapping[int, Sequence[tuple[tuple[Step, ...], tuple[Any, ...]]]]]
    nodes: Mapping[int, tuple[int, tuple[Step, ...]]]

    @classmethod
    def of(
        cls, accepted: Sequence[Mapping[str, tuple[Any, ...]] | None], maps: Collection[str] = ()
    ) -> Noted | None:
        """Return the accepted values of the documents, one entry each; None without any."""
        entries: dict[str, dict[int, list[tuple[tuple[Step, ...], tuple[Any, ...]]]]] = defaultdict(
            lambda: defaultdict(list)
        )
        nodes = {}
        for doc, paths in enumerate(accepted):
            for path, values in (paths or {}).items():
                try:
                    steps = split_path(path)
                except ValueError:
                    continue
                nodes[doc] = (doc, ())
                for field in {field_of(path), field_of(path, maps)}:  # a key of a tree is folded or not
                    own = zip(steps, split_path(field), strict=True)
                    indices = tuple(step for step, of in own if isinstance(of, int | AnyKey))
                    entries[field][doc].append((indices, values))
        return cls(entries, nodes) if nodes else None

    def at(self, path: str) -> dict[int, tuple[Any, ...]]:
        """Return the values accepted at a field of the scope, by gold node."""
        of_doc = self.entries.get(path, {})
        found: dict[int, tuple[Any, ...]] = {}
        for node, (doc, indices) in self.nodes.items() if of_doc else ():
            values = tuple(
                value for wanted, given in of_doc.get(doc, ()) if _fits(wanted, indices) for value in given
            )
            if values:
                found[node] = values
        return found

    def under(self, parent: Positions, steps: Sequence[Step] | Positions) -> Noted:
        """Return the same seen from items of lists or values of maps: `parent`, and index or key of each."""
        nodes = {}
        for node in np.flatnonzero(np.isin(parent, list(self.nodes))).tolist():
            doc, indices = self.nodes[int(parent[node])]
            nodes[node] = (doc, (*indices, steps[node]))
        return Noted(self.entries, nodes)


def _fits(wanted: tuple[Step, ...], indices: tuple[Step, ...]) -> bool:
    return len(wanted) == len(indices) and all(
        one in (ITEM, KEY, other) for one, other in zip(wanted, indices, strict=True)
    )


class Acceptance(Struct, frozen=True, eq=False):
    """The predicted values accepted beside gold values at one place, both by position.

    `pairs` are gold x `size` + prediction, `everywhere` marks predictions that the spec accepts beside any
    value of `gold`, `lacking` marks gold values for which a missing prediction is right. The masks end with
    False, the entry of the position -1 (no value).
    """

    size: int
    pairs: npt.NDArray[np.int64]
    gold: Masks
    everywhere: Masks
    lacking: Masks

    def of(self, gold: Positions, pred: Positions) -> Masks:
        """Return a mask of the accepted pairs of positions."""
        found: Masks = (
            np.isin(gold.astype(np.int64) * self.size + pred, self.pairs) & (pred >= 0) & (gold >= 0)
        )
        found |= self.gold[gold] & self.everywhere[pred]
        found |= self.lacking[gold] & (pred < 0)
        return found


def find_accepted(
    gold: Masks,
    contents: Sequence[str],
    by_gold: Mapping[int, Iterable[str]],
    everywhere: frozenset[str],
    near: Mapping[int, Iterable[int]] | None = None,
) -> Acceptance:
    """Return the accepted predictions.

    `contents` are those of the predictions, `by_gold` the values accepted beside each of some gold values.
    `near` are the predictions that each of these may be compared with; None: all.
    """
    size = len(contents)
    where: dict[str, list[int]] = defaultdict(list)
    if by_gold and near is None:
        for at, text in enumerate(contents):
            where[text].append(at)
    pairs = []
    lacking = np.zeros(len(gold) + 1, dtype=bool)
    lacking[:-1] = gold & (NOTHING in everywhere)
    for one, texts in by_gold.items():
        wanted = set(texts)
        lacking[one] |= NOTHING in wanted
        found = (
            [at for text in wanted for at in where.get(text, ())]
            if near is None
            else [at for at in near.get(one, ()) if contents[at] in wanted]
        )
        pairs += [one * size + at for at in found]
    held = np.append(gold, False)
    marked = np.array([*(text in everywhere for text in contents), False], dtype=bool)
    return Acceptance(size, np.array(sorted(pairs), dtype=np.int64), held, marked, lacking)


def leaf_content(leaf: Leaf, value: Any, is_grown: bool = False) -> str:
    """Return the content of a value at a leaf's place, as text equal for equal meanings; else `NOTHING`."""
    if value is None:
        return "null" if leaf.null_is_value else NOTHING
    if isinstance(value, list) and leaf.is_list:
        is_blank = all(item in (None, "") for item in value)
        return NOTHING if is_blank else leaf.reader.read_column([value]).canonical[0]  # type: ignore[list-item]
    if isinstance(value, dict | list):
        return _text(_as_it_is(value, is_grown and leaf.null_is_value))
    if isinstance(value, str) and not leaf.blank_is_value and leaf.is_empty(value):
        return NOTHING
    return leaf.reader.read(value).canonical if isinstance(value, str | int | float) else NOTHING


def plain_leaf(leaf: Leaf) -> Leaf:
    """Return a leaf that reads values as given: in a tree, an accepted value matches unchanged."""
    reader = leaf.reader
    return (
        replace(leaf, reader=replace(reader, normalize=()))
        if isinstance(reader, AnyReader) and reader.normalize
        else leaf
    )


def content_of(node: Node, value: Any, takes_null: bool | None = None) -> str:
    """Return the content of a value at the place of an object or a list, as text.

    Declared fields are read by their types, undeclared keys do not count; a tree is taken as it is
    (`takes_null` tells whether its nulls are values).
    """
    return _text(_declared(node, value) if takes_null is None else _as_it_is(value, takes_null))


def _text(content: Any) -> str:
    return NOTHING if content is None else json.dumps(content, sort_keys=True)


def _declared(node: Node, value: Any) -> Any:
    if isinstance(node, Leaf):
        return leaf_content(node, value) or None
    if isinstance(node, ObjectNode) and isinstance(value, dict):
        held = apply_aliases(value, node.other_names) if node.other_names else value
        members = {
            child.name: found
            for child in node.children
            if (found := _declared(child, _member(child, held))) is not None
        }
        return members or None
    if isinstance(node, ListNode) and node.is_map and isinstance(value, dict):
        values = {key: found for key in value if (found := _declared(node.items, value[key])) is not None}
        return values or None
    if isinstance(node, ListNode):
        items = list(_items(node, value))
        if items or value in (None, [], ""):
            found = [_declared(node.items, item) for item in items]
            if not node.keeps_empty and not node.aligner.uses_order:
                found = [item for item in found if item is not None]
            if not node.aligner.uses_order:
                found.sort(key=_text)
            return found if any(item is not None for item in found) else None
    return _as_it_is(
        value,
        isinstance(node, AnyNode)
        and any(isinstance(leaf, Leaf) and leaf.null_is_value for _, leaf in node.patterns),
    )


def _member(child: Node, held: Mapping[str, Any]) -> Any:
    value = held.get(child.name)
    return with_units(child, held, value) if isinstance(child, Leaf) and child.unit_fields else value


def _items(node: ListNode, value: Any) -> Iterator[Any]:
    """Yield the items of a value as a list: its own, the parts of a text, or itself."""
    if isinstance(value, list):
        yield from value
    elif isinstance(value, str) and node.separator is not None:
        yield from (part.strip() for part in value.split(node.separator))
    elif value not in (None, "") and isinstance(node.items, Leaf) != isinstance(value, dict):
        yield value


def _as_it_is(value: Any, takes_null: bool) -> Any:
    """Return a value with numbers by value and, unless null is a value, without empty members."""
    if isinstance(value, dict):
        members = {key: _as_it_is(member, takes_null) for key, member in value.items()}
        return (
            members
            if takes_null
            else {key: member for key, member in members.items() if member is not None} or None
        )
    if isinstance(value, list):
        items = [_as_it_is(item, takes_null) for item in value]
        return items if takes_null else [item for item in items if item is not None] or None
    if takes_null and value is None:
        return "null"
    if not isinstance(value, str | int | float) or (
        not takes_null and isinstance(value, str) and is_empty_text(value)
    ):
        return None
    return _PLAIN.read(value if takes_null or not isinstance(value, str) else value.strip()).canonical
