"""What a map or a tree has and no prediction shows is added by the reviewer, and becomes gold."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.review.receipts import add, say, take
from tests.review.test_shapes import gold_of
from tests.review.web.desk import at_desk
from tests.review.web.served import served

from fieldassay.review.sheets.make import Request, make_review
from fieldassay.review.sheets.sheets import RefusedError

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEC = """
fields:
  mp: {type: map, values: number}
  ms: {type: map, values: {fields: {p: text, q: text}}}
  tree: any
  lines: {items: {fields: {a: text, mp: {type: map, values: text}}}}
"""
ROW = {
    "mp": {"x": 1}, "ms": {"k": {"p": "P"}}, "tree": {"t": "T", "z": [1], "o": {"n": True}}, "lines": [{"a": "A", "mp": {"k": "K"}}, {"a": "B"}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ({"mp.y": "2", 'mp["a.b"]': "3"}, {"mp": {"x": 1, "y": "2", "a.b": "3"}}),
        ({"ms.m.q": "Q", "ms.k.q": "R"}, {"ms": {"k": {"p": "P", "q": "R"}, "m": {"q": "Q"}}}),
        ({"tree.o.m": "M"}, {"tree": {"t": "T", "z": [1], "o": {"n": True, "m": "M"}}}),
        ({"tree.z[1]": "2", "tree.w[0].v": "3"}, {"tree": {"t": "T", "z": [1, "2"], "o": {"n": True}, "w": [{"v": "3"}]}}),
        ({"lines[0].mp.m": "M", "lines[1].mp.n": "N"}, {"lines": [{"a": "A", "mp": {"k": "K", "m": "M"}}, {"a": "B", "mp": {"n": "N"}}]}),
    ],
    ids=["a map", "a map of objects", "a tree", "lists in a tree", "a map in a row"],
)  # fmt: skip
def test_what_a_reviewer_added_is_gold(tmp_path: Path, said: dict[str, str], gold: dict[str, Any]) -> None:
    found = gold_of(tmp_path, SPEC, ROW, **said)
    names = found.pop("unreviewed_fields", [])
    assert found == {"id": "a", **ROW, **gold}
    assert names == ([] if "lines[1].mp.n" in said else ["lines[1].mp"])


@pytest.mark.parametrize("node", ["mp", "mp.x.y", "ms.m", "ms.m.r", "tree.t.u", "tree.o", "mp.*", "nowhere.k", "lines[7].mp.k", "lines[0].b", "mp..k"])  # fmt: skip
def test_nothing_is_added_where_no_value_can_be(tmp_path: Path, node: str) -> None:
    store = make_review(tmp_path / "r", Request(SPEC, {"m": [{"id": "a", **ROW}]})).store
    me = add(store)
    assert take(store, me) == 1
    with pytest.raises(
        (RefusedError, ValueError), match=r"not asked|a map is answered by its keys|not a path"
    ):
        say(store, me, 1, node, "v")


def test_a_key_is_added_by_keyboard(browser: Browser, tmp_path: Path) -> None:
    spec = "fields: {mp: {type: map, values: number}, lines: {items: {type: map, values: text}}}"
    rows = [{"id": "a", "mp": {"x": 1}, "lines": [{"k": "K"}]}, {"id": "b"}]
    store = make_review(tmp_path / "review", Request(spec, {"m": rows})).store
    add(store)
    with served(store) as site, at_desk(browser, site) as desk:
        desk.enter()
        desk.start()
        assert desk.page.locator("[data-tree]").count() == 2
        desk.press("Enter", "ArrowUp", "Insert")
        desk.page.keyboard.type("a.b")
        desk.press("Enter")
        desk.until("""desk.at.node === 'mp["a.b"]'""")
        desk.page.keyboard.type("2")
        desk.press("Enter")
        desk.saved()
        assert desk.at == "lines[0].k"
        desk.press("Enter")
        desk.saved()
        assert desk.labels() == {
            "mp.x": ("value", "1"),
            'mp["a.b"]': ("value", "2"),
            "lines[0].k": ("value", "K"),
        }
        desk.press("Control+Enter")
        desk.on_sheet(2)
        assert desk.at == "mp"
        desk.page.keyboard.type("y")
        desk.press("Enter")
        desk.until("desk.at.node === 'mp.y'")
        desk.page.keyboard.type("3")
        desk.press("Enter")
        desk.saved()
        assert (desk.at, desk.page.evaluate("[...desk.open]")) == ("lines", ["lines"])
