"""Where the two sheets of a document differ, and the rulings of a third person on that."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from fieldassay.paths import field_of
from fieldassay.records.labels_file import Label
from fieldassay.review.log import ReviewEvent, ReviewJournal, items_above, read_facts
from fieldassay.review.sheets.forms import ReviewForm, uniform
from fieldassay.review.sheets.sheets import Person, RefusedError, check_open, is_alone

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
    found: dict[str, Said] = {}
    cells: dict[str, dict[str, str]] = {}
    for node, state, text in db.execute("SELECT node, state, text FROM label WHERE sheet=?", (sheet,)):
        above = list(items_above(node))
        if above:
            shown = text if state == "value" else f"({state})"
            cells.setdefault(above[-1][1], {})[field_of(node)] = shown
        else:
            found[node] = Said(state, text)
    rows: dict[str, list[Mapping[str, str]]] = {}
    for listed, item in db.execute("SELECT list, node FROM item WHERE sheet=? ORDER BY list, rank", (sheet,)):
        if item in cells:
            top = next(iter(items_above(item)))[0] if "[" in listed else listed
            rows.setdefault(top, []).append(cells[item])
    return found | {listed: Said("value", None, tuple(held)) for listed, held in rows.items() if held}


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
            one.keys() == other.keys()
            and all(_reads_same(form, name, one[name], other[name]) for name in one)
            for one, other in zip(first.rows, second.rows, strict=True)
        )
    return first.state != "value" or _reads_same(form, field_of(node), first.text or "", second.text or "")


def _reads_same(form: ReviewForm, field: str, first: str, second: str) -> bool:
    leaf = form.leaf(field)
    one, other = form.read(field, first), form.read(field, second)
    if leaf is None or one is None or other is None:
        return first == second
    return leaf.is_match(one, other) and leaf.is_match(other, one)


def list_open(db: sqlite3.Connection, form: ReviewForm, person: Person) -> list[dict[str, Any]]:
    """Return the documents that wait for this person: with differences, and labeled by others."""
    rows = db.execute(
        "SELECT document.id, document.name FROM document JOIN sheet ON document=document.id "
        "WHERE state='done' GROUP BY document.id HAVING count(*)=2 ORDER BY document.id"
    ).fetchall()
    found: list[dict[str, Any]] = []
    for number, name in rows:
        waiting = [one for one in find_differences(db, form, number) if one.ruling is None]
        if waiting and may_rule(db, person, number):
            found.append({"id": number, "name": name, "open": len(waiting)})
        if len(found) >= _MOST_LISTED:
            break
    return found


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
                "node": one.node,
                "field": field_of(one.node),
                "options": [
                    {"state": said.state, "text": said.text, "rows": [dict(cells) for cells in said.rows]}
                    for said in (one.sides[::-1] if _is_turned(db, document, one.node) else one.sides)
                ],
                "is_ruled": one.ruling is not None,
            }
            for one in find_differences(db, form, document)
        ],
    }


def _is_turned(db: sqlite3.Connection, document: int, node: str) -> bool:
    """Return whether the second sheet's answer stands first: by chance, and always the same."""
    return uniform(read_facts(db)["shares"]["seed"], "order", str(document), node) < 0.5


def rule(
    journal: ReviewJournal, form: ReviewForm, person: Person, document: int, given: Mapping[str, str]
) -> list[str]:
    """Return the nodes of a document that still wait, after a ruling (`node`, `choice`, `text`, `note`).

    Raises `RefusedError` for somebody who labeled it, and for what cannot be meant.
    """
    db, node, choice = journal.db, given["node"], given["choice"]
    check_open(db)
    if not may_rule(db, person, document):
        raise RefusedError("forbidden", "somebody who labeled neither sheet rules on this document")
    differences = {one.node: one for one in find_differences(db, form, document)}
    if node not in differences or choice not in CHOICES:
        raise RefusedError("invalid", "there is nothing to rule on")
    sides = differences[node].sides
    if choice in ("first", "second") and _is_turned(db, document, node):
        choice = "second" if choice == "first" else "first"
    text = _ruled_text(form, node, choice, sides, given["text"])
    waiting = [one.node for one in differences.values() if one.ruling is None and one.node != node]
    sheet = db.execute("SELECT min(id) FROM sheet WHERE document=?", (document,)).fetchone()[0]
    body = {
        "document": document, "node": node, "choice": choice, "text": text, "person": person.id,
        "note": given["note"], "is_last": not waiting,
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
            raise RefusedError("invalid", "an empty text is no value")
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
    differing = {one.node: one.ruling for one in find_differences(db, form, document)}
    for node in sorted(first.keys() | second.keys(), key=form.place):
        if node not in differing or differing[node] not in (None, "guideline"):
            yield node, differing.get(node)
