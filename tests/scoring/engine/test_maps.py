"""Maps: values pair by key, count as the items of a list do, and are one field."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import leaves_of, result_of, rows_of

from fieldassay.paths import field_of, join_path, split_path

MAP = "fields: {m: {type: map, values: {fields: {a: integer, b: text, c: {items: text}}}}}"
LIST = """fields: {m: {align: {key: {fields: [k]}}, items: {fields: {
  k: {type: text}, a: integer, b: text, c: {items: text}}}}}"""
VALUES = st.fixed_dictionaries(
    {"a": st.integers(0, 2)}, optional={"b": st.sampled_from("xy"), "c": st.lists(st.sampled_from("pq"))}
)
MAPS = st.dictionaries(st.sampled_from(["A-1", "B.2", "*", "", "['x']"]), VALUES)


@given(gold=MAPS, pred=MAPS)
def test_a_map_is_judged_as_a_list_of_items_aligned_by_key(gold: Any, pred: Any) -> None:
    as_items = ([{"k": f"k{key}", **value} for key, value in one.items()] for one in (gold, pred))
    listed = [leaf for leaf in leaves_of(LIST, *({"m": one} for one in as_items)) if "k" not in leaf[0]]
    found = leaves_of(MAP, {"m": gold}, {"m": pred})
    assert sorted(outcome for _, outcome in found) == sorted(outcome for _, outcome in listed)
    for path, _ in found:
        assert join_path(split_path(path)) == path
        assert field_of(path, {"m.*"}).startswith("m.*.")


@pytest.mark.parametrize(
    ("values", "gold", "pred", "found"),
    [
        ("number", {"x": 1, "y": 2}, {"y": 2, "x": 1}, {"m.x": "match", "m.y": "match"}),
        ("number", {"x": 1, "n": None, "e": ""}, {"n": None}, {"m.x": "missing"}),
        ("number", {"x": 1}, {"X": 1}, {"m.x": "missing", "m.X": "spurious"}),
        ("number", {"x": 1}, '{"x": 1}', {"m.x": "match"}),
        ("number", {"x": 1}, [1], {"m": "spurious", "m.x": "missing"}),
        ("number", {}, {"x": 1}, {"m.x": "spurious"}),
        (
            "{type: list, items: text}",
            {"x": ["a"]},
            {"x": ["a", "b"]},
            {"m.x[0]": "match", "m.x[1]": "spurious"},
        ),
        (
            "{type: map, values: date}",
            {"x": {"y": "2024-01-02"}},
            {"x": {"y": "2 Jan 2024"}},
            {"m.x.y": "match"},
        ),
        ("any", {"x": {"y": [1]}}, {"x": {"y": [1]}}, {"m.x.y[0]": "match"}),
    ],
    ids=json.dumps,
)
def test_keys_pair_by_their_text(values: str, gold: Any, pred: Any, found: dict[str, str]) -> None:
    spec = f"fields: {{m: {{type: map, values: {values}}}}}"
    assert dict(leaves_of(spec, {"m": gold}, {"m": pred})) == found
    assert {row["field"] for row in rows_of(spec, {"m": gold}, {"m": pred}).to_dicts()} <= {
        *("m", "m.*", "m.*[]", "m.*.*", "m.*.y", "m.*.y[]")
    }


def test_values_accepted_beside_gold_are_named_by_key() -> None:
    spec = {"fields": {"m": {"type": "map", "values": "text"}}, "data": {"gold": "data"}}
    accepted = {"acceptable_variations": {"m.a": ["other"], "m.*": ["any"]}}
    gold = [{"id": 1, "data": {"m": {"a": "x", "b": "y"}}, **accepted}]
    result = result_of(spec, gold, [{"id": 1, "m": {"a": "other", "b": "other"}}])
    assert result.value("field_accuracy[m.*]") == 0.5
