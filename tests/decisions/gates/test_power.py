"""What a gate on a bound says it would take."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from fieldassay.decisions.gates.judge import judge_result
from fieldassay.metrics.catalogue.grammar import parse_gate
from fieldassay.metrics.estimate import Estimate
from fieldassay.metrics.result.decision import GateOutcome, Verdict
from fieldassay.metrics.result.result import Result

ACCURACY = Estimate(
    "accuracy", "a", None, {}, "filled", 0.9, 50, 50, 0, "leaf", interval=(0.8, 0.98), level=0.95
)
LATENCY = Estimate(
    "latency_mean",
    "a",
    None,
    {},
    None,
    100.0,
    50,
    50,
    0,
    "document",
    {},
    (80.0, 130.0),
    0.95,
    (),
    "ms",
    "lower",
)


def judge(gate: str, estimate: Estimate) -> GateOutcome:
    [outcome] = judge_result([parse_gate(gate)], Result((estimate,)), "a")
    return outcome


NEEDS = [
    ("lower(accuracy) >= 0.85", ACCURACY, 347),
    ("lower(accuracy) > 0.89", ACCURACY, 7575),
    ("lower(accuracy) >= 0.9", ACCURACY, None),
    ("lower(accuracy) >= 0.95", ACCURACY, None),
    ("upper(accuracy) <= 0.94", ACCURACY, 343),
    ("upper(accuracy) <= 0.5", ACCURACY, None),
    ("upper(latency_mean) <= 110", LATENCY, 639),
    ("upper(latency_mean) >= 140", LATENCY, None),
    ("lower(latency_mean) <= 50", LATENCY, None),
    (
        "upper(latency_mean) <= 300",
        replace(LATENCY, documents=3, n=3, interval=(10.0, 301.0), marks=("few_documents",)),
        20,
    ),
]


@pytest.mark.parametrize(("gate", "estimate", "needed"), NEEDS)
def test_a_bound_that_does_not_hold_says_how_many_documents_would_show_it(
    gate: str, estimate: Estimate, needed: int | None
) -> None:
    outcome = judge(gate, estimate)
    assert outcome.verdict is not Verdict.PASS and outcome.documents_needed == needed
    assert (needed is None) or f"with {needed:,} documents a system that is truly at" in outcome.rule


def test_the_number_of_documents_makes_the_bound_hold() -> None:
    outcome = judge("lower(accuracy) >= 0.85", ACCURACY)
    assert outcome.documents_needed is not None
    half = 0.1 * (50 / outcome.documents_needed) ** 0.5
    wider = replace(ACCURACY, documents=outcome.documents_needed, interval=(0.9 - half, 0.98))
    assert judge("lower(accuracy) >= 0.85", wider).verdict is Verdict.PASS


def test_what_could_be_detected_is_in_the_file() -> None:
    data = judge("lower(accuracy) >= 0.85", ACCURACY).to_dict()
    variance = 50 * (0.18 / (2 * 1.959964)) ** 2 + 0.9**2 / 50  # as seen, and one more lost document
    z, unseen = (variance / 50) ** 0.5, 0.9 * -math.log(0.05) / 50
    assert data["documents_needed"] == 347 and data["detectable"] == pytest.approx(
        0.841621 * z + math.hypot(1.959964 * z, unseen), rel=1e-5
    )
    for gate in ("lower(accuracy) >= 0.8", "accuracy >= 0.95"):
        data = judge(gate, ACCURACY).to_dict()
        assert (data["documents_needed"], data["detectable"]) == (None, None)
