"""Sheets in the hands of people: nobody gets what is not theirs, nothing shown is more than it says."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from tests.review.receipts import NOW, add, form_of, make_receipts, prediction, say, take

from fieldassay.review.export import list_sheets
from fieldassay.review.log.store import Store
from fieldassay.review.log.verify import verify
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.sheets.sheets import LEASE, Person, RefusedError


def view(store: Store, person: Person, sheet: int) -> dict[str, object]:
    with store.reading() as db:
        return sheets.view(db, form_of(store), person, sheet)


def open_nodes(store: Store, sheet: int) -> list[str]:
    with store.reading() as db:
        return sheets.open_nodes(db, form_of(store), sheet)


def finish(store: Store, person: Person, sheet: int) -> list[dict[str, object]]:
    return store.write(lambda journal: sheets.finish(journal, form_of(store), person, sheet))


def label_all(store: Store, person: Person, sheet: int) -> None:
    """Label everything that is open, as it is given, absent where nothing is."""
    given = {one["node"]: one["given"] for one in view(store, person, sheet)["asked"]}  # type: ignore[attr-defined]
    for node in open_nodes(store, sheet):
        text = given[node]
        say(store, person, sheet, node, text) if text else say(store, person, sheet, node, state="absent")


def labels(store: Store) -> dict[str, tuple[str, str | None, str | None]]:
    with store.reading() as db:
        [sheet] = list(list_sheets(db, form_of(store)))
    return {path: (label.state, label.text, label.origin) for path, label in sheet.labels.items()}


def test_a_sheet_is_claimed_once_and_kept(tmp_path: Path) -> None:
    store = make_receipts(tmp_path)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    first = take(store, anna)
    assert first is not None
    assert take(store, anna) == first
    assert take(store, ben) not in (None, first)


def test_a_sheet_claimed_while_the_clock_was_ahead_is_not_held_until_then(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    assert take(store, anna, NOW + timedelta(days=365)) == 1
    assert take(store, ben, NOW) == 1


def test_a_sheet_whose_lease_ended_goes_to_the_next_and_its_labels_begin_anew(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    sheet = take(store, anna)
    assert sheet is not None
    say(store, anna, sheet, "shop", "Anna's")
    assert take(store, ben, NOW + LEASE - timedelta(seconds=1)) is None
    assert take(store, ben, NOW + LEASE + timedelta(seconds=1)) == sheet
    assert "Anna's" not in json.dumps(view(store, ben, sheet))
    with pytest.raises(RefusedError, match="not yours"):
        say(store, anna, sheet, "shop", "Anna's")
    assert verify(store).is_whole


def test_nobody_labels_both_sheets_of_a_document_unless_alone(tmp_path: Path) -> None:
    store = make_receipts(tmp_path / "team", 1, Shares(1.0, 0.0, 0.0))
    anna, ben, cleo = (add(store, name, "reviewer") for name in ("anna", "ben", "cleo"))
    first = take(store, anna)
    assert first is not None
    label_all(store, anna, first)
    finish(store, anna, first)
    assert take(store, anna) is None
    assert take(store, ben) not in (None, first)
    assert take(store, cleo) is None

    alone = make_receipts(tmp_path / "alone", 1, Shares(1.0, 0.0, 0.0))
    me = add(alone)
    for _ in range(2):
        sheet = take(alone, me)
        assert sheet is not None
        label_all(alone, me, sheet)
        finish(alone, me, sheet)
    assert take(alone, me) is None


def test_a_declined_sheet_does_not_come_back(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    sheet = take(store, anna)
    assert sheet is not None
    store.write(lambda journal: sheets.decline(journal, anna, sheet, "not my language"))
    assert take(store, anna) is None
    assert take(store, ben) == sheet


def test_an_update_of_what_was_not_seen_is_refused(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    seq = say(store, me, sheet, "shop", "A")
    with pytest.raises(RefusedError, match="labeled elsewhere"):
        say(store, me, sheet, "shop", "B")
    say(store, me, sheet, "shop", "B", expects=seq)


@pytest.mark.parametrize(
    ("node", "text", "told"),
    [
        ("due", "1/2/2025", "not asked"),
        ("lines[7].sku", "x", "not asked"),
        ("lines[0", "x", "not asked"),
        ("shop", " ", "empty text is no value"),
        ("shop", "x" * 20_001, "no such label"),
    ],
)
def test_only_what_is_asked_can_be_labeled(tmp_path: Path, node: str, text: str, told: str) -> None:
    store = make_receipts(tmp_path, 1)
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    with pytest.raises(RefusedError, match=told):
        say(store, me, sheet, node, text)


def test_a_sheet_is_finished_only_without_open_values(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    with pytest.raises(RefusedError, match="9 open: kind, shop"):
        finish(store, me, sheet)
    label_all(store, me, sheet)
    finish(store, me, sheet)


def test_the_origin_of_a_label_is_by_its_meaning_not_by_clicks(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1)
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    say(store, me, sheet, "total", "$11.50")
    say(store, me, sheet, "day", "4 March 2025")
    say(store, me, sheet, "shop", state="illegible")
    label_all(store, me, sheet)
    finish(store, me, sheet)
    found = labels(store)
    assert found["total"] == ("value", "$11.50", "confirmed")
    assert found["day"] == ("value", "4 March 2025", "corrected")
    assert found["shop"] == ("illegible", None, "corrected")
    assert found["paid"] == ("value", "yes", "confirmed")


def test_items_keep_their_labels_while_others_come_and_go(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1, Shares(1.0, 0.0, 0.0))
    me, form = add(store), form_of(store)
    sheet = take(store, me)
    assert sheet is not None

    def put(*nodes: str | None) -> list[str]:
        return store.write(lambda log: sheets.save_items(log, form, me, sheet, "lines", nodes))

    assert put(None, None) == ["lines[0]", "lines[1]"]
    say(store, me, sheet, "lines[0].sku", "first")
    say(store, me, sheet, "lines[1].sku", "second")
    assert put("lines[1]", None, "lines[0]") == ["lines[1]", "lines[2]", "lines[0]"]
    say(store, me, sheet, "lines[2].sku", "between")
    put("lines[2]", "lines[0]")
    with pytest.raises(RefusedError, match="no such items"):
        put("lines[2]", "lines[2]")
    with pytest.raises(RefusedError, match="no such items"):
        put("lines[9]")
    label_all(store, me, sheet)
    finish(store, me, sheet)
    found = labels(store)
    assert [(path, label[1]) for path, label in found.items() if path.startswith("lines")] == [
        ("lines", None),
        ("lines[0].sku", "between"),
        ("lines[1].sku", "first"),
    ]
    assert verify(store).is_whole


def test_a_field_of_another_type_of_document_need_not_be_labeled(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 1, Shares(1.0, 0.0, 0.0))
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    assert "day" in open_nodes(store, sheet)
    assert "due" in open_nodes(store, sheet)
    say(store, me, sheet, "kind", "receipt")
    assert "day" in open_nodes(store, sheet)
    assert "due" not in open_nodes(store, sheet)


def test_a_finished_sheet_can_be_taken_up_again(tmp_path: Path) -> None:
    store = make_receipts(tmp_path, 2)
    me = add(store)
    first = take(store, me)
    assert first is not None
    label_all(store, me, first)
    finish(store, me, first)
    second = take(store, me)
    store.write(lambda journal: sheets.undo_finish(journal, me, first))
    assert view(store, me, first)["state"] == "held"
    assert take(store, me) == first
    label_all(store, me, first)
    finish(store, me, first)
    assert take(store, me) == second
    assert verify(store).is_whole


@pytest.mark.parametrize(
    "shares", [Shares(1.0, 0.0, 0.0), Shares(0.0, 0.6, 1.0, 3)], ids=["double", "single"]
)
def test_a_sheet_holds_nothing_that_must_not_be_seen(tmp_path: Path, shares: Shares) -> None:
    rows = [prediction(1, shop="Zyzzyva", total="98765.43")]
    store = make_receipts(tmp_path, 1, shares, gold=rows)
    anna, ben = add(store, "anna", "reviewer"), add(store, "ben", "reviewer")
    for person in (anna, ben):
        sheet = take(store, person)
        if sheet is None:
            continue
        text = json.dumps(view(store, person, sheet))
        with store.reading() as db:
            hidden = db.execute("SELECT predicted, truth, reason FROM asked WHERE shown='nothing'").fetchall()
            given = {row[0] for row in db.execute("SELECT given FROM asked")}
        secrets = {str(json.loads(one)) for row in hidden for one in row[:2] if one is not None}
        for secret in secrets - given - {"receipt", "yes"}:
            assert json.dumps(secret) not in text
        for word in (
            "audit",
            "withheld",
            "reason",
            "margin",
            "probability",
            "confidence",
            "shown",
        ):
            assert word not in text
        say(store, person, sheet, "shop", f"label of {person.alias}")
    with pytest.raises(RefusedError, match="not yours"):
        view(store, add(store, "eve", "lead"), 1)


def test_a_closed_review_takes_no_label(tmp_path: Path) -> None:
    from fieldassay.review.log.journal import Entry

    store = make_receipts(tmp_path, 1)
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    store.append(Entry("close", {"closed": True}, "command"))
    with pytest.raises(RefusedError, match="closed"):
        say(store, me, sheet, "shop", "x")
    with pytest.raises(RefusedError, match="closed"):
        take(store, me)
