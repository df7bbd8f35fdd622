"""How far reviewers agree, by the comparators of a spec."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.metrics.result.agreement import Agreement
from fieldassay.public import public
from fieldassay.records.keys import cap_problems
from fieldassay.records.labels_file import check_texts, is_labels_file, is_labels_line, read_labels
from fieldassay.records.matching import batches
from fieldassay.review.agreement import Answers, measure_agreement
from fieldassay.scoring.inputs import Records, ScoreOptions, open_inputs, system_name, with_keywords
from fieldassay.spec.plan.nodes import Plan, single_values


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
    return measure_agreement(plan, list(_read_all(plan, _named(labels))))


def _named(labels: Mapping[str, Records] | Sequence[Records]) -> list[tuple[str, Records]]:
    """Return the inputs with the names of their reviewers; equal names are numbered."""
    if isinstance(labels, Mapping):
        return list(labels.items())
    names = [system_name(one) if isinstance(one, str | Path) else "reviewer" for one in labels]
    often, numbers = Counter(names), defaultdict[str, Iterator[int]](lambda: count(1))
    names = [f"{name} {next(numbers[name])}" if often[name] > 1 else name for name in names]
    return list(zip(names, labels, strict=True))


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
            key = (one.document, one.reviewer, one.slot)
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
