"""What nobody was asked about is written as unreviewed: never as absent, and never in a number."""

from __future__ import annotations

import json
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
VALUE, ABSENT, SKIPPED = Label("value", "Acme"), Label("absent"), Label("skipped")


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
    assert gold.read_bytes() == b"id;total;supplier;unreviewed_fields\r\na;5;;\r\nb;Acme;;date|supplier\r\n"


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
