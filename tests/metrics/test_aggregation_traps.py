"""Aggregations that other scorers get wrong, and what they come to here."""

from __future__ import annotations

import pytest
from evidence_rows import estimate, evidence, value

from fieldassay.metrics.evidence import Kind

FLAT = [value(f"f{number}", number) for number in range(10)]
ROWS = [
    value("head", 0),
    value("rows", 1, kind=Kind.LIST),
    value("rows[]", 1, kind=Kind.ITEM),
    value("rows[].sku", 1),
    value("rows[].sum", 1),
]


def flat(*outcomes: str) -> list[tuple[str, str, str]]:
    return [("a", f"f{number}", outcome) for number, outcome in enumerate(outcomes)]


def items(*pairs: tuple[str, str]) -> list[tuple[str, str, str]]:
    return [row for sku, total in pairs for row in (("a", "rows[].sku", sku), ("a", "rows[].sum", total))]


HALF_RIGHT = items(*[("match", "mismatch")] * 4)

TRAPS = {
    "wrong values are in recall": (flat("match", "mismatch", "mismatch"), "recall", 1 / 3),
    "wrong values are in precision": (flat("match", "mismatch", "mismatch", "mismatch"), "precision", 1 / 4),
    "a row with a wrong field is no true positive: F1": (HALF_RIGHT, "f1(granularity=leaf)", 1 / 2),
    "a row with a wrong field is no true positive: recall": (HALF_RIGHT, "recall", 1 / 2),
    "nulls on both sides pay nothing to an empty prediction": (
        flat("missing", "absent", "absent"),
        "accuracy(regime=filled)",
        0.0,
    ),
    "nulls on both sides pay in the baseline, by name": (
        flat("missing", "absent", "absent"),
        "accuracy(regime=baseline)",
        2 / 3,
    ),
    "nulls do not inflate": (flat("mismatch", *["absent"] * 9), "accuracy_pooled", 0.0),
    "correct silence is undefined, not wrong": (flat("absent"), "accuracy_strict", None),
    "a long list is not one key": (
        [("a", "head", "match"), *items(*[("mismatch", "mismatch")] * 100)],
        "accuracy_pooled",
        1 / 201,
    ),
    "a whole missing row lowers the fields of the list": (
        items(("match", "match"), ("missing", "missing")),
        "field_accuracy[rows[].sku]",
        1 / 2,
    ),
    "fields of a badly matching row stay in the denominator": (
        items(("match", "mismatch"), ("match", "mismatch")),
        "recall[rows[].sku]",
        1.0,
    ),
    "extra keys cost their share and no more": (
        flat("match", "match", *["spurious"] * 3),
        "accuracy_pooled_strict",
        2 / 5,
    ),
    "extra keys do not touch recall": (flat("match", "match", *["spurious"] * 3), "recall", 1.0),
    "one wrong item of two costs a half": (items(("match", "mismatch")), "accuracy_pooled", 1 / 2),
}


@pytest.mark.parametrize("claim", TRAPS)
def test_trap_is_avoided(claim: str) -> None:
    rows, metric, wanted = TRAPS[claim]
    is_flat = rows[0][1].startswith("f")
    field = metric.partition("[")[2][:-1] or None
    found = estimate(
        metric,
        evidence(rows, FLAT if is_flat else ROWS, slots=None if is_flat else ("head", "rows")),
        field=field,
    )
    assert found.value == (None if wanted is None else pytest.approx(wanted, abs=1e-9))


def test_denominators_of_gold_do_not_depend_on_the_prediction() -> None:
    predictions = {"right": "match", "wrong": "mismatch", "nearly": "partial", "none": "missing"}
    sizes = {estimate("recall", evidence(flat(outcome, outcome), FLAT)).n for outcome in predictions.values()}
    assert sizes == {2}
