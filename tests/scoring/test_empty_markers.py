"""Markers of an empty value: one that a spec names stands for all of its kind, and for no other."""

import pytest

from fieldassay import explain_values


def outcome(gold, pred, type_, nulls):
    field = {"type": type_, "null_values": nulls}
    return [step.outcome for step in explain_values(gold, pred, field)]


@pytest.mark.parametrize("dash", ["-", "–", "—", "−", "－", "--"])
@pytest.mark.parametrize("type_", ["money", "text", "date"])
def test_one_dash_stands_for_all(dash, type_):
    assert outcome(dash, None, type_, ["-"]) == outcome(None, dash, type_, ["–"]) == ["absent"]
    assert outcome(None, dash, type_, ["N/A"]) == ["spurious"]


@pytest.mark.parametrize("zero", ["$0.00", 0, "0,00", "0", 0.0, "0 EUR"])
def test_one_zero_stands_for_all_of_an_amount(zero):
    assert outcome(None, zero, "money", ["0.00"]) == outcome(zero, None, "money", ["$0"]) == ["absent"]
    assert outcome(zero, "5", "money", ["0.00"]) == ["spurious"]
    assert outcome(None, zero, "money", ["-"]) == outcome(None, zero, "money", []) == ["spurious"]


@pytest.mark.parametrize(
    ("type_", "value"), [("text", "0"), ("money", "0x"), ("money", "0.5"), ("id", "000")]
)
def test_a_zero_that_is_no_amount_stays(type_, value):
    assert outcome(None, value, type_, ["0.00"]) == ["spurious"]
