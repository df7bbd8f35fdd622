"""Promotion: labels become gold, in the files in version control, with a history; all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias
from unicodedata import category

from msgspec import Struct
from msgspec.structs import replace

from fieldassay.decisions.baseline.baseline import check_reason
from fieldassay.errors import Problem, ProblemsError, problem
from fieldassay.io.files.whole_files import stage_file, write_file
from fieldassay.paths import join_path, split_path, value_at
from fieldassay.records.ids import cap_problems, locate
from fieldassay.records.labels_file import Label, Sheet
from fieldassay.review.promotion.gold_files import GoldFile, open_json, open_json_folder, read_gold
from fieldassay.review.promotion.gold_table import open_table
from fieldassay.review.promotion.history import Entry, extend_history, history_of
from fieldassay.review.promotion.merge import (
    ILLEGIBLE_FIELDS,
    NOTHING,
    UNREVIEWED_FIELDS,
    Change,
    Conflict,
    Merged,
    Same,
    UnmergeableError,
    is_inside,
    json_copy,
    merge,
    named_places,
    same_text,
)
from fieldassay.review.sheets.forms import Form, find_problem
from fieldassay.scoring.engine.applicability import canonical_type
from fieldassay.spec.language.names import ID_NAMES
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode, Plan, single_values

_TABLES = (".csv", ".tsv", ".tab", ".txt")


class PromoteOptions(Struct, frozen=True):
    """How gold is read and what the history says.

    `plan` reads values: what means the same is not changed. `id_names` and `gold_key` are as for scoring.
    `base` is gold as it was when the labels were made (None: as it is now). `review` is the folder's name of
    the review.
    """

    reason: str
    plan: Plan | None = None
    id_names: tuple[str, ...] | None = None
    gold_key: str | None = None
    base: Path | None = None
    review: str | None = None
    takes_unreadable: bool = False
    """True: labels that the spec cannot read become gold; False: they are left out, and told."""
    unknown_base: frozenset[str] = frozenset()
    """Documents whose gold was another one when they were labeled: labels may only confirm it as it is."""
    adds_documents: bool = False
    """True: documents that gold does not have are added; False: they are left out, unless gold is empty."""


Agreed: TypeAlias = Mapping[str, tuple[Mapping[str, Label], tuple[str, ...]]]
"""The labels of each document by path, and its reviewers."""


class Promotion(Struct, frozen=True, eq=False):
    """Labels merged into gold, not yet written: `files` are the new bytes of every file that changes."""

    gold: Path
    history: Path
    changes: tuple[tuple[str, Change], ...]
    """Document and change, of values that change and of those that labels confirm."""
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
    entries: tuple[bytes, ...]
    """New lines of the history."""
    files: Mapping[Path, bytes]
    before: Mapping[Path, bytes]

    @property
    def changed(self) -> int:
        """Return how many values change."""
        return sum(change.is_changed for _, change in self.changes)

    def write(self) -> None:
        """Write all files, or none.

        Raises ProblemsError if a file changed since it was read.
        """
        for path, data in self.before.items():
            if read_gold(path) != data:
                what = "has changed while labels were merged into it"
                raise problem(path, what, "promote again", "changed_file")
        staged: dict[Path, Path] = {}
        written: list[Path] = []
        try:
            for path, data in self.files.items():
                staged[path] = stage_file(path.resolve(), [data])
            for path, new in staged.items():
                written.append(path)
                new.replace(path.resolve())
        except BaseException:
            for path in written:
                self._restore(path)
            raise
        finally:
            for new in staged.values():
                new.unlink(missing_ok=True)

    def _restore(self, path: Path) -> None:
        if self.before.get(path):
            write_file(path, [self.before[path]])
        else:
            path.unlink(missing_ok=True)


def promote(gold: Path, sheets: Iterable[Sheet], options: PromoteOptions, now: datetime) -> Promotion:
    """Return what the labels of sheets change in gold: nothing is written before `Promotion.write`.

    Several sheets of a document must say the same. Raises `ProblemsError` with every label that cannot be
    merged: where gold has changed meanwhile, where sheets differ, where the form of gold has no place.

    Skipped labels, and those of single items that were shown, say nothing. What a new
    document has no label for is unreviewed: neither a value nor absent.
    """
    reason = check_reason(options.reason, "say why gold changes; its history keeps it")
    theirs = open_gold(gold, options)
    base = theirs if options.base is None else open_gold(options.base, options)
    same = same_text if options.plan is None else same_by(options.plan)
    problems: list[Problem] = []
    promoted, left = _promotable(sheets, partial(_has_list, theirs, options))
    agreed, unknown = _leave_out(_agree(promoted, same, gold, problems), theirs, options)
    unread = () if options.plan is None else tuple(_unread(options.plan, agreed))
    if not options.takes_unreadable:
        agreed = _readable(agreed, unread)
    problems += _find_unfit(gold, agreed, options.plan)
    merged = {
        document: _merge(document, labels, (base, theirs), options, same)
        for document, (labels, _) in agreed.items()
    }
    fields = _fields(options.plan, agreed)
    for document in merged.keys() - theirs.records.keys():
        one = merged[document]
        _name_unreviewed(one, agreed[document][0], fields(one.record))
    problems += [
        Problem(f"{gold}: {document}: {conflict.path}", conflict.why, "settle it by hand", "gold_conflict")
        for document, one in merged.items()
        for conflict in one.conflicts
    ]
    changed = {
        document: _close(theirs.records.get(document, {}), one, options.gold_key)
        for document, one in merged.items()
        if document not in theirs.records or any(change.is_changed for change in one.changes)
    }
    unreviewed = tuple(
        (document, path)
        for document in changed
        for path in sorted(named_places(merged[document].record, UNREVIEWED_FIELDS))
    )
    files: dict[Path, bytes] = {}
    try:
        files = theirs.rewritten(changed)
    except ProblemsError as error:
        problems += error.problems
    if problems:
        raise ProblemsError(cap_problems(problems))
    changes = tuple((document, change) for document, one in merged.items() for change in one.changes)
    told = {
        "at": now.isoformat(timespec="seconds"),
        "reason": reason,
        "review": options.review,
    }
    history = history_of(gold)
    entries = [_entry(document, change, agreed[document][1], told) for document, change in changes]
    longer = extend_history(history, entries)
    if longer.added:
        files[history] = longer.after
    before = {path: theirs.before.get(path, b"") for path in files} | {history: longer.before}
    added = tuple(name for name in changed if name not in theirs.records)
    return Promotion(
        gold, history, changes, added, unknown, unread, unreviewed, left.items, left.standing,
        longer.added, files, before,
    )  # fmt: skip


def _leave_out(agreed: Agreed, theirs: GoldFile, options: PromoteOptions) -> tuple[Agreed, tuple[str, ...]]:
    """Return the labels of documents that may become gold, and the documents left out."""
    if options.adds_documents or not theirs.records:
        return agreed, ()
    unknown = tuple(name for name in agreed if name not in theirs.records)
    return {name: one for name, one in agreed.items() if name in theirs.records}, unknown


def _fields(plan: Plan | None, agreed: Agreed) -> Callable[[Mapping[str, Any]], list[str]]:
    """Return a function from a record to the fields outside lists that it can have, by its document type.

    Without a plan they are those of any label.
    """
    if plan is None:
        labeled = {path.partition("[")[0] for labels, _ in agreed.values() for path in labels}
        return lambda _: sorted(labeled)
    form, declared = Form(plan), plan.spec.document_type
    fields = [path for path in (*form.asked, *form.trees) if path]

    def of(record: Mapping[str, Any]) -> list[str]:
        kind = None if declared is None else canonical_type(plan, value_at(record, declared.field))
        return [path for path in fields if kind is None or kind in form.types_of.get(path, {kind})]

    return of


def _name_unreviewed(merged: Merged, labels: Mapping[str, Label], fields: Iterable[str]) -> None:
    """Write the fields that no label is at, above or below into a record that is new."""
    kept = named_places(merged.record, UNREVIEWED_FIELDS)
    for path in fields:
        is_around = any(place in labels for place in _upwards(path))
        if not is_around and not any(is_inside(one, path) for one in labels):
            kept.add(path)
    if kept:
        merged.record[UNREVIEWED_FIELDS] = sorted(kept)


def _find_unfit(gold: Path, agreed: Agreed, plan: Plan | None) -> Iterator[Problem]:
    """Yield a problem for each label that no file of text may hold, and each value without its text."""
    singles = set() if plan is None else single_values(plan)
    for document, (labels, _) in agreed.items():
        for path, label in labels.items():
            where = f"{gold}: {document}: {path}"
            if label.state == "value" and label.text is None and _field(path) in singles:
                yield Problem(
                    where, "the label is a value without its text", "give the text", "gold_conflict"
                )
            found = next(
                (one for one in label.text or "" if category(one) in ("Cc", "Cs") and one not in "\t\r\n"),
                None,
            )
            if found is not None:
                what = f"the label has the character U+{ord(found):04X}, which no file of text may hold"
                yield Problem(where, what, "remove it from the label", "gold_conflict")


def _unread(plan: Plan, agreed: Agreed) -> Iterator[tuple[str, str, str]]:
    """Yield document, path and text of each label that the reader of its field cannot read."""
    leaves = {leaf.path: leaf for leaf in _all_leaves(plan.root)}
    texts: dict[str, dict[str, list[tuple[str, str]]]] = {}
    for document, (labels, _) in agreed.items():
        for path, label in labels.items():
            leaf = leaves.get(name := _field(path))
            if leaf is None or label.state != "value":
                continue
            if not leaf.is_list and label.text is not None:
                texts.setdefault(name, {}).setdefault(label.text, []).append((document, path))
            elif leaf.is_list and label.text is None:
                items: Any = [
                    one.text for inner, one in labels.items() if is_inside(inner, path) and one.text
                ]
                if find_problem(leaf.reader.read(items)) is not None:
                    yield document, path, " | ".join(items)
    for name, places in texts.items():
        column = leaves[name].reader.read_column(list(places))
        for at in sorted(column.problems):
            text = list(places)[at]
            yield from ((document, path, text) for document, path in places[text])


def _upwards(path: str) -> list[str]:
    steps = split_path(path)
    return [join_path(steps[:end]) for end in range(1, len(steps) + 1)]


def _readable(agreed: Agreed, unread: Iterable[tuple[str, str, str]]) -> dict[str, Any]:
    """Return the labels without unreadable ones; in a list that is labeled as a whole they are skipped."""
    gone = {(document, path) for document, path, _ in unread}
    found = {}
    for document, (labels, reviewers) in agreed.items():
        kept = {}
        for path, label in labels.items():
            if not any((document, one) in gone for one in _upwards(path)):
                kept[path] = label
            elif (document, path) in gone and "[" in path and not _is_single(path, labels):
                kept[path] = Label("skipped")
        found[document] = (kept, reviewers)
    return found


def _merge(
    document: str,
    labels: Mapping[str, Label],
    sides: tuple[GoldFile, GoldFile],
    options: PromoteOptions,
    same: Same,
) -> Merged:
    base, theirs = (_open(side.records.get(document, {}), options.gold_key) for side in sides)
    merged = merge(base, theirs, _renamed(labels, theirs, options.plan), same)
    if document in options.unknown_base:
        why = "gold of this document has changed since it was labeled: give gold as it was with --base"
        merged.conflicts += [Conflict(one.path, why) for one in merged.changes if one.is_changed]
    return merged


def _entry(
    document: str, change: Change, reviewers: tuple[str, ...], told: Mapping[str, str | None]
) -> Entry:
    before, after = _json(change.before), _json(change.after)
    origin = change.label.origin or "imported"
    known: Any = {"before": before, "after": after, "origin": origin, "reviewers": reviewers, **told}
    return Entry(document=document, path=change.path, **known)


def open_gold(path: Path, options: PromoteOptions) -> GoldFile:
    """Return the gold at a path in a form that can be written again with single values changed."""
    names = options.id_names or (options.plan.spec.id if options.plan is not None else None)
    id_names = tuple(names or ID_NAMES)
    if path.is_dir():
        return open_json_folder(path, id_names, bool(names))
    if path.suffix.lower() in _TABLES:
        return open_table(path, id_names, {} if options.plan is None else _separators(options.plan.root))
    return open_json(path, id_names)


def _separators(node: ObjectNode, above: str = "") -> dict[str, str]:
    """Return the separators of the lists of texts outside other lists, by column."""
    found: dict[str, str] = {}
    for child in node.children:
        if isinstance(child, ObjectNode):
            found |= _separators(child, f"{above}{child.name}.")
        elif isinstance(child, Leaf | ListNode) and child.separator is not None:
            found[f"{above}{child.name}"] = child.separator
    return found


def _has_list(theirs: GoldFile, options: PromoteOptions, document: str, path: str) -> bool:
    """Return whether gold has something at the place of a list."""
    record = _open(theirs.records.get(document, {}), options.gold_key)
    held: Any = record
    for step in split_path(next(iter(_renamed({path: Label("value")}, record, options.plan)))):
        held = held.get(step) if isinstance(held, Mapping) else None
    return held not in (None, "", [])


class _Left(Struct):
    """How many labels are left out, by why."""

    items: int = 0
    standing: int = 0


def _promotable(sheets: Iterable[Sheet], has_list: Callable[[str, str], bool]) -> tuple[list[Sheet], _Left]:
    """Return the sheets with the labels that may become gold, and how many are left out.

    Single ones are in items of a list that was shown and not labeled as a whole. A list that was shown
    becomes gold only where gold has none: its rows and cells were suggested, so it must not remove others.
    """
    found, left = [], _Left()
    for sheet in sheets:
        kept = {}
        whole = {
            path: label
            for path, label in sheet.labels.items()
            if label.text is not None or label.shown != "prediction" or not has_list(sheet.document, path)
        }
        for path, label in sheet.labels.items():
            if path not in whole:
                continue
            elif label.shown is not None and label.state != "skipped" and _is_single(path, whole):
                is_standing = not _is_single(path, sheet.labels)
                left.standing += is_standing
                left.items += not is_standing
            else:
                kept[path] = label
        found.append(replace(sheet, labels=kept))
    return found, left


def _is_single(path: str, labels: Mapping[str, Label]) -> bool:
    """Return whether a path is in an item of a list that has no label as a whole."""
    steps = split_path(path)
    lists = [join_path(steps[:end]) for end, step in enumerate(steps) if isinstance(step, int)]
    return bool(lists) and not any(name in labels and labels[name].state != "skipped" for name in lists)


def _agree(
    sheets: Iterable[Sheet], same: Same, gold: Path, problems: list[Problem]
) -> dict[str, tuple[dict[str, Label], tuple[str, ...]]]:
    """Return the labels of each document, with its reviewers; a ruling counts before all other labels."""
    by: dict[str, list[Sheet]] = {}
    for sheet in sheets:
        by.setdefault(sheet.document, []).append(sheet)
    found: dict[str, tuple[dict[str, Label], tuple[str, ...]]] = {}
    for document, held in sorted(by.items()):
        given: dict[str, list[Label]] = {}
        for sheet in sorted(held, key=lambda one: (one.slot, one.reviewer)):
            for path, label in sheet.labels.items():
                if label.state != "skipped":
                    known = (
                        label
                        if label.origin is not None
                        else replace(
                            label,
                            origin="blind" if sheet.is_blind or label.shown == "nothing" else "imported",
                        )
                    )
                    given.setdefault(path, []).append(known)
        skipped = {path for sheet in held for path, label in sheet.labels.items() if label.state == "skipped"}
        labels: dict[str, Label] = {}
        for path, answers in given.items():
            try:
                labels[path] = _settle(path, answers, same)
            except UnmergeableError as error:
                where = f"{gold}: {document}: {path}"
                problems.append(Problem(where, str(error), "have a third person decide", "gold_conflict"))
        labels |= {
            path: Label("skipped")
            for path in sorted(skipped - labels.keys())
            if "[" in path and not _is_single(path, labels)
        }
        found[document] = (labels, tuple(dict.fromkeys(sheet.reviewer for sheet in held)))
    return found


def _settle(path: str, answers: Sequence[Label], same: Same) -> Label:
    """Return the label that several labels of one place agree on. Raises UnmergeableError if they differ."""
    rulings = [one for one in answers if one.origin == "adjudicated"]
    settled, *others = rulings or answers
    for one in others:
        if not _says_same(path, settled, one, same):
            raise UnmergeableError(f"two sheets differ: {_told(settled)} and {_told(one)}")
        settled = pick_writing(settled, one)
    return settled


def _told(label: Label) -> str:
    return label.state if label.text is None else repr(label.text[:60])


def _says_same(path: str, one: Label, two: Label, same: Same) -> bool:
    if one.state != two.state or one.text is None or two.text is None:
        return (one.state, one.text) == (two.state, two.text)
    return same(_field(path), one.text, two.text)


def pick_writing(one: Label, two: Label) -> Label:
    """Return the label whose writing is kept: one that stands on the page, else the shorter, else the first.

    >>> pick_writing(Label("value", "1250"), Label("value", "1,250.00")).text
    '1250'
    """
    ranked = sorted(
        (one, two), key=lambda label: (not _stands(label), len(label.text or ""), label.text or "")
    )
    return ranked[0]


def _stands(label: Label) -> bool:
    return any((label.text or "\0") in (region.text or "") for region in label.regions)


def _field(path: str) -> str:
    return join_path(-1 if isinstance(step, int) else step for step in split_path(path))


def same_by(plan: Plan) -> Same:
    """Return whether two values of a field mean the same: equal canonical texts by the spec's reader."""
    leaves = {leaf.path: leaf for leaf in _all_leaves(plan.root)}

    def same(path: str, one: Any, two: Any) -> bool:
        path = plan.field_of(path)
        leaf = leaves.get(path)
        if leaf is None or not isinstance(one, str) or not isinstance(two, str):
            return same_text(path, one, two)
        column = leaf.reader.read_column([str(one), str(two)])
        is_same = not column.problems and bool(column.canonical[0] == column.canonical[1])
        return is_same or same_text(path, one, two)

    return same


def _all_leaves(node: Node) -> list[Leaf]:
    if isinstance(node, Leaf):
        return [node]
    children: Sequence[Node] = node.children if isinstance(node, ObjectNode) else ()
    children = (node.items,) if isinstance(node, ListNode) else children
    return [leaf for child in children for leaf in _all_leaves(child)]


def _renamed(labels: Mapping[str, Label], record: Mapping[str, Any], plan: Plan | None) -> dict[str, Label]:
    """Return the labels under the keys by which gold has their fields, where the spec knows several."""
    if plan is None:
        return dict(labels)
    keys = {
        name: next((key for key in others if key in record), name)
        for name, others in dict(plan.root.other_names).items()
        if name not in record
    }
    renamed = {}
    for path, label in labels.items():
        first, *rest = split_path(path)
        renamed[join_path([keys.get(str(first), first), *rest])] = label
    return renamed


def _open(row: Mapping[str, Any], key: str | None) -> dict[str, Any]:
    """Return the record in a row, with the illegible places that stand beside it."""
    if key is None:
        return dict(row)
    inner = locate(row, key)[1]
    beside = {name: row[name] for name in (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS) if name in row}
    return {**(inner if isinstance(inner, Mapping) else {}), **beside}


def _close(row: Mapping[str, Any], merged: Merged, key: str | None) -> dict[str, Any]:
    """Return the row with the merged record in it."""
    if key is None:
        return merged.record
    record = dict(merged.record)
    closed: dict[str, Any] = json_copy(row)
    beside = {name: record.pop(name, None) for name in (ILLEGIBLE_FIELDS, UNREVIEWED_FIELDS)}
    _set_key(closed, key, record)
    for name, paths in beside.items():
        closed.pop(name, None)
        if paths is not None:
            closed[name] = paths
    return closed


def _set_key(row: dict[str, Any], key: str, record: dict[str, Any]) -> None:
    """Put a record under a key, which may be a path."""
    held = locate(row, key)[1]
    if isinstance(held, dict) and key not in row:
        held.clear()
        held.update(record)
    else:
        row[key] = record


def _json(value: Any) -> Any:
    return None if value is NOTHING else value
