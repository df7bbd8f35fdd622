"""On paper: all rows or their number, the pages that a reader takes along, and no words that lead nowhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.reports.html.opened_report import OpenReport

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PRINT = (
    "void (window.print = () => { window.dispatchEvent(new Event('beforeprint'));"
    " document.documentElement.dataset.printed = true; })"
)
"""An expression whose value is a function would be called at once."""


def _print(report: OpenReport) -> None:
    report.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    report.page.emulate_media(media="print")


def test_documents_print_all_their_rows(demo: OpenReport) -> None:
    demo.show("documents")
    _print(demo)
    assert demo.page.locator("#documents-grid .row").count() == 72


def test_rows_that_are_not_printed_are_counted(demo: OpenReport) -> None:
    demo.show("errors")
    _print(demo)
    assert demo.page.locator("#errors-grid .row").count() == 500
    assert "These are the first 500 of 1,269 rows." in demo.text("#errors-grid")


def test_all_pages_are_printed_at_once(browser: Browser, demo_report: Path) -> None:
    with OpenReport.opened(browser, demo_report) as demo:
        demo.page.evaluate(PRINT)
        demo.page.locator("#print").click()
        demo.page.wait_for_selector("html[data-printed]")
        shown = "[...document.querySelectorAll('[data-view]')].filter(one => !one.hidden).map(one => one.id)"
        assert demo.page.evaluate(shown) == ["summary", "systems", "fields", "errors", "gates"]
        assert demo.page.locator("#errors-grid .row").count() == 20
        demo.page.emulate_media(media="print")
        demo.page.set_viewport_size({"width": 720, "height": 900})
        assert demo.page.locator(".fixes .example a, #print, .facets").locator("visible=true").count() == 0
        assert demo.overflow() <= 2
        demo.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        demo.page.wait_for_selector("[data-view=errors]", state="hidden")
        assert demo.page.evaluate(shown) == ["summary"]


def test_colors_are_printed(demo: OpenReport) -> None:
    demo.page.emulate_media(media="print")
    styles = demo.page.locator(".ranking .span").first.evaluate(
        "bar => getComputedStyle(bar).printColorAdjust"
    )
    assert styles == "exact"
