"""Checks over predictions: violations, counts, metrics, table, files, for any batches and workers."""

import json
import pickle
import random
from pathlib import Path

import pytest

from fieldassay import score
from fieldassay.records.record import Meta, Record
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.content.run.terminal import render_terminal
from fieldassay.reports.writers.page import Screen
from fieldassay.runs.run_file import VIOLATIONS
from fieldassay.runs.write import make_folder, read_violations
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.validation.checking import check_records, shown_value
from fieldassay.spec.plan.compile import read_plan

SPEC = """
name: flows
type: any
checks:
  .: {has_keys: [flow, notes]}
  flow: {has_keys: [value, unit]}
  flow.value: number
  flow.unit: {unit_format: {allowed: [m3/h]}}
  "**.*unit": unit_format
  "questions[].priority": {one_of: [HIGH, LOW]}
"""
GOOD = {"flow": {"value": 1, "unit": "m3/h"}, "notes": []}
RECORDS = {
    "sound": (GOOD, []),
    "text for a number": (
        {**GOOD, "flow": {"value": "1", "unit": "m3/h"}},
        [("flow.value", "number", '"1"')],
    ),
    "two keys": (
        {"flow": {}},
        [("notes", "has_keys", None), ("flow.value", "has_keys", None), ("flow.unit", "has_keys", None)],
    ),
    "no object": ({**GOOD, "flow": None}, [("flow", "has_keys", "null")]),
    "specific before general": (
        {**GOOD, "flow": {"value": 1, "unit": "m³/h"}},
        [("flow.unit", "unit_format", '"m³/h"')],
    ),
    "specific alone": ({**GOOD, "flow": {"value": 1, "unit": "kg"}}, [("flow.unit", "unit_format", '"kg"')]),
    "general": (
        {**GOOD, "a": [{"head_unit": "kg"}, {"head_unit": "°C"}]},
        [("a[1].head_unit", "unit_format", '"°C"')],
    ),
    "items": (
        {**GOOD, "questions": [{"priority": "LOW"}, {"priority": "low"}, {}, {"priority": {}}]},
        [("questions[1].priority", "one_of", '"low"'), ("questions[3].priority", "one_of", "{0 keys}")],
    ),
    "empty": ({}, [("flow", "has_keys", None), ("notes", "has_keys", None)]),
}


def record(data, name="d"):
    return Record(name, data, Meta(), f"p:{name}")


@pytest.mark.parametrize("case", RECORDS)
def test_a_record_has_the_violations_that_its_values_earn(case):
    data, wanted = RECORDS[case]
    found = []
    checked = check_records(
        read_plan(SPEC), "a", [record(data)], lambda system, violation: found.append((system, violation))
    )
    assert [(one.path, one.check, one.value) for _, one in found] == wanted
    assert checked.counts.tolist() == [len(wanted)] and {system for system, _ in found} <= {"a"}


def test_several_checks_of_one_path_all_count_and_a_name_counts_by_its_first_path():
    plan = read_plan(
        "fields: {x: text}\nchecks: {x: [{range: {least: 5}}, {range: {most: 1}}], '*': {range: {least: "
        "100}}}"
    )
    found = []
    check_records(
        plan,
        "a",
        [record({"x": 3, "y": 3})],
        lambda _, violation: found.append((violation.path, violation.at)),
    )
    assert found == [("x", "x"), ("x", "x"), ("y", "*")]


def gold(count):
    return [{"id": f"d{number}", **GOOD} for number in range(count)]


def predictions(count):
    draw = random.Random(7)
    return [{"id": f"d{number}", **draw.choice(list(RECORDS.values()))[0]} for number in range(count)]


def test_documents_without_a_readable_prediction_have_no_count_and_are_counted_as_before():
    given = [
        {"id": "d0", "flow": {}},
        {"id": "d1", "raw": "no json"},
        {"id": "d2", "error": "timeout"},
        {"id": "d3", **GOOD},
    ]
    spec = f"{SPEC}metrics: [checks, counts]"
    result = score(gold(5), given, spec, ScoreOptions(replicates=0))
    total, documents = result.estimate("check_violations"), result.estimate("documents_with_violations")
    assert (total.value, total.n, total.unit, total.better, total.interval) == (3, 2, "count", "lower", None)
    assert (documents.value, documents.n) == (1, 2)
    assert [result.value(f"documents_{name}") for name in ("missing", "invalid", "timeout")] == [1, 1, 1]
    table = result.documents.sort("doc")
    assert table["check_violations"].to_list() == [3.0, None, None, 0.0, None]
    assert table["has_violations"].to_list() == [True, False, False, False, False]


def test_metrics_of_checks_are_computed_by_default_only_if_the_spec_has_checks():
    without = "fields: {total: number}"
    pairs = [({"id": 1, "total": 5},), ({"id": 1, "total": 5},)]
    assert "check_violations" in {
        estimate.metric for estimate in score(*pairs, f"{without}\nchecks: {{total: number}}").estimates
    }
    plain = score(*pairs, without)
    assert "check_violations" not in {estimate.metric for estimate in plain.estimates}
    assert plain.checks == () and "check_violations" not in plain.documents.columns


def test_metrics_of_checks_without_checks_are_0_of_0_and_warned_of():
    result = score(
        [{"id": 1, "a": 1}], [{"id": 1, "a": 1}], "fields: {a: number}", ScoreOptions(metrics=("checks",))
    )
    assert (result.value("check_violations"), result.estimate("check_violations").n) == (0, 0)
    assert any("no `checks:`" in warning for warning in result.warnings)


def test_metrics_of_checks_go_by_slices():
    rows = [{"id": 1, "kind": "a", "x": 1}, {"id": 2, "kind": "b", "x": 1}]
    given = [{"id": 1, "x": "1"}, {"id": 2, "x": 1}]
    spec = "fields: {x: number, kind: text}\nchecks: {x: number}\nslices: [kind]"
    result = score(rows, given, spec, ScoreOptions(replicates=0))
    assert [result.value(f"check_violations{{kind={kind}}}") for kind in "ab"] == [1, 0]


def test_checks_that_see_no_value_are_warned_of_and_those_behind_another_are_not():
    spec = "fields: {x: text}\nchecks: {x: number, '*': number, totl: number}"
    result = score([{"id": 1, "x": "a"}], [{"id": 1, "x": 1}], spec)
    (warning,) = [text for text in result.warnings if "are their paths right" in text]
    assert warning.endswith("number at totl")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return run(ScoreOptions(replicates=0, evidence_folder=tmp_path_factory.mktemp("whole")))


def run(options):
    given = {"llama": predictions(450), "qwen": predictions(449)[::-1]}
    result = score(gold(450), given, SPEC, options)
    return result, b"".join(read_violations(result.violations))


@pytest.mark.parametrize(
    "options",
    [{"batch": 7}, pytest.param({"batch": 100, "workers": 2}, marks=pytest.mark.slow)],
    ids=["small batches", "two workers"],
)
def test_neither_batches_nor_workers_show(whole, tmp_path, options):
    result, listed = run(ScoreOptions(replicates=0, evidence_folder=tmp_path, **options))
    assert (result.checks, result.counts) == (whole[0].checks, whole[0].counts)
    assert result.documents.equals(whole[0].documents)
    assert listed == whole[1]


def test_the_list_of_violations_holds_as_many_as_the_metrics_and_the_documents_say(whole):
    result, listed = whole
    rows = [json.loads(line) for line in listed.decode().splitlines()]
    assert set(rows[0]) == {"system", "doc", "path", "check", "message", "value", "at"}
    for system in ("llama", "qwen"):
        own = [row for row in rows if row["system"] == system]
        table = result.documents.filter(result.documents["system"] == system)
        counted = [count for count in result.checks if count.system == system]
        assert (
            len(own)
            == result.value("check_violations", system)
            == table["check_violations"].sum()
            == sum(one.violations for one in counted)
        )
        assert (
            len({row["doc"] for row in own})
            == result.value("documents_with_violations", system)
            == table["has_violations"].sum()
        )
        for count in counted:
            alike = [row for row in own if (row["at"], row["check"]) == (count.at, count.check)]
            assert (count.violations, count.documents) == (len(alike), len({row["doc"] for row in alike}))
            assert len(count.examples) <= 3


def test_a_run_folder_has_the_violations_and_says_how_many(tmp_path):
    with make_folder(tmp_path / "run") as folder:
        result = score(
            gold(3),
            [{"id": "d0", "flow": {}}],
            SPEC,
            ScoreOptions(replicates=0, evidence_folder=folder.parts),
        )
        folder.write(result, {"evidence": "all"})
        folder.commit()
    assert len((tmp_path / "run" / VIOLATIONS).read_text().splitlines()) == 3
    counts = json.loads((tmp_path / "run" / "run.json").read_text())["counts"]["systems"]["prediction"][
        "checks"
    ]
    assert [count["violations"] for count in counts] == [1, 2, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("spec", "wanted"), [(SPEC, True), ("type: any", False)], ids=["checks", "no checks"]
)
def test_a_run_folder_without_violations_has_an_empty_list_only_if_there_are_checks(tmp_path, spec, wanted):
    with make_folder(tmp_path / "run") as folder:
        folder.write(
            score(gold(1), gold(1), spec, ScoreOptions(replicates=0, evidence_folder=folder.parts)),
            {"evidence": "all"},
        )
        folder.commit()
    path: Path = tmp_path / "run" / VIOLATIONS
    assert path.exists() == wanted and (not wanted or path.read_bytes() == b"")


@pytest.mark.parametrize("width", [40, 72, 100, 200])
def test_the_terminal_report_lists_violated_checks_with_an_example(width):
    result = score(
        gold(2),
        [{"id": "d0", "flow": {"value": "x|\x1b[31m", "unit": "m³/h"}}],
        SPEC,
        ScoreOptions(replicates=0),
    )
    text = render_terminal(summarize(result), Screen(width))
    assert "Checks that predictions violate" in text and "unit_format" in text and "\x1b[31m" not in text
    assert max(map(len, text.splitlines())) <= width
    assert ("m³/h" in text.partition("Checks that")[2]) == (width >= 76)


def test_the_markdown_report_lists_violated_checks_of_each_system():
    given = {"a": [{"id": "d0", "flow": {}}], "b": gold(1)}
    text = render_markdown(summarize(score(gold(1), given, SPEC, ScoreOptions(replicates=0))))
    assert "## Checks that predictions violate" in text
    assert "| has\\_keys | a | flow | 2 | 1 | 1 | d0: flow.value is missing |" in text


def test_reports_without_violations_say_nothing_of_checks():
    summary = summarize(score(gold(1), gold(1), SPEC, ScoreOptions(replicates=0)))
    assert "Checks that" not in render_terminal(summary, Screen(100)) + render_markdown(summary)


HOSTILE = {
    "long text": "°" * 3_000_000,
    "nul and bidi": "\0\u202e°",
    "surrogate": "\ud800°",
    "long number": 10**5000,
    "nan": float("nan"),
    "long key": {"x" * 500_000 + "_unit": "°"},
    "many items": [{"unit": "°"}] * 20_000,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_predictions_are_counted_and_listed_briefly(case, tmp_path):
    value = HOSTILE[case]
    data = {"flow": {"value": value, "unit": value}, "more": value, "notes": 1}
    result = score(
        gold(1),
        [{"id": "d0", **data}],
        SPEC,
        ScoreOptions(replicates=0, evidence="none", evidence_folder=tmp_path),
    )
    rows = [json.loads(line) for line in b"".join(read_violations(result.violations)).splitlines()]
    assert result.value("check_violations") == len(rows) > 0
    assert all(len(row["value"]) < 500 and len(row["message"]) < 200 for row in rows)
    assert len(render_terminal(summarize(result), Screen(100))) < 20_000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", '"a"'),
        ("x" * 201, '"' + "x" * 200 + '…"'),
        ({"a": 1}, "{1 key}"),
        ([], "[0 items]"),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
    ],
    ids=lambda value: repr(value)[:12],
)
def test_values_are_shown_as_json_text_and_containers_by_their_size(value, shown):
    assert shown_value(value) == shown


def test_a_plan_with_checks_pickles():
    plan = read_plan(SPEC + '  code: {pattern: "[a-z]+"}\n')
    again = pickle.loads(pickle.dumps(plan.checks))
    assert again == plan.checks
    assert not again[-1].check.faults("abc")
