"""The first questions of somebody who has never seen a report: each is answered within two clicks."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from tests.reports.html.opened_report import OpenReport


def test_which_system_to_use_and_why_needs_no_click(demo: OpenReport) -> None:
    said = demo.text("#recommendation")
    assert said.startswith("Use atlas: it alone passes all gates (3)")
    assert "94.9% accuracy" in said
    assert "15.0 points ahead of birch, beyond chance" in said


def test_all_misread_separators_of_a_system_need_two_clicks(demo: OpenReport, demo_report: Path) -> None:
    rows = pl.read_parquet(demo_report.parent / "run" / "evidence.parquet")
    wrong = rows.filter(
        (pl.col("kind") == "value")
        & (pl.col("system") == "birch")
        & (pl.col("diagnoses").list.first() == "separator")
    )
    demo.show("errors")
    demo.page.locator("#errors-facets .facet", has_text="birch").click()
    demo.page.locator("#errors-facets .facet", has_text="separator").click()
    demo.page.locator("#errors-count", has_text=f"{len(wrong)} of ").wait_for()


def test_why_an_answer_failed_needs_two_clicks(demo: OpenReport) -> None:
    demo.page.locator('.ranking a[href*="system=cedar"][href*="failed"]').click()
    demo.wait("documents")
    demo.page.locator("#documents-grid .row a", has_text="stm-013").first.click()
    demo.page.locator("#document-one .failed-answer", has_text="timeout after 30 s").wait_for()
