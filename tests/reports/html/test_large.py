"""A large run: the file stays small, opens at once, and shows only the rows in view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.reports.html.large_run import make_source
from tests.reports.html.opened_report import OpenReport

from fieldassay.reports.html.page import render_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIELDS = 20
MOST_LOOPS, MOST_FILTER_LOOPS = 20, 10


class LargeReport(NamedTuple):
    """The file of a report, and how many documents it has."""

    file: Path
    documents: int


@pytest.fixture(scope="module", params=[1_000, pytest.param(10_000, marks=pytest.mark.full)])
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LargeReport:
    file = tmp_path_factory.mktemp("large") / "report.html"
    with file.open("w", encoding="utf-8", newline="\n") as target:
        target.writelines(render_page(make_source(request.param, FIELDS)))
    return LargeReport(file, request.param)


def test_a_report_stays_small(large: LargeReport) -> None:
    """The page itself and its charts are one megabyte."""
    assert large.file.stat().st_size < 1_000_000 + 700 * large.documents


@pytest.mark.parametrize(
    "view", ["summary", "documents", "documents?doc=doc-000500", "fields?field=field_03"]
)
def test_many_documents_open_at_once(browser: Browser, large: LargeReport, view: str) -> None:
    """In processor time of the page, as a multiple of that of a loop in it."""
    context = browser.new_context()
    try:
        page = context.new_page()
        metrics = context.new_cdp_session(page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{large.file.as_uri()}#{view}")
        page.wait_for_selector("html[data-painted]", state="attached")
        opened = _spent(metrics)
        page.evaluate(LOOP)
        assert opened < MOST_LOOPS * (_spent(metrics) - opened)
    finally:
        context.close()


LOOP = (
    "() => { let total = 0; for (let at = 0; at < 5e6; at += 1) total = (total + at * at) % 1000003; "
    "return total; }"
)


def _spent(metrics: Any) -> float:
    return next(
        one["value"]
        for one in metrics.send("Performance.getMetrics")["metrics"]
        if one["name"] == "TaskDuration"
    )


def test_only_the_rows_in_view_are_in_the_page(browser: Browser, large: LargeReport) -> None:
    with OpenReport.opened(browser, large.file) as report:
        report.show("documents")
        assert f"{large.documents:,} documents" in report.text("#documents-count")
        assert 10 < report.page.locator("#documents-grid .row").count() < 100
        report.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        last = report.page.locator(f'#documents-grid .row[aria-rowindex="{large.documents + 1}"]')
        last.wait_for()
        assert report.page.locator("#documents-grid .row").count() < 100


def test_filters_find_documents_by_their_errors(browser: Browser, large: LargeReport) -> None:
    with OpenReport.opened(browser, large.file) as report:
        report.show("documents?field=field_03&system=alder")
        found = make_source(large.documents, FIELDS).evidence
        assert found is not None
        wrong = found.filter(field="field_03", system="alder", outcome="mismatch").collect()
        assert report.text("#documents-count").startswith(f"{len(wrong):,} of {large.documents:,} documents")


MOSTLY_WRONG = (0.8, 0.84, 0.9)


@pytest.fixture(scope="module", params=[200, pytest.param(2_000, marks=pytest.mark.full)])
def wrong(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LargeReport:
    """Return a report with 50 wrong values a document."""
    file = tmp_path_factory.mktemp("wrong") / "report.html"
    with file.open("w", encoding="utf-8", newline="\n") as target:
        target.writelines(render_page(make_source(request.param, FIELDS, shares=MOSTLY_WRONG)))
    return LargeReport(file, request.param)


@pytest.mark.parametrize(
    "params",
    ["system=alder", "field=field_03&system=beech", "only=single", "q=O0", "group=pair", "sort=field"],
)
def test_many_wrong_values_are_filtered_at_once(browser: Browser, wrong: LargeReport, params: str) -> None:
    """In processor time of the page, as a multiple of that of a loop in it."""
    with OpenReport.opened(browser, wrong.file) as report:
        metrics = report.page.context.new_cdp_session(report.page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
        report.show("errors")
        assert int(report.text("#errors-count").split()[0].replace(",", "")) > 50 * wrong.documents
        report.page.evaluate(LOOP)
        before = _spent(metrics)
        report.page.evaluate(LOOP)
        loop = _spent(metrics) - before
        report.show(f"errors?{params}")
        assert _spent(metrics) - before - loop < MOST_FILTER_LOOPS * loop
        metrics.detach()
