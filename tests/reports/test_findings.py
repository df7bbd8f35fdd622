"""Findings in words: losses, recommendations, doubtful gold."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples

from fieldassay import report, score
from fieldassay.decisions.gate import decide_result
from fieldassay.decisions.losses import Loss, find_losses
from fieldassay.metrics.evidence import FLAGS as BITS
from fieldassay.metrics.evidence import Outcome
from fieldassay.metrics.result.result import Result
from fieldassay.reports.ci.outputs import render_step_summary
from fieldassay.reports.content.run.parts import render_terminal, report_parts
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.export.pages import render_executive
from fieldassay.reports.findings.recommendation import (
    describe_cause,
    describe_loss,
    list_standings,
    recommend,
)
from fieldassay.reports.report import Reported, ReportOptions
from fieldassay.reports.wording import DIAGNOSES, FLAGS, OUTCOMES, REASONS
from fieldassay.reports.writers.page import Screen
from fieldassay.reports.writers.tables import render_markdown
from fieldassay.runs.run import ANSWERS
from fieldassay.scoring.score import score as score_fully
from fieldassay.values.catalogue import COMPARATORS
from fieldassay.values.catalogue import DIAGNOSES as NAMES

# Losses: what every kind of wrong costs adds up to what is missing to a perfect score

SPEC = "fields: {a: text, b: {type: text, compare: indel}, c: {type: list, items: text, align: assignment}}"
_WORDS = st.sampled_from(["one", "two", "ones", ""])
_RECORD = st.fixed_dictionaries({"a": _WORDS, "b": _WORDS, "c": st.lists(_WORDS, max_size=3)})


def scored(pairs: list[tuple[dict[str, Any], dict[str, Any]]]) -> Result:
    gold = [{"id": str(place), **first} for place, (first, _) in enumerate(pairs)]
    return score(
        gold, [{"id": str(place), **second} for place, (_, second) in enumerate(pairs)], SPEC, bootstrap=0
    )


@few_examples()
@given(st.lists(st.tuples(_RECORD, _RECORD), min_size=1, max_size=8))
def test_losses_together_are_at_most_what_accuracy_lacks(
    pairs: list[tuple[dict[str, Any], dict[str, Any]]],
) -> None:
    result = scored(pairs)
    accuracy = result.value("accuracy")
    lost = find_losses(result.evidence.lazy(), result, most=10_000)["prediction"]
    assert sum(loss.points for loss in lost) <= (0 if accuracy is None else 1 - accuracy) + 1e-9
    assert [loss.points for loss in lost] == sorted((loss.points for loss in lost), reverse=True)
    for loss in lost:
        assert loss.interval is not None
        low, high = loss.interval
        assert 0 <= low <= high <= 1
        assert 1 <= loss.documents <= loss.of


def test_a_loss_says_what_it_stands_on() -> None:
    gold = {"a": "one", "b": "two", "c": []}
    result = scored([(gold, {**gold, "a": ""} if place < 10 else gold) for place in range(40)])
    [loss] = find_losses(result.evidence.lazy(), result)["prediction"]
    assert loss.points == pytest.approx(10 / 40 / 2)
    assert describe_loss(loss).startswith(
        "a: no value was predicted (10 values). It costs 12.5 points of accuracy (95% CI "
    )
    assert loss.interval[0] < loss.points < loss.interval[1]


LINES = "fields: {total: number, lines: {type: list, align: assignment, items: {type: object, fields: {sku: id, amount: number}}}}"
RECORD = {"total": 1, "lines": [{"sku": "A", "amount": 1}, {"sku": "B", "amount": 2}]}


def losses_of(answers: list[Any], spec: str = LINES) -> dict[tuple[str, str], Loss]:
    gold = [{"id": f"d{place}", **RECORD} for place in range(len(answers))]
    rows = [{"id": f"d{place}", **answer} for place, answer in enumerate(answers) if answer is not None]
    result = score(gold, rows, spec, bootstrap=0)
    found = find_losses(result.evidence.lazy(), result, most=99)["prediction"]
    assert sum(loss.points for loss in found) == pytest.approx(1 - (result.value("accuracy") or 0.0))
    return {(loss.field, loss.diagnosis): loss for loss in found}


@pytest.mark.parametrize(
    ("answer", "cause", "said"),
    [
        (None, "answer_missing", "1 of 4 answers is missing"),
        (
            {"raw": "I am sorry, I cannot read this document"},
            "answer_unreadable",
            "1 of 4 answers is unreadable",
        ),
        ({"error": "500 Server error"}, "answer_error", "1 of 4 answers is an error"),
        ({"error": "timeout"}, "answer_timeout", "1 of 4 answers timed out"),
        ({}, "answer_empty", "1 of 4 answers has no value"),
        ({"total": None, "lines": []}, "answer_empty", "1 of 4 answers has no value"),
    ],
    ids=["missing", "prose", "error", "timeout", "empty", "nulls"],
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


def test_causes_are_those_of_every_system_in_every_report() -> None:
    gold = [{"id": f"d{place}", **RECORD} for place in range(4)]
    wrong = [{"id": f"d{place}", **RECORD, "total": 3} for place in range(4)]
    result = score(gold, {"good": gold[:3], "worse": wrong}, LINES, bootstrap=0)
    summary = summarize(result)
    terminal, markdown = render_terminal(summary, Screen(120)), render_markdown(report_parts(summary))
    executive = render_executive(result, losses=dict(zip(result.systems, summary.losses, strict=True)))
    for text in (
        terminal,
        markdown,
        executive,
        "".join(render_step_summary(Reported(result, result.evidence.lazy()), ReportOptions())),
    ):  # type: ignore[union-attr]
        assert "1 of 4 answers is missing" in text and "(4 values)" in text


def test_points_are_of_the_score_of_the_protocol_in_every_report() -> None:
    gold = [
        {"image_file": f"{at}.png", "DOCUMENT_TYPE": "invoice", "BUSINESS_ABN": "51824753556"}
        for at in range(4)
    ]
    pred = [{**row, "BUSINESS_ABN": "51824753557"} if row["image_file"] == "0.png" else row for row in gold]
    result = score(gold, pred, {"protocol": "business-documents"}, bootstrap=50)
    summary = summarize(result)
    executive = render_executive(result, losses=dict(zip(result.systems, summary.losses, strict=True)))
    html = report(result).split("<script type")[0]
    for text in (render_terminal(summary, Screen(200)), render_markdown(report_parts(summary)), executive):
        assert (
            "overall accuracy" in text and "accuracy you'd gain)" in text
        ) or "of overall accuracy" in text
    assert "The overall accuracy you’d gain." in html
    assert "12.5 points of overall accuracy" in html


# Which system a report recommends: three cases by gates, none with few documents or without gates

RECOMMENDATION_SPEC = "{name: bills, fields: {total: number}, gates: [accuracy >= 0.8]}"
SYSTEMS = {"ash": 2, "birch": 14, "cedar": 25}


def records(
    documents: int, wrong: int, seconds: float = 1.0, dollars: float | None = None
) -> list[dict[str, Any]]:
    usage = {} if dollars is None else {"usage": {"cost_usd": dollars}}
    return [
        {
            "id": str(at),
            "total": 9999 if at < wrong else at,
            "timing": {"duration_ms": 1000 * seconds},
            **usage,
        }
        for at in range(documents)
    ]


def recommended(
    systems: dict[str, list[dict[str, Any]]], spec: str = RECOMMENDATION_SPEC
) -> tuple[str, str, tuple[str, ...]]:
    result = score_fully(records(len(next(iter(systems.values()))), 0), systems, spec, bootstrap=800)
    decisions = decide_result(result)
    found = recommend(result, decisions, list_standings(result, decisions))
    return found.answer, found.tone, found.reasons


@pytest.mark.parametrize(
    ("wrong", "answer", "tone"),
    [
        ({"ash": 2, "birch": 14, "cedar": 25}, "Use ash: only it passes the gate", "good"),
        (
            {"ash": 2, "birch": 1, "cedar": 25},
            "Use birch or ash: both pass all gates, and no clear difference in accuracy between them",
            "good",
        ),
        (
            {"ash": 0, "birch": 2, "cedar": 0},
            "Use ash, cedar or birch: all 3 pass all gates, and no clear difference in accuracy between them",
            "good",
        ),
        ({"ash": 20, "birch": 14, "cedar": 25}, "No system passes all gates", "bad"),
        ({"ash": 2}, "ash passes the gate", "good"),
        ({"ash": 20}, "ash fails its gates", "bad"),
    ],
    ids=[
        "one passes",
        "several pass",
        "equal ones among several",
        "none passes",
        "a single one passes",
        "a single one fails",
    ],
)
def test_the_answer_follows_from_the_gates(wrong: dict[str, int], answer: str, tone: str) -> None:
    found = recommended({name: records(40, count) for name, count in wrong.items()})
    assert found[:2] == (answer, tone)


WIDE = "{fields: {total: number}, gates: [accuracy >= 0.3]}"


@pytest.mark.parametrize(
    ("systems", "spec", "said"),
    [
        pytest.param(
            {"ash": records(40, 20), "birch": records(40, 14)}, RECOMMENDATION_SPEC,
            "Closest: birch passes 0 of 1 gate; accuracy >= 0.8 failed", id="the closest where none passes",
        ),
        pytest.param(
            {"ash": records(40, 20)}, RECOMMENDATION_SPEC,
            "It passes 0 of 1 gate; accuracy >= 0.8 failed", id="a single one that fails",
        ),
        pytest.param(
            {"ash": records(40, 1, 4.0), "birch": records(40, 2, 0.5)}, RECOMMENDATION_SPEC,
            "birch may be as good, and is faster (0.50 s against 4.0 s)", id="a faster one not shown to be worse",
        ),
        pytest.param(
            {"ash": records(60, 40), "birch": records(60, 5)}, WIDE,
            "Use birch: it is the best of those that pass all gates (ash passes them too)", id="the better of two",
        ),
        pytest.param(
            {"alpha": records(40, 1), "beta": records(40, 1)}, RECOMMENDATION_SPEC,
            "Use alpha or beta: both pass all gates, and no clear difference in accuracy between them", id="equal in everything",
        ),
        pytest.param(
            {"beta": records(40, 1), "alpha": records(40, 1)}, RECOMMENDATION_SPEC,
            "Use beta or alpha: both pass all gates, and no clear difference in accuracy between them", id="equal, the other way",
        ),
        pytest.param(
            {"ash": records(40, 1, 0.7), "birch": records(40, 1, 1.0, 0.003)}, RECOMMENDATION_SPEC,
            "Use birch or ash: both pass all gates, and no clear difference in accuracy between them", id="of unknown price",
        ),
        pytest.param(
            {"ash": records(3, 0), "birch": records(3, 3)}, RECOMMENDATION_SPEC,
            "3 documents are too few to recommend a system", id="few documents",
        ),
        pytest.param(
            {"ash": records(40, 0), "birch": records(40, 3)}, "{fields: {total: number}}",
            "No clear difference between ash and birch overall (100.0% → 92.5%, p = .12), nor in any field",
            id="no gates",
        ),
    ],
)  # fmt: skip
def test_the_recommendation_says_what_it_stands_on(
    systems: dict[str, list[dict[str, Any]]], spec: str, said: str
) -> None:
    answer, tone, reasons = recommended(systems, spec)
    assert any(one.startswith(said) for one in (answer, *reasons))
    assert (tone == "none") == ("too few" in said or "No clear difference" in said)


def test_a_system_is_not_replaced_by_one_that_is_better_on_documents_like_these_only() -> None:
    fields = [f"f{at}" for at in range(10)]
    gold = [{"id": str(at), **dict.fromkeys(fields, "x")} for at in range(30)]
    ash = [{**row, "f0": "y"} for row in gold]
    spec = f"{{fields: {{{', '.join(f'{name}: text' for name in fields)}}}, gates: [accuracy >= 0.8]}}"
    result = score_fully(gold, {"ash": ash, "birch": [*gold[:29], ash[29]]}, spec)
    decisions = decide_result(result)
    found = recommend(result, decisions, list_standings(result, decisions))
    assert found.answer == (
        "Use birch or ash: both pass all gates, and birch is better than ash only on documents like these"
    )
    assert "on documents like these; birch is better in f0" in found.comparison


@pytest.mark.parametrize(("wrong", "is_guarded"), [(1, False), (10, True)], ids=["not guarded", "guarded"])
def test_the_best_of_three_has_its_clause_in_the_report(wrong: int, is_guarded: bool) -> None:
    fields = [f"f{at}" for at in range(10)]
    gold = [{"id": str(at), **dict.fromkeys(fields, "x")} for at in range(30)]
    worse = [{**row, **dict.fromkeys(fields[:wrong], "y")} for row in gold]
    spec = f"{{fields: {{{', '.join(f'{name}: text' for name in fields)}}}}}"
    page = report(score_fully(gold, {"ash": worse, "birch": gold, "elm": worse}, spec))
    clause = "" if is_guarded else " on documents like these"
    assert re.search(rf"birch is best with 100.0%, ahead of ash by .*{clause}", page)
    assert (" on documents like these" in page.split("<dt>Differences")[0]) is not is_guarded


def test_of_equal_systems_the_cheaper_stands_first_whatever_their_order() -> None:
    systems = {"alpha": records(40, 0, 0.7, 0.003), "beta": records(40, 0, 1.0, 0.0015)}
    for order in (("alpha", "beta"), ("beta", "alpha")):
        answer, tone, _ = recommended({name: systems[name] for name in order})
        assert (answer[:18], tone) == ("Use beta or alpha:", "good")


@pytest.mark.parametrize(
    ("wrong", "places"),
    [
        ((1, 1), ["1 to 2", "1 to 2"]),
        ((0, 3), ["1 to 2", "1 to 2"]),
        ((0, 20), ["1", "2"]),
        ((0, 2, 20), ["1 to 2", "1 to 2", "3"]),
    ],
    ids=["equal", "not shown to differ", "shown to differ", "three"],
)
def test_places_are_apart_where_a_difference_is_shown(wrong: tuple[int, ...], places: list[str]) -> None:
    systems = {f"s{at}": records(30, count) for at, count in enumerate(wrong)}
    result = score_fully(records(30, 0), systems, RECOMMENDATION_SPEC, bootstrap=0)
    assert [one.place for one in list_standings(result, ())] == places


# Sentences of reports: of numbers, folders and rankings


def test_diagnoses_flags_and_outcomes_all_have_words() -> None:
    assert list(DIAGNOSES) == [*NAMES, "item_missing", "item_spurious", *ANSWERS, "answer_empty"]
    assert list(FLAGS) == list(BITS)
    assert list(OUTCOMES) == [outcome.name.lower() for outcome in Outcome]


@pytest.mark.parametrize("name", COMPARATORS.entries)
def test_every_reason_of_a_comparator_has_words(name: str) -> None:
    assert set(COMPARATORS.load(name).reasons) <= set(REASONS)


def test_reasons_of_the_engine_have_words() -> None:
    assert {
        "missing",
        "spurious",
        "absent",
        "accepted",
        "unreadable",
        "wrong_kind",
        "present",
        "paired",
    } <= set(REASONS)
