"""A new review with the questions of an older one: by another spec, its labels carried over by path."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from fieldassay.errors import problem
from fieldassay.io.json_value import read_given
from fieldassay.io.text.shown import format_count
from fieldassay.paths import field_of
from fieldassay.review.adjudicate import find_differences
from fieldassay.review.log.journal import Entry, Journal, read_head
from fieldassay.review.log.nodes import items_above, list_items
from fieldassay.review.log.store import Store, create_store
from fieldassay.review.sheets.draw import Reason, Shares, Shown
from fieldassay.review.sheets.form_of import read_form
from fieldassay.review.sheets.forms import Form
from fieldassay.review.sheets.questions import Asked
from fieldassay.review.sheets.sheets import Answer, Person, RefusedError, label_body, open_nodes
from fieldassay.scoring.engine.applicability import canonical_type
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Plan
from fieldassay.version import __version__


class Carried(Struct):
    """A review that follows another one: how much it asks, and what became of the labels."""

    store: Store
    documents: int = 0
    sheets: int = 0
    asked: int = 0
    labels: int = 0
    """Labels that were carried over."""
    reread: int = 0
    """Those of them that the spec reads as another value than before."""
    gone: int = 0
    """Labels of places that the spec does not have any more, or has as something else."""
    empty: int = 0
    """Labels whose text is no value by the spec."""
    rulings: int = 0
    again: int = 0
    """Sheets that were finished and are not now: the spec asks for more."""

    def notes(self) -> Iterator[str]:
        """Yield what became of the labels, as sentences."""
        rulings = f", {format_count(self.rulings, 'ruling')}" if self.rulings else ""
        yield f"carried over: {format_count(self.labels, 'label')}{rulings}"
        if self.reread:
            yield f"{format_count(self.reread, 'label')} read as another value than before"
        if self.gone:
            yield f"left behind: {format_count(self.gone, 'label')} of places that the spec does not have"
        if self.empty:
            yield f"left behind: {format_count(self.empty, 'label')} whose text the spec takes for no value"
        if self.again:
            yield f"to be finished again, by the same people: {format_count(self.again, 'sheet')}"


def carry_review(folder: Path, former: Store, spec: Any = None, documents: Path | None = None) -> Carried:
    """Return a new review that asks what a former one asked, with its people, labels and rulings.

    `spec` is the new spec; None: the former one, for a correction of a closed review. Questions about places
    that only the former spec has are dropped. Places that only the new one has are asked on sheets where
    nothing is shown, and drawn as empty fields are on the others. Texts are read anew. The former review
    stays as it is. Raises `ProblemsError`.
    """
    old_form, facts = read_form(former)
    plan = old_form.plan if spec is None else spec if isinstance(spec, Plan) else read_plan(spec)
    with former.reading() as db:
        db.execute("BEGIN")  # one state, while others write
        carrying = _Carrying(db, old_form, Form(plan), facts)
        first = [_facts(carrying, former, plan, documents), *carrying.questions()]
        if len(first) == 1:
            what = "no question of the former review is one of this spec"
            raise problem(former.folder, what, "there is nothing to review", "nothing_to_review")
        found = carrying.found
        found.store = create_store(folder, first, then=carrying.answers)
    return found


def _facts(carrying: _Carrying, former: Store, plan: Plan, documents: Path | None) -> Entry:
    facts = carrying.facts | {
        "spec": write_spec(plan.spec),
        "plan_digest": plan.digest,
        "fieldassay": __version__,
        "closed": False,
        "former": {"id": former.id(), "head": str(read_head(carrying.db))},
    }
    if documents is not None:
        facts["documents"] = str(documents.resolve())
    if not carrying.has_all_places:
        facts |= {"accepted": 0, "values": 0}  # they count values of places that are not asked any more
    return Entry("review", facts, "command")


@dataclass
class _Carrying:
    """What is read of a former review, and becomes events of a new one."""

    db: sqlite3.Connection
    old: Form
    new: Form
    facts: dict[str, Any]
    found: Carried = field(init=False)

    def __post_init__(self) -> None:
        self.found = Carried(Store(Path()))
        self.shares = Shares(**self.facts["shares"])

    def has(self, name: str) -> bool:
        """Return whether both specs ask a field in the same way."""
        return self.new.kind(name) == self.old.kind(name) != "none"

    @property
    def has_all_places(self) -> bool:
        """Return whether every place of the former spec is one of the new spec."""
        places = (info.path for info in self.old.plan.fields)
        return all(self.has(path) or self.old.kind(path) == "none" for path in places)

    def questions(self) -> Iterator[Entry]:
        """Yield the documents with their questions and sheets; those with no question are left out."""
        rows = self.db.execute("SELECT id, name, path, sha256, gold_digest FROM document ORDER BY id")
        for number, name, path, sha256, gold_digest in rows.fetchall():
            sheets = self.db.execute(
                "SELECT id, slot, blind, margin FROM sheet WHERE document=? ORDER BY id", (number,)
            ).fetchall()
            asked = self._asked(number, name, is_blind=bool(sheets[0][2]))
            if not any(one.shown != Shown.CONTEXT for one in asked):
                continue
            self.found.documents += 1
            self.found.sheets += len(sheets)
            self.found.asked += sum(one.shown != Shown.CONTEXT for one in asked)
            body = {
                "id": number,
                "name": name,
                "path": path,
                "sha256": sha256,
                "gold_digest": gold_digest,
                "asked": [list(one) for one in asked],
                "sheets": [dict(zip(("id", "slot", "blind", "margin"), one, strict=True)) for one in sheets],
            }
            yield Entry("document", body, "command")

    def _asked(self, document: int, name: str, *, is_blind: bool) -> list[Asked]:
        rows = self.db.execute(
            "SELECT node, field, shown, given, predicted, truth, reason, margin, probability FROM asked "
            "WHERE document=? ORDER BY place",
            (document,),
        )
        before = [Asked(*row) for row in rows]
        kept = [one for one in before if self.has(one.field)]
        if is_blind or self.facts["system"] is not None:
            kept += self._added(name, before, kept, is_blind=is_blind)
        return sorted(kept, key=lambda one: self.new.place(one.node))

    def _added(
        self, name: str, before: Sequence[Asked], kept: Sequence[Asked], *, is_blind: bool
    ) -> Iterator[Asked]:
        """Yield the questions about places that only the new spec has."""
        declared = self.new.plan.spec.document_type
        texts = {one.node: one.predicted for one in before}
        held = None if declared is None else texts.get(declared.field)
        kind = None if held is None else canonical_type(self.new.plan, read_given(held))
        rows = [item for items in list_items(one.node for one in kept).values() for item in items]
        places = [(path, path) for path in self.new.asked]
        places += [cell for item in rows for cell in self.new.cells(item)]
        for path, place in places:
            types = self.new.types_of.get(place)
            is_possible = is_blind or kind is None or not types or kind in types
            is_drawn = is_blind or self.shares.is_asked_empty(name, path)
            if self.new.kind(place) != self.old.kind(place) and is_possible and is_drawn:
                chance = 1.0 if is_blind else self.shares.empty
                reason = Reason.NOT_PREDICTED
                yield Asked(path, place, Shown.NOTHING, None, None, None, reason, 0.0, chance)

    def answers(self, journal: Journal) -> None:
        """Append people, labels and rulings to the new review, which has its questions."""
        for number, alias, role, disabled, name, password in self.db.execute(
            "SELECT id, alias, role, disabled, name, password FROM person ORDER BY id"
        ):
            body = {"id": number, "alias": alias, "role": role, "disabled": disabled}
            journal.append(Entry("person", body, "command"))
            journal.db.execute("UPDATE person SET name=?, password=? WHERE id=?", (name, password, number))
        people = {
            number: Person(number, alias, role)
            for number, alias, role in self.db.execute("SELECT id, alias, role FROM person")
        }
        for document, sheet in journal.db.execute("SELECT document, id FROM sheet ORDER BY id").fetchall():
            _Sheet(self, journal, people, document, sheet).carry()
        for (document,) in self.db.execute("SELECT DISTINCT document FROM ruling").fetchall():
            self._rule(journal, people, document)

    def _rule(self, journal: Journal, people: Mapping[int, Person], document: int) -> None:
        """Append the rulings on a document where its sheets still differ."""
        rows = self.db.execute(
            "SELECT node, choice, text, person, note FROM ruling WHERE document=? ORDER BY seq", (document,)
        )
        rulings = {row[0]: row for row in rows}
        differing = [one.node for one in find_differences(journal.db, self.new, document)]
        waiting = [node for node in differing if node not in rulings]
        ruled = [node for node in differing if node in rulings]
        sheet = journal.db.execute("SELECT min(id) FROM sheet WHERE document=?", (document,)).fetchone()[0]
        for at, node in enumerate(ruled, 1):
            _, choice, text, person, note = rulings[node]
            body = {
                "document": document, "node": node, "choice": choice, "text": text, "person": person,
                "note": note, "is_last": at == len(ruled) and not waiting,
            }  # fmt: skip
            journal.append(Entry("ruling", body, people[person].alias, sheet))
            self.found.rulings += 1


class _Sheet(Struct, frozen=True):
    """One sheet of a former review, on its way into the new one."""

    carrying: _Carrying
    journal: Journal
    people: Mapping[int, Person]
    document: int
    sheet: int

    def carry(self) -> None:
        """Append who had the sheet, its rows and labels, and whether it is done.

        A finished sheet on which something is open now is held for the person who finished it.
        """
        db = self.carrying.db
        state, holder, done_by, last = db.execute(
            "SELECT state, holder, done_by, last FROM sheet WHERE id=?", (self.sheet,)
        ).fetchone()
        for person, note in db.execute("SELECT person, note FROM decline WHERE sheet=?", (self.sheet,)):
            body = {"person": person, "note": note}
            self._append("decline", body, self.people[person].alias)
        owner = self.people.get(done_by or holder or last or 0)
        if owner is None:
            return
        self._append("claim", {"person": owner.id}, owner.alias)
        self._items(owner)
        self._labels()
        is_open = bool(open_nodes(self.journal.db, self.carrying.new, self.sheet))
        if state in ("done", "adjudicated") and not is_open:
            self._append("finish", {"person": owner.id, "planted": self._planted()}, owner.alias)
            return
        self.carrying.found.again += state in ("done", "adjudicated")
        is_disabled = db.execute("SELECT disabled FROM person WHERE id=?", (owner.id,)).fetchone()[0]
        if state == "open" or is_disabled:
            self._append("release", {"why": "as in the former review"}, owner.alias)

    def _append(self, kind: str, body: Mapping[str, Any], alias: str) -> None:
        self.journal.append(Entry(kind, body, alias, self.sheet))

    def _items(self, owner: Person) -> None:
        items: dict[str, list[str]] = {}
        for listed, node in self.carrying.db.execute(
            "SELECT list, node FROM item WHERE sheet=? ORDER BY list, rank", (self.sheet,)
        ):
            if self.carrying.has(field_of(listed)):
                items.setdefault(listed, []).append(node)
        removed = {
            listed
            for (listed,) in self.journal.db.execute("SELECT list FROM item WHERE sheet=?", (self.sheet,))
            if listed not in items
        }
        for listed in (*items, *sorted(removed)):
            self._append("items", {"list": listed, "nodes": items.get(listed, [])}, owner.alias)

    def _labels(self) -> None:
        given = dict(
            self.journal.db.execute("SELECT node, given FROM asked WHERE document=?", (self.document,))
        )
        live = {
            node for (node,) in self.journal.db.execute("SELECT node FROM item WHERE sheet=?", (self.sheet,))
        }
        found = self.carrying.found
        rows = self.carrying.db.execute(
            "SELECT node, state, text, canonical, note, person, active_ms, keys FROM label WHERE sheet=? "
            "ORDER BY seq",
            (self.sheet,),
        )
        for node, state, text, canonical, note, person, active_ms, keys in rows.fetchall():
            if not self.carrying.has(field_of(node)):
                found.gone += 1
                continue
            if node not in given and not all(item in live for _, item in items_above(node)):
                continue  # it stood in a row that was removed
            answer = Answer(node, state, text, self._regions(node), note, active_ms, keys)
            try:
                body = label_body(self.carrying.new, self.people[person], given.get(node), answer)
            except RefusedError:
                found.empty += 1
                continue
            found.labels += 1
            found.reread += body["canonical"] != canonical
            self._append("label", body, self.people[person].alias)

    def _regions(self, node: str) -> list[dict[str, Any]]:
        rows = self.carrying.db.execute(
            "SELECT page, x0, y0, x1, y1, text FROM region WHERE sheet=? AND node=? ORDER BY n",
            (self.sheet, node),
        )
        return [{"page": page, "box": box, "text": text} for page, *box, text in rows]

    def _planted(self) -> dict[str, bool]:
        """Return the planted errors of the sheet that are still asked, and whether each was seen."""
        rows = self.carrying.db.execute("SELECT node, is_caught FROM caught WHERE sheet=?", (self.sheet,))
        return {node: bool(is_caught) for node, is_caught in rows if self.carrying.has(field_of(node))}
