"""Reports for a browser to open."""

from __future__ import annotations

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
