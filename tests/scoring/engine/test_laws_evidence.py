"""Every number is a function of the evidence, and the evidence says what the records say."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from tests.effort import few_examples
from tests.judging import result_of
from tests.strategies_records import Maker, Tastes, chances

from fieldassay.metrics.evidence import Outcome, evidence_schema
from fieldassay.metrics.result.result import Result
from fieldassay.paths import split_path

pytestmark = pytest.mark.slow

TASTES = Tastes(aligners=("assignment", "key", "ordered", "sequence"))
FREE = Tastes(aligners=("assignment", "key", "ordered", "sequence"))


def judged(
    chance: random.Random, tastes: Tastes
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Result, pl.DataFrame]:
    """Return random gold and predictions, their result and its evidence."""
    maker = Maker(chance, tastes)
    spec = maker.spec()
    gold = [maker.record(spec) for _ in range(4)]
    pred = [maker.answer(spec, record) for record in gold]
    result = result_of(spec, gold, pred, metrics=("default", "accuracy_pooled", "failed"))
    assert result.evidence is not None
    return gold, pred, result, result.evidence


def ratio(numerator: float, denominator: float) -> float | None:
    """Return a ratio, None where it is undefined."""
    return numerator / denominator if denominator else None


def recount(rows: list[dict[str, Any]]) -> dict[str, float | None]:
    """Return the pooled metrics of value rows, counted one by one."""
    count = Counter(row["outcome"] for row in rows)
    right = count["match"]
    wrong = count["partial"] + count["mismatch"]
    score = sum(row["score"] for row in rows if row["outcome"] in ("match", "partial", "mismatch"))
    missing, spurious, absent = count["missing"], count["spurious"], count["absent"]
    return {
        "accuracy_pooled": ratio(score, right + wrong + missing + spurious),
        "precision": ratio(right, right + wrong + spurious),
        "recall": ratio(right, right + wrong + missing),
        "f1": ratio(2 * right, 2 * (right + wrong) + missing + spurious),
        "hr": ratio(spurious, spurious + absent),
        "mr": ratio(missing, right + wrong + missing),
        "failed": count["failed"],
    }


@settings(few_examples(), derandomize=True)
@given(chances)
def test_estimates_are_what_a_recount_of_the_evidence_gives(chance: random.Random) -> None:
    _, _, result, evidence = judged(chance, TASTES)
    rows = evidence.filter(pl.col("kind") == "value").to_dicts()
    found = {name: result.value(name) for name in recount(rows)}
    assert found == pytest.approx(recount(rows), abs=1e-8)
    for field in {row["field"] for row in rows}:
        own = recount([row for row in rows if row["field"] == field])
        names = ("precision", "recall", "f1", "hr", "mr")
        assert {name: result.value(name, field=field) for name in names} == pytest.approx(
            {name: own[name] for name in names}, abs=1e-8
        )
        assert result.value("field_accuracy", field=field) == pytest.approx(own["accuracy_pooled"], abs=1e-8)
    by_document = [
        recount([row for row in rows if row["doc"] == name])["accuracy_pooled"]
        for name in {row["doc"] for row in rows}
    ]
    defined = [value for value in by_document if value is not None]
    assert result.value("accuracy") == pytest.approx(ratio(sum(defined), len(defined)), abs=1e-8)
    assert result.estimate("accuracy").n == len(defined)


@settings(few_examples(), derandomize=True)
@given(chances)
def test_rows_are_sound(chance: random.Random) -> None:
    _, _, _, evidence = judged(chance, TASTES)
    assert evidence.columns[: len(evidence_schema())] == list(evidence_schema())
    names = {outcome.name.lower() for outcome in Outcome}
    for row in evidence.filter(pl.col("kind") == "value").iter_rows(named=True):
        assert row["outcome"] in names
        assert bool(row["diagnoses"]) == (row["outcome"] not in ("match", "absent", "failed")), row
        sides = (row["gold"] is not None, row["pred"] is not None)
        wanted = {"missing": (True, False), "spurious": (False, True), "absent": (False, False)}
        if row["outcome"] != "failed":
            assert sides == wanted.get(row["outcome"], (True, True)), row
            assert (row["gold_path"] is not None, row["pred_path"] is not None) == sides, row


def look_up(record: Any, path: str) -> Any:
    """Return what stands at a path; a text that holds JSON is read, and a single value is a list of one."""
    for step in split_path(path):
        opening = "[" if isinstance(step, int) else "{"
        if isinstance(record, str) and record.strip().startswith(opening):
            record = json.loads(record)
        record = [record][step] if isinstance(step, int) and not isinstance(record, list) else record[step]
    return record


@settings(few_examples(), derandomize=True)
@given(chances)
def test_paths_lead_to_the_values_given(chance: random.Random) -> None:
    gold, pred, _, evidence = judged(chance, FREE)
    for row in evidence.filter(pl.col("kind") == "value").iter_rows(named=True):
        for records, side in ((gold, "gold"), (pred, "pred")):
            if row[f"{side}_path"] is not None:
                assert look_up(records[int(row["doc"])], row[f"{side}_path"]) == json.loads(row[side]), row


@pytest.mark.parametrize(
    "key", ["odd.key", "x[0]", " lead", 'quo"te', "a\\b", "naïve", "new\nline", "1", "a.b[].c"]
)
def test_paths_of_odd_keys_lead_to_their_values(key: str) -> None:
    spec = {
        "fields": {
            key: {"type": "object", "fields": {key: {"type": "list", "align": "ordered", "items": "text"}}},
            "t": "any",
        }
    }
    record: dict[str, Any] = {key: {key: ["x", "y"]}, "t": {key: [{key: "z"}]}}
    evidence = result_of(spec, [record], [record]).evidence
    assert evidence is not None
    rows = evidence.filter(pl.col("kind") == "value", pl.col("outcome") == "match")
    assert [look_up(record, path) for path in rows["gold_path"]] == ["x", "y", "z"]
