"""A review makes gold, unless it is an audit: then all is on the sheet, once, and nothing is hidden."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import SPEC, add, form_of, prediction, say, take

from fieldassay.commands.cli.main import main
from fieldassay.review.log.store import Store
from fieldassay.review.sheets import sheets

NESTED = """
fields:
  shop: text
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {items: {fields: {sku: text, note: text, tags: {type: list, items: text}}}}
"""


def new(folder: Path, spec: str, rows: list[dict[str, Any]], *options: str) -> int:
    (folder / "spec.yaml").write_text(spec)
    (folder / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    paths = ["--spec", str(folder / "spec.yaml"), "--pred", f"m={folder / 'm.jsonl'}"]
    return main(["review", "new", str(folder / "r"), *paths, *options])


def asked(folder: Path, order: str = "name, place") -> list[tuple[str, str, str | None]]:
    with Store(folder / "r").reading() as db:
        query = f"SELECT name, node, given FROM asked JOIN document ON document.id=document ORDER BY {order}"
        return db.execute(query).fetchall()


def test_every_declared_field_of_every_document_is_asked_once_and_every_prediction_shown(
    tmp_path: Path,
) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "shop": "Oak", "lines": [{"sku": "A"}, {"note": "x", "tags": ["u"]}]},
        {"id": "b", "total": "5.00", "place": {"city": "Rome"}},
        {"id": "c"},
    ]
    assert new(tmp_path, NESTED, rows) == 0
    rest = [("total", None), ("place.city", None), ("place.street", None), ("lines", None)]
    assert [one[1:] for one in asked(tmp_path) if one[0] == "c"] == [("shop", None), *rest]
    cells = {one[1:] for one in asked(tmp_path) if one[0] == "a" and one[1].startswith("lines")}
    assert cells == {
        ("lines[0].sku", "A"), ("lines[0].note", None), ("lines[0].tags", None),
        ("lines[1].sku", None), ("lines[1].note", "x"), ("lines[1].tags[0]", "u"),
    }  # fmt: skip
    assert ("b", "place.city", "Rome") in asked(tmp_path)
    with Store(tmp_path / "r").reading() as db:
        assert db.execute("SELECT count(*), sum(blind) FROM sheet").fetchone() == (3, 0)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nothing_is_hidden_whatever_the_seed(tmp_path: Path, seed: int) -> None:
    assert new(tmp_path, SPEC, [prediction(at) for at in range(30)], "--seed", str(seed)) == 0
    assert {node for _, node, given in asked(tmp_path) if given is None} == {"due"}


@pytest.mark.parametrize("option", ["--double", "--withhold", "--empty"])
@pytest.mark.parametrize("mode", [[], ["--mode", "gold"]], ids=["default", "gold"])
def test_shares_of_an_audit_are_refused_elsewhere(
    tmp_path: Path, option: str, mode: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert new(tmp_path, SPEC, [prediction(1)], *mode, option, "0.5") == 2
    assert f"{option} goes with --mode audit" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_planted_errors_are_no_option(tmp_path: Path) -> None:
    assert new(tmp_path, SPEC, [prediction(1)], "--mode", "audit", "--plant", "0.5") == 2


def test_an_audit_says_of_every_blank_field_that_it_is_left_blank_on_purpose(tmp_path: Path) -> None:
    """Whether a prediction was withheld, or there was none, does not show."""
    options = ("--mode", "audit", "--double", "0", "--withhold", "0.5", "--empty", "1")
    assert new(tmp_path, SPEC, [prediction(1)], *options) == 0
    store = Store(tmp_path / "r")
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    with store.reading() as db:
        found = sheets.view(db, form_of(store), me, sheet)["asked"]
    assert {one["is_left_blank"] for one in found if one["given"] is None} == {True}
    assert {one["is_left_blank"] for one in found if one["given"] is not None} == {False}
    assert 2 < sum(one["is_left_blank"] for one in found) < len(found)


def test_nothing_is_left_blank_on_purpose_where_gold_is_made(tmp_path: Path) -> None:
    assert new(tmp_path, SPEC, [prediction(1)]) == 0
    store = Store(tmp_path / "r")
    me = add(store)
    sheet = take(store, me)
    assert sheet is not None
    with store.reading() as db:
        assert not any(one["is_left_blank"] for one in sheets.view(db, form_of(store), me, sheet)["asked"])
    assert "due" in open_of(store, me, sheet)
    say(store, me, sheet, "kind", "receipt")
    assert "due" not in open_of(store, me, sheet), "receipts have no due date"


def test_the_next_review_begins_with_the_gold_of_the_last_one(tmp_path: Path) -> None:
    """A spec that turned out wrong costs no label."""
    first = tmp_path / "first"
    first.mkdir()
    assert new(first, "fields: {total: text, shop: text}", [{"id": "a", "total": "5.00"}]) == 0
    store = Store(first / "r")
    me = add(store)
    assert take(store, me) == 1
    say(store, me, 1, "total", "6,50")
    say(store, me, 1, "shop", "Oak")
    store.write(lambda log: sheets.finish(log, form_of(store), me, 1))
    gold = tmp_path / "gold.jsonl"
    assert main(["review", "promote", str(first / "r"), "--gold", str(gold), "--reason", "first"]) == 0
    rows = [json.loads(line) for line in gold.read_text().splitlines()]
    assert new(tmp_path, "fields: {total: money, shop: text, day: date}", rows) == 0
    assert asked(tmp_path) == [("a", "total", "6,50"), ("a", "shop", "Oak"), ("a", "day", None)]


def open_of(store: Store, person: Any, sheet: int) -> list[str]:
    with store.reading() as db:
        found: list[str] = sheets.view(db, form_of(store), person, sheet)["open"]
    return found
