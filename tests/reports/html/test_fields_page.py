"""The page of fields: the worst first, each with its values and kinds of wrong, its details below it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

ROW = '#field-rows tr[data-row="total_amount"]'


def test_a_field_says_values_intervals_numbers_and_kinds_without_a_click(demo: OpenReport) -> None:
    demo.show("fields")
    cells = demo.page.locator(f"{ROW} td")
    assert cells.nth(1).inner_text().split() == ["76.9%", "63.9", "to", "87.1", "·", "n", "52"]
    assert cells.nth(1).locator(".whisker").count() == 1
    kinds = cells.nth(3).locator(".kind").all_inner_texts()
    assert kinds[:2] == ["separator 4", "digits transposed 4"]


def test_a_kind_of_a_field_leads_to_its_values(demo: OpenReport) -> None:
    demo.show("fields")
    demo.page.locator(f"{ROW} .kind", has_text="separator").click()
    demo.wait("errors")
    assert demo.text("#errors-count").startswith("4 of ")


def test_details_open_below_their_field_and_lead_to_its_neighbors(demo: OpenReport) -> None:
    demo.show("fields?sort=order")
    demo.page.locator(f"{ROW} button").click()
    detail = demo.page.locator(f"{ROW} + tr.opened #field-detail")
    assert detail.locator("h2").first.inner_text() == "What is wrong"
    demo.page.get_by_role("button", name="next field").click()
    demo.page.locator('#field-rows tr.at[data-row="is_gst_included"]').wait_for()
    assert demo.page.locator("tr.opened").count() == 1


def test_scores_of_right_and_wrong_only_have_no_distribution(demo: OpenReport) -> None:
    demo.show("fields?field=total_amount")
    assert demo.page.locator('[data-chart="scores"]').count() == 0


@pytest.mark.parametrize("view", ["fields", "errors", "documents", "fields?field=total_amount"])
@pytest.mark.parametrize("width", [1280, 1600])
def test_no_box_of_a_page_scrolls_down(pages: Pages, demo_report: Path, view: str, width: int) -> None:
    report = pages(demo_report, width=width)
    report.show(view)
    boxes = report.page.evaluate(
        "[...document.querySelectorAll('main section:not([hidden]) *')]"
        ".filter(box => ['auto', 'scroll'].includes(getComputedStyle(box).overflowY)"
        " && box.scrollHeight > box.clientHeight + 1).map(box => box.className)"
    )
    assert boxes == []
