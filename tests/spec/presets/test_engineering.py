"""The engineering protocol: its published figures, and the engine against the protocol written down a second time."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import score_alone as score
from tests.spec.presets.engineering_cases import (
    ACCURACIES,
    ACTUAL,
    CRITICAL,
    EXPECTED,
    VARIATIONS,
    compare,
    counts,
    figures,
    judge,
    judge_rows,
    make_case,
    measure,
)

from fieldassay.decisions.gate import decide_result
from fieldassay.errors import ProblemsError
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.types.numbers.numbers import QuantityReader, UnitReader

# The engineering protocol.

# The engineering protocol: cases, readings, published figures

# The protocol `engineering-extractor` over cases: means, pooled figures, difficulties, inputs


@pytest.mark.slow
def test_a_case_with_nothing_to_divide_has_the_published_values_and_pooled_ones_are_undefined():
    result = judge({"a": 1}, {})
    assert {name: result.value(name) for name in ACCURACIES} == {
        "overall_accuracy": 0.0, "complete_accuracy": 0.0, "critical_complete_accuracy": 1.0,
        "unit_accuracy": 1.0, "value_accuracy": 1.0, "shape_accuracy": 1.0,
    }  # fmt: skip
    assert [result.value(f"pooled_{name}") for name in ACCURACIES] == [None, 0.0, None, None, None, None]


def of_difficulty(name, difficulty, right, wrong, **notes):
    """Return a case and its prediction with so many texts right and so many wrong."""
    keys = [f"t{number}" for number in range(right + wrong)]
    case = {
        "test_case_id": name,
        "difficulty": difficulty,
        "expected_extraction": dict.fromkeys(keys, "x"),
        **notes,
    }
    return case, {"id": name, "extraction": {key: "x" if at < right else "y" for at, key in enumerate(keys)}}


def decide(*pairs):
    """Return the answer, and the verdict of each gate by the text before its threshold."""
    decision = decide_result(
        judge_rows([case for case, _ in pairs], [prediction for _, prediction in pairs])
    )[0]
    return decision.answer.value, {
        str(outcome.gate).split(" >")[0]: outcome.verdict.value for outcome in decision.outcomes
    }


@pytest.mark.slow
def test_the_thresholds_are_the_published_ones_on_the_published_figures_and_those_of_critical_fields_on_ours_too():
    gates = read_plan({"protocol": "engineering-extractor"}).spec.gates
    metrics = [
        "overall_accuracy",
        "critical_field_accuracy",
        "unit_parsing_accuracy",
        "value_parsing_accuracy",
        "structure_accuracy",
    ]
    published = {
        "easy": [0.95, 1.0, 0.98, 0.98, 0.95],
        "medium": [0.9, 0.95, 0.92, 0.92, 0.9],
        "hard": [0.85, 0.9, 0.85, 0.85, 0.85],
    }
    wanted = {
        (f"{metric}{{difficulty={level}}}", least)
        for level in published
        for metric, least in zip(metrics, published[level], strict=True)
    }
    wanted.add(('overall_accuracy{difficulty="very hard"}', 0.8))
    assert len(wanted) == 16
    wanted |= {
        (f"critical_complete_accuracy{{difficulty={level}}}", published[level][1]) for level in published
    }
    assert {(gate.split(" >= ")[0], float(gate.split(" >= ")[1].split(" ")[0])) for gate in gates} == wanted
    assert all(gate.endswith(" if present") for gate in gates)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("difficulty", "right", "wrong", "verdict"),
    [
        ("easy", 19, 1, "PASS"),
        ("easy", 18, 2, "FAIL"),
        ("medium", 9, 1, "PASS"),
        ("medium", 8, 1, "FAIL"),
        ("hard", 17, 3, "PASS"),
        ("hard", 16, 3, "FAIL"),
    ],
)
def test_each_difficulty_has_its_threshold_inclusive(difficulty, right, wrong, verdict):
    answer, verdicts = decide(of_difficulty("a", difficulty, right, wrong))
    assert verdicts[f"overall_accuracy{{difficulty={difficulty}}}"] == verdict
    # any wrong leaf that is no unit is an error of values, as published
    assert (answer, verdicts[f"value_parsing_accuracy{{difficulty={difficulty}}}"]) == ("NO-GO", "FAIL")
    assert {verdict for gate, verdict in verdicts.items() if difficulty not in gate} == {"SKIPPED"}


@pytest.mark.slow
def test_a_run_passes_only_if_every_difficulty_that_occurs_passes():
    assert decide(of_difficulty("a", "easy", 20, 0), of_difficulty("b", "hard", 17, 0))[0] == "GO"
    assert decide(of_difficulty("a", "easy", 20, 0), of_difficulty("b", "hard", 8, 2))[0] == "NO-GO"


@pytest.mark.slow
def test_one_wrong_critical_leaf_of_an_easy_case_fails_the_run():
    answer, verdicts = decide(of_difficulty("a", "easy", 19, 1, critical_fields=["t19"]))
    assert (answer, verdicts["critical_complete_accuracy{difficulty=easy}"]) == ("NO-GO", "FAIL")


@pytest.mark.slow
def test_cases_are_sliced_by_difficulty_and_by_each_focus_area():
    first = of_difficulty("a", "easy", 1, 0, focus_areas=["units", "values"])
    second = of_difficulty("b", "hard", 0, 1, focus_areas=["units"])
    result = judge_rows([first[0], second[0]], [first[1], second[1]])
    found = {
        "".join(f"{key}={value}" for key, value in estimate.slice.items()): estimate.value
        for estimate in result.estimates
        if estimate.metric == "overall_accuracy"
    }
    assert [
        found[name]
        for name in ("", "difficulty=easy", "difficulty=hard", "focus_areas=units", "focus_areas=values")
    ] == [
        0.5,
        1.0,
        0.0,
        0.5,
        1.0,
    ]


TREE = {
    "id": "P-17",
    "tags": ["a"],
    "confidence": 0.5,
    "error": "E4",
    "flow_rate": {"value": 5, "unit": "m3/h"},
}
ROWS = [
    pytest.param({"id": "c1", "extraction": TREE}, id="under extraction"),
    pytest.param({"test_case_id": "c1", "extraction": TREE}, id="under the case's own id"),
    pytest.param({"id": "c1", "extracted_facts": TREE}, id="under the source's name"),
    pytest.param({"id": "c1", "extraction": json.dumps(TREE)}, id="as text"),
    pytest.param({"id": "c1", "raw": f"```json\n{json.dumps(TREE)}\n```"}, id="as a raw answer"),
    pytest.param(
        {"id": "c1", "raw": json.dumps({"extraction": TREE})}, id="as a raw answer with its envelope"
    ),
    pytest.param({"id": "c1", "timing": {"duration_ms": 5}, "extraction": TREE}, id="beside its timing"),
    pytest.param({"test_case_id": "c1", **TREE}, id="the tree itself, beside the case's id"),
]


def write_cases(folder):
    folder.mkdir()
    case = {
        "test_case_id": "c1",
        "description": "one",
        "difficulty": "easy",
        "focus_areas": ["unit_parsing"],
        "expected_extraction": TREE,
    }
    (folder / "c1_expected.json").write_text(
        json.dumps({**case, "critical_fields": ["flow_rate.unit"], "acceptable_variations": {}})
    )
    return folder


FAILED: list[dict[str, Any]] = [
    {"id": "c1", "error": "timeout"},
    {"id": "c1", "extraction": None},
    {"id": "c1", "extraction": [1]},
    {"id": "c1", "parse_success": False},
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "accuracy", "errors"),
    [
        *(pytest.param(*row.values, 1.0, {}, id=row.id) for row in ROWS),
        *((row, 0.0, {"missing": 6, "missing_fields": 5}) for row in FAILED),
    ],
)
def test_a_prediction_is_the_tree_however_it_is_wrapped_and_a_failed_one_is_an_empty_tree(
    row, accuracy, errors, tmp_path
):
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    result = score(
        write_cases(tmp_path / "cases"), {"p": tmp_path / "p.jsonl"}, {"protocol": "engineering-extractor"}
    )
    assert (result.value("overall_accuracy"), counts(result)) == (accuracy, errors)


@pytest.mark.slow
def test_a_folder_of_trees_is_named_by_its_files_and_the_trees_are_taken_whole(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "c1.json").write_text(json.dumps(TREE))
    result = score(
        write_cases(tmp_path / "cases"), {"p": tmp_path / "p"}, {"protocol": "engineering-extractor"}
    )
    assert (result.value("overall_accuracy"), counts(result)) == (1.0, {})


@pytest.mark.slow
def test_a_case_file_with_a_misspelled_envelope_is_refused_and_the_right_name_is_said():
    with pytest.raises(ProblemsError) as caught:
        judge_rows(
            [{"test_case_id": "a", "expected_extractoin": {"x": 1}}], [{"id": "a", "extraction": {"x": 1}}]
        )
    assert "expected_extractoin" in str(caught.value)


@pytest.mark.slow
def test_an_extractor_that_leaves_out_every_critical_value_passes_the_published_figure_and_fails_ours():
    case, prediction = of_difficulty("a", "easy", 9, 0, critical_fields=["t0"])
    prediction["extraction"].pop("t0")
    answer, verdicts = decide((case, prediction))
    gates = ("critical_field_accuracy{difficulty=easy}", "critical_complete_accuracy{difficulty=easy}")
    assert (answer, *(verdicts[gate] for gate in gates)) == ("NO-GO", "PASS", "FAIL")


# The likeliest errors, by the classes that the engineering strategy names; scores ignore them

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


def diagnoses(expected, actual):
    result = judge(expected, actual)
    return {
        row["gold_path"]: row["diagnoses"]
        for row in result.evidence.iter_rows(named=True)
        if row["diagnoses"]
    }


@pytest.mark.slow
@pytest.mark.parametrize(("key", "gold", "pred", "name"), CASES)
def test_the_main_diagnosis_names_the_class_of_error(key, gold, pred, name):
    assert diagnoses({"flow": {key: gold}}, {"flow": {key: pred}})["flow." + key][0] == name


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


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "actual", "path", "is_named"), ELSEWHERE)
def test_a_short_number_is_another_fields_only_if_it_can_tell(expected, actual, path, is_named):
    assert ("value_of_another_field" in diagnoses(expected, actual)[path]) == is_named


@pytest.mark.slow
@pytest.mark.parametrize(("normal", "plain"), [("Nm3/h", "m3/h"), ("Nm³/h", "m³/h"), ("mg/Nm3", "mg/m3")])
def test_normal_units_are_not_their_plain_counterparts(normal, plain):
    assert UnitReader().read(normal).canonical != UnitReader().read(plain).canonical
    assert QuantityReader(canonical=plain).read(f"5 {normal}").problem is not None


# How values and units are read that the protocol `engineering-extractor` lists


# The five published figures equal those of the source's description, but for documented differences


ENGINEERING_PUBLISHED_NUMBERS = [0, 1, 7, 45, 5000, 5040, 5060, 850.5, 0.00012]
TEXTS = ["m3/h", "m3 / h", "M3/H", "Nm3/h", "Toluene", "toluene", "", "5000"]
PLAIN = [text for text in TEXTS if text not in ("m3 / h", "M3/H", "toluene")]
KEYS = ["flow", "unit", "value", "unit_b", "value_b", "min_value", "a"]


def leaves(key):
    """Values; texts that differ in case and blanks only where source and protocol read units alike."""
    return st.sampled_from([None, *ENGINEERING_PUBLISHED_NUMBERS, *(TEXTS if key == "unit" else PLAIN)])


def trees(depth, key=""):
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
def cases(draw):
    expected = draw(ROOTS)
    actual = {
        key: draw(st.one_of(st.just(value), trees(3, key)))
        for key, value in expected.items()
        if draw(st.integers(0, 5))
    }
    paths = list(list_leaves(expected, ""))
    return expected, actual, draw(st.lists(st.sampled_from(paths), max_size=4)) if paths else []


def list_leaves(tree, path):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from list_leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, list):
        for at, item in enumerate(tree):
            yield from list_leaves(item, f"{path}[{at}]")
    else:
        yield path


@pytest.mark.slow
@settings(few_examples(), suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(cases(), min_size=1, max_size=25))
def test_random_cases_have_the_figures_of_the_source(drawn):
    gold = [
        {"id": at, "expected_extraction": case[0], "critical_fields": case[2]}
        for at, case in enumerate(drawn)
    ]
    result = judge_rows(gold, [{"id": at, "extraction": case[1]} for at, case in enumerate(drawn)])
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


@pytest.mark.slow
@pytest.mark.parametrize(("metric", "value"), BY_HAND)
def test_the_figures_are_those_worked_by_hand(metric, value):
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


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "actual"), DIFFERENT)
def test_where_the_page_says_that_they_differ_they_do(expected, actual):
    name = "overall_accuracy"
    assert judge(expected, actual).value(name) != pytest.approx(figures(expected, actual)[name])


# The protocol `engineering-extractor`: every formula and edge case with figures worked out by hand


@pytest.mark.slow
def test_the_worked_case_has_the_figures_worked_out_by_hand():
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


ENGINEERING_EXTRACTOR_NUMBERS = [
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


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "actual", "is_right"), ENGINEERING_EXTRACTOR_NUMBERS)
def test_a_number_matches_within_one_percent_of_itself_or_of_one(expected, actual, is_right):
    result = judge({"a": expected}, {"a": actual})
    assert counts(result) == ({} if is_right else {"value": 1})
    assert result.value("pooled_value_accuracy") == float(is_right)


ENGINEERING_EXTRACTOR_UNITS = [
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


@pytest.mark.slow
@pytest.mark.parametrize(("key", "expected", "actual", "is_right"), ENGINEERING_EXTRACTOR_UNITS)
def test_a_unit_matches_whatever_its_case_and_white_space(key, expected, actual, is_right):
    result = judge({key: expected}, {key: actual})
    assert counts(result) == ({} if is_right else {"unit": 1})
    assert result.value("pooled_unit_accuracy") == float(is_right)
    assert result.value("pooled_value_accuracy") is None


@pytest.mark.slow
def test_a_number_in_another_notation_is_a_value_error_that_is_diagnosed_as_a_reading_question():
    result = judge({"flow": 5000}, {"flow": "5.000"})
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


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "actual"), STRUCTURES)
@pytest.mark.parametrize("place", ["key", "item"])
def test_a_container_against_another_kind_is_one_structure_error_and_nothing_below_counts(
    expected, actual, place
):
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


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "actual", "accepted", "is_right"), ACCEPTED)
def test_an_accepted_variation_matches_as_it_is(expected, actual, accepted, is_right):
    assert counts(judge({"x": [expected]}, {"x": [actual]}, accepted={"x[0]": accepted})) == (
        {} if is_right else {"value": 1}
    )


# The engine against the protocol written down a second time, on random trees.


def judge_trees(cases, workers=1):
    gold = [
        {
            "id": number,
            "expected_extraction": case[0],
            "critical_fields": case[2],
            "acceptable_variations": case[3],
        }
        for number, case in enumerate(cases)
    ]
    predictions = [{"id": number, "extraction": case[1]} for number, case in enumerate(cases)]
    options = {"bootstrap": 0, "evidence": "none", "batch": 64, "workers": workers}
    return score(gold, {"p": predictions}, {"protocol": "engineering-extractor"}, **options)


@pytest.mark.parametrize("seed", range(4))
def test_every_metric_of_every_case_is_that_of_the_plain_recursion(seed):
    source = random.Random(seed)
    cases = [make_case(source) for _ in range(64)]
    rows = {row["doc"]: row for row in judge_trees(cases).documents.to_dicts()}
    for number, case in enumerate(cases):
        wanted = measure([compare(*case)])
        found = {name: rows[str(number)][name] for name in wanted}
        assert found == pytest.approx(wanted, abs=1e-9), f"{case}"
        assert rows[str(number)]["score"] == pytest.approx(wanted["overall_accuracy"], abs=1e-9)


def test_every_metric_of_all_cases_is_that_of_the_plain_recursion():
    source = random.Random(99)
    cases = [make_case(source) for _ in range(150)]
    result = judge_trees(cases)
    wanted = measure([compare(*case) for case in cases])
    assert {name: result.value(name) for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_random_trees_hold_every_kind_of_error():
    source = random.Random(99)
    told = {what for _ in range(150) for _, what in compare(*make_case(source)).seen}
    assert told == {"match", "unit", "value", "structure", "missing", "extra"}
