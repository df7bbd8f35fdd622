"""The clinical presets agree with an independent implementation on random, hostile documents."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from tests.spec.presets.clinical_oracle import (
    LAB_REPORT,
    PRESCRIPTION,
    Kind,
    document_figures,
    figures,
    is_success,
    judge,
)
from tests.spec.presets.clinical_records import Maker

from fieldassay.scoring.score import score

METRICS = {
    "prescription": {
        "recall": "name_recall",
        "accuracy": "attribute_accuracy",
        "precision": "name_precision",
        "pooled_recall": "pooled_name_recall",
        "pooled_accuracy": "pooled_attribute_accuracy",
        "pooled_precision": "pooled_name_precision",
        "percent": "prescription_accuracy",
        "success": "pipeline_success_rate",
    },
    "lab-report": {
        "recall": "test_recall",
        "accuracy": "lab_field_accuracy",
        "precision": "test_precision",
        "pooled_recall": "pooled_test_recall",
        "pooled_accuracy": "pooled_lab_field_accuracy",
        "pooled_precision": "pooled_test_precision",
        "percent": "lab_accuracy",
        "success": "pipeline_success_rate",
    },
}


def hundredfold(value: Fraction | None) -> Fraction | None:
    return None if value is None else 100 * value


def near(value: Fraction | None) -> object:
    return None if value is None else pytest.approx(float(value), rel=0, abs=1e-9)


@pytest.mark.parametrize(
    ("protocol", "kind"),
    [("prescription", PRESCRIPTION), ("lab-report", LAB_REPORT)],
    ids=lambda given: str(given)[:12],
)
@pytest.mark.parametrize("seed", range(4))
def test_random_documents_come_to_the_same_numbers(protocol: str, kind: Kind, seed: int) -> None:
    gold, predicted = Maker(kind, Random(seed)).documents(150)
    outcomes = [judge(record, predicted.get(record["doc_id"]), kind) for record in gold]
    successes = [
        is_success(predicted.get(record["doc_id"]), outcome)
        for record, outcome in zip(gold, outcomes, strict=True)
    ]
    result = score(gold, {"s": list(predicted.values())}, {"protocol": protocol}, bootstrap=0)
    names = METRICS[protocol]

    assert result.documents is not None
    rows = {row["doc"]: row for row in result.documents.iter_rows(named=True)}
    for record, outcome, success in zip(gold, outcomes, successes, strict=True):
        own = document_figures(outcome, kind)
        own |= {"percent": hundredfold(own["score"]), "success": Fraction(100 * success)}
        wanted = {"score": own.pop("score"), **{names[name]: value for name, value in own.items()}}
        row = rows[record["doc_id"]]
        assert {name: row[name] for name in wanted} == {
            name: near(value) for name, value in wanted.items()
        }, (record, outcome)

    everything = figures(outcomes, successes, kind)
    everything["percent"] = hundredfold(everything.pop("score"))
    wanted = {
        {**names, "spurious": "items_spurious", "without_gold": "documents_without_gold"}[name]: value
        for name, value in everything.items()
    }
    found = {estimate.metric: estimate.value for estimate in result.estimates if estimate.field is None}
    assert {name: found[name] for name in wanted} == {name: near(value) for name, value in wanted.items()}


def test_random_documents_hold_what_is_hard() -> None:
    gold, predicted = Maker(PRESCRIPTION, Random(0)).documents(150)
    outcomes = [judge(record, predicted.get(record["doc_id"]), PRESCRIPTION) for record in gold]
    assert sum(not outcome.gold for outcome in outcomes) > 10
    assert sum(record["doc_id"] not in predicted for record in gold) > 3
    assert sum(1 < outcome.matched < outcome.gold for outcome in outcomes) > 20
    assert any("error" in record for record in predicted.values())
    assert any(record.get("parse_success") is False for record in predicted.values())
