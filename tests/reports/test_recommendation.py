"""Which system a report recommends: three cases by gates, none with few documents or without gates."""

from __future__ import annotations

from typing import Any

import pytest

from fieldassay import report
from fieldassay.decisions.gate import decide_result
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.decision import decisions_data
from fieldassay.metrics.result.result import Result
from fieldassay.reports.findings.recommendation import list_standings, recommend
from fieldassay.scoring.inputs.options import ScoreOptions
from fieldassay.scoring.score import score

SPEC = "{name: bills, fields: {total: number}, gates: [accuracy >= 0.8]}"
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
    systems: dict[str, list[dict[str, Any]]], spec: str = SPEC
) -> tuple[str, str, tuple[str, ...]]:
    documents = len(next(iter(systems.values())))
    result = score(records(documents, 0), systems, spec, ScoreOptions(replicates=800))
    decisions = decisions_data(decide_result(result))["decisions"]
    standings = list_standings(result, decisions)
    found = recommend(result, decisions, standings)
    return found.answer, found.tone, found.reasons


@pytest.mark.parametrize(
    ("wrong", "answer", "tone"),
    [
        ({"ash": 2, "birch": 14, "cedar": 25}, "Use ash: it alone passes all gates (1)", "good"),
        (
            {"ash": 2, "birch": 1, "cedar": 25},
            "Use birch or ash: both pass all gates, and no difference in accuracy could be shown between them",
            "good",
        ),
        (
            {"ash": 0, "birch": 2, "cedar": 0},
            "Use ash, cedar or birch: all 3 pass all gates, and ash and cedar are equal in accuracy; "
            "no difference in accuracy could be shown between ash and birch",
            "good",
        ),
        ({"ash": 20, "birch": 14, "cedar": 25}, "No system passes all gates", "bad"),
        ({"ash": 2}, "ash passes its gate", "good"),
        ({"ash": 20}, "ash does not pass its gates", "bad"),
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


def test_the_closest_is_named_where_none_passes() -> None:
    _, _, reasons = recommended({"ash": records(40, 20), "birch": records(40, 14)})
    assert reasons[0].startswith("Closest: birch passes 0 of 1 gate; accuracy >= 0.8 failed")


def test_a_faster_system_that_is_not_shown_to_be_worse_is_named() -> None:
    _, _, reasons = recommended({"ash": records(40, 1, 4.0), "birch": records(40, 2, 0.5)})
    assert "birch is not shown to be worse, and faster (0.50 s against 4.0 s)" in reasons


WIDE = "{fields: {total: number}, gates: [accuracy >= 0.3]}"


def test_the_better_one_of_several_that_pass_is_recommended_alone() -> None:
    answer, _, _ = recommended({"ash": records(60, 40), "birch": records(60, 5)}, WIDE)
    assert answer == "Use birch: it is the best of those that pass all gates (ash passes them too)"


def test_a_system_is_not_replaced_by_one_that_is_better_on_documents_like_these_only() -> None:
    fields = [f"f{at}" for at in range(10)]
    gold = [{"id": str(at), **dict.fromkeys(fields, "x")} for at in range(30)]
    ash = [{**row, "f0": "y"} for row in gold]
    spec = f"{{fields: {{{', '.join(f'{name}: text' for name in fields)}}}, gates: [accuracy >= 0.8]}}"
    result = score(gold, {"ash": ash, "birch": [*gold[:29], ash[29]]}, spec)
    decisions = decisions_data(decide_result(result))["decisions"]
    found = recommend(result, decisions, list_standings(result, decisions))
    assert found.answer == (
        "Use birch or ash: both pass all gates, "
        "and birch is better than ash on documents like these, but perhaps not on others"
    )
    assert "points ahead of ash, beyond chance on documents like these" in found.reasons[0]


@pytest.mark.parametrize(("wrong", "is_guarded"), [(1, False), (10, True)], ids=["not guarded", "guarded"])
def test_the_best_of_three_has_its_clause_in_the_report(wrong: int, is_guarded: bool) -> None:
    fields = [f"f{at}" for at in range(10)]
    gold = [{"id": str(at), **dict.fromkeys(fields, "x")} for at in range(30)]
    worse = [{**row, **dict.fromkeys(fields[:wrong], "y")} for row in gold]
    spec = f"{{fields: {{{', '.join(f'{name}: text' for name in fields)}}}}}"
    page = report(score(gold, {"ash": worse, "birch": gold, "elm": worse}, spec))
    clause = "" if is_guarded else " on documents like these, but perhaps not on others"
    assert f"birch is better than every other system{clause} (at the 95% level" in page


@pytest.mark.parametrize(
    ("cheap", "costly", "saving"),
    [
        (
            {"seconds": 1.0, "dollars": 0.0015},
            {"seconds": 0.7, "dollars": 0.003},
            "cheaper: $1.50 against $3.00",
        ),
        (
            {"seconds": 0.7, "dollars": 0.003},
            {"seconds": 1.0, "dollars": 0.003},
            "faster: 0.70 s against 1.0 s",
        ),
        ({"seconds": 0.7}, {"seconds": 1.0}, "faster: 0.70 s against 1.0 s"),
    ],
    ids=["cheaper", "as cheap and faster", "no price is known"],
)
@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha")], ids=["first", "last"])
def test_of_equal_systems_the_cheaper_or_faster_is_used_whatever_their_order(
    cheap: dict[str, float], costly: dict[str, float], saving: str, order: tuple[str, str]
) -> None:
    systems = {"alpha": records(40, 0, **costly), "beta": records(40, 0, **cheap)}
    answer, tone, _ = recommended({name: systems[name] for name in order})
    assert answer == f"Use beta: beta and alpha are equal in accuracy, and beta is {saving}"
    assert tone == "good"


@pytest.mark.parametrize("order", [("alpha", "beta"), ("beta", "alpha")], ids=["first", "last"])
def test_of_systems_that_are_equal_in_everything_each_is_named(order: tuple[str, str]) -> None:
    answer, _, _ = recommended({name: records(40, 1) for name in order})
    assert answer == f"Use {' or '.join(order)}: both pass all gates, and they are equal in accuracy"


def test_an_equal_system_of_unknown_price_is_not_left_out() -> None:
    answer, _, _ = recommended({"ash": records(40, 1, 0.7), "birch": records(40, 1, 1.0, 0.003)})
    assert answer == "Use birch or ash: both pass all gates, and they are equal in accuracy"


def test_few_documents_decide_nothing() -> None:
    answer, tone, _ = recommended({"ash": records(3, 0), "birch": records(3, 3)})
    assert (answer, tone) == ("3 documents: too few to recommend a system", "none")


def test_without_gates_nothing_is_decided() -> None:
    answer, tone, _ = recommended(
        {"ash": records(40, 0), "birch": records(40, 3)}, "{fields: {total: number}}"
    )
    assert (answer, tone) == (
        "ash has the highest accuracy; there are no gates, so nothing is decided",
        "none",
    )


def test_equal_systems_without_gates_have_the_highest_value_together() -> None:
    answer, _, _ = recommended(
        {"ash": records(40, 1), "birch": records(40, 1), "cedar": records(40, 3)}, "{fields: {total: number}}"
    )
    assert answer == "ash and birch have the highest accuracy; there are no gates, so nothing is decided"


@pytest.mark.parametrize(
    ("values", "places"),
    [
        pytest.param((0.88540, 0.88536), ["1 to 2", "1 to 2"], id="shown as 88.5% both"),
        pytest.param((0.88540, 0.88440), ["1", "2"], id="shown apart"),
        pytest.param((0.9, 0.88540, 0.88536, 0.7), ["1", "2 to 3", "2 to 3", "4"], id="in the middle"),
    ],
)
def test_systems_that_are_shown_with_one_value_share_a_place(
    values: tuple[float, ...], places: list[str]
) -> None:
    result = Result(
        tuple(
            Estimate("accuracy", f"s{at}", None, {}, "filled", value, 5000, 5000, 0, "leaf")
            for at, value in enumerate(values)
        )
    )
    assert [one.place for one in list_standings(result, ())] == places


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
    result = score(records(30, 0), systems, SPEC, ScoreOptions(replicates=0))
    assert [one.place for one in list_standings(result, ())] == places


def test_a_single_system_that_fails_is_the_closest_to_nothing() -> None:
    _, _, reasons = recommended({"ash": records(40, 20)})
    assert reasons[0].startswith("It passes 0 of 1 gate; accuracy >= 0.8 failed")
