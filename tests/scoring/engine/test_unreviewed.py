"""What nobody was asked about is in no number, whatever was predicted, and it is counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import result_of, rows_of, score_alone

import fieldassay

SPEC = """
fields:
  total: money
  place: {type: object, fields: {city: text, street: text}}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: money, tags: {type: list, items: text}}}}
  tags: {type: list, items: text}
  rates: {type: map, values: money}
"""
LINES = [{"sku": "A", "amount": "5"}, {"sku": "B", "amount": "6"}]


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
            {"lines": LINES},
            {"lines": [{**LINES[1], "tags": ["u"]}, LINES[0]]},
            ["lines[1].tags"],
            id="a list in an item, paired in another order",
        ),
        pytest.param(
            {"lines": [{"sku": "A"}, {"sku": "B"}]},
            {"lines": LINES},
            ["lines[].amount"],
            id="a field of every item",
        ),
        pytest.param({}, {"lines": LINES}, ["lines"], id="a list of objects"),
        pytest.param({}, {"tags": ["x", "y"]}, ["tags"], id="a list of values"),
        pytest.param(
            {"rates": {"a": "1"}}, {"rates": {"a": "1", "b": "2"}}, ["rates.b"], id="a key of a map"
        ),
    ],
)
def test_no_row_and_no_metric_knows_what_is_unreviewed(gold: Any, pred: Any, paths: list[str]) -> None:
    base = [{"total": "7"}, {"total": "5", **gold, "unreviewed_fields": paths}]
    said = [{"total": "7"}, {"total": "5", **pred}]
    if paths == ["total"]:
        del base[1]["total"], said[1]["total"]
        said[1] |= pred
    result = result_of(SPEC, base, said)
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
    rows = rows_of(SPEC, base[1], said[1])
    assert not [row for row in rows.iter_rows(named=True) if row["outcome"] not in ("match", "absent")]


def test_they_are_counted_in_result_metrics_and_warnings(tmp_path: Path) -> None:
    gold = [
        {
            "id": str(number),
            "total": "5",
            "unreviewed_fields": ["place.city", "tags", "no field"][: number % 3],
        }
        for number in range(6)
    ]
    pred = [{"id": str(number), "total": "5"} for number in range(6)]
    result = score_alone(gold, pred, SPEC)
    assert result.counts["unreviewed"] == {"fields": 6, "documents": 4}
    assert any("6 fields in 4 documents were never reviewed" in text for text in result.warnings)
    fieldassay.score(gold, pred, SPEC, bootstrap=0).save(tmp_path / "run")
    assert json.loads((tmp_path / "run" / "metrics.json").read_text())["counts"]["unreviewed"]["fields"] == 6


values = st.sampled_from([None, "5", "6"])
items = st.lists(st.fixed_dictionaries({"sku": st.sampled_from("AB"), "amount": values}), max_size=3)
records = st.fixed_dictionaries(
    {"total": values, "lines": items, "tags": st.lists(st.sampled_from("xyz"), max_size=3)}
)


@few_examples()
@given(records, records, st.lists(records, min_size=2, max_size=2))
def test_no_number_depends_on_what_was_predicted_for_a_field_of_every_item(
    gold: Any, pred: Any, others: Any
) -> None:
    known = [{**gold, "unreviewed_fields": ["tags", "lines[].amount", "total"]}, others[0]]
    blank = {**pred, "total": None, "tags": [], "lines": [{"sku": one["sku"]} for one in pred["lines"]]}
    found = [result_of(SPEC, known, [one, others[1]]) for one in (pred, blank)]
    one, other = ({(e.metric, e.field): (e.value, e.n) for e in result.estimates} for result in found)
    assert one == other


@pytest.mark.parametrize(
    "cells", ["total,unreviewed_fields\n1,,total\n2,6,\n", "total,unreviewed_fields\n1,,total|date\n2,6,\n"]
)
def test_a_table_names_them_in_a_column(tmp_path: Path, cells: str) -> None:
    (tmp_path / "gold.csv").write_text("id," + cells)
    pred = [{"id": "1", "total": "5"}, {"id": "2", "total": "6"}]
    result = score_alone(tmp_path / "gold.csv", pred, "fields: {total: money, date: date}")
    assert (result.value("accuracy"), result.value("perfect_documents")) == (1.0, 1.0)
