"""Quotes, confidences, and examples that leak."""

import math

import pytest
from tests.extraction.strategies.extraction import INVOICE, RECORD, SPEC, answer, document, play

from fieldassay.documents.transcript import Line, Page, Transcript, Word
from fieldassay.errors import ProblemsError
from fieldassay.extraction.endpoints.exchange import TokenChoice
from fieldassay.extraction.examples.examples import Scored, Shown, choose_examples, fit_examples
from fieldassay.extraction.strategies.confidence import value_confidences
from fieldassay.extraction.strategies.prompted import Decode, Prompted
from fieldassay.extraction.strategies.verify import Verify
from fieldassay.extraction.strategy import Example, Task
from fieldassay.spec.language.parse import read_spec

CLASSES = [
    ("as written", "ACME Pumps Ltd", "ACME Pumps Ltd", "found"),
    ("another case and blanks", "ACME  PUMPS Ltd", "acme pumps ltd", "found"),
    ("other forms of characters", "ACME – “Pumps” m²", 'ACME - "Pumps" m2', "found"),
    ("one letter misread", "ACME Purnps Limited", "ACME Pumps Limited", "absent"),
    ("another digit", "Invoice number 12345", "Invoice number 12346", "absent"),
    ("part of a longer number", "60.000", "60", "absent"),
    ("part of a longer word", "Pumpset", "Pump", "absent"),
    ("words apart", "ACME\nheavy Pumps", "ACME Pumps", "assembled"),
    ("nowhere", "ACME", "Globex", "absent"),
]


@pytest.mark.parametrize(
    ("page", "value", "kind"), [case[1:] for case in CLASSES], ids=[case[0] for case in CLASSES]
)
def test_the_class_of_evidence_says_where_a_value_stands(page, value, kind):
    task = Task(read_spec({"fields": {"a": "text"}}))
    _, found = play(Prompted("e", "m"), document(page), task, [answer({"a": value})])
    assert found.evidence["a"].kind == kind and found.record == {"a": value}


def test_a_value_of_hidden_text_is_marked():
    words = (Word("Total"), Word("12.00"), Word("99.00", visible=False))
    page = Transcript("a", "s", "pdf", (Page(1, (Line(words),)),))
    requests, found = play(
        Prompted("e", "m"),
        page,
        Task(read_spec({"fields": {"total": "money"}})),
        [answer({"total": "99.00"})],
    )
    assert found.evidence["total"].kind == "hidden"
    assert "99.00" not in requests[0].body["messages"][-1]["content"]


EXAMPLE = Example(
    document("Globex Corp\nTotal 7.00", name="shown.pdf"), {"supplier": "Globex Corp", "total": "7.00"}
)


def test_a_value_of_a_shown_example_that_is_not_in_the_document_is_marked_and_counted():
    strategy = Prompted("e", "m", examples=Shown("train.jsonl"))
    task = Task(read_spec(SPEC), (EXAMPLE,))
    requests, found = play(strategy, document(INVOICE), task, [answer({**RECORD, "supplier": "Globex Corp"})])
    assert found.evidence["supplier"].kind == "example" and found.notes["leaked_example"] == 1
    roles = [message["role"] for message in requests[0].body["messages"]]
    assert roles == ["system", "user", "assistant", "user"]
    assert '"supplier": "Globex Corp"' in requests[0].body["messages"][2]["content"]


LEAKS = [
    ("id", Scored(ids=("shown.pdf",))),
    ("content", Scored(documents=(Transcript("other", "sha-shown.pdf", "pdf", ()),))),
    ("group", Scored(groups=("globex",))),
]


@pytest.mark.parametrize("scored", [case[1] for case in LEAKS], ids=[case[0] for case in LEAKS])
def test_an_example_that_is_scored_is_an_error(scored):
    example = Example(EXAMPLE.document, EXAMPLE.record, "globex")
    with pytest.raises(ProblemsError) as raised:
        fit_examples([example, example], scored)
    assert [one.kind for one in raised.value.problems] == ["leaked_example"] * 2


def test_a_near_copy_of_a_scored_document_is_left_out_and_counted():
    near = Example(document(INVOICE.replace("2024-117", "2024-118"), name="near.pdf"), RECORD)
    assert fit_examples([near, EXAMPLE], Scored(documents=(document(INVOICE),))) == ((EXAMPLE,), 1)


def test_a_near_copy_of_the_document_is_not_shown_with_it():
    near = Example(document(INVOICE.replace("2024-117", "2024-118"), name="near.pdf"), RECORD)
    strategy = Prompted("e", "m", examples=Shown("train.jsonl"))
    requests, found = play(
        strategy, document(INVOICE), Task(read_spec(SPEC), (near, EXAMPLE)), [answer(RECORD)]
    )
    assert found.notes == {"near_copies": 1} and len(requests[0].body["messages"]) == 4
    assert "Globex" in requests[0].body["messages"][1]["content"]


def test_the_nearest_examples_are_shown_the_most_similar_last():
    texts = ["Globex order of pumps", "ACME invoice of seals", "ACME invoice of pumps"]
    examples = [Example(document(text, name=text), {}) for text in texts]
    chosen = choose_examples(
        document("ACME invoice of pumps and seals"), examples, Shown("t", select="nearest", k=2)
    )
    assert [one.document.id for one in chosen] == [texts[1], texts[2]]


def tokens(*pieces):
    return [TokenChoice(piece.encode(), math.log(chance)) for piece, chance in pieces]


STREAMS = [
    ("product over the bytes of a value", '{"a": "12"}', [('{"a": "', 1), ("1", 0.5), ("2", 0.5), ('"}', 0.1)], {("a",): 0.25}),
    ("a token with key, colon and value", '{"a":1}', [('{"a":1}', 0.5)], {("a",): 0.5}),
    ("a fence that is not in the content", '{"a": 1}', [("```", 0.1), ("json\n", 0.1), ('{"a": ', 1), ("1", 0.5), ("}", 1)], {("a",): 0.5}),
    ("several bytes a character", '{"a": "é", "b": 2}', [('{"a": "', 1), ("é", 0.5), ('", "b": ', 1), ("2", 0.25), ("}", 1)],
     {("a",): 0.5, ("b",): 0.25}),
    ("another stream", '{"a": 1}', [("something else", 0.5)], {}),
    ("an escaped key", '{"a\\"b": [1]}', [('{"a\\"b": [', 1), ("1", 0.5), ("]}", 1)], {('a"b', 0): 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "pieces", "sure"), [case[1:] for case in STREAMS], ids=[case[0] for case in STREAMS]
)
def test_the_confidence_of_a_value_is_that_of_the_tokens_that_spell_it(text, pieces, sure):
    assert value_confidences(text, tokens(*pieces)) == pytest.approx(sure)


def test_the_confidence_of_a_text_is_a_geometric_mean_that_of_an_amount_a_product():
    task = Task(read_spec({"fields": {"name": "text", "total": "money"}}))
    text = '{"name": "ab", "total": "12"}'
    pieces = [
        ('{"name": "', 1),
        ("a", 0.25),
        ("b", 1),
        ('", "total": "', 1),
        ("1", 0.25),
        ("2", 1),
        ('"}', 1),
    ]
    strategy = Prompted("e", "m", decode=Decode(logprobs=True))
    requests, found = play(strategy, document("ab 12"), task, [answer(text, tokens=tuple(tokens(*pieces)))])
    assert requests[0].body["logprobs"] is True
    assert found.confidence == pytest.approx({"name": 0.5, "total": 0.25})


BILL = "TAX INVOICE\nTotal   1,042.78\nDate   19 October 2025\nPaid in €\nRef PO-1884"
BILLED = read_spec(
    "fields:\n  total: money\n  when: date\n  ref: id\n"
    "  currency: {type: enum, values: [EUR, USD], aliases: {EUR: ['€']}}\n"
)
SUPPORTED = [
    ("invented, with a true quote", {"total": "1.00"}, "TAX INVOICE", None),
    ("another id in the quote", {"ref": "PO-9999"}, "PO-1884", None),
    ("another date in the quote", {"when": "1999-01-01"}, "Date", None),
    ("another currency", {"currency": "USD"}, "Paid in €", None),
    ("typed amount, quote of its line", {"total": "1042.78"}, "Total 1,042.78", "1,042.78"),
    ("typed amount without a quote", {"total": 1042.78}, None, "1,042.78"),
    ("ISO date", {"when": "2025-10-19"}, None, "19 October 2025"),
    ("alias", {"currency": "EUR"}, None, "€"),
]


@pytest.mark.parametrize(
    ("given", "quote", "place"), [case[1:] for case in SUPPORTED], ids=[case[0] for case in SUPPORTED]
)
def test_required_support_is_the_value_as_its_type_reads_it(given, quote, place):
    ((name, value),) = given.items()
    strategy = Prompted("e", "m", verify=Verify(quotes="require"))
    blank = {other: {"value": None, "quote": None} for other in ("total", "when", "ref", "currency")}
    _, found = play(
        strategy, document(BILL), Task(BILLED), [answer(blank | {name: {"value": value, "quote": quote}})]
    )
    assert found.record[name] == (None if place is None else value)
    assert (found.evidence[name].quote if name in found.evidence else None) == place
