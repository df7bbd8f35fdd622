"""What nobody can read is failed: in no denominator, and counted, whatever was predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.effort import few_examples
from tests.judging import result_of, rows_of, score_alone

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
