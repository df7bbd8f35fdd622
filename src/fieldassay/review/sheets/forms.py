"""The form of a review: its fields, and which documents are drawn."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from itertools import filterfalse
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from fieldassay.options import OptionRecord
from fieldassay.paths import field_of, join_path, split_path
from fieldassay.scoring.explain import find_leaf
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, describe
from fieldassay.values.types.closed_sets import BooleanReader, EnumReader
from fieldassay.values.types.column import Column, Reader, Reading
from fieldassay.values.types.locales import territory_currencies
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.numbers import QuantityReader, ScaledReader
from fieldassay.values.types.text import json_text

# The draw of a review: which values are asked, and which of them are shown as predicted. Everything is
# drawn by a hash of seed, document and path alone: the order of documents decides nothing, and the
# probability of every choice is known.


class Showing(StrEnum):
    """What stands in the field of a value before the reviewer answers."""

    PREDICTION = "prediction"
    NOTHING = "nothing"
    CONTEXT = "context"
    """Not asked: shown beside asked values of its item, so that the item can be found on the page."""


class Reason(StrEnum):
    """Why a value is asked, besides the reasons of a review policy."""

    AUDIT = "random audit"
    NOT_PREDICTED = "not predicted"
    DOUBLE = "double review"
    DOUBLE_FLAGGED = "double review, sent to review by the policy"
    NO_PREDICTIONS = "no predictions"
    SUSPICIOUS = "all systems contradict gold"
    CONTEXT = "context"


Share = Annotated[float, Meta(ge=0, le=1, examples=[0.1])]


class Shares(OptionRecord, frozen=True):
    """The shares of an audit, fixed when the review is made.

    `double` of the documents are labeled twice, blind; the prediction is withheld of `withheld` of the values
    that the policy sends to review; `empty` of the fields without a prediction are asked; `audited` of the
    values that the policy accepts are asked nevertheless.
    """

    double: Share = 0.1
    withheld: Share = 0.1
    empty: Share = 0.05
    seed: int = 0
    audited: Share = 0.03

    def is_double(self, document: str) -> bool:
        """Return whether a document is labeled by two people, each blind.

        >>> sum(Shares().is_double(f"doc-{number}") for number in range(10_000))
        987
        """
        return uniform(self.seed, "double", document) < self.double


GOLD = Shares(double=0.0, withheld=0.0, empty=1.0, audited=0.0)
"""Makes gold: everything is asked once, and every prediction shown."""


def uniform(seed: int, purpose: str, document: str, path: str = "") -> float:
    """Return a number in [0, 1) that depends on its arguments alone, as if it were random.

    >>> round(uniform(0, "double", "doc-1"), 4) == round(uniform(0, "double", "doc-1"), 4)
    True
    """
    text = f"review {purpose} {seed} {len(document)} {document} {path}"
    drawn = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(drawn, "little") / 2.0**64


def looked_at(shares: Shares, *, is_flagged: bool, is_in_list: bool) -> float:
    """Return the probability that a predicted value is labeled without its prediction being seen.

    `is_flagged`: the policy sends it to review. Values in lists are not asked one by one where a document is
    labeled twice.

    >>> shares = Shares(double=0.5, withheld=0.2, audited=0.1)
    >>> looked_at(shares, is_flagged=False, is_in_list=False)
    0.55
    >>> looked_at(shares, is_flagged=True, is_in_list=True)
    0.1
    """
    alone = shares.withheld if is_flagged else shares.audited
    return (0.0 if is_in_list else shares.double) + (1.0 - shares.double) * alone


def spread(margins: Sequence[float], place: float) -> float:
    """Return the margin at a place from 0 to 1 among margins in falling order; 0 without any.

    >>> spread([9.0, 5.0, 1.0], 0.5), spread([], 0.5)
    (5.0, 0.0)
    """
    return margins[min(int(place * len(margins)), len(margins) - 1)] if margins else 0.0


# The fields of a spec as a person fills them in: typed texts, read by the spec's own readers.

_BETWEEN = " | "
_MOST_CHOICES = 200


class ReviewForm(Struct, frozen=True, dict=True):
    """The fields of a plan, for asking and reading."""

    plan: Plan

    @cached_property
    def _leaves(self) -> dict[str, Leaf | None]:
        return {}

    def leaf(self, field: str) -> Leaf | None:
        """Return the leaf of a field; None for lists, objects and what the spec does not declare."""
        if field not in self._leaves:
            self._leaves[field] = find_leaf(self.plan, self.plan.field_of(field))[0]
        return self._leaves[field]

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """Return the places of a document that are asked where nothing was predicted: leaves, lists and maps.

        Trees without a schema are not among them: nobody knows what to ask.
        """
        return tuple(node.path for node in _columns(self.plan.root) if not isinstance(node, AnyNode))

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {info.path: position for position, info in enumerate(self.plan.fields)}

    def place(self, path: str) -> tuple[tuple[int, int, str], ...]:
        """Return the place of a path in the order of the spec: items by number, their values together."""
        steps = split_path(path)
        found = []
        for end, step in enumerate(steps, 1):
            above = self.plan.field_of(join_path(steps[:end]))
            number = step if isinstance(step, int) else 0
            found.append((self._positions.get(above, len(self._positions)), number, above))
        return tuple(found)

    @cached_property
    def lists(self) -> dict[str, ListNode]:
        """Return the lists with items of their own, by field."""
        return {
            node.path: node
            for node in _walk(self.plan.root)
            if isinstance(node, ListNode) and not node.is_map
        }

    @cached_property
    def trees(self) -> tuple[str, ...]:
        """Return the places of trees without a schema."""
        return tuple(node.path for node in _walk(self.plan.root) if _is_tree(node))

    def tree_at(self, path: str) -> str | None:
        """Return the tree without a schema or the map that a concrete path is at or below; None outside.

        >>> from fieldassay.spec.plan.compile import read_plan
        >>> form = ReviewForm(read_plan("fields: {lines: {items: {fields: {vat: {type: map}}}}}"))
        >>> form.tree_at("lines[2].vat.DE")
        'lines[2].vat'
        """
        steps = split_path(path) if self.trees else ()
        above = (join_path(steps[:end]) for end in range(len(steps) + 1))
        return next((one for one in above if self.plan.field_of(one) in self.trees), None)

    def holds_value(self, path: str) -> bool:
        """Return whether a concrete path of a tree or a map can have a value that is no list or object."""
        field = self.plan.field_of(path)
        free = [info.path for info in self.plan.fields if info.type == "any"]
        is_free = any(field == one or not one or field.startswith((f"{one}.", f"{one}[")) for one in free)
        return is_free or self.leaf(field) is not None

    def tree_cells(self, item: str) -> Iterator[str]:
        """Yield the node of each tree and map in an item of a list, but in lists inside it."""
        field = field_of(item)
        for tree in self.trees:
            rest = tree[len(field) :]
            if tree.startswith(field) and rest[:1] in ("", ".") and "[]" not in rest:
                yield item + rest

    def cells(self, item: str) -> Iterator[tuple[str, str]]:
        """Yield the node and the field of each single value and each list in an item of a list."""
        listed = self.lists.get(field_of(item).removesuffix("[]"))
        for node in () if listed is None else filterfalse(_is_tree, _columns(listed.items)):
            yield item + node.path[len(field_of(item)) :], node.path

    @cached_property
    def types_of(self) -> dict[str, frozenset[str]]:
        """Return the document types that have a place, for places that not all have."""
        return dict(_applying(self.plan.root, frozenset()))

    def read(self, field: str, text: str, value: Any = None) -> Reading | None:
        """Return a text, or the value that it shows, as the spec reads it in a field; None for no value."""
        leaf = self.leaf(field)
        if leaf is None:
            return Reading(text, text, text)
        if not leaf.is_list and leaf.is_empty(text):
            return None
        is_data = isinstance(value, list if leaf.is_list else int | float)
        data: Any = value if is_data else self.to_read(field, text)
        reading = leaf.reader.read(data)
        return replace(reading, problem=find_problem(reading))

    def to_read(self, field: str, text: str) -> Any:
        """Return what the reader of a field is given for a text: its items where a list is one value."""
        leaf = self.leaf(field)
        return split_items(leaf, text) if leaf is not None and leaf.is_list else text

    def describe(self) -> list[dict[str, Any]]:
        """Return the fields for a page: path, type, and what helps to fill them in."""
        told = {row["field"]: row for row in describe(self.plan)}
        return [self._describe(info.path, told.get(info.path, {})) for info in self.plan.fields if info.path]

    def _describe(self, path: str, told: dict[str, str]) -> dict[str, Any]:
        leaf, listed = self.leaf(path), self.lists.get(path)
        found: dict[str, Any] = {
            "field": path,
            "type": "list" if listed is not None else leaf.type if leaf is not None else "object",
            "is_grid": listed is not None,
            "read": told.get("read", ""),
            "types": sorted(self.types_of.get(path, ())),
        }
        if listed is not None:
            found["columns"] = [one.path for one in _columns(listed.items) if not _is_tree(one)]
        if leaf is not None:
            found["choices"] = [] if leaf.is_list else _choices(leaf)
            found["words"] = [] if leaf.is_list else _words(leaf)
            found["endings"] = _endings(leaf.reader)
            found["is_list"] = leaf.is_list
        return found


def find_problem(reading: Reading) -> str | None:
    """Return why a value cannot be read; of a list that is one value, why its first such item cannot."""
    if isinstance(reading.value, Column):
        return next(iter(reading.value.problems.values()), reading.problem)
    return reading.problem


def show(leaf: Leaf | None, data: Any) -> str:
    """Return a value of JSON as the text that a person edits.

    >>> show(None, 12.5), show(None, "a"), show(None, ["a", "b"]), show(None, {"a": 1})
    ('12.5', 'a', 'a | b', '{"a": 1}')
    """
    if isinstance(data, dict):
        return json.dumps(data, ensure_ascii=False)
    if isinstance(data, float) and leaf is not None:  # a number is written as its locale reads it
        text, canonical = json_text(data), leaf.reader.read(data).canonical
        writings = (text, text.replace(".", ","))
        return next((one for one in writings if leaf.reader.read(one).canonical == canonical), text)
    if not isinstance(data, list):
        return json_text(data)
    between = leaf.separator if leaf is not None and leaf.separator else _BETWEEN
    texts = [json_text(item) if not isinstance(item, dict | list) else "" for item in data]
    is_plain = all(between.strip() not in text and text == text.strip() and text for text in texts)
    return between.join(texts) if is_plain else json.dumps(data, ensure_ascii=False)


def split_items(leaf: Leaf, text: str) -> list[Any]:
    """Return the items in the text of a list that is judged as one value."""
    if text.lstrip().startswith("["):
        try:
            data = json.loads(text)
        except ValueError:
            data = None
        if isinstance(data, list):
            return data
    between = leaf.separator or _BETWEEN.strip()
    return [item for part in text.split(between) if (item := part.strip())]


def is_closed(leaf: Leaf) -> bool:
    """Return whether a field takes nothing but its choices."""
    return not leaf.is_list and bool(_choices(leaf))


def _choices(leaf: Leaf) -> list[str]:
    if isinstance(leaf.reader, BooleanReader):
        usual = zip(("yes", "no"), (leaf.reader.true, leaf.reader.false), strict=True)
        return [word if word in words else str(words[0]) for word, words in usual]
    if isinstance(leaf.reader, EnumReader):
        return [json_text(value) for value in leaf.reader.values[:_MOST_CHOICES]]
    return []


def _words(leaf: Leaf) -> list[str]:
    """Return the words that a field with choices reads, in lower case."""
    if isinstance(leaf.reader, BooleanReader):
        return [str(word).casefold() for word in (*leaf.reader.true, *leaf.reader.false)]
    return sorted(leaf.reader.keys or ()) if isinstance(leaf.reader, EnumReader) else []


def _endings(reader: Reader) -> list[str]:
    """Return the currencies or units that the spec names for a field, which may follow a typed amount."""
    if isinstance(reader, ScaledReader):
        return _endings(reader.inner)
    if isinstance(reader, MoneyReader):
        named = [reader.currency, *territory_currencies(reader.locale)]
    elif isinstance(reader, QuantityReader):
        named = [reader.unit, reader.canonical]
    else:
        named = []
    return list(dict.fromkeys(one for one in named if one is not None))


def _inside(node: Node) -> Sequence[Node]:
    """Return the members of an object, the items of a list, and nothing of all else."""
    items = (node.items,) if isinstance(node, ListNode) else ()
    return node.children if isinstance(node, ObjectNode) else items


def _is_tree(node: Node) -> bool:
    """Return whether a node is a tree without a schema, or a map."""
    return isinstance(node, AnyNode) or (isinstance(node, ListNode) and node.is_map)


def _walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it, but what is in trees and maps."""
    yield node
    for child in () if _is_tree(node) else _inside(node):
        yield from _walk(child)


def _columns(node: Node) -> Iterator[Node]:
    """Yield the places of a record or an item: leaves, trees, maps, and lists in it."""
    if not isinstance(node, ObjectNode):
        yield node
        return
    for child in node.children:
        yield from _columns(child)


def _applying(node: Node, inherited: frozenset[str]) -> Iterator[tuple[str, frozenset[str]]]:
    wanted = node.applies_to & inherited if node.applies_to and inherited else node.applies_to or inherited
    if wanted:
        yield node.path, wanted
    for child in _inside(node):
        yield from _applying(child, wanted)
