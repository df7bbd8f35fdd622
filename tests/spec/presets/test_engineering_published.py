"""The five published figures equal those of the source's description, but for documented differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.spec.presets.engineering_published import figures
from tests.spec.presets.engineering_runs import judge, judge_rows

pytestmark = pytest.mark.slow

NUMBERS = [0, 1, 7, 45, 5000, 5040, 5060, 850.5, 0.00012]
TEXTS = ["m3/h", "m3 / h", "M3/H", "Nm3/h", "Toluene", "toluene", "", "5000"]
PLAIN = [text for text in TEXTS if text not in ("m3 / h", "M3/H", "toluene")]
KEYS = ["flow", "unit", "value", "unit_b", "value_b", "min_value", "a"]


def leaves(key: str) -> st.SearchStrategy[Any]:
    """Values; texts that differ in case and blanks only where source and protocol read units alike."""
    return st.sampled_from([None, *NUMBERS, *(TEXTS if key == "unit" else PLAIN)])


def trees(depth: int, key: str = "") -> st.SearchStrategy[Any]:
    if depth == 0:
        return leaves(key)
    inner = st.sets(st.sampled_from(KEYS), max_size=4).flatmap(
        lambda keys: st.fixed_dictionaries({one: trees(depth - 1, one) for one in keys})
    )
    return st.one_of(leaves(key), leaves(key), inner, st.lists(trees(depth - 1), max_size=3))


ROOTS = st.sets(st.sampled_from([key for key in KEYS if key != "unit"]), max_size=4).flatmap(
    lambda keys: st.fixed_dictionaries({one: trees(3, one) for one in keys})
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Any, Any, list[str]]:
    expected = draw(ROOTS)
    actual = {
        key: draw(st.one_of(st.just(value), trees(3, key)))
        for key, value in expected.items()
        if draw(st.integers(0, 5))
    }
    paths = list(list_leaves(expected, ""))
    return expected, actual, draw(st.lists(st.sampled_from(paths), max_size=4)) if paths else []


def list_leaves(tree: Any, path: str) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from list_leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for at, item in enumerate(tree):
            yield from list_leaves(item, f"{path}[{at}]")
    else:
        yield path


@settings(few_examples(), suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(cases(), min_size=1, max_size=25))
def test_random_cases_have_the_figures_of_the_source(drawn: list[tuple[Any, Any, list[str]]]) -> None:
    gold = [
        {"id": at, "expected_extraction": case[0], "critical_fields": case[2]}
        for at, case in enumerate(drawn)
    ]
    result = judge_rows(gold, [{"id": at, "extraction": case[1]} for at, case in enumerate(drawn)])
    assert result.documents is not None
    rows = {row["doc"]: row for row in result.documents.iter_rows(named=True)}
    wanted = [figures(*case) for case in drawn]
    for at, case in enumerate(drawn):
        assert {name: rows[str(at)][name] for name in wanted[at]} == pytest.approx(wanted[at], abs=1e-9), case
    for name in wanted[0]:
        assert result.value(name) == pytest.approx(sum(one[name] for one in wanted) / len(drawn), abs=1e-9)


BY_HAND = [
    pytest.param("overall_accuracy", 3 / 5, id="overall: missing outside"),
    pytest.param("critical_field_accuracy", 1 / 2, id="critical: missing outside"),
    pytest.param("unit_parsing_accuracy", 1 / 2, id="unit: .unit in the path"),
    pytest.param("value_parsing_accuracy", 1.0, id="value"),
    pytest.param("structure_accuracy", 4 / 5, id="structure"),
]


@pytest.mark.parametrize(("metric", "value"), BY_HAND)
def test_the_figures_are_those_worked_by_hand(metric: str, value: float) -> None:
    expected = {
        "f": {"value": 5, "unit": "K"},
        "g": {"unit": "m3/h", "name": "x"},
        "list": [1],
        "gone": {"value": 1},
    }
    actual = {"f": {"value": 5, "unit": "F"}, "g": {"unit": "M3/H", "name": "x"}, "list": {}}
    critical = ["f.unit", "g.unit", "gone.value"]
    result = judge(expected, actual, critical)
    assert result.value(metric) == pytest.approx(value)
    assert figures(expected, actual, critical)[metric] == pytest.approx(value)
    assert result.value("critical_complete_accuracy") == pytest.approx(1 / 3)


DIFFERENT = [
    pytest.param(
        {"a": {"flow_unit": "m3/h"}},
        {"a": {"flow_unit": "M3/H"}},
        id="letter case under a key that is no .unit",
    ),
    pytest.param({"a": True}, {"a": 1}, id="a boolean for a number"),
    pytest.param({"a": 1}, {"a": 1.01}, id="exactly one percent in binary"),
]


@pytest.mark.parametrize(("expected", "actual"), DIFFERENT)
def test_where_the_page_says_that_they_differ_they_do(expected: Any, actual: Any) -> None:
    name = "overall_accuracy"
    assert judge(expected, actual).value(name) != pytest.approx(figures(expected, actual)[name])
