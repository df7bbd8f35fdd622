"""The engine against the protocol written down a second time, on random trees."""

from __future__ import annotations

import random

import pytest
from tests.spec.presets.engineering_oracle import compare, measure
from tests.spec.presets.engineering_trees import Case, make_case

from fieldassay.metrics.result.result import Result
from tests.judging import score_alone as score


def judge(cases: list[Case], workers: int = 1) -> Result:
    gold = [
        {
            "id": number,
            "expected_extraction": case[0],
            "critical_fields": case[2],
            "acceptable_variations": case[3],
        }
        for number, case in enumerate(cases)
    ]
    predictions = [{"id": number, "extraction": case[1]} for number, case in enumerate(cases)]
    options = {"bootstrap": 0, "evidence": "none", "batch": 64, "workers": workers}
    return score(gold, {"p": predictions}, {"protocol": "engineering-extractor"}, **options)


@pytest.mark.parametrize("seed", range(4))
def test_every_metric_of_every_case_is_that_of_the_plain_recursion(seed: int) -> None:
    source = random.Random(seed)
    cases = [make_case(source) for _ in range(64)]
    result = judge(cases)
    assert result.documents is not None
    rows = {row["doc"]: row for row in result.documents.to_dicts()}
    for number, case in enumerate(cases):
        wanted = measure([compare(*case)])
        found = {name: rows[str(number)][name] for name in wanted}
        assert found == pytest.approx(wanted, abs=1e-9), f"{case}"
        assert rows[str(number)]["score"] == pytest.approx(wanted["overall_accuracy"], abs=1e-9)


def test_every_metric_of_all_cases_is_that_of_the_plain_recursion() -> None:
    source = random.Random(99)
    cases = [make_case(source) for _ in range(150)]
    result = judge(cases)
    wanted = measure([compare(*case) for case in cases])
    assert {name: result.value(name) for name in wanted} == pytest.approx(wanted, abs=1e-9)


def test_the_random_trees_hold_every_kind_of_error() -> None:
    source = random.Random(99)
    told = {what for _ in range(150) for _, what in compare(*make_case(source)).seen}
    assert told == {"match", "unit", "value", "structure", "missing", "extra"}
