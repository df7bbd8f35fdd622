"""The strategy `rules`: offline, by types, labels and examples."""

import pytest
from tests.extraction.strategies.extraction import INVOICE, RECORD, SPEC, document, play

from fieldassay.documents.load import load_bytes
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Example, Task
from fieldassay.spec.language.parse import read_spec


def extract(text, fields, examples=()):
    spec = read_spec({"fields": fields})
    shown = tuple(
        Example(document(shown, name=f"{number}.pdf"), record)
        for number, (shown, record) in enumerate(examples)
    )
    requests, found = play(Rules(), document(text), Task(spec, shown))
    assert not requests and found.failure is None
    return found


BY_LABEL = [
    ("behind a colon", "Total: EUR 12.00", {"total": "money"}, "EUR 12.00"),
    (
        "the exact label, not a longer one",
        "Subtotal 10.00\nSub total 9.00\nTotal 12.00",
        {"total": "money"},
        "12.00",
    ),
    (
        "a label of the spec",
        "Net 10.00\nAmount due 12.00",
        {"x": {"type": "money", "labels": ["Amount due"]}},
        "12.00",
    ),
    ("a label above", "Invoice date\n31.03.2024\n", {"invoice_date": "date"}, "31.03.2024"),
    (
        "the only one of a rare type",
        "Acme\nwrite to a@b.example\nor call",
        {"contact": "email"},
        "a@b.example",
    ),
    ("a misread letter in a label", "Ttal 1.00\nInvolce number 4711-A", {"invoice_number": "id"}, "4711-A"),
    ("text behind its label", "Supplier: ACME Pumps Ltd", {"supplier": "text"}, "ACME Pumps Ltd"),
    ("no label: null", "12.00 13.00 14.00", {"total": "money"}, None),
    ("no value of the type: null", "Total: see below", {"total": "money"}, None),
]


@pytest.mark.parametrize(
    ("text", "fields", "value"), [case[1:] for case in BY_LABEL], ids=[case[0] for case in BY_LABEL]
)
def test_a_label_tells_the_value_of_a_field(text, fields, value):
    found = extract(text, fields)
    assert list(found.record.values()) == [value]


def test_two_fields_never_take_the_same_place():
    found = extract("Date 01.02.2024 Due date 01.03.2024", {"date": "date", "due_date": "date"})
    assert found.record == {"date": "01.02.2024", "due_date": "01.03.2024"}


LINES = {
    "lines": {
        "items": {"fields": {"item": "text", "quantity": "integer", "unit_price": "money", "amount": "money"}}
    }
}
ROWS = [
    {"item": "Pump P-1", "quantity": "2", "unit_price": "60.00", "amount": "120.00"},
    {"item": "Seal kit", "quantity": "1", "unit_price": "6.50", "amount": "6.50"},
]


@pytest.mark.parametrize(
    "text",
    ["Item Quantity Unit price Amount\nPump P-1 2 60.00 120.00\nSeal kit 1 6.50 6.50\nTotal 126.50",
     "Pump P-1 2 60.00 120.00\nSeal kit 1 6.50 6.50\nTotal 126.50"],
    ids=["under a head", "lines that look alike"],
)  # fmt: skip
def test_rows_are_the_items_of_a_list(text):
    assert extract(text, LINES).record["lines"] == ROWS


@pytest.mark.parametrize(
    "table",
    [
        "Component;CAS number;Concentration;Unit\nEthyl acetate;141-78-6;310.5;mg/m3\nHeptane;142-82-5;88.25;mg/m3\n",
        "Part,Component,CAS number,Concentration,Unit\n,Ethyl acetate,141-78-6,310.5,mg/m3\n7,Heptane,142-82-5,88.25,mg/m3\n",
    ],
    ids=["as wide as the head or wider", "with an empty cell before it"],
)
def test_cells_without_places_belong_to_the_column_that_they_stand_in(table):
    items = {
        "name": {"type": "text", "labels": ["Component"]},
        "cas_number": {"type": "text", "labels": ["CAS number"]},
        "concentration": {"type": "number", "labels": ["Concentration"]},
        "unit": {"type": "unit", "labels": ["Unit"]},
    }
    spec = read_spec({"fields": {"items": {"items": {"fields": items}}}})
    _, found = play(Rules(), load_bytes(table.encode(), "list.csv"), Task(spec))
    assert found.record["items"] == [
        {"name": "Ethyl acetate", "cas_number": "141-78-6", "concentration": "310.5", "unit": "mg/m3"},
        {"name": "Heptane", "cas_number": "142-82-5", "concentration": "88.25", "unit": "mg/m3"},
    ]


def test_examples_teach_labels_that_the_spec_does_not_have():
    shown = [
        (f"Zwischensumme {n}.00\nZu zahlen {n + 1}.00\nBar 90.00", {"total": f"{n + 1}.00"})
        for n in range(20, 28)
    ]
    text = "Zwischensumme 31.00\nZu zahlen 35.00\nBar 90.00"
    assert extract(text, {"total": "money"}).record == {"total": None}
    found = extract(text, {"total": "money"}, shown)
    assert found.record == {"total": "35.00"} and found.confidence["total"] > 0.6


def test_examples_teach_where_the_values_of_items_stand():
    shown = [
        (
            f"{n} x {n}.00\nThing {chr(65 + n)}\nTotal {n * n}.00",
            {"lines": [{"item": f"Thing {chr(65 + n)}", "n": str(n)}]},
        )
        for n in range(2, 12)
    ]
    found = extract(
        "7 x 3.00\nPart B\nTotal 21.00",
        {"lines": {"items": {"fields": {"item": "text", "n": "integer"}}}},
        shown,
    )
    assert found.record == {"lines": [{"item": "Part B", "n": "7"}]}


def test_every_value_has_its_quote_and_a_confidence():
    _, found = play(Rules(), document(INVOICE), Task(read_spec(SPEC)))
    text = "\n".join(" ".join(line.split()) for line in INVOICE.splitlines())
    assert found.record["number"] == RECORD["number"] and found.record["total"] == RECORD["total"]
    assert found.evidence.keys() == found.confidence.keys() and found.evidence
    assert all(
        text[one.start : one.end] == one.quote and one.kind == "found" for one in found.evidence.values()
    )
    assert all(0 < one <= 1 for one in found.confidence.values())
