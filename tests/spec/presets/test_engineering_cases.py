"""The protocol `engineering-extractor` over cases: means, pooled figures, difficulties, inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.judging import score_alone as score
from tests.spec.presets.engineering_runs import (
    ACCURACIES,
    ACTUAL,
    CRITICAL,
    EXPECTED,
    VARIATIONS,
    counts,
    judge,
    judge_rows,
)

from fieldassay.decisions.gate import decide_result
from fieldassay.errors import ProblemsError
from fieldassay.reports.export.error_report import render_error_report
from fieldassay.spec.plan.compile import read_plan


def test_a_case_with_nothing_to_divide_has_the_published_values_and_pooled_ones_are_undefined() -> None:
    result = judge({"a": 1}, {})
    assert {name: result.value(name) for name in ACCURACIES} == {
        "overall_accuracy": 0.0, "complete_accuracy": 0.0, "critical_complete_accuracy": 1.0,
        "unit_accuracy": 1.0, "value_accuracy": 1.0, "shape_accuracy": 1.0,
    }  # fmt: skip
    assert [result.value(f"pooled_{name}") for name in ACCURACIES] == [None, 0.0, None, None, None, None]


def test_an_empty_case_has_no_complete_accuracy_for_which_nothing_is_published() -> None:
    result = judge({}, {})
    assert (result.value("overall_accuracy"), result.value("complete_accuracy")) == (0.0, None)


def test_figures_are_means_over_cases_and_pooled_ones_stand_beside() -> None:
    gold = [
        {"test_case_id": "a", "expected_extraction": {"x": 1, "y": 2, "z": 3, "w": 4}},
        {"test_case_id": "b", "expected_extraction": {"x": 1}},
    ]
    result = judge_rows(
        gold,
        [{"id": "a", "extraction": {"x": 1, "y": 2, "z": 3, "w": 9}}, {"id": "b", "extraction": {"x": 7}}],
    )
    assert result.value("overall_accuracy") == (0.75 + 0.0) / 2
    assert result.value("pooled_overall_accuracy") == 3 / 5


def test_a_case_without_a_prediction_is_judged_as_an_empty_one() -> None:
    gold = [
        {"test_case_id": "a", "expected_extraction": {"x": 1}},
        {"test_case_id": "b", "expected_extraction": {"x": {"y": 1, "z": 2}}},
    ]
    result = judge_rows(gold, [{"id": "a", "extraction": {"x": 1}}])
    assert result.value("overall_accuracy") == 0.5
    assert counts(result) == {"missing": 2, "missing_fields": 1}


def test_each_case_has_its_figures_as_columns() -> None:
    result = judge(EXPECTED, ACTUAL, CRITICAL, VARIATIONS)
    assert result.documents is not None
    row = result.documents.to_dicts()[0]
    assert (row["score"], row["overall_accuracy"]) == (pytest.approx(8 / 12), pytest.approx(8 / 12))
    assert (row["errors_unit"], row["errors_value"], row["errors_missing"], row["errors_extra"]) == (
        2,
        2,
        1,
        1,
    )


def of_difficulty(
    name: str, difficulty: str, right: int, wrong: int, **notes: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a case and its prediction with so many texts right and so many wrong."""
    keys = [f"t{number}" for number in range(right + wrong)]
    case = {
        "test_case_id": name,
        "difficulty": difficulty,
        "expected_extraction": dict.fromkeys(keys, "x"),
        **notes,
    }
    return case, {"id": name, "extraction": {key: "x" if at < right else "y" for at, key in enumerate(keys)}}


def decide(*pairs: tuple[dict[str, Any], dict[str, Any]]) -> tuple[str, dict[str, str]]:
    """Return the answer, and the verdict of each gate by the text before its threshold."""
    decision = decide_result(
        judge_rows([case for case, _ in pairs], [prediction for _, prediction in pairs])
    )[0]
    return decision.answer.value, {
        str(outcome.gate).split(" >")[0]: outcome.verdict.value for outcome in decision.outcomes
    }


def test_the_thresholds_are_the_published_ones_on_the_published_figures_and_those_of_critical_fields_on_ours_too() -> (
    None
):
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
def test_each_difficulty_has_its_threshold_inclusive(
    difficulty: str, right: int, wrong: int, verdict: str
) -> None:
    answer, verdicts = decide(of_difficulty("a", difficulty, right, wrong))
    assert verdicts[f"overall_accuracy{{difficulty={difficulty}}}"] == verdict
    # any wrong leaf that is no unit is an error of values, as published
    assert (answer, verdicts[f"value_parsing_accuracy{{difficulty={difficulty}}}"]) == ("NO-GO", "FAIL")
    assert {verdict for gate, verdict in verdicts.items() if difficulty not in gate} == {"SKIPPED"}


def test_a_run_passes_only_if_every_difficulty_that_occurs_passes() -> None:
    assert decide(of_difficulty("a", "easy", 20, 0), of_difficulty("b", "hard", 17, 0))[0] == "GO"
    assert decide(of_difficulty("a", "easy", 20, 0), of_difficulty("b", "hard", 8, 2))[0] == "NO-GO"


def test_one_wrong_critical_leaf_of_an_easy_case_fails_the_run() -> None:
    answer, verdicts = decide(of_difficulty("a", "easy", 19, 1, critical_fields=["t19"]))
    assert (answer, verdicts["critical_complete_accuracy{difficulty=easy}"]) == ("NO-GO", "FAIL")


def test_cases_are_sliced_by_difficulty_and_by_each_focus_area() -> None:
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


def write_cases(folder: Path) -> Path:
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


@pytest.mark.parametrize("row", ROWS)
def test_a_prediction_is_the_tree_however_it_is_wrapped(row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    result = score(
        write_cases(tmp_path / "cases"), {"p": tmp_path / "p.jsonl"}, {"protocol": "engineering-extractor"}
    )
    assert (result.value("overall_accuracy"), counts(result)) == (1.0, {})


def test_a_folder_of_trees_is_named_by_its_files_and_the_trees_are_taken_whole(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "c1.json").write_text(json.dumps(TREE))
    result = score(
        write_cases(tmp_path / "cases"), {"p": tmp_path / "p"}, {"protocol": "engineering-extractor"}
    )
    assert (result.value("overall_accuracy"), counts(result)) == (1.0, {})


@pytest.mark.parametrize(
    "row",
    [
        {"id": "c1", "error": "timeout"},
        {"id": "c1", "extraction": None},
        {"id": "c1", "extraction": [1]},
        {"id": "c1", "parse_success": False},
    ],
)
def test_a_failed_extraction_is_an_empty_tree(row: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps(row))
    result = score(
        write_cases(tmp_path / "cases"), {"p": tmp_path / "p.jsonl"}, {"protocol": "engineering-extractor"}
    )
    assert (result.value("overall_accuracy"), counts(result)) == (0.0, {"missing": 6, "missing_fields": 5})


def test_a_case_file_with_a_misspelled_envelope_is_refused_and_the_right_name_is_said() -> None:
    with pytest.raises(ProblemsError) as caught:
        judge_rows(
            [{"test_case_id": "a", "expected_extractoin": {"x": 1}}], [{"id": "a", "extraction": {"x": 1}}]
        )
    assert "expected_extractoin" in str(caught.value)


def test_one_case_file_without_its_envelope_among_others_is_refused() -> None:
    with pytest.raises(ProblemsError):
        judge_rows(
            [{"test_case_id": "a", "expected_extraction": {"x": 1}}, {"test_case_id": "b", "x": 1}],
            [{"id": "a", "extraction": {"x": 1}}],
        )


def test_a_spec_of_ones_own_on_this_protocol_may_type_fields() -> None:
    spec = {
        "protocol": "engineering-extractor",
        "locale": "de_DE",
        "fields": {"flow": {"type": "quantity"}, "gas": "text"},
        "gates": [],
        "metrics": ["accuracy"],
    }
    gold = [{"test_case_id": "a", "expected_extraction": {"flow": "5000 m3/h", "gas": "Toluene"}}]
    result = score(gold, {"p": [{"id": "a", "extraction": {"flow": "5.000 m³/h", "gas": "Toluene"}}]}, spec)
    assert result.value("accuracy") == 1.0


def test_an_extractor_that_leaves_out_every_critical_value_passes_the_published_figure_and_fails_ours() -> (
    None
):
    case, prediction = of_difficulty("a", "easy", 9, 0, critical_fields=["t0"])
    prediction["extraction"].pop("t0")
    answer, verdicts = decide((case, prediction))
    gates = ("critical_field_accuracy{difficulty=easy}", "critical_complete_accuracy{difficulty=easy}")
    assert (answer, *(verdicts[gate] for gate in gates)) == ("NO-GO", "PASS", "FAIL")


def test_the_report_says_which_figures_and_errors_are_the_source_s() -> None:
    case, prediction = of_difficulty("a", "easy", 3, 1)
    text = render_error_report(judge_rows([case], [prediction]), [])
    assert (
        "| critical field accuracy | source: right / compared critical leaves; missing ones cost nothing |"
        in text
    )
    assert "| critical complete accuracy | ours: right / all critical leaves |" in text
    assert "| value errors | source: all other wrong leaves | 1 |" in text
