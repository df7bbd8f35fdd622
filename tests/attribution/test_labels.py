"""Every wrong value has a label with its evidence: the table of cases made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fieldassay.attribution.labels import LABELS, WrongValue, are_equal, label_value
from fieldassay.attribution.presence import SentText
from fieldassay.attribution.sent import text_transcript
from fieldassay.documents.transcript import Line, Page, Transcript, Word
from fieldassay.extraction.endpoints.exchange import Failure
from fieldassay.extraction.strategy import Evidence
from fieldassay.scoring.explain import find_leaf
from fieldassay.spec.plan.compile import read_plan
from fieldassay.spec.plan.nodes import Leaf

SPEC = """
locale: en_AU
fields:
  name: text
  ref: id
  kind: {type: enum, values: [invoice, receipt], aliases: {invoice: [tax invoice]}}
  paid: boolean
  count: integer
  rate: number
  total: {type: money, currency: AUD}
  day: date
  flow: {type: quantity, canonical: m3/h}
  phone: phone
  mail: email
  lines: {items: {fields: {item: text, qty: number, amount: {type: money, currency: AUD}}}}
  codes: {type: list, items: text, compare: iou}
"""
PLAN = read_plan(SPEC)


def leaf(name: str) -> Leaf:
    found = find_leaf(PLAN, name)[0]
    assert found is not None
    return found


@dataclass(frozen=True)
class Case:
    """A wrong value: its field, what was sent, gold and prediction; and the label with a part of its text."""

    name: str
    label: str
    field: str
    text: str | None
    gold: Any = None
    pred: Any = None
    found: str = ""
    more: dict[str, Any] = field(default_factory=dict)
    kind: str = "pdf"


INVOICE = "ACME Pumps Ltd\nInvoice No: 2024-117   Date: 31 March 2024\nPump P-1  2  60.00  1,234.50\nTotal EUR 1,264.00"


def failed(kind: str, stage: Any = "answer") -> dict[str, Any]:
    return {"failure": Failure(kind, "it says why", stage)}


def seen(kind: Any) -> dict[str, Any]:
    return {"source": Evidence("", kind=kind)}


CASES = [
    # no answer, or one of no use
    Case("timeout", "runtime", "total", INVOICE, 1264, None, "timeout", failed("read_timeout", "send")),
    Case("error", "runtime", "total", INVOICE, 1264, None, "there is no answer", failed("exception", "strategy")),
    Case("not loaded", "runtime", "total", None, 1264, None, "could not be loaded", failed("encrypted", "load")),
    Case("too large to load", "runtime", "total", None, 1264, None, "could not be loaded", failed("too_large", "load")),
    Case("no prediction", "runtime", "total", INVOICE, 1264, None, "no prediction", failed("no_prediction", "send")),
    Case("not JSON", "format", "total", INVOICE, 1264, None, "not json", failed("not_json")),
    Case("cut answer", "format", "total", INVOICE, 1264, None, "truncated", failed("truncated")),
    Case("against the schema", "format", "total", INVOICE, 1264, None, "schema violation", failed("schema_violation")),
    Case("too long for the model", "format", "total", INVOICE, 1264, None, "context", failed("context_length", "send")),
    Case("cut by the server", "format", "total", INVOICE, 1264, None, "input", failed("input_truncated")),
    Case("white space for ever", "format", "total", INVOICE, 1264, None, "loop", failed("whitespace_loop")),
    # the raw answer was right
    Case("amount spoiled", "post_processing", "total", INVOICE, 1264, 1.264, "'1,264.00', which is right",
         {"raw": ["1,264.00"], "parsed": [1.264]}),
    Case("value dropped", "post_processing", "name", INVOICE, "ACME Pumps Ltd", None, "has nothing",
         {"raw": ["ACME Pumps Ltd"]}),
    Case("day and month turned", "post_processing", "day", INVOICE, "2024-03-31", "2024-03-13", "31 March",
         {"raw": ["31 March 2024"], "parsed": ["2024-03-13"]}),
    Case("one item of two lost", "post_processing", "lines[].qty", INVOICE, 2, None, "which is right",
         {"raw": [2, 2], "parsed": [2]}),
    Case("added after the answer", "post_processing", "ref", INVOICE, None, "0000", "does not have '0000'",
         {"raw": ["2024-117"], "parsed": ["0000"]}),
    Case("raw as wrong as parsed", "model_invented", "name", INVOICE, "ACME Pumps Ltd", "Bolt Inc", "no form of 'Bolt",
         {"raw": ["Bolt Inc"], "parsed": ["Bolt Inc"]}),
    # right, and judged wrong
    Case("other case", "gold", "name", INVOICE, "ACME PUMPS LTD", "Acme Pumps Ltd", "another notation"),
    Case("other marks", "gold", "name", INVOICE, "ACME Pumps, Ltd.", "ACME Pumps Ltd", "another notation"),
    Case("accents", "gold", "name", INVOICE, "Crème", "Creme", "another notation"),
    Case("month first", "gold", "day", "Date 11/10/2024", "2024-11-10", "11/10/2024", "another notation"),
    Case("decimal comma", "gold", "rate", "Rate 1,234", 1.234, "1,234", "another notation"),
    Case("gold not in a text file", "gold", "name", INVOICE, "ACME Pumps Limited", "ACME Pumps Ltd",
         "text file", kind="text"),
    Case("gold not in a CSV", "gold", "total", "a,b\n1,2", 99.5, None, "text file", kind="csv"),
    # from outside of the page
    Case("from an example", "example_leak", "name", INVOICE, "ACME Pumps Ltd", "Bolt Inc", "an example", seen("example")),
    Case("example, gold empty", "example_leak", "mail", INVOICE, None, "a@b.de", "an example", seen("example")),
    Case("without ink by evidence", "hidden_text", "name", INVOICE, "ACME Pumps Ltd", "Evil Corp", "without ink", seen("hidden")),
    Case("without ink", "hidden_text", "total", INVOICE + "\n~9,999.00", 1264, "9999.00", "without ink"),
    # reading lost it
    Case("words apart", "reading_layout", "name", "ACME\nInvoice 7\nPumps\nLtd", "ACME Pumps Ltd", "ACME", "never together"),
    Case("columns mixed", "reading_layout", "lines[].item", "Stainless 4 60.00\nwasher 7 M8", "Stainless washer M8", None, "never together"),
    Case("address over columns", "reading_layout", "name", "12 High Bill to:\nStreet Bob\nLeeds", "12 High Street Leeds", None, "never"),
    Case("zero for O", "reading_characters", "ref", "Ref INV-2O4", "INV-204", "INV-2O4", "is what was predicted"),
    Case("digit misread", "reading_characters", "total", "Total 1,284.00", 1264.00, "1,284.00", "is what was predicted"),
    Case("date misread", "reading_characters", "day", "Date 2024-08-31", "2024-03-31", "2024-08-31", "is what was predicted"),
    Case("name misread", "reading_characters", "name", "ACNE Purnps Ltd", "ACME Pumps Ltd", "ACNE Purnps Ltd", "is what was predicted"),
    Case("letter for a digit, nobody predicted", "reading_characters", "total", "Total 1,Z64.00", 1264.00, None, "in its place"),
    Case("S for 5", "reading_characters", "ref", "Ref AB-5S1", "AB-551", None, "in its place"),
    Case("similar name, nobody predicted", "reading_characters", "name", "Tamarack Va11ey Tools lnc.", "Tamarack Valley Tools Inc.", None, "in its place"),
    Case("page without text", "reading_lost_page", "total", INVOICE + "\f", 77.25, None, "page 2 has no text"),
    Case("pages without text", "reading_lost_page", "name", "A\f\f", "Zenith", "A", "pages 2, 3 have no text"),
    Case("damage before a page without text", "reading_characters", "ref", "Ref INV-2O4\f", "INV-204", "INV-2O4", "is what was"),
    Case("nothing of it", "reading_omitted", "name", "Invoice 7\nTotal 5.00", "ACME Pumps Ltd", None, "nothing similar"),
    Case("another taken", "reading_omitted", "total", "Deposit 80.00", 1264.00, 80, "'80' was predicted from elsewhere"),
    Case("another number is no damage", "reading_omitted", "total", "Deposit 9,999.00", 1264.00, "9,999.00", "predicted from elsewhere"),
    Case("invented for a lost one", "reading_omitted", "name", "Invoice 7", "ACME Pumps Ltd", "Smith", "nothing similar"),
    # cannot be told
    Case("no transcript", "ambiguous", "name", None, "ACME Pumps Ltd", "Bolt", "pictures were sent", {"no_text": "pictures were sent"}),
    Case("boolean", "ambiguous", "paid", INVOICE, True, None, "decided from the document"),
    Case("short", "ambiguous", "count", "7 pumps, 3 seals", 3, 7, "it is short"),
    Case("not short with its mark", "model_omitted", "total", "Sum @880", "@880", None, "@880"),
    Case("found by chance", "ambiguous", "rate", "Rate 1250 and 1350", 1250, 1350, "by chance", {"chance": 0.4}),
    Case("often missed", "ambiguous", "name", "Invoice 7", "a proper name", None, "often not found", {"missed": 0.5}),
    # the model
    Case("left out", "model_omitted", "name", INVOICE, "ACME Pumps Ltd", None, "in the line 'ACME Pumps Ltd'"),
    Case("left out in other notation", "model_omitted", "day", INVOICE, "2024-03-31", None, "31 March 2024"),
    Case("left out, grouped number", "model_omitted", "total", INVOICE, 1264.0, None, "1,264.00"),
    Case("left out, decimal comma", "model_omitted", "total", "Summe 1.264,00 EUR", 1264.0, None, "1.264,00"),
    Case("left out, alias", "model_omitted", "kind", "TAX INVOICE\nNo 7", "invoice", None, "INVOICE"),
    Case("left out, unit", "model_omitted", "flow", "Flow 5.000,5 m³/h", "5000.5 m3/h", None, "m³/h"),
    Case("left out, over a line break", "model_omitted", "name", "ACME Pumps\nLtd", "ACME Pumps Ltd", None, "the text has"),
    Case("left out, short beside its label", "model_omitted", "count", "Count: 3\nSeals 7", 3, None, "Count: 3", {"anchors": ["count"]}),
    Case("left out, likely beside its item", "model_omitted", "lines[].qty", "Pump P-1 2 60.00", 2, None, "Pump", {"anchors": ["Pump P-1"], "chance": 0.9}),
    Case("short in a text file", "model_omitted", "count", "3 pumps", 3, None, "3 pumps", kind="text"),
    Case("other field", "model_other_field", "total", INVOICE, 1264.0, 1234.5, "gold value of net", {"other_field": "net"}),
    Case("other field, gold empty", "model_other_field", "mail", INVOICE, None, "ACME Pumps Ltd", "gold value of name", {"other_field": "name"}),
    Case("twice in gold", "ambiguous", "total", "Sum 1,264.00", 1264.0, None, "net of this document has it", {"shared": "net"}),
    Case("twice in gold, on its line", "model_omitted", "total", INVOICE, 1264.0, None, "nothing was predicted", {"shared": "net", "anchors": ["Total"]}),
    Case("other item", "model_other_place", "lines[].item", INVOICE, "Pump P-1", "Seal", "another item", {"is_other_item": True}),
    Case("other place", "model_other_place", "total", INVOICE, 1264.0, "60.00", "Pump P-1"),
    Case("other place, gold empty", "model_other_place", "phone", "ABN 90 738 465 074", None, "738 465 074", "ABN"),
    Case("invented amount", "model_invented", "total", INVOICE, 1264.0, 999, "no form of '999'"),
    Case("rounded", "model_invented", "rate", "Rate 15.80 a unit", 15.8, 6, "gold value stands in the line 'Rate"),
    Case("invented, gold empty", "model_invented", "mail", INVOICE, None, "a@b.de", "no form of 'a@b.de'"),
]  # fmt: skip


def sent(text: str, kind: str) -> SentText:
    """Return a text as sent: form feeds begin pages, lines that begin with ~ have no ink."""
    made = text_transcript("a.pdf", text.split("\f"))
    pages = tuple(Page(page.number, tuple(map(_ink, page.lines))) for page in made.pages)
    return SentText.of(Transcript("a.pdf", "", kind, pages))


def _ink(line: Line) -> Line:
    return Line(
        tuple(Word(word.text.lstrip("~"), visible=not line.text.startswith("~")) for word in line.words)
    )


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_a_wrong_value_has_the_first_label_that_fits_with_its_evidence(case: Case) -> None:
    text = None if case.text is None else sent(case.text, case.kind)
    finding = label_value(WrongValue(leaf(case.field), case.gold, case.pred, text, **case.more))
    assert finding.label == case.label, finding
    assert case.found in finding.found
    assert finding.stage == LABELS[case.label]


def test_the_table_has_every_label_and_at_least_sixty_cases() -> None:
    assert {case.label for case in CASES} == set(LABELS)
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("field", ["name", "count", "total", "day", "codes"])
@pytest.mark.parametrize("odd", [{"a": "5"}, ["5"], None], ids=["object", "list", "null"])
def test_a_value_of_another_kind_equals_no_value_of_a_field(field: str, odd: Any) -> None:
    is_list = leaf(field).is_list and isinstance(odd, list)
    assert are_equal(leaf(field), odd, "5") == are_equal(leaf(field), "5", odd) == is_list
    assert are_equal(leaf(field), odd, odd) == (odd is not None)
