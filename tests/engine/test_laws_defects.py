"""Laws that are broken today: the smallest records that show it. A case that begins to pass must lose its mark."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.judging import leaves_of, result_of, rows_of


def broken(reason: str) -> Any:  # noqa: ARG001
    """Return the mark of a law that does not hold."""
    return lambda test: test


def list_of(items: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a list of objects with these fields, or of these items."""
    return {"type": "list", "items": items or {"type": "object", "fields": fields}}


def wrong(spec: Any, gold: Any) -> list[tuple[str, str]]:
    """Return the value rows of gold against itself that are not right."""
    return [(path, outcome) for path, outcome in leaves_of(spec, gold, gold) if outcome not in ("match", "absent")]


LINES = {"fields": {"lines": list_of(a="text", b="text")}}
KEYED = {"fields": {"lines": {**list_of(a="text", b="text"), "align": {"key": "a"}}}}
IN_ITEM = {"fields": {"lines": list_of(o={"type": "object", "fields": {"a": "text"}})}}
NESTED = {"fields": {"lines": list_of(name="text", parts=list_of(a="text"))}}
FUZZY = {"fields": {"x": list_of(subs={"type": "list", "items": {"type": "text", "compare": "indel"}})}}
TREE = {"fields": {"t": "any"}}


@broken("an IndexError in engine/resolve.py when gold has no item in the whole batch")
@pytest.mark.parametrize(
    ("spec", "pred"),
    [
        pytest.param(LINES, {"lines": [7]}, id="item"),
        pytest.param(IN_ITEM, {"lines": [{"o": 7}]}, id="object-in-an-item"),
        pytest.param(NESTED, {"lines": [{"parts": [7]}]}, id="item-of-a-list-in-an-item"),
        pytest.param(LINES, {"lines": '["see attachment"]'}, id="json-text"),
    ],
)
def test_an_invented_item_of_another_kind_is_spurious(spec: Any, pred: Any) -> None:
    assert result_of(spec, [{"lines": []}], [pred]).value("precision") == 0.0


@broken("a tree takes an object for a list of one where any document of the batch has a list there")
def test_a_tree_does_not_depend_on_other_documents() -> None:
    records: list[dict[str, Any]] = [{"t": {"a": 1}}, {"t": [1]}]
    assert [result_of(TREE, records, records, batch=size).value("correct") for size in (1, 1000)] == [2, 2]


@broken("nested lists add up their scores in the order of the items, and a tie is decided by the last bit")
def test_ties_of_nested_lists_do_not_depend_on_the_order_of_items() -> None:
    gold = ["bcd", "abcdefgxyz", "abcdefghij"]
    pred = [{"subs": ["abcdefghix", "abcdefgxyz"]}, {"subs": ["abcdefghix", "abxd", "abxd"]}]
    other = [{"subs": ["abcdefgxyz", "abcdefghix"]}, pred[1]]
    values = [
        result_of(FUZZY, [{"x": [{"subs": first}]}], [{"x": second}]).value("f1")
        for first, second in ((gold, pred), (["bcd", "abcdefghij", "abcdefgxyz"], other))
    ]
    assert values[0] == values[1]


@broken("a predicted value of another kind inside an otherwise empty item makes no row unless its neighbor happens to be the first pair")
@pytest.mark.parametrize("turned", [False, True])
def test_a_value_of_another_kind_in_an_item_is_not_lost(turned: bool) -> None:
    spec = {"fields": {"lines": list_of(parts={**list_of(a="text"), "align": {"key": "a"}})}}
    gold: list[Any] = [{"parts": 7}, {"parts": {"a": "x"}}]
    rows = rows_of(spec, {"lines": gold[::-1] if turned else gold}, {"lines": [{"parts": ["junk"]}]})
    assert rows.filter(kind="value", outcome="spurious").height == 1
    item = rows.filter(pl.col("field") == "lines[]", pl.col("outcome") == "spurious")
    assert item["pred_path"].to_list() == ["lines[0]"]


@broken("items that differ only in a list or an object of another kind count as repeats")
def test_distinct_items_are_told_apart_by_their_lists() -> None:
    spec = {"fields": {"lines": {**list_of(tags={"type": "list", "items": "text"}), "distinct": True}}}
    record = {"lines": [{"tags": ["a"]}, {"tags": ["b"]}]}
    assert wrong(spec, record) == []
    assert result_of(spec, [{"lines": [{"tags": ["a"]}]}], [{"lines": [{"tags": ["b"]}, {"tags": ["a"]}]}]).value("recall") == 1.0


@broken("items without a value that can be compared are never paired, even with themselves")
@pytest.mark.parametrize(
    ("spec", "gold"),
    [
        pytest.param(LINES, {"lines": ["see page 2"]}, id="item-of-another-kind"),
        pytest.param(IN_ITEM, {"lines": [{"o": "see page 2"}]}, id="object-of-another-kind-in-an-item"),
        pytest.param(KEYED, {"lines": [{"b": "x"}]}, id="item-without-its-key"),
        pytest.param(
            {"fields": {"lines": {**list_of(a={"type": "list", "items": "text"}), "align": {"key": "a"}}}},
            {"lines": [{"a": ["x"]}]},
            id="key-that-is-a-list",
        ),
    ],
)
def test_gold_equals_itself_whatever_its_items_are(spec: Any, gold: Any) -> None:
    assert wrong(spec, gold) == []


@broken("the pairing of items of another kind depends on the order, because the sort key does not hold them")
def test_the_order_of_items_of_another_kind_does_not_show() -> None:
    spec = {"fields": {"lines": {**list_of(a="text"), "combine": "product"}}}
    values = [result_of(spec, [{"lines": [["red"]]}], [{"lines": order}]).value("correct") for order in ([["red"], [1]], [[1], ["red"]])]
    assert values[0] == values[1]


@broken("a comparison that is too long fails, and then gold leaves the denominator because of what was predicted")
def test_a_long_prediction_does_not_take_gold_out_of_the_denominator() -> None:
    spec = {"fields": {"a": {"type": "text", "compare": "levenshtein"}}}
    result = result_of(spec, [{"a": "ab" * 10_000}], [{"a": "xy" * 5_000_000}])
    assert result.estimate("recall").n == 1


@broken("the row of gold of another kind does not show a prediction of the declared kind")
def test_the_row_of_gold_of_another_kind_shows_the_prediction() -> None:
    row = rows_of({"fields": {"o": {"type": "object", "fields": {"a": "text"}}}}, {"o": "text"}, {"o": {"a": "x"}}).filter(kind="value")
    assert (row["outcome"][0], row["pred"][0]) == ("mismatch", '{"a":"x"}')


@broken("an item in which nothing is filled is a mismatch where the order of the items counts")
@pytest.mark.parametrize("align", ["ordered", "sequence"])
def test_empty_items_agree(align: str) -> None:
    spec = {"fields": {"lines": {**list_of(a="text"), "align": align}}}
    outcomes = set(rows_of(spec, {"lines": [{}, {"a": "x"}]}, {"lines": [{}, {"a": "x"}]}).filter(kind="item")["outcome"])
    assert not outcomes & {"mismatch", "missing", "spurious"}


@broken("the path of a field whose name is empty is the path of the record")
def test_the_path_of_a_field_without_a_name_is_quoted() -> None:
    assert leaves_of({"fields": {"": "text", "a": "text"}}, {"": "x", "a": "y"}, {"": "x", "a": "y"}) == [('[""]', "match"), ("a", "match")]
