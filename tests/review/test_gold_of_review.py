"""Gold is what a reviewer saw and said: shapes and kinds, rows removed, keys added, corrections, two sheets."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.review.receipts import add, form_of, make_receipts, say, take
from tests.review.test_promotion_of_review import answer, promote
from tests.review.web.desk import at_desk
from tests.review.web.served import served

from fieldassay.review.log import ReviewEvent
from fieldassay.review.sheets import sheets
from fieldassay.review.sheets.make import ReviewRequest, Shares, make_review
from fieldassay.review.sheets.sheets import RefusedError

# What was shown and confirmed comes back from gold

TEXTS, NUMBERS = st.sampled_from(["x", "007", "5 kg", "true"]), st.sampled_from([7, 1.5, -2])
KEYS = st.sampled_from(["k", "m n", "a.b"])
TREES = st.recursive(
    TEXTS | NUMBERS | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=2),
    max_leaves=6,
)
SPECS = st.recursive(
    st.sampled_from(["text", "number", "any"]),
    lambda inner: (
        inner.map(lambda items: {"type": "list", "items": items})
        | inner.map(lambda values: {"type": "map", "values": values})
        | st.dictionaries(st.sampled_from("pq"), inner, min_size=1, max_size=2).map(lambda some: {"fields": some})
    ),
    max_leaves=4,
)  # fmt: skip


def values_of(spec):
    """Return values that a spec of one field takes."""
    if isinstance(spec, str):
        return {"text": TEXTS, "number": NUMBERS, "any": TREES}[spec]
    if "fields" in spec:
        return st.fixed_dictionaries(
            {}, optional={key: values_of(one) for key, one in spec["fields"].items()}
        )
    if spec["type"] == "map":
        return st.dictionaries(KEYS, values_of(spec["values"]), max_size=2)
    return st.lists(values_of(spec["items"]), max_size=3)


def filled(value):
    """Return a value without what holds nothing, its scalars by their kind."""
    if not isinstance(value, dict | list):
        return None if value is None else json.dumps(value)
    members = value.items() if isinstance(value, dict) else enumerate(value)
    held = {key: one for key, inner in members if (one := filled(inner)) is not None}
    return (list(held.values()) if isinstance(value, list) else held) or None


def gold_of(folder, spec, row, **said):
    """Return the gold of a reviewer who confirms everything but what is `said` otherwise."""
    store = make_review(folder / "r", ReviewRequest(spec, {"m": [{"id": "a", **row}]})).store
    answer(store, add(store), said)
    gold = folder / "gold.jsonl"
    assert promote(folder / "r", gold) == 0
    found: dict[str, Any] = json.loads(gold.read_text())
    return found


@given(st.fixed_dictionaries({"f": SPECS, "g": SPECS}), st.data())
def test_what_a_reviewer_confirms_is_gold_as_it_was_predicted(tmp_path_factory, spec, data):
    row = {key: data.draw(values_of(one)) for key, one in spec.items()}
    gold = gold_of(
        tmp_path_factory.mktemp("shape"), json.dumps({"fields": {**spec, "s": "text"}}), row | {"s": "S"}
    )
    unreviewed = gold.pop("unreviewed_fields", [])
    assert all(filled(row.get(name)) is None or name.endswith("**") for name in unreviewed), unreviewed
    assert filled(gold) == filled({"id": "a", **row, "s": "S"})


TREE = {"tree": {"n": 1.5, "b": True, "t": "007", "l": [1, {"w": "deep"}]}}


@pytest.mark.parametrize(
    ("spec", "row", "said", "gold"),
    [
        ("{ll: {type: list, items: {type: list, items: text}}}", {"ll": [["a", "b"], ["c"]]}, {}, {"ll": [["a", "b"], ["c"]]}),
        ("{ll: {type: list, items: {type: list, items: text}}}", {"ll": [["a", "b"], ["c"]]}, {"ll[0][0]": None, "ll[1][0]": None}, {"ll": [["b"]]}),
        ("{tree: any}", TREE, {}, TREE),
        ("{tree: any}", TREE, {"tree.n": "2.50", "tree.b": "no", "tree.t": "7", "tree.l[0]": "x"},
         {"tree": {"n": 2.5, "b": "no", "t": "7", "l": ["x", {"w": "deep"}]}}),
        ("{mp: {type: map, values: any}}", {"mp": {"x": 1, "y": 2}}, {"mp.x": "-3"}, {"mp": {"x": -3, "y": 2}}),
        ("{n: {type: number, locale: de_DE}, m: {type: number, locale: de_DE}}", {"n": 1.234, "m": 1.234}, {"m": "1.234"}, {"n": 1.234, "m": "1.234"}),
        ("{t: text, d: number}", {"t": ["a", "b"], "d": [5]}, {}, {"t": "a | b", "d": "5"}),
        ("{xs: {type: list, items: number, compare: bag}}", {"xs": [1, 2.5]}, {}, {"xs": [1, 2.5]}),
    ],
    ids=["lists in a list", "rows of them removed", "a tree", "corrected in the kind that it replaces", "in a map", "in the writing of the locale", "lists for values", "a list as one value"],
)  # fmt: skip
def test_gold_has_the_shape_and_the_kinds_that_were_shown(tmp_path, spec, row, said, gold):
    found = gold_of(tmp_path, f"fields: {spec}", row, **said)
    found.pop("unreviewed_fields", None)
    assert found == {"id": "a", **gold}


# Rows that a reviewer removed

LISTS = "fields: {s: text, xs: {type: list, items: text}, lines: {items: {fields: {a: text, tags: {type: list, items: text}}}}}"
ROWS = {"id": "a", "s": "S", "xs": ["ghost"], "lines": [{"a": "A", "tags": ["ghost"]}]}


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
def test_a_list_without_its_rows_is_empty_and_was_reviewed(tmp_path, order, said, gold):
    store = make_review(tmp_path / "r", ReviewRequest(LISTS, {"m": [ROWS]})).store
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
    assert promote(tmp_path / "r", tmp_path / "gold.jsonl") == 0
    wanted = {key: value for key, value in {**ROWS, **gold}.items() if value is not None}
    assert json.loads((tmp_path / "gold.jsonl").read_text()) == wanted


# Keys that a reviewer added

TREES_SPEC = """
fields:
  mp: {type: map, values: number}
  ms: {type: map, values: {fields: {p: text, q: text}}}
  tree: any
  lines: {items: {fields: {a: text, mp: {type: map, values: text}}}}
"""
TREES_ROW = {
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
def test_what_a_reviewer_added_is_gold(tmp_path, said, gold):
    found = gold_of(tmp_path, TREES_SPEC, TREES_ROW, **said)
    names = found.pop("unreviewed_fields", [])
    assert found == {"id": "a", **TREES_ROW, **gold}
    assert names == ([] if "lines[1].mp.n" in said else ["lines[1].mp"])


@pytest.mark.parametrize("node", ["mp", "mp.x.y", "ms.m", "ms.m.r", "tree.t.u", "tree.o", "mp.*", "nowhere.k", "lines[7].mp.k", "lines[0].b", "mp..k"])  # fmt: skip
def test_nothing_is_added_where_no_value_can_be(tmp_path, node):
    store = make_review(tmp_path / "r", ReviewRequest(TREES_SPEC, {"m": [{"id": "a", **TREES_ROW}]})).store
    me = add(store)
    assert take(store, me) == 1
    with pytest.raises(
        (RefusedError, ValueError), match=r"not asked|a map is answered by its keys|not a path"
    ):
        say(store, me, 1, node, "v")


def test_a_key_is_added_by_keyboard(browser, tmp_path):
    spec = "fields: {mp: {type: map, values: number}, lines: {items: {type: map, values: text}}}"
    rows = [{"id": "a", "mp": {"x": 1}, "lines": [{"k": "K"}]}, {"id": "b"}]
    store = make_review(tmp_path / "review", ReviewRequest(spec, {"m": rows})).store
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


# Gold between two promotions

SPEC = "fields: {s: text, xs: {type: list, items: text}, mp: {type: map, values: text}}"
ROW = {"id": "a", "s": "S", "xs": ["p", "q"], "mp": {"k": "K"}}


def promoted(folder):
    """Return the status of a promotion, and the first record of gold after it."""
    status = promote(folder / "r", folder / "gold.jsonl")
    return status, json.loads((folder / "gold.jsonl").read_text().splitlines()[0])


@pytest.mark.parametrize("is_beside_gold", [False, True], ids=["without gold", "beside gold"])
def test_a_list_that_is_corrected_after_it_was_promoted_is_gold(tmp_path, is_beside_gold):
    gold = [{"id": "a", "s": "G"}]
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold[0]) if is_beside_gold else "")
    request = ReviewRequest(SPEC, {"m": [ROW]}, gold=gold if is_beside_gold else None)
    store = make_review(tmp_path / "r", request).store
    me, form = add(store), form_of(store)
    answer(store, me, {})
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
def test_what_was_changed_by_hand_after_a_promotion_stays(tmp_path, changed, capsys):
    store = make_review(tmp_path / "r", ReviewRequest(SPEC, {"m": [ROW]})).store
    answer(store, add(store), {"s": "T"})
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


def test_what_was_shown_and_is_absent_leaves_gold(tmp_path):
    (tmp_path / "gold.jsonl").write_text('{"id": "a", "s": "G", "xs": ["p", "q"], "mp": {"k": "K"}}')
    store = make_review(tmp_path / "r", ReviewRequest(SPEC, {"m": [ROW]})).store
    answer(store, add(store), {"s": None})
    assert promoted(tmp_path) == (0, {key: value for key, value in ROW.items() if key != "s"})


@pytest.mark.parametrize(
    ("rows", "texts", "told"),
    [
        ((1, 2), ("A", "A"), ["lines"]),
        ((1, 1), ("A", "B"), ["shop"]),
        ((1, 2), ("A", "B"), ["shop", "lines"]),
        ((0, 1), ("A", "A"), ["lines"]),
        ((1, 1), ("A", "A"), []),
    ],
    ids=["another row", "a value", "both", "no list", "the same"],
)
def test_two_sheets_are_gold_once_both_are_finished_and_each_difference_is_told(
    tmp_path,
    rows,
    texts,
    told,
    capsys,
):
    store = make_receipts(tmp_path / "r", 1, Shares(1.0, 0.0, 0.0))
    form = form_of(store)
    (tmp_path / "gold.jsonl").write_text('{"id": "b"}')
    for at, name in enumerate(("anna", "ben")):
        me = add(store, name, "reviewer")
        assert take(store, me) == at + 1
        for node in ("kind", "total", "day", "paid", "due"):
            say(store, me, at + 1, node, state="absent")
        say(store, me, at + 1, "shop", texts[at])
        for node in store.write(lambda log, at=at, me=me: sheets.save_items(log, form, me, at + 1, "lines", [None] * rows[at])):  # fmt: skip
            say(store, me, at + 1, f"{node}.sku", node)
            say(store, me, at + 1, f"{node}.amount", state="absent")
        if not rows[at]:
            say(store, me, at + 1, "lines", state="absent")
        store.write(lambda log, me=me, at=at: sheets.finish(log, form, me, at + 1))
        status = promote(tmp_path / "r", tmp_path / "gold.jsonl", "--add")
        output = capsys.readouterr()
        if not at:
            assert (status, (tmp_path / "gold.jsonl").read_text()) == (0, '{"id": "b"}')
            assert "1 document waits for its second sheet, and is left out" in output.out
    assert status == (2 if told else 0)
    assert [line.split(": ")[2] for line in output.err.splitlines() if "two sheets differ" in line] == told
    if rows == (0, 1):
        store.append(
            ReviewEvent(
                "ruling",
                {
                    "document": 1,
                    "node": "lines",
                    "choice": "second",
                    "text": None,
                    "person": 1,
                    "note": "",
                    "is_last": True,
                },
                "anna",
            )
        )
        assert promote(tmp_path / "r", tmp_path / "gold.jsonl", "--add") == 0
        assert '"lines": [{"sku": "lines[0]"}]' in (tmp_path / "gold.jsonl").read_text()


SETTLED = "fields: {s: text, t: {type: money, tolerance: {relative: 0.01}}, mp: {type: map, values: text}}"


@pytest.mark.parametrize(
    ("said", "ruled", "gold"),
    [
        pytest.param(({"t": "100"}, {"t": "100.5"}), None, {"t": "100"}, id="alike by the spec"),
        pytest.param(
            ({"s": "A"}, {"s": "B"}), ("s", "guideline"), {"unreviewed_fields": ["s"]}, id="nobody can know"
        ),
        pytest.param(
            ({"mp.k": "K", "mp.l": "L"}, {"mp.l": "L"}),
            ("mp.k", "second"),
            {"mp": {"l": "L"}},
            id="a key that is not there",
        ),
    ],
)
def test_what_two_sheets_say_alike_or_a_third_person_ruled_is_gold(
    tmp_path,
    said,
    ruled,
    gold,
):
    store = make_review(
        tmp_path / "r", ReviewRequest(SETTLED, {"m": [{"id": "a"}]}, shares=Shares(1.0, 0.0, 0.0))
    ).store
    for number, (name, answers) in enumerate(zip(("anna", "ben"), said, strict=True), 1):
        me = add(store, name, "reviewer")
        assert take(store, me) == number
        absent = {"s", "t", "mp"} - {node.partition(".")[0] for node in answers}
        for node in sorted({*answers, *absent}):
            text = answers.get(node)
            say(store, me, number, node, text, state="absent" if text is None else "value")
        store.write(lambda log, me=me, number=number: sheets.finish(log, form_of(store), me, number))
    if ruled is not None:
        assert promote(tmp_path / "r", tmp_path / "gold.jsonl") == 2
        body = {"document": 1, "node": ruled[0], "choice": ruled[1], "text": None, "person": 1, "note": ""}
        store.append(ReviewEvent("ruling", {**body, "is_last": True}, "anna"))
    assert promote(tmp_path / "r", tmp_path / "gold.jsonl") == 0
    assert json.loads((tmp_path / "gold.jsonl").read_text()) == {"id": "a", **gold}


def test_new_documents_are_told_as_new_and_their_unreviewed_fields_under_a_key(tmp_path, capsys):
    store = make_review(
        tmp_path / "r", ReviewRequest(f"{SPEC}\ndata: {{gold_key: truth}}", {"m": [ROW]})
    ).store
    me, form = add(store), form_of(store)
    assert take(store, me) == 1
    for node, text in (("s", "S"), ("xs[0]", "p"), ("xs[1]", "q"), ("mp.k", None)):
        say(store, me, 1, node, text, state="skipped" if text is None else "value")
    store.write(lambda log: sheets.finish(log, form, me, 1))
    gold = tmp_path / "gold.jsonl"
    assert promote(tmp_path / "r", gold) == 0
    told = capsys.readouterr().out
    assert "a  s: new document -> 'S'" in told
    assert "1 field in 1 document was never reviewed" in told
