"""The labels of a review as the sheets of a labels file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fieldassay.paths import field_of, join_path, split_path
from fieldassay.records.labels_file import Label, Region, Sheet, write_labels
from fieldassay.review.form_of import read_form
from fieldassay.review.forms import Form, split_items
from fieldassay.review.journal import Entry, Head
from fieldassay.review.nodes import items_above
from fieldassay.review.store import Store


def finished_sheets(store: Store) -> list[Sheet]:
    """Return the finished sheets of a review, in order."""
    form, _ = read_form(store)
    with store.reading() as db:
        return list(list_sheets(db, form))


def log_export(store: Store, form: str, sheets: int) -> Head:
    """Write an export into the log of a review; return the head after that."""
    store.append(Entry("export", {"format": form, "sheets": sheets}, "command"))
    return store.head()


def write_sheets(store: Store, target: Path) -> tuple[int, Head]:
    """Write the finished sheets of a review as a labels file; return how many, and the head after that."""
    sheets = finished_sheets(store)
    write_labels(target, sheets)
    return len(sheets), log_export(store, "labels", len(sheets))


def list_sheets(db: sqlite3.Connection, form: Form) -> Iterator[Sheet]:
    """Yield the finished sheets, in order, each as one line of a labels file.

    Reviewers are aliases. On a sheet that showed nothing, items are numbered in their order on the sheet;
    elsewhere they keep the numbers of the prediction, under which the values that nobody was asked stand too.
    """
    rows = db.execute(
        "SELECT sheet.id, document.id, document.name, slot, blind, alias FROM sheet JOIN document ON "
        "document.id=sheet.document JOIN person ON person.id=sheet.done_by ORDER BY sheet.id"
    )
    for number, document, name, slot, is_blind, alias in rows.fetchall():
        labels = dict(_labels(db, form, number, document))
        yield Sheet(name, alias, slot, bool(is_blind), labels)


def _labels(db: sqlite3.Connection, form: Form, sheet: int, document: int) -> Iterator[tuple[str, Label]]:
    shown = dict(db.execute("SELECT node, shown FROM asked WHERE document=?", (document,)))
    live = {node for (node,) in db.execute("SELECT node FROM item WHERE sheet=?", (sheet,))}
    regions = _regions(db, sheet)
    new_names = _rename(db, sheet)
    rows = db.execute("SELECT node, state, text, origin FROM label WHERE sheet=?", (sheet,)).fetchall()
    rows.sort(key=lambda row: form.place(_renamed(row[0], new_names)))
    yield from _whole_lists(form, rows, shown, live)
    for node, state, text, origin in rows:
        if not all(item in live for _, item in items_above(node)):
            continue
        path = _renamed(node, new_names)
        how = origin if state != "skipped" else None
        label = Label(state, text, regions.get(node, ()), how, shown.get(node, "nothing"))
        leaf = form.leaf(field_of(node))
        if leaf is not None and leaf.is_list and state == "value":
            yield path, Label("value", None, label.regions, how, label.shown)
            for place, item in enumerate(split_items(leaf, text)):
                yield f"{path}[{place}]", Label("value", str(item), (), how, label.shown)
        else:
            yield path, label


def _whole_lists(
    form: Form, rows: list[tuple[Any, ...]], shown: Mapping[str, str], live: set[str]
) -> Iterator[tuple[str, Label]]:
    """Yield a label for each list that was asked as a whole and has rows."""
    labeled = {row[0] for row in rows}
    filled = {listed for item in live for listed, _ in items_above(item)}
    for node, how in shown.items():
        if node in form.lists and node not in labeled and node in filled:
            yield node, Label("value", None, (), "blind", "nothing" if how == "nothing" else None)


def _rename(db: sqlite3.Connection, sheet: int) -> dict[str, int]:
    """Return the position of each live item on a sheet that showed nothing."""
    lists: dict[str, list[str]] = {}
    if not db.execute("SELECT blind FROM sheet WHERE id=?", (sheet,)).fetchone()[0]:
        return {}
    for listed, node in db.execute("SELECT list, node FROM item WHERE sheet=? ORDER BY rank", (sheet,)):
        lists.setdefault(listed, []).append(node)
    return {node: place for nodes in lists.values() for place, node in enumerate(nodes)}


def _renamed(node: str, places: Mapping[str, int]) -> str:
    steps = list(split_path(node))
    for end in range(1, len(steps) + 1):
        item = join_path(split_path(node)[:end])
        if item in places:
            steps[end - 1] = places[item]
    return join_path(steps)


def _regions(db: sqlite3.Connection, sheet: int) -> dict[str, tuple[Region, ...]]:
    found: dict[str, tuple[Region, ...]] = {}
    for node, page, x0, y0, x1, y1, text in db.execute(
        "SELECT node, page, x0, y0, x1, y1, text FROM region WHERE sheet=? ORDER BY node, n", (sheet,)
    ):
        found[node] = (*found.get(node, ()), Region(page, (x0, y0, x1, y1), text or None))
    return found
