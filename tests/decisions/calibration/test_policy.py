"""Review policies: routing of values, the file, and the check on another run."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.decisions.calibration.confidence_runs import SPEC, bills, score_rows

from fieldassay.decisions.calibration.certificate import Certificate, Guarantee
from fieldassay.decisions.calibration.policy import (
    Basis,
    ReviewPolicy,
    ReviewReason,
    calibrate,
    policy_bytes,
    queue_reviews,
    read_policy,
    write_policy,
)
from fieldassay.errors import ProblemsError
from fieldassay.reports.content.calibration import render_calibration
from fieldassay.reports.writers.page import Screen

pytestmark = pytest.mark.usefixtures("few_draws")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
CERTIFICATE = Certificate(("total", "date"), 0.9, 400, 300, 0, 0.0099)
POLICY = ReviewPolicy(
    "llama",
    Guarantee(0.01, 0.95),
    CERTIFICATE,
    Basis("run", 400, 800, "0" * 64),
    {"spec": "abc"},
    created="2026-11-21T12:00:00+00:00",
)


DECISIONS = [
    ("total", 0.9, None),
    ("total", 1.0, None),
    ("date", 0.95, None),
    ("total", 0.8999999, ReviewReason.BELOW_THRESHOLD),
    ("total", None, ReviewReason.NO_CONFIDENCE),
    ("total", float("nan"), ReviewReason.NO_CONFIDENCE),
    ("total", 95.0, ReviewReason.BAD_CONFIDENCE),
    ("total", float("inf"), ReviewReason.BAD_CONFIDENCE),
    ("total", -0.1, ReviewReason.BAD_CONFIDENCE),
    ("other", 1.0, ReviewReason.UNKNOWN_FIELD),
]


@pytest.mark.parametrize(("field", "confidence", "reason"), DECISIONS)
def test_only_what_a_certified_threshold_covers_is_accepted(
    field: str, confidence: float | None, reason: ReviewReason | None
) -> None:
    assert POLICY.needs_review(field, confidence) is reason
    assert bool(POLICY.needs_review(field, confidence)) == (reason is not None)


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "policy.json"
    write_policy(path, POLICY)
    assert read_policy(path) == POLICY
    assert [entry.name for entry in path.parent.iterdir()] == ["policy.json"]
    data = json.loads(path.read_text())
    assert (data["format"], data["schema_version"]) == ("fieldassay review policy", 3)
    assert "at most 1%" in data["words"]


def test_a_policy_of_an_earlier_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**json.loads(policy_bytes(POLICY)), "schema_version": 2}))
    with pytest.raises(ProblemsError, match="has version '2' of the format"):
        read_policy(path)


def edited(change: Callable[[dict[str, Any]], object]) -> str:
    data = json.loads(policy_bytes(POLICY))
    change(data)
    return json.dumps(data)


BROKEN = {
    "empty": "",
    "not JSON": "{",
    "NaN": '{"format": NaN}',
    "a list": "[]",
    "another file": '{"format": "fieldassay baseline"}',
    "deep": "[" * 100_000,
    "a lower threshold": edited(lambda data: data["certificate"].update(threshold=0.5)),
    "another risk": edited(lambda data: data["guarantee"].update(risk=0.001)),
    "half a character": edited(lambda data: data.update(system="\ud800")),
    "another system": edited(lambda data: data.update(system="qwen")),
    "no seal": edited(lambda data: data.pop("seal")),
    "no certificate": edited(lambda data: data.pop("certificate")),
    "a certificate of a wrong kind": edited(lambda data: data.update(certificate={"total": 0.9})),
    "a threshold of a wrong kind": edited(lambda data: data["certificate"].update(threshold="0.9")),
    "a threshold above 1": edited(lambda data: data["certificate"].update(threshold=90)),
    "a later version": edited(lambda data: data.update(schema_version=4)),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_policy_that_is_not_as_it_was_written_is_refused(tmp_path: Path, case: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(BROKEN[case])
    with pytest.raises(ProblemsError) as caught:
        read_policy(path)
    [problem] = caught.value.problems
    assert problem.where == str(path)
    assert problem.remedy
    assert problem.kind == ("version" if case == "a later version" else "bad_policy")


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path, kind in ((tmp_path / "no.json", "unreadable_file"), (tmp_path, "unreadable_file")):
        with pytest.raises(ProblemsError) as caught:
            read_policy(path)
        assert caught.value.problems[0].kind == kind


@pytest.mark.parametrize("name", ["file/policy.json", "file"])
def test_a_policy_that_cannot_be_written_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("kept")
    with pytest.raises(ProblemsError) as caught:
        write_policy(tmp_path / name, POLICY)
    assert caught.value.problems[0].kind == "unwritable_policy"
    assert target.read_text() == "kept"


def test_without_enough_labels_everything_is_reviewed_and_the_reason_says_how_many_it_takes() -> None:
    policy = calibrate(bills(100, 0)).make_policy(NOW)
    assert policy.reviews_everything
    assert policy.certificate.reason == "label at least 49 more documents (149 in all)"
    assert policy.needs_review("total", 1.0) is ReviewReason.NOT_CERTIFIED
    assert "Nothing is guaranteed" in json.loads(policy_bytes(policy))["words"]


def test_a_threshold_is_marked_where_long_documents_may_be_worse() -> None:
    # 30 of 500 documents have 40 values, 4 of which are wrong and as sure as any: 0.6% by document
    gold, pred = [], []
    for at in range(500):
        values = 40 if at < 30 else 2
        right = [f"v{number}" for number in range(values)]
        given_ = [text + "!" * (at < 30 and number < 4) for number, text in enumerate(right)]
        gold.append({"id": f"d{at}", "tags": right})
        pred.append({"id": f"d{at}", "tags": given_, "confidence": {"tags": [0.9] * values}})
    spec = "{fieldassay: 1, data: {id_key: id}, fields: {tags: {type: list, items: text, align: ordered}}}"
    page = calibrate(score_rows(gold, pred, spec)).page
    one = page.certificate
    assert one.threshold == 0.9 and one.upper <= 0.02
    assert one.observed_risk == pytest.approx(120 / 2140)
    assert any("of all values together a larger share may be wrong" in remark for remark in page.remarks)


def test_a_policy_accepts_no_field_without_a_confidence_and_coverage_counts_its_values(
    tmp_path: Path,
) -> None:
    """Of 300 documents with three values each, the totals alone have a confidence, and all are right."""
    gold = [{"id": f"d{number}", "total": 5, "tags": ["x", "y"]} for number in range(300)]
    pred = [{**row, "confidence": {"total": 0.99 - at / 1000}} for at, row in enumerate(gold)]
    found = calibrate(score_rows(gold, pred))
    write_policy(tmp_path / "p.json", found.make_policy(NOW))
    policy = read_policy(tmp_path / "p.json")
    assert policy.needs_review("total", 0.95) is None
    assert policy.needs_review("tags[]", 0.99) is ReviewReason.UNKNOWN_FIELD
    last = found.page.pooled.selection.points[-1]
    assert last.coverage == found.page.certificate.coverage == pytest.approx(1 / 3)
    assert "(33% of values)" in render_calibration(found.page, Screen())
    queue = queue_reviews(policy, [{**gold[0], "confidence": 0.97}], SPEC)
    assert [row[-1] for row in queue.rows] == ["field was not calibrated"] * 2
