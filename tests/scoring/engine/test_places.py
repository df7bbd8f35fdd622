"""Places of documents that are judged otherwise: blank, illegible, unreviewed, varied."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doc_pages import blocks
from tests.doc_tables import rows
from tests.effort import few_examples
from tests.judging import leaves_of, result_of, rows_of, score_alone
from tests.scoring.provenance.labels_cases import labels

from fieldassay.errors import ProblemsError
from fieldassay.scoring.validate import validate
from fieldassay.spec.plan.compile import read_plan

# What nobody can read is failed: in no denominator, and counted, whatever was predicted

SPEC = """
fields:
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: money}}}
  tags: {type: list, items: text}
"""
LINES = [{"sku": "A", "amount": "5"}, {"sku": "B"}]


def failed_rows(gold: dict[str, Any], pred: dict[str, Any], paths: list[str]) -> list[tuple[str, str]]:
    rows = rows_of(SPEC, {**gold, "illegible_fields": paths}, pred)
    return [
        (row["field"], row["reason"])
        for row in rows.sort("field").iter_rows(named=True)
        if row["outcome"] == "failed" and row["kind"] == "value"
    ]


@pytest.mark.parametrize(
    ("gold", "pred", "paths", "fields"),
    [
        pytest.param({}, {"total": "5"}, ["total"], ["total"], id="a value that was predicted"),
        pytest.param({}, {}, ["total"], ["total"], id="a value that was not predicted"),
        pytest.param({"total": "5"}, {"total": "5"}, ["total"], ["total"], id="even where gold has a value"),
        pytest.param(
            {}, {"place": {"city": "Rome"}}, ["place"], ["place.city", "place.street"], id="a whole object"
        ),
        pytest.param(
            {}, {"place": {"city": "Rome"}}, ["place.city"], ["place.city"], id="a field of an object"
        ),
        pytest.param(
            {"lines": LINES},
            {"lines": [{"sku": "A", "amount": "5"}, {"sku": "B", "amount": "9"}]},
            ["lines[1].amount"],
            ["lines[].amount"],
            id="a value of an item",
        ),
        pytest.param(
            {"lines": LINES},
            {"lines": [{"sku": "A", "amount": "6"}, {"sku": "B", "amount": "9"}]},
            ["lines[].amount"],
            ["lines[].amount", "lines[].amount"],
            id="a field of every item",
        ),
        pytest.param(
            {}, {"tags": ["x", "y"]}, ["tags"], ["tags[]", "tags[]"], id="a list, with predicted items"
        ),
        pytest.param(
            {"total": "5"}, {"total": "5"}, ["place"], ["place.city", "place.street"], id="nothing there"
        ),
        pytest.param({"total": "5"}, {"total": "5"}, ["other"], [], id="a path that the spec does not have"),
    ],
)
def test_rows_at_and_below_the_path_are_failed(
    gold: dict[str, Any], pred: dict[str, Any], paths: list[str], fields: list[str]
) -> None:
    assert failed_rows(gold, pred, paths) == [(field, "illegible") for field in fields]


values = st.sampled_from([None, "5", "6"])
records = st.fixed_dictionaries({"total": values, "tags": st.lists(st.sampled_from("xyz"), max_size=3)})


NESTED = """
fields:
  lines: {type: list, items: {type: object, fields: {sku: id, tags: {type: list, items: text}}}}
"""


def test_predicted_items_of_an_illegible_list_in_an_item_are_failed_and_no_others() -> None:
    gold = {"lines": [{"sku": "A", "tags": ["u"]}, {"sku": "B"}], "illegible_fields": ["lines[1].tags"]}
    pred = {"lines": [{"sku": "B", "tags": ["x", "y"]}, {"sku": "A", "tags": ["u", "z"]}]}
    rows = rows_of(NESTED, gold, pred).sort("pred_path").iter_rows(named=True)
    found = {row["pred_path"]: row["outcome"] for row in rows if row["field"] == "lines[].tags[]"}
    assert found == {
        "lines[0].tags[0]": "failed", "lines[0].tags[1]": "failed",
        "lines[1].tags[0]": "match", "lines[1].tags[1]": "spurious",
    }  # fmt: skip


@few_examples()
@given(records, records, records)
def test_no_number_depends_on_what_was_predicted_for_it(gold: Any, one: Any, two: Any) -> None:
    known = [{**gold, "illegible_fields": ["tags"]}]
    found = [result_of(SPEC, known, [{**pred, "total": one["total"]}]) for pred in (one, two)]
    for metric in ("accuracy", "f1", "precision", "recall"):
        assert found[0].value(metric) == found[1].value(metric)


def test_they_are_counted_beside_every_number() -> None:
    gold = [{"total": "5", "illegible_fields": ["place"]}, {"total": "5"}]
    result = result_of(SPEC, gold, [{"total": "5"}, {"total": "6"}])
    estimate = next(one for one in result.estimates if one.metric == "accuracy" and one.field is None)
    assert (estimate.value, estimate.failed) == (0.5, 2)


def test_a_table_names_them_in_a_column(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("id,total,date,illegible_fields\n1,5,,date\n2,6,2025-01-01,\n")
    spec = "fields: {total: money, date: date}"
    pred = [{"id": "1", "total": "5", "date": "2025-01-03"}, {"id": "2", "total": "6", "date": "2025-01-01"}]
    result = score_alone(tmp_path / "gold.csv", pred, spec)
    assert result.value("accuracy") == 1.0


# Accepted values: wherever they stand, a prediction that is one of them comes out as gold itself would

pytestmark = pytest.mark.slow

METRICS = ["accuracy", "accuracy_strict", "accuracy_pooled", "precision", "recall", "f1", "hr", "fda", "absent", "spurious", "missing",
           "accuracy(regime=baseline)", "accuracy(granularity=slot)", "critical_accuracy",
           "structure_errors"]  # fmt: skip
TEXTS = {"type": "list", "items": "text"}
VARIATIONS_LINES = {"type": "list", "items": {"fields": {"n": "text", "amount": "money", "tags": TEXTS}}}
TREE = {
    "type": "any",
    "align": "ordered",
    "fields": {"**": {"type": "any", "null": "value", "blank": "value", "trim": False}},
}


def figures(spec: Any, gold: Any, pred: Any) -> dict[str, float | None]:
    found = result_of({**spec, "metrics": METRICS}, [gold], [pred])
    return {metric: found.estimate(metric).value for metric in METRICS}


# spec, gold, accepted values by path, prediction that is gold but for what is accepted
EQUAL: dict[str, tuple[Any, Any, Any, Any]] = {
    "an item of a list": (TEXTS, ["a man", "a gun"], {"v[0]": ["the man", "the suspect"]}, ["the suspect", "a gun"]),
    "an item of a list in another order": (TEXTS, ["a man", "a gun"], {"v[0]": "the suspect"}, ["a gun", "the suspect"]),
    "two items that share a variation": (TEXTS, ["a", "b"], {"v[0]": ["x"], "v[1]": ["x", "y"]}, ["y", "x"]),
    "any item of a list": (TEXTS, ["a", "b", "c"], {"v[]": ["x"]}, ["x", "c", "x"]),
    "a field of an item": (VARIATIONS_LINES, [{"n": "Oak"}, {"n": "Elm"}], {"v[1].n": ["Ulmus"]}, [{"n": "Ulmus"}, {"n": "Oak"}]),
    "a field of any item": (VARIATIONS_LINES, [{"n": "Oak", "amount": "1"}, {"n": "Elm"}], {"v[].n": ["tree"]}, [{"n": "tree"}, {"n": "tree", "amount": 1}]),
    "silence for a field of an item": (VARIATIONS_LINES, [{"n": "Oak", "amount": "1"}], {"v[0].amount": [None]}, [{"n": "Oak"}]),
    "silence for an item": (TEXTS, ["a", "b"], {"v[1]": [None]}, ["a"]),
    "a list in an item": (VARIATIONS_LINES, [{"tags": ["a", "b"]}, {"n": "x", "tags": ["c"]}], {"v[0].tags": [["d"]]}, [{"n": "x", "tags": ["c"]}, {"tags": ["d"]}]),
    "an item that is an object": (VARIATIONS_LINES, [{"n": "Oak", "amount": "1"}, {"n": "Elm"}], {"v[0]": [{"n": "O.", "amount": 2}]}, [{"n": "Elm"}, {"n": "O.", "amount": "2.00"}]),
    "a text for an item that is an object": (VARIATIONS_LINES, [{"n": "Oak", "amount": "1"}, {"n": "Elm"}], {"v[0]": ["Oak, 1"]}, [{"n": "Elm"}, "Oak, 1"]),
    "a whole list": (TEXTS, ["a", "b"], {"v": [["x", "y", "z"]]}, ["z", "x", "y"]),
    "an empty list": (VARIATIONS_LINES, [{"n": "a"}, {"n": "b"}], {"v": [[]]}, []),
    "nothing for a list": (TEXTS, ["a", "b"], {"v": [None]}, None),
    "a whole object": ({"fields": {"x": "number", "y": TEXTS}}, {"x": 1, "y": ["a"]}, {"v": [{"x": "2", "y": []}]}, {"x": 2}),
    "an object with more than gold has": ({"fields": {"x": "number", "y": "text"}}, {"x": 1}, {"v": [{"x": 2, "y": "b"}]}, {"x": 2, "y": "b"}),
    "a text for an object": ({"fields": {"x": "number", "y": "text"}}, {"x": 1, "y": "a"}, {"v": ["1 a"]}, "1 a"),
    "a field of an object": ({"fields": {"x": "number", "y": "text"}}, {"x": 1, "y": "a"}, {"v.x": [2]}, {"x": "2.0", "y": "a"}),
    "a list judged as one value": ({"type": "list", "items": "text", "compare": "iou"}, ["a", "b"], {"v": [["c", "d"]]}, ["c", "d"]),
    "a value": ("money", "5.00", {"v": ["6"]}, 6),
    "silence for a value": ("money", "5.00", {"v": [None]}, None),
    "silence where gold has nothing": ("text", None, {"v": ["n/a"]}, "n/a"),
    "in a tree: a list in another order": ("tree", {"tech": ["oxytec", "NTP"], "a": 1}, {"v.tech": [["NTP", "oxytec"]]}, {"tech": ["NTP", "oxytec"], "a": 1}),
    "in a tree: a longer list": ("tree", {"t": ["a"], "a": 1}, {"v.t": [["a", "b", {"c": 1}]]}, {"t": ["a", "b", {"c": 1.0}], "a": 1}),
    "in a tree: an object": ("tree", {"flow": {"value": 5000, "unit": "m3/h"}}, {"v.flow": [{"value": 83.3, "unit": "m3/min"}]}, {"flow": {"unit": "m3/min", "value": 83.3}}),
    "in a tree: a text for an object": ("tree", {"flow": {"value": 5000, "unit": "m3/h"}}, {"v.flow": ["5000 m3/h"]}, {"flow": "5000 m3/h"}),
    "in a tree: null for an object": ("tree", {"flow": {"value": 5000}, "a": 1}, {"v.flow": [None]}, {"flow": None, "a": 1}),
    "in a tree: an empty list": ("tree", {"q": ["x", "y"], "b": 1}, {"v.q": [[]]}, {"q": [], "b": 1}),
    "in a tree: an object for a list": ("tree", {"q": ["x", "y"], "b": 1}, {"v.q": [{"a": 1}]}, {"q": {"a": 1}, "b": 1}),
    "in a tree: an object for a text": ("tree", {"q": "x", "b": 1}, {"v.q": [{"a": 1}]}, {"q": {"a": 1}, "b": 1}),
    "in a tree: a list in an item": ("tree", {"q": [{"a": [1, 2]}, {"a": [3]}]}, {"v.q[1].a": [[4, 5]]}, {"q": [{"a": [1, 2]}, {"a": [4, 5]}]}),
}  # fmt: skip


def fields_of(shape: Any) -> dict[str, Any]:
    return {"fields": {"v": TREE if shape == "tree" else shape, "z": "text"}}


@pytest.mark.parametrize("case", EQUAL)
def test_a_prediction_that_is_accepted_scores_as_gold_itself(case: str) -> None:
    shape, gold, accepted, pred = EQUAL[case]
    notes = {"acceptable_variations": accepted, "critical_fields": ["v"]}
    spec, record = fields_of(shape), {"v": gold, "z": "same", **notes}
    assert figures(spec, record, {"v": pred, "z": "same"}) == figures(spec, record, {"v": gold, "z": "same"})


@pytest.mark.parametrize("case", EQUAL)
def test_what_gold_says_stays_right_beside_what_is_accepted(case: str) -> None:
    shape, gold, accepted, _ = EQUAL[case]
    spec, pred = fields_of(shape), {"v": gold, "z": "same"}
    assert figures(spec, {**pred, "acceptable_variations": accepted}, pred) == figures(spec, pred, pred)


# what the field accepts in the spec, gold, prediction
IN_SPECS: dict[str, tuple[Any, Any, Any]] = {
    "a value": ({"type": "text", "accepted": ["x"]}, "a", "x"),
    "silence": ({"type": "text", "accepted": [None, "x"]}, "a", None),
    "an item": ({"type": "list", "items": {"type": "text", "accepted": ["x"]}}, ["a", "b"], ["x", "b"]),
    "a list": ({**TEXTS, "accepted": [["x", "y"]]}, ["a"], ["y", "x"]),
    "an empty list": ({**TEXTS, "accepted": [[]]}, ["a"], None),
    "a list judged as one value": ({"type": "list", "items": "text", "compare": "iou", "accepted": [["c", "d"]]}, ["a"], ["c", "d"]),
    "an object": ({"fields": {"x": "number", "y": "text"}, "accepted": [{"x": 2}]}, {"x": 1, "y": "a"}, {"x": "2"}),
    "a text for an object": ({"fields": {"x": "number", "y": "text"}, "accepted": ["see page 2"]}, {"x": 1, "y": "a"}, "see page 2"),
    "a field of an item": ({"items": {"fields": {"n": {"type": "text", "accepted": ["x"]}, "m": "text"}}}, [{"n": "a", "m": "b"}], [{"n": "x", "m": "b"}]),
    "an object that is an item": ({"items": {"fields": {"n": "text", "m": "text"}, "accepted": [{"n": "x"}]}}, [{"n": "a", "m": "b"}], [{"n": "x"}]),
    "a list in a tree": ({"type": "any", "fields": {"**.c": {"type": "any", "accepted": [["x", "y"]]}, "**": "any"}}, {"c": ["a"], "d": 1}, {"c": ["x", "y"], "d": 1}),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_SPECS)
def test_what_the_spec_accepts_scores_as_gold_itself(case: str) -> None:
    shape, gold, pred = IN_SPECS[case]
    spec = {"fields": {"v": shape, "z": "text"}}
    assert figures(spec, {"v": gold, "z": "a"}, {"v": pred, "z": "a"}) == figures(
        spec, {"v": gold, "z": "a"}, {"v": gold, "z": "a"}
    )


NOT_EQUAL: dict[str, tuple[Any, Any, Any, Any]] = {
    "another item's variation": (TEXTS, ["a", "b"], {"v[0]": ["x"]}, ["a", "x"]),
    "a variation of another document's path": (TEXTS, ["a", "b"], {"w[0]": ["x"]}, ["x", "b"]),
    "one variation cannot stand for two items": (TEXTS, ["a", "b"], {"v[]": ["x"]}, ["x"]),
    "nearly the object": (
        {"fields": {"x": "number", "y": "text"}},
        {"x": 1, "y": "a"},
        {"v": [{"x": 2, "y": "b"}]},
        {"x": 2, "y": "c"},
    ),
    "silence that nobody accepts": (TEXTS, ["a", "b"], {"v": [["c"]]}, []),
}


@pytest.mark.parametrize("case", NOT_EQUAL)
def test_what_is_not_accepted_stays_wrong(case: str) -> None:
    shape, gold, accepted, pred = NOT_EQUAL[case]
    assert (
        figures(fields_of(shape), {"v": gold, "acceptable_variations": accepted}, {"v": pred})["accuracy"] < 1
    )  # type: ignore[operator]


def test_the_rows_say_what_was_accepted() -> None:
    gold = {"v": ["a man", "a gun"], "acceptable_variations": {"v[0]": ["the suspect"]}}
    rows = (
        rows_of({"fields": {"v": TEXTS}}, gold, {"v": ["a gun", "the suspect"]})
        .filter(type="text")
        .to_dicts()
    )
    assert [(row["gold_path"], row["pred_path"], row["reason"], row["flags"]) for row in rows] == [
        ("v[0]", "v[1]", "accepted", ["accepted_variation"]), ("v[1]", "v[0]", "equal", []),
    ]  # fmt: skip


WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)
PREDICTED = st.lists(st.sampled_from("abcdxy"), max_size=4)


@given(gold=WORDS, pred=PREDICTED, values=st.lists(st.sampled_from(["x", "y", "c", None]), min_size=1, max_size=2),
       at=st.sampled_from(["v[0]", "v[1]", "v[]"]), align=st.sampled_from(["assignment", "ordered", "sequence"]))  # fmt: skip
def test_one_more_accepted_item_never_lowers_a_score(
    gold: Any, pred: Any, values: Any, at: str, align: str
) -> None:
    spec = {"fields": {"v": {**TEXTS, "align": align}}}
    before = figures(spec, {"v": gold}, {"v": pred})
    after = figures(spec, {"v": gold, "acceptable_variations": {at: values}}, {"v": pred})
    for metric in ("accuracy", "recall", "f1", "accuracy(regime=baseline)"):
        assert (after[metric] or 0) >= (before[metric] or 0)


TREES = st.recursive(
    st.sampled_from(["a", "b", 1, 2.5, None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    max_leaves=6,
)


@given(gold=TREES, pred=TREES, more=TREES)
def test_any_tree_in_place_of_any_tree_is_as_good_as_gold_if_it_is_accepted(
    gold: Any, pred: Any, more: Any
) -> None:
    spec = {"fields": {"v": TREE}}
    record = {"v": {"k": gold, "z": 1}, "acceptable_variations": {"v.k": [more, pred]}}
    assert figures(spec, record, {"v": {"k": pred, "z": 1}}) == figures(spec, record, record)


@given(gold=TREES, pred=TREES, other=TREES)
def test_an_accepted_tree_never_lowers_a_score(gold: Any, pred: Any, other: Any) -> None:
    spec, record, found = {"fields": {"v": TREE}}, {"v": {"k": gold, "z": 1}}, {"v": {"k": pred, "z": 1}}
    before, after = (
        figures(spec, {**record, "acceptable_variations": accepted}, found)
        for accepted in ({}, {"v.k": [other]})
    )
    for metric in ("accuracy", "recall", "f1"):
        assert (after[metric] or 0) >= (before[metric] or 0) - 1e-12


# Values whose unit stands in another field: judged as one

UNITS_BESIDE_SPEC = next(text for text in blocks("docs/spec.md", "yaml") if "name: figures" in text)
CASES = [
    tuple(row.values())
    for row in rows(Path(__file__).parents[3] / "docs" / "spec.md", "Value and unit in two fields")
]
REVENUE: dict[str, Any] = {"type": "number", "unit_field": "unit"}


@pytest.mark.parametrize(
    ("field", "gold", "pred", "outcome"), CASES, ids=[f"{gold}-{pred}" for _, gold, pred, _ in CASES]
)
def test_value_and_unit_are_one_value(field: str, gold: str, pred: str, outcome: str) -> None:
    found = rows_of(UNITS_BESIDE_SPEC, json.loads(gold), json.loads(pred)).filter(field=field).to_dicts()
    assert [row["outcome"] for row in found] == [outcome]


def test_the_row_shows_both_and_no_key_is_undeclared() -> None:
    result = result_of(
        {"fields": {"revenue": REVENUE}},
        [{"revenue": 3464152, "unit": "thousands"}],
        [{"revenue": 3464152, "unit": "thousands"}],
    )
    (row,) = result.evidence.to_dicts()  # type: ignore[union-attr]
    assert (row["gold"], row["gold_value"], row["outcome"]) == ('"3464152 thousands"', "3464152000", "match")
    assert result.warnings == ()


def test_items_of_lists_are_paired_by_the_amounts() -> None:
    spec = {"fields": {"rows": {"items": {"fields": {"n": REVENUE}}}}}
    gold = {"rows": [{"n": 5, "unit": "k"}, {"n": 5, "unit": "m"}]}
    assert leaves_of(spec, gold, {"rows": [{"n": 5_000_000}, {"n": 5000, "unit": "ones"}]}) == [
        ("rows[0].n", "match"),
        ("rows[1].n", "match"),
    ]


def test_the_digest_of_gold_covers_the_unit() -> None:
    one, two = ([{"id": 1, "n": 5, "unit": unit}] for unit in ("k", "m"))
    spec = {"fields": {"n": REVENUE}}
    assert labels(one, spec).digest != labels(two, spec).digest


def test_relations_compute_with_the_unit() -> None:
    spec = {"fields": {"n": REVENUE, "total": "number"}, "checks": ["n == total"]}
    (count,) = validate(spec, predictions={"a": [{"id": 1, "n": 5, "unit": "k", "total": 5000}]}).counts
    assert (count.values, count.violations) == (1, 0)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"n": REVENUE, "unit": "text"}, "'unit' is judged as part of 'n'"),
        ({"n": {"items": REVENUE}}, "nothing stands beside them"),
        ({"n": {"type": "text", "unit_field": "unit"}}, "'unit_field' does not apply to the type 'text'"),
    ],
    ids=["declared-beside", "an-item", "a-text"],
)
def test_what_is_wrong_with_a_unit_field_is_said(fields: Any, said: str) -> None:
    with pytest.raises(ProblemsError, match=said):
        read_plan({"fields": fields})
