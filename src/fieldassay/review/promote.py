"""Promotion: what a review settled becomes gold."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any
from unicodedata import category

from msgspec import Struct
from msgspec.structs import asdict, replace

from fieldassay.errors import Problem, ProblemsError, list_names, problem
from fieldassay.io.files.whole_files import checksum
from fieldassay.io.json_value import is_empty_text
from fieldassay.io.text.shown import clip, format_count, visible
from fieldassay.paths import field_of, is_within, join_path, split_path, value_at
from fieldassay.records.keys import cap_problems, locate
from fieldassay.records.labels_file import Label, Sheet
from fieldassay.records.record import Record
from fieldassay.review.export import Said, find_differences, finished_documents, settle, writing_rank
from fieldassay.review.gold import (
    BESIDE,
    NOTHING,
    UNREVIEWED_FIELDS,
    GoldFile,
    GoldPlace,
    Meaning,
    UnfitError,
    filled_at,
    list_units,
    named_places,
    old_place,
    open_gold,
    shown,
    wanted_at,
    write_gold,
)
from fieldassay.review.log import ReviewEvent, Store, items_above
from fieldassay.review.sheets.sheets import ReviewForm, find_problem, read_form, show
from fieldassay.scoring.engine.scopes import canonical_type
from fieldassay.scoring.inputs import open_gold as read_records
from fieldassay.spec.language.model import DataOptions
from fieldassay.spec.language.names import ID_NAMES
from fieldassay.spec.plan.nodes import Leaf, ListNode, ObjectNode, Plan, single_values

Labels = Mapping[str, Label]
"""The labels of a document by path."""
_CHANGED = (
    "write it into gold by hand, or review it again: fieldassay review new DIR --spec SPEC --pred gold="
)


class PromoteOptions(Struct, frozen=True):
    """How gold is read, by the spec of `plan`: what means the same is not changed."""

    plan: Plan | None = None
    takes_unreadable: bool = False
    """True: labels that the spec cannot read become gold; False: they are left out, and told."""
    changed: frozenset[str] = frozenset()
    """Documents whose gold changed since the review began: labels may only confirm it as it is."""
    own: Mapping[str, frozenset[str]] = {}
    """Paths by document that an earlier promotion wrote: shown lists there may replace what gold has."""
    adds_documents: bool = False
    """True: documents that gold does not have are added; False: they are left out, unless gold is empty."""
    problems: tuple[Problem, ...] = ()
    """What is known to be wrong with the labels already: it is told with all else."""
    is_waiting: bool = False
    """True: documents wait for their second sheets, so that no sheet is no fault where gold exists."""
    is_dry: bool = False
    """True: nothing is written, and only said what would change."""


class GoldChange(Struct, frozen=True):
    """One value of gold that a label confirms or changes; NOTHING is no value."""

    document: str
    path: str
    before: Any
    after: Any
    origin: str
    is_changed: bool


class Promotion(Struct, frozen=True, eq=False):
    """Labels applied to gold, not yet written: `files` are the new bytes of every file that changes."""

    gold: GoldFile
    changes: tuple[GoldChange, ...]
    added: tuple[str, ...]
    """Documents that gold did not have."""
    unknown: tuple[str, ...]
    """Documents that gold does not have, left out."""
    unread: tuple[tuple[str, str, str], ...]
    """Document, path and text of labels that the readers of the spec cannot read, left out unless taken."""
    unreviewed: tuple[tuple[str, str], ...]
    """Document and path of what nobody was asked about, in documents that change or are new."""
    items: int
    """Labels of single items, left out because their items are numbered as in the prediction, not in gold."""
    standing: int
    """Labels in lists that were shown and labeled as a whole, left out because gold has these lists."""
    files: Mapping[Path, bytes]

    @property
    def written(self) -> dict[str, list[str]]:
        """Return the changed paths of each document that is written."""
        paths: dict[str, list[str]] = {name: [] for name in self.added}
        for change in self.changes:
            if change.is_changed:
                paths.setdefault(change.document, []).append(change.path)
        return paths

    def to_dict(self) -> dict[str, Any]:
        """Return the changes and what is left out as plain data; numbers of gold are texts."""
        data = {
            "gold": str(self.gold.path),
            "changes": [asdict(change) for change in self.changes],
            "added": self.added,
            "unknown": self.unknown,
            "unread": [{"document": name, "path": path, "text": text} for name, path, text in self.unread],
            "unreviewed": [{"document": name, "path": path} for name, path in self.unreviewed],
            "items": self.items,
            "standing": self.standing,
        }
        text = json.dumps(data, default=lambda value: None if value is NOTHING else str(value))
        plain: dict[str, Any] = json.loads(text)
        return plain

    def write(self) -> None:
        """Write all files, the old ones beside them. Raises ProblemsError if one changed meanwhile."""
        write_gold(self.gold.path, self.files, self.gold.before)


def promote(gold: Path, sheets: Iterable[Sheet], options: PromoteOptions) -> Promotion:
    """Return what the labels of sheets change in gold: nothing is written before `Promotion.write`.

    Several sheets of a document must say the same. Raises `ProblemsError` without any sheet, and with every
    label that cannot be applied: where gold changed since the review began, where sheets differ, where gold
    has no place for it.

    Skipped labels, and those of single items that were shown, say nothing. What a new
    document has no label for is unreviewed: neither a value nor absent.
    """
    sheets, plan = list(sheets), options.plan
    if not sheets and not options.problems and not (options.is_waiting and gold.exists()):
        what, remedy = (
            "no document has all its sheets finished",
            "label with `fieldassay review open DIR` first",
        )
        raise problem(gold, what, remedy, "unfinished_sheets")
    data = DataOptions() if plan is None else plan.spec.data
    file = open_gold(
        gold, data.id_key or ID_NAMES, bool(data.id_key), {} if plan is None else dict(_separators(plan.root))
    )
    key = _settle_key(data.gold_key, file.rows.values())
    records = {name: _open(row, key) for name, row in file.rows.items()}
    form = None if plan is None else ReviewForm(plan)
    meaning = Meaning(form)
    problems = list(options.problems)
    sheets, items, standing = _promotable(sheets, records, meaning, options.own)
    paths_by_document: dict[str, set[str]] = defaultdict(set)
    for sheet in sheets:
        paths_by_document[sheet.document] |= {path for path in sheet.labels if "[" not in path}
    agreed = _agree(sheets, meaning, gold, problems)
    unknown = () if options.adds_documents or not records else tuple(agreed.keys() - records.keys())
    agreed = {name: labels for name, labels in agreed.items() if name not in unknown}
    unread = () if form is None else tuple(_unread(form, agreed))
    if not options.takes_unreadable:
        agreed = _readable(agreed, unread)
    problems += _find_unfit(gold, agreed, plan)
    fields, changes, rows = _fields(form, agreed), list[GoldChange](), dict[str, dict[str, Any]]()
    unreviewed: list[tuple[str, str]] = []
    for document, labels in agreed.items():
        record = deepcopy(records.get(document, {}))
        effects = list(_apply(record, document, _renamed(labels, record, plan), meaning, gold, problems))
        changes += effects
        for change in effects:
            if change.is_changed and document in options.changed:
                was = f"gold has changed since the review began, and is {shown(change.before)}"
                what = f"{was}; the label is {shown(change.after)}"
                problems.append(
                    Problem(f"{gold}: {document}: {change.path}", what, f"{_CHANGED}{gold}", "gold_conflict")
                )
        if document not in records:
            _name_unreviewed(record, labels, {*fields(record), *paths_by_document[document]})
        if document not in records or any(change.is_changed for change in effects):
            unreviewed += [(document, path) for path in sorted(named_places(record, UNREVIEWED_FIELDS))]
            rows[document] = _close(file.rows.get(document, {}), record, key)
    files: dict[Path, bytes] = {}
    try:
        files = file.rewritten(rows)
    except ProblemsError as error:
        problems += error.problems
    if problems:
        raise ProblemsError(cap_problems(problems))
    added = tuple(name for name in rows if name not in records)
    return Promotion(
        file, tuple(changes), added, tuple(sorted(unknown)), unread, tuple(unreviewed), items, standing, files
    )


def _apply(
    record: dict[str, Any],
    document: str,
    labels: Labels,
    meaning: Meaning,
    gold: Path,
    problems: list[Problem],
) -> Iterator[GoldChange]:
    """Write labels into a record; yield what each changes or confirms."""
    before = deepcopy(record)
    for path in list_units(labels, before):
        try:
            ours, now = wanted_at(path, labels, before, meaning), GoldPlace.of(before, path)
            is_changed = now != ours
            if is_changed:
                ours.put(record, path)
        except UnfitError as error:
            where = f"{gold}: {document}: {path}"
            problems.append(Problem(where, str(error), "settle it by hand", "gold_conflict"))
            continue
        after = ours.content if is_changed else now.content
        yield GoldChange(document, path, now.content, after, labels[path].origin or "imported", is_changed)


def _fields(
    form: ReviewForm | None, agreed: Mapping[str, Labels]
) -> Callable[[Mapping[str, Any]], list[str]]:
    """Return a function from a record to the fields outside lists that it can have, by its document type.

    Without a spec they are those of any label.
    """
    if form is None:
        labeled = {path.partition("[")[0] for labels in agreed.values() for path in labels}
        return lambda _: sorted(labeled)
    plan, types, declared = form.plan, form.types_of, form.plan.spec.document_type
    fields = [path for path in (*form.asked_paths, *form.trees) if path]

    def of(record: Mapping[str, Any]) -> list[str]:
        kind = None if declared is None else canonical_type(plan, value_at(record, declared.field))
        return [path for path in fields if kind is None or kind in types.get(path, {kind})]

    return of


def _name_unreviewed(record: dict[str, Any], labels: Labels, fields: Iterable[str]) -> None:
    """Write the fields, and keys of maps and trees, that no label is at, above or below into a new record."""
    names = named_places(record, UNREVIEWED_FIELDS)
    some = {path: split_path(path) for path in fields}
    above = {join_path(steps[:end]) for steps in some.values() for end in range(1, len(steps))}
    names |= {
        path
        for path in some.keys() - above
        if not any(is_within(label, path) or is_within(path, label) for label in labels)
    }
    if names:
        record[UNREVIEWED_FIELDS] = sorted(names)


def _find_unfit(gold: Path, agreed: Mapping[str, Labels], plan: Plan | None) -> Iterator[Problem]:
    """Yield a problem for each label that no file of text may hold, and each value without its text."""
    singles = set() if plan is None else single_values(plan)
    for document, labels in agreed.items():
        for path, label in labels.items():
            where = f"{gold}: {document}: {path}"
            is_above = any(is_within(other, path) and other != path for other in labels)
            is_none = label.text is None and field_of(path) in singles and not is_above
            if label.state == "value" and (is_none or (label.text is not None and is_empty_text(label.text))):
                what = "the label is a value without its text"
                yield Problem(where, what, "give the text", "gold_conflict")
            for character in label.text or "":
                if category(character) in ("Cc", "Cs") and character not in "\t\r\n":
                    what = (
                        f"the label has the character U+{ord(character):04X}, which no file of text may hold"
                    )
                    yield Problem(where, what, "remove it from the label", "gold_conflict")
                    break


def _unread(form: ReviewForm, agreed: Mapping[str, Labels]) -> Iterator[tuple[str, str, str]]:
    """Yield document, path and text of each label that the reader of its field cannot read."""
    for document, labels in agreed.items():
        for path, label in labels.items():
            leaf = form.leaf(field_of(path))
            if leaf is None or label.state != "value" or leaf.is_list != (label.text is None):
                continue
            content: Any = label.text if isinstance(label.value, dict | list) else label.content
            if leaf.is_list:
                content = [
                    inner_label.content
                    for inner, inner_label in labels.items()
                    if is_within(inner, path) and inner_label.text
                ]
            if find_problem(leaf.reader.read(content)) is not None:
                yield document, path, show(leaf, content)


def _readable(
    agreed: Mapping[str, Labels], unread: Iterable[tuple[str, str, str]]
) -> dict[str, dict[str, Label]]:
    """Return the labels without unreadable ones; in a list that is labeled as a whole they are skipped."""
    gone = {(document, path) for document, path, _ in unread}
    readable: dict[str, dict[str, Label]] = {}
    for document, labels in agreed.items():
        readable[document] = {}
        for path, label in labels.items():
            steps = split_path(path)
            if not any((document, join_path(steps[:end])) in gone for end in range(1, len(steps) + 1)):
                readable[document][path] = label
            elif (document, path) in gone and "[" in path and not _is_single(path, labels):
                readable[document][path] = Label("skipped")
    return readable


def _promotable(
    sheets: Iterable[Sheet],
    records: Mapping[str, Mapping[str, Any]],
    meaning: Meaning,
    own: Mapping[str, frozenset[str]],
) -> tuple[list[Sheet], int, int]:
    """Return sheets with the labels that may become gold, and how many are left out, of items and in lists.

    Single ones are in items of a list that was shown and not labeled as a whole. A list that was shown
    becomes gold only where gold has none, the same or its own: its rows and cells were suggested, so it must
    not remove others.
    """
    promotable, items, standing = [], 0, 0
    plan = None if meaning.form is None else meaning.form.plan
    for sheet in sheets:
        record = records.get(sheet.document, {})
        renamed = _renamed(sheet.labels, record, plan)
        keys = dict(zip(sheet.labels, renamed, strict=True))
        gone = {
            path
            for path, label in sheet.labels.items()
            if label.text is None
            and label.shown == "prediction"
            and label.state != "skipped"
            and isinstance(filled_at(record, keys[path]), list)
            and keys[path] not in own.get(sheet.document, ())
            and not _is_as_gold(keys[path], renamed, record, meaning)
        }
        whole = {path: label for path, label in sheet.labels.items() if path not in gone}
        labels = {}
        for path, label in whole.items():
            if label.shown is not None and label.state != "skipped" and _is_single(path, whole):
                is_standing = not _is_single(path, sheet.labels)
                standing += is_standing
                items += not is_standing
            else:
                labels[path] = label
        standing += sum(sheet.labels[path].state != "value" for path in gone)
        promotable.append(replace(sheet, labels=labels))
    return promotable, items, standing


def _is_as_gold(path: str, labels: Labels, record: Mapping[str, Any], meaning: Meaning) -> bool:
    try:
        return wanted_at(path, labels, record, meaning) == GoldPlace.of(record, path)
    except UnfitError:
        return False


def _is_single(path: str, labels: Labels) -> bool:
    """Return whether a path is in an item of a list that has no label as a whole."""
    steps = split_path(path)
    lists = [join_path(steps[:end]) for end, step in enumerate(steps) if isinstance(step, int)]
    return bool(lists) and not any(name in labels and labels[name].state != "skipped" for name in lists)


def _agree(
    sheets: Iterable[Sheet], meaning: Meaning, gold: Path, problems: list[Problem]
) -> dict[str, dict[str, Label]]:
    """Return the labels of each document; a ruling counts before all other labels."""
    answers_by: dict[str, dict[str, list[Label]]] = {}
    ordered = sorted(sheets, key=lambda answer: (answer.document, answer.slot, answer.reviewer))
    rows: dict[str, set[str]] = defaultdict(set)
    for sheet in ordered:
        rows[sheet.document] |= {path for path, label in sheet.labels.items() if "[" in path and label.text}
    for sheet in ordered:
        places = answers_by.setdefault(sheet.document, {})
        whole = {path for path, label in sheet.labels.items() if (label.state, label.text) == ("value", None)}
        left_out = [
            path
            for path in rows[sheet.document] - sheet.labels.keys()
            if any(listed in whole for listed, _ in items_above(path))
        ]
        for path, label in (*sheet.labels.items(), *((path, Label("absent")) for path in sorted(left_out))):
            is_blind = sheet.is_blind or label.shown == "nothing"
            origin = label.origin or ("blind" if is_blind else "imported")
            places.setdefault(path, []).append(replace(label, origin=origin))
    agreed: dict[str, dict[str, Label]] = {}
    for document, places in answers_by.items():
        labels = agreed[document] = {}
        for path, answers in places.items():
            said = [answer for answer in answers if answer.state != "skipped"]
            said = [answer for answer in said if answer.origin == "adjudicated"] or said
            for answer in said:
                if answer.state == said[0].state and None not in (answer.text, said[0].text):
                    is_same = meaning.is_same(field_of(path), said[0].text, answer.text)
                else:
                    is_same = (answer.state, answer.text) == (said[0].state, said[0].text)
                if not is_same:
                    what = f"two sheets differ: {_label_text(said[0])} and {_label_text(answer)}"
                    where = f"{gold}: {document}: {path}"
                    problems.append(Problem(where, what, _RULING, "gold_conflict"))
                    break
            if said:
                labels[path] = min(said, key=writing_rank)
        for path in sorted(places.keys() - labels.keys()):
            if "[" in path and not _is_single(path, labels):
                labels[path] = Label("skipped")
    return agreed


def _label_text(label: Label) -> str:
    return label.state if label.text is None else repr(label.text[:60])


def _separators(node: ObjectNode, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield the separators of the lists of texts outside other lists, by column."""
    for child in node.children:
        if isinstance(child, ObjectNode):
            yield from _separators(child, f"{above}{child.name}.")
        elif isinstance(child, Leaf | ListNode) and child.separator is not None:
            yield f"{above}{child.name}", child.separator


def _renamed(labels: Labels, record: Mapping[str, Any], plan: Plan | None) -> Labels:
    """Return the labels under the keys by which gold has their fields, where the spec knows several."""
    keys = {
        name: next((key for key in others if key in record), name)
        for name, others in (() if plan is None else plan.root.other_names)
        if name not in record
    }
    renamed = {}
    for path, label in labels.items():
        first, *rest = split_path(path)
        renamed[join_path([keys.get(str(first), first), *rest])] = label
    return renamed


def _settle_key(keys: str | tuple[str, ...], rows: Iterable[Mapping[str, Any]]) -> str | None:
    """Return the key of the record: the one that is named, or the first of several that a row has."""
    if isinstance(keys, str):
        return keys
    return next((key for row in rows for key in keys if locate(row, key)[0]), None)


def _open(row: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Return the record in a row, with the illegible and unreviewed places that stand beside it."""
    if key is None:
        return dict(row)
    inner = locate(row, key)[1]
    beside = {name: row[name] for name in BESIDE if name in row}
    return {**(inner if isinstance(inner, Mapping) else {}), **beside}


def _close(row: Mapping[str, Any], record: dict[str, Any], key: str | None) -> dict[str, Any]:
    """Return the row with a record in it, its illegible and unreviewed places beside it."""
    if key is None:
        return record
    closed = {name: value for name, value in deepcopy(dict(row)).items() if name not in BESIDE}
    beside = {name: record.pop(name) for name in BESIDE if name in record}
    inner = locate(closed, key)[1]
    if isinstance(inner, dict) and key not in closed:
        inner.clear()
        inner.update(record)
    else:
        closed[key] = record
    return closed | beside


# The promotion of a review: its settled sheets, and the gold that they were made beside

_PROMOTED = "promoted"
_RULING = 'add a label of a third person with `"origin": "adjudicated"`'


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
        sheets = [settle(db, form, document) for document in documents if not document.is_waiting]
        problems = [
            Problem(
                f"{gold}: {document.name}: {difference.node}",
                f"two sheets differ: {_said(difference.sides[0])} and {_said(difference.sides[1])}",
                f"let an adjudicator decide (`review team`), or export the labels: {_RULING}",
                "gold_conflict",
            )
            for document in documents
            for difference in find_differences(db, form, document.number)
            if difference.ruling is None
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
    waiting = tuple(document.name for document in documents if document.is_waiting)
    review_options = {"changed": frozenset(changed), "problems": tuple(problems), "is_waiting": bool(waiting)}
    options = replace(options, plan=plan, own=own, **review_options)
    promotion = promote(gold, sheets, options)
    if not options.is_dry and promotion.files:
        store.write(lambda _: None)  # gold is not written where the review cannot keep how it was left
        promotion.write()
        for record in _records(gold, plan):
            if record.id in promotion.written:
                paths = {*promotion.written[record.id], *own.get(record.id, ())}
                promoted[record.id] = {"digest": _digest(record), "paths": sorted(paths)}
        store.append(ReviewEvent("promotion", {_PROMOTED: promoted}, "command"))
    return promotion, waiting


def _said(said: Said) -> str:
    if said.rows:
        return format_count(len(said.rows), "row")
    return said.state if said.text is None else repr(said.text[:60])


def _digest(record: Record) -> str:
    beside = [sorted(record.meta.illegible_paths), sorted(record.meta.unreviewed_paths)]
    return checksum([record.data, *beside])


def _records(gold: Path, plan: Plan) -> Iterator[Record]:
    if gold.exists():
        yield from read_records(plan, str(gold))


# A promotion in words

_MOST_NAMED = 20


def render_promotion(
    promotion: Promotion, options: PromoteOptions, waiting: Sequence[str] = (), baseline: Path | None = None
) -> str:
    """Return what changes in gold, and what is left out.

    `waiting` are documents without their second sheets, `baseline` is the file that stands on this gold.
    """
    changed, new = [change for change in promotion.changes if change.is_changed], set(promotion.added)
    lines = []
    for change in changed[:_MOST_NAMED]:
        before = "new document" if change.document in new else visible(shown(change.before))
        lines.append(
            f"{clip(change.document)}  {clip(change.path)}: {before} -> {visible(shown(change.after))}"
        )
    if len(changed) > _MOST_NAMED:
        lines.append(f"and {len(changed) - _MOST_NAMED:,} more")
    would = "would change" if options.is_dry else "changed"
    confirmed = format_count(len(promotion.changes) - len(changed), "value")
    place = visible(str(promotion.gold.path))
    lines.append(f"{place}: {format_count(len(changed), 'value')} {would}, {confirmed} confirmed")
    if promotion.added:
        lines.append(f"{format_count(len(promotion.added), 'document')} new in gold")
    lines += _doubts(promotion, takes_unreadable=options.takes_unreadable)
    if promotion.items:
        labels = format_count(promotion.items, "label")
        lines.append(
            f"{labels} of single items left out: only a list that was labeled as a whole becomes gold"
        )
    if promotion.standing:
        labels = format_count(promotion.standing, "label")
        lines.append(
            f"{labels} in lists left out: gold has these lists, and shown rows do not replace rows of gold; "
            "a list that was labeled without a prediction does (`review new` without --pred)"
        )
    if any(promotion.gold.before.get(path) for path in promotion.files):
        keeps = "would keep" if options.is_dry else "keeps"
        lines.append(
            f"{visible(str(old_place(promotion.gold.path)))} {keeps} the earlier gold "
            "until the next promotion"
        )
    if baseline is not None and changed:
        lines.append(
            f"{baseline} was made with the earlier gold: score again, then "
            "`fieldassay baseline set RUN --reason …`"
        )
    if waiting:
        some = "1 document waits for its second sheet, and is left out"
        many = f"{len(waiting):,} documents wait for their second sheets, and are left out"
        lines.append(f"{some if len(waiting) == 1 else many}: {_list(waiting)}")
    return "".join(f"{line}\n" for line in lines)


def _doubts(promotion: Promotion, *, takes_unreadable: bool) -> Iterator[str]:
    """Yield the documents that gold does not have, and the texts that the spec cannot read."""
    left_out = "" if takes_unreadable else ", and is left out; --unreadable takes it"
    if promotion.unknown:
        documents = format_count(len(promotion.unknown), "document")
        yield f"{documents} not in gold, left out: {_list(promotion.unknown)}; --add adds them"
    for document, path, text in promotion.unread[:_MOST_NAMED]:
        yield f"{clip(document)}  {clip(path)}: {visible(shown(text))} cannot be read by the spec{left_out}"
    if len(promotion.unread) > _MOST_NAMED:
        yield f"and {len(promotion.unread) - _MOST_NAMED:,} more that cannot be read"
    if promotion.unreviewed:
        fields = format_count(len(promotion.unreviewed), "field")
        documents = format_count(len({document for document, _ in promotion.unreviewed}), "document")
        was = "was" if len(promotion.unreviewed) == 1 else "were"
        yield f"{fields} in {documents} {was} never reviewed: gold says so, and `score` leaves them out"


def _list(names: Sequence[str]) -> str:
    return list_names([clip(name) for name in names], _MOST_NAMED)
