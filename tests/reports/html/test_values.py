"""What the page of a document shows of each value: gold and prediction whole, lists and failed answers in words."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from tests.reports.html.opened_report import OpenReport

SIDES = {"gold": "tbody td[data-side=gold] .value", "pred": "tbody td[data-side=pred] .value"}


def _bare(text: str) -> str:
    value = json.loads(text)
    return value if isinstance(value, str) else text


def _shown(report: OpenReport, doc: str, side: str) -> Counter[str]:
    report.show(f"documents?doc={doc}&only=all&rows=all")
    report.page.locator("#document-one .tree").first.wait_for()
    found = report.page.eval_on_selector_all(
        f"#document-one {SIDES[side]}", "cells => cells.map(cell => cell.textContent)"
    )
    return Counter(found)


def test_every_prediction_that_is_not_gold_is_shown_as_it_is(demo: OpenReport, demo_report: Path) -> None:
    rows = (
        pl.scan_parquet(demo_report.parent / "run" / "evidence.parquet")
        .filter((pl.col("kind") == "value") & pl.col("pred").is_not_null())
        .select("doc", "outcome", "gold", "pred")
        .collect()
    )
    for (doc,), own in rows.group_by("doc"):
        wanted = [
            _bare(pred)
            for _, outcome, gold, pred in own.rows()
            if outcome != "match" or _bare(pred) != _bare(gold)
        ]
        assert _shown(demo, str(doc), "pred") == Counter(wanted), doc


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
        ("atlas", "5 of 6 items found, 1 missing, 2 values wrong"),
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


def _items(report: OpenReport, doc: str, **params: str) -> None:
    report.show("&".join([f"documents?doc={doc}", *(f"{name}={value}" for name, value in params.items())]))
    report.page.locator("#document-one .items").first.wait_for()


def test_a_list_is_a_table_of_items_by_fields(demo: OpenReport) -> None:
    _items(demo, "inv-012")
    heads = demo.page.locator('[data-list="lines"] thead th').all_inner_texts()
    assert heads[2:] == ["sku", "description", "quantity", "unit_price", "amount"]
    assert demo.page.locator('[data-list="lines"] tbody').count() == 6
    gold = demo.page.locator('[data-list="lines"] tbody').nth(3).locator("tr.gold td[data-side=gold]")
    assert gold.locator(".value").all_inner_texts() == ["LB-3898", "Double power point", "4", "11.25", "45.0"]


def test_a_missing_item_is_one_row(demo: OpenReport) -> None:
    _items(demo, "inv-012", shown="atlas")
    lone = demo.page.locator('[data-list="lines"] td.lone')
    assert lone.count() == 1
    assert lone.inner_text().strip() == "missing"


@pytest.mark.parametrize(("only", "items"), [("wrong", 2), ("all", 6)])
def test_a_document_opens_with_the_items_that_are_wrong(demo: OpenReport, only: str, items: int) -> None:
    _items(demo, "inv-012", shown="atlas", **({"only": only} if only == "all" else {}))
    assert demo.page.locator('[data-list="lines"] tbody').count() == items


def test_keys_lead_from_one_wrong_value_to_the_next(demo: OpenReport) -> None:
    _items(demo, "inv-012")
    wrong = demo.page.locator("#document-one [data-wrong]")
    focused = (
        "() => [...document.querySelectorAll('#document-one [data-wrong]')].indexOf(document.activeElement)"
    )
    seen = []
    for key in ("n", "n", "n", "p"):
        demo.page.keyboard.press(key)
        seen.append(demo.page.evaluate(focused))
    assert seen == [0, 1, 2, 1]
    for _ in range(wrong.count()):
        demo.page.keyboard.press("n")
    assert demo.page.evaluate(focused) == wrong.count() - 1


def test_keys_lead_from_document_to_document(demo: OpenReport) -> None:
    demo.show("documents")
    demo.show("documents?doc=inv-012")
    for key, is_back in (("]", False), ("[", True)):
        # The address changes before the page does, and a key leads on from the document that is painted.
        demo.page.evaluate("delete document.documentElement.dataset.painted")
        demo.page.keyboard.press(key)
        demo.wait("documents")
        assert ("inv-012" in demo.page.evaluate("location.hash")) == is_back


def test_a_link_to_a_value_of_an_item_leads_to_its_cell(demo: OpenReport) -> None:
    _items(demo, "inv-012", field="lines[].amount", system="cedar")
    cell = demo.page.locator("#document-one td.at[data-wrong='2']").first
    box = cell.bounding_box()
    assert box is not None
    assert 0 < box["y"] < 900
