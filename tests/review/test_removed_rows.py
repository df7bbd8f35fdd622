"""Rows that a reviewer removed are not on the page, and what was typed instead is gold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.review.receipts import add, form_of, say, take

from fieldassay.commands.cli.main import main
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import Request, make_review
from fieldassay.review.sheets.sheets import RefusedError

SPEC = "fields: {s: text, xs: {type: list, items: text}, lines: {items: {fields: {a: text, tags: {type: list, items: text}}}}}"
ROW = {"id": "a", "s": "S", "xs": ["ghost"], "lines": [{"a": "A", "tags": ["ghost"]}]}


@pytest.mark.parametrize(
    ("order", "said", "gold"),
    [
        pytest.param({"xs": []}, {}, {"xs": None}, id="all rows"),
        pytest.param({"xs": []}, {"xs": "absent"}, {"xs": None}, id="and the list is said to be absent"),
        pytest.param({"xs": []}, {"xs": "illegible"}, {"xs": None, "illegible_fields": ["xs"]}, id="illegible"),
        pytest.param({"xs": []}, {"xs": "skipped"}, {"xs": None, "unreviewed_fields": ["xs"]}, id="skipped"),
        pytest.param({"xs": [None]}, {"xs[1]": "new"}, {"xs": ["new"]}, id="another row in their place"),
        pytest.param({"lines[0].tags": []}, {}, {"lines": [{"a": "A"}]}, id="of a list in a row"),
        pytest.param({"lines": []}, {}, {"lines": None}, id="rows with lists"),
    ],
)  # fmt: skip
def test_a_list_without_its_rows_is_empty_and_was_reviewed(
    tmp_path: Path, order: dict[str, list[Any]], said: dict[str, str], gold: dict[str, Any]
) -> None:
    store = make_review(tmp_path / "r", Request(SPEC, {"m": [ROW]})).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    for listed, nodes in order.items():
        with pytest.raises(RefusedError, match="this list has rows"):
            say(store, me, 1, listed, state="absent")
        store.write(lambda log, at=listed, some=nodes: sheets.save_items(log, form, me, 1, at, some))
    for node, text in said.items():
        say(store, me, 1, node, *([] if "[" not in node else [text]), state="value" if "[" in node else text)
    with store.reading() as db:
        shown = {one["node"]: one["given"] for one in sheets.view(db, form, me, 1)["asked"]}
        still_open = sheets.open_nodes(db, form, 1)
    for node in still_open:
        say(store, me, 1, node, shown[node])
    store.write(lambda log: sheets.finish(log, form, me, 1))
    assert main(["review", "promote", str(tmp_path / "r"), "--gold", str(tmp_path / "gold.jsonl")]) == 0
    wanted = {key: value for key, value in {**ROW, **gold}.items() if value is not None}
    assert json.loads((tmp_path / "gold.jsonl").read_text()) == wanted
