"""Where two sheets differ, a third person rules; what the spec takes for the same never comes there."""

from pathlib import Path

import pytest
from tests.review.receipts import add, form_of, make_receipts, say, take

from fieldassay.review import export
from fieldassay.review.export import settled_sheets
from fieldassay.review.log import Store
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.sheets import Person, RefusedError, Shares, uniform

FIRST = {"kind": "receipt", "shop": "Corner Cafe", "total": "$1,250.00", "day": "03/04/2025", "paid": "yes"}
SECOND = {"kind": "Receipt", "shop": "Corner Café", "total": "1250", "day": "3 April 2025", "paid": "no"}


def labeled_twice(
    folder: Path,
    lines: tuple[list[str], list[str]] = (["A-1"], ["A-1"]),
    shop: str = FIRST["shop"],
) -> tuple[Store, Person]:
    """Return a review of one document labeled by two people, and a third person."""
    store = make_receipts(folder, 1, Shares(1.0, 0.0, 0.0))
    form = form_of(store)
    for name, answers, listed in (("anna", FIRST | {"shop": shop}, lines[0]), ("ben", SECOND, lines[1])):
        person = add(store, name, "reviewer")
        sheet = take(store, person)
        assert sheet is not None
        for node, text in answers.items():
            say(store, person, sheet, node, text)
        rows = [None] * len(listed)
        store.write(lambda log, p=person, s=sheet, r=rows: sheets.save_items(log, form, p, s, "lines", r))
        for at, sku in enumerate(listed):
            say(store, person, sheet, f"lines[{at}].sku", sku)
        store.write(lambda log, p=person, s=sheet: sheets.finish(log, form, p, s))
    return store, add(store, "cleo", "adjudicator")


def rule(store: Store, person: Person, node: str, choice: str, text: str = "") -> list[str]:
    given = {"node": node, "choice": choice, "text": text, "note": ""}
    return store.write(lambda log: export.rule(log, form_of(store), person, 1, given))


def nodes(store: Store) -> list[str]:
    with store.reading() as db:
        return [one.node for one in export.find_differences(db, form_of(store), 1)]


def test_only_what_means_something_else_differs(tmp_path: Path) -> None:
    store, _ = labeled_twice(tmp_path)
    assert nodes(store) == ["shop", "paid"]


def test_a_list_differs_as_a_whole(tmp_path: Path) -> None:
    store, _ = labeled_twice(tmp_path, (["A-1", "B-2"], ["A-1"]))
    assert nodes(store) == ["shop", "paid", "lines"]


def test_a_third_person_rules_and_the_document_is_settled(tmp_path: Path) -> None:
    store, cleo = labeled_twice(tmp_path, (["A-1", "B-2"], ["A-1"]))
    with store.reading() as db:
        seen = export.view(db, form_of(store), cleo, 1)
        assert export.list_open(db, form_of(store), cleo) == [{"id": 1, "name": "doc-001", "open": 3}]
    assert not any(alias in str(seen) for alias in ("r1", "r2", "anna", "ben"))
    shown = {one["node"]: [side["text"] for side in one["options"]] for one in seen["differences"]}
    assert rule(store, cleo, "paid", ("first", "second")[shown["paid"].index("no")]) == ["shop", "lines"]
    assert rule(store, cleo, "shop", "other", "Corner Caffè") == ["lines"]
    rows = [len(side["rows"]) for side in seen["differences"][2]["options"]]
    assert rule(store, cleo, "lines", ("first", "second")[rows.index(2)]) == []
    with store.reading() as db:
        assert {row[0] for row in db.execute("SELECT state FROM sheet")} == {"adjudicated"}
    [sheet] = settled_sheets(store)
    assert {path: (label.text, label.origin) for path, label in sheet.labels.items()} == {
        "kind": ("Receipt", "blind"), "shop": ("Corner Caffè", "adjudicated"), "total": ("1250", "blind"),
        "day": ("03/04/2025", "blind"), "paid": ("no", "adjudicated"), "lines": (None, "adjudicated"),
        "lines[0].sku": ("A-1", "adjudicated"), "lines[1].sku": ("B-2", "adjudicated"),
    }  # fmt: skip


def test_what_waits_or_nobody_can_know_is_left_out_of_what_is_settled(tmp_path: Path) -> None:
    store, cleo = labeled_twice(tmp_path)
    rule(store, cleo, "shop", "guideline")
    [sheet] = settled_sheets(store)
    assert not {"shop", "paid"} & sheet.labels.keys()
    assert {"kind", "total", "lines[0].sku"} <= sheet.labels.keys()


def test_who_labeled_a_document_does_not_rule_on_it(tmp_path: Path) -> None:
    store, _ = labeled_twice(tmp_path)
    anna = Person(1, "r1", "adjudicator")
    with store.reading() as db, pytest.raises(RefusedError, match="labeled neither sheet"):
        export.view(db, form_of(store), anna, 1)
    with pytest.raises(RefusedError, match="labeled neither sheet"):
        rule(store, anna, "shop", "first")
    with store.reading() as db:
        assert export.list_open(db, form_of(store), anna) == []


@pytest.mark.parametrize(
    ("node", "choice", "text"),
    [("total", "first", ""), ("shop", "third", ""), ("shop", "other", " "), ("nowhere", "first", "")],
)
def test_what_cannot_be_ruled_is_refused(tmp_path: Path, node: str, choice: str, text: str) -> None:
    store, cleo = labeled_twice(tmp_path)
    with pytest.raises(RefusedError):
        rule(store, cleo, node, choice, text)


def test_the_order_of_the_answers_is_by_chance(tmp_path: Path) -> None:
    assert {uniform(0, "order", str(number), "shop") < 0.5 for number in range(8)} == {True, False}
