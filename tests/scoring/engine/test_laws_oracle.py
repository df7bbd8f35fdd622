"""A second opinion: the default judgement of small records in plain recursion, with every pairing tried."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.judging import result_of

LEAVES = {"name": "text", "n": "number"}
PART = {"type": "object", "fields": {"p": "text", "q": "number"}}
LINE = {"type": "object", "fields": {**LEAVES, "parts": {"type": "list", "items": PART}}}
SPEC: dict[str, Any] = {
    "fields": {
        "title": "text",
        "lines": {"type": "list", "items": LINE},
        "tags": {"type": "list", "items": "text"},
    }
}


def is_nothing(value: Any) -> bool:
    """Return whether a value holds nothing at all."""
    if isinstance(value, dict):
        return all(map(is_nothing, value.values()))
    if isinstance(value, list):
        return all(map(is_nothing, value))
    return value is None or value == ""


def count(value: Any) -> int:
    """Return the number of leaves of a value."""
    if isinstance(value, dict):
        return sum(map(count, value.values()))
    if isinstance(value, list):
        return sum(map(count, value))
    return 0 if is_nothing(value) else 1


def pair(gold: Any, pred: Any) -> tuple[float, int, int]:
    """Return the similarity of two items, the number of matching leaves, and that on either side.

    An item's similarity is the mean over its fields; a list among them counts as one field, with matches /
    leaves.
    """
    if not isinstance(gold, dict):
        return float(gold == pred), int(gold == pred), 1
    similarities, matches, union = [], 0, 0
    for name in gold:
        found, leaves = (
            pair_lists(gold[name], pred[name])
            if isinstance(gold[name], list)
            else pair_leaves(gold[name], pred[name])
        )
        similarities += [found / leaves] if leaves else []
        matches, union = matches + found, union + leaves
    return (sum(similarities) / len(similarities) if similarities else 0.0), matches, union


def pair_leaves(gold: Any, pred: Any) -> tuple[int, int]:
    """Return whether two values match, and whether there is any."""
    has_both = not is_nothing(gold) and not is_nothing(pred)
    return int(has_both and gold == pred), int(not is_nothing(gold) or not is_nothing(pred))


def pair_lists(gold: list[Any], pred: list[Any]) -> tuple[int, int]:
    """Return matches and leaves of the one best pairing; a case with differing best pairings is given up."""
    ways = best_pairings(gold, pred)
    assume(len(ways) == 1)
    return next(iter(ways))


def best_pairings(gold: list[Any], pred: list[Any]) -> set[tuple[int, int]]:
    """Return (matches, leaves) of every pairing with the largest total; unlike items stay apart."""
    gold, pred = ([item for item in items if not is_nothing(item)] for items in (gold, pred))
    table = [[pair(item, other) for other in pred] for item in gold]
    places = [*range(len(pred)), *([None] * len(gold))]
    found: dict[tuple[int, int], float] = {}
    for way in set(permutations(places, len(gold))):
        chosen = [
            (row, column)
            for row, column in enumerate(way)
            if column is not None and table[row][column][0] > 0
        ]
        alone = [item for row, item in enumerate(gold) if row not in dict(chosen)]
        alone += [item for column, item in enumerate(pred) if column not in [taken for _, taken in chosen]]
        matches = sum(table[row][column][1] for row, column in chosen)
        leaves = sum(table[row][column][2] for row, column in chosen) + sum(map(count, alone))
        total = sum(table[row][column][0] for row, column in chosen)
        found[matches, leaves] = max(found.get((matches, leaves), 0.0), total)
    return {way for way, total in found.items() if total > max(found.values()) - 1e-9}


TEXTS = st.sampled_from(["a", "b", "c", "", None])
NUMBERS = st.sampled_from([1, 2.5, 3, None])
PARTS = st.lists(st.fixed_dictionaries({"p": TEXTS, "q": NUMBERS}), max_size=2)
LINES = st.lists(st.fixed_dictionaries({"name": TEXTS, "n": NUMBERS, "parts": PARTS}), max_size=4)
RECORDS = st.fixed_dictionaries({"title": TEXTS, "lines": LINES, "tags": st.lists(TEXTS, max_size=4)})


@settings(derandomize=True)
@given(RECORDS, RECORDS)
def test_the_engine_finds_what_trying_every_pairing_finds(gold: dict[str, Any], pred: dict[str, Any]) -> None:
    title = pair_leaves(gold["title"], pred["title"])
    ways = {
        (title[0] + lines[0] + tags[0], title[1] + lines[1] + tags[1])
        for lines in best_pairings(gold["lines"], pred["lines"])
        for tags in best_pairings(gold["tags"], pred["tags"])
    }
    result = result_of(SPEC, [gold], [pred], metrics=("correct", "accuracy_pooled"))
    matches, leaves = result.value("correct"), result.estimate("accuracy_pooled").n
    assert (matches, leaves) in ways


@pytest.mark.parametrize(
    ("gold", "pred", "ways"),
    [
        ([{"name": "a", "n": 1, "parts": []}], [{"name": "a", "n": 2, "parts": []}], {(1, 2)}),
        ([{"name": "a", "n": 1, "parts": []}], [{"name": "b", "n": 2, "parts": []}], {(0, 4)}),
        (
            [{"name": "a", "n": None, "parts": [{"p": "a", "q": 1}]}],
            [{"name": "a", "n": None, "parts": []}],
            {(1, 3)},
        ),
    ],
)
def test_the_oracle_itself_counts_right(gold: Any, pred: Any, ways: set[tuple[int, int]]) -> None:
    assert best_pairings(gold, pred) == ways
