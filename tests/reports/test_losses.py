"""Losses: what every kind of wrong costs adds up to what is missing to a perfect score."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay import report, score
from fieldassay.metrics.result.result import Result
from fieldassay.reports.ci.step_summary import render_step_summary
from fieldassay.reports.content.run.markdown import render_markdown
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.content.run.terminal import render_terminal
from fieldassay.reports.export.executive import render_executive
from fieldassay.reports.findings.findings import describe_cause, describe_loss
from fieldassay.reports.findings.losses import Loss, find_losses
from fieldassay.reports.reported import Reported, ReportOptions
from fieldassay.reports.writers.page import Screen
from fieldassay.scoring.inputs.options import ScoreOptions

SPEC = "fields: {a: text, b: {type: text, compare: indel}, c: {type: list, items: text, align: assignment}}"
_WORDS = st.sampled_from(["one", "two", "ones", ""])
_RECORD = st.fixed_dictionaries({"a": _WORDS, "b": _WORDS, "c": st.lists(_WORDS, max_size=3)})


def scored(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> Result:
    gold = [{"id": str(place), **first} for place, (first, _) in enumerate(pairs)]
    return score(
        gold,
        [{"id": str(place), **second} for place, (_, second) in enumerate(pairs)],
        SPEC,
        ScoreOptions(replicates=0),
    )


@few_examples()
@given(st.lists(st.tuples(_RECORD, _RECORD), min_size=1, max_size=8))
def test_losses_add_up_to_what_accuracy_lacks(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    result = scored(pairs)
    assert result.evidence is not None
    assert result.documents is not None
    accuracy = result.value("accuracy")
    lost = find_losses(result.evidence.lazy(), result.documents, result.systems, most=10_000)["prediction"]
    assert sum(loss.points for loss in lost) == pytest.approx(
        0 if accuracy is None else 1 - accuracy, abs=1e-9
    )
    assert [loss.points for loss in lost] == sorted((loss.points for loss in lost), reverse=True)
    for loss in lost:
        assert loss.interval is not None
        low, high = loss.interval
        assert 0 <= low <= high <= 1
        assert 1 <= loss.documents <= loss.of


def test_a_loss_says_what_it_stands_on() -> None:
    gold = {"a": "one", "b": "two", "c": []}
    result = scored([(gold, {**gold, "a": ""} if place < 10 else gold) for place in range(40)])
    assert result.evidence is not None
    assert result.documents is not None
    [loss] = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    assert loss.points == pytest.approx(10 / 40 / 2)
    assert describe_loss(loss).startswith(
        "a: the prediction has no value, in 10 values of 10 documents. It costs 12.5 points of accuracy (95% CI "
    )
    assert loss.interval is not None
    assert loss.interval[0] < loss.points < loss.interval[1]


def test_the_interval_of_the_only_loss_is_that_of_accuracy_turned_over() -> None:
    gold = [{"id": str(at), "a": "one", "b": "two", "c": []} for at in range(40)]
    wrong = [{**row, "a": "one" if at % 4 else ""} for at, row in enumerate(gold)]
    result = score(gold, wrong, SPEC, ScoreOptions(replicates=1000, seed=0))
    assert result.evidence is not None and result.documents is not None
    [loss] = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    [accuracy] = [one for one in result.estimates if one.metric == "accuracy" and one.field is None]
    assert loss.interval is not None and accuracy.interval is not None
    assert loss.interval == pytest.approx([1 - end for end in reversed(accuracy.interval)], abs=1e-6)


def test_three_documents_with_the_same_loss_leave_room_for_any_other() -> None:
    gold = {"a": "one", "b": "two", "c": []}
    result = scored([(gold, {**gold, "a": ""})] * 3)
    assert result.evidence is not None
    assert result.documents is not None
    [loss] = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    assert loss.interval is not None
    assert loss.interval[0] < loss.points - 0.1 and loss.interval[1] > loss.points + 0.1


LINES = "fields: {total: number, lines: {type: list, align: assignment, items: {type: object, fields: {sku: id, amount: number}}}}"
RECORD = {"total": 1, "lines": [{"sku": "A", "amount": 1}, {"sku": "B", "amount": 2}]}


def losses_of(answers: list[Any], spec: str = LINES) -> dict[tuple[str, str], Loss]:
    gold = [{"id": f"d{place}", **RECORD} for place in range(len(answers))]
    rows = [{"id": f"d{place}", **answer} for place, answer in enumerate(answers) if answer is not None]
    result = score(gold, rows, spec, ScoreOptions(replicates=0))
    assert result.evidence is not None and result.documents is not None
    found = find_losses(result.evidence.lazy(), result.documents, result.systems, most=99)["prediction"]
    assert sum(loss.points for loss in found) == pytest.approx(1 - (result.value("accuracy") or 0.0))
    return {(loss.field, loss.diagnosis): loss for loss in found}


@pytest.mark.parametrize(
    ("answer", "cause", "said"),
    [
        (None, "answer_missing", "1 of 4 answers is missing"),
        (
            {"raw": "I am sorry, I cannot read this document"},
            "answer_unreadable",
            "1 of 4 answers could not be read",
        ),
        ({"error": "500 Server error"}, "answer_error", "1 of 4 answers ended in an error"),
        ({"error": "timeout"}, "answer_timeout", "1 of 4 answers timed out"),
    ],
    ids=["missing", "prose", "error", "timeout"],
)
def test_an_answer_that_cannot_be_used_is_one_cause_and_its_values_are_in_no_other(
    answer: Any, cause: str, said: str
) -> None:
    found = losses_of([RECORD, answer, RECORD, RECORD])
    assert list(found) == [("", cause)]
    [loss] = found.values()
    assert (loss.count, loss.documents, loss.values, loss.points) == (1, 1, 5, 0.25)
    assert describe_cause(loss) == said and describe_loss(loss).startswith(
        f"{said}. It costs 25.0 points of accuracy"
    )


def test_answers_that_failed_in_several_ways_are_one_cause_with_the_accuracy_of_the_others() -> None:
    found = losses_of([None, {"error": "timeout"}, {"error": "timeout"}, {**RECORD, "total": 2}, RECORD])
    loss = found["", "answer_failed"]
    assert loss.kinds == (("answer_timeout", 2), ("answer_missing", 1))
    assert loss.without == pytest.approx(0.9)
    said = describe_loss(loss)
    assert said.startswith("3 of 5 answers failed (2 timeouts, 1 missing). It costs 60.0 points of accuracy")
    assert said.endswith(" Without them prediction has 90.0%.")


def test_missing_counts_only_what_an_answer_left_out() -> None:
    gold = [{"id": f"d{place}", **RECORD} for place in range(3)]
    rows = [{"id": "d0", "error": "timeout"}, {"id": "d1", **RECORD, "total": None}, gold[2]]
    result = score(gold, rows, LINES, ScoreOptions(replicates=0))
    counts = dict(summarize(result).diagnoses)
    assert counts == {"answer_timeout": (5,), "missing": (1,)}


def test_the_largest_cause_leads_whatever_its_kind() -> None:
    found = losses_of([None, None, {**RECORD, "total": 2}, RECORD])
    assert list(found) == [("", "answer_missing"), ("total", "one_digit_wrong")]


@pytest.mark.parametrize(
    ("lines", "cause", "values"),
    [
        (RECORD["lines"][:1], "item_missing", 2),
        ([*RECORD["lines"], {"sku": "C", "amount": 9}], "item_spurious", 2),
        ([], "item_missing", 4),
    ],
    ids=["missed", "invented", "no items at all"],
)
def test_an_item_without_a_partner_is_one_cause_with_all_its_fields(
    lines: list[Any], cause: str, values: int
) -> None:
    found = losses_of([{**RECORD, "lines": lines}])
    assert list(found) == [("lines[]", cause)]
    assert (found["lines[]", cause].count, found["lines[]", cause].values) == (values // 2, values)


def test_an_item_within_a_missed_item_is_part_of_it() -> None:
    spec = "fields: {a: {type: list, items: {type: object, fields: {x: text, b: {type: list, items: {type: object, fields: {y: text}}}}}}}"
    gold = [
        {
            "id": "1",
            "a": [{"x": "p", "b": [{"y": "q"}, {"y": "r"}]}, {"x": "s", "b": [{"y": "t"}, {"y": "u"}]}],
        }
    ]
    pred = [{"id": "1", "a": [{"x": "p", "b": [{"y": "q"}]}]}]
    result = score(gold, pred, spec, ScoreOptions(replicates=0))
    assert result.evidence is not None and result.documents is not None
    found = find_losses(result.evidence.lazy(), result.documents, result.systems)["prediction"]
    assert [(loss.field, loss.diagnosis, loss.count, loss.values) for loss in found] == [
        ("a[]", "item_missing", 1, 3),
        ("a[].b[]", "item_missing", 1, 1),
    ]


def test_causes_are_those_of_every_system_in_every_report() -> None:
    gold = [{"id": f"d{place}", **RECORD} for place in range(4)]
    wrong = [{"id": f"d{place}", **RECORD, "total": 3} for place in range(4)]
    result = score(gold, {"good": gold[:3], "worse": wrong}, LINES, ScoreOptions(replicates=0))
    summary = summarize(result)
    terminal, markdown = render_terminal(summary, Screen(120)), render_markdown(summary)
    executive = render_executive(result, losses=dict(zip(result.systems, summary.losses, strict=True)))
    for text in (
        terminal,
        markdown,
        executive,
        "".join(render_step_summary([Reported(result, result.evidence.lazy())], ReportOptions())),
    ):  # type: ignore[union-attr]
        assert "1 of 4 answers is missing" in text and "in 4 values of 4 documents" in text


def test_points_of_another_number_than_the_headline_say_so_in_every_report() -> None:
    gold = [
        {"image_file": f"{at}.png", "DOCUMENT_TYPE": "invoice", "BUSINESS_ABN": "51824753556"}
        for at in range(4)
    ]
    pred = [{**row, "BUSINESS_ABN": "51824753557"} if row["image_file"] == "0.png" else row for row in gold]
    result = score(gold, pred, {"protocol": "business-documents"}, ScoreOptions(replicates=50))
    summary = summarize(result)
    executive = render_executive(result, losses=dict(zip(result.systems, summary.losses, strict=True)))
    html = report(result).split("<script type")[0]
    for text in (render_terminal(summary, Screen(200)), render_markdown(summary), executive):
        assert "of accuracy over all values, not of overall accuracy" in text
        assert "points of accuracy lost" not in text
    assert "Measured in accuracy over all values, not in" in html
    assert "points of accuracy over all values" in html
