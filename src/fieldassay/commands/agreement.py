"""How far reviewers agree, by the comparators of a spec."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from fieldassay.errors import NothingEvaluatedError, Problem, ProblemsError
from fieldassay.io.text.shown import clip, format_count, join_names
from fieldassay.metrics.result.agreement import Agreement
from fieldassay.metrics.uncertainty.bootstrap import BootstrapSettings
from fieldassay.paths import field_of, split_path
from fieldassay.public import public
from fieldassay.records.keys import cap_problems
from fieldassay.records.labels_file import check_texts, is_labels_file, is_labels_line, read_labels
from fieldassay.records.matching import batches
from fieldassay.records.record import Meta, Record
from fieldassay.review.agreement.answers import Answers, Labeled
from fieldassay.review.agreement.measure import measure_agreement
from fieldassay.scoring.engine.scopes import applicability, member_path
from fieldassay.scoring.inputs import (
    Records,
    ScoreOptions,
    document_types,
    open_inputs,
    system_name,
    with_keywords,
)
from fieldassay.spec.language.names import apply_aliases
from fieldassay.spec.plan.nodes import Leaf, ListNode, Node, ObjectNode, Plan, single_values


@public
def agreement(
    labels: Mapping[str, Records] | Sequence[Records],
    spec: Any,
    **keywords: Any,
) -> Agreement:
    """Return how far the reviewers of some documents agree, field by field.

    `labels` are the labels of several reviewers: paths of labels files or of files of records, or records as
    for `score`; a mapping names the reviewers of plain records, else the file does. `spec` and
    `keywords` are as for `score`. Raises `ProblemsError` with everything that is wrong with the inputs,
    `NothingEvaluatedError` if no document is labeled twice.

    >>> import fieldassay as fa
    >>> ada = [{"id": 1, "total": "1,250.00"}, {"id": 2, "total": "7"}, {"id": 3}]
    >>> bob = [{"id": 1, "total": "1250"}, {"id": 2, "total": "1"}, {"id": 3}]
    >>> found = fa.agreement({"ada": ada, "bob": bob}, "fields: {total: number}", bootstrap=0)
    >>> round(found.value("observed", "total"), 3), round(found.value("alpha", "total"), 3)
    (0.667, 0.615)
    """
    plan, _ = with_keywords(spec, ScoreOptions(), keywords)
    given = list(_read_all(plan, _named(labels)))
    labeled = Labeled.of(given)
    if not labeled.twice:
        documents = format_count(len({one.document for one in given}), "document")
        raise NothingEvaluatedError(f"nothing to compare: none of {documents} is labeled twice")
    types = document_types(
        plan,
        [
            Record(one.document, dict(one.data), Meta(), one.document)
            for answers in labeled.answers
            for one in answers
        ],
    )
    compared = [one for both in labeled.twice for one in both]
    drawn = plan.spec.statistics
    resampling = BootstrapSettings(drawn.bootstrap, drawn.seed, drawn.level)
    measured = measure_agreement(plan, labeled, applicability(plan, types), resampling)
    counts = Counter(one.reviewer for one in compared)
    return Agreement(
        plan.spec.name,
        dict(sorted(counts.items())),
        len(labeled.twice),
        int(measured.is_independent.sum()),
        len(labeled.documents) - len(labeled.twice),
        measured.overall,
        measured.fields,
        drawn.level,
        drawn.bootstrap,
        drawn.seed,
        all(len({one.reviewer for one in both}) == 1 for both in labeled.twice),
        tuple(_notes(plan, compared)),
    )


def _named(labels: Mapping[str, Records] | Sequence[Records]) -> list[tuple[str, Records]]:
    """Return the inputs with the names of their reviewers; equal names are numbered."""
    if isinstance(labels, Mapping):
        return list(labels.items())
    names = [system_name(one) if isinstance(one, str | Path) else "reviewer" for one in labels]
    often, used = Counter(names), Counter[str]()
    named = []
    for name, one in zip(names, labels, strict=True):
        used[name] += 1
        named.append((f"{name} {used[name]}" if often[name] > 1 else name, one))
    return named


def _read_all(plan: Plan, given: Iterable[tuple[str, Records]]) -> Iterator[Answers]:
    """Yield all answers. Raises `ProblemsError` with the problems of all inputs."""
    problems: list[Problem] = []
    known: dict[tuple[str, str, int], str] = {}
    files: set[Path] = set()
    for name, records in given:
        where = str(records) if isinstance(records, str | Path) else name
        if isinstance(records, str | Path) and str(records) != "-":
            path = Path(records).resolve()
            if path in files:
                problems.append(Problem(where, "is given twice", "give each file once", "labels_file"))
                continue
            files.add(path)
        try:
            found = list(_read(plan, name, records))
        except ProblemsError as error:
            problems += error.problems
            continue
        for one in found:
            key = (one.document, one.reviewer, 0 if one.sheet is None else one.sheet.slot)
            if known.setdefault(key, where) != where:
                what = f"{one.reviewer!r} has labeled {one.document!r} in {known[key]} already"
                problems.append(Problem(where, what, "give each file once", "labels_file"))
        yield from found
    if problems:
        raise ProblemsError(problems)


def _read(plan: Plan, name: str, records: Records) -> Iterator[Answers]:
    path = Path(records) if isinstance(records, str | Path) and str(records) != "-" else None
    if path is not None and path.is_file() and is_labels_file(path):
        sheets = read_labels(path)
        if problems := list(check_texts(sheets, single_values(plan), str(path))):
            raise ProblemsError(cap_problems(problems))
        yield from map(Answers.of_sheet, sheets)
        return
    matching = open_inputs(plan, records, {})
    for record in chain.from_iterable(batch.gold for batch in batches(matching)):
        data = record.data or {}
        if path is not None and is_labels_line({"id": record.id, **data}) and "labels" not in plan.slots:
            read_labels(path)  # says which of its lines are none
        meta = record.meta
        yield Answers.of_record(record.id, name, data, meta.illegible_paths, meta.unreviewed_paths)


def _notes(plan: Plan, answers: Sequence[Answers]) -> Iterator[str]:
    partial = Counter(path for one in answers for path in one.partial_lists())
    for path, count in sorted(partial.items()):
        lists = format_count(count, "sheet")
        yield f"{clip(path)}: {lists} with single items only, left out: a list is compared as a whole"
    if "" in plan.slots:
        return
    known = {info.path for info in plan.fields}
    paths = {path for one in answers if one.sheet is not None for path in one.sheet.labels}
    unknown = sorted(
        {field_of(path) for path in paths} - known
        | {path for one in answers if one.sheet is None for path in _undeclared(plan.root, one.data)}
        - _kind_keys(plan)
    )
    if unknown:
        yield f"not in the spec, left out: {join_names(list(map(clip, unknown)))}"


def _undeclared(node: Node, value: Any) -> Iterator[str]:
    """Yield the paths of the keys of a record that no field of the spec reads."""
    if isinstance(node, ListNode) and isinstance(value, list):
        for item in value:
            yield from _undeclared(node.items, item)
    if not isinstance(node, ObjectNode) or not isinstance(value, Mapping):
        return
    held = apply_aliases(dict(value), node.other_names)
    children = {child.name: child for child in node.children}
    units = {key for child in node.children if isinstance(child, Leaf) for key in child.unit_fields}
    for key, inner in held.items():
        if key in children:
            yield from _undeclared(children[key], inner)
        elif key not in units:
            yield member_path(node.path, key)


def _kind_keys(plan: Plan) -> set[str]:
    """Return the key with the type of the document, which decides which fields apply."""
    kind = plan.spec.document_type
    return set() if kind is None else {str(split_path(kind.field)[0])}
