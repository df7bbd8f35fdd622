"""The strategy `rules`."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.extraction.strategy_cases import answer, document, play

from fieldassay.documents.sources import load_bytes
from fieldassay.errors import ProblemsError
from fieldassay.extraction.evidence import PlacedValue, field_steps
from fieldassay.extraction.places import Place
from fieldassay.extraction.strategies.prompted import Prompted, Split
from fieldassay.extraction.strategies.prompts import merge
from fieldassay.extraction.strategies.rules.propose import propose_rules, with_rules
from fieldassay.extraction.strategies.rules.strategy import Rules
from fieldassay.extraction.strategy import Example, Task
from fieldassay.paths import ITEM
from fieldassay.spec.language.model import Find
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.language.write import write_spec
from fieldassay.spec.plan.compile import digest_of

# The strategy `rules`: offline, by the types, labels and positions that a spec says


def extract(text, fields):
    requests, found = play(Rules(), document(text), Task(read_spec({"fields": fields})))
    assert not requests and found.failure is None
    return found


VAT = "Subtotal 89.27\nVAT 20% 17.85\nTotal 107.12"
DUE = {"type": "money", "labels": ["Amount due"]}
VALUES = [
    ("behind a colon", "Total: EUR 12.00", "money", "EUR 12.00"),
    ("the label, not a longer word or other words", "Subtotal 10.00\nSub total 9.00\nTotal 12.00", "money", "12.00"),
    ("a total below a subtotal and a tax", VAT, "money", "107.12"),
    ("a label of the spec", "Net 10.00\nAmount due 12.00", DUE, "12.00"),
    ("a label above", "Total\n31.03\n", "money", "31.03"),
    ("a label in pieces, with marks", "To-tal...: 12.00", "money", "12.00"),
    ("a misread letter in a long label", "Arnount due 1.00\nAmount dve 2.00", DUE, "2.00"),
    ("cents before none", "Total 3 items 12.00", "money", "12.00"),
    ("no label: null", "12.00 13.00 14.00", "money", None),
    ("no value of the type: null", "Total: see below", "money", None),
    ("text to the end of its words", "Total: ACME Pumps Ltd", "text", "ACME Pumps Ltd"),
    ("an id without its mark", "Total #47-11", "id", "47-11"),
    ("an id in groups", "Total 51 824 753 556 ok", "id", "51 824 753 556"),
    ("no date for an id", "Total 12/03/2024\n47-11", "id", "47-11"),
    ("the only one of a rare type", "Acme\nwrite to a@b.example\nor call", "email", "a@b.example"),
    ("two of a rare type: null", "a@b.example\nc@d.example", "email", None),
    ("a date in full before a year", "PO 2727\nMay 12, 2023", {"type": "date", "find": {"unlabelled": "first"}}, "May 12, 2023"),
    ("the last beside labels", "Total 1.00\nTotal 2.00", {"type": "money", "find": {"take": "last"}}, "2.00"),
    ("the largest beside labels", "Total 3.00\nTotal 2.00", {"type": "money", "find": {"take": "largest"}}, "3.00"),
    ("the first without a label", "Acme Ltd\nLyon", {"find": {"unlabelled": "first"}}, "Acme Ltd"),
    ("the lines below", "Total:\n1 Elm St\n2000 Town\nTel 5", {"find": {"lines": 2}}, "1 Elm St 2000 Town"),
    ("up to a word", "Total: 1 Elm St\n2000 Town\nTel 5", {"find": {"lines": 9, "until": "Tel"}}, "1 Elm St 2000 Town"),
    ("the largest without a label", "1.00\n20.00\n3.00", {"type": "money", "find": {"unlabelled": "largest"}}, "20.00"),
    ("the only one without a label", "1.00\n2.00", {"type": "money", "find": {"unlabelled": "only"}}, None),
    ("not even the only one", "a@b.example", {"type": "email", "find": {"unlabelled": "none"}}, None),
    ("what a pattern matches", "Total 1-1 AB-12", {"type": "id", "find": {"pattern": "[A-Z]{2}-[0-9]+"}}, "AB-12"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "field", "value"), [case[1:] for case in VALUES], ids=[case[0] for case in VALUES]
)
def test_a_value_stands_beside_or_below_its_label_or_where_the_spec_says(text, field, value):
    assert extract(text, {"total": field}).record == {"total": value}


NAMES = [
    (
        "words of names where there is no label",
        {"total_amount": "money"},
        "Total 12.00",
        {"total_amount": "12.00"},
    ),
    ("but none beside labels", {"total_amount": DUE}, "Total 12.00", {"total_amount": None}),
    (
        "a longer label is another field's",
        {"date": "date", "due_date": "date"},
        "Date 01.02.2024 Due date 01.03.2024",
        {"date": "01.02.2024", "due_date": "01.03.2024"},
    ),
    (
        "no place is the value of two fields",
        {"invoice_date": "date", "due_date": "date"},
        "Date 01.02.2024",
        {"invoice_date": "01.02.2024", "due_date": None},
    ),
]


@pytest.mark.parametrize(
    ("fields", "text", "record"), [case[1:] for case in NAMES], ids=[case[0] for case in NAMES]
)
def test_the_labels_of_all_fields_tell_them_apart(fields, text, record):
    assert extract(text, fields).record == record


def test_a_pattern_that_could_hang_is_refused_with_its_place():
    with pytest.raises(ProblemsError, match=r"\$\.fields\.x\.find\.pattern: .*look-around"):
        read_spec({"fields": {"x": {"type": "id", "find": {"pattern": "(?=a)b"}}}})


def test_where_a_field_is_found_changes_no_judgement_and_is_written_as_it_was_read():
    find = {"pattern": "[0-9]+", "take": "last", "unlabelled": "first"}
    spec = read_spec({"fields": {"x": {"type": "id", "labels": ["No"], "find": find}}})
    assert read_spec(write_spec(spec)) == spec
    assert digest_of(spec) == digest_of(replace(read_spec("fields: {x: id}"), name=spec.name))


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


def items(text, find=None, fields="{item: text, n: integer, price: money}"):
    spec = f"fields: {{lines: {{find: {find or '{}'}, items: {{fields: {fields}}}}}}}"
    _, found = play(Rules(), document(text), Task(read_spec(spec)))
    return [" ".join(filter(None, one.values())) for one in found.record["lines"]]


FORMS = [
    ("a row", "2 Tea 4.00", '{rows: "{n} {item} {price}"}', ["Tea 2 4.00"]),
    ("the first form that fits", "2 Tea 4.00\nMilk 1.00", '{rows: ["{n} {item} {price}", "{item} {price}"]}', ["Tea 2 4.00", "Milk 1.00"]),
    ("two rows", "Green tea\n2 x 4.00", '{rows: "{item} / {n} {price}"}', ["Green tea 2 4.00"]),
    ("no row that only begins so", "2 Tea 4.00 net", '{rows: "{n} {item} {price}"}', []),
    ("up to a word", "Tea 4.00\nPaid in cash\nTea 5.00", '{rows: "{item} {price}", until: [Paid]}', ["Tea 4.00"]),
    ("words at the beginning alone", "Tea Paid 4.00\nTea 5.00", '{rows: "{item} {price}", until: [Paid]}', ["Tea Paid 4.00", "Tea 5.00"]),
    ("where nothing is said, a text and an amount", "2 Tea 4.00\nMilk 1.00\nTotal 5.00", None, ["Tea 2 4.00", "Milk 1.00"]),
    ("no amount without cents then", "12 Main Street 4", None, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "find", "found"), [case[1:] for case in FORMS], ids=[case[0] for case in FORMS]
)
def test_items_without_a_head_are_rows_of_the_forms_that_the_spec_says(text, find, found):
    assert items(text, find) == found


def test_a_pattern_makes_a_column_of_texts_one_word():
    fields = '{item: text, n: {type: text, find: {pattern: "x?[0-9]+"}}, price: money}'
    assert items("x2 Tea 4.00", '{rows: "{n} {item} {price}"}', fields) == ["Tea x2 4.00"]


def test_a_form_with_an_unknown_column_is_refused():
    with pytest.raises(
        ProblemsError, match=r"\$\.fields\.lines\.find\.rows: no column 'prize'; did you mean 'price'"
    ):
        items("", '{rows: "{item} {prize}"}')


TOTAL, ITEMS = {"total": "money"}, {"item": "text", "n": "text", "price": "money"}
TEA = [{"item": "Green tea", "n": "x2", "price": "4.00"}, {"item": "Milk 3", "n": "1", "price": "1.00"}]
PROPOSED = {
    "the label that stands beside gold": (
        TOTAL, [(f"Zwischensumme {n}.00\nZu zahlen {n + 1}.00\nBar 90.00", {"total": f"{n + 1}.00"}) for n in range(20, 28)],
        {("total",): (("Zu zahlen",), Find())},
    ),
    "the last of several": (
        TOTAL, [(f"Summe {n}.00\nSumme {n}.50", {"total": f"{n}.50"}) for n in range(9)],
        {("total",): (("Summe",), Find(take="last"))},
    ),
    "the first of the page": (
        TOTAL, [(f"{n}.00\n9{n}.00", {"total": f"{n}.00"}) for n in range(9)],
        {("total",): ((), Find(unlabelled="first"))},
    ),
    "no word of one document": (
        TOTAL, [(f"Fa. {'abcdefghi'[n] * 9} {n}.00\n1.00", {"total": f"{n}.00"}) for n in range(2, 9)],
        {("total",): (("Fa",), Find())},
    ),
    "nothing where nothing helps": (TOTAL, [(f"{n}.00 {n}.10 {n}.20", {"total": f"{n}.10"}) for n in range(9)], {}),
    "how many lines a text has": (
        {"address": "text"}, [(f"Ship to:\n{n} Elm St\n{n}000 Town\nTel {n}", {"address": f"{n} Elm St {n}000 Town"}) for n in range(1, 6)],
        {("address",): (("Ship to",), Find(lines=2))},
    ),
    "what words with digits of a column look like": (
        {"lines": {"items": {"fields": ITEMS}}}, [("Green tea x2 4.00\nMilk 3 1 1.00\nTotal 5.00", {"lines": TEA})],
        {("lines", ITEM, "n"): ((), Find("(?i)[0-9]+|x[0-9]+"))},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "shown", "rules"), PROPOSED.values(), ids=PROPOSED)
def test_gold_proposes_the_rules_that_find_it(fields, shown, rules):
    spec = read_spec({"fields": fields})
    examples = [Example(document(text), record) for text, record in shown]
    found = propose_rules(spec, examples)
    assert propose_rules(spec, examples) == found
    assert {steps: (one.labels, one.find) for steps, one in found.items()} == rules
    _, made = play(Rules(), document(shown[0][0]), Task(with_rules(spec, found)))
    assert made.record == shown[0][1] or not rules


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
    return PlacedValue(value, confidence, place, kind, str(value), place)


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


CONFLICTS = [
    ("better evidence", found("a", None, "absent", 0.9), found("b", 1, "found", 0.1), "b"),
    ("higher confidence", found("a", 1, "found", 0.2), found("b", 2, "found", 0.9), "b"),
    ("first in the document", found("a", 2), found("b", 1), "b"),
]


@pytest.mark.parametrize(
    ("one", "other", "value"), [case[1:] for case in CONFLICTS], ids=[case[0] for case in CONFLICTS]
)
def test_of_two_values_the_better_supported_counts_and_the_conflict_is_counted(one, other, value):
    result = joined([{("total",): one}, {("total",): other}])
    assert result.values[("total",)].value == value and result.notes == {"chunk_conflicts": 1}
