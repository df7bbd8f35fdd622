"""Where the sheets of a document differ, the rulings on that, and the labels that are exported."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.json_value import Json, as_kind, read_given
from fieldassay.paths import field_of, join_path, split_path
from fieldassay.records.labels_file import Label, Origin, Region, Sheet, State
from fieldassay.review.log import ReviewEvent, ReviewJournal, Store, emptied_lists, items_above, read_facts
from fieldassay.review.sheets.make import uniform
from fieldassay.review.sheets.sheets import (
    Person,
    RefusedError,
    ReviewForm,
    check_open,
    is_alone,
    read_form,
    show,
    split_items,
)

# Where the two sheets of a document differ, and the rulings of a third person on that.

CHOICES = ("first", "second", "both", "other", "absent", "illegible", "guideline")
"""What a ruling can say; `guideline`: nobody can know, since the guideline is silent."""
_MOST_LISTED = 100


class Said(Struct, frozen=True):
    """What a sheet says of a place: a state, a text, and of a list its rows, cell by cell."""

    state: str
    text: str | None = None
    rows: tuple[Mapping[str, str], ...] = ()


class Difference(Struct, frozen=True):
    """A place where the two sheets of a document differ; `ruling` is the choice made, None without one."""

    node: str
    sides: tuple[Said, Said]
    ruling: str | None = None


def find_differences(db: sqlite3.Connection, form: ReviewForm, document: int) -> list[Difference]:
    """Return where the two sheets of a document differ, in the order of the spec; [] unless both are done.

    Values that the spec takes for the same in both directions are none, whatever their writing. A list is one
    place: its rows are compared in their order. Where one skipped, the other stands.
    """
    sheets = [
        row[0]
        for row in db.execute(
            "SELECT id FROM sheet WHERE document=? AND state IN ('done', 'adjudicated') ORDER BY slot",
            (document,),
        )
    ]
    if len(sheets) != 2:
        return []
    ruled = dict(db.execute("SELECT node, choice FROM ruling WHERE document=?", (document,)))
    first, second = _read_both(db, form, sheets)
    return [
        Difference(node, (first[node], second[node]), ruled.get(node))
        for node in sorted(first.keys() & second.keys(), key=form.place)
        if not is_same(form, node, first[node], second[node])
    ]


def read_places(db: sqlite3.Connection, sheet: int) -> dict[str, Said]:
    """Return what a sheet says of each place outside lists, a list being one place."""
    places: dict[str, Said] = {}
    cells: dict[str, dict[str, str]] = {}
    for node, state, text in db.execute("SELECT node, state, text FROM label WHERE sheet=?", (sheet,)):
        above = list(items_above(node))
        if above:
            shown = text if state == "value" else f"({state})"
            cells.setdefault(above[-1][1], {})[field_of(node)] = shown
        else:
            places[node] = Said(state, text)
    rows: dict[str, list[Mapping[str, str]]] = {}
    for listed, item in db.execute("SELECT list, node FROM item WHERE sheet=? ORDER BY list, rank", (sheet,)):
        if item in cells:
            top = next(iter(items_above(item)))[0] if "[" in listed else listed
            rows.setdefault(top, []).append(cells[item])
    return places | {
        listed: Said("value", None, tuple(list_rows)) for listed, list_rows in rows.items() if list_rows
    }


def _read_both(
    db: sqlite3.Connection, form: ReviewForm, sheets: Sequence[int]
) -> tuple[dict[str, Said], ...]:
    """Return what two sheets say; a key that one of them lacks in a map that it answers is absent there."""
    both = tuple(read_places(db, sheet) for sheet in sheets)
    answered = [
        {form.tree_at(node) for node, said in places.items() if said.state != "skipped"} for places in both
    ]
    for at, places in enumerate(both):
        for node in both[1 - at].keys() - places.keys():
            tree = form.tree_at(node)
            if tree in answered[at] - {None, node}:
                places[node] = Said("absent")
    return both


def is_same(form: ReviewForm, node: str, first: Said, second: Said) -> bool:
    """Return whether two answers say the same, or one of them is none."""
    if "skipped" in (first.state, second.state):
        return True
    if first.state != second.state or len(first.rows) != len(second.rows):
        return False
    if first.rows:
        return all(
            row.keys() == other.keys()
            and all(_reads_same(form, name, row[name], other[name]) for name in row)
            for row, other in zip(first.rows, second.rows, strict=True)
        )
    return first.state != "value" or _reads_same(form, field_of(node), first.text or "", second.text or "")


def _reads_same(form: ReviewForm, field: str, first: str, second: str) -> bool:
    leaf = form.leaf(field)
    reading, other = form.read(field, first), form.read(field, second)
    if leaf is None or reading is None or other is None:
        return first == second
    return leaf.is_match(reading, other) and leaf.is_match(other, reading)


def list_open(db: sqlite3.Connection, form: ReviewForm, person: Person) -> list[dict[str, Any]]:
    """Return the documents that wait for this person: with differences, and labeled by others."""
    rows = db.execute(
        "SELECT document.id, document.name FROM document JOIN sheet ON document=document.id "
        "WHERE state='done' GROUP BY document.id HAVING count(*)=2 ORDER BY document.id"
    ).fetchall()
    documents: list[dict[str, Any]] = []
    for number, name in rows:
        waiting = [
            difference for difference in find_differences(db, form, number) if difference.ruling is None
        ]
        if waiting and may_rule(db, person, number):
            documents.append({"id": number, "name": name, "open": len(waiting)})
        if len(documents) >= _MOST_LISTED:
            break
    return documents


def may_rule(db: sqlite3.Connection, person: Person, document: int) -> bool:
    """Return whether a person labeled neither sheet of a document, or works alone."""
    own = db.execute("SELECT 1 FROM sheet WHERE document=? AND done_by=?", (document, person.id)).fetchone()
    return own is None or is_alone(db)


def view(db: sqlite3.Connection, form: ReviewForm, person: Person, document: int) -> dict[str, Any]:
    """Return the differences of a document, both answers in random order and without names.

    Raises `RefusedError` for somebody who labeled it.
    """
    row = db.execute("SELECT name, path IS NOT NULL FROM document WHERE id=?", (document,)).fetchone()
    if row is None or not may_rule(db, person, document):
        raise RefusedError("forbidden", "somebody who labeled neither sheet rules on this document")
    return {
        "document": {"id": document, "name": row[0], "has_pages": bool(row[1])},
        "differences": [
            {
                "node": difference.node,
                "field": field_of(difference.node),
                "options": [
                    {"state": said.state, "text": said.text, "rows": [dict(cells) for cells in said.rows]}
                    for said in (
                        difference.sides[::-1]
                        if _is_turned(db, document, difference.node)
                        else difference.sides
                    )
                ],
                "is_ruled": difference.ruling is not None,
            }
            for difference in find_differences(db, form, document)
        ],
    }


def _is_turned(db: sqlite3.Connection, document: int, node: str) -> bool:
    """Return whether the second sheet's answer stands first: by chance, and always the same."""
    return uniform(read_facts(db)["shares"]["seed"], "order", str(document), node) < 0.5


def rule(
    journal: ReviewJournal, form: ReviewForm, person: Person, document: int, ruling: Mapping[str, str]
) -> list[str]:
    """Return the nodes of a document that still wait, after a ruling (`node`, `choice`, `text`, `note`).

    Raises `RefusedError` for somebody who labeled it, and for what cannot be meant.
    """
    db, node, choice = journal.db, ruling["node"], ruling["choice"]
    check_open(db)
    if not may_rule(db, person, document):
        raise RefusedError("forbidden", "somebody who labeled neither sheet rules on this document")
    differences = {difference.node: difference for difference in find_differences(db, form, document)}
    if node not in differences or choice not in CHOICES:
        raise RefusedError("invalid", "there is nothing to rule on")
    sides = differences[node].sides
    if choice in ("first", "second") and _is_turned(db, document, node):
        choice = "second" if choice == "first" else "first"
    text = _ruled_text(form, node, choice, sides, ruling["text"])
    waiting = [
        difference.node
        for difference in differences.values()
        if difference.ruling is None and difference.node != node
    ]
    sheet = db.execute("SELECT min(id) FROM sheet WHERE document=?", (document,)).fetchone()[0]
    body = {
        "document": document, "node": node, "choice": choice, "text": text, "person": person.id,
        "note": ruling["note"], "is_last": not waiting,
    }  # fmt: skip
    journal.append(ReviewEvent("ruling", body, person.alias, sheet))
    return waiting


def _ruled_text(form: ReviewForm, node: str, choice: str, sides: tuple[Said, Said], typed: str) -> str | None:
    """Return the value that a ruling says; None for a list, and where it says that there is none."""
    is_list = any(side.rows for side in sides)
    if is_list and choice in ("both", "other"):
        raise RefusedError("invalid", "a list is ruled as a whole: choose one of the two")
    if choice == "other":
        if not typed.strip() or form.read(field_of(node), typed) is None:
            raise RefusedError("invalid", "an empty text is not a value")
        return typed.strip()
    if choice == "both":
        texts = [side.text for side in sides if side.text is not None]
        return min(texts, key=lambda text: (len(text), text), default=None)
    side = {"first": sides[0], "second": sides[1]}.get(choice)
    return side.text if side is not None and side.state == "value" else None


def writing_rank(label: Label) -> tuple[bool, bool, int, str]:
    """Return the rank of a writing: with its kind, what stands on the page, the shorter, by code point."""
    text = label.text or ""
    is_elsewhere = not any((text or "\0") in (region.text or "") for region in label.regions)
    return label.value is None, is_elsewhere, len(text), text


def settled(db: sqlite3.Connection, form: ReviewForm, document: int) -> Iterator[tuple[str, str | None]]:
    """Yield each place that a sheet answers, and what was ruled; None: both say the same, or only one.

    Places that wait for a ruling, and those on which the guideline is silent, are left out.
    """
    sheets = [
        row[0] for row in db.execute("SELECT id FROM sheet WHERE document=? ORDER BY slot", (document,))
    ]
    first, second = _read_both(db, form, sheets)
    differing = {difference.node: difference.ruling for difference in find_differences(db, form, document)}
    for node in sorted(first.keys() | second.keys(), key=form.place):
        if node not in differing or differing[node] not in (None, "guideline"):
            yield node, differing.get(node)


# The labels of a review as the sheets of a labels file.


class FinishedDocument(NamedTuple):
    """A document with finished sheets; it waits while the other one of its two sheets is not finished."""

    number: int
    name: str
    sheets: list[Sheet]
    is_waiting: bool


def finished_documents(db: sqlite3.Connection, form: ReviewForm) -> list[FinishedDocument]:
    """Return the documents with finished sheets, in order."""
    by_name: dict[str, list[Sheet]] = {}
    for sheet in list_sheets(db, form):
        by_name.setdefault(sheet.document, []).append(sheet)
    rows = db.execute(
        "SELECT name, document.id, count(*) FROM sheet JOIN document ON document=document.id "
        "GROUP BY document.id"
    )
    return [
        FinishedDocument(number, name, by_name[name], len(by_name[name]) < count)
        for name, number, count in rows.fetchall()
        if name in by_name
    ]


def finished_sheets(store: Store) -> list[Sheet]:
    """Return the finished sheets of a review, in order."""
    form, _ = read_form(store)
    with store.reading() as db:
        return list(list_sheets(db, form))


def settled_sheets(store: Store) -> list[Sheet]:
    """Return one sheet per document: what both reviewers say, or what was ruled where they differ.

    Places that wait for a ruling are left out, and so are documents of which one sheet is not finished.
    """
    form, _ = read_form(store)
    with store.reading() as db:
        return [
            settle(db, form, document) for document in finished_documents(db, form) if not document.is_waiting
        ]


def settle(db: sqlite3.Connection, form: ReviewForm, document: FinishedDocument) -> Sheet:
    """Return the only sheet of a document, or one of what both say, or what was ruled where they differ."""
    if len(document.sheets) == 1:
        return document.sheets[0]
    texts = dict(db.execute("SELECT node, text FROM ruling WHERE document=?", (document.number,)))
    labels: dict[str, Label] = {}
    for node, ruling in settled(db, form, document.number):
        origin: Origin = "blind" if ruling is None else "adjudicated"
        state: State = "illegible" if ruling == "illegible" else "absent"
        under = {node: Label(state, shown="nothing")}
        if ruling == "other":
            under = {node: Label("value", texts[node], shown="nothing")}
        elif ruling in (None, "first", "second", "both"):
            chosen = document.sheets if ruling in (None, "both") else [document.sheets[ruling == "second"]]
            sides = [
                {
                    path: label
                    for path, label in sheet.labels.items()
                    if path == node or path.startswith(f"{node}[")
                }
                for sheet in chosen
            ]
            sides = sorted(filter(None, sides), key=lambda side: _rank(side.get(node)))
            under = sides[0] if sides else under
        if ruling == "both":
            under[node] = replace(under[node], text=texts[node])
        labels |= {path: replace(label, origin=origin) for path, label in under.items()}
    return Sheet(document.name, "settled", 0, True, labels)


def _rank(label: Label | None) -> tuple[Any, ...]:
    return label is None or label.state == "skipped", *writing_rank(label or Label("absent"))


def list_sheets(db: sqlite3.Connection, form: ReviewForm) -> Iterator[Sheet]:
    """Yield the finished sheets, in order, each as one line of a labels file.

    Reviewers are aliases. Items of a list that was labeled as a whole are numbered in their order on the
    sheet; others keep the numbers of the prediction, under which the values that nobody was asked stand too.
    """
    rows = db.execute(
        "SELECT sheet.id, document.id, document.name, slot, blind, alias FROM sheet JOIN document ON "
        "document.id=sheet.document JOIN person ON person.id=sheet.done_by ORDER BY sheet.id"
    )
    for number, document, name, slot, is_blind, alias in rows.fetchall():
        labels = dict(_labels(db, form, number, document))
        yield Sheet(name, alias, slot, bool(is_blind), labels)


def _labels(
    db: sqlite3.Connection, form: ReviewForm, sheet: int, document: int
) -> Iterator[tuple[str, Label]]:
    asked_of = "SELECT node, shown, predicted FROM asked WHERE document=?"
    asked_rows = db.execute(asked_of, (document,)).fetchall()
    shown = {node: how for node, how, _ in asked_rows}
    predicted = {node: read_given(value) for node, _, value in asked_rows if value is not None}
    live = {node for (node,) in db.execute("SELECT node FROM item WHERE sheet=?", (sheet,))}
    live = {node for node in live if all(item in live for _, item in items_above(node))}
    regions: dict[str, tuple[Region, ...]] = {}
    for node, page, *box, text in db.execute(
        "SELECT node, page, x0, y0, x1, y1, text FROM region WHERE sheet=? ORDER BY node, n", (sheet,)
    ):
        left, top, right, bottom = box
        regions[node] = (*regions.get(node, ()), Region(page, (left, top, right, bottom), text or None))
    rows = db.execute("SELECT node, state, text, origin FROM label WHERE sheet=?", (sheet,)).fetchall()
    emptied = emptied_lists(shown, live)
    filled = {listed for item in live for listed, _ in items_above(item)}
    rows = [row for row in rows if all(item in live for _, item in items_above(row[0]))]
    covered = filled | {above for row in rows for above in list(_above(row[0]))[:-1]}
    rows = [row for row in rows if row[1] == "value" or row[0] not in covered]
    finished = dict(_finished_lists(form, rows, shown, live))
    new_names = _rename(db, sheet, finished)
    rows.sort(key=lambda row: form.place(_renamed(row[0], new_names)))
    whole = {
        node: Label("value", None, (), "blind", "nothing" if how == "nothing" else None)
        for node, how in shown.items()
        if node in form.lists and node in filled and all(node != row[0] for row in rows)
    }
    yield from whole.items()
    yield from ((listed, Label("value", None, (), how, "prediction")) for listed, how in finished.items())
    for listed in emptied - {row[0] for row in rows}:
        yield _renamed(listed, new_names), Label("absent", None, (), "corrected", "prediction")
    for node, state, text, origin in rows:
        path = _renamed(node, new_names)
        how = origin if state != "skipped" else None
        label = Label(state, text, regions.get(node, ()), how, shown.get(node, "nothing"))
        label = replace(label, shown="prediction") if node in emptied else label
        leaf, like = form.leaf(field_of(node)), predicted.get(node)
        if leaf is not None and leaf.is_list and state == "value":
            yield path, Label("value", None, label.regions, how, label.shown)
            items = like if how == "confirmed" and isinstance(like, list) else split_items(leaf, text)
            for place, item in enumerate(items):
                value = None if isinstance(item, str) else item
                yield f"{path}[{place}]", Label("value", show(None, item), (), how, label.shown, value)
        else:
            yield path, replace(label, value=_value(form, node, label, like))
    said = {row[0] for row in rows} | emptied | {listed for item in live for listed, _ in items_above(item)}
    labeled, asked_items = (
        {above for node in said for above in _above(node)},
        {item for node in shown for _, item in items_above(node)},
    )
    for item in sorted(live):
        if next(iter(items_above(item)))[0] in finished | whole:
            cells = [cell for cell, _ in form.cells(item) if item in asked_items]
            unseen = [cell for cell in (*cells, *form.tree_cells(item)) if cell not in labeled]
            yield from ((_renamed(cell, new_names), Label("skipped")) for cell in unseen)


def _above(node: str) -> Iterator[str]:
    """Yield a path and those above it."""
    steps = split_path(node)
    yield from (join_path(steps[:end]) for end in range(1, len(steps) + 1))


def _value(form: ReviewForm, node: str, label: Label, predicted: Json) -> Json:
    """Return a labeled value as JSON where that is no text: as it was shown, or a correction of its kind.

    The text in a typed field is read by its type, as `1.234` is by its locale; in others its kind counts.
    A list or an object in place of one typed value was shown as a text, and is one.
    """
    leaf = form.leaf(field_of(node))
    is_typed = leaf is not None and leaf.type != "any"
    other_kinds = str | dict | list if is_typed else str
    if label.text is None or predicted is None or isinstance(predicted, other_kinds):
        return None
    if label.origin == "confirmed":
        return predicted
    is_text = is_typed or isinstance(as_kind(label.text, predicted), str)
    return None if is_text else json.loads(label.text)


def _finished_lists(
    form: ReviewForm, rows: list[tuple[Any, ...]], shown: Mapping[str, str], live: set[str]
) -> Iterator[tuple[str, Origin]]:
    """Yield the lists that were shown and of whose rows every predicted value was labeled, with their origin.

    Such a list was labeled as a whole: rows that are not on the page were removed, missing ones added. Lists
    in its items belong to it.
    """
    labels = {node: (state, origin) for node, state, _, origin in rows}
    filled = {inner for item in live for inner, _ in items_above(item)}
    nodes_by_list: dict[str, list[str]] = {}
    for node in (*shown, *(node for node in labels if form.tree_at(node) is not None)):
        for listed, _ in list(items_above(node))[:1]:
            nodes_by_list.setdefault(listed, []).append(node)
    for listed, nodes in nodes_by_list.items():
        standing = [node for node in nodes if all(item in live for _, item in items_above(node))]
        standing = [node for node in standing if node not in filled or node in labels]
        said = [labels.get(node, ("skipped", ""))[0] for node in standing]
        if listed in shown or not (standing or listed in filled) or "skipped" in said:
            continue
        added = [node for node in labels if node.startswith(f"{listed}[") and node not in shown]
        is_same = len(standing) == len(nodes) and not added
        is_same = is_same and all(labels[node][1] == "confirmed" for node in standing)
        yield listed, "confirmed" if is_same else "corrected"


def _rename(db: sqlite3.Connection, sheet: int, finished: Collection[str]) -> dict[str, int]:
    """Return the position of each live item of the lists that were labeled as a whole."""
    lists: dict[str, list[str]] = {}
    is_blind = db.execute("SELECT blind FROM sheet WHERE id=?", (sheet,)).fetchone()[0]
    for listed, node in db.execute("SELECT list, node FROM item WHERE sheet=? ORDER BY rank", (sheet,)):
        outermost = next(items_above(node))[0]
        if is_blind or outermost in finished:
            lists.setdefault(listed, []).append(node)
    return {node: place for nodes in lists.values() for place, node in enumerate(nodes)}


def _renamed(node: str, places: Mapping[str, int]) -> str:
    steps = list(split_path(node))
    for end in range(1, len(steps) + 1):
        item = join_path(split_path(node)[:end])
        if item in places:
            steps[end - 1] = places[item]
    return join_path(steps)
