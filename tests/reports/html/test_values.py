"""What the page of a document shows of each value: gold and prediction whole, lists and failed answers in words."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.reports.html.opened_report import OpenReport

SIDES = {"gold": "tbody td[data-label=gold] .value", "pred": "tbody td:not([data-label=gold]) .value"}


def _bare(text: str) -> str:
    value = json.loads(text)
    return value if isinstance(value, str) else text


def _shown(report: OpenReport, doc: str, side: str) -> Counter[str]:
    report.show(f"documents?doc={doc}&only=all&rows=all")
    report.page.locator("#document-one .tree").wait_for()
    found = report.page.eval_on_selector_all(
        f"#document-one {SIDES[side]}", "cells => cells.map(cell => cell.textContent)"
    )
    return Counter(found)


def test_every_prediction_on_the_page_is_the_prediction(demo: OpenReport, demo_report: Path) -> None:
    rows = (
        pl.scan_parquet(demo_report.parent / "run" / "evidence.parquet")
        .filter((pl.col("kind") == "value") & pl.col("pred").is_not_null())
        .select("doc", "pred")
        .collect()
    )
    for doc, own in rows.group_by("doc"):
        assert _shown(demo, str(doc[0]), "pred") == Counter(map(_bare, own["pred"])), doc


def test_gold_is_shown_whole_where_a_prediction_differs(demo: OpenReport) -> None:
    shown = _shown(demo, "inv-012", "gold")
    assert shown["1257.74"] == 1
    assert "1,257.74" not in shown


def test_two_values_that_differ_are_marked_on_both_sides(demo: OpenReport) -> None:
    demo.show("documents?doc=inv-012&shown=birch&field=total_amount")
    row = demo.page.locator("#document-one tr.at")
    marks = row.locator("mark.diff")
    assert {one.get_attribute("title") for one in marks.all()} == {"only in gold", "only in the prediction"}
    assert demo.page.locator("del, s").count() == 0


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("atlas", "5 of 6 items found · 1 missing"),
        ("cedar", "items found"),
    ],
)
def test_a_list_says_what_is_missing_in_it(demo: OpenReport, system: str, said: str) -> None:
    demo.show(f"documents?doc=inv-012&shown={system}")
    row = demo.page.locator('#document-one tr.group[data-row="lines"]')
    assert said in row.inner_text()
    assert "match" not in row.inner_text()


def test_a_failed_answer_is_told_once_with_its_reason(demo: OpenReport) -> None:
    demo.show("documents?doc=stm-013&shown=cedar")
    failed = demo.page.locator("#document-one td.failed-answer")
    assert failed.count() == 1
    assert "timeout" in failed.inner_text()
    assert "values count as missing" in failed.inner_text()
    assert demo.page.locator("#document-one tbody .sign-missing").count() == 0
