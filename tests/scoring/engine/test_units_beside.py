"""Values whose unit stands in another field: judged as one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.doc_pages import blocks
from tests.doc_tables import rows
from tests.judging import leaves_of, result_of, rows_of
from tests.scoring.provenance.labels_cases import labels

from fieldassay.errors import ProblemsError
from fieldassay.scoring.validation.validate import validate
from fieldassay.spec.plan.compile import read_plan

SPEC = next(text for text in blocks("docs/spec.md", "yaml") if "name: figures" in text)
CASES = [
    tuple(row.values())
    for row in rows(Path(__file__).parents[3] / "docs" / "spec.md", "Value and unit in two fields")
]
REVENUE: dict[str, Any] = {"type": "number", "unit_field": "unit"}


@pytest.mark.parametrize(
    ("field", "gold", "pred", "outcome"), CASES, ids=[f"{gold}-{pred}" for _, gold, pred, _ in CASES]
)
def test_value_and_unit_are_one_value(field: str, gold: str, pred: str, outcome: str) -> None:
    found = rows_of(SPEC, json.loads(gold), json.loads(pred)).filter(field=field).to_dicts()
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
