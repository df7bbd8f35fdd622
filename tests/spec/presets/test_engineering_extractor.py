"""The protocol `engineering-extractor`: every formula and edge case with figures worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest
from tests.spec.presets.engineering_runs import (
    ACCURACIES,
    ACTUAL,
    CRITICAL,
    EXPECTED,
    VARIATIONS,
    counts,
    judge,
)


def test_the_worked_case_has_the_figures_worked_out_by_hand() -> None:
    # 13 expected leaves. Right: name, cas_number (null accepted), concentration (858.5 is 1% off), category,
    # tvoc_unit, total_carbon, value, max_value.
    # Wrong: concentration_unit and flow unit (unit), tvoc "1270" and min_value (value). odor_units is
    # missing, pressure.value is extra.
    result = judge(EXPECTED, ACTUAL, CRITICAL, VARIATIONS)
    assert counts(result) == {"unit": 2, "value": 2, "missing": 1, "missing_fields": 1, "extra": 1}
    assert result.value("pooled_overall_accuracy") == 8 / 12
    assert result.value("pooled_complete_accuracy") == 8 / 13
    assert result.value("pooled_critical_complete_accuracy") == 2 / 4
    assert result.value("pooled_unit_accuracy") == 1 / 3
    assert result.value("pooled_value_accuracy") == 2 / 3
    assert result.value("pooled_shape_accuracy") == 1.0
    for name in ACCURACIES:
        assert result.value(name) == pytest.approx(result.value(f"pooled_{name}"), abs=1e-9)


NUMBERS = [
    pytest.param(5000, 5050, True, id="one percent, the limit itself"),
    pytest.param(5000, 4950, True, id="one percent below"),
    pytest.param(5000, 5050.000001, False, id="just above one percent"),
    pytest.param(5000, 4949.999999, False, id="just below one percent"),
    pytest.param(-5000, -5050, True, id="negative"),
    pytest.param(0.3, 0.31, True, id="below one the limit is 0.01"),
    pytest.param(0.3, 0.3100000001, False, id="below one, just above 0.01"),
    pytest.param(0, 0.01, True, id="zero"),
    pytest.param(0, -0.01, True, id="zero, from below"),
    pytest.param(0, 0.0100001, False, id="zero, too far"),
    pytest.param(0.000125, 0.00985, True, id="a small number is right within 0.01, as published"),
    pytest.param(850.5, 859.005, True, id="exact decimals where floats would round"),
    pytest.param(850.5, 859.0051, False, id="exact decimals, too far"),
    pytest.param(1, 1.0, True, id="1 and 1.0"),
    pytest.param(10**30, 10**30 + 10**28, True, id="a large integer at its limit"),
    pytest.param(10**30, 10**30 + 10**28 + 1, False, id="a large integer above its limit"),
    pytest.param(1, True, False, id="true is not 1"),
    pytest.param(5000, "5000", False, id="text is no number"),
    pytest.param(5000, None, False, id="null is no number"),
]


@pytest.mark.parametrize(("expected", "actual", "is_right"), NUMBERS)
def test_a_number_matches_within_one_percent_of_itself_or_of_one(
    expected: Any, actual: Any, is_right: bool
) -> None:
    result = judge({"a": expected}, {"a": actual})
    assert counts(result) == ({} if is_right else {"value": 1})
    assert result.value("pooled_value_accuracy") == float(is_right)


UNITS = [
    pytest.param("unit", "m3/h", "m3/h", True, id="same"),
    pytest.param("unit", "m3/h", " M3 / H ", True, id="case and spaces"),
    pytest.param("flow_unit", "mg/Nm3", "mg/\u00a0NM3\t", True, id="any white space"),
    pytest.param("_unit", "K", "k", True, id="the shortest name that ends so"),
    pytest.param("unit", "m3/h", "m³/h", False, id="a superscript is another unit"),
    pytest.param("unit", "m3/h", "m^3/h", False, id="a caret is another unit"),
    pytest.param("unit", "m3/h", "Nm3/h", False, id="normal is not plain"),
    pytest.param("unit", "degC", "°C", False, id="a degree sign is another unit"),
    pytest.param("unit", "ß", "ss", False, id="lowercased, not folded"),
    pytest.param("unit", "m3/h", None, False, id="null"),
    pytest.param("unit", "5", 5, False, id="a number"),
]


@pytest.mark.parametrize(("key", "expected", "actual", "is_right"), UNITS)
def test_a_unit_matches_whatever_its_case_and_white_space(
    key: str, expected: Any, actual: Any, is_right: bool
) -> None:
    result = judge({key: expected}, {key: actual})
    assert counts(result) == ({} if is_right else {"unit": 1})
    assert result.value("pooled_unit_accuracy") == float(is_right)
    assert result.value("pooled_value_accuracy") is None


@pytest.mark.parametrize("key", ["units", "Unit", "unit_of", "unitary", "nunit"])
def test_only_unit_and_names_that_end_in_unit_are_units(key: str) -> None:
    result = judge({key: "m3/h"}, {key: "M3/H"})
    assert (counts(result), result.value("pooled_unit_accuracy")) == ({"value": 1}, None)


@pytest.mark.parametrize(("expected", "metric"), [(5, "pooled_value_accuracy"), (None, None), (True, None)])
def test_a_unit_key_with_something_else_than_text_is_a_leaf_like_any_other(
    expected: Any, metric: str | None
) -> None:
    result = judge({"unit": expected}, {"unit": "x"})
    assert (counts(result), result.value("pooled_unit_accuracy")) == ({"value": 1}, None)
    assert metric is None or result.value(metric) == 0.0


PLAIN = [
    pytest.param("Toluene", "Toluene", True, id="same text"),
    pytest.param("Toluene", "toluene", False, id="another case"),
    pytest.param("Toluene", "Toluene ", False, id="a space more"),
    pytest.param("", "", True, id="empty texts"),
    pytest.param(" ", "", False, id="a space is not nothing"),
    pytest.param("", None, False, id="an empty text is not null"),
    pytest.param(None, None, True, id="nulls"),
    pytest.param(None, "", False, id="null is not an empty text"),
    pytest.param(None, "null", False, id="null is not its name"),
    pytest.param(True, True, True, id="booleans"),
    pytest.param(True, 1, False, id="1 is not true"),
    pytest.param(False, None, False, id="null is not false"),
    pytest.param("true", True, False, id="true is not its name"),
    pytest.param("NOT_FOUND", None, False, id="no word means empty here"),
]


@pytest.mark.parametrize(("expected", "actual", "is_right"), PLAIN)
def test_everything_else_is_plain_equality(expected: Any, actual: Any, is_right: bool) -> None:
    assert counts(judge({"a": expected}, {"a": actual})) == ({} if is_right else {"value": 1})


def test_a_number_in_another_notation_is_a_value_error_that_is_diagnosed_as_a_reading_question() -> None:
    result = judge({"flow": 5000}, {"flow": "5.000"})
    assert result.evidence is not None
    rows = {row["gold_path"]: row for row in result.evidence.to_dicts()}
    assert counts(result) == {"value": 1}
    assert (rows["flow"]["outcome"], rows["flow"]["reason"], rows["flow"]["diagnoses"]) == (
        "mismatch",
        "other_kind",
        ["other_format"],
    )


STRUCTURES = [
    pytest.param({"a": 1, "b": {"c": 2}}, 5, id="scalar for an object"),
    pytest.param({"a": 1}, None, id="null for an object"),
    pytest.param({"a": 1}, "", id="empty text for an object"),
    pytest.param({}, 5, id="scalar for an empty object"),
    pytest.param({}, [], id="empty list for an empty object"),
    pytest.param([], {}, id="empty object for an empty list"),
    pytest.param([1, 2, 3], {"a": 1, "b": 2}, id="object for a list"),
    pytest.param({"a": 1}, [{"a": 1}], id="list for an object"),
    pytest.param([1], 1, id="scalar for a list"),
    pytest.param(5000, {"value": 5000, "unit": "m3/h"}, id="object for a number"),
    pytest.param("x", ["x"], id="list for a text"),
    pytest.param(None, {"a": 1}, id="object for null"),
    pytest.param(None, [], id="empty list for null"),
]


@pytest.mark.parametrize(("expected", "actual"), STRUCTURES)
@pytest.mark.parametrize("place", ["key", "item"])
def test_a_container_against_another_kind_is_one_structure_error_and_nothing_below_counts(
    expected: Any, actual: Any, place: str
) -> None:
    sides = [
        {"x": side, "ok": 1} if place == "key" else {"x": [side], "ok": 1} for side in (expected, actual)
    ]
    result = judge(*sides)
    assert counts(result) == {"structure": 1}
    assert result.value("pooled_overall_accuracy") == 1 / 2
    assert result.value("pooled_complete_accuracy") == 1 / 2
    assert result.value("pooled_shape_accuracy") == 1 / 2
    assert result.value("pooled_value_accuracy") == 1.0
    assert result.value("pooled_unit_accuracy") is None


def test_a_missing_container_counts_each_leaf_and_once_as_published() -> None:
    expected = {"ok": 1, "a": {"b": [1, 2, {"c": None, "unit": "K"}]}, "empty": {}}
    assert counts(judge(expected, {"ok": 1})) == {"missing": 4, "missing_fields": 2}


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        pytest.param([1, 2, 3], [1], {"missing": 2, "missing_fields": 2}, id="a shorter list"),
        pytest.param([1], [1, 2, {"a": 3, "b": []}], {"extra": 2}, id="a longer list"),
        pytest.param([[1, 2], [3]], [[1]], {"missing": 2, "missing_fields": 2}, id="lists in a list"),
        pytest.param(
            [{"a": 1, "b": 2}], [{}], {"missing": 2, "missing_fields": 2}, id="an empty object for an item"
        ),
        pytest.param([], [1], {"extra": 1}, id="an item where none was expected"),
        pytest.param([1, 2], [2, 1], {"value": 2}, id="lists are compared by position"),
    ],
)
def test_lists_are_walked_by_index(expected: Any, actual: Any, found: Any) -> None:
    assert counts(judge({"x": expected}, {"x": actual})) == found


def test_null_expected_and_a_missing_key_is_missing_and_null_that_nobody_expected_is_extra() -> None:
    assert counts(judge({"a": None}, {})) == {"missing": 1, "missing_fields": 1}
    assert counts(judge({}, {"a": None})) == {"extra": 1}


ACCEPTED = [
    pytest.param("108-88-3", "108883", ["108883", None], True, id="another spelling"),
    pytest.param("108-88-3", None, ["108883", None], True, id="null"),
    pytest.param("108-88-3", "108-88-3", ["108883"], True, id="the expected value itself"),
    pytest.param("108-88-3", "108 883", ["108883"], False, id="as it is, to the character"),
    pytest.param("108-88-3", 108883, ["108883"], False, id="as it is, a number is no text"),
    pytest.param("x", True, [1], False, id="as it is, true is not 1"),
    pytest.param("x", 5000.0, [5000], True, id="5000.0 is 5000"),
    pytest.param(5000, 4040, [4000], False, id="no tolerance around an accepted number"),
    pytest.param(5000, 4000, [4000], True, id="an accepted number"),
    pytest.param("x", ["a", "b"], [["a", "b"]], True, id="an accepted list is no structure error"),
]


@pytest.mark.parametrize(("expected", "actual", "accepted", "is_right"), ACCEPTED)
def test_an_accepted_variation_matches_as_it_is(
    expected: Any, actual: Any, accepted: Any, is_right: bool
) -> None:
    assert counts(judge({"x": [expected]}, {"x": [actual]}, accepted={"x[0]": accepted})) == (
        {} if is_right else {"value": 1}
    )


@pytest.mark.parametrize(("actual", "is_right"), [("Nm3/h", True), ("nm3/H", False), ("M3 / H", True)])
def test_an_accepted_unit_matches_to_the_character_and_the_expected_one_as_a_unit(
    actual: str, is_right: bool
) -> None:
    result = judge({"unit": "m3/h"}, {"unit": actual}, accepted={"unit": ["Nm3/h"]})
    assert (counts(result), result.value("pooled_unit_accuracy")) == (
        {} if is_right else {"unit": 1},
        float(is_right),
    )


def test_an_absent_key_stays_missing_even_where_null_is_accepted() -> None:
    result = judge({"a": 1, "b": 2}, {"b": 2}, ["a"], {"a": [None]})
    assert counts(result) == {"missing": 1, "missing_fields": 1}
    assert result.value("critical_complete_accuracy") == 0.0


def test_critical_leaves_below_what_is_missing_or_of_another_kind_are_wrong() -> None:
    expected = {"a": {"b": 1, "c": 2}, "l": [{"d": 3}], "s": 4, "t": 5}
    result = judge(
        expected, {"a": 7, "s": {"x": 4}, "t": 5, "u": 9}, ["a.b", "l[0].d", "s", "t", "u", "nowhere"]
    )
    assert result.value("pooled_critical_complete_accuracy") == 1 / 4


def test_a_critical_container_makes_every_leaf_in_it_critical() -> None:
    result = judge(
        {"flow": {"value": 1, "unit": "K"}, "x": 2}, {"flow": {"value": 1, "unit": "F"}, "x": 3}, ["flow"]
    )
    assert result.value("pooled_critical_complete_accuracy") == 1 / 2


@pytest.mark.parametrize("path", ['["odd.key"][0]["a b"]', '["odd.key"][0].a b'])
def test_paths_of_odd_keys_may_be_quoted_or_not(path: str) -> None:
    result = judge({"odd.key": [{"a b": 1}]}, {"odd.key": [{"a b": 2}]}, [path])
    assert result.value("critical_complete_accuracy") == 0.0
