"""What nobody was asked about is written as unreviewed: never as absent, and never in a number."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import score_alone
from tests.review.receipts import add, form_of, take

from fieldassay.commands.cli.main import main
from fieldassay.paths import value_at
from fieldassay.records.labels_file import Label, Sheet
from fieldassay.review.log.store import Store
from fieldassay.review.promotion.promote import PromoteOptions, promote
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.sheets.make import Request, make_review
from fieldassay.review.sheets.sheets import RefusedError
from fieldassay.spec.plan.compile import read_plan

SPEC = """
fields:
  supplier: text
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {items: {fields: {sku: text, note: text, tags: {type: list, items: text}}}}
"""
TRUTH = {
    "supplier": "Acme",
    "total": "5.00",
    "place": {"city": "Rome", "street": "Via 1"},
    "lines": [{"sku": "A", "note": "x", "tags": ["u"]}, {"sku": "B", "note": "y", "tags": ["v", "w"]}],
}
VALUE, ABSENT, SKIPPED = Label("value", "5.00"), Label("absent"), Label("skipped")


def written(
    folder: Path, labels: dict[str, Label], *gold: dict[str, Any], spec: str = SPEC
) -> dict[str, Any]:
    """Return the record of document `a` after its labels became gold."""
    path = folder / "gold.jsonl"
    path.write_text("".join(json.dumps({"id": "a", **row}) + "\n" for row in gold))
    options = PromoteOptions("because", read_plan(spec))
    promote(path, [Sheet("a", "r1", labels=labels)], options, datetime.now(UTC)).write()
    [row] = map(json.loads, path.read_text().splitlines())
    return row


@pytest.mark.parametrize(
    ("labels", "unreviewed"),
    [
        pytest.param({"total": VALUE}, ["lines", "place.city", "place.street", "supplier"], id="all others"),
        pytest.param({"total": ABSENT, "place": ABSENT}, ["lines", "supplier"], id="an absent object is reviewed whole"),
        pytest.param({"total": VALUE, "supplier": SKIPPED, "place": ABSENT, "lines": ABSENT}, ["supplier"], id="skipped"),
        pytest.param(
            {"total": VALUE, "supplier": VALUE, "place": ABSENT, "lines": Label("value"), "lines[0].sku": VALUE, "lines[0].note": SKIPPED, "lines[4].sku": VALUE, "lines[4].tags": SKIPPED},
            ["lines[0].note", "lines[1].tags"],
            id="skipped in rows, which are numbered anew",
        ),
        pytest.param({"total": Label("illegible"), "supplier": VALUE, "place": ABSENT, "lines": ABSENT}, None, id="illegible is reviewed"),
    ],
)  # fmt: skip
def test_a_new_document_names_what_has_no_label(
    tmp_path: Path, labels: dict[str, Label], unreviewed: Any
) -> None:
    assert written(tmp_path, labels).get("unreviewed_fields") == unreviewed


def test_gold_that_is_there_keeps_what_it_says_and_a_label_takes_a_field_off_the_list(tmp_path: Path) -> None:
    assert "unreviewed_fields" not in written(tmp_path, {"total": VALUE}, {"supplier": "B"})
    held = {"total": "5", "unreviewed_fields": ["supplier", "place.city"]}
    assert written(tmp_path, {"supplier": ABSENT}, held)["unreviewed_fields"] == ["place.city"]
    assert "unreviewed_fields" not in written(tmp_path, {"supplier": VALUE, "place.city": ABSENT}, held)


def test_a_document_of_which_everything_is_absent_is_gold(tmp_path: Path) -> None:
    labels = dict.fromkeys(("supplier", "total", "place", "lines"), ABSENT)
    assert written(tmp_path, labels) == {"id": "a"}


def test_a_field_that_documents_of_the_type_do_not_have_is_not_named(tmp_path: Path) -> None:
    spec = "document_type: kind\nfields: {kind: text, a: {type: text, applies_to: [bill]}, b: {type: text, applies_to: [note]}}"
    assert written(tmp_path, {"kind": Label("value", "bill")}, spec=spec)["unreviewed_fields"] == ["a"]


def test_a_table_gets_the_column(tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_bytes(b"id;total;supplier\r\na;5\r\n")
    plan = read_plan("fields: {total: text, supplier: text, date: date}")
    options = PromoteOptions("because", plan, adds_documents=True)
    promote(gold, [Sheet("b", "r1", labels={"total": VALUE})], options, datetime.now(UTC)).write()
    assert gold.read_bytes() == b"id;total;supplier;unreviewed_fields\r\na;5;;\r\nb;5.00;;date|supplier\r\n"


def leave_out(value: Any, path: str, gone: set[str]) -> Any:
    """Return a tree without some of its leaves and lists."""
    if isinstance(value, dict):
        inner = {key: (f"{path}.{key}" if path else key, one) for key, one in value.items()}
        return {key: leave_out(one, name, gone) for key, (name, one) in inner.items() if name not in gone}
    if isinstance(value, list):
        return [leave_out(one, f"{path}[{at}]", gone) for at, one in enumerate(value)]
    return value


def say(store: Store, person: Any, sheet: int, node: str, truth: Any) -> None:
    """Answer a place as it stands in the truth, row by row where it is a list."""
    form = form_of(store)
    if isinstance(truth, str):
        one = sheets.Answer(node, "value", truth)
        store.write(lambda log: sheets.save_label(log, form, person, sheet, one))
        return
    if isinstance(truth, list):
        blank = [None] * len(truth)
        rows = store.write(lambda log: sheets.save_items(log, form, person, sheet, node, blank))
        inside = dict(zip(rows, truth, strict=True))
    else:
        inside = {f"{node}.{key}": text for key, text in truth.items()}
    for place, inner in inside.items():
        say(store, person, sheet, place, inner)


PLACES = [
    "supplier",
    "place.city",
    "place.street",
    "lines",
    "lines[0].note",
    "lines[1].tags",
    "lines[1].sku",
]


@few_examples()
@given(st.sets(st.sampled_from(PLACES), max_size=7), st.sampled_from([0.0, 0.5]), st.integers(0, 50))
def test_a_system_that_is_right_is_right_in_gold_made_from_any_predictions_with_any_shares(
    tmp_path_factory: pytest.TempPathFactory, gone: set[str], empty: float, seed: int
) -> None:
    """A perfect reviewer answers what is asked; what is not asked must not count against a perfect system."""
    folder = tmp_path_factory.mktemp("review")
    predicted = {"id": "a", **leave_out(TRUTH, "", gone)}
    shares = Shares(double=0.0, withheld=0.3, empty=empty, seed=seed)
    request = Request(SPEC, {"m": [predicted]}, shares=shares)
    store = make_review(folder / "r", request).store
    me, form = add(store), form_of(store)
    number = take(store, me)
    with store.reading() as db:
        nodes = sheets.view(db, form, me, number)["open"]
    for node in nodes:
        say(store, me, number, node, value_at(TRUTH, node))
    store.write(lambda log: sheets.finish(log, form, me, number))
    gold = folder / "gold.jsonl"
    assert main(["review", "promote", str(folder / "r"), "--gold", str(gold), "--reason", "first"]) == 0
    result = score_alone(gold, [{"id": "a", **TRUTH}], SPEC)
    assert {
        one.value for one in result.estimates if one.metric in ("accuracy", "perfect_documents", "item_f1")
    } <= {1.0, None}
    [row] = map(json.loads, gold.read_text().splitlines())
    assert set(row.get("unreviewed_fields", [])) <= {
        *PLACES,
        "lines[0].tags",
        "lines[1].note",
        "lines[0].sku",
    }


TYPED = {
    "day": ("date", "31.02.2014"),
    "count": ("number", "twelve"),
    "total": ("money", "a lot"),
    "flow": ("{type: quantity, canonical: m3/h}", "much"),
    "numbers": ("{type: list, items: number, compare: bag}", "1 | x"),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("is_inside", [False, True], ids=["field", "cell"])
def test_what_the_spec_cannot_read_is_asked_about_and_is_not_gold_unless_it_is_taken(
    tmp_path: Path, name: str, is_inside: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    kind, text = TYPED[name]
    spec = f"fields: {{{name}: {kind}, shop: text}}"
    if is_inside:
        spec = f"fields: {{lines: {{items: {{fields: {{{name}: {kind}, shop: text}}}}}}}}"
    row = {"lines": [{"shop": "Oak"}]} if is_inside else {"shop": "Oak"}
    store = make_review(tmp_path / "r", Request(spec, {"m": [{"id": "a", **row}]})).store
    me, form, start = add(store), form_of(store), "lines[0]." if is_inside else ""
    assert take(store, me) == 1
    for node, said in ((f"{start}shop", "Oak"), (f"{start}{name}", text)):
        one = sheets.Answer(node, "value", said)
        store.write(lambda log, one=one: sheets.save_label(log, form, me, 1, one))
    with pytest.raises(RefusedError, match=f"1 not readable: {re.escape(start + name)}"):
        store.write(lambda log: sheets.finish(log, form, me, 1))
    store.write(lambda log: sheets.finish(log, form, me, 1, takes_unreadable=True))
    gold = tmp_path / "gold.jsonl"
    command = ["review", "promote", str(tmp_path / "r"), "--gold", str(gold), "--reason", "first"]
    assert main(command) == 0
    assert "cannot be read by the spec, and is left out" in capsys.readouterr().out
    assert json.loads(gold.read_text()) == {"id": "a", **row, "unreviewed_fields": [start + name]}
    gold.unlink()
    assert main([*command, "--unreadable"]) == 0
    found = json.loads(gold.read_text())
    assert "unreviewed_fields" not in found
    assert name in (found["lines"][0] if is_inside else found)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("kind", "1"),
        ("kind", "bill"),
        ("paid", "2"),
        ("paid", "maybe"),
        ("lines", "x"),
        ("lines[0].tags", "x"),
    ],
)
def test_a_closed_choice_takes_no_other_text_and_a_list_no_text(
    tmp_path: Path, field: str, text: str
) -> None:
    spec = "fields: {kind: {type: enum, values: [invoice, note]}, paid: boolean, lines: {items: {fields: {a: text, tags: {type: list, items: text}}}}}"
    rows = [{"id": "a", "lines": [{"a": "x"}]}] if "[" in field else [{"id": "a"}]
    store = make_review(tmp_path / "r", Request(spec, {"m": rows})).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    with pytest.raises(RefusedError, match=r"choices|rows"):
        store.write(lambda log: sheets.save_label(log, form, me, 1, sheets.Answer(field, "value", text)))


def test_a_list_in_an_item_that_was_not_predicted_is_asked_and_becomes_gold(tmp_path: Path) -> None:
    rows = [{"id": "a", **leave_out(TRUTH, "", {"lines[0].tags", "lines[1].tags", "supplier"})}]
    store = make_review(tmp_path / "r", Request(SPEC, {"m": rows})).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    with store.reading() as db:
        nodes = sheets.view(db, form, me, 1)["open"]
    assert {"lines[0].tags", "lines[1].tags"} <= set(nodes)
    for node in nodes:
        say(store, me, 1, node, value_at(TRUTH, node))
    store.write(lambda log: sheets.finish(log, form, me, 1))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", str(tmp_path / "r"), "--gold", str(gold), "--reason", "first"]) == 0
    assert json.loads(gold.read_text()) == {"id": "a", **TRUTH}
