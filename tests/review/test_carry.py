"""A review follows another one: the same questions by another spec, its labels carried over by path."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import SPEC, add, form_of, make_receipts, say, take
from tests.review.test_promotion_of_review import answer

from fieldassay.commands.cli.main import main
from fieldassay.review.carry import Carried, carry_review
from fieldassay.review.controls import close_review
from fieldassay.review.export import finished_sheets
from fieldassay.review.log.journal import Entry
from fieldassay.review.log.redact import redact_document
from fieldassay.review.log.store import Store, read_facts
from fieldassay.review.log.verify import verify
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.web import people

BLIND = Shares(1.0, 0.0, 0.0, 0.0)
EMPTY = ("kind", "total", "day", "paid", "due", "lines")


def changed(old: str, new: str) -> str:
    assert old in SPEC
    return SPEC.replace(old, new)


def carry(former: Store, spec: str | None = None) -> Carried:
    found = carry_review(former.folder.parent / "next", former, spec)
    assert verify(found.store).is_whole
    assert verify(former).is_whole
    return found


def labels_of(store: Store) -> dict[tuple[int, str], tuple[Any, ...]]:
    with store.reading() as db:
        rows = db.execute("SELECT sheet, node, state, text, canonical, origin, active_ms, note FROM label")
        return {(sheet, node): tuple(rest) for sheet, node, *rest in rows.fetchall()}


def states_of(store: Store) -> list[str]:
    with store.reading() as db:
        return [state for (state,) in db.execute("SELECT state FROM sheet ORDER BY id")]


def asked_of(store: Store) -> dict[str, tuple[str, str | None]]:
    with store.reading() as db:
        rows = db.execute("SELECT node, shown, given FROM asked WHERE document=1")
        return {node: (shown, given) for node, shown, given in rows}


def test_by_the_same_spec_everything_is_as_it_was(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 2, Shares(0.0, 0.5, 0.5, 0.0))
    me = add(former)
    answer(former, me, {"shop": "Shop One"})
    take(former, me)
    region = {"page": 1, "box": [0.1, 0.1, 0.2, 0.2], "text": "x"}
    say(former, me, 2, "kind", "receipt", note="doubtful", active_ms=1500, regions=[region])
    found = carry(former)
    assert labels_of(found.store) == labels_of(former)
    assert asked_of(found.store) == asked_of(former)
    assert states_of(found.store) == states_of(former) == ["done", "held"]
    assert finished_sheets(found.store) == finished_sheets(former)
    with found.store.reading() as db:
        facts = read_facts(db)
        assert db.execute("SELECT text FROM region WHERE sheet=2").fetchone() == ("x",)
    assert facts["former"] == {"id": former.id(), "head": str(former.head())}


def test_a_closed_review_is_corrected_in_the_next_one(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 1)
    me = add(former)
    answer(former, me, {})
    close_review(former)
    found = carry(former)
    found.store.write(lambda log: sheets.undo_finish(log, me, 1))
    say(found.store, me, 1, "shop", "Shop One", expects=seq_of(found.store, 1, "shop"))
    assert labels_of(found.store)[1, "shop"][1] == "Shop One"
    assert labels_of(former)[1, "shop"][1] == "Shop 1"


def seq_of(store: Store, sheet: int, node: str) -> int:
    with store.reading() as db:
        row = db.execute("SELECT seq FROM label WHERE sheet=? AND node=?", (sheet, node)).fetchone()
        return int(row[0])


def test_texts_are_read_anew_by_the_new_spec(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 1)
    answer(former, add(former), {"day": "03/04/2025"})
    found = carry(former, changed("locale: en_AU", "locale: en_US"))
    before, after = (labels_of(store)[1, "day"][2] for store in (former, found.store))
    assert (before, after) == ("2025-04-03", "2025-03-04")
    assert found.reread == 1
    assert states_of(found.store) == ["done"]


def test_a_text_that_the_new_spec_takes_for_no_value_is_asked_again(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 1)
    answer(former, add(former), {"shop": "N/A"})
    found = carry(former, changed("name: receipts", "name: receipts\nnull_values: [N/A]"))
    assert (found.empty, found.again) == (1, 1)
    assert states_of(found.store) == ["held"]
    with found.store.reading() as db:
        assert sheets.open_nodes(db, form_of(found.store), 1) == ["shop"]


@pytest.mark.parametrize(
    ("old", "new", "gone"),
    [
        ("  shop: text\n", "", {"shop"}),
        ("  shop: text\n", "  shop: {type: list, items: text, compare: bag}\n", {"shop"}),
        (
            "{sku: id, amount: {type: money, currency: AUD}}",
            "{sku: id}",
            {"lines[0].amount", "lines[1].amount"},
        ),
    ],
    ids=["removed", "made a list", "column removed"],
)
def test_labels_of_places_that_are_gone_stay_behind_and_are_counted(
    tmp_path: Path, old: str, new: str, gone: set[str]
) -> None:
    former = make_receipts(tmp_path / "former", 1)
    answer(former, add(former), {})
    found = carry(former, changed(old, new))
    kept = {node for _, node in labels_of(found.store)}
    assert {node for _, node in labels_of(former)} - kept == gone
    assert found.gone == len(gone)
    assert not gone & {node for node, (shown, _) in asked_of(found.store).items() if shown == "prediction"}


def test_new_places_are_asked_where_nothing_is_shown_and_drawn_elsewhere(tmp_path: Path) -> None:
    new = changed("  paid: boolean\n", "  paid: boolean\n  cashier: text\n")
    former = make_receipts(tmp_path / "former", 1, BLIND)
    answer(former, add(former, "anna", "reviewer"), {**dict.fromkeys(EMPTY), "shop": "A"})
    found = carry(former, new)
    assert asked_of(found.store)["cashier"] == ("nothing", None)
    assert (found.again, states_of(found.store)) == (1, ["held", "open"])


@pytest.mark.parametrize(("empty", "is_asked"), [(0.0, False), (1.0, True)])
def test_new_places_of_shown_sheets_are_drawn_like_empty_ones(
    tmp_path: Path, empty: float, is_asked: bool
) -> None:
    former = make_receipts(tmp_path / "former", 1, Shares(0.0, 0.0, empty, 0.0))
    new = SPEC.replace("sku: id,", "sku: id, note: text,").replace("  paid:", "  cashier: text\n  paid:")
    asked = asked_of(carry(former, new).store)
    assert ("cashier" in asked) is is_asked
    assert ("lines[1].note" in asked) is is_asked
    with former.reading() as db:
        assert read_facts(db)["values"] > 0


def test_rows_that_were_added_moved_and_removed_stay_so(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 1)
    me, form = add(former), form_of(former)
    take(former, me)
    new = former.write(lambda log: sheets.save_items(log, form, me, 1, "lines", ["lines[1]", None]))
    say(former, me, 1, f"{new[1]}.sku", "C-4")
    found = carry(former, changed("sku: id", "sku: text"))
    with found.store.reading() as db:
        assert sheets.view(db, form_of(found.store), me, 1)["items"] == {"lines": new}
    assert labels_of(found.store)[1, f"{new[1]}.sku"][1] == "C-4"


def test_people_keep_their_accounts_and_unfinished_sheets(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 3)
    anna = add(former, "anna", "reviewer", "a long password")
    ben = add(former, "ben", "reviewer", "another password")
    take(former, anna)
    say(former, anna, 1, "shop", "S")
    take(former, ben)
    former.write(lambda log: sheets.decline(log, ben, 2, "my own receipt"))
    found = carry(former)
    with found.store.reading() as db:
        assert people.check_password(db, "anna", "a long password") == anna
    assert take(found.store, ben) == 3
    assert take(found.store, anna) == 1
    found.store.write(lambda log: people.change_person(log, "anna", is_disabled=True))
    assert states_of(found.store) == ["open", "open", "held"]
    assert b"a long password" not in found.store.file.read_bytes()


def ruling(document: int, node: str, person: int, **more: Any) -> Mapping[str, Any]:
    body = {"document": document, "node": node, "choice": "second", "text": "B", "person": person}
    return {**body, "note": "", "is_last": True, **more}


@pytest.mark.parametrize(
    ("said", "spec", "states", "rulings"),
    [
        (("A", "B"), SPEC, ["adjudicated", "adjudicated"], 1),
        (("a b", "A  B"), changed("shop: text", "shop: {type: text, normalize: [case, white_space]}"),
         ["done", "done"], 0),
    ],
    ids=["still different", "the same by the new spec"],
)  # fmt: skip
def test_rulings_are_carried_over_where_the_sheets_still_differ(
    tmp_path: Path, said: tuple[str, str], spec: str, states: list[str], rulings: int
) -> None:
    former = make_receipts(tmp_path / "former", 1, BLIND)
    for name, text in zip(("anna", "ben"), said, strict=True):
        answer(former, add(former, name, "reviewer"), {**dict.fromkeys(EMPTY), "shop": text})
    cleo = add(former, "cleo", "adjudicator")
    former.append(Entry("ruling", ruling(1, "shop", cleo.id), cleo.alias, 1))
    found = carry(former, spec)
    assert found.rulings == rulings
    assert states_of(found.store) == states


def test_a_redacted_document_is_not_carried_over(tmp_path: Path) -> None:
    former = make_receipts(tmp_path / "former", 2)
    answer(former, add(former), {"shop": "Zyzzyva Trading"})
    redact_document(former, "doc-001", "asked for")
    found = carry(former)
    assert found.documents == 1
    assert b"Zyzzyva" not in found.store.file.read_bytes()


def test_planted_errors_and_whether_they_were_seen_stay_known(tmp_path: Path) -> None:
    gold = [{"id": "doc-001", "shop": "Shop 1", "total": "11.50", "day": "03/04/2025"}]
    former = make_receipts(tmp_path / "former", 1, Shares(0.0, 0.0, 0.0, 1.0), gold=gold)
    answer(former, add(former), {})
    found = carry(former)
    with former.reading() as one, found.store.reading() as other:
        query = "SELECT sheet, node, is_caught FROM caught"
        assert one.execute(query).fetchall() == other.execute(query).fetchall() != []


def test_the_command_tells_what_was_carried_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    former = make_receipts(tmp_path / "former", 1)
    answer(former, add(former), {})
    spec = tmp_path / "spec.yaml"
    spec.write_text(changed("  shop: text\n", ""))
    arguments = [
        "review",
        "new",
        str(tmp_path / "next"),
        "--from",
        str(tmp_path / "former"),
        "--spec",
        str(spec),
    ]
    assert main(arguments) == 0
    told = capsys.readouterr()
    assert "1 document, 1 sheet, 8 values asked" in told.out
    assert "carried over: 8 labels" in told.err
    assert "left behind: 1 label of places that the spec does not have" in told.err


@pytest.mark.parametrize(
    "more", [["--pred", "a.jsonl"], ["--double", "0.1"], ["--seed", "3"], ["--gold", "g"]]
)
def test_what_the_former_review_fixed_cannot_be_given(
    tmp_path: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    make_receipts(tmp_path / "former", 1)
    assert main(["review", "new", str(tmp_path / "next"), "--from", str(tmp_path / "former"), *more]) == 2
    assert f"leave {more[0]} out" in capsys.readouterr().err


def test_nothing_is_made_where_no_question_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_receipts(tmp_path / "former", 1)
    spec = tmp_path / "spec.yaml"
    spec.write_text("fields: {other: text}")
    arguments = [
        "review",
        "new",
        str(tmp_path / "next"),
        "--from",
        str(tmp_path / "former"),
        "--spec",
        str(spec),
    ]
    assert main(arguments) == 2
    assert "no question of the former review is one of this spec" in capsys.readouterr().err
    assert not (tmp_path / "next").exists()
