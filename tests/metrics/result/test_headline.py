"""The headline: one metric of a result, wherever a result is told in one number."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.judging import score_alone

from fieldassay.metrics.result.headline import find_headline
from fieldassay.metrics.result.result import Result
from fieldassay.reports.content.run.summary import summarize
from fieldassay.reports.findings.recommendation import list_standings

EXAMPLES = Path(__file__).parents[3] / "examples"
CASES = {
    "prescription": ("clinical/rx-gold.jsonl", "clinical/rx-v{}.jsonl", "prescription_accuracy"),
    "lab-report": ("clinical/lab-gold.jsonl", "clinical/lab-v{}.jsonl", "lab_accuracy"),
    "engineering-extractor": ("engineering/cases", "engineering/v{}.jsonl", "overall_accuracy"),
}


def score_example(protocol: str, **options: object) -> Result:
    gold, pred, _ = CASES[protocol]
    systems = {f"v{number}": str(EXAMPLES / pred.format(number)) for number in (1, 2)}
    return score_alone(str(EXAMPLES / gold), systems, {"protocol": protocol}, **options)


@pytest.mark.parametrize("protocol", CASES)
def test_the_headline_of_a_protocol_is_the_score_that_systems_are_ranked_by(protocol: str) -> None:
    result, name = score_example(protocol), CASES[protocol][2]
    assert [one.metric for one in find_headline(result)] == [name, name]
    assert summarize(result).headline[0].label == name
    assert [one.main.metric for one in list_standings(result, []) if one.main] == [name, name]
    assert name in {one.metric for one in result.comparisons}
    best = max(find_headline(result), key=lambda one: one.value or 0.0)
    assert list_standings(result, [])[0].system == best.system


def test_metrics_chosen_without_the_score_have_their_first_ratio_for_a_headline() -> None:
    result = score_example("prescription", metrics=("latency_mean", "name_recall", "accuracy"))
    assert {one.metric for one in find_headline(result)} == {"name_recall"}
