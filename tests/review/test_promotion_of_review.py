"""A review becomes gold: finished sheets and rulings, from the gold that it was made beside."""

import json

import pytest
from tests.review.receipts import NONE, add, form_of, make_receipts, prediction, take

from fieldassay.commands.cli.main import main
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import Shares


def answer(store, person, changes, skipped=frozenset()):
    """Take, answer and finish the next sheet: what is shown is confirmed, but for the changes."""
    number = take(store, person)
    fill(store, person, number, changes, skipped)


def fill(
    store,
    person,
    number,
    changes,
    skipped=frozenset(),
):
    """Answer and finish a sheet: what is shown is confirmed, but for the changes."""
    form = form_of(store)
    with store.reading() as db:
        given = {one["node"]: one["given"] for one in sheets.view(db, form, person, number)["asked"]}
    for node, said in {**given, **changes}.items():
        one = sheets.LabelAnswer(node, "absent") if said is None else sheets.LabelAnswer(node, "value", said)
        one = sheets.LabelAnswer(node, "skipped") if node in skipped else one
        store.write(lambda log, one=one: sheets.save_label(log, form, person, number, one))
    store.write(lambda log: sheets.finish(log, form, person, number))


def write_gold(folder, *rows):
    gold = folder / "gold.jsonl"
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return gold


def promote(folder, gold, *more):
    return main(["review", "promote", str(folder), "--gold", str(gold), *more])


def test_a_review_is_promoted_once_and_each_value_is_traced_to_a_person(tmp_path, capsys):
    gold = write_gold(tmp_path, {"id": "doc-001", "shop": "Shop 1", "total": "10.00", "page": 4})
    store = make_receipts(tmp_path / "review", 1, NONE, gold=gold)
    answer(store, add(store), {"total": "10.00", "shop": "Shop One"})
    assert promote(tmp_path / "review", gold) == 0
    assert "single items" not in capsys.readouterr().out
    [row] = [json.loads(line) for line in gold.read_text().splitlines()]
    assert (row["shop"], row["total"], row["page"]) == ("Shop One", "10.00", 4)
    assert row["lines"] == [{"sku": "A-1", "amount": "1.00"}, {"sku": "B-2", "amount": "2.00"}]
    [before] = [json.loads(line) for line in (tmp_path / "gold.jsonl.before").read_text().splitlines()]
    assert (before["shop"], "lines" in before) == ("Shop 1", False)
    once = gold.read_bytes()
    assert promote(tmp_path / "review", gold) == 0
    assert gold.read_bytes() == once


def test_a_shown_list_never_replaces_rows_of_gold(tmp_path, capsys):
    lines = [{"sku": "A-1", "amount": "1.00", "count": "2"}]
    gold = write_gold(tmp_path, {"id": "doc-001", "lines": lines})
    store = make_receipts(tmp_path / "review", 1, NONE, gold=gold)
    answer(store, add(store), {})
    assert promote(tmp_path / "review", gold) == 0
    told = capsys.readouterr().out
    assert "4 labels in lists left out: gold has these lists" in told
    assert "single items" not in told
    assert json.loads(gold.read_text())["lines"] == lines


def test_a_list_with_a_value_that_was_skipped_is_not_whole(tmp_path, capsys):
    gold = write_gold(tmp_path, {"id": "doc-001", "shop": "Shop 1"})
    store = make_receipts(tmp_path / "review", 1, NONE)
    answer(store, add(store), {}, skipped={"lines[1].amount"})
    assert promote(tmp_path / "review", gold) == 0
    assert "3 labels of single items left out" in capsys.readouterr().out
    assert "lines" not in json.loads(gold.read_text())


@pytest.mark.parametrize("is_new", [False, True], ids=["changed", "made since"])
def test_gold_that_changed_since_the_review_began_is_refused_with_what_to_do(tmp_path, capsys, is_new):
    row = {"id": "doc-001", "shop": "Shop 1", "total": "10.00"}
    gold = write_gold(tmp_path, row, *([] if is_new else [prediction(2)]))
    store = make_receipts(tmp_path / "review", 2, NONE, gold=gold)
    me = add(store)
    answer(store, me, {})
    answer(store, me, {"shop": "Shop Two"})
    changed = prediction(2, page=3)
    write_gold(tmp_path, row, changed)
    assert promote(tmp_path / "review", gold) == 2
    told = capsys.readouterr().err
    assert "doc-002: shop: gold has changed since the review began, and is 'Shop 2'; the label is" in told
    assert f"fieldassay review new DIR --spec SPEC --pred gold={gold}" in told
    assert json.loads(gold.read_text().splitlines()[1]) == changed
    assert not (tmp_path / "gold.jsonl.before").exists()
    changed["shop"] = "Shop Two"
    write_gold(tmp_path, row, changed)
    assert promote(tmp_path / "review", gold) == 0


def test_an_empty_export_says_what_to_do(tmp_path, capsys):

    store = make_receipts(tmp_path / "review", 1, Shares(1.0, 0.0, 0.0))
    asked = ["review", "export", str(store.folder), "-o", str(tmp_path / "labels.jsonl"), "--settled"]
    assert main(asked) == 0
    assert "no document is settled: label with `fieldassay review open" in capsys.readouterr().err
    for words in ([str(store.folder)], ["--labels", str(tmp_path / "labels.jsonl")]):
        assert main(["review", "promote", *words, "--gold", str(tmp_path / "gold.jsonl")]) == 2
        assert "no document has all its sheets finished; label with" in capsys.readouterr().err
    assert not (tmp_path / "gold.jsonl").exists()
    answer(
        store,
        add(store, "anna", "reviewer"),
        dict.fromkeys(("kind", "shop", "total", "day", "paid", "due", "lines")),
    )
    assert main(asked) == 0
    assert "no document is settled: label with" in capsys.readouterr().err
