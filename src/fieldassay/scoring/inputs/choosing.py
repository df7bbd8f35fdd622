"""The choice of documents to judge: those whose gold has the chosen values under keys of slices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from fieldassay.errors import Problem, ProblemsError, list_names
from fieldassay.records.keys import MAX_LISTED, Positions
from fieldassay.records.matching import check_gold
from fieldassay.records.record import Record
from fieldassay.records.source import CHUNK, Source
from fieldassay.scoring.inputs.document_metadata import document_types, slice_values
from fieldassay.spec.plan.nodes import Plan

CHOSEN = "chosen"
"""The kind of the note on the chosen documents."""


class Choice(Struct, frozen=True):
    """The chosen documents in gold order, and the note on them."""

    positions: Positions
    note: Problem


def parse_conditions(texts: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the values wanted by key. Raises `ProblemsError` for each text that is not KEY=VALUE.

    >>> parse_conditions(["type=invoice", "type=receipt", "difficulty=hard"])
    {'type': ('invoice', 'receipt'), 'difficulty': ('hard',)}
    """
    found: dict[str, dict[str, None]] = {}
    problems = []
    for text in texts:
        key, _, value = (part.strip() for part in text.partition("="))
        if key and value:
            found.setdefault(key, {})[value] = None
        else:
            problems.append(
                Problem(
                    "where", f"{text[:200]!r} is no condition", "write KEY=VALUE, as in type=invoice", "where"
                )
            )
    if problems:
        raise ProblemsError(problems)
    return {key: tuple(values) for key, values in found.items()}


def choose_documents(plan: Plan, gold: Source, texts: Sequence[str]) -> Choice | None:
    """Return the documents whose gold has, under each key, one of its chosen values; None without a choice.

    A key is one that results can be sliced by; predictions have no say. Raises `ProblemsError` for a key that
    no gold document has, for a value that none has under its key, and if no document has all of them.
    """
    wanted = parse_conditions(texts)
    if not wanted:
        return None
    whole = replace(gold, options=replace(gold.options, left_out=frozenset()))
    masks = {key: np.zeros(len(gold), dtype=bool) for key in wanted}
    seen: dict[str, Counter[str]] = {key: Counter() for key in wanted}
    for start, records in _read(whole):
        types = document_types(plan, records)
        for key, values in wanted.items():
            held = [
                slice_values(key, (record, None, kind)) for record, kind in zip(records, types, strict=True)
            ]
            seen[key].update(value for found in held for value in found)
            masks[key][start : start + len(records)] = [not set(values).isdisjoint(found) for found in held]
    problems = [
        problem
        for key, values in wanted.items()
        for problem in _find_unknown(plan, whole, key, values, seen[key])
    ]
    said = " and ".join(" or ".join(f"{key}={value}" for value in values) for key, values in wanted.items())
    chosen = np.flatnonzero(np.logical_and.reduce(list(masks.values())))
    if not problems and not len(chosen):
        problems.append(
            Problem(gold.label, f"no document has {said}", "leave out one of these conditions", "where")
        )
    if problems:
        raise ProblemsError(problems)
    return Choice(chosen, Problem("gold", f"{len(chosen):,} of {len(gold):,} documents: {said}", kind=CHOSEN))


def _read(gold: Source) -> Iterator[tuple[int, list[Record]]]:
    """Yield the gold records in portions, each with the position of its first record.

    Raises `ProblemsError` for unreadable ones.
    """
    start = 0
    for records in gold.batches():
        check_gold(records)
        yield start, records
        start += len(records)


def _find_unknown(
    plan: Plan, gold: Source, key: str, values: Sequence[str], seen: Counter[str]
) -> list[Problem]:
    """Return a problem for a key in no document, or for each value in none, with the alternatives."""
    if not seen:
        return [
            Problem(
                gold.label,
                f"no document has the key {key[:100]!r} of where",
                f"its keys: {_list(_keys(plan, gold))}",
                "where",
            )
        ]
    known = _list([f"{value} ({count:,})" for value, count in seen.most_common()])
    return [
        Problem(gold.label, f"no document has {key}={value[:100]}", f"its values: {known}", "where")
        for value in values
        if value not in seen
    ]


def _keys(plan: Plan, gold: Source) -> list[str]:
    """Return the keys under which the first gold documents have a value, in order of appearance."""
    found: dict[str, None] = {}
    for record in gold.fetch(range(min(CHUNK, len(gold)))):
        meta = record.meta
        named = {
            "type": plan.spec.document_type is not None,
            "variant": meta.variant is not None,
            "tag": bool(meta.tags),
        }
        found |= dict.fromkeys(
            [*(key for key, is_there in named.items() if is_there), *meta.attributes, *meta.labels]
        )
        found |= dict.fromkeys(
            key for key, value in (record.data or {}).items() if isinstance(value, str | int | float)
        )
    return list(found)


def _list(names: Sequence[str]) -> str:
    return list_names([name[:100] for name in names], MAX_LISTED) or "none"
