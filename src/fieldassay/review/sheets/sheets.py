"""The form of a review, the documents that are drawn, and its sheets: what is asked and answered."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from itertools import filterfalse
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import problem
from fieldassay.io.json_value import is_empty_text, read_given
from fieldassay.paths import ITEM, KEY, field_of, is_within, join_path, split_path
from fieldassay.review.log import (
    Reason,
    ReviewEvent,
    ReviewJournal,
    Showing,
    Store,
    is_in_list,
    items_above,
    number_of,
    read_facts,
)
from fieldassay.scoring.engine.scopes import canonical_type
from fieldassay.scoring.explain import find_leaf
from fieldassay.spec.language.parse import RecordedSpec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import AnyNode, Leaf, ListNode, Node, ObjectNode, Plan, describe
from fieldassay.values.types.closed_sets import BooleanReader, EnumReader
from fieldassay.values.types.column import Column, Reader, Reading, json_text
from fieldassay.values.types.locales import territory_currencies
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.numbers import QuantityReader, ScaledReader

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
    def asked_paths(self) -> tuple[str, ...]:
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
        positions = []
        for end, step in enumerate(steps, 1):
            above = self.plan.field_of(join_path(steps[:end]))
            number = step if isinstance(step, int) else 0
            positions.append((self._positions.get(above, len(self._positions)), number, above))
        return tuple(positions)

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
        return next((prefix for prefix in above if self.plan.field_of(prefix) in self.trees), None)

    def holds_value(self, path: str) -> bool:
        """Return whether a concrete path of a tree or a map can have a value that is no list or object."""
        field = self.plan.field_of(path)
        free = [info.path for info in self.plan.fields if info.type == "any"]
        is_free = any(is_within(field, tree) for tree in free)
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
        rows = {row["field"]: row for row in describe(self.plan)}
        return [self._describe(info.path, rows.get(info.path, {})) for info in self.plan.fields if info.path]

    def _describe(self, path: str, row: dict[str, str]) -> dict[str, Any]:
        leaf, listed = self.leaf(path), self.lists.get(path)
        description: dict[str, Any] = {
            "field": path,
            "type": "list" if listed is not None else leaf.type if leaf is not None else "object",
            "is_grid": listed is not None,
            "read": row.get("read", ""),
            "types": sorted(self.types_of.get(path, ())),
        }
        if listed is not None:
            description["columns"] = [
                column.path for column in _columns(listed.items) if not _is_tree(column)
            ]
        if leaf is not None:
            description["choices"] = [] if leaf.is_list else _choices(leaf)
            description["words"] = [] if leaf.is_list else _words(leaf)
            description["endings"] = _endings(leaf.reader)
            description["is_list"] = leaf.is_list
        return description


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
        return next(
            (writing for writing in writings if leaf.reader.read(writing).canonical == canonical), text
        )
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
    return list(dict.fromkeys(unit for unit in named if unit is not None))


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


# The fields and facts of a review on disk.


def read_form(store: Store) -> tuple[ReviewForm, dict[str, Any]]:
    """Return the fields and the facts of a review. Raises `ProblemsError` if its spec is another one now."""
    with store.reading() as db:
        facts = read_facts(db)
    plan = read_plan(RecordedSpec(facts["spec"]))
    if plan.digest != facts["plan_digest"]:
        what = "its spec is not the one that it was made with"
        remedy = "restore it from a backup, or review with the release of fieldassay that made it"
        raise problem(store.folder, what, remedy, "bad_review")
    return ReviewForm(plan), facts


# The sheets of a review in the hands of people: claimed, labeled, finished, undone, declined.

LEASE = timedelta(minutes=30)
"""How long a sheet is held for somebody who shows no sign of life."""

State = Literal["value", "absent", "illegible", "skipped", "open"]
STATES = ("value", "absent", "illegible", "skipped", "open")
UNREADABLE = "unreadable"
"""The flag of a label that the spec cannot read."""
_LONGEST, _MOST_ITEMS, _MOST_PAGES = 20_000, 20_000, 1_000_000


class RefusedError(Exception):
    """What a person may not do with a sheet; `kind` is the status of the answer."""

    def __init__(self, kind: Literal["conflict", "forbidden", "invalid", "unknown"], message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Person(Struct, frozen=True):
    """Somebody who labels: the number, the alias in logs and exports, and the role."""

    id: int
    alias: str
    role: str


class LabelAnswer(Struct, frozen=True):
    """A label as it arrives: `expects` is the event of the label that it replaces, 0 for none."""

    node: str
    state: State
    text: str | None = None
    regions: Sequence[Mapping[str, Any]] = ()
    note: str = ""
    active_ms: int = 0
    keys: int = 0
    expects: int = 0


_ITEMS = "SELECT node FROM item WHERE sheet=? AND list=? ORDER BY rank"


def claim(journal: ReviewJournal, person: Person, now: datetime) -> int | None:
    """Return the sheet that a person works on: the one held, or else the next one; None without any.

    Nobody gets both sheets of a document, but for somebody who works alone. Sheets whose lease has ended come
    back first, and those whose lease ends later than any can: the clock was wrong when they were claimed.
    """
    db = journal.db
    check_open(db)
    row = db.execute(
        "SELECT id FROM sheet WHERE holder=? AND state='held' ORDER BY margin DESC, id LIMIT 1", (person.id,)
    ).fetchone()
    if row is not None:
        renew(db, row[0], now)
        return int(row[0])
    for (ended,) in db.execute(
        "SELECT id FROM sheet WHERE state='held' AND until IS NOT NULL AND (until < ? OR until > ?)",
        (now.isoformat(), (now + 2 * LEASE).isoformat()),
    ).fetchall():
        journal.append(ReviewEvent("release", {"why": "the lease ended"}, "system", ended))
    number = _next(db, person, may_repeat=False) or (
        _next(db, person, may_repeat=True) if is_alone(db) else None
    )
    if number is not None:
        journal.append(ReviewEvent("claim", {"person": person.id}, person.alias, number))
        renew(db, number, now)
    return number


def _next(db: sqlite3.Connection, person: Person, *, may_repeat: bool) -> int | None:
    other = (
        ""
        if may_repeat
        else "AND NOT EXISTS (SELECT 1 FROM sheet AS other WHERE other.document=sheet.document "
        "AND other.id<>sheet.id AND (other.holder=:person OR other.done_by=:person)) "
    )
    row = db.execute(
        "SELECT id FROM sheet WHERE state='open' AND NOT EXISTS (SELECT 1 FROM decline WHERE "
        f"decline.sheet=sheet.id AND decline.person=:person) {other}ORDER BY margin DESC, id LIMIT 1",
        {"person": person.id},
    ).fetchone()
    return None if row is None else int(row[0])


def is_alone(db: sqlite3.Connection) -> bool:
    """Return whether only one person works on the review."""
    return bool(db.execute("SELECT count(*) = 1 FROM person WHERE disabled=0").fetchone()[0])


def renew(db: sqlite3.Connection, sheet: int, now: datetime) -> None:
    """Begin the lease of a held sheet anew; no event, since nothing but waiting depends on it."""
    db.execute("UPDATE sheet SET until=? WHERE id=? AND state='held'", ((now + LEASE).isoformat(), sheet))


def keep(journal: ReviewJournal, person: Person, sheet: int, now: datetime) -> None:
    """Begin the lease of a person's sheet anew. Raises `RefusedError` for another sheet."""
    check_holder(journal.db, person, sheet)
    renew(journal.db, sheet, now)


def check_open(db: sqlite3.Connection) -> None:
    """Raise `RefusedError` for a closed review."""
    if db.execute("SELECT value FROM fact WHERE name='closed'").fetchone() == ("true",):
        raise RefusedError("conflict", "the review is closed; a later correction is a new review")


def check_holder(db: sqlite3.Connection, person: Person, sheet: int) -> None:
    """Raise `RefusedError` unless a person holds a sheet. Whether another one has it is not told."""
    row = db.execute("SELECT holder, state, done_by FROM sheet WHERE id=?", (sheet,)).fetchone()
    if row is None or (row[0] != person.id and row[2] != person.id):
        raise RefusedError("forbidden", "this sheet is not yours; it may have gone back after a long pause")
    if row[1] != "held":
        raise RefusedError("conflict", "this sheet is finished; undo that first")


def save_label(
    journal: ReviewJournal, form: ReviewForm, person: Person, sheet: int, answer: LabelAnswer
) -> int:
    """Return the event of a new label. Raises `RefusedError` for anything that is not asked for."""
    db = journal.db
    check_open(db)
    check_holder(db, person, sheet)
    shown_value = _shown_value(db, form, sheet, answer.node)
    row = db.execute("SELECT seq FROM label WHERE sheet=? AND node=?", (sheet, answer.node)).fetchone()
    if (0 if row is None else row[0]) != answer.expects:
        raise RefusedError("conflict", "this value was labeled elsewhere meanwhile; the newer label is shown")
    has_rows = db.execute("SELECT 1 FROM item WHERE sheet=? AND list=?", (sheet, answer.node)).fetchone()
    if has_rows and answer.state != "open" and field_of(answer.node) in form.lists:
        raise RefusedError("conflict", "this list has rows: remove them first, or answer row by row")
    body = label_body(form, person, shown_value, answer)
    tree = form.tree_at(answer.node)
    is_added = tree is not None and answer.state == "value"
    for listed, item in _items_of(answer.node) if is_added else ():
        items = [row[0] for row in db.execute(_ITEMS, (sheet, listed))]
        if item != tree and is_within(item, str(tree)) and item not in items:
            journal.append(
                ReviewEvent("items", {"list": listed, "nodes": [*items, item]}, person.alias, sheet)
            )
    return journal.append(ReviewEvent("label", body, person.alias, sheet))


def _shown_value(db: sqlite3.Connection, form: ReviewForm, sheet: int, node: str) -> tuple[str, Any] | None:
    """Return the text that is shown at a node and its value, None for nothing.

    Raises `RefusedError` where nothing is asked.
    """
    row = db.execute(
        "SELECT shown, given, predicted FROM asked "
        "WHERE node=? AND document=(SELECT document FROM sheet WHERE id=?)",
        (node, sheet),
    ).fetchone()
    if row is not None and row[0] != Showing.CONTEXT:
        return None if row[1] is None else (str(row[1]), read_given(row[2]))
    above = _items_of(node)
    is_cell = bool(above) and form.leaf(field_of(node)) is not None
    live = is_cell and all(
        db.execute("SELECT 1 FROM item WHERE sheet=? AND list=? AND node=?", (sheet, listed, item)).fetchone()
        for listed, item in above
    )
    if row is None and (live or _is_asked_list(db, form, sheet, node)):
        return None
    if row is None and _may_have(db, form, sheet, node):
        return None
    raise RefusedError("invalid", "this value is not asked")


def trees_of(db: sqlite3.Connection, form: ReviewForm, sheet: int) -> list[str]:
    """Return the trees and maps of a sheet to which a person may add what nothing shows, in order."""
    query = (
        "SELECT node FROM asked WHERE shown<>'context' AND document=(SELECT document FROM sheet WHERE id=?)"
    )
    nodes = [row[0] for row in db.execute(f"{query} ORDER BY place", (sheet,))]
    live = [row[0] for row in db.execute("SELECT node FROM item WHERE sheet=? ORDER BY list, rank", (sheet,))]
    trees = dict.fromkeys(tree for node in nodes if (tree := form.tree_at(node)) is not None)
    trees |= dict.fromkeys(tree for item in live for tree in form.tree_cells(item))
    return [tree for tree in trees if all(item in live or item == tree for _, item in items_above(tree))]


def _may_have(db: sqlite3.Connection, form: ReviewForm, sheet: int, node: str) -> bool:
    """Return whether a value may be added at a node of a tree or a map: none is above it, or below it."""
    try:
        steps, tree = split_path(node), form.tree_at(node)
    except ValueError:
        return False
    is_concrete = join_path(steps) == node and not any(step == ITEM or step is KEY for step in steps)
    if not is_concrete or tree not in trees_of(db, form, sheet) or not form.holds_value(node):
        return False
    rows = db.execute(
        "SELECT node FROM asked JOIN sheet ON sheet.document=asked.document WHERE id=:sheet "
        "AND given IS NOT NULL UNION SELECT node FROM label WHERE sheet=:sheet AND state<>'absent'",
        {"sheet": sheet},
    )
    others = {other for (other,) in rows} - {node}
    return not any(is_within(node, other) or is_within(other, node) for other in others)


def _items_of(node: str) -> list[tuple[str, str]]:
    try:
        return list(items_above(node))
    except ValueError:
        return []


def label_body(
    form: ReviewForm, person: Person, shown_value: tuple[str, Any] | None, answer: LabelAnswer
) -> dict[str, Any]:
    """Return the content of the event of a label: its text as the spec reads it, and its origin.

    Raises `RefusedError` for a text that is no value.
    """
    field, text, canonical, flags = field_of(answer.node), None, None, list[str]()
    if answer.state not in STATES or len(answer.text or "") > _LONGEST or len(answer.note) > _LONGEST:
        raise RefusedError("invalid", "no such label")
    if answer.state == "value" and field in form.lists:
        raise RefusedError("invalid", "a list is answered by its rows: add one, or say that it is absent")
    if answer.state == "value" and form.tree_at(answer.node) and not form.holds_value(answer.node):
        raise RefusedError("invalid", "a map is answered by its keys: add one, or say that it is absent")
    if answer.state == "value":
        text = (answer.text or "").strip()
        is_shown = shown_value is not None and text == shown_value[0].strip()
        reading = form.read(field, text, shown_value[1] if is_shown and shown_value is not None else text)
        if is_empty_text(text) or reading is None:
            raise RefusedError("invalid", "an empty text is not a value: say that it is absent, or illegible")
        leaf = form.leaf(field)
        if reading.problem is not None and leaf is not None and is_closed(leaf):
            raise RefusedError("invalid", f"{text[:60]!r} is not one of the choices of {answer.node}")
        canonical = reading.canonical
        flags = [*reading.flags, *([UNREADABLE] if reading.problem is not None else [])]
    origin = "blind"
    if shown_value is not None:
        shown = form.read(field, *shown_value)
        is_same = canonical is not None and shown is not None and shown.canonical == canonical
        origin = "confirmed" if is_same else "corrected"
    return {
        "node": answer.node,
        "state": answer.state,
        "text": text,
        "flags": flags,
        "origin": origin,
        "note": answer.note,
        "person": person.id,
        "active_ms": min(answer.active_ms, 3_600_000),
        "keys": min(answer.keys, 100_000),
        "regions": [_region(region) for region in answer.regions[:20]],
    }


def _region(region: Mapping[str, Any]) -> dict[str, Any]:
    try:
        page, box, text = region["page"], [float(side) for side in region["box"]], str(region["text"])[:500]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise RefusedError("invalid", "no such region") from None
    is_box = (
        len(box) == 4 and all(0.0 <= side <= 1.0 for side in box) and box[0] <= box[2] and box[1] <= box[3]
    )
    if type(page) is not int or not 1 <= page <= _MOST_PAGES or not is_box:
        raise RefusedError("invalid", "no such region")
    return {"page": page, "box": box, "text": text}


def save_items(
    journal: ReviewJournal,
    form: ReviewForm,
    person: Person,
    sheet: int,
    listed: str,
    nodes: Sequence[str | None],
) -> list[str]:
    """Return the items of a list in their new order; None among them is a new item.

    An item keeps its name while others come and go, and so do its labels. Raises `RefusedError`.
    """
    db = journal.db
    check_open(db)
    check_holder(db, person, sheet)
    items = [row[0] for row in db.execute("SELECT node FROM item WHERE sheet=? AND list=?", (sheet, listed))]
    nodes_ever = db.execute(
        "SELECT node FROM label WHERE sheet=:sheet UNION SELECT node FROM asked WHERE document="
        "(SELECT document FROM sheet WHERE id=:sheet)",
        {"sheet": sheet},
    )
    ever = {*items, *(item for (node,) in nodes_ever for name, item in _items_of(node) if name == listed)}
    is_list = _is_asked_list(db, form, sheet, listed)
    wanted = [node for node in nodes if node is not None]
    if len(nodes) > _MOST_ITEMS:
        raise RefusedError("invalid", f"a list takes at most {_MOST_ITEMS:,} rows")
    if not is_list or len(set(wanted)) < len(wanted) or set(wanted) - ever:
        raise RefusedError("invalid", "no such items")
    free = 1 + max((number_of(node) for node in ever), default=-1)
    named = []
    for node in nodes:
        named.append(join_path((*split_path(listed), free)) if node is None else node)
        free += node is None
    journal.append(ReviewEvent("items", {"list": listed, "nodes": named}, person.alias, sheet))
    return named


def check_order(db: sqlite3.Connection, sheet: int, listed: str, expects: int) -> None:
    """Raise `RefusedError` unless an event is the last one that ordered a list; 0 is none."""
    if _orders(db, sheet).get(listed, 0) != expects:
        message = (
            "rows of this list were added, moved or removed elsewhere meanwhile; they are shown as they are"
        )
        raise RefusedError("conflict", message)


def _orders(db: sqlite3.Connection, sheet: int) -> dict[str, int]:
    """Return the event that last ordered each list of a sheet."""
    events = (
        "SELECT json_extract(body, '$.list'), max(seq) FROM event WHERE sheet=? AND kind='items' GROUP BY 1"
    )
    return dict(db.execute(events, (sheet,)))


def _is_asked_list(db: sqlite3.Connection, form: ReviewForm, sheet: int, listed: str) -> bool:
    """Return whether rows may be added to a list: it is asked, values in it are, or its item is there."""
    try:
        if field_of(listed) not in form.lists:
            return False
    except ValueError:
        return False
    document = db.execute("SELECT document FROM sheet WHERE id=?", (sheet,)).fetchone()[0]
    rows = db.execute("SELECT node FROM asked WHERE document=? AND shown<>'context'", (document,))
    above = _items_of(listed)
    is_inside = (
        bool(above)
        and db.execute("SELECT 1 FROM item WHERE sheet=? AND node=?", (sheet, above[-1][1])).fetchone()
    )
    return bool(is_inside) or any(node == listed or node.startswith(f"{listed}[") for (node,) in rows)


def open_nodes(db: sqlite3.Connection, form: ReviewForm, sheet: int) -> list[str]:
    """Return the asked nodes of a sheet that have no label yet, in order.

    A value of a removed item needs none, nor does a field that documents of the labeled type do not have and
    where nothing is shown. A list is answered by its first row, a map by its first key.
    """
    [document] = db.execute("SELECT document FROM sheet WHERE id=?", (sheet,)).fetchone()
    labels = dict(db.execute("SELECT node, text FROM label WHERE sheet=?", (sheet,)))
    lists = {row[0] for row in db.execute("SELECT list FROM item WHERE sheet=?", (sheet,))}
    live = {row[0] for row in db.execute("SELECT node FROM item WHERE sheet=?", (sheet,))}
    declared = form.plan.spec.document_type
    kind = None if declared is None else canonical_type(form.plan, labels.get(declared.field))
    rows = db.execute(
        "SELECT node, given FROM asked WHERE document=? AND shown<>'context' ORDER BY place", (document,)
    )
    return [
        node
        for node, shown_text in rows
        if node not in labels
        and node not in lists
        and not (node in form.trees and any(other != node and is_within(other, node) for other in labels))
        and all(item in live for _, item in items_above(node))
        and not (
            shown_text is None and kind is not None and kind not in form.types_of.get(field_of(node), {kind})
        )
    ]


def unreadable_nodes(db: sqlite3.Connection, sheet: int) -> list[str]:
    """Return the nodes of a sheet whose labels the spec cannot read, but for those in removed items."""
    live = {row[0] for row in db.execute("SELECT node FROM item WHERE sheet=?", (sheet,))}
    rows = db.execute("SELECT node, flags FROM label WHERE sheet=? AND state='value' ORDER BY seq", (sheet,))
    return [
        node
        for node, flags in rows
        if UNREADABLE in json.loads(flags) and all(item in live for _, item in items_above(node))
    ]


def finish(
    journal: ReviewJournal, form: ReviewForm, person: Person, sheet: int, *, takes_unreadable: bool = False
) -> None:
    """Finish a sheet.

    Raises `RefusedError` while anything is open, and for labels that the spec cannot read, unless they are
    to be taken.
    """
    db = journal.db
    check_open(db)
    check_holder(db, person, sheet)
    missing = open_nodes(db, form, sheet)
    if missing:
        raise RefusedError("conflict", f"{len(missing)} open: {', '.join(missing[:5])}")
    unreadable = [] if takes_unreadable else unreadable_nodes(db, sheet)
    if unreadable:
        raise RefusedError("conflict", f"{len(unreadable)} not readable: {', '.join(unreadable[:5])}")
    journal.append(ReviewEvent("finish", {"person": person.id}, person.alias, sheet))


def undo_finish(journal: ReviewJournal, person: Person, sheet: int) -> None:
    """Give a finished sheet back to its person. Raises `RefusedError` once it was ruled upon."""
    db = journal.db
    check_open(db)
    row = db.execute("SELECT state, done_by FROM sheet WHERE id=?", (sheet,)).fetchone()
    if row is None or row[1] != person.id:
        raise RefusedError("forbidden", "this sheet is not yours")
    if row[0] != "done":
        raise RefusedError("conflict", "this sheet has a ruling already")
    if db.execute("SELECT 1 FROM sheet WHERE holder=? AND state='held'", (person.id,)).fetchone():
        release_all(journal, person)
    journal.append(ReviewEvent("undo", {"person": person.id}, person.alias, sheet))


def release_all(journal: ReviewJournal, person: Person) -> None:
    """Put the sheets that a person holds back into the queue, with the labels that they have."""
    for (sheet,) in journal.db.execute(
        "SELECT id FROM sheet WHERE holder=? AND state='held'", (person.id,)
    ).fetchall():
        journal.append(ReviewEvent("release", {"why": "put back"}, person.alias, sheet))


def release(journal: ReviewJournal, person: Person, sheet: int) -> None:
    """Put a held sheet back into the queue."""
    check_holder(journal.db, person, sheet)
    journal.append(ReviewEvent("release", {"why": "put back"}, person.alias, sheet))


def decline(journal: ReviewJournal, person: Person, sheet: int, note: str) -> None:
    """Put a held sheet back for others; this person does not get it again."""
    check_holder(journal.db, person, sheet)
    journal.append(
        ReviewEvent("decline", {"person": person.id, "note": note[:_LONGEST]}, person.alias, sheet)
    )


def view(db: sqlite3.Connection, form: ReviewForm, person: Person, sheet: int) -> dict[str, Any]:
    """Return a sheet for its person. Raises `RefusedError` for others.

    It holds neither predictions that are not shown, nor why a value is asked, nor labels of other people.
    """
    row = db.execute(
        "SELECT document.id, document.name, document.path IS NOT NULL, sheet.state, holder, done_by FROM "
        "sheet JOIN document ON document.id=sheet.document WHERE sheet.id=?",
        (sheet,),
    ).fetchone()
    if row is None or person.id not in (row[4], row[5]):
        raise RefusedError("forbidden", "this sheet is not yours; it may have gone back after a long pause")
    rows = db.execute(
        "SELECT node, field, given, shown='context', reason<>? FROM asked WHERE document=? ORDER BY place",
        (Reason.NO_PREDICTIONS, row[0]),
    )
    facts = read_facts(db)  # an audit, or a review of doubtful gold, leaves fields blank on purpose
    hides = any(facts["shares"][name] for name in ("withheld", "double")) or facts["policy"] is not None
    hides = hides or facts["system"] is None
    items: dict[str, list[str]] = {}
    for listed, node in db.execute("SELECT list, node FROM item WHERE sheet=? ORDER BY list, rank", (sheet,)):
        items.setdefault(listed, []).append(node)
    return {
        "id": sheet,
        "document": {"id": row[0], "name": row[1], "has_pages": bool(row[2])},
        "state": row[3],
        "asked": [
            {
                "node": node,
                "field": field,
                "given": shown_text,
                "is_context": bool(is_context),
                "is_left_blank": hides and shown_text is None and bool(is_known),
            }
            for node, field, shown_text, is_context, is_known in rows
        ],
        "items": items,
        "orders": _orders(db, sheet),
        "trees": trees_of(db, form, sheet),
        "labels": _labels(db, form, sheet),
        "open": open_nodes(db, form, sheet),
        "unreadable": unreadable_nodes(db, sheet),
        "previous": _previous(db, person, sheet),
    }


def _previous(db: sqlite3.Connection, person: Person, sheet: int) -> dict[str, dict[str, Any]]:
    """Return what a person said last, outside lists, on the sheet finished before this one, by node."""
    rows = db.execute(
        "SELECT label.node, state, label.text, page, x0, y0, x1, y1 FROM label LEFT JOIN region ON "
        "region.sheet=label.sheet AND region.node=label.node AND n=0 WHERE label.sheet=(SELECT sheet FROM "
        "finish WHERE person=? AND sheet<>? ORDER BY seq DESC LIMIT 1)",
        (person.id, sheet),
    )
    return {
        node: {"state": state, "text": text, "region": None if page is None else {"page": page, "box": box}}
        for node, state, text, page, *box in rows
        if not is_in_list(node) and state != "skipped"
    }


def _labels(db: sqlite3.Connection, form: ReviewForm, sheet: int) -> dict[str, dict[str, Any]]:
    labels = {
        node: {
            "state": state,
            "text": text,
            "note": note,
            "seq": seq,
            "field": form.plan.field_of(node),
            "regions": [],
        }
        for node, state, text, note, seq in db.execute(
            "SELECT node, state, text, note, seq FROM label WHERE sheet=?", (sheet,)
        )
    }
    for node, page, x0, y0, x1, y1, text in db.execute(
        "SELECT node, page, x0, y0, x1, y1, text FROM region WHERE sheet=? ORDER BY node, n", (sheet,)
    ):
        labels[node]["regions"].append({"page": page, "box": [x0, y0, x1, y1], "text": text})
    return labels
