"""The likeliest errors, by the classes that the engineering strategy names; scores ignore them."""

from __future__ import annotations

from typing import Any

import pytest
from tests.spec.presets.engineering_runs import judge

CASES = [
    pytest.param("unit", "degC", "°C", "unit_spelling", id="degree sign"),
    pytest.param("unit", "m3/h", "m3 per hour", "unit_spelling", id="per in words"),
    pytest.param("unit", "m3/h", "m^3/h", "unit_spelling", id="caret"),
    pytest.param("unit", "m3/h", "m³ h⁻¹", "unit_spelling", id="superscripts and a product"),
    pytest.param("unit", "m3/h", "m³/h", "unicode_form", id="superscript"),
    pytest.param("unit", "m3/h", "Nm3/h", "wrong_unit", id="normal cubic meters"),
    pytest.param("concentration_unit", "mg/Nm3", "mg/m3", "wrong_unit", id="plain cubic meters"),
    pytest.param("unit", "odor units/m3", "ou/m3", "unit_spelling", id="odor units"),
    pytest.param("unit", "m3/h", "boxes", "different", id="no unit"),
    pytest.param("name", "K", "A", "different", id="a key that names no unit"),
    pytest.param("value", 850.5, "850,5", "other_format", id="decimal comma"),
    pytest.param("value", 1500, "1.5e3", "other_format", id="scientific"),
    pytest.param("value", 1500, "1,5E+03", "other_format", id="scientific with a comma"),
    pytest.param("value", 5000, "5.000", "other_format", id="thousands"),
    pytest.param("value", 45, None, "missing", id="null for a number"),
    pytest.param("value", None, 45, "spurious", id="a number for null"),
    pytest.param("value", 1500, 15000, "separator", id="ten times"),
]


def diagnoses(expected: Any, actual: Any) -> dict[str, list[str]]:
    result = judge(expected, actual)
    assert result.evidence is not None
    return {
        row["gold_path"]: row["diagnoses"]
        for row in result.evidence.iter_rows(named=True)
        if row["diagnoses"]
    }


@pytest.mark.parametrize(("key", "gold", "pred", "name"), CASES)
def test_the_main_diagnosis_names_the_class_of_error(key: str, gold: Any, pred: Any, name: str) -> None:
    assert diagnoses({"flow": {key: gold}}, {"flow": {key: pred}})["flow." + key][0] == name


@pytest.mark.parametrize(("key", "gold", "pred", "name"), CASES)
def test_the_score_is_that_of_the_protocol(key: str, gold: Any, pred: Any, name: str) -> None:
    assert judge({"flow": {key: gold}}, {"flow": {key: pred}}).value("overall_accuracy") == 0.0


AIR = {"air": {"value": 5000}, "water": {"value": 10}}
ELSEWHERE = [
    pytest.param(AIR, {"air": {"value": 10}, "water": {"value": 10}}, "air.value", True, id="the water flow"),
    pytest.param(
        {"t": {"value": 45}, "ambient": 20},
        {"t": {"value": 20}, "ambient": 20},
        "t.value",
        True,
        id="another name",
    ),
    pytest.param({"t": {"value": 45}, "n": 4}, {"t": {"value": 4}, "n": 4}, "t.value", False, id="one digit"),
    pytest.param(
        {"t": 45, "a": 20, "b": 20}, {"t": 20, "a": 20, "b": 20}, "t", False, id="two fields have it"
    ),
    pytest.param({"t": 45, "a": "20"}, {"t": 20, "a": "20"}, "t", False, id="a text"),
    pytest.param({"t": 45, "a": True}, {"t": True, "a": True}, "t", False, id="a boolean"),
    pytest.param(
        {"t": [{"v": 45}, {"v": 20}]},
        {"t": [{"v": 20}, {"v": 20}]},
        "t[0].v",
        False,
        id="another item of its own field",
    ),
]


@pytest.mark.parametrize(("expected", "actual", "path", "is_named"), ELSEWHERE)
def test_a_short_number_is_another_fields_only_if_it_can_tell(
    expected: Any, actual: Any, path: str, is_named: bool
) -> None:
    assert ("value_of_another_field" in diagnoses(expected, actual)[path]) == is_named
