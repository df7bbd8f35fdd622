"""The JUnit file: valid for any value, its counts true, nothing missing that reads as passed."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reports.ci_runs import HOSTILE, hostile, made, records, small
from tests.effort import few_examples

from fieldassay.reports.ci.junit import render_junit
from fieldassay.reports.findings.cases import read_cases
from fieldassay.reports.reported import Reported, ReportOptions

CHILDREN = {"testsuites": {"testsuite"}, "testsuite": {"properties", "testcase"}, "properties": {"property"},
            "property": set(), "testcase": {"failure", "error", "skipped"}, "failure": set(),
            "error": set(), "skipped": set()}  # fmt: skip
COUNTS = {"tests", "failures", "errors", "skipped", "time"}
REQUIRED = {
    "testsuites": {"name", *COUNTS},
    "testsuite": {"name", *COUNTS},
    "properties": set(),
    "property": {"name", "value"},
    "testcase": {"classname", "name", "time"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
    "skipped": {"message"},
}


def parsed(*runs: Reported, most: int = 100_000) -> ET.Element:
    """Return the file's root, its structure and all its counts checked."""
    text = "".join(render_junit(runs, ReportOptions(most_cases=most)))
    root = ET.fromstring(text.encode("utf-8"))
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN[element.tag]
        assert set(element.attrib) == REQUIRED[element.tag]
    for suite in (root, *root):
        found = {"tests": len(list(suite.iter("testcase")))}
        found |= {
            name: len(list(suite.iter(tag)))
            for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
        }
        assert {name: int(suite.attrib[name]) for name in found} == found
    return root


def suite(root: ET.Element, name: str) -> ET.Element:
    return next(one for one in root if one.attrib["name"] == name)


def case(found: ET.Element, place: str, name: str) -> ET.Element:
    return next(one for one in found if one.attrib.get("classname") == place and one.attrib["name"] == name)


def test_each_value_is_counted_once_in_a_suite_of_gates_and_one_of_all_documents() -> None:
    root = parsed(small())
    assert [one.attrib["name"] for one in root] == ["gates", "all documents"]
    names = [(one.attrib["classname"], one.attrib["name"]) for one in root.iter("testcase")]
    assert len(names) == len(set(names))


def test_an_answer_that_failed_is_one_error_and_no_missing_value() -> None:
    gold, pred = records()
    root = parsed(made(gold, [{"id": "d0", "error": "timeout after 30 s"}, *pred[1:]]))
    own = [one for one in root.iter("testcase") if one.attrib["classname"] == "all documents/llama/d0"]
    assert [(one.attrib["name"], child.tag) for one in own for child in one] == [
        ("the whole answer", "error")
    ]
    message = own[0][0].attrib["message"]
    assert message == "the answer for the whole document timed out: 5 values count as missing"


def test_gates_that_fail_fail_and_gates_that_cannot_be_decided_are_errors() -> None:
    found = suite(parsed(made(gates=("accuracy{type=zzz} >= 0.9 if present",))), "gates")
    tags = {one.attrib["name"]: [child.tag for child in one] for one in found.iter("testcase")}
    assert tags == {
        "accuracy >= 0.9": ["failure"],
        "field_accuracy[total] >= 0.1": [],
        "regression(accuracy) > -0.01": ["error"],
        "accuracy{type=zzz} >= 0.9 if present": ["skipped"],
    }


def test_a_case_fails_with_gold_prediction_and_diagnosis_if_a_value_of_its_field_is_wrong() -> None:
    found = suite(parsed(small()), "all documents")
    assert len(found) == 6 * 5
    failure = case(found, "all documents/llama/d3", "name")[0]
    assert failure.attrib["type"] == "mismatch"
    assert "gold Shop 3, predicted Shop 0" in failure.attrib["message"] and "(" in (failure.text or "")
    assert list(case(found, "all documents/llama/d0", "name")) == []
    amounts = case(found, "all documents/llama/d3", "lines[].amount")[0].text or ""
    assert "lines[0].amount: mismatch" in amounts and "lines[1].amount: spurious" in amounts


def test_a_value_that_neither_side_has_is_skipped_and_not_passed() -> None:
    gold = [{"id": "1", "total": None, "name": "x"}]
    found = suite(parsed(made(gold, gold)), "all documents")
    assert [child.tag for child in case(found, "all documents/llama/1", "total")] == ["skipped"]


@pytest.mark.parametrize("evidence", ["errors", "none"])
def test_what_the_run_did_not_keep_is_said_and_never_passes(evidence: str) -> None:
    found = suite(parsed(made(evidence=evidence)), "all documents")
    passed = [one for one in found.iter("testcase") if not len(one)]
    assert passed == []
    said = [one.attrib["value"] for one in found.iter("property")] + [
        one.attrib["message"] for one in found.iter("skipped")
    ]
    assert any("kept" in text for text in said)


@pytest.mark.parametrize("most", [1, 5, 17])
def test_a_file_that_is_cut_lists_failures_first_and_says_so(most: int) -> None:
    whole, root = parsed(small()), parsed(small(), most=most)
    assert sum(int(one.attrib["tests"]) for one in root if one.attrib["name"] != "gates") <= most
    for cut in list(root)[1:]:
        before = suite(whole, cut.attrib["name"])
        tags = [[child.tag for child in one] for one in cut.iter("testcase")]
        assert tags == sorted(tags, reverse=True) or [] not in tags
        if int(cut.attrib["failures"]) < int(before.attrib["failures"]):
            assert [] not in tags
        text = "".join(one.attrib["value"] for one in cut.iter("property"))
        assert f"lists {len(tags)} of {before.attrib['tests']} cases, failures first" in text


def test_hostile_values_documents_and_systems_are_valid_and_cut() -> None:
    run = hostile()
    text = "".join(render_junit([run], ReportOptions()))
    root = parsed(run)
    assert len(list(root.iter("failure"))) > len(HOSTILE)
    assert len(text) < 3_000 * text.count("<testcase")
    assert not any(char in text for char in "\x00\x1b\ud800\ufffe\uffff\u202e\r")
    names = [
        (one.attrib["classname"], one.attrib["name"]) for one in suite(root, "all documents").iter("testcase")
    ]
    assert len(names) == len(set(names))


@few_examples()
@given(st.lists(st.text(st.characters(), max_size=40), min_size=1, max_size=4, unique_by=str.strip))
def test_any_text_gives_a_valid_file(texts: list[str]) -> None:
    gold = [{"id": str(number), "name": text} for number, text in enumerate(texts)]
    pred = [{"id": str(number), "name": text + "!"} for number, text in enumerate(texts)]
    parsed(made(gold, pred, spec="fields: {name: text}"))


def test_two_runs_are_told_apart() -> None:
    from msgspec.structs import replace

    root = parsed(replace(small(), label="runs/a"), replace(small(), label="runs/b"))
    assert [one.attrib["name"] for one in root if "all" in one.attrib["name"]] == [
        "runs/a: all documents",
        "runs/b: all documents",
    ]


@pytest.mark.parametrize("batch", [1, 2, 1000])
def test_cases_do_not_depend_on_how_the_evidence_is_read(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fieldassay.reports.findings.cases._ROWS_AT_ONCE", batch)
    run = small()
    assert run.evidence is not None
    cases = read_cases(run.evidence)
    assert sum(size for _, size in cases.portions) == run.evidence.collect().height
    found = suite(parsed(run), "all documents")
    assert (found.attrib["tests"], found.attrib["failures"]) == ("30", "17")


def test_values_of_ten_million_characters_are_cut_and_the_file_stays_small() -> None:
    long = "x" * 10_000_000
    text = "".join(
        render_junit([made([{"id": "1", "name": long}], [{"id": "1", "name": long + "y"}])], ReportOptions())
    )
    ET.fromstring(text)
    assert len(text) < 20_000 and "…" in text
