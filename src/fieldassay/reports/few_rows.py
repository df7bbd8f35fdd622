"""The findings of `mistakes`, `losses` and `suspicious_gold` in a few wrong rows, one by one.

A table, whose library takes longer to load than a few rows to count, finds the same in many.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from fieldassay.evidence import WrongRow
from fieldassay.reports.failed_answers import ANSWERS
from fieldassay.reports.losses import DIGITS, Loss, find_worst, make_loss
from fieldassay.reports.mistakes import WRONG, Mistake
from fieldassay.reports.suspicious_gold import FEWEST, Suspicion
from fieldassay.result.wrong_rows import AnswerFacts, WrongRows

_Cause: TypeAlias = tuple[str, str]
"""A field and a diagnosis; without a field: failed answers."""
_Part: TypeAlias = tuple[str | None, WrongRow]
"""A value, and the item or the answer that it is part of, if that is the cause."""


def mark_failed_rows(found: WrongRows) -> WrongRows:
    """Return the rows with the problem of a failed answer as the diagnosis of the values missing from it."""
    problems = {(one.system, one.doc): problem for one in found.answers if (problem := _problem(one))}
    rows = (
        row._replace(diagnosis=problems[row.system, row.doc])
        if row.outcome == "missing" and (row.system, row.doc) in problems
        else row
        for row in found.rows
    )
    return WrongRows(tuple(rows), found.answers) if problems else found


def count_row_mistakes(found: WrongRows) -> tuple[Mistake, ...]:
    """Return the mistakes, the most frequent first; each value counts once, by its main diagnosis."""
    groups = _group(
        ((row.system, row.field, row.diagnosis), row)
        for row in _wrong_values(found)
        if row.diagnosis is not None
    )
    counted = (
        Mistake(system, field, diagnosis, len(rows), rows[0].gold, rows[0].pred)
        for (system, field, diagnosis), rows in groups.items()
    )
    return tuple(sorted(counted, key=lambda one: (-one.count, one.system, one.field, one.diagnosis)))


def find_row_losses(found: WrongRows, system: str, most: int) -> tuple[Loss, ...]:
    """Return the costliest losses of a system, the costliest first, without intervals."""
    answers = [one for one in found.answers if one.system == system and one.leaves > 0]
    leaves = {one.doc: one.leaves for one in answers}
    problems = {one.doc: problem for one in answers if (problem := _problem(one))}
    by_cause = _by_cause([row for row in found.rows if row.system == system], problems)
    if not answers or not by_cause:
        return ()
    losses = {
        cause: {doc: _lost(rows) / leaves[doc] if doc in leaves else 0.0 for doc, rows in docs.items()}
        for cause, docs in by_cause.items()
    }
    sums = [_sum(cause, docs, losses[cause]) for cause, docs in by_cause.items()]
    of = len(answers)
    worst = [
        group if group["field"] else {**group, **_failed(losses, problems, of)}
        for group in find_worst(sums, of, most)
    ]
    return tuple(make_loss(system, group, of) for group in worst)


def find_suspicious_rows(found: WrongRows, systems: Sequence[str]) -> tuple[Suspicion, ...]:
    """Return the places where all systems, two at least, contradict gold with one value."""
    if len(systems) < FEWEST:
        return ()
    lost = {one.doc for one in found.answers if _problem(one)}
    groups = _group(
        ((row.doc, row.field, _place(row)), row) for row in _wrong_values(found) if row.doc not in lost
    )
    suspicions = [
        Suspicion(
            doc,
            _path(rows[0]),
            field,
            rows[0].gold,
            rows[0].pred,
            len(systems),
            len({row.pred for row in rows}) == 1,
            rows[0].diagnosis or "",
        )
        for (doc, field, _), rows in groups.items()
        if len({row.system for row in rows}) == len(systems) and len(set(map(_value, rows))) == 1
    ]
    return tuple(
        sorted(
            suspicions, key=lambda one: (not one.is_identical, one.gold is None, one.agreed is None, one.doc)
        )
    )


def _problem(answer: AnswerFacts) -> str | None:
    """Return the problem of an answer as a whole; None for one that could be judged."""
    return next(
        (name for name, (claim, wanted) in ANSWERS.items() if answer.claims.get(claim, not wanted) == wanted),
        None,
    )


def _wrong_values(found: WrongRows) -> Iterator[WrongRow]:
    return (row for row in found.rows if row.kind == "value" and row.outcome in WRONG)


def _group(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    """Return the second members by the first ones, both in the order of their first use."""
    groups: dict[Any, list[Any]] = {}
    for key, one in pairs:
        groups.setdefault(key, []).append(one)
    return groups


def _value(row: WrongRow) -> str | None:
    return row.pred if row.pred_value is None else row.pred_value


def _path(row: WrongRow) -> str:
    return (row.pred_path or "") if row.gold_path is None else row.gold_path


def _place(row: WrongRow) -> str | None:
    value = _value(row) if row.gold_path is None else None
    return row.gold_path if value is None else f"{row.field}={value}"


def _by_cause(rows: Sequence[WrongRow], problems: Mapping[str, str]) -> dict[_Cause, dict[str, list[_Part]]]:
    """Return one system's values below a score of 1 by cause and document, each with its item or answer."""
    alone = {(row.doc, row.outcome, _path(row)) for row in rows if row.kind == "item"}
    kinds = set(problems.values())
    answer = "answer_failed" if len(kinds) > 1 else next(iter(kinds), "")
    found: dict[_Cause, dict[str, list[_Part]]] = {}
    for row in rows:
        if row.kind != "value" or (row.score or 0.0) >= 1:
            continue
        item = next((one for one in _enclosing(row) if (row.doc, row.outcome, one[0]) in alone), None)
        if row.outcome == "missing" and row.doc in problems:
            cause, part = ("", answer), ""
        elif item is not None:
            cause, part = (item[1], f"item_{row.outcome}"), item[0]
        else:
            cause, part = (row.field, row.diagnosis or "accepted"), None
        found.setdefault(cause, {}).setdefault(row.doc, []).append((part, row))
    return found


def _enclosing(row: WrongRow) -> Iterator[tuple[str, str]]:
    """Yield the paths of the items that a value is in, the outermost first, with their fields."""
    path = _path(row)
    for item, field in zip(re.finditer(r"\[\d+\]", path), re.finditer(r"\[\]", row.field), strict=False):
        yield path[: item.end()], row.field[: field.end()]


def _lost(parts: Sequence[_Part]) -> float:
    return sum(1.0 - (row.score or 0.0) for _, row in parts)


def _sum(cause: _Cause, docs: Mapping[str, Sequence[_Part]], losses: Mapping[str, float]) -> dict[str, Any]:
    """Return the sums of the values with one cause, with the first of them as its example."""
    first = next(iter(docs.values()))[0][1]
    return {
        "field": cause[0],
        "diagnosis": cause[1],
        "loss": sum(losses.values()),
        "values": sum(map(len, docs.values())),
        "count": sum(len({part for part, _ in parts} - {None}) for parts in docs.values()),
        "documents": len(docs),
        "doc": first.doc,
        "gold": first.gold,
        "pred": first.pred,
    }


def _failed(
    losses: Mapping[_Cause, Mapping[str, float]], problems: Mapping[str, str], of: int
) -> dict[str, Any]:
    """Return the problems of one system's failed answers, and the accuracy over all other documents."""
    failed = next(docs for (field, _), docs in losses.items() if not field)
    kinds = Counter(problems[doc] for doc in failed)
    others = sum(loss for docs in losses.values() for doc, loss in docs.items() if doc not in failed)
    rest = of - len(failed)
    return {
        "kinds": tuple(sorted(kinds.items(), key=lambda one: (-one[1], one[0]))),
        "without": round(1 - others / rest, DIGITS) if rest else None,
    }
