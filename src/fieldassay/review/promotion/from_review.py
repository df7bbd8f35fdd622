"""The promotion of a review: its settled sheets, and the gold that they were made beside."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fieldassay.errors import Problem
from fieldassay.io.files.sealed_json import checksum
from fieldassay.io.text.shown import format_count
from fieldassay.records.record import Record
from fieldassay.review.adjudicate import Said, find_differences
from fieldassay.review.export import finished_documents, settle
from fieldassay.review.log.journal import ReviewEvent
from fieldassay.review.log.store import Store
from fieldassay.review.promotion.promote import PromoteOptions, Promotion, promote
from fieldassay.review.sheets.form_of import read_form
from fieldassay.scoring.inputs.open_inputs import open_gold
from fieldassay.spec.plan.nodes import Plan

_PROMOTED = "promoted"


def promote_review(store: Store, gold: Path, options: PromoteOptions) -> tuple[Promotion, tuple[str, ...]]:
    """Return what the labels of a review change in gold, and the documents that wait; written unless dry.

    A document waits while one of its two sheets is not finished. Where two sheets differ and nobody ruled,
    and where gold changed since the review began or was promoted and a label changes it, `ProblemsError` is
    raised as by `promote`. How gold was left is kept in the review.
    """
    form, facts = read_form(store)
    plan = options.plan or form.plan
    with store.reading() as db:
        documents = finished_documents(db, form)
        sheets = [settle(db, form, found) for found in documents if not found.is_waiting]
        problems = [
            Problem(
                f"{gold}: {found.name}: {one.node}",
                f"two sheets differ: {_told(one.sides[0])} and {_told(one.sides[1])}",
                "have a third person decide",
                "gold_conflict",
            )
            for found in documents
            for one in find_differences(db, form, found.number)
            if one.ruling is None
        ]
        begun = dict(db.execute("SELECT name, gold_digest FROM document"))
    promoted: dict[str, Any] = dict(facts.get(_PROMOTED, {}))
    changed, own, is_beside = set[str](), dict[str, frozenset[str]](), any(begun.values())
    # A review that was made without gold knows nothing of a document before it promotes it.
    for record in _records(gold, plan) if is_beside or promoted else ():
        before = promoted.get(record.id)
        if before is not None and before["digest"] == _digest(record):
            own[record.id] = frozenset(before["paths"])
        elif record.id in begun and (is_beside or before) and begun[record.id] != checksum(record.data):
            changed.add(record.id)
    options = replace(options, plan=plan, changed=frozenset(changed), own=own, problems=tuple(problems))
    promotion = promote(gold, sheets, options)
    if not options.is_dry and promotion.files:
        store.write(lambda _: None)  # gold is not written where the review cannot keep how it was left
        promotion.write()
        for record in _records(gold, plan):
            if record.id in promotion.written:
                paths = {*promotion.written[record.id], *own.get(record.id, ())}
                promoted[record.id] = {"digest": _digest(record), "paths": sorted(paths)}
        store.append(ReviewEvent("promotion", {_PROMOTED: promoted}, "command"))
    return promotion, tuple(found.name for found in documents if found.is_waiting)


def _told(said: Said) -> str:
    if said.rows:
        return format_count(len(said.rows), "row")
    return said.state if said.text is None else repr(said.text[:60])


def _digest(record: Record) -> str:
    beside = [sorted(record.meta.illegible_paths), sorted(record.meta.unreviewed_paths)]
    return checksum([record.data, *beside])


def _records(gold: Path, plan: Plan) -> Iterator[Record]:
    if gold.exists():
        yield from open_gold(plan, str(gold))
