"""Worked values of the published protocols, and values misjudged by other tools.

Each is under the comparator meant for it.
"""

import pytest
from tests.values.comparators.comparator_cases import build, reading

LAB = {"cascade": {"steps": ["exact", {"number": {"tolerance": 0.02}}]}}
ENGINEERING = {"number": {"tolerance": {"relative": 0.01, "scale": "at_least_one", "absolute": 0.0001}}}
IGNORED = {"exact": {"ignore": ",$%() "}}
BUSINESS_TEXT = {"cascade": {"steps": [IGNORED, "words"]}}
BUSINESS_MONEY = {"money": {"tolerance": {"relative": 0.01, "zero": 0.01}}}
BUSINESS_DATE = {"cascade": {"steps": [IGNORED, "date_components"]}}
BUSINESS_PHONE = {"cascade": {"steps": [IGNORED, "phone_digits"]}}
BUSINESS_ID = {"cascade": {"steps": [IGNORED, "digits"]}}


@pytest.mark.parametrize(
    ("call", "kind", "gold", "pred", "score"),
    [
        (LAB, "text", "5.0", "5.1", 1.0),
        (LAB, "text", "5.0", "5.11", 0.0),
        (LAB, "text", "NEGATIVO", "NEGATIVO", 1.0),
        (LAB, "text", "1-2 TABLETAS", "12 TABLETAS", 0.0),
        (LAB, "text", "0", "0.001", 0.0),
        (ENGINEERING, "number", "850.5", "842", 1.0),
        (ENGINEERING, "number", "850.5", "841.99", 0.0),
        (ENGINEERING, "number", "0.000125", "0.0101", 1.0),
        (ENGINEERING, "number", "0", "0.01", 1.0),
        (ENGINEERING, "number", "0", "0.0101", 0.0),
        ("exact", "text", "5000", "5.000", 0.0),
        (BUSINESS_ID, "text", "06 082 698 025", "06082698025", 1.0),
        (BUSINESS_ID, "text", "06-082-698-025", "06 082 698 025", 1.0),
        (BUSINESS_ID, "text", "06082698025", "06082698026", 0.0),
        (BUSINESS_MONEY, "money", "100.00", "101.00", 1.0),
        (BUSINESS_MONEY, "money", "100.00", "101.50", 0.0),
        (BUSINESS_MONEY, "money", "0", "0.01", 1.0),
        (BUSINESS_MONEY, "money", "0", "0.02", 0.0),
        (BUSINESS_DATE, "text", "15/03/2025", "15-03-2025", 1.0),
        (BUSINESS_DATE, "text", "04/05/2025", "05/04/2025", 1.0),
        (BUSINESS_DATE, "text", "15/03/2025", "15/04/2025", 0.8),
        (BUSINESS_DATE, "text", "15/03/2025", "16/04/2025", 0.0),
        (BUSINESS_PHONE, "text", "(02) 9374 4000", "02 9374 4000", 1.0),
        (BUSINESS_PHONE, "text", "02 9374 4000", "02 9374 4001", 0.8),
        (BUSINESS_TEXT, "text", "123 main st sydney nsw", "123 main st  sydney nsw", 1.0),
        (BUSINESS_TEXT, "text", "acme corp pty ltd", "acme corp pty", 0.9),
        (BUSINESS_TEXT, "text", "acme corp pty ltd australia", "acme corp pty ltd", 0.9),
        (BUSINESS_TEXT, "text", "aussie office supplies limited", "aussie office supplies ltd", 0.0),
        (BUSINESS_TEXT, "text", "456 collins st melbourne", "123 main st sydney", 0.0),
    ],
)
def test_protocols_are_reproduced(call, kind, gold, pred, score):
    assert build(call).compare_one(reading(kind, gold), reading(kind, pred))[0] == score


@pytest.mark.parametrize(
    ("call", "kind", "gold", "pred", "score"),
    [
        pytest.param("date", "date", "2024-03-04", "2024-04-03", 0.0, id="5: day and month swapped"),
        pytest.param("quantity", "quantity", "5 kg", "5 lb", 0.0, id="6: unit"),
        pytest.param("money", "money", "5 $", "5 €", 0.0, id="6: currency"),
        pytest.param("number", "number", "1000", "1e3", 1.0, id="6: exponent"),
        pytest.param("number", "text", "32024", "Q3 2024", 0.0, id="6: digits among letters"),
        pytest.param("exact", "text", "000123", "123", 0.0, id="8: account"),
        pytest.param("number", "number", "1234.5", "1234.50", 1.0, id="8: trailing zero"),
        pytest.param("exact", "text", "PO 12-3", "PO 1-23", 0.0, id="12: order number"),
        pytest.param("exact", "text", "2.10.1", "2.1.01", 0.0, id="12: version"),
        pytest.param("number", "number", "1000", "1", 0.0, id="12: thousands"),
        pytest.param("exact", "text", "09:00+02:00", "09:00Z", 0.0, id="12: instant"),
        pytest.param("number", "number", "-5", "-5.00", 1.0, id="13: negative"),
        pytest.param("money", "money", "371392.57 USD", "371392.47 USD", 0.0, id="23: total"),
        pytest.param("exact", "text", "10023", "10024", 0.0, id="23: id"),
        pytest.param("number", "number", "2023", "1923", 0.0, id="23: year"),
        pytest.param("exact", "text", "DE89370400440532013000", "DE89370400440532013001", 0.0, id="25: IBAN"),
        pytest.param("number", "number", "1000", "1000.0", 1.0, id="25: decimal zero"),
        pytest.param("date_parts", "text", "2024-03-04", "04 March 2024", 1.0, id="25: date"),
        pytest.param("money", "money", "5 EUR", "5 USD", 0.0, id="29: currency"),
        pytest.param("exact", "text", "00123", "123", 0.0, id="29: account"),
        pytest.param("ratcliff", "text", "tide", "diet", 0.25, id="41: gold first"),
        pytest.param("ratcliff", "text", "diet", "tide", 0.5, id="41: the other way"),
    ],
)
def test_values_that_others_judge_wrong_are_judged_right(call, kind, gold, pred, score):
    assert build(call).compare_one(reading(kind, gold), reading(kind, pred))[0] == score


def test_entry_quality_of_the_worked_example():
    name = build("ratcliff").compare_one(reading("text", "dupont"), reading("text", "dupond"))[0]
    assert 1 - name == pytest.approx(1 / 6)
    assert 1 - (1 - name) * (1 - 1 / 3) == pytest.approx(8 / 9)
