"""Two values with a stroke between them are two; a fraction is one where it looks like one."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.judging import outcome_of

from fieldassay.scoring.explain import explain_values
from fieldassay.values.types.numbers.amounts import Quantity
from fieldassay.values.types.numbers.quantities import QuantityReader

DIFFERENT = [
    ("quantity", "5/325 mg", "10/650 mg"),
    ("quantity", "120/80 mmHg", "180/120 mmHg"),
    ("quantity", "120/80 mmHg", "80/120 mmHg"),
    ("quantity", "120/80 mmHg", "1.5 mmHg"),
    ("quantity", "230/400 V", "115/200 V"),
    ("quantity", "50/60 Hz", "100/120 Hz"),
    ("quantity", "250/50 mcg", "500/100 mcg"),
    ("quantity", "80/12.5 mg", "160/25 mg"),
    ("quantity", "875/125 mg", "7 mg"),
    ("quantity", "2/4 mg", "5/10 mg"),
    ("quantity", "5/10 mg", "0.5 mg"),
    ("quantity", "10/160/12.5 mg", "10/160 mg"),
    ("quantity", "15/25 kg", "15-25 kg"),
    ("quantity", "5 mg/325 mg", "10 mg/650 mg"),
    ("quantity", "5 mg/5 mL", "5 mg/10 mL"),
    ("quantity", "1.0/2 mg", "1/2 mg"),
    ("quantity", "1000/125 mg", "500/62.5 mg"),
    ("quantity", "120/80", "60/40"),
    ("number", "120/80", "150/100"),
    ("number", "20/40", "10/20"),
    ("number", "20/40", "0.5"),
    ("number", "80/12.5", "6.4"),
    ("number", "7/14", "1/2"),
    ("integer", "10/10", "1"),
    ("integer", "100/50", "2"),
    ("integer", "3 4/2", "5"),
    ("money", "100/50", "2"),
    ("money", "$5/10", "$0.50"),
    ("money", "1/2 €", "0.50 €"),
    ("money", "5 €/10 €", "0.50 €"),
]
EQUAL = [
    ("quantity", "5/325 mg", "5 / 325mg"),
    ("quantity", "5/325 mg", "5 mg/325 mg"),
    ("quantity", "120/80 mmHg", "120 ∕ 80 mm Hg"),
    ("quantity", "0.12/0.08 bar", "120/80 mbar"),
    ("quantity", "1.000,5/2 kg", "1000.5/2 kg"),
    ("quantity", "½ L", "0.5 L"),
    ("quantity", "1/2 in", "0.5 in"),
    ("quantity", "1 1/2 in", "1.5 in"),
    ("quantity", "7/16 in", "0.4375 in"),
    ("number", "1/2", "0.5"),
    ("number", "3/4", "0.75"),
    ("number", "1 1/2", "1.5"),
    ("number", "1½", "1.5"),
    ("money", "1½ €", "1.50 €"),
]


@pytest.mark.parametrize(("type_name", "gold", "pred"), DIFFERENT)
def test_values_that_differ_in_a_part_are_no_match(type_name: str, gold: str, pred: str) -> None:
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "mismatch"


@pytest.mark.parametrize(("type_name", "gold", "pred"), EQUAL)
def test_values_that_agree_in_every_part_match(type_name: str, gold: str, pred: str) -> None:
    assert outcome_of(type_name, gold, pred) == outcome_of(type_name, pred, gold) == "match"


@pytest.mark.parametrize(
    ("type_name", "text", "problem"),
    [
        ("number", "120/80", "several values where one is expected: '120/80'"),
        ("integer", "1/2", "several values where one is expected: '1/2'"),
        ("money", "$5/10", "several values where one is expected: '$5/10'"),
        ("quantity", "60 mg/5 mL", "several values with different units: '60 mg/5 mL'"),
        ("quantity", "120-130/80 mmHg", "several values, one of them a range: '120-130/80 mmHg'"),
    ],
)
def test_a_type_of_one_value_says_that_there_are_two(type_name: str, text: str, problem: str) -> None:
    [step] = explain_values(text, "1", {"type": type_name})
    assert step.gold.problem == problem


def test_each_part_has_the_tolerance() -> None:
    near, far = (
        explain_values("120/80 mmHg", text, {"type": "quantity", "tolerance": 0.02})[0].outcome
        for text in ("121/81 mmHg", "121/90 mmHg")
    )
    assert (near, far) == ("match", "mismatch")


PARTS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**6), max_value=10**6, places=2)


@given(st.lists(PARTS, min_size=2, max_size=4), st.sampled_from(["mmHg", "mg", "V", ""]))
def test_several_values_are_read_in_order_and_read_back(parts: list[Decimal], unit: str) -> None:
    reading = QuantityReader().read(" / ".join(map(str, parts)) + f" {unit}")
    assert reading.value == Quantity(tuple(parts), unit or None)
    assert QuantityReader().read(reading.canonical).value == reading.value
