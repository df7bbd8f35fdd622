"""Review policies: routing of values, the file, the audit, and the check on another run."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.decisions.calibration.confidence_runs import bills, score_rows
from tests.effort import trials

from fieldassay.decisions.calibration.audit import ReviewedValue, estimate_accuracy
from fieldassay.decisions.calibration.binomial import clopper_pearson_lower, clopper_pearson_upper
from fieldassay.decisions.calibration.calibrate import (
    CalibrationOptions,
    ReviewSettings,
    apply_policy,
    calibrate,
)
from fieldassay.decisions.calibration.policy import Basis, Item, ReviewPolicy, ReviewReason, Rule, plan_review
from fieldassay.decisions.calibration.policy_file import policy_bytes, read_policy, write_policy
from fieldassay.decisions.calibration.result import Promise, PromiseKind, PromiseStatus
from fieldassay.decisions.calibration.thresholds import BY_VALUE
from fieldassay.errors import ProblemsError
from fieldassay.metrics.uncertainty.intervals import BootstrapSettings

pytestmark = pytest.mark.usefixtures("few_draws")
NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
RULES = (
    Rule(("total", "date"), 0.9, 400, 300, 0, 0.0099, 299, 0.75),
    Rule(("name",), None, 20, 0, 0, 1.0, 299, 0.0, "needs at least 299 labeled documents"),
)
POLICY = ReviewPolicy(
    "llama",
    Promise(0.01, 0.95),
    RULES,
    Basis("run", 400, 800, "0" * 64),
    {"spec": "abc"},
    created="2026-11-21T12:00:00+00:00",
)

HEAD = ("format", "schema_version", "words", "seal")

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
    ("name", 1.0, ReviewReason.NOT_CERTIFIED),
    ("other", 1.0, ReviewReason.UNKNOWN_FIELD),
]


@pytest.mark.parametrize(("field", "confidence", "reason"), DECISIONS)
def test_only_what_a_certified_threshold_covers_is_accepted(
    field: str, confidence: float | None, reason: ReviewReason | None
) -> None:
    assert POLICY.needs_review(field, confidence) is reason
    assert bool(POLICY.needs_review(field, confidence)) == (reason is not None)


def test_review_goes_by_margin_and_audits_stand_apart() -> None:
    items = [Item(f"d{number}", "total", "total", number / 100) for number in range(100)] + [
        Item("x", "name", "name", 0.99)
    ]
    plan = plan_review(replace(POLICY, audit_share=0.5), items)
    margins = [task.margin for task in plan.reviews]
    assert (len(plan.reviews), plan.accepted) == (91, 10)
    assert margins == sorted(margins, reverse=True)
    assert plan.reviews[0].item.document == "d0"
    assert plan.reviews[-1].reason is ReviewReason.NOT_CERTIFIED
    assert {task.reason for task in plan.audits} == {ReviewReason.AUDIT}
    assert {task.probability for task in plan.audits} == {0.5}
    assert all(task.item.confidence is not None and task.item.confidence >= 0.9 for task in plan.audits)


@pytest.mark.parametrize(
    ("confidence", "margin"), [(1.0, -1.0), (0.95, 0.0), (0.0, 19.0), (None, 19.0), (float("nan"), 19.0)]
)
def test_a_margin_is_what_a_look_saves(confidence: float | None, margin: float) -> None:
    assert POLICY.margin(confidence) == pytest.approx(margin)


@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 1.0])
def test_audits_are_drawn_at_their_share_and_always_the_same(share: float) -> None:
    policy = replace(POLICY, audit_share=share)
    drawn = [policy.is_audited(f"doc {number}", "lines[0].amount") for number in range(20_000)]
    assert np.mean(drawn) == pytest.approx(share, abs=0.005)
    assert drawn[:100] == [policy.is_audited(f"doc {number}", "lines[0].amount") for number in range(100)]


def test_another_seed_or_path_draws_other_audits() -> None:
    policy = replace(POLICY, audit_share=0.5)
    drawn = [policy.is_audited(f"d{number}", "a") for number in range(200)]
    assert drawn != [policy.is_audited(f"d{number}", "b") for number in range(200)]
    assert drawn != [replace(policy, audit_seed=1).is_audited(f"d{number}", "a") for number in range(200)]
    assert policy.is_audited("\ud800\x00", "\u202e") in (True, False)


def test_a_policy_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "policy.json"
    write_policy(path, POLICY)
    assert read_policy(path) == POLICY
    assert [entry.name for entry in path.parent.iterdir()] == ["policy.json"]
    data = json.loads(path.read_text())
    assert (data["format"], data["schema_version"]) == ("fieldassay review policy", 2)
    assert "at most 1%" in data["words"]


def test_a_policy_of_an_earlier_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps({**json.loads(policy_bytes(POLICY)), "schema_version": 1}))
    with pytest.raises(ProblemsError, match="has version '1' of the format"):
        read_policy(path)


def test_names_of_any_kind_survive(tmp_path: Path) -> None:
    odd = replace(
        POLICY, system="a\u202e\n\"'", rules=(replace(RULES[0], fields=("überfällig[].x", "\x00")),)
    )
    write_policy(tmp_path / "p.json", odd)
    assert read_policy(tmp_path / "p.json") == odd


def test_what_the_promise_does_not_stand_on_may_be_edited(tmp_path: Path) -> None:
    data = json.loads(policy_bytes(POLICY))
    path = tmp_path / "p.json"
    path.write_text(
        json.dumps({**data, "audit_share": 0.1, "cost_error": 7, "cost_review": 0, "audit_seed": 3})
    )
    assert read_policy(path) == replace(
        POLICY, audit_share=0.1, cost_error=7.0, cost_review=0.0, audit_seed=3
    )


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
    "a lower threshold": edited(lambda data: data["rules"][0].update(threshold=0.5)),
    "another risk": edited(lambda data: data["promise"].update(risk=0.001)),
    "half a character": edited(lambda data: data.update(system="\ud800")),
    "another system": edited(lambda data: data.update(system="qwen")),
    "no seal": edited(lambda data: data.pop("seal")),
    "no rules": edited(lambda data: data.pop("rules")),
    "rules of a wrong kind": edited(lambda data: data.update(rules={"total": 0.9})),
    "a threshold of a wrong kind": edited(lambda data: data["rules"][0].update(threshold="0.9")),
    "a threshold above 1": edited(lambda data: data["rules"][0].update(threshold=90)),
    "a field twice": edited(lambda data: data["rules"][1].update(fields=["total"])),
    "a share above 1": edited(lambda data: data.update(audit_share=3)),
    "a negative cost": edited(lambda data: data.update(cost_error=-1)),
    "another kind": edited(lambda data: data["promise"].update(kind="page")),
    "a later version": edited(lambda data: data.update(schema_version=3)),
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


def test_a_policy_that_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("kept")
    with pytest.raises(ProblemsError) as caught:
        write_policy(target / "p.json", POLICY)
    assert caught.value.problems[0].kind == "unwritable_policy"
    assert target.read_text() == "kept"


def test_weights_stand_for_what_was_not_looked_at() -> None:
    # two reviewed (one wrong), three audited at 1 in 10 (one wrong): (1 + 20) / (2 + 30)
    looked = [
        ReviewedValue("a", True, 1.0),
        ReviewedValue("a", False, 1.0),
        ReviewedValue("b", True, 0.1),
        ReviewedValue("c", True, 0.1),
        ReviewedValue("d", False, 0.1),
    ]
    found = estimate_accuracy(looked)
    assert (found.value, found.n, found.documents) == (pytest.approx(21 / 32), 5, 4)
    assert found.interval is not None and found.interval[0] < 21 / 32 < found.interval[1]


def test_a_known_number_of_accepted_values_fixes_what_the_audits_stand_for() -> None:
    # one of two reviewed is wrong, one of four audits: (1 + 98 x 3/4) / 100, and the risk is 1/4
    looked = [ReviewedValue("a", True, 1.0), ReviewedValue("a", False, 1.0)]
    looked += [ReviewedValue(f"b{at}", at > 0, 0.03) for at in range(4)]
    found = estimate_accuracy(looked, accepted=98)
    assert (found.value, found.risk) == (pytest.approx(0.745), 0.25)
    assert found.risk_interval == (
        pytest.approx(clopper_pearson_lower(1, 4, 0.025), abs=1e-6),
        pytest.approx(clopper_pearson_upper(1, 4, 0.025), abs=1e-6),
    )
    low, high = found.risk_interval
    assert found.interval == (pytest.approx(0.01 + 0.98 * (1 - high)), pytest.approx(0.01 + 0.98 * (1 - low)))


def test_audits_without_an_error_still_leave_a_risk() -> None:
    found = estimate_accuracy([ReviewedValue(f"d{at}", True, 0.03) for at in range(100)], accepted=3000)
    assert found.value == 1.0 and found.risk == 0.0
    assert found.risk_interval == (0.0, pytest.approx(clopper_pearson_upper(0, 100, 0.025), abs=1e-6))


def test_without_audits_nothing_is_said_of_accepted_values() -> None:
    found = estimate_accuracy([ReviewedValue("a", True, 1.0)], accepted=10)
    assert (found.value, found.interval, found.risk) == (None, None, None)
    with pytest.raises(ProblemsError, match="cannot have 2 audits"):
        estimate_accuracy([ReviewedValue("a", True, 0.1)] * 2, accepted=1)


def test_intervals_with_a_known_number_of_accepted_values_hold() -> None:
    generator, held = np.random.default_rng(4), 0
    number = trials(200)
    for _ in range(number):
        confidence = generator.random(5000)
        right = generator.random(5000) < 0.9 + confidence / 10
        is_reviewed, is_audited = confidence < 0.2, generator.random(5000) < 0.03
        looked = [ReviewedValue(f"d{at}", bool(right[at]), 1.0) for at in np.flatnonzero(is_reviewed)]
        drawn = np.flatnonzero(~is_reviewed & is_audited)
        looked += [ReviewedValue(f"d{at}", bool(right[at]), 0.03) for at in drawn]
        known = estimate_accuracy(looked, accepted=int((~is_reviewed).sum()))
        assert known.interval is not None
        held += known.interval[0] <= right.mean() <= known.interval[1]
    assert held >= 0.9 * number


def test_nothing_looked_at_says_nothing_and_a_bad_probability_is_refused() -> None:
    assert estimate_accuracy([]).value is None
    for probability in (0.0, -0.1, 1.5, float("nan")):
        with pytest.raises(ProblemsError):
            estimate_accuracy([ReviewedValue("a", True, probability)])


def test_the_weighted_estimate_is_right_where_reviewed_values_alone_mislead() -> None:
    generator, weighted, plain = np.random.default_rng(1), [], []
    for _ in range(200):
        confidence = generator.random(1000)
        right = generator.random(1000) < 0.5 + confidence / 2
        is_reviewed, is_audited = confidence < 0.3, generator.random(1000) < 0.05
        looked = [ReviewedValue("r", bool(one), 1.0) for one in right[is_reviewed]]
        plain.append(np.mean([one.is_correct for one in looked]))
        looked += [ReviewedValue("a", bool(one), 0.05) for one in right[~is_reviewed & is_audited]]
        weighted.append(estimate_accuracy(looked, BootstrapSettings(replicates=0)).value)
    assert np.mean(weighted) == pytest.approx(0.75, abs=0.01)
    assert np.mean(plain) < 0.6


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.booleans(), st.sampled_from([1.0, 0.5, 0.03])),
        min_size=1,
        max_size=30,
    )
)
def test_an_estimate_lies_from_0_to_1(rows: list[tuple[str, bool, float]]) -> None:
    found = estimate_accuracy([ReviewedValue(*row) for row in rows], BootstrapSettings(replicates=40))
    assert found.value is not None and 0.0 <= found.value <= 1.0
    assert found.interval is None or 0.0 <= found.interval[0] < found.interval[1] <= 1.0


def certified(risk: float = 0.05) -> ReviewPolicy:
    return calibrate(bills(400, 40), CalibrationOptions(promise=Promise(risk))).make_policy(NOW)


def test_fields_without_enough_labels_take_no_share_of_the_confidence() -> None:
    gold = [{"id": f"d{number}", "a": "x", **({"b": "y"} if number < 30 else {})} for number in range(100)]
    pred = [{**row, "confidence": 0.9} for row in gold]
    run = score_rows(gold, pred, "{fieldassay: 1, name: two, id: id, fields: {a: text, b: text}}")
    found = calibrate(run, CalibrationOptions(promise=Promise(0.05, by_field=True))).page.certificates
    assert [(one.labels, one.delta, one.threshold) for one in found] == [
        (100, pytest.approx(0.05), 0.9),
        (30, pytest.approx(0.05), None),
    ]


def test_a_policy_says_what_it_was_computed_from() -> None:
    policy = certified()
    [rule] = policy.rules
    assert (policy.system, rule.fields, rule.labels, policy.basis.documents) == (
        "llama",
        ("total",),
        400,
        400,
    )
    assert rule.threshold is not None and (rule.support, rule.errors) == (370, 10)
    assert policy.digests["spec"] and policy.created == "2026-11-21T12:00:00+00:00"


def test_without_enough_labels_everything_is_reviewed_and_the_reason_says_how_many_it_takes() -> None:
    policy = calibrate(bills(100, 0)).make_policy(NOW)
    assert policy.reviews_everything
    assert policy.rules[0].reason.startswith("it takes at least 49 more labeled documents (149 in all")
    assert policy.needs_review("total", 1.0) is ReviewReason.NOT_CERTIFIED
    assert "Nothing is promised" in json.loads(policy_bytes(policy))["words"]


@pytest.mark.parametrize("wrong", [0.0, 0.02, 0.5])
def test_another_run_says_whether_the_promise_held(wrong: float) -> None:
    n = 400
    gold = [{"id": f"e{number}", "total": 5} for number in range(n)]
    pred = [
        {"id": f"e{number}", "total": 5 + (number % n < wrong * n), "confidence": 0.98} for number in range(n)
    ]
    held_out = score_rows(gold, pred, "{fieldassay: 1, name: bills, id: id, fields: {total: money}}")
    found = apply_policy(held_out, certified(), "policy.json")
    [check] = found.checks
    assert (check.accepted, check.errors, check.counted) == (n, int(wrong * n), n)
    assert check.risk == pytest.approx(wrong)
    assert check.standing is (PromiseStatus.BROKEN if wrong > 0.1 else PromiseStatus.HELD)
    assert found.is_broken == (wrong > 0.1)
    assert check.interval is not None and check.interval[0] <= wrong <= check.interval[1]


def test_a_few_more_errors_than_promised_may_be_chance() -> None:
    gold = [{"id": f"e{number}", "total": 5} for number in range(50)]
    pred = [{"id": f"e{number}", "total": 5 + (number < 3), "confidence": 0.98} for number in range(50)]
    found = apply_policy(
        score_rows(gold, pred, "{fieldassay: 1, name: bills, id: id, fields: {total: money}}"),
        certified(),
        "p",
    )
    assert found.checks[0].standing is PromiseStatus.UNDECIDED


def test_the_run_that_a_policy_was_made_from_is_no_test_of_it() -> None:
    found = apply_policy(bills(400, 40), certified(), "policy.json")
    assert any("computed from" in remark for remark in found.remarks)
    assert not any(
        "computed from" in remark
        for remark in apply_policy(bills(400, 40, first=900), certified(), "p").remarks
    )


def test_what_goes_to_review_and_what_that_catches_is_counted() -> None:
    found = apply_policy(bills(400, 40, first=900), certified(), "policy.json")
    [check] = found.checks
    reviewed = found.reviewed[ReviewReason.BELOW_THRESHOLD.value]
    assert check.accepted + reviewed == 400
    assert found.caught + check.errors == 40


def test_a_run_judged_by_another_spec_is_refused() -> None:
    other = score_rows([{"id": "a", "total": 5}], [{"id": "a", "total": 5, "confidence": 1}])
    with pytest.raises(ProblemsError) as caught:
        apply_policy(other, certified(), "policy.json")
    assert caught.value.problems[0].kind == "policy_mismatch"


@pytest.mark.parametrize(
    "settings_",
    [
        ReviewSettings(audit_share=3.0),
        ReviewSettings(cost_error=-1.0),
        ReviewSettings(cost_review=float("nan")),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings_: ReviewSettings) -> None:
    with pytest.raises(ProblemsError):
        calibrate(bills(40, 4)).make_policy(NOW, settings_)


def test_fields_with_enough_labels_share_the_confidence() -> None:
    gold = [{"id": f"d{number}", "a": "x", "b": "y"} for number in range(100)]
    run = score_rows(
        gold,
        [{**row, "confidence": 0.9} for row in gold],
        "{fieldassay: 1, id: id, fields: {a: text, b: text}}",
    )
    found = calibrate(run, CalibrationOptions(promise=Promise(0.05, by_field=True)))
    assert [one.delta for one in found.page.certificates] == [pytest.approx(0.025)] * 2
    assert [rule.delta for rule in found.make_policy(NOW).rules] == [pytest.approx(0.025)] * 2


def test_the_risk_of_another_run_counts_every_document_once() -> None:
    # a: four values, two of them accepted, one of those wrong; b: one value, accepted and right
    gold = [{"id": "a", "tags": ["p", "q", "r", "s"]}, {"id": "b", "tags": ["p"]}]
    pred = [
        {"id": "a", "tags": ["p", "no", "r", "s"], "confidence": {"tags": [0.9, 0.9, 0.1, 0.1]}},
        {"id": "b", "tags": ["p"], "confidence": {"tags": [0.9]}},
    ]
    run = score_rows(
        gold, pred, "{fieldassay: 1, id: id, fields: {tags: {type: list, items: text, align: ordered}}}"
    )
    rules = (Rule(("tags[]",), 0.8, 400, 300, 0, 0.0099, 299, 0.75),)
    for kind, risk in ((PromiseKind.VALUE, 1 / 4), (PromiseKind.RESIDUAL, 1 / 8)):
        policy = replace(
            POLICY, rules=rules, promise=Promise(0.5, kind=kind), digests={"spec": run.run["spec"]["digest"]}
        )
        [check] = apply_policy(run, policy, "p").checks
        assert (check.risk, check.accepted, check.errors) == (pytest.approx(risk), 3, 1)
        assert check.interval is not None and check.interval[0] <= risk <= check.interval[1]


def test_a_threshold_is_marked_where_long_documents_may_be_worse() -> None:
    # 30 of 500 documents have 40 values, 4 of which are wrong and as sure as any: 0.6% by document
    gold, pred = [], []
    for at in range(500):
        values = 40 if at < 30 else 2
        right = [f"v{number}" for number in range(values)]
        given_ = [text + "!" * (at < 30 and number < 4) for number, text in enumerate(right)]
        gold.append({"id": f"d{at}", "tags": right})
        pred.append({"id": f"d{at}", "tags": given_, "confidence": {"tags": [0.9] * values}})
    spec = "{fieldassay: 1, id: id, fields: {tags: {type: list, items: text, align: ordered}}}"
    page = calibrate(score_rows(gold, pred, spec)).page
    [one] = page.certificates
    assert one.threshold == 0.9 and one.upper <= 0.02
    assert one.observed_risk == pytest.approx(120 / 2140) and one.marks == (BY_VALUE,)
    assert any("counted by value the risk may be above" in remark for remark in page.remarks)


def test_a_proven_bound_certifies_in_hash_order_and_says_so() -> None:
    policy = calibrate(bills(400, 0), CalibrationOptions(promise=Promise(is_proven=True))).make_policy(NOW)
    assert policy.rules[0].threshold is not None
    assert "The bound is proven." in json.loads(policy_bytes(policy))["words"]
