"""Gold between two promotions: what people changed by hand stays, and what the review corrected arrives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import NONE, add, confirm, form_of, make_receipts, say, take

from fieldassay.commands.cli.main import main
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.draw import Shares
from fieldassay.review.sheets.make import Request, make_review

SPEC = "fields: {s: text, xs: {type: list, items: text}, mp: {type: map, values: text}}"
ROW = {"id": "a", "s": "S", "xs": ["p", "q"], "mp": {"k": "K"}}


def promoted(folder: Path) -> tuple[int, Any]:
    """Return the status of a promotion, and the first record of gold after it."""
    status = main(["review", "promote", str(folder / "r"), "--gold", str(folder / "gold.jsonl")])
    return status, json.loads((folder / "gold.jsonl").read_text().splitlines()[0])


@pytest.mark.parametrize("is_beside_gold", [False, True], ids=["without gold", "beside gold"])
def test_a_list_that_is_corrected_after_it_was_promoted_is_gold(tmp_path: Path, is_beside_gold: bool) -> None:
    gold = [{"id": "a", "s": "G"}]
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold[0]) if is_beside_gold else "")
    request = Request(SPEC, {"m": [ROW]}, gold=gold if is_beside_gold else None)
    store = make_review(tmp_path / "r", request).store
    me, form = add(store), form_of(store)
    confirm(store, me, 1, {})
    assert promoted(tmp_path) == (0, ROW)
    store.write(lambda log: sheets.undo_finish(log, me, 1))
    for node, text in (("xs[0]", "P"), ("s", None), ("mp.k", "L")):
        with store.reading() as db:
            seq = sheets.view(db, form, me, 1)["labels"][node]["seq"]
        say(store, me, 1, node, text, expects=seq, state="absent" if text is None else "value")
    store.write(lambda log: sheets.save_items(log, form, me, 1, "xs", ["xs[0]"]))
    store.write(lambda log: sheets.finish(log, form, me, 1))
    assert promoted(tmp_path) == (0, {"id": "a", "xs": ["P"], "mp": {"k": "L"}})


@pytest.mark.parametrize("changed", [{"s": "HAND"}, {"xs": ["HAND"]}, {"unreviewed_fields": ["s"]}], ids=str)
def test_what_was_changed_by_hand_after_a_promotion_stays(
    tmp_path: Path, changed: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_review(tmp_path / "r", Request(SPEC, {"m": [ROW]})).store
    confirm(store, add(store), 1, {"s": "T"})
    assert promoted(tmp_path)[0] == 0
    assert "labels in lists left out" not in capsys.readouterr().out
    assert promoted(tmp_path)[0] == 0
    assert "labels in lists left out" not in capsys.readouterr().out
    by_hand = {**ROW, "s": "T", **changed}
    (tmp_path / "gold.jsonl").write_text(json.dumps(by_hand))
    status, row = promoted(tmp_path)
    told = capsys.readouterr()
    assert row == by_hand
    assert status == 2 or "labels in lists left out" in told.out
    assert status == 0 or "gold has changed since" in told.err


def test_what_was_shown_and_is_absent_leaves_gold(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "s": "G", "xs": ["p", "q"], "mp": {"k": "K"}}')
    store = make_review(tmp_path / "r", Request(SPEC, {"m": [ROW]})).store
    confirm(store, add(store), 1, {"s": None})
    assert promoted(tmp_path) == (0, {key: value for key, value in ROW.items() if key != "s"})


@pytest.mark.parametrize(
    ("rows", "texts", "told"),
    [
        ((1, 2), ("A", "A"), ["lines[1].sku"]),
        ((1, 1), ("A", "B"), ["shop"]),
        ((1, 2), ("A", "B"), ["shop", "lines[1].sku"]),
        ((0, 1), ("A", "A"), ["lines"]),
        ((1, 1), ("A", "A"), []),
    ],
    ids=["another row", "a value", "both", "no list", "the same"],
)
def test_two_sheets_are_gold_once_both_are_finished_and_each_difference_is_told(
    tmp_path: Path,
    rows: tuple[int, int],
    texts: tuple[str, str],
    told: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = make_receipts(tmp_path / "r", 1, Shares(1.0, 0.0, 0.0))
    form = form_of(store)
    (tmp_path / "gold.jsonl").write_text('{"id": "b"}')
    for at, name in enumerate(("anna", "ben")):
        me = add(store, name, "reviewer")
        number = take(store, me)
        assert number is not None
        for node in ("kind", "total", "day", "paid", "due"):
            say(store, me, number, node, state="absent")
        say(store, me, number, "shop", texts[at])
        for node in store.write(lambda log, at=at, me=me, number=number: sheets.save_items(log, form, me, number, "lines", [None] * rows[at])):  # fmt: skip
            say(store, me, number, f"{node}.sku", node)
            say(store, me, number, f"{node}.amount", state="absent")
        if not rows[at]:
            say(store, me, number, "lines", state="absent")
        store.write(lambda log, me=me, number=number: sheets.finish(log, form, me, number))
        status = main(
            ["review", "promote", str(tmp_path / "r"), "--gold", str(tmp_path / "gold.jsonl"), "--add"]
        )
        output = capsys.readouterr()
        if not at:
            assert (status, (tmp_path / "gold.jsonl").read_text()) == (0, '{"id": "b"}')
            assert "1 document waits for its second sheet, and is left out" in output.out
    assert status == (2 if told else 0)
    assert [line.split(": ")[2] for line in output.err.splitlines() if "two sheets differ" in line] == told
    if rows == (0, 1):
        body = {
            "document": 1,
            "node": "lines",
            "choice": "second",
            "text": None,
            "person": 1,
            "note": "",
            "is_last": True,
        }
        from fieldassay.review.log.journal import Entry

        store.append(Entry("ruling", body, "anna"))
        assert (
            main(["review", "promote", str(tmp_path / "r"), "--gold", str(tmp_path / "gold.jsonl"), "--add"])
            == 0
        )
        assert '"lines": [{"sku": "lines[0]"}]' in (tmp_path / "gold.jsonl").read_text()


def test_a_field_of_rows_that_was_unreviewed_is_reviewed_row_by_row(tmp_path: Path) -> None:
    gold = {"id": "a", "lines": [{"a": "1"}, {"a": "2"}], "unreviewed_fields": ["lines[].b"]}
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold))
    label = {"id": "a", "reviewer": "r", "labels": {"lines[0].b": {"state": "absent"}}}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    command = [
        "review",
        "promote",
        "--labels",
        str(tmp_path / "labels.jsonl"),
        "--gold",
        str(tmp_path / "gold.jsonl"),
    ]
    assert main(command) == 0
    assert json.loads((tmp_path / "gold.jsonl").read_text()) == gold | {"unreviewed_fields": ["lines[1].b"]}


@pytest.mark.parametrize("name", ["gold.parquet", "gold.csv.gz", "gold.xlsx", "gold.jsonl.zst"])
def test_new_gold_in_a_form_that_is_not_written_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_receipts(tmp_path / "r", 1, NONE)
    confirm(store, add(store), 1, {})
    assert main(["review", "promote", str(tmp_path / "r"), "--gold", str(tmp_path / name)]) == 2
    assert "name it .jsonl" in capsys.readouterr().err
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("text", [" ", "\u00a0\t", "\u200b"])
def test_white_space_is_no_label(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    label = {"id": "a", "reviewer": "r", "labels": {"s": {"state": "value", "text": text}}}
    (tmp_path / "labels.jsonl").write_text(json.dumps(label))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", "--labels", str(tmp_path / "labels.jsonl"), "--gold", str(gold)]) == 2
    assert "the label is a value without its text" in capsys.readouterr().err


def test_new_documents_are_told_as_new_and_their_unreviewed_fields_under_a_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = make_review(tmp_path / "r", Request(SPEC, {"m": [ROW]})).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    for node, text in (("s", "S"), ("xs[0]", "p"), ("xs[1]", "q"), ("mp.k", None)):
        say(store, me, 1, node, text, state="skipped" if text is None else "value")
    store.write(lambda log: sheets.finish(log, form, me, 1))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", str(tmp_path / "r"), "--gold", str(gold), "--gold-key", "truth"]) == 0
    told = capsys.readouterr().out
    assert "a  s: new document -> 'S'" in told
    assert "1 field in 1 document was never reviewed" in told
