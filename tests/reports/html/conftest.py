"""Reports for a browser to open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.opened_report import OpenReport, Pages
from tests.scored_runs import linked

import fieldassay as fa
from fieldassay import score

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def demo_report(demo_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the shipped sample, beside its run."""
    folder = linked(demo_run.parent, tmp_path_factory.mktemp("sample") / "demo")
    fa.report(folder / "run", "html", folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of records made to break it."""
    page = fa.report(score(gold_records(), predictions(), SPEC, bootstrap=100))
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


@pytest.fixture(scope="module")
def pages(browser: Browser) -> Iterator[Pages]:
    """Return the reports that the tests of a file share: called with a file, it returns the opened report."""
    with ExitStack() as closing:
        yield Pages(browser, closing)


@pytest.fixture(scope="session")
def demo_pages(browser: Browser) -> Iterator[Pages]:
    """Return the place of the sample's report, which the tests of many files share."""
    with ExitStack() as closing:
        yield Pages(browser, closing)


@pytest.fixture
def demo(demo_pages: Pages, demo_report: Path) -> OpenReport:
    """Return the sample's report at the width of a desk, as a reader finds it."""
    return demo_pages(demo_report)
