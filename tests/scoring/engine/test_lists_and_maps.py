"""Long lists, maps and keys that come from the documents."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import costs_at_most
from tests.judging import leaves_of, result_of, rows_of, score_alone

from fieldassay.paths import field_of, join_path, split_path
from fieldassay.review.agreement import Answers, measure_agreement
from fieldassay.scoring.explain import judge_without_gold
from fieldassay.scoring.fit import FEW_DOCUMENTS, MOST_KEYS
from fieldassay.scoring.inputs import open_predictions
from fieldassay.scoring.score import score
from fieldassay.scoring.validate import validate
from fieldassay.spec.language.parse import parse_spec
from fieldassay.spec.plan.compile import plan_of

# Maps: values pair by key, count as the items of a list do, and are one field

MAP = "fields: {m: {type: map, values: {fields: {a: integer, b: text, c: {items: text}}}}}"
LIST = """fields: {m: {align: {key: {fields: [k]}}, items: {fields: {
  k: {type: text}, a: integer, b: text, c: {items: text}}}}}"""
VALUES = st.fixed_dictionaries(
    {"a": st.integers(0, 2)}, optional={"b": st.sampled_from("xy"), "c": st.lists(st.sampled_from("pq"))}
)
MAPS = st.dictionaries(st.sampled_from(["A-1", "B.2", "*", "", "['x']"]), VALUES)


@given(gold=MAPS, pred=MAPS)
def test_a_map_is_judged_as_a_list_of_items_aligned_by_key(gold: Any, pred: Any) -> None:
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
def test_keys_pair_by_their_text(values: str, gold: Any, pred: Any, found: dict[str, str]) -> None:
    spec = f"fields: {{m: {{type: map, values: {values}}}}}"
    assert dict(leaves_of(spec, {"m": gold}, {"m": pred})) == found
    assert {row["field"] for row in rows_of(spec, {"m": gold}, {"m": pred}).to_dicts()} <= {
        *("m", "m.*", "m.*[]", "m.*.*", "m.*.y", "m.*.y[]")
    }


def test_values_accepted_beside_gold_are_named_by_key() -> None:
    spec = {"fields": {"m": {"type": "map", "values": "text"}}, "data": {"gold_key": "data"}}
    accepted = {"acceptable_variations": {"m.a": ["other"], "m.*": ["any"]}}
    gold = [{"id": 1, "data": {"m": {"a": "x", "b": "y"}}, **accepted}]
    result = result_of(spec, gold, [{"id": 1, "m": {"a": "other", "b": "other"}}])
    assert result.value("field_accuracy[m.*]") == 0.5


# Keys of trees that stand in few documents fold into one field of their object


def records(documents: int, own: int, error: int = 0) -> list[dict[str, Any]]:
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


GOLD, PRED = records(60, 20), records(60, 20, 3)
FIELDS = {"o.often", "o.*", "o.*.v", "o.*.*"}


def found(spec: str, batch: int, order: int) -> str:
    gold, pred = (random.Random(order).sample(one, len(one)) if order else one for one in (GOLD, PRED))
    return repr(sorted(map(str, score(gold, {"s": pred}, spec, batch=batch, bootstrap=40).estimates)))


@pytest.mark.parametrize("batch", [60, 31, 9])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("spec", ["type: any", "fields: {o: any}"])
def test_folding_depends_on_no_partition_and_no_order(spec: str, batch: int, order: int) -> None:
    assert found(spec, batch, order) == found(spec, 60, 0)


def test_folding_is_the_same_in_other_processes() -> None:
    many = records(250, 8), records(250, 8, 3)
    one, two = (score_alone(many[0], {"s": many[1]}, "type: any", workers=each) for each in (1, 2))
    assert sorted(map(str, one.estimates)) == sorted(map(str, two.estimates)) and set(
        one.fields
    ) >= FIELDS - {"o.*"}


def test_a_key_that_few_documents_have_is_no_field_of_its_own() -> None:
    evidence = score_alone(GOLD, {"s": PRED}, "type: any").evidence
    values = evidence.filter(kind="value")
    assert set(values["field"]) == FIELDS
    seldom = values.filter(gold_path="o.seldom")
    assert set(seldom["field"]) == {"o.*"} and len(seldom) == FEW_DOCUMENTS - 1
    assert values.filter(gold_path="o.k7-3.v").select("pred_path", "outcome").row(0) == (
        "o.k7-3.v",
        "mismatch",
    )


def test_values_are_those_of_a_field_each() -> None:
    few = [{**one, "o": dict(list(one["o"].items())[:8])} for one in GOLD], PRED
    metrics = ("accuracy", "accuracy_strict", "f1", "precision", "recall", "accuracy_pooled")
    result, declared = (
        score_alone(few[0], {"s": few[1]}, spec, metrics=metrics)
        for spec in ("type: any", "fields: {o: {type: map, values: any}}")
    )
    for metric in metrics:
        assert result.value(metric) == pytest.approx(declared.value(metric), abs=1e-12)


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
def test_what_is_declared_is_never_folded(spec: str, fields: set[str]) -> None:
    gold = [{**one, "o": {**one["o"], f"k{at}_no": at}} for at, one in enumerate(GOLD)]
    assert set(score_alone(gold, {"s": gold}, spec).fields) >= fields


def test_so_many_keys_are_fields_each() -> None:
    gold = [{"id": 1, **{f"k{at}": at for at in range(MOST_KEYS)}}]
    fields = set(score_alone(gold, {"s": gold}, "type: any").fields)
    assert len(fields) == MOST_KEYS and "*" not in fields
    gold[0]["more"] = 1
    assert set(score_alone(gold, {"s": gold}, "type: any").fields) == {"*"}


def fields_of_check(gold: list[dict[str, Any]]) -> set[str]:
    return set(validate("fields: {o: any}", gold, {"s": gold}).surveys["s"].findings)


def fields_of_predictions(gold: list[dict[str, Any]]) -> set[str]:
    return set(validate("fields: {o: any}", None, {"s": gold}).surveys["s"].findings)


def fields_of_review(gold: list[dict[str, Any]]) -> set[str]:
    plan = plan_of(parse_spec("fields: {o: any}"))
    rows, _ = judge_without_gold(plan, open_predictions(plan, {"s": gold})["s"])
    assert set(rows.filter(pl.col("field") == "o.*")["pred_path"]) >= {"o.seldom"}
    return set(rows["field"])


def fields_of_agreement(gold: list[dict[str, Any]]) -> set[str]:
    plan = plan_of(parse_spec("{fields: {o: any}, statistics: {bootstrap: 10}}"))
    sheets = [Answers(row["id"], name, {"o": row["o"]}) for row in gold for name in ("ada", "bob")]
    return {field.field for field in measure_agreement(plan, sheets).fields if field.field != "o"}


@pytest.mark.parametrize(
    "fields_of", [fields_of_check, fields_of_predictions, fields_of_review, fields_of_agreement]
)
def test_every_door_folds_the_keys_that_scoring_folds(
    fields_of: Callable[[list[dict[str, Any]]], set[str]],
) -> None:
    with costs_at_most(200):
        assert fields_of(records(60, 20)) == FIELDS
        assert len(fields_of(records(1500, 20))) == len(FIELDS)


def test_of_many_slices_and_keys_each_slice_has_its_own_keys() -> None:
    gold = [{"id": at, "s": f"s{at}", "o": {f"k{at}": 1}} for at in range(50)]
    result = score_alone(gold, {"s": gold}, "fields: {o: any}\nslices: [s]", bootstrap=40)
    fields = {(one.slice["s"], one.field) for one in result.estimates if one.slice and one.field}
    assert fields == {(f"s{at}", f"o.k{at}") for at in range(50)}
