"""Scopes: the places of a batch of records, their variations, and fields that a schema does not tell."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, product
from typing import Any, Final, TypeAlias, Union

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec import field as default
from msgspec.structs import replace

from fieldassay.io.json_value import is_empty_text
from fieldassay.metrics.evidence import FieldInfo, Kind
from fieldassay.paths import ITEM, KEY, AnyKey, Pattern, Step, field_of, is_item_path, join_path, split_path
from fieldassay.spec.language.model import Accept, fold_type
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, with_units
from fieldassay.values.aligners import MapKeys, Ordered
from fieldassay.values.comparators.base import Exact
from fieldassay.values.comparators.lists import ByPosition
from fieldassay.values.comparators.lists import Sequence as OrderedItems
from fieldassay.values.types.closed_sets import ListReader
from fieldassay.values.types.text import AnyReader

# Values accepted beside gold, by a spec or a gold document, and the predictions equal to them.

Masks: TypeAlias = npt.NDArray[np.bool_]
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
    ) -> "Noted | None":
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
        by_node: dict[int, tuple[Any, ...]] = {}
        for node, (doc, indices) in self.nodes.items() if of_doc else ():
            values = tuple(
                value
                for wanted, accepted in of_doc.get(doc, ())
                if _fits(wanted, indices)
                for value in accepted
            )
            if values:
                by_node[node] = values
        return by_node

    def of_items(self, path: str) -> dict[int, dict[Step, list[Any]]]:
        """Return the values accepted at each item of a field that is one list, by gold node and index."""
        of_doc = self.entries.get(f"{path}[]", {})
        by_node: dict[int, dict[Step, list[Any]]] = {}
        for node, (doc, indices) in self.nodes.items() if of_doc else ():
            for wanted, values in of_doc.get(doc, ()):
                if _fits(wanted[:-1], indices):
                    by_node.setdefault(node, {}).setdefault(wanted[-1], []).extend(values)
        return by_node

    def under(self, parent: Positions, steps: Sequence[Step] | Positions) -> "Noted":
        """Return the same seen from items of lists or values of maps: `parent`, and index or key of each."""
        nodes = {}
        for node in np.flatnonzero(np.isin(parent, list(self.nodes))).tolist():
            doc, indices = self.nodes[int(parent[node])]
            nodes[node] = (doc, (*indices, steps[node]))
        return Noted(self.entries, nodes)


def _fits(wanted: tuple[Step, ...], indices: tuple[Step, ...]) -> bool:
    return len(wanted) == len(indices) and all(
        step in (ITEM, KEY, other) for step, other in zip(wanted, indices, strict=True)
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
        is_accepted: Masks = (
            np.isin(gold.astype(np.int64) * self.size + pred, self.pairs) & (pred >= 0) & (gold >= 0)
        )
        is_accepted |= self.gold[gold] & self.everywhere[pred]
        is_accepted |= self.lacking[gold] & (pred < 0)
        return is_accepted


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
    for gold_at, texts in by_gold.items():
        wanted = set(texts)
        lacking[gold_at] |= NOTHING in wanted
        places = (
            [at for text in wanted for at in where.get(text, ())]
            if near is None
            else [at for at in near.get(gold_at, ()) if contents[at] in wanted]
        )
        pairs += [gold_at * size + at for at in places]
    has_value = np.append(gold, False)
    marked = np.array([*(text in everywhere for text in contents), False], dtype=bool)
    return Acceptance(size, np.array(sorted(pairs), dtype=np.int64), has_value, marked, lacking)


def with_items_of_gold(
    reader: ListReader, gold: Any, pred: Any, accepted: Mapping[Step, Sequence[Any]]
) -> tuple[list[Any], list[Any]]:
    """Return the lists of gold and of a prediction, with gold's item for each accepted one in the prediction.

    A predicted item stands for one item of gold at most, and as many as can be stand for one. Where null is
    accepted for an item that nothing stands for, gold is without it, unless it has no other; an empty list is
    right where null is accepted for every item.

    >>> from fieldassay.values.types.text import TextReader
    >>> accepted = {0: ["guerrillas"], 1: [None]}
    >>> with_items_of_gold(ListReader(TextReader()), ["rebels", "a man"], ["x", "guerrillas"], accepted)
    (['rebels'], ['x', 'rebels'])
    """
    wanted, items = reader.numbered(gold), reader.split(pred)
    others = {at: [*accepted.get(at, ()), *accepted.get(ITEM, ())] for at in wanted}
    whole = list(wanted.values())
    if not items:
        return whole, whole if all(None in listed for listed in others.values()) else items
    texts = [_item_text(reader, item) for item in items]
    choices = {
        at: [place for place, text in enumerate(texts) if text is not None and text in contents]
        for at, item in wanted.items()
        for contents in [{_item_text(reader, choice) for choice in (item, *others[at])}]
    }
    hits = [(row, place) for row, at in enumerate(wanted) for place in choices[at]]
    partners = np.full(len(wanted), -1)
    if hits:
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import maximum_bipartite_matching

        rows, columns = np.array(hits).T
        table = csr_matrix((np.ones(len(hits)), (rows, columns)), shape=(len(wanted), len(items)))
        partners = maximum_bipartite_matching(table, perm_type="column")
    for item, place in zip(wanted.values(), partners.tolist(), strict=True):
        if place >= 0:
            items[place] = item
    needed = [
        item
        for (at, item), place in zip(wanted.items(), partners.tolist(), strict=True)
        if place >= 0 or None not in others[at]
    ]
    return needed or whole, items


MOST_LISTS = 1000
"""So many lists, with one or the other of the values accepted for each item, are accepted in place of one."""


def accepted_lists(reader: ListReader, gold: Any, accepted: Mapping[Step, Sequence[Any]]) -> list[list[Any]]:
    """Return the lists that are right in place of a list of gold, by the values accepted for its items.

    >>> from fieldassay.values.types.text import TextReader
    >>> accepted_lists(ListReader(TextReader()), ["a", "b"], {0: ["x"], 1: [None]})
    [['a', 'b'], ['a'], ['x', 'b'], ['x']]
    """
    choices = [
        [item, *accepted.get(at, ()), *accepted.get(ITEM, ())] for at, item in reader.numbered(gold).items()
    ]
    return [[item for item in items if item is not None] for items in islice(product(*choices), MOST_LISTS)]


def _item_text(reader: ListReader, item: Any) -> str | None:
    """Return the content of an item; None for what is no single value, which stands for nothing."""
    return reader.items.read(item).canonical if isinstance(item, str | int | float) else None


def leaf_content(leaf: Leaf, value: Any, is_grown: bool = False) -> str:
    """Return the content of a value at a leaf's place, as text equal for equal meanings; else `NOTHING`."""
    if value is None:
        return "null" if leaf.null_is_value else NOTHING
    if isinstance(value, list) and leaf.is_list:
        is_blank = all(item in (None, "") for item in value)
        return NOTHING if is_blank else list_content(leaf, leaf.reader.read(value).canonical)  # type: ignore[arg-type]
    if isinstance(value, dict | list):
        return _text(_as_it_is(value, is_grown and leaf.null_is_value))
    if isinstance(value, str) and not leaf.blank_is_value and leaf.is_empty(value):
        return NOTHING
    return leaf.reader.read(value).canonical if isinstance(value, str | int | float) else NOTHING


def list_content(leaf: Leaf, canonical: str) -> str:
    """Return the content of a list that is one value, in any order unless its comparator looks at order."""
    if not leaf.is_list or isinstance(leaf.comparator, ByPosition | OrderedItems):
        return canonical
    return json.dumps(sorted(json.loads(canonical)), ensure_ascii=False)


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
        renamed = apply_aliases(value, node.other_names) if node.other_names else value
        members = {
            child.name: content
            for child in node.children
            if (content := _declared(child, _member(child, renamed))) is not None
        }
        return members or None
    if isinstance(node, ListNode) and node.is_map and isinstance(value, dict):
        values = {key: content for key in value if (content := _declared(node.items, value[key])) is not None}
        return values or None
    if isinstance(node, ListNode):
        items = list(_items(node, value))
        if items or value in (None, [], ""):
            contents = [_declared(node.items, item) for item in items]
            if not node.keeps_empty and not node.aligner.uses_order:
                contents = [item for item in contents if item is not None]
            if not node.aligner.uses_order:
                contents.sort(key=_text)
            return contents if any(item is not None for item in contents) else None
    return _as_it_is(
        value,
        isinstance(node, AnyNode)
        and any(isinstance(leaf, Leaf) and leaf.null_is_value for _, leaf in node.patterns),
    )


def _member(child: Node, record: Mapping[str, Any]) -> Any:
    value = record.get(child.name)
    return with_units(child, record, value) if isinstance(child, Leaf) and child.unit_fields else value


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


# The results of flattening: scopes of nodes, and the places with the values judged at every node.

Ints: TypeAlias = npt.NDArray[np.int32]
Codes: TypeAlias = npt.NDArray[np.intp]
"""Positions among distinct values; -1 without a value."""


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
    ancestors: "tuple[ObjectPlace, ...]"
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
    amended: Mapping[int, Any] = default(default_factory=dict)
    """Predicted lists as they were, by node: in `pred`, accepted items are gold's own."""


class ListPlace(Struct, frozen=True, eq=False):
    """A list at every node of a scope; its items are the nodes of the scope `items`."""

    node: ListNode
    gold: Kinds
    pred: Kinds
    items: "Scope"
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


# The fields of each document, by document type.


def applicability(plan: Plan, types: Sequence[str | None]) -> dict[str, Masks]:
    """Return masks over the documents, by field path, for fields of only some document types.

    `types` are canonical or None. A document of unknown type has all fields.
    """
    masks: dict[frozenset[str], Masks] = {}
    mask_of: dict[str, Masks] = {}
    for child in plan.root.children:
        _collect(child, frozenset(), types, (masks, mask_of))
    return mask_of


def _collect(
    node: Node,
    inherited: frozenset[str],
    types: Sequence[str | None],
    into: tuple[dict[frozenset[str], Masks], dict[str, Masks]],
) -> None:
    masks, mask_of = into
    wanted = node.applies_to & inherited if node.applies_to and inherited else node.applies_to or inherited
    if wanted:
        if wanted not in masks:
            masks[wanted] = np.array([kind is None or kind in wanted for kind in types], dtype=bool)
        mask_of[node.path] = masks[wanted]
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


# Trees without a schema: declaring the values of one batch at a place.

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
    below = replace(node, is_critical=leaf.is_critical)
    branches: list[Node] = []
    has_scalars = bool(kinds - {dict, list, ABSENT.__class__, type(None)})
    if has_scalars or (leaf.is_list and list in kinds) or (leaf.null_is_value and type(None) in kinds):
        branches.append(leaf)
    if dict in kinds:
        kept_keys = table.folds.get(node.path)
        steps = split_path(node.path)
        folded = (
            () if kept_keys is None else [key for key in objects if is_folded(node, steps, key, kept_keys)]
        )
        rest = frozenset(folded)
        children: list[Node] = [
            replace(below, name=key, path=member_path(node.path, key)) for key in objects if key not in rest
        ]
        if rest:
            children.append(_rest(below, rest, leaf.null_is_value, table))
        branches.append(ObjectNode(node.name, node.path, 0, tuple(children), accepted=leaf.accepted))
    if list in kinds and not leaf.is_list:
        item = replace(below, name="", path=f"{node.path}[]")
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


def is_folded(node: AnyNode, steps: tuple[Step, ...], key: str, kept_keys: frozenset[str]) -> bool:
    """Return whether a key is folded, where the `kept` ones are not.

    A key that a pattern names, or gives a type of its own, is kept too.
    """
    if key in kept_keys:
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
            assert isinstance(branch, Leaf)
            value = FieldInfo(node.path, branch.type, Kind.VALUE, slot, branch.weight, branch.is_critical)
            placed.append(replace(branch, field=table.position(value)))
    objects = (branch.children for branch in placed if isinstance(branch, ObjectNode))
    maps = [child for children in objects for child in children if isinstance(child, ListNode)]
    return placed, frozenset(branch.field for branch in (*placed, *maps))


def _template(node: AnyNode) -> Leaf:
    """Return the leaf of the first pattern that matches the node's path; the last one matches everything."""
    for pattern, template in node.patterns:
        if isinstance(template, Leaf) and Pattern(pattern).matches(node.path):
            is_critical = node.is_critical or template.is_critical
            return replace(template, name=node.name, path=node.path, is_critical=is_critical)
    raise ValueError(f"no pattern matches {node.path!r}")


def member_path(path: str, key: str) -> str:
    """Return the path of an object's key; odd keys are quoted."""
    return join_path([*split_path(path), str(key)])


def extra_tree(node: ObjectNode, key: str, path: str) -> AnyNode:
    """Return the tree for an undeclared key of an object, where such keys are spurious."""
    leaf = Leaf(key, path, node.field, "any", AnyReader(), Exact(), Accept(1.0), frozenset())
    return AnyNode(key, path, node.field, (("**", leaf),), Ordered())
