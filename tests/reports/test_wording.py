"""Sentences of reports: of numbers, folders and rankings."""

from __future__ import annotations

import pytest

from fieldassay.metrics.evidence import FLAGS as BITS
from fieldassay.metrics.evidence import Outcome
from fieldassay.reports.findings.ranking import Lead, Order, describe_order
from fieldassay.reports.wording.terms import DIAGNOSES, FLAGS, OUTCOMES, REASONS
from fieldassay.runs.tables import ANSWERS
from fieldassay.values.comparators.catalogue import COMPARATORS
from fieldassay.values.diagnosis.catalogue import DIAGNOSES as NAMES


def test_diagnoses_flags_and_outcomes_all_have_words() -> None:
    assert list(DIAGNOSES) == [*NAMES, "item_missing", "item_spurious", *ANSWERS]
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


FIRM = Lead("b", 0.7, "beyond_chance", 0.004, is_guarded=True)
LIKE_THESE = Lead("c", 0.85, "beyond_chance", 0.03)


@pytest.mark.parametrize(
    ("leads", "said"),
    [
        pytest.param((FIRM,), "better than b by 20.0 points (p = .004)", id="guarded"),
        pytest.param(
            (LIKE_THESE,),
            "better than c by 5.0 points (p = .030) on documents like these, but perhaps not on others",
            id="not guarded",
        ),
        pytest.param(
            (LIKE_THESE, FIRM),
            "better than b by 20.0 points (p = .004), and than c by 5.0 points (p = .030) "
            "on documents like these, but perhaps not on others",
            id="one of each",
        ),
    ],
)
def test_a_lead_has_its_clause_where_an_unseen_document_could_turn_it(
    leads: tuple[Lead, ...], said: str
) -> None:
    assert describe_order(Order("a", 0.9, leads)) == f"a is highest with 90.0% and {said}"
