"""The labels of a review for promotion: finished sheets, rulings, and the gold that they were made beside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.io.files.sealed_json import checksum
from fieldassay.records.labels_file import Label, Sheet
from fieldassay.records.record import Record
from fieldassay.review.adjudicate import find_differences
from fieldassay.review.export import FinishedDocument, finished_documents
from fieldassay.review.log.journal import Entry
from fieldassay.review.log.nodes import is_below, is_in_list
from fieldassay.review.log.store import Store, read_facts
from fieldassay.review.promotion.promote import PromoteOptions, Promotion, promote
from fieldassay.review.sheets.form_of import read_form
from fieldassay.review.sheets.forms import Form
from fieldassay.scoring.inputs.open_inputs import open_gold
from fieldassay.spec.plan.nodes import Plan

_SLOT = 1_000_000
"""The sheet number of rulings, after those of all reviewers."""
_PROMOTED = "promoted"


class Reviewed(Struct, frozen=True):
    """What a review says: its finished sheets, and for each document its rulings, as one more sheet.

    `waiting` are documents of which one of two sheets is finished; they are left out.
    """

    plan: Plan
    sheets: tuple[Sheet, ...]
    waiting: tuple[str, ...]


def read_review(store: Store) -> Reviewed:
    """Return what a review says."""
    form, _ = read_form(store)
    with store.reading() as db:
        documents = finished_documents(db, form)
        sheets = [
            sheet
            for found in documents
            if not found.is_waiting
            for sheet in (found.sheets if len(found.sheets) < 2 else _compared(db, form, found))
        ]
        waiting = tuple(found.name for found in documents if found.is_waiting)
        return Reviewed(form.plan, (*sheets, *_rulings(db)), waiting)


def _compared(db: sqlite3.Connection, form: Form, found: FinishedDocument) -> Iterator[Sheet]:
    """Yield two sheets of a document: of a list that was ruled upon, the side that stands alone.

    A key of a map that only one of them has is absent on the other.
    """
    labels = [dict(sheet.labels) for sheet in found.sheets]
    for one in find_differences(db, form, found.number):
        is_list = any(side.rows for side in one.sides)
        for side, (said, held) in enumerate(zip(one.sides, labels, strict=True)):
            if is_list and one.ruling not in (None, ("first", "second")[side]):
                for path in [path for path in held if path == one.node or is_below(path, one.node)]:
                    del held[path]
            elif said.state == "absent":
                held.setdefault(one.node, Label("absent", shown="nothing"))
    yield from (replace(sheet, labels=held) for sheet, held in zip(found.sheets, labels, strict=True))


def _rulings(db: sqlite3.Connection) -> Iterator[Sheet]:
    rows = db.execute(
        "SELECT document.name, alias, node, choice, text FROM ruling JOIN document ON "
        "document.id=ruling.document JOIN person ON person.id=ruling.person ORDER BY document.id, ruling.seq"
    )
    rulings: dict[tuple[str, str], dict[str, Label]] = {}
    for name, alias, node, choice, text in rows.fetchall():
        if is_in_list(node):
            continue
        if text is not None:
            rulings.setdefault((name, alias), {})[node] = Label("value", text, origin="adjudicated")
        elif choice in ("absent", "illegible"):
            rulings.setdefault((name, alias), {})[node] = Label(choice, origin="adjudicated")
    for (name, alias), labels in rulings.items():
        yield Sheet(name, alias, _SLOT, labels=labels)


# Gold as the review knows it: as it was when the review began, and as its promotions left it


class Standing(Struct, frozen=True):
    """Gold beside a review: the documents that others changed since, and what promotions wrote.

    `own` are the paths by document that earlier promotions wrote, where gold is as they left it.
    """

    changed: frozenset[str] = frozenset()
    own: Mapping[str, frozenset[str]] = {}


def compare_gold(store: Store, gold: Path, plan: Plan) -> Standing:
    """Return how gold stands to what the review knows of it.

    A review that was made without gold knows nothing of a document before it promotes it.
    """
    with store.reading() as db:
        begun = dict(db.execute("SELECT name, gold_digest FROM document"))
        promoted = read_facts(db).get(_PROMOTED, {})
    changed, own, is_beside = set[str](), dict[str, frozenset[str]](), any(begun.values())
    for record in _records(gold, plan) if is_beside or promoted else ():
        before = promoted.get(record.id)
        if before is not None and before["digest"] == _digest(record):
            own[record.id] = frozenset(before["paths"])
        elif record.id in begun and (is_beside or before) and begun[record.id] != checksum(record.data):
            changed.add(record.id)
    return Standing(frozenset(changed), own)


def promote_review(store: Store, gold: Path, options: PromoteOptions) -> tuple[Promotion, tuple[str, ...]]:
    """Return what the labels of a review change in gold, and the documents that wait; written unless dry.

    Gold that changed since the review began, or since it was promoted, is only confirmed. How gold was left
    is kept in the review. Raises `ProblemsError` as `promote` does.
    """
    reviewed = read_review(store)
    plan = options.plan or reviewed.plan
    standing = compare_gold(store, gold, plan)
    found = promote(
        gold, reviewed.sheets, replace(options, plan=plan, changed=standing.changed, own=standing.own)
    )
    if not options.is_dry and found.files:
        store.write(lambda _: None)  # gold is not written where the review cannot keep how it was left
        found.write()
        with store.reading() as db:
            promoted: dict[str, Any] = dict(read_facts(db).get(_PROMOTED, {}))
        for record in _records(gold, plan):
            if record.id in found.written:
                paths = {*found.written[record.id], *standing.own.get(record.id, ())}
                promoted[record.id] = {"digest": _digest(record), "paths": sorted(paths)}
        store.append(Entry("promotion", {_PROMOTED: promoted}, "command"))
    return found, reviewed.waiting


def _digest(record: Record) -> str:
    beside = [sorted(record.meta.illegible_paths), sorted(record.meta.unreviewed_paths)]
    return checksum([record.data, *beside])


def _records(gold: Path, plan: Plan) -> Iterator[Record]:
    if gold.exists():
        yield from open_gold(plan, str(gold))
