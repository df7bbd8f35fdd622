"""The sentence on the order of systems: a lead that is not guarded is never without its clause."""

from __future__ import annotations

import pytest

from fieldassay.reports.findings.ranking import Lead, Order, describe_order

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
