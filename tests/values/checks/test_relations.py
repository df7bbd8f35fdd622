"""Checks across fields: relations over the values of a record."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doc_pages import blocks
from tests.doc_tables import rows

from fieldassay.errors import ProblemsError
from fieldassay.scoring.validation.validate import validate
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import read_plan

FIELDS = """
  lines: {items: {fields: {qty: number, price: money, amount: money}}}
  pages: {items: {fields: {total: money, lines: {items: {fields: {amount: money}}}}}}
  net: money
  tax: money
  gross: money
  total: {type: money, names: [sum_total]}
  date: date
  due: date
  currency: text
  payee: text
  weight: quantity
  n: integer
"""
HOLDS, FAILS, SILENT = (1, 0, 0), (1, 1, 0), (0, 0, 1)


def counts(
    rule: str, record: dict[str, Any], at: str = ".", spec: str = f"fields:{FIELDS}"
) -> tuple[int, int, int]:
    """Return how often the rule was judged, was violated, and did not apply."""
    found = validate(
        f"{spec}\nnull_values: [N/A]\nchecks: {{'{at}': {{holds: '{rule}'}}}}",
        predictions={"a": [{"id": 1, **record}]},
    )
    assert found.problems == ()
    (count,) = found.counts
    return count.values, count.violations, count.not_applicable


def lines(*amounts: Any) -> dict[str, Any]:
    return {"lines": [{"amount": amount} for amount in amounts]}


CASES: list[tuple[str, dict[str, Any], tuple[int, int, int]]] = [
    ("sum(lines[].amount) == total", {**lines("1.10", 2.2), "total": "3.30"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines(*["0.10"] * 3), "total": 0.3}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("1.10", 2.2), "total": "3.31"}, FAILS),
    ("sum(lines[].amount) == total", {**lines("1.234,50 €"), "total": "EUR 1234.50"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("33.33", "33.33", "33.33"), "total": 100}, FAILS),
    ("sum(lines[].amount) == total within 0.01", {**lines("33.33", "33.33", "33.33"), "total": 100}, HOLDS),
    ("sum(lines[].amount) == total", {"lines": [{"amount": 1}, {"amount": ""}, {}], "total": 1}, HOLDS),
    ("sum(lines[].amount) == total", {"lines": [{"amount": 1}, {"qty": 2}], "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {"lines": [], "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1", "one"), "total": 1}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1"), "total": "N/A"}, SILENT),
    ("sum(lines[].amount) == total", {**lines("1"), "sum_total": "1"}, HOLDS),
    ("sum(lines[].amount) == total", {**lines("EUR 1"), "total": "USD 1"}, SILENT),
    ("sum(lines[].amount) == total", {"lines": "none", "total": 1}, SILENT),
    ("sum(lines[].qty * lines[].price) == total", {"lines": [{"qty": 2, "price": "1.5"}, {"qty": 1, "price": 4}], "total": 7}, HOLDS),
    ("count(lines[]) == n", {**lines(1, 2), "n": 2}, HOLDS),
    ("max(lines[].amount) <= total", {**lines(1, 5), "total": 4}, FAILS),
    ("min(lines[].amount) > 0", lines(1, 5), HOLDS),
    ("sum(lines[].amount) + tax == gross", {**lines(1, 2), "tax": 1, "gross": 4}, HOLDS),
    ("lines[].qty * lines[].price == lines[].amount", {"lines": [{"qty": 3, "price": "0.333", "amount": "1.00"}, {"qty": 2, "price": 1, "amount": 3}, {"qty": 2, "price": 1}]}, (2, 1, 1)),
    ("lines[].amount <= total", {**lines(1, 5), "total": 4}, (2, 1, 0)),
    ("sum(pages[].lines[].amount) == pages[].total", {"pages": [{"total": 3, **lines(1, 2)}, {"total": 3, **lines(4)}]}, (2, 1, 0)),
    ("sum(pages[].lines[].amount) == total", {"pages": [lines(1, 2), lines(4)], "total": 7}, HOLDS),
    ("lines[].amount / sum(lines[].amount) <= 0.5", lines(1, 3), (2, 1, 0)),
    ("net + tax == gross", {"net": "100.00", "tax": "10", "gross": "110.00"}, HOLDS),
    ("net + tax == gross", {"net": 100.004, "tax": 10, "gross": 110}, FAILS),
    ("net * 1.1 == gross", {"net": "99.99", "gross": "109.99"}, HOLDS),
    ("(net + tax) / 2 == gross - 1", {"net": 1, "tax": 3, "gross": 3}, HOLDS),
    ("net - -tax == gross", {"net": 1, "tax": 3, "gross": 4}, HOLDS),
    ("net / tax == gross", {"net": 1, "tax": 0, "gross": 4}, SILENT),
    ("net != tax", {"net": "1.001", "tax": "1.00"}, HOLDS),
    ("net >= tax", {"net": "0.999", "tax": 1}, FAILS),
    ("net >= tax within 0.01", {"net": "0.999", "tax": 1}, HOLDS),
    ("net < tax", {"net": 1, "tax": 1}, FAILS),
    ("due >= date", {"due": "4 March 2025", "date": "2025-03-05"}, FAILS),
    ("due >= date", {"due": "2025-03-05", "date": "5 March 2025"}, HOLDS),
    ("due >= date", {"due": "2025-03", "date": "2025-03-05"}, SILENT),
    ("due == date within 30", {"due": "2025-03-31", "date": "2025-03-05"}, HOLDS),
    ("currency == payee", {"currency": "EUR", "payee": " EUR "}, HOLDS),
    ("currency != payee", {"currency": "EUR", "payee": "EUR"}, FAILS),
    ("currency < payee", {"currency": "EUR", "payee": "EUR"}, SILENT),
    ("weight < 10", {"weight": "5 kg"}, HOLDS),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "record", "wanted"), CASES, ids=[f"{rule}-{number}" for number, (rule, _, _) in enumerate(CASES)]
)
def test_a_relation_is_judged_by_the_types_of_the_fields(
    rule: str, record: dict[str, Any], wanted: tuple[int, int, int]
) -> None:
    assert counts(rule, record) == wanted


def test_a_relation_may_stand_under_the_items_that_it_is_about() -> None:
    record = {"lines": [{"qty": 2, "price": 2, "amount": 4}, {"qty": 2, "price": 2, "amount": 5}]}
    assert counts("qty * price == amount", record, at="lines[]") == (2, 1, 0)


def test_a_relation_reads_a_tree_as_its_values_are() -> None:
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": 1}, {"n": 2.5}], "total": 3.5}, spec="type: any")
        == HOLDS
    )
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": 1}, {"n": "2.5"}], "total": 3.5}, spec="type: any")
        == SILENT
    )
    typed = 'type: any\nfields: {"**.n": money, "**": any}'
    assert (
        counts("sum(rows[].n) == total", {"rows": [{"n": "$1.00"}, {"n": "2.5"}], "total": 3.5}, spec=typed)
        == HOLDS
    )


def test_a_violation_says_what_both_sides_are_and_where() -> None:
    spec = f"fields:{FIELDS}checks: ['sum(lines[].amount) == total', 'lines[].amount > 0']"
    found = validate(
        spec, predictions={"a": [{"id": "d", **lines(-1, 2), "total": "5.00"}]}, lists_violations=True
    )
    assert [(one["path"], one["check"], one["message"], one["value"]) for one in found.violations] == [
        (
            "total",
            "sum(lines[].amount) == total",
            "does not hold: sum(lines[].amount) is 1, and total is 5.00",
            '"5.00"',
        ),
        ("lines[0].amount", "lines[].amount > 0", "does not hold: lines[].amount is -1, and 0 is 0", '"-1"'),
    ]


def test_validate_finds_gold_for_which_a_relation_does_not_hold() -> None:
    spec = f"fields:{FIELDS}checks: {{'.': ['net + tax == gross', has_keys: [net]], net: number}}"
    found = validate(spec, [{"id": 1, "net": 1, "tax": 1, "gross": 3}])
    assert [(one.system, one.check, one.violations) for one in found.counts] == [
        ("gold", "net + tax == gross", 1)
    ]
    assert [note for note in found.notes if "no prediction" in note] == []


WRONG = {
    "sum(lines[].amonut) == total": "has no field 'lines[].amonut'; did you mean 'amount'",
    "sum(lines.amount) == total": "has no list to run over",
    "lines.amount == total": "it is a list: write its items with `[]`",
    "sum(lines[].amount) = total": "cannot be read at character 20",
    "sum(lines[].amount)": "unknown check",
    "avg(lines[].amount) == total": "unknown function 'avg'",
    "net + == gross": "cannot be read at character 6",
    "net + tax ==": "ends too early",
    "(net + tax == gross": "close the bracket",
    "net == gross within": "ends too early",
    "net == gross gross": "end the relation here",
    "net + currency == gross": "currency has the type 'text', with which nothing can be computed",
    "sum(lines[].amount + pages[].total) == net": "looks at the items of two lists at once",
    "lines[].amount == pages[].total": "looks at the items of two lists at once",
    "sum(lines[].amount / sum(lines[].amount)) == 1": "holds another function",
    "(" * 60 + "net" + ")" * 60 + " == 1": "levels deep",
    "net == " + "1 + " * 300 + "1": "characters",
    "__import__('os').system('x') == 1": "cannot be read at character",
}


@pytest.mark.parametrize("rule", WRONG)
def test_what_is_wrong_with_a_relation_is_said(rule: str) -> None:
    with pytest.raises(ProblemsError) as refusal:
        read_plan(f"fields:{FIELDS}checks: {{'.': [{json.dumps(rule)}]}}")
    assert WRONG[rule] in str(refusal.value)


def test_a_relation_cannot_stand_under_a_star() -> None:
    with pytest.raises(ProblemsError, match="under a pattern with a star"):
        read_plan({"fields": {"a": "number"}, "checks": {"**": ["a == 1"]}})


@pytest.mark.parametrize(
    "checks",
    [
        ["a > 0"],
        {".": "a > 0"},
        {".": ["a > 0", "number"]},
        {".": {"holds": {"relation": "a > 0", "within": 0.5}}},
    ],
)
def test_relations_are_written_as_they_were_read(checks: Any) -> None:
    spec = read_spec({"fields": {"a": "number"}, "checks": checks})
    assert read_spec(write_spec(spec)).checks == spec.checks


@given(st.lists(st.decimals(-10_000, 10_000, places=2), min_size=1, max_size=8), st.integers(-2, 2))
def test_sums_are_exact_to_the_cent(amounts: list[Decimal], cents: int) -> None:
    total = sum(amounts, Decimal(0)) + Decimal(cents) / 100
    assert counts("sum(lines[].amount) == total", {**lines(*map(str, amounts)), "total": str(total)}) == (
        HOLDS if cents == 0 else FAILS
    )


PAGE = next(text for text in blocks("docs/checks.md", "yaml") if "name: invoices" in text).partition(
    "checks:"
)[0]
ROWS = [
    tuple(row.values()) for row in rows(Path(__file__).parents[3] / "docs" / "checks.md", "Across fields")
]
OUTCOMES = {"holds": HOLDS, "violated": FAILS, "does not apply": SILENT}


@pytest.mark.parametrize(("rule", "record", "outcome"), ROWS, ids=[f"{row[0]}-{row[2]}" for row in ROWS])
def test_the_examples_of_the_page_come_out_as_it_says(rule: str, record: str, outcome: str) -> None:
    found = validate(f"{PAGE}checks: ['{rule}']", predictions={"a": [{"id": 1, **json.loads(record)}]})
    (count,) = found.counts
    assert (count.values, count.violations, count.not_applicable) == OUTCOMES[outcome]
