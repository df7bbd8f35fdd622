"""Where a path pattern fits in a record: the same places as matching every path one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fieldassay.paths import Pattern, join_path

RECORD = {
    "flow": {"unit": "m3/h", "head_unit": "m", "value": 5},
    "pumps": [{"unit": "bar"}, {"unit": "Pa", "parts": [{"unit": "K"}]}, []],
    "odd.key": {"unit": "x"},
    "unit": None,
}
CASES = {
    "": [""],
    "**": ["", "flow", "flow.unit", "flow.head_unit", "flow.value", "pumps", "pumps[0]", "pumps[0].unit",
        "pumps[1]", "pumps[1].unit",
           "pumps[1].parts", "pumps[1].parts[0]", "pumps[1].parts[0].unit", "pumps[2]", '["odd.key"]',
           '["odd.key"].unit', "unit"],
    "unit": ["unit"],
    "flow.unit": ["flow.unit"],
    "flow.none": [],
    "flow[]": [],
    "pumps[].unit": ["pumps[0].unit", "pumps[1].unit"],
    "pumps[1].unit": ["pumps[1].unit"],
    "pumps[7]": [],
    "pumps": ["pumps"],
    "*": ["flow", "pumps", '["odd.key"]', "unit"],
    "*.unit": ["flow.unit", '["odd.key"].unit'],
    "**.unit": ["flow.unit", "pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit", '["odd.key"].unit',
        "unit"],
    "**.**.unit": ["flow.unit", "pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit",
        '["odd.key"].unit', "unit"],
    "pumps.**.unit": ["pumps[0].unit", "pumps[1].unit", "pumps[1].parts[0].unit"],
    "**.*_unit": ["flow.head_unit"],
    '["odd.key"].*': ['["odd.key"].unit'],
    "flow.**": ["flow", "flow.unit", "flow.head_unit", "flow.value"],
}  # fmt: skip


@pytest.mark.parametrize("pattern", CASES)
def test_a_pattern_finds_each_place_once_in_the_order_of_the_data(pattern):
    assert [join_path(steps) for steps, _ in Pattern(pattern).find(RECORD)] == CASES[pattern]


def test_the_value_comes_with_its_place():
    assert [value for _, value in Pattern("pumps[].unit").find(RECORD)] == ["bar", "Pa"]


@pytest.mark.parametrize("record", [None, 5, "flow", [], {}])
def test_a_record_without_members_is_found_by_its_own_pattern_only(record):
    assert list(Pattern("").find(record)) == [((), record)]
    assert list(Pattern("flow").find(record)) == []


KEYS = st.sampled_from(["a", "b", "ab", "a_unit", "x.y", ""])
TREES = st.recursive(
    st.integers(0, 3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PARTS = st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "*_unit", '["x.y"]', "[]", "[1]"]), max_size=4)


def written(parts):
    return "".join(part if part.startswith("[") or not at else f".{part}" for at, part in enumerate(parts))


def everywhere(value, steps=()):
    yield steps, value
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for step, inner in members:
        yield from everywhere(inner, (*steps, step))


@given(record=TREES, parts=PARTS)
def test_found_places_are_those_whose_paths_match(record, parts):
    pattern = Pattern(written(parts))
    assert list(pattern.find(record)) == [
        (steps, value) for steps, value in everywhere(record) if pattern.matches_steps(steps)
    ]


def test_many_stars_in_a_deep_record_take_little_time():
    record = {}
    for _ in range(400):
        record = {"a": record}
    assert len(list(Pattern("**.a.**.a.**.a.**.b").find(record))) == 0
    assert len(list(Pattern("**.a.**.a.**").find(record))) == 399
