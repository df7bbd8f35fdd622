"""A large run: the file stays small, opens at once, and shows only the rows in view."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests.reports.html.large_run import make_source
from tests.reports.html.opened_report import Pages

from fieldassay.reports.html.page import render_page
from fieldassay.reports.html.source import ReportSource

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIELDS = 20


class Size(NamedTuple):
    """A number of documents, the most bytes of their page, and the most loops that it may take for a view."""

    documents: int
    bytes: int
    loops: float


SIZES = [
    pytest.param(Size(1_000, 1_500_000, 4), id="1,000"),
    pytest.param(Size(10_000, 8_000_000, 20), id="10,000", marks=pytest.mark.full),
]


class Large(NamedTuple):
    """A report in a file, and how many values of `field_03` are wrong by `alder`."""

    file: Path
    size: Size
    wrong: int


@pytest.fixture(scope="module", params=SIZES)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Large:
    file = tmp_path_factory.mktemp("large") / "report.html"
    source = make_source(request.param.documents, FIELDS)
    _write(file, source)
    assert source.evidence is not None
    wrong = source.evidence.filter(field="field_03", system="alder", outcome="mismatch").collect()
    return Large(file, request.param, len(wrong))


def _write(file: Path, source: ReportSource) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as target:
        target.writelines(render_page(source))


def test_many_documents_stay_small(large: Large) -> None:
    assert large.file.stat().st_size < large.size.bytes


@pytest.mark.parametrize(
    "view", ["summary", "documents", "documents?doc=doc-000500", "fields?field=field_03"]
)
def test_many_documents_open_at_once(browser: Browser, large: Large, view: str) -> None:
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
        assert opened < large.size.loops * (_spent(metrics) - opened)
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


def test_only_the_rows_in_view_are_in_the_page(pages: Pages, large: Large) -> None:
    report = pages(large.file)
    report.show("documents")
    assert f"{large.size.documents:,} documents" in report.text("#documents-count")
    assert 10 < report.page.locator("#documents-grid .row").count() < 100
    report.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    last = report.page.locator(f'#documents-grid .row[aria-rowindex="{large.size.documents + 1}"]')
    last.wait_for()
    assert report.page.locator("#documents-grid .row").count() < 100


def test_filters_find_documents_by_their_errors(pages: Pages, large: Large) -> None:
    report = pages(large.file)
    report.show("documents?field=field_03&system=alder")
    assert report.text("#documents-count").startswith(
        f"{large.wrong:,} of {large.size.documents:,} documents"
    )


MOSTLY_WRONG = (0.8, 0.84, 0.9)
WRONG_SIZES = [
    pytest.param(Size(200, 0, 1), id="10,000"),
    pytest.param(Size(2_000, 0, 10), id="100,000", marks=pytest.mark.full),
]


@pytest.fixture(scope="module", params=WRONG_SIZES)
def wrong(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Large:
    """Return a report in which five of six values are wrong, and their least number."""
    file = tmp_path_factory.mktemp("wrong") / "report.html"
    _write(file, make_source(request.param.documents, FIELDS, shares=MOSTLY_WRONG))
    return Large(file, request.param, 50 * request.param.documents)


@pytest.mark.parametrize(
    "params",
    ["system=alder", "field=field_03&system=beech", "only=single", "q=O0", "group=pair", "sort=field"],
)
def test_wrong_values_are_filtered_at_once(pages: Pages, wrong: Large, params: str) -> None:
    """In processor time of the page, as a multiple of that of a loop in it."""
    report = pages(wrong.file)
    metrics = report.page.context.new_cdp_session(report.page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
    report.show("errors")
    assert int(report.text("#errors-count").split()[0].replace(",", "")) > wrong.wrong
    report.page.evaluate(LOOP)
    before = _spent(metrics)
    report.page.evaluate(LOOP)
    loop = _spent(metrics) - before
    report.show(f"errors?{params}")
    assert _spent(metrics) - before - loop < wrong.size.loops * loop
    metrics.detach()
