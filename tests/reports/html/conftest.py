"""A real browser, and reports for it to open."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.opened_report import OpenReport

import fieldassay as fa
from fieldassay import score
from fieldassay.cli.main import main
from fieldassay.scoring.options import ScoreOptions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage",
)  # fmt: skip
WITHOUT = "FIELDASSAY_TEST_WITHOUT_BROWSER"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return headless Chromium. Without one the tests fail: a report that nobody opened is not tested."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get(WITHOUT) == "1":
            pytest.skip(f"no Chromium, and {WITHOUT} is 1")
        pytest.fail(f"no Chromium: `make browser` installs it; {WITHOUT}=1 skips these tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def demo_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of the shipped sample."""
    folder = tmp_path_factory.mktemp("demo")
    assert main(["demo", "--out", str(folder / "run")]) in (0, 1)
    fa.report([folder / "run"], "html", folder / "report.html")
    return folder / "report.html"


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the report of records made to break it."""
    page = fa.report(score(gold_records(), predictions(), SPEC, ScoreOptions(replicates=100)))
    file = tmp_path_factory.mktemp("hostile") / "report.html"
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


@pytest.fixture
def demo(browser: Browser, demo_report: Path) -> Iterator[OpenReport]:
    """Return the sample's report, opened at the width of a desk."""
    with OpenReport.opened(browser, demo_report) as report:
        yield report
