"""What pages of reports say."""

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.spec.presets.engineering_cases import (
    ACTUAL,
    CRITICAL,
    EXPECTED,
    VARIATIONS,
    judge,
    judge_rows,
    make_case,
)

import fieldassay as fa
from fieldassay import report
from fieldassay.commands.cli.main import main
from fieldassay.decisions.gate import decide_result
from fieldassay.errors import ProblemsError
from fieldassay.metrics.estimate import format_value
from fieldassay.metrics.result.result import Result
from fieldassay.reports.ci.outputs import render_comment
from fieldassay.reports.content.run.parts import render_answer, render_terminal, report_parts
from fieldassay.reports.content.run.summary import Summary, list_grids, share_levels, summarize
from fieldassay.reports.export.pages import (
    KINDS,
    ErrorLine,
    list_errors,
    render_error_report,
    render_executive,
)
from fieldassay.reports.formats import FORMATS
from fieldassay.reports.html.page import render_html_report
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import render_markdown
from fieldassay.runs.run import Run
from fieldassay.scoring.inputs import ScoreOptions
from fieldassay.scoring.score import score

# The terminal's report begins with the answer, and has it in few lines whatever the number of systems

SPEC = "{name: bills, fields: {total: number, name: text}, gates: [accuracy >= 0.8]}"
OPTIONS = {"bootstrap": 100}


def records(wrong: int, documents: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "id": str(at), "total": 9999 if at < wrong else at, "name": "x",
            "timing": {"duration_ms": 1500}, "usage": {"cost_usd": 0.002},
        }
        for at in range(documents)
    ]  # fmt: skip


def shown(systems: dict[str, int], spec: str = SPEC, **options: Any) -> Summary:
    predictions: Any = {name: records(wrong) for name, wrong in systems.items()}
    result = score(records(0), predictions, spec, bootstrap=100, **options)
    return summarize(result, decisions=decide_result(result))


@pytest.fixture(scope="module")
def demo(demo_run: Path) -> tuple[Result, Summary]:
    result = Run.open(demo_run).result
    return result, summarize(result, decisions=decide_result(result))


def test_the_demo_has_its_answer_in_thirty_lines_of_eighty_columns(demo: tuple[Result, Summary]) -> None:
    lines = render_answer(demo[1], Screen(80)).splitlines()
    assert lines[0] == "GO atlas · NO-GO birch, cedar"
    assert len(lines) <= 45 and max(map(len, lines)) <= 80
    order = [
        next(at for at, line in enumerate(lines) if part in line)
        for part in ("Use atlas", "most often", "place", "What to fix")
    ]
    assert order == sorted(order)
    assert re.search(r"1 +atlas +94\.9% \(91\.1 to 95\.7\) +97\.2% +\$7\.81 +4\.0 s +0", "\n".join(lines))


@pytest.mark.parametrize("count", [2, 5, 12])
def test_every_system_has_a_row_with_all_columns_the_best_first(count: int) -> None:
    systems = {f"model-{at:02}": count - at for at in range(count)}
    summary = shown(systems, metrics=("accuracy", "latency_p50", "cost_usd"))
    lines = render_answer(summary, Screen(80)).splitlines()
    rows = [line for line in lines if re.match(r"\d+( to \d+)? +model-", line)]
    assert [line.split("model-")[1][:2] for line in rows] == [f"{at:02}" for at in reversed(range(count))]
    for row in rows:
        assert re.search(r"\d\.\d% \(.*\) +\$2\.00 +1\.5 s +0$", row), row


def test_long_names_of_systems_are_cut_before_a_column_is_left_out() -> None:
    systems = {f"vendor/a-large-language-model-preview-{at}": at for at in range(3)}
    lines = render_answer(shown(systems), Screen(80)).splitlines()
    assert sum(bool(re.search(r"\$2\.00 +1\.5 s +0$", line)) for line in lines) == 3


def test_the_better_system_comes_first_in_a_comparison() -> None:
    text = render_terminal(shown({"bad": 30, "good": 0}), Screen(200))
    assert "good is better than bad by 37.5 points of accuracy" in text and "is worse than" not in text


def test_without_judged_values_fields_are_there_and_no_repairs() -> None:
    text = render_answer(shown({"a": 20}, evidence="none"), Screen(100))
    assert re.search(r"^total +50.0% \(", text, re.M) and "What to fix first" not in text


def test_twenty_systems_with_long_names_have_their_answer_and_their_table_on_one_screen() -> None:
    systems = {f"vendor/model-with-a-long-name-20250514-prompt-{at:02}": at for at in range(20)}
    lines = render_answer(shown(systems, metrics=("accuracy",)), Screen(80)).splitlines()
    assert max(map(len, lines)) <= 80
    assert next(at for at, line in enumerate(lines) if line.startswith("place")) <= 29
    assert "the 19 others" in " ".join(lines)
    assert len([line for line in lines if re.match(r"\d+( to( \d+)?)? +vendor", line)]) == 20


@pytest.mark.parametrize(
    ("known", "counts"),
    [
        pytest.param((40, 40), "", id="all documents of both"),
        pytest.param((40, 25), "40, 25", id="fewer of one"),
        pytest.param((25, 25), "25, 25", id="fewer of both, which may be others"),
        pytest.param((40, 0), "", id="one without"),
    ],
)
def test_times_and_costs_say_how_many_documents_they_have_where_that_differs(
    known: tuple[int, int], counts: str
) -> None:
    predictions = {
        name: [
            row if at < count else {key: row[key] for key in ("id", "total", "name")}
            for at, row in enumerate(records(0))
        ]
        for name, count in zip("ab", known, strict=True)
    }
    result = score(records(0), predictions, SPEC, **OPTIONS)
    summary = summarize(result, decisions=decide_result(result))
    expected = f"documents with a time: {counts}; with a cost: {counts}" if counts else ""
    assert expected in render_answer(summary, Screen(120))
    assert expected.capitalize() in render_markdown(report_parts(summary))
    assert ("with a cost" in render_answer(summary, Screen(120))) == bool(counts)
    assert expected in fa.report(result)


@pytest.mark.parametrize("others", [{"oak": 3}, {"oak": 3, "elm": 12}], ids=["two", "three"])
def test_no_system_is_called_better_than_one_that_never_answered(others: dict[str, int]) -> None:
    gold = [{"id": str(at), "total": at} for at in range(30)]
    systems: dict[str, list[dict[str, object]]] = {
        name: [{**row, "total": -1} if at < wrong else row for at, row in enumerate(gold)]
        for name, wrong in others.items()
    }
    systems["mute"] = [{"id": row["id"], "error": "no key"} for row in gold]
    result = score(gold, systems, "fields: {total: number}", bootstrap=100)
    summary = summarize(result)
    for text in (
        render_terminal(summary, Screen(300)),
        render_markdown(report_parts(summary)),
        report(result),
    ):
        lines = text.split("<script type")[0].splitlines()
        assert not [line for line in lines if re.search(r"than mute|, mute by|mute is worse", line)]
        assert "mute answered none of the documents, and is left out" in text


# Tables of metrics that were asked for, in the terminal, in Markdown and in HTML

GOLD = [{"id": 1, "kind": "a", "day": "2024-01-02"}, {"id": 2, "kind": "b"}, {"id": 3}]
USAGE = {"prompt_tokens": 900, "completion_tokens": 80, "embedding_tokens": 20}
PREDICTIONS = [
    {"id": 1, "kind": "a", "day": "soon", "timing": {"duration_ms": 100}, "usage": USAGE},
    {"id": 2, "day": "never", "timing": {"duration_ms": 300}, "usage": {"prompt_tokens": 100}},
    {"id": 3, "kind": "z", "timing": {"duration_ms": 500}},
]
ASKED_SPEC = "fields: {kind: {type: enum, values: [a, b]}, day: date}"
ASKED = ("presence(granularity=slot)", "types", "latency", "tokens")


def judged(*metrics: str) -> Result:
    return score(GOLD, {"s": PREDICTIONS}, ASKED_SPEC, ScoreOptions(metrics=metrics or None), bootstrap=0)


def test_the_presence_matrix_is_that_of_each_field() -> None:
    matrix = {grid.title: grid for grid in list_grids(judged(*ASKED))}["Filled or empty, s"]
    assert matrix.head == (
        "field",
        "both empty",
        "only pred",
        "only gold",
        "both",
        "FDA",
        "HR",
        "MR",
        "RFA",
        "out of type",
    )
    assert matrix.rows == (
        ("kind", "0", "1", "1", "1", "33.3%", "100.0%", "50.0%", "100.0%", "1"),
        ("day", "1", "1", "0", "1", "66.7%", "50.0%", "0.0%", "0.0%", "2"),
        ("all", "1", "2", "1", "2", "50.0%", "66.7%", "33.3%", "50.0%", "3"),
    )


def test_all_figures_of_time_and_tokens_are_there() -> None:
    lines = {line.label: format_value(line.estimates[0]) for line in summarize(judged(*ASKED)).headline}
    times = {label: text for label, text in lines.items() if label.startswith("latency, ")}
    assert list(times.values()) == ["0.30 s", "0.46 s", "0.48 s", "0.50 s", "0.30 s", "0.10 s", "0.50 s"]
    of_each = ("tokens", "prompt tokens", "completion tokens", "embedding tokens")
    assert [lines[f"{name} per document"] for name in of_each] == [
        "550 tokens",
        "500 tokens",
        "80 tokens",
        "20 tokens",
    ]
    assert [lines[f"{name} of all documents"] for name in of_each] == [
        "1,100 tokens",
        "1,000 tokens",
        "80 tokens",
        "20 tokens",
    ]


@pytest.mark.parametrize("shape", ["terminal", "markdown", "html"])
def test_every_report_has_the_tables(shape: str) -> None:
    result = judged(*ASKED)
    text = {
        "terminal": lambda: render_terminal(summarize(result), Screen(100)),
        "markdown": lambda: render_markdown(report_parts(summarize(result))),
        "html": lambda: "".join(render_html_report(Reported(result), ReportOptions())),
    }[shape]()
    for said in (
        "Filled or empty, s",
        "only gold",
        "0.46 s",
    ):
        assert said in text.replace("\u00a0", " ")


@pytest.mark.parametrize("names", [[f"f{at:02}" for at in range(45)]], ids=["45 fields"])
def test_levels_are_those_of_every_field_under_the_name_of_its_system(names: list[str]) -> None:
    result = score(
        [{"id": 1, **dict.fromkeys(names, "abcd")}],
        {"a, b": [{"id": 1, **dict.fromkeys(names, "abce")}]},
        {"fields": {name: {"type": "text", "compare": "levenshtein"} for name in names}},
        bootstrap=0,
    )
    assert [row[0] for row in share_levels(result.evidence.lazy(), result)["a, b"]] == names


# The error report: every error once, under its kind, escaped; counts equal the protocol's metrics


def lines_of(result: Result) -> tuple[ErrorLine, ...]:
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
    return render_error_report(Run.of(result, None if evidence is None else evidence.lazy()))


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


def test_figures_have_the_names_of_the_spec_and_those_of_single_types_stand_for_no_whole() -> None:
    # Of two values the text is right and the number is wrong: 1 / 2 of all, 0 of the numbers.
    share = '{formula: "mean(column=score, regime=baseline)", label: RightShare}'
    spec = f"{{fields: {{a: text, b: number}}, definitions: {{share: {share}}}, metrics: [share, share(type=each)]}}"
    report = error_report(
        score([{"id": 1, "a": "x", "b": 1}], [{"id": 1, "a": "x", "b": 2}], spec, bootstrap=0)
    )
    assert "| RightShare | 50.0% | 2 |" in report
    assert "0.0% | 1 |" not in report


def test_a_result_without_evidence_says_what_to_do() -> None:
    result = score(
        [{"id": 1, "a": 1}], [{"id": 1, "a": 1}], "type: any", ScoreOptions(evidence="none"), bootstrap=0
    )
    with pytest.raises(ProblemsError, match="--evidence"):
        error_report(result)


# No report tells the folders of the machine that made it

FOLDERS_SPEC = "{name: bills, fields: {total: number, shop: text}, gates: [accuracy >= 0.9]}"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two runs of the same inputs, which are named by absolute paths."""
    folder = tmp_path_factory.mktemp("secret place")
    gold = [{"id": str(number), "total": number, "shop": "Acme"} for number in range(4)]
    (folder / "spec.yaml").write_text(FOLDERS_SPEC, encoding="utf-8")
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), encoding="utf-8")
    (folder / "pred.jsonl").write_text("\n".join(map(json.dumps, gold[1:])), encoding="utf-8")
    made = []
    for name in ("old", "new"):
        words = ["--spec", "spec.yaml", "--gold", "gold.jsonl", "--pred", "m=pred.jsonl", "--out", name]
        named = [
            word
            if at % 2 == 0
            else word.replace(word.rpartition("=")[2], str(folder / word.rpartition("=")[2]))
            for at, word in enumerate(words)
        ]
        assert main(["score", *named, "--quiet", "--bootstrap", "50"]) in (0, 1)
        made.append(folder / name)
    return made


@pytest.mark.parametrize("shape", sorted(FORMATS))
def test_no_format_has_an_absolute_path(runs: list[Path], shape: str) -> None:
    assert "secret place" not in fa.report(runs[0], shape)


@pytest.mark.parametrize("ending", ["txt", "md", "html"])
def test_no_format_of_a_diff_has_an_absolute_path(runs: list[Path], ending: str, tmp_path: Path) -> None:
    out = tmp_path / f"diff.{ending}"
    assert main(["diff", *map(str, runs), "--out", str(out)]) == 0
    assert "secret place" not in out.read_text(encoding="utf-8")


def test_every_surface_names_the_fields_that_changed_where_the_whole_did_not() -> None:
    truth = [{"id": f"d{at:02}", "total": at, "due": at, "name": "x"} for at in range(60)]
    wrong = {
        "A": {"due": range(19), "total": range(30, 34)},
        "B": {"due": range(10, 16), "total": range(30, 47)},
    }
    systems: Any = {
        name: [{**row, **{field: -1 for field, at in own.items() if row["total"] in at}} for row in truth]
        for name, own in wrong.items()
    }
    result = score(truth, systems, "fields: {total: number, due: number, name: text}", bootstrap=100)
    summary = summarize(result)
    answer, reported = render_answer(summary, Screen(80)), Reported(result, result.evidence.lazy())  # type: ignore[union-attr]
    pages = [answer, render_terminal(summary, Screen(200)), render_markdown(report_parts(summary))]
    pages += ["".join(make(reported, ReportOptions())) for make in (render_comment, render_html_report)]
    for page in (*pages, render_executive(result)):
        said = " ".join(page.replace("\\", "").replace("&lt;", "<").split())
        assert "No clear difference between A and B overall (87.2% → 87.2%, p = " in said
        assert re.search(
            r"but B is worse in total \(−21.7 points, p < .001\) and better in due \(\+21.7 ", said
        )
    assert "▼ 71.7%" in result._repr_html_() and re.search(
        r"^total +93\.3% +████▌ +71\.7% +███▌ +▼ 21\.7 +another value \(4 → 17\)", answer, re.M
    )
