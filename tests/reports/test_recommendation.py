"""Which system a report recommends: three cases by gates, none with few documents or without gates."""

from __future__ import annotations

from typing import Any

import pytest

from fieldassay.gates.gate import decide_result
from fieldassay.reports.recommendation import list_standings, recommend
from fieldassay.result.decision import decisions_data
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.score import score

SPEC = "{name: bills, fields: {total: number}, gates: [accuracy >= 0.8]}"
SYSTEMS = {"ash": 2, "birch": 14, "cedar": 25}


def records(documents: int, wrong: int, seconds: float = 1.0) -> list[dict[str, Any]]:
    return [
        {"id": str(at), "total": 9999 if at < wrong else at, "timing": {"duration_ms": 1000 * seconds}}
        for at in range(documents)
    ]


def recommended(
    systems: dict[str, list[dict[str, Any]]], spec: str = SPEC
) -> tuple[str, str, tuple[str, ...]]:
    documents = len(next(iter(systems.values())))
    result = score(records(documents, 0), systems, spec, ScoreOptions(replicates=200))
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
            "Use birch: it is the best of those that pass all gates (ash passes them too)",
            "good",
        ),
        ({"ash": 20, "birch": 14, "cedar": 25}, "No system passes all gates", "bad"),
        ({"ash": 2}, "ash passes its gate", "good"),
        ({"ash": 20}, "ash does not pass its gates", "bad"),
    ],
    ids=["one passes", "several pass", "none passes", "a single one passes", "a single one fails"],
)
def test_the_answer_follows_from_the_gates(wrong: dict[str, int], answer: str, tone: str) -> None:
    found = recommended({name: records(40, count) for name, count in wrong.items()})
    assert found[:2] == (answer, tone)


def test_the_closest_is_named_where_none_passes() -> None:
    _, _, reasons = recommended({"ash": records(40, 20), "birch": records(40, 14)})
    assert reasons[0].startswith("Closest: birch passes 0 of 1 gate; accuracy >= 0.8 failed")


def test_a_faster_system_that_is_not_shown_to_be_worse_is_named() -> None:
    _, _, reasons = recommended({"ash": records(40, 1, 4.0), "birch": records(40, 2, 0.5)})
    assert "birch is not shown to be worse, and faster: 0.50 s against 4.0 s" in reasons


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


def test_equal_systems_share_a_place() -> None:
    result = score(
        records(30, 0), {"a": records(30, 1), "b": records(30, 1)}, SPEC, ScoreOptions(replicates=0)
    )
    assert {one.place for one in list_standings(result, ())} <= {"1", "1 to 2"}
