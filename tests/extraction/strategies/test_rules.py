"""The strategy `rules`."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.extraction.strategies.extraction import INVOICE, RECORD, SPEC, answer, document, play

from fieldassay.documents.load import load_bytes
from fieldassay.documents.transcript import Line, Page, Word
from fieldassay.extraction.evidence import Found, field_steps
from fieldassay.extraction.places.search import Place, Search
from fieldassay.extraction.strategies.merge import merge
from fieldassay.extraction.strategies.prompted import Prompted, Split
from fieldassay.extraction.strategies.rules.candidates import _is_word, candidates, words_like
from fieldassay.extraction.strategies.rules.rows import Sheet
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Example, Task
from fieldassay.spec.language.parse import read_spec
from fieldassay.values.types.dates.dates import DateReader, may_be_date
from fieldassay.values.types.enums import EnumReader
from fieldassay.values.types.numbers.money import MoneyReader
from fieldassay.values.types.numbers.money_words import may_be_part_of_money

# The strategy `rules`: offline, by types, labels and examples


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


# What the strategy `rules` never asks a reader or a label: only what they would refuse

AMOUNTS = st.sampled_from(["12.50", "1.234,5", "(3.00)", "5", "-7", "1 000", "1e5", "½", "12,-", "3.00CR"])
NAMES = st.sampled_from(["EUR", "eur", "AUD$", "US$", "Rs.", "kr", "euro", "Dollars", "KWD", "$", "-", "+", "(", ")", "pcs", "XYZ", "AUDkr", "of"])  # fmt: skip
DIGITS = st.text("0123456789-./: ,TtQW'", min_size=1, max_size=14)
DATES = st.one_of(DIGITS, st.sampled_from(["March", "to", "of", "at", "from", "31st", "Q1", "2024-W12", "Mon", "10:15:30.123", "20240331T101530", "2024-123", "'24"]))  # fmt: skip
WORDS = st.text("aetol", min_size=1, max_size=7)


def sheet_of(*lines: str) -> Sheet:
    """Return a document of these lines."""
    return Sheet.of(Search.of([Page(1, tuple(Line(tuple(map(Word, line.split()))) for line in lines))]))


@given(st.lists(st.one_of(AMOUNTS, NAMES, st.builds("".join, st.lists(st.one_of(AMOUNTS, NAMES)))), min_size=1, max_size=3))  # fmt: skip
@example(["12.50", "AUD$"])
def test_every_word_of_an_amount_may_be_part_of_one(words: list[str]) -> None:
    text = " ".join(words)
    if MoneyReader().read(text).problem is None:
        assert all(map(may_be_part_of_money, text.split()))


@given(st.lists(DATES, min_size=1, max_size=4).map(" ".join))
@example("31 March 2024")
@example("2024-03-31T10:15:30.123")
def test_every_date_may_be_one(text: str) -> None:
    if DateReader(order="dmy").read(text).problem is None:
        assert may_be_date(text, None)


@given(st.lists(st.sampled_from(["Paid:", "paid", "PART", "part-paid", "[open]", "Open", "in", "hold", "x"]), max_size=8))  # fmt: skip
def test_the_values_of_a_set_are_found_wherever_they_stand(words: list[str]) -> None:
    reader = EnumReader(("paid", "part paid", "open"), (("open", ("In hold",)),))
    found = candidates(sheet_of(" ".join(words)), "enum", reader)
    assert {one.canonical for one in found} <= {"paid", "part paid", "open"}
    single = [reader.read(word.strip(",;:[]*~=")).problem is None for word in words]
    assert {at for one in found for at in range(one.first, one.end)} >= {
        at for at, fits in enumerate(single) if fits
    }


@given(st.lists(WORDS, max_size=12), st.lists(st.lists(WORDS, min_size=1, max_size=2).map(tuple), max_size=3))
def test_words_like_a_label_are_those_that_are_compared_as_equal(
    words: list[str], labels: list[tuple[str, ...]]
) -> None:
    alike = {word for word in words for label in labels for one in label if _is_word(one, word)}
    assert words_like(sheet_of(" ".join(words)), tuple(labels)) == alike


# Joining the answers of several parts: by place, whatever the parts

MERGE_SPEC = read_spec(
    {"fields": {"total": "money", "lines": {"items": {"fields": {"item": "text", "amount": "money"}}}}}
)
MERGE_ROWS = st.sampled_from(["Pump 1.00", "Seal 1.00", "Seal 2.00", "Cap 3.00"])
PAGES = st.lists(st.lists(MERGE_ROWS, max_size=4), min_size=1, max_size=6)


def read(request):
    """Answer as a model that never errs."""
    sent = request.body["messages"][-1]["content"].splitlines()
    rows = [line.split() for line in sent if line.endswith("0") and line.count(" ") == 1]
    return answer({"total": None, "lines": [{"item": item, "amount": amount} for item, amount in rows]})


@given(pages=PAGES, size=st.integers(1, 6), overlap=st.integers(0, 3))
def test_the_items_are_those_of_the_document_whatever_the_parts(pages, size, overlap):
    if not any(pages):
        return
    split = Split(pages=size, overlap=min(overlap, size - 1))
    _, found = play(Prompted("e", "m", split=split), document(*map("\n".join, pages)), Task(MERGE_SPEC), read)
    assert [f"{one['item']} {one['amount']}" for one in found.record["lines"]] == [
        row for page in pages for row in page
    ]


def found(value, line, kind="found", confidence=None):
    place = None if line is None else Place(0, line * 10, line * 10 + 5)
    return Found(value, confidence, place, kind, str(value), place)


ANSWERS = st.lists(
    st.dictionaries(
        st.sampled_from([("total",), ("lines", 0, "item"), ("lines", 1, "item"), ("lines", 1, "amount"), ("lines", 2, "item")]),
        st.builds(
            found, st.sampled_from(["a", "b"]), st.none() | st.integers(0, 3), st.sampled_from(["found", "absent"]),
            st.sampled_from([None, 0.2, 0.9]),
        ),
        max_size=4,
    ),
    max_size=4,
)  # fmt: skip


def joined(answers):
    return merge(answers, lambda place: (place.page, place.start // 10), lambda steps, one: str(one.value))


@given(answers=ANSWERS, order=st.randoms(use_true_random=False))
def test_the_order_of_the_answers_decides_nothing_but_the_order_of_items(answers, order):
    shuffled = list(answers)
    order.shuffle(shuffled)
    one, other = (
        Counter((field_steps(steps), repr(value)) for steps, value in joined(parts).values.items())
        for parts in (answers, shuffled)
    )
    assert one == other


MERGE_LINES = {
    "one line": ("Fees: $950.00 | $874.75 | $774.75", ["950.00 874.75 774.75"], "950.00 874.75 774.75"),
    "above, too": ("Sum 874.75\nFees: 950.00 | 874.75", ["950.00 874.75"], "950.00 874.75"),
    "out of order": ("Fees 1.00 | 2.00\nFee 3.00", ["3.00 1.00 2.00"], "1.00 2.00 3.00"),
    "nowhere": ("x", ["b c a"], "b c a"),
    "some nowhere": ("Fee 3.00\nFee 5.00", ["b 3.00 c a 5.00 0"], "b 3.00 c a 5.00 0"),
    "a first part nowhere": ("x\fy\fFees 6", ["b c", "6"], "b c 6"),
    "a middle part nowhere": ("Fee 1\fx\fy\fFee 2", ["1", "b", "2"], "1 b 2"),
    "parts": ("Fees 9 | 8 | 7\fFee 1\fFees 6 | 9", ["9 8 7 1", "1 6 9"], "9 8 7 1 6 9"),
    "parts nowhere": ("a\fb\fc", ["z y", "y x"], "z y x"),
}


@pytest.mark.parametrize("name", MERGE_LINES)
def test_items_without_a_line_of_their_own_keep_the_order_of_their_answer(name):
    text, answers, expected = MERGE_LINES[name]
    task = Task(read_spec({"fields": {"fees": {"items": "text"}}}))
    replies = [answer({"fees": one.split()}) for one in answers]
    _, found = play(Prompted("e", "m", split=Split(2)), document(*text.split("\f")), task, replies)
    assert found.record["fees"] == expected.split()


@given(answers=ANSWERS)
def test_an_answer_given_twice_adds_nothing(answers):
    assert joined([*answers, *answers]).values == joined(answers).values


CONFLICTS = [
    ("better evidence", found("a", None, "absent", 0.9), found("b", 1, "found", 0.1), "b"),
    ("higher confidence", found("a", 1, "found", 0.2), found("b", 2, "found", 0.9), "b"),
    ("first in the document", found("a", 2), found("b", 1), "b"),
]


@pytest.mark.parametrize(
    ("one", "other", "value"), [case[1:] for case in CONFLICTS], ids=[case[0] for case in CONFLICTS]
)
def test_of_two_values_the_better_supported_counts_and_the_other_is_kept(one, other, value):
    result = joined([{("total",): one}, {("total",): other}])
    assert result.values[("total",)].value == value and result.notes == {"chunk_conflicts": 1}
    assert [candidate.value for candidate in result.candidates[("total",)]] == [value, "a"]
