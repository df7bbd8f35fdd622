"""Slots: one score per declared top-level field."""

from __future__ import annotations

import numpy as np
import pytest
from evidence_rows import estimate, evidence, value
from msgspec.structs import replace

from fieldassay.metrics.evidence import Kind
from fieldassay.metrics.statistics.rows import tabulate_rows

FIELDS = [
    value("total", 0, type="money"),
    value("lines", 1, kind=Kind.LIST, type="list"),
    value("lines[]", 1, kind=Kind.ITEM),
    value("lines[].sku", 1),
    value("lines[].sum", 1, critical=True),
]
SLOTS = ("total", "lines")

CASES = {
    "all leaves match": ([("a", "lines[].sku", "match"), ("a", "lines[].sum", "match")], "match", 1.0),
    "one leaf of two is wrong": (
        [("a", "lines[].sku", "match"), ("a", "lines[].sum", "mismatch")],
        "mismatch",
        0.5,
    ),
    "a missing row is in the union": (
        [("a", "lines[].sku", "match"), ("a", "lines[].sku", "missing")],
        "mismatch",
        0.5,
    ),
    "a partial leaf": ([("a", "lines[].sku", "partial")], "mismatch", 0.5),
    "a partial score that is accepted": ([("a", "lines[].sku", "match", 0.9)], "match", 0.9),
    "only gold": ([("a", "lines[].sku", "missing"), ("a", "lines[].sum", "missing")], "missing", 0.0),
    "only the prediction": ([("a", "lines[].sku", "spurious")], "spurious", 0.0),
    "different leaves on each side": (
        [("a", "lines[].sku", "spurious"), ("a", "lines[].sum", "missing")],
        "mismatch",
        0.0,
    ),
    "an absent list without leaves": ([("a", "lines", "absent")], "absent", 0.0),
    "a failed leaf alone": ([("a", "lines[].sku", "failed")], "failed", 0.0),
    "a failed leaf beside a match": (
        [("a", "lines[].sku", "failed"), ("a", "lines[].sum", "match")],
        "match",
        1.0,
    ),
    "a text where a list should be": (
        [
            ("a", "lines", "mismatch", 0.0, "wrong_kind"),
            ("a", "lines[].sku", "missing", 0.0, "under_wrong_kind"),
        ],
        "mismatch",
        0.0,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_slot_outcome_and_score(case: str) -> None:
    rows, outcome, score = CASES[case]
    table = tabulate_rows(evidence(rows, FIELDS, slots=SLOTS), "slot")
    assert [
        (str(found), number)
        for found, number in zip(table.outcome.tolist(), table.score.tolist(), strict=True)
    ] == [
        (
            str({"match": 0, "mismatch": 2, "missing": 3, "spurious": 4, "absent": 5, "failed": 6}[outcome]),
            pytest.approx(score),
        )
    ]


def test_slots_weigh_the_same_however_many_leaves_they_have() -> None:
    rows = [("a", "total", "mismatch"), *[("a", "lines[].sku", "match")] * 9]
    judged = evidence(rows, FIELDS, slots=SLOTS)
    assert estimate("accuracy(granularity=leaf, type=money|text)", judged).value == pytest.approx(0.9)
    assert estimate("accuracy(granularity=slot)", judged).value == 0.5
    assert estimate("accuracy(granularity=slot, type=list)", judged).value == 1.0


def test_a_slot_is_critical_if_one_of_its_rows_is() -> None:
    rows = [("a", "total", "match"), ("a", "lines[].sku", "match"), ("a", "lines[].sum", "mismatch")]
    found = estimate("critical_accuracy(granularity=slot)", evidence(rows, FIELDS, slots=SLOTS))
    assert (found.value, found.n) == (0.0, 1)


def test_a_slot_without_rows_does_not_apply_and_counts_nowhere() -> None:
    judged = evidence(
        [("a", "total", "match"), ("b", "total", "match"), ("b", "lines", "absent")], FIELDS, slots=SLOTS
    )
    found = estimate("accuracy_pooled(granularity=slot, regime=baseline)", judged)
    assert (found.value, found.n) == (1.0, 3)


def test_rows_outside_every_slot_are_in_no_slot() -> None:
    fields = [value("", -1, kind=Kind.OBJECT), value("total", 0)]
    judged = evidence(
        [("a", "", "mismatch", 0.0, "wrong_kind"), ("a", "total", "missing")], fields, slots=("total",)
    )
    assert tabulate_rows(judged, "slot").outcome.tolist() == [3]


def test_one_path_under_two_types_is_one_field() -> None:
    fields = [value("x", 0, type="number"), value("x", 0, type="text")]
    judged = evidence([("a", "x", "match"), ("b", "x", "mismatch")], fields, slots=("x",))
    judged = replace(judged, field=np.array([0, 1], np.int32))
    assert estimate("field_accuracy", judged, field="x").value == 0.5
    assert estimate("field_accuracy(type=text)", judged, field="x").value == 0.0


COVERAGE = {
    "mean(column=coverage)": (np.mean([0.6, 1.0, 0.0, 0.0]), 4),
    "mean(column=coverage, regime=gold_nonempty)": (np.mean([0.6, 1.0, 0.0]), 3),
    "mean(column=coverage, regime=baseline)": (np.mean([0.6, 1.0, 0.0, 0.0, 1.0]), 5),
    "mean(column=coverage, regime=baseline, granularity=slot)": (np.mean([0.6, 1.0, 0.0, 0.0, 1.0]), 5),
    "mean(column=nothing_has_this, type=money)": (None, 0),
}


@pytest.mark.parametrize("metric", COVERAGE)
def test_mean_of_an_extra_column_takes_one_sided_rows_as_zero_and_silence_as_one(metric: str) -> None:
    rows = [
        ("a", "x", "partial"),
        ("b", "x", "match"),
        ("c", "x", "missing"),
        ("d", "x", "spurious"),
        ("e", "x", "absent"),
    ]
    judged = evidence(rows, [value("x")])
    judged = replace(judged, extras={"coverage": np.array([0.6, 1.0, np.nan, np.nan, np.nan])})
    wanted, n = COVERAGE[metric]
    found = estimate(metric, judged)
    assert (found.value, found.n) == (None if wanted is None else pytest.approx(wanted, abs=1e-9), n)
