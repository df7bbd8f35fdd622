"""The values of several answers about one document as one record: joined by place, never by value."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct, field

from fieldassay.extraction.answers import Steps
from fieldassay.extraction.evidence import Found, item_steps
from fieldassay.extraction.places.search import Place
from fieldassay.io.json_value import is_blank

LineOf: TypeAlias = Callable[[Place], tuple[int, int]]
"""Gives the page and the line of a place."""

Canonical: TypeAlias = Callable[[Steps, Found], str]
"""Gives the text by which two values of a field are equal."""

_Key: TypeAlias = tuple[int, int, int, str]
"""The identity of an item in its list: its page, its line, and a number and text for those without one."""

_RANKS = {kind: rank for rank, kind in enumerate(("found", "elsewhere", "assembled", "hidden", "absent"))}
_NOWHERE = 2**62


class Merged(Struct, frozen=True):
    """The joined values, and how often answers were about the same item or disagreed."""

    values: Mapping[Steps, Found]
    candidates: Mapping[Steps, tuple[Found, ...]] = field(default_factory=dict)
    """The values that answers disagree on, by their place in the record, the chosen one first."""
    notes: Mapping[str, int] = field(default_factory=dict)
    """Counted: `merged_duplicates`, `chunk_conflicts`."""


def merge(answers: Sequence[Mapping[Steps, Found]], line_of: LineOf, canonical: Canonical) -> Merged:
    """Return the values of the answers as one; the answers are in the order of the parts.

    Items of a list with their rows at one place are one item; at two places they are two, however equal.
    Items without a row are as many as in the answer that has them most often. The order is that of the rows;
    an item without one follows the item before it in its answer, or the rows of the answers before its own.
    A value that answers disagree on is the one with the best evidence, then the highest confidence, then the
    first one in the document.
    """
    keys = [_item_keys(answer, line_of, canonical) for answer in answers]
    indices, duplicates = _indices(keys)
    offered: dict[Steps, list[Found]] = defaultdict(list)
    for answer, own in zip(answers, keys, strict=True):
        for steps, found in answer.items():
            item = item_steps(steps)
            if item is not None:
                steps = (*item[:-1], indices[item[:-1]][own[item]], *steps[len(item) :])
            offered[steps].append(found)
    values: dict[Steps, Found] = {}
    candidates: dict[Steps, tuple[Found, ...]] = {}
    for steps, found_here in offered.items():
        ranked = sorted(found_here, key=lambda found: _rank(found, canonical(steps, found)))
        values[steps] = ranked[0]
        values_here = [found for found in ranked if not is_blank(found.value)]
        distinct = {canonical(steps, found): found for found in reversed(values_here)}
        if len(distinct) > 1:
            candidates[steps] = tuple(reversed(distinct.values()))
    notes = {"merged_duplicates": duplicates, "chunk_conflicts": len(candidates)}
    return Merged(values, candidates, {name: count for name, count in notes.items() if count})


def _item_keys(answer: Mapping[Steps, Found], line_of: LineOf, canonical: Canonical) -> dict[Steps, _Key]:
    """Return the identity of each item of an answer; no two of one list have the same."""
    items: dict[Steps, list[tuple[Steps, Found]]] = defaultdict(list)
    for steps, found in answer.items():
        item = item_steps(steps)
        if item is not None:
            items[item].append((steps, found))
    keys: dict[Steps, _Key] = {}
    seen: Counter[tuple[Steps, _Key]] = Counter()
    for item in sorted(items, key=steps_order):
        anchor = next((found.anchor for _, found in items[item] if found.anchor is not None), None)
        content = "" if anchor is not None else _content(items[item], len(item), canonical)
        page, line = line_of(anchor) if anchor is not None else (_NOWHERE, 0)
        bare = (page, line, 0, content)
        keys[item] = (page, line, seen[item[:-1], bare], content)
        seen[item[:-1], bare] += 1
    return keys


def steps_order(steps: Steps) -> tuple[tuple[bool, int, str], ...]:
    """Return a key that sorts steps: indices by number, names by text."""
    return tuple(
        (isinstance(step, str), step if isinstance(step, int) else 0, step if isinstance(step, str) else "")
        for step in steps
    )


def _content(values: Sequence[tuple[Steps, Found]], depth: int, canonical: Canonical) -> str:
    return repr(sorted((repr(steps[depth:]), canonical(steps, found)) for steps, found in values))


def _indices(keys: Sequence[dict[Steps, _Key]]) -> tuple[dict[Steps, dict[_Key, int]], int]:
    """Return the index of each item in its joined list, and how many items were seen again."""
    lists: dict[Steps, dict[_Key, tuple[int, int]]] = defaultdict(dict)
    ends: dict[Steps, tuple[int, int]] = {}
    for own in keys:
        rows = {item[:-1]: key[:2] for item, key in reversed(own.items()) if key[0] != _NOWHERE}
        for item, key in own.items():
            if key[0] != _NOWHERE:
                rows[item[:-1]] = key[:2]
            lists[item[:-1]].setdefault(key, rows.get(item[:-1], ends.get(item[:-1], (-1, 0))))
        ends.update({at: max(row, ends.get(at, row)) for at, row in rows.items()})
    duplicates = sum(map(len, keys)) - sum(map(len, lists.values()))
    return {
        at: {key: index for index, key in enumerate(sorted(found, key=found.__getitem__))}
        for at, found in lists.items()
    }, duplicates


def _rank(found: Found, text: str) -> tuple[bool, int, float, int, int, str]:
    place = found.place
    page, start = (place.page, place.start) if place is not None else (_NOWHERE, 0)
    rank = _RANKS.get(found.kind, len(_RANKS))
    return (is_blank(found.value), rank, -(found.confidence or 0.0), page, start, text)
