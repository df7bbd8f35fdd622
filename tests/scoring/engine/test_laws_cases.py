"""Laws that were once broken: the smallest records that show each."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from tests.judging import leaves_of, result_of, rows_of


def list_of(items: Any = None, **fields: Any) -> dict[str, Any]:
    """Return a list of objects with these fields, or of these items."""
    return {"type": "list", "items": items or {"type": "object", "fields": fields}}


def wrong(spec: Any, gold: Any) -> list[tuple[str, str]]:
    """Return the value rows of gold against itself that are not right."""
    return [
        (path, outcome) for path, outcome in leaves_of(spec, gold, gold) if outcome not in ("match", "absent")
    ]


LINES = {"fields": {"lines": list_of(a="text", b="text")}}
KEYED = {"fields": {"lines": {**list_of(a="text", b="text"), "align": {"key": "a"}}}}
IN_ITEM = {"fields": {"lines": list_of(o={"type": "object", "fields": {"a": "text"}})}}
NESTED = {"fields": {"lines": list_of(name="text", parts=list_of(a="text"))}}
FUZZY = {"fields": {"x": list_of(subs={"type": "list", "items": {"type": "text", "compare": "indel"}})}}
TREE = {"fields": {"t": "any"}}


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


def test_a_tree_does_not_depend_on_other_documents() -> None:
    records: list[dict[str, Any]] = [{"t": {"a": 1}}, {"t": [1]}]
    assert [
        result_of(TREE, records, records, batch=size, metrics=("correct",)).value("correct")
        for size in (1, 1000)
    ] == [2, 2]


def test_ties_of_nested_lists_do_not_depend_on_the_order_of_items() -> None:
    gold = ["bcd", "abcdefgxyz", "abcdefghij"]
    pred = [{"subs": ["abcdefghix", "abcdefgxyz"]}, {"subs": ["abcdefghix", "abxd", "abxd"]}]
    other = [{"subs": ["abcdefgxyz", "abcdefghix"]}, pred[1]]
    values = [
        result_of(FUZZY, [{"x": [{"subs": first}]}], [{"x": second}]).value("f1")
        for first, second in ((gold, pred), (["bcd", "abcdefghij", "abcdefgxyz"], other))
    ]
    assert values[0] == values[1]


@pytest.mark.parametrize("turned", [False, True])
def test_a_value_of_another_kind_in_an_item_is_not_lost(turned: bool) -> None:
    spec = {"fields": {"lines": list_of(parts={**list_of(a="text"), "align": {"key": "a"}})}}
    gold: list[Any] = [{"parts": 7}, {"parts": {"a": "x"}}]
    rows = rows_of(spec, {"lines": gold[::-1] if turned else gold}, {"lines": [{"parts": ["junk"]}]})
    assert rows.filter(kind="value", outcome="spurious").height == 1
    item = rows.filter(pl.col("field") == "lines[]", pl.col("outcome") == "spurious")
    assert item["pred_path"].to_list() == ["lines[0]"]


def test_distinct_items_are_told_apart_by_their_lists() -> None:
    spec = {"fields": {"lines": {**list_of(tags={"type": "list", "items": "text"}), "distinct": True}}}
    record = {"lines": [{"tags": ["a"]}, {"tags": ["b"]}]}
    assert wrong(spec, record) == []
    assert (
        result_of(
            spec, [{"lines": [{"tags": ["a"]}]}], [{"lines": [{"tags": ["b"]}, {"tags": ["a"]}]}]
        ).value("recall")
        == 1.0
    )


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


def test_the_order_of_items_of_another_kind_does_not_show() -> None:
    spec = {"fields": {"lines": {**list_of(a="text"), "combine": "product"}}}
    values = [
        result_of(spec, [{"lines": [["red"]]}], [{"lines": order}], metrics=("correct",)).value("correct")
        for order in ([["red"], [1]], [[1], ["red"]])
    ]
    assert values[0] == values[1]


def test_a_long_prediction_does_not_take_gold_out_of_the_denominator() -> None:
    spec = {"fields": {"a": {"type": "text", "compare": "levenshtein"}}}
    result = result_of(spec, [{"a": "ab" * 10_000}], [{"a": "xy" * 5_000_000}])
    assert result.estimate("recall").n == 1


def test_the_row_of_gold_of_another_kind_shows_the_prediction() -> None:
    row = rows_of(
        {"fields": {"o": {"type": "object", "fields": {"a": "text"}}}}, {"o": "text"}, {"o": {"a": "x"}}
    ).filter(kind="value")
    assert (row["outcome"][0], row["pred"][0]) == ("mismatch", '{"a":"x"}')


@pytest.mark.parametrize("align", ["ordered", "sequence"])
def test_empty_items_agree(align: str) -> None:
    spec = {"fields": {"lines": {**list_of(a="text"), "align": align}}}
    outcomes = set(
        rows_of(spec, {"lines": [{}, {"a": "x"}]}, {"lines": [{}, {"a": "x"}]}).filter(kind="item")["outcome"]
    )
    assert not outcomes & {"mismatch", "missing", "spurious"}


def test_the_path_of_a_field_without_a_name_is_quoted() -> None:
    assert leaves_of({"fields": {"": "text", "a": "text"}}, {"": "x", "a": "y"}, {"": "x", "a": "y"}) == [
        ('[""]', "match"),
        ("a", "match"),
    ]


@pytest.mark.parametrize("align", ["assignment", "ordered"])
def test_an_item_of_another_kind_leaves_other_documents_alone(align: str) -> None:
    parts = {**list_of(a="text"), "combine": "product"}
    spec = {"fields": {"lines": {**list_of(parts=parts), "align": align}}}
    gold = [{"lines": [{"parts": [False]}]}, {"lines": [{"parts": [{"a": "x"}]}]}]
    pred = [{}, {"lines": [{"parts": [{"a": "x"}, {"a": "b"}]}]}]
    assert [result_of(spec, gold, pred, batch=size).value("precision") for size in (1, 2)] == [0.5, 0.5]


def test_items_of_a_tree_count_once_in_any_batch() -> None:
    spec = {"fields": {"t": {"type": "any", "align": "ordered"}}}
    pred = [{"t": [[1]]}, {"t": [True]}]
    values = [
        result_of(spec, [{}, {}], pred, batch=size, metrics=("items",)).value("items_spurious", field="t[]")
        for size in (1, 2)
    ]
    assert values == [2, 2]


def test_an_empty_list_in_a_tree_agrees_with_itself() -> None:
    spec = {"fields": {"t": {"type": "any", "align": "sequence"}}}
    assert set(rows_of(spec, {"t": [[""]]}, {"t": [[""]]})["outcome"]) <= {"match", "absent"}


def test_the_mean_over_fields_does_not_depend_on_the_batch() -> None:
    spec = {
        "fields": {
            "alpha": {"type": "any", "align": "ordered"},
            "gamma": {"type": "list", "align": "sequence"},
        }
    }
    tree = {"x y": {"x y": "red"}, "odd.key": 1.0}
    gold = [{}, {}, {"gamma": [{"a": "n"}]}, {"alpha": tree}]
    pred = [{}, {}, {"gamma": [{"a": "n"}, {"a": "m"}]}, {"alpha": tree, "gamma": [{"a": "p"}]}]
    name = "macro_precision"
    values = [result_of(spec, gold, pred, batch=size, metrics=(name,)).value(name) for size in (1, 1000)]
    assert values[0] == values[1]
