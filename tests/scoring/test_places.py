"""Long lists, maps, and places of documents that are judged otherwise: blank, illegible, unreviewed, varied."""

import json
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.doc_pages import blocks
from tests.doc_tables import rows
from tests.effort import costs_at_most, few_examples
from tests.judging import leaves_of, result_of, rows_of, score_alone

import fieldassay
from fieldassay.errors import ProblemsError
from fieldassay.paths import field_of, join_path, split_path
from fieldassay.review.agreement import Answers, measure_agreement
from fieldassay.scoring.explain import judge_without_gold, validate
from fieldassay.scoring.fit import FEW_DOCUMENTS, MOST_KEYS
from fieldassay.scoring.inputs import open_predictions
from fieldassay.scoring.score import score
from fieldassay.spec.language.parse import parse_spec
from fieldassay.spec.plan.compile import plan_of, read_plan

# Long lists, maps and keys that come from the documents.

# Maps: values pair by key, count as the items of a list do, and are one field

MAP = "fields: {m: {type: map, values: {fields: {a: integer, b: text, c: {items: text}}}}}"
LIST = """fields: {m: {align: {key: {fields: [k]}}, items: {fields: {
  k: {type: text}, a: integer, b: text, c: {items: text}}}}}"""
VALUES = st.fixed_dictionaries(
    {"a": st.integers(0, 2)}, optional={"b": st.sampled_from("xy"), "c": st.lists(st.sampled_from("pq"))}
)
MAPS = st.dictionaries(st.sampled_from(["A-1", "B.2", "*", "", "['x']"]), VALUES)


@given(gold=MAPS, pred=MAPS)
def test_a_map_is_judged_as_a_list_of_items_aligned_by_key(gold, pred):
    as_items = ([{"k": f"k{key}", **value} for key, value in one.items()] for one in (gold, pred))
    listed = [leaf for leaf in leaves_of(LIST, *({"m": one} for one in as_items)) if "k" not in leaf[0]]
    found = leaves_of(MAP, {"m": gold}, {"m": pred})
    assert sorted(outcome for _, outcome in found) == sorted(outcome for _, outcome in listed)
    for path, _ in found:
        assert join_path(split_path(path)) == path
        assert field_of(path, {"m.*"}).startswith("m.*.")


@pytest.mark.parametrize(
    ("values", "gold", "pred", "found"),
    [
        ("number", {"x": 1, "y": 2}, {"y": 2, "x": 1}, {"m.x": "match", "m.y": "match"}),
        ("number", {"x": 1, "n": None, "e": ""}, {"n": None}, {"m.x": "missing"}),
        ("number", {"x": 1}, {"X": 1}, {"m.x": "missing", "m.X": "spurious"}),
        ("number", {"x": 1}, '{"x": 1}', {"m.x": "match"}),
        ("number", {"x": 1}, [1], {"m": "spurious", "m.x": "missing"}),
        ("number", {}, {"x": 1}, {"m.x": "spurious"}),
        (
            "{type: list, items: text}",
            {"x": ["a"]},
            {"x": ["a", "b"]},
            {"m.x[0]": "match", "m.x[1]": "spurious"},
        ),
        (
            "{type: map, values: date}",
            {"x": {"y": "2024-01-02"}},
            {"x": {"y": "2 Jan 2024"}},
            {"m.x.y": "match"},
        ),
        ("any", {"x": {"y": [1]}}, {"x": {"y": [1]}}, {"m.x.y[0]": "match"}),
    ],
    ids=json.dumps,
)
def test_keys_pair_by_their_text(values, gold, pred, found):
    spec = f"fields: {{m: {{type: map, values: {values}}}}}"
    assert dict(leaves_of(spec, {"m": gold}, {"m": pred})) == found
    assert {row["field"] for row in rows_of(spec, {"m": gold}, {"m": pred}).to_dicts()} <= {
        *("m", "m.*", "m.*[]", "m.*.*", "m.*.y", "m.*.y[]")
    }


# Keys of trees that stand in few documents fold into one field of their object


def keyed_records(documents, own, error=0):
    """Return records with keys of their own, at two levels, and with some that many documents have."""
    return [
        {
            "id": f"d{at}",
            "o": {
                **{f"k{at}-{key}": {"v": key + (error == key), f"x{at}-{key}": 1} for key in range(own)},
                **({"often": at} if at % 2 else {}),
                **({"seldom": at} if at < FEW_DOCUMENTS - 1 else {}),
            },
        }
        for at in range(documents)
    ]


GOLD, PRED = keyed_records(60, 20), keyed_records(60, 20, 3)
FIELDS = {"o.often", "o.*", "o.*.v", "o.*.*"}


def found(spec, batch, order):
    gold, pred = (random.Random(order).sample(one, len(one)) if order else one for one in (GOLD, PRED))
    return repr(sorted(map(str, score(gold, {"s": pred}, spec, batch=batch, bootstrap=40).estimates)))


@pytest.mark.parametrize("batch", [60, 31, 9])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("spec", ["type: any", "fields: {o: any}"])
def test_folding_depends_on_no_partition_and_no_order(spec, batch, order):
    assert found(spec, batch, order) == found(spec, 60, 0)


def test_a_key_that_few_documents_have_is_no_field_of_its_own():
    values = score_alone(GOLD, {"s": PRED}, "type: any").evidence.filter(kind="value")
    assert set(values["field"]) == FIELDS
    seldom = values.filter(gold_path="o.seldom")
    assert set(seldom["field"]) == {"o.*"} and len(seldom) == FEW_DOCUMENTS - 1
    assert values.filter(gold_path="o.k7-3.v").select("pred_path", "outcome").row(0) == (
        "o.k7-3.v",
        "mismatch",
    )


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        (
            '{type: any, fields: {"o.k3-3.v": number, "**.*_no": id}}',
            {"o.k3-3.v", "o.*.v", "o.*.*", "o.k1_no"},
        ),
        ("{fields: {o: {fields: {k3-3: any}}}}", {"o.k3-3.v", "o.k3-3.x3-3"}),
    ],
)
def test_what_is_declared_is_never_folded(spec, fields):
    gold = [{**one, "o": {**one["o"], f"k{at}_no": at}} for at, one in enumerate(GOLD)]
    assert set(score_alone(gold, {"s": gold}, spec).fields) >= fields


def test_so_many_keys_are_fields_each():
    gold = [{"id": 1, **{f"k{at}": at for at in range(MOST_KEYS)}}]
    fields = set(score_alone(gold, {"s": gold}, "type: any").fields)
    assert len(fields) == MOST_KEYS and "*" not in fields
    gold[0]["more"] = 1
    assert set(score_alone(gold, {"s": gold}, "type: any").fields) == {"*"}


def fields_of_check(gold):
    return set(validate("fields: {o: any}", gold, {"s": gold}).surveys["s"].findings)


def fields_of_predictions(gold):
    return set(validate("fields: {o: any}", None, {"s": gold}).surveys["s"].findings)


def fields_of_review(gold):
    plan = plan_of(parse_spec("fields: {o: any}"))
    rows, _ = judge_without_gold(plan, open_predictions(plan, {"s": gold})["s"])
    assert set(rows.filter(pl.col("field") == "o.*")["pred_path"]) >= {"o.seldom"}
    return set(rows["field"])


def fields_of_agreement(gold):
    plan = plan_of(parse_spec("{fields: {o: any}, statistics: {bootstrap: 10}}"))
    sheets = [Answers(row["id"], name, {"o": row["o"]}) for row in gold for name in ("ada", "bob")]
    return {field.field for field in measure_agreement(plan, sheets).fields if field.field != "o"}


@pytest.mark.parametrize(
    "fields_of", [fields_of_check, fields_of_predictions, fields_of_review, fields_of_agreement]
)
def test_every_door_folds_the_keys_that_scoring_folds(
    fields_of,
):
    with costs_at_most(200):
        assert fields_of(keyed_records(60, 20)) == FIELDS
        assert len(fields_of(keyed_records(600, 20))) == len(FIELDS)


def test_of_many_slices_and_keys_each_slice_has_its_own_keys():
    gold = [{"id": at, "s": f"s{at}", "o": {f"k{at}": 1}} for at in range(50)]
    result = score_alone(gold, {"s": gold}, "fields: {o: any}\nslices: [s]", bootstrap=40)
    fields = {(one.slice["s"], one.field) for one in result.estimates if one.slice and one.field}
    assert fields == {(f"s{at}", f"o.k{at}") for at in range(50)}


# Places of documents that are judged otherwise: blank, illegible, unreviewed, varied.

# What nobody can read is failed: in no denominator, and counted, whatever was predicted

SPEC = """
fields:
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: money}}}
  tags: {type: list, items: text}
"""
LINES = [{"sku": "A", "amount": "5"}, {"sku": "B"}]


def failed_rows(gold, pred, paths):
    rows = rows_of(SPEC, {**gold, "illegible_fields": paths}, pred)
    return [
        (row["field"], row["reason"])
        for row in rows.sort("field").iter_rows(named=True)
        if row["outcome"] == "failed" and row["kind"] == "value"
    ]


@pytest.mark.slow
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
def test_rows_at_and_below_the_path_are_failed(gold, pred, paths, fields):
    assert failed_rows(gold, pred, paths) == [(field, "illegible") for field in fields]


values = st.sampled_from([None, "5", "6"])
records = st.fixed_dictionaries({"total": values, "tags": st.lists(st.sampled_from("xyz"), max_size=3)})


NESTED = """
fields:
  lines: {type: list, items: {type: object, fields: {sku: id, tags: {type: list, items: text}}}}
"""


@pytest.mark.slow
def test_predicted_items_of_an_illegible_list_in_an_item_are_failed_and_no_others():
    gold = {"lines": [{"sku": "A", "tags": ["u"]}, {"sku": "B"}], "illegible_fields": ["lines[1].tags"]}
    pred = {"lines": [{"sku": "B", "tags": ["x", "y"]}, {"sku": "A", "tags": ["u", "z"]}]}
    rows = rows_of(NESTED, gold, pred).sort("pred_path").iter_rows(named=True)
    found = {row["pred_path"]: row["outcome"] for row in rows if row["field"] == "lines[].tags[]"}
    assert found == {
        "lines[0].tags[0]": "failed", "lines[0].tags[1]": "failed",
        "lines[1].tags[0]": "match", "lines[1].tags[1]": "spurious",
    }  # fmt: skip


@pytest.mark.slow
@few_examples()
@given(records, records, records)
def test_no_number_depends_on_what_was_predicted_for_it(gold, one, two):
    known = [{**gold, "illegible_fields": ["tags"]}]
    found = [result_of(SPEC, known, [{**pred, "total": one["total"]}]) for pred in (one, two)]
    for metric in ("accuracy", "f1", "precision", "recall"):
        assert found[0].value(metric) == found[1].value(metric)


# A list of gold without an item of the declared kind is in no number, and named


def test_a_list_of_gold_without_any_object_is_left_out_and_named():
    spec = "fields: {t: text, cites: {type: list, items: {fields: {page: integer, quote: text}}}}"
    right = {"page": 1, "quote": "x"}
    gold = [
        {"id": at, "t": "a", "cites": cites}
        for at, cites in enumerate([["x", "y"], ["x"], [right, "y"], [right]])
    ]
    result = result_of(spec, gold, [{"id": at, "t": "a", "cites": [right]} for at in range(4)])
    # The third document has a text, a page and a quote that are right, and `y`, which is missing.
    assert result.value("accuracy") == (1 + 1 + 3 / 4 + 1) / 4
    assert [warning.split("; ")[0] for warning in result.warnings][:2] == [
        "gold: 1 value of 'cites[]' cannot be read as an object (first in '2')",
        "gold: 3 values of 'cites[]' cannot be read as an object (first in '0'), and nothing of them counts",
    ]


def test_lists_and_objects_among_the_items_of_gold_are_named_by_score_and_by_validate():
    spec = {
        "fields": {
            "v": ONE_LIST,
            "l": {"type": "list", "items": {"fields": {"t": {**ONE_LIST, "names": ["T"]}}}},
        }
    }
    gold = [{"id": 1, "v": [["urban guerrillas", "guerrillas"], "x"], "l": [{"T": [{"n": 1}, {"n": 2}]}]}]
    of_score = result_of(spec, gold, [{"id": 1, "v": ["guerrillas", "x"]}]).warnings
    told = validate(spec, gold).warnings
    assert told == of_score[:2]
    assert "1 item of 'v' is a list, compared as JSON text (first in '1')" in told[1]
    assert 'acceptable_variations: {"v[0]": […]}' in told[1]
    assert (
        "2 items of 'l[].t' are each an object" in told[0]
        and "`l[].t: {type: list, items: {fields: …}}`" in told[0]
    )


PLACES = {
    "total": True, "totl": False, "lines": True, "lines[0].t": True, "lines[1].t": False, "lines[].t": True, "lines[0].x": False,
    "none[].t": True, "none[0].t": False, "open.t": True, "rates.usd": True, "rates.chf": False, "rates.*": True, "cur": True,
    "tags[1]": True, "tags[2]": False, "[": False, "tree.a.b": True, "tree.new": True, "tree.l[2]": False, "tree.l[].k": True, "tree.x.y": False,
}  # fmt: skip


def test_a_path_beside_gold_that_leads_nowhere_is_named():
    rows = {"type": "list", "items": {"fields": {"t": {"names": ["T"]}}}}
    spec = {"fields": {"total": {"type": "money", "unit_field": "cur"}, "lines": rows, "none": rows, "open": {"fields": {"t": "text"}},
                       "rates": {"type": "map", "values": "number"}, "tags": {**ONE_LIST, "separator": "|"}, "tree": "any"}}  # fmt: skip
    gold = {
        "id": 1,
        "total": 5,
        "lines": [{"T": "x"}],
        "rates": {"usd": 1},
        "tags": "a|b",
        "tree": {"a": {"b": 1}, "l": [{"k": 1}]},
    }
    for key in ("acceptable_variations", "critical_fields"):
        paths = dict.fromkeys(PLACES, "6") if key == "acceptable_variations" else [*PLACES]
        told = validate(spec, [{**gold, key: paths}]).warnings
        assert [path for path in PLACES if f"gold: {path!r} of `{key}` is no place" in "\n".join(told)] == [
            path for path, is_there in PLACES.items() if not is_there
        ]
        assert set(told) <= set(result_of(spec, [{**gold, key: paths}], [gold]).warnings)


# Accepted values: wherever they stand, a prediction that is one of them comes out as gold itself would


METRICS = ["accuracy", "accuracy_strict", "accuracy_pooled", "precision", "recall", "f1", "hr", "fda", "absent", "spurious", "missing",
           "accuracy(regime=baseline)", "accuracy(granularity=slot)", "critical_accuracy",
           "structure_errors"]  # fmt: skip
TEXTS = {"type": "list", "items": "text"}
ONE_LIST = {**TEXTS, "compare": "iou"}
NESTED_LISTS = {"type": "list", "items": {"fields": {"n": "text", "l": ONE_LIST}}}
VARIATIONS_LINES = {"type": "list", "items": {"fields": {"n": "text", "amount": "money", "tags": TEXTS}}}
TREE = {
    "type": "any",
    "align": "ordered",
    "fields": {"**": {"type": "any", "null": "value", "blank": "value", "trim": False}},
}


def figures(spec, gold, pred):
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
    "gold itself beside a variation that is another item's value": (NESTED_LISTS, [{"n": "p", "l": ["a"]}, {"n": "q", "l": ["c"]}], {"v[0].l[0]": ["c"]}, [{"n": "p", "l": ["a"]}, {"n": "q", "l": ["c"]}]),
    "an item of a list judged as one value": (ONE_LIST, ["a", "b"], {"v[1]": ["c", "d"]}, ["d", "a"]),
    "silence for an item of a list judged as one value": (ONE_LIST, ["a", "b", "c"], {"v[1]": ["x"], "v[2]": [None]}, ["x", "a"]),
    "one variation of two items that leaves the other its own": (ONE_LIST, ["a", "b"], {"v[0]": ["h", "g"], "v[1]": ["g"]}, ["g", "h"]),
    "a variation that is another item of gold": (ONE_LIST, ["a", "b"], {"v[0]": ["b"], "v[1]": ["c"]}, ["b", "c"]),
    "an item behind an empty one": (ONE_LIST, ["a", None, "b"], {"v[2]": ["x"]}, ["a", "x"]),
    "an item that gold has twice": (ONE_LIST | {"compare": "bag"}, ["a", "a"], {"v[1]": ["x"]}, ["x", "a"]),
    "silence in the middle, by position": (ONE_LIST | {"compare": "by_position"}, ["a", "b", "c"], {"v[1]": [None]}, ["a", "c"]),
    "a whole list in another order": (ONE_LIST, ["a"], {"v": [["x", "y"]]}, ["y", "x"]),
    "a part of a text that is a list": ({**ONE_LIST, "separator": "|"}, "a | b", {"v[0]": ["c"]}, "c|b"),
    "an item of a list that is judged as one value in an item": (NESTED_LISTS, [{"n": "p", "l": ["a", "b"]}, {"n": "q", "l": ["c"]}], {"v[1].l[0]": ["d"]}, [{"n": "q", "l": ["d"]}, {"n": "p", "l": ["b", "a"]}]),
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


def fields_of(shape):
    return {"fields": {"v": TREE if shape == "tree" else shape, "z": "text"}}


@pytest.mark.slow
@pytest.mark.parametrize("case", EQUAL)
def test_a_prediction_that_is_accepted_scores_as_gold_itself(case):
    shape, gold, accepted, pred = EQUAL[case]
    notes = {"acceptable_variations": accepted, "critical_fields": ["v"]}
    spec, record = fields_of(shape), {"v": gold, "z": "same", **notes}
    assert figures(spec, record, {"v": pred, "z": "same"}) == figures(spec, record, {"v": gold, "z": "same"})


@pytest.mark.slow
@pytest.mark.parametrize("case", EQUAL)
def test_what_gold_says_stays_right_beside_what_is_accepted(case):
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
    "an item of a list judged as one value": ({**ONE_LIST, "items": {"type": "text", "accepted": ["x", "y"]}}, ["a", "b"], ["y", "b"]),
    "no item of a list judged as one value": ({**ONE_LIST, "items": {"type": "text", "accepted": [None]}}, ["a", "b"], ["b"]),
    "an item of a list within an item": ({"items": {"fields": {"n": "text", "l": {**ONE_LIST, "items": {"type": "text", "accepted": ["x"]}}}}}, [{"n": "a", "l": ["b", "c"]}], [{"n": "a", "l": ["c", "x"]}]),
    "an object": ({"fields": {"x": "number", "y": "text"}, "accepted": [{"x": 2}]}, {"x": 1, "y": "a"}, {"x": "2"}),
    "a text for an object": ({"fields": {"x": "number", "y": "text"}, "accepted": ["see page 2"]}, {"x": 1, "y": "a"}, "see page 2"),
    "a field of an item": ({"items": {"fields": {"n": {"type": "text", "accepted": ["x"]}, "m": "text"}}}, [{"n": "a", "m": "b"}], [{"n": "x", "m": "b"}]),
    "an object that is an item": ({"items": {"fields": {"n": "text", "m": "text"}, "accepted": [{"n": "x"}]}}, [{"n": "a", "m": "b"}], [{"n": "x"}]),
    "a list in a tree": ({"type": "any", "fields": {"**.c": {"type": "any", "accepted": [["x", "y"]]}, "**": "any"}}, {"c": ["a"], "d": 1}, {"c": ["x", "y"], "d": 1}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("case", IN_SPECS)
def test_what_the_spec_accepts_scores_as_gold_itself(case):
    shape, gold, pred = IN_SPECS[case]
    spec = {"fields": {"v": shape, "z": "text"}}
    assert figures(spec, {"v": gold, "z": "a"}, {"v": pred, "z": "a"}) == figures(
        spec, {"v": gold, "z": "a"}, {"v": gold, "z": "a"}
    )


BOTH_ACCEPTED = [
    ({"v": [["x", "y"]]}, ["y", "x"]), *[({"v[0]": ["g"]}, ["g", "b"])] * 3, ({"v": [["g", "y"]], "v[1]": ["y"]}, ["y", "a"]),
]  # fmt: skip


@pytest.mark.parametrize("of_spec", [{}, {"accepted": [["p", "q"]]}], ids=["gold alone", "the spec, too"])
def test_documents_that_accept_items_stand_beside_those_that_accept_whole_lists(of_spec):
    """Each amended prediction has a code of its own, and so has each gold value with variations."""
    assert (
        result_of(
            {"fields": {"v": ONE_LIST | of_spec}},
            [
                {"id": at, "v": ["a", "b"], "acceptable_variations": case[0]}
                for at, case in enumerate(BOTH_ACCEPTED)
            ],
            [{"id": at, "v": case[1]} for at, case in enumerate(BOTH_ACCEPTED)],
        ).value("accuracy")
        == 1.0
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
    "another item's variation in a list judged as one value": (
        ONE_LIST,
        ["a", "b"],
        {"v[0]": ["x"]},
        ["a", "x"],
    ),
    "a variation of an item of another item's list": (
        NESTED_LISTS,
        [{"n": "p", "l": ["a"]}, {"n": "q", "l": ["c"]}],
        {"v[0].l[0]": ["z"]},
        [{"n": "p", "l": ["a"]}, {"n": "q", "l": ["z"]}],
    ),
    "a whole list in another order, where order counts": (
        ONE_LIST | {"compare": "by_position"},
        ["a"],
        {"v": [["x", "y"]]},
        ["y", "x"],
    ),
    "silence for one of two items": (ONE_LIST, ["a", "b"], {"v[0]": [None]}, []),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", NOT_EQUAL)
def test_what_is_not_accepted_stays_wrong(case):
    shape, gold, accepted, pred = NOT_EQUAL[case]
    assert (
        figures(fields_of(shape), {"v": gold, "acceptable_variations": accepted}, {"v": pred})["accuracy"] < 1
    )  # type: ignore[operator]


WORDS = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3)
PREDICTED = st.lists(st.sampled_from("abcdxy"), max_size=4)


@pytest.mark.slow
@given(gold=WORDS, pred=PREDICTED, values=st.lists(st.sampled_from(["x", "y", "c", None]), min_size=1, max_size=2),
       at=st.sampled_from(["v[0]", "v[1]", "v[]"]),
       shape=st.sampled_from([ONE_LIST, *({**TEXTS, "align": align} for align in ("assignment", "ordered", "sequence"))]))  # fmt: skip
def test_one_more_accepted_item_never_lowers_a_score(gold, pred, values, at, shape):
    spec = {"fields": {"v": shape}}
    before = figures(spec, {"v": gold}, {"v": pred})
    after = figures(spec, {"v": gold, "acceptable_variations": {at: values}}, {"v": pred})
    for metric in ("accuracy", "recall", "f1", "accuracy(regime=baseline)"):
        assert (after[metric] or 0) >= (before[metric] or 0)


TREES = st.recursive(
    st.sampled_from(["a", "b", 1, 2.5, None, True]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pqr"), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.slow
@given(gold=TREES, pred=TREES, more=TREES)
def test_any_tree_in_place_of_any_tree_is_as_good_as_gold_if_it_is_accepted(gold, pred, more):
    spec = {"fields": {"v": TREE}}
    record = {"v": {"k": gold, "z": 1}, "acceptable_variations": {"v.k": [more, pred]}}
    assert figures(spec, record, {"v": {"k": pred, "z": 1}}) == figures(spec, record, record)


@pytest.mark.slow
@given(gold=TREES, pred=TREES, other=TREES)
def test_an_accepted_tree_never_lowers_a_score(gold, pred, other):
    spec, record, found = {"fields": {"v": TREE}}, {"v": {"k": gold, "z": 1}}, {"v": {"k": pred, "z": 1}}
    before, after = (
        figures(spec, {**record, "acceptable_variations": accepted}, found)
        for accepted in ({}, {"v.k": [other]})
    )
    for metric in ("accuracy", "recall", "f1"):
        assert (after[metric] or 0) >= (before[metric] or 0) - 1e-12


# Values whose unit stands in another field: judged as one

UNITS_BESIDE = Path(__file__).with_name("value_and_unit.md")
UNITS_BESIDE_SPEC = blocks(UNITS_BESIDE, "yaml")[0]
CASES = [tuple(row.values()) for row in rows(UNITS_BESIDE, "Value and unit in two fields")]
REVENUE: dict[str, Any] = {"type": "number", "unit_field": "unit"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "gold", "pred", "outcome"), CASES, ids=[f"{gold}-{pred}" for _, gold, pred, _ in CASES]
)
def test_value_and_unit_are_one_value(field, gold, pred, outcome):
    found = rows_of(UNITS_BESIDE_SPEC, json.loads(gold), json.loads(pred)).filter(field=field).to_dicts()
    assert [row["outcome"] for row in found] == [outcome]


@pytest.mark.slow
def test_relations_compute_with_the_unit():
    spec = {"fields": {"n": REVENUE, "total": "number"}, "checks": ["n == total"]}
    (count,) = validate(spec, predictions={"a": [{"id": 1, "n": 5, "unit": "k", "total": 5000}]}).counts
    assert (count.values, count.violations) == (1, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"n": REVENUE, "unit": "text"}, "'unit' is judged as part of 'n'"),
        ({"n": {"items": REVENUE}}, "nothing is beside them"),
        ({"n": {"type": "text", "unit_field": "unit"}}, "'unit_field' does not apply to the type 'text'"),
    ],
    ids=["declared-beside", "an-item", "a-text"],
)
def test_what_is_wrong_with_a_unit_field_is_said(fields, said):
    with pytest.raises(ProblemsError, match=said):
        read_plan({"fields": fields})


# What nobody was asked about is in no number, whatever was predicted, and it is counted.

UNREVIEWED_SPEC = """
fields:
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: money, tags: {type: list, items: text}}}}
  tags: {type: list, items: text}
  rates: {type: map, values: money}
"""
UNREVIEWED_LINES = [{"sku": "A", "amount": "5"}, {"sku": "B", "amount": "6"}]


@pytest.mark.parametrize(
    ("gold", "pred", "paths"),
    [
        pytest.param({}, {"total": "5"}, ["total"], id="a value that was predicted"),
        pytest.param({}, {}, ["total"], id="a value that was not predicted"),
        pytest.param({}, {"place": {"city": "Rome"}}, ["place"], id="an object"),
        pytest.param(
            {"place": {"street": "x"}},
            {"place": {"city": "Rome", "street": "x"}},
            ["place.city"],
            id="a field of an object",
        ),
        pytest.param(
            {"lines": UNREVIEWED_LINES},
            {"lines": [{**UNREVIEWED_LINES[1], "tags": ["u"]}, UNREVIEWED_LINES[0]]},
            ["lines[1].tags"],
            id="a list in an item, paired in another order",
        ),
        pytest.param(
            {"lines": [{"sku": "A"}, {"sku": "B"}]},
            {"lines": UNREVIEWED_LINES},
            ["lines[].amount"],
            id="a field of every item",
        ),
        pytest.param({}, {"lines": UNREVIEWED_LINES}, ["lines"], id="a list of objects"),
        pytest.param({}, {"tags": ["x", "y"]}, ["tags"], id="a list of values"),
        pytest.param(
            {"rates": {"a": "1"}}, {"rates": {"a": "1", "b": "2"}}, ["rates.b"], id="a key of a map"
        ),
    ],
)
def test_no_row_and_no_metric_knows_what_is_unreviewed(gold, pred, paths):
    base = [{"total": "7"}, {"total": "5", **gold, "unreviewed_fields": paths}]
    said = [{"total": "7"}, {"total": "5", **pred}]
    if paths == ["total"]:
        del base[1]["total"], said[1]["total"]
        said[1] |= pred
    result = result_of(UNREVIEWED_SPEC, base, said)
    assert {
        one.value
        for one in result.estimates
        if one.metric in ("accuracy", "item_f1", "perfect_documents", "f1")
    } <= {1.0, None}
    assert {
        one.value
        for one in result.estimates
        if one.metric in ("failed", "spurious", "wrong", "missing", "items_spurious")
    } <= {0, None}
    assert result.counts["systems"]["s"]["classes"]["scored"] == 2
    rows = rows_of(UNREVIEWED_SPEC, base[1], said[1])
    assert not [row for row in rows.iter_rows(named=True) if row["outcome"] not in ("match", "absent")]


def test_they_are_counted_in_result_metrics_and_warnings(tmp_path):
    gold = [
        {
            "id": str(number),
            "total": "5",
            "unreviewed_fields": ["place.city", "tags", "no field"][: number % 3],
        }
        for number in range(6)
    ]
    pred = [{"id": str(number), "total": "5"} for number in range(6)]
    result = score_alone(gold, pred, UNREVIEWED_SPEC)
    assert result.counts["unreviewed"] == {"fields": 6, "documents": 4}
    assert any("nobody reviewed them: 6 fields in 4 documents" in text for text in result.warnings)
    fieldassay.score(gold, pred, UNREVIEWED_SPEC, bootstrap=0).save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["counts"]["unreviewed"]["fields"] == 6


items = st.lists(st.fixed_dictionaries({"sku": st.sampled_from("AB"), "amount": values}), max_size=3)
unreviewed_records = st.fixed_dictionaries(
    {"total": values, "lines": items, "tags": st.lists(st.sampled_from("xyz"), max_size=3)}
)


@few_examples()
@given(unreviewed_records, unreviewed_records, st.lists(unreviewed_records, min_size=2, max_size=2))
def test_no_number_depends_on_what_was_predicted_for_a_field_of_every_item(gold, pred, others):
    known = [{**gold, "unreviewed_fields": ["tags", "lines[].amount", "total"]}, others[0]]
    blank = {**pred, "total": None, "tags": [], "lines": [{"sku": one["sku"]} for one in pred["lines"]]}
    found = [result_of(UNREVIEWED_SPEC, known, [one, others[1]]) for one in (pred, blank)]
    one, other = ({(e.metric, e.field): (e.value, e.n) for e in result.estimates} for result in found)
    assert one == other
