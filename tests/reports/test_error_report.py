"""The error report: every error once, under its kind, escaped; counts equal the protocol's metrics."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.spec.presets.engineering_runs import ACTUAL, CRITICAL, EXPECTED, VARIATIONS, judge, judge_rows
from tests.spec.presets.engineering_trees import make_case

from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError
from fieldassay.metrics.result.result import Result
from fieldassay.reports.export.error_lines import KINDS, ErrorLine, list_errors
from fieldassay.reports.export.run_errors import error_report_of_run
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score


def lines_of(result: Result) -> tuple[ErrorLine, ...]:
    assert result.evidence is not None
    return list_errors(result.evidence.lazy())


def told(expected: Any, actual: Any, critical: Any = ()) -> list[tuple[str, str, str | None, str | None]]:
    return [
        (line.kind, line.path, line.expected, line.actual)
        for line in lines_of(judge(expected, actual, critical))
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "found"),
    [
        pytest.param({"a": {"unit": "K"}}, {"a": {"unit": "F"}}, ("unit", "a.unit", '"K"', '"F"'), id="unit"),
        pytest.param(
            {"flow_unit": 5},
            {"flow_unit": "F"},
            ("value", "flow_unit", "5", '"F"'),
            id="a number under a unit's name",
        ),
        pytest.param({"a": [1, 2]}, {"a": [1, 5]}, ("value", "a[1]", "2", "5"), id="value"),
        pytest.param({"a": None}, {"a": ""}, ("value", "a", "null", '""'), id="null"),
        pytest.param({"a": 1}, {"a": [1]}, ("structure", "a", "1", "[1]"), id="list for a number"),
        pytest.param(
            {"a": [1, 2]}, {"a": {"b": 1}}, ("structure", "a", "a list", '{"b":1}'), id="object for a list"
        ),
        pytest.param(
            {"a": {"b": 1}}, {"a": None}, ("structure", "a", "an object", "null"), id="null for an object"
        ),
        pytest.param(
            {"a": [{"b": 1}]},
            {"a": [7]},
            ("structure", "a[0]", "an object", "7"),
            id="number for an object in a list",
        ),
        pytest.param(
            {"a": [[1]]}, {"a": [7]}, ("structure", "a[0]", "a list", "7"), id="number for a list in a list"
        ),
        pytest.param({"a": {"b": [1]}}, {}, ("missing", "a.b[0]", "1", None), id="missing"),
        pytest.param({}, {"a.b": None}, ("extra", '["a.b"]', None, "null"), id="extra"),
    ],
)
def test_an_error_is_one_line_with_its_kind_path_and_both_values(
    expected: Any, actual: Any, found: Any
) -> None:
    assert told(expected, actual) == [found]


def error_report(result: Result) -> str:
    evidence = result.evidence
    return error_report_of_run(Run.of(result, None if evidence is None else evidence.lazy()))


def test_critical_values_below_a_place_of_another_kind_are_listed_beside_the_structure_error() -> None:
    found = told({"a": {"b": 1, "c": 2}}, {"a": 3}, ["a.b"])
    assert sorted(found, key=str) == [("structure", "a", "an object", "3"), ("structure", "a.b", "1", None)]
    report = error_report(judge({"a": {"b": 1, "c": 2}}, {"a": 3}, ["a.b"]))
    assert "| structure | 1 | 1 | 1 |" in report
    assert "Critical values that are not there: a.b." in report


def test_the_rows_of_the_report_add_up_and_critical_places_are_counted_once() -> None:
    expected = {"questions": {"a": 1, "b": 2}, "issues": {"c": 3}, "x": 1}
    report = error_report(
        judge(expected, {"questions": [], "issues": [], "x": 1}, ["questions.a", "questions.b"])
    )
    assert "| structure | 2 | 1 | 1 |" in report
    rows = [line for line in report.splitlines() if line.startswith("| structure |") and line.count("|") > 5]
    assert len(rows) == 2
    assert [row.endswith("| critical |") for row in rows] == [True, False]
    assert "Critical values that are not there: questions.a, questions.b." in report


def test_the_lines_of_random_trees_are_as_many_as_the_metrics_count() -> None:
    source = random.Random(5)
    cases = [make_case(source) for _ in range(80)]
    gold = [
        {"id": number, "expected_extraction": case[0], "acceptable_variations": case[3], "difficulty": "easy"}
        for number, case in enumerate(cases)
    ]
    result = judge_rows(gold, [{"id": number, "extraction": case[1]} for number, case in enumerate(cases)])
    counted = Counter(line.kind for line in lines_of(result))
    assert {kind: counted[kind] for kind in KINDS} == {kind: result.value(f"errors_{kind}") for kind in KINDS}


def test_the_report_has_figures_errors_thresholds_and_cases() -> None:
    gold = [
        {
            "test_case_id": "c1",
            "difficulty": "easy",
            "expected_extraction": EXPECTED,
            "critical_fields": CRITICAL,
            "acceptable_variations": VARIATIONS,
        }
    ]
    report = error_report(judge_rows(gold, [{"id": "c1", "extraction": ACTUAL}]))
    assert "| overall accuracy | source: right / (right + wrong) | 66.7% | 66.7% | 1 |" in report
    assert "| unit | 2 | 1 | 2 |" in report
    assert "| overall accuracy | 66.7% &gt;= 95% FAIL | no case | no case |" in report
    assert "**NO-GO**" in report
    assert "| c1 | easy | 0.667 | 0.500 | 0.000 | 0.250 | 1.000 | 0.500 | 2 | 2 | 0 | 1 | 1 |" in report
    assert (
        "| unit | process\\_parameters.flow\\_rate.unit | m3/h | m³/h | unicode form | critical |" in report
    )


def test_paths_and_values_cannot_break_the_table_or_become_markup() -> None:
    report = error_report(judge({"a|b": "<script>", "x": "1"}, {"a|b": "`*|\n\u202e", "x": "1"}))
    row = next(line for line in report.splitlines() if "&lt;script&gt;" in line)
    assert "\u202e" not in report
    assert row.replace("\\|", "").count("|") == 7


def test_a_spec_without_definitions_has_an_error_report_too() -> None:
    result = score(
        [{"id": 1, "total": "5", "name": "a"}],
        [{"id": 1, "total": "6"}],
        "fields: {total: number, name: text}",
        ScoreOptions(replicates=0),
    )
    report = error_report(result)
    assert "| value | total | 5 | 6 |" in report
    assert "| missing | name | a | — |" in report


def test_a_result_without_evidence_says_what_to_do() -> None:
    result = score(
        [{"id": 1, "a": 1}], [{"id": 1, "a": 1}], "type: any", ScoreOptions(replicates=0, evidence="none")
    )
    with pytest.raises(ProblemsError, match="--evidence"):
        error_report(result)


@pytest.mark.parametrize("evidence", ["all", "errors"])
def test_a_run_is_exported_as_an_error_report(tmp_path: Path, evidence: str) -> None:
    (tmp_path / "gold.jsonl").write_text(
        '{"test_case_id": "c1", "difficulty": "hard", "expected_extraction": {"a": {"unit": "K"}}}'
    )
    (tmp_path / "p.jsonl").write_text('{"id": "c1", "extraction": {"a": {"unit": "F"}}}')
    run, target = str(tmp_path / "run"), tmp_path / "errors.md"
    files = ["--gold", str(tmp_path / "gold.jsonl"), "--pred", str(tmp_path / "p.jsonl"), "--out", run]
    assert (
        main(["score", "--protocol", "engineering-extractor", *files, "--evidence", evidence, "--quiet"]) == 1
    )
    assert main(["export", run, "--to", str(target), "--system", "p"]) == 0
    assert "| unit | a.unit | K | F |" in target.read_text()
    assert "0.0% &gt;= 85% FAIL" in target.read_text()
