"""The labels of a review for promotion: finished sheets, rulings, and the gold that they were made beside."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from fieldassay.io.files.sealed_json import checksum
from fieldassay.records.labels_file import Label, Sheet
from fieldassay.records.sources.source import CHUNK
from fieldassay.review.export import list_sheets
from fieldassay.review.log.nodes import is_in_list
from fieldassay.review.log.store import Store
from fieldassay.review.sheets.form_of import read_form
from fieldassay.scoring.inputs.open_inputs import open_gold
from fieldassay.scoring.inputs.options import InputOptions
from fieldassay.spec.plan.nodes import Plan

_SLOT = 1_000_000
"""The sheet number of rulings, after those of all reviewers."""


def plan_of_review(store: Store) -> Plan:
    """Return the plan that a review was made with."""
    return read_form(store)[0].plan


def sheets_of_review(store: Store) -> list[Sheet]:
    """Return the finished sheets, and for each document its rulings, as a sheet of the adjudicators.

    Rulings on values in lists are not among them: there the two sheets number their items themselves.
    """
    form, _ = read_form(store)
    with store.reading() as db:
        return [*list_sheets(db, form), *_rulings(db)]


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


def changed_documents(store: Store, gold: Path, inputs: InputOptions) -> frozenset[str]:
    """Return the documents of the review whose gold is not what it was when the review began.

    A review that was made without gold says nothing about it.
    """
    with store.reading() as db:
        digests = dict(db.execute("SELECT name, gold_digest FROM document"))
    if not any(digests.values()) or not gold.exists():
        return frozenset()
    source = open_gold(plan_of_review(store), str(gold), inputs)
    chunks = (range(start, min(start + CHUNK, len(source))) for start in range(0, len(source), CHUNK))
    records = (record for chunk in chunks for record in source.fetch(chunk))
    return frozenset(
        record.id
        for record in records
        if record.id in digests and digests[record.id] != checksum(record.data)
    )
