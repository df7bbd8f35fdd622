"""Beside a wrong value, the page shows where it stands in its document, if it was extracted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.documents.making import make_pdf, text
from tests.reports.html.opened_report import OpenReport
from tests.reports.html.unpacked_rows import read_blocks, read_rows

from fieldassay.commands.cli.main import main

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEC = "fieldassay: 1\nname: receipts\nfields: {shop: text, total: {type: money, currency: EUR}}\n"
HOSTILE = "<img src=x onerror=alert(1)>\u202e“</script>"


def call(*arguments: Any) -> None:
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "spec.yaml").write_text(SPEC)
    gold = [{"id": "r1", "shop": "A", "total": 70}, {"id": "r2", "shop": "B", "total": 60}]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    return tmp_path


def extraction(place: Path, name: str, quote: str) -> Path:
    """Write an extraction with one wrong total, one right one, and an invented shop."""
    (place / name).mkdir()
    (place / name / "extraction.json").write_text('{"schema_version": 1, "status": "complete"}')
    evidence = {
        "total": {"quote": quote, "page": 2, "class": "found"},
        "shop": {"quote": "", "class": "absent"},
    }
    rows = [
        {"id": f"r{number}.pdf", "pred": {"shop": "C", "total": "60"}, "evidence": evidence}
        for number in (1, 2)
    ]
    (place / name / "predictions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return place / name


def report(place: Path, pred: Path) -> Path:
    """Write the report of a run of a system called `m`."""
    given = ("--spec", place / "spec.yaml", "--gold", place / "gold.jsonl", "--match-ids", "stem")
    call("score", *given, "--pred", f"m={pred}", "--bootstrap", 0, "--out", place / "run", "--quiet")
    call("report", place / "run", "--out", place / "report.html")
    return place / "report.html"


def sources(page: Path) -> dict[tuple[str, str, str], str | None]:
    rows = read_rows(read_blocks(page.read_text(encoding="utf-8")))
    return {(row["system"], row["doc"], row["field"]): row["source"] for row in rows}


def test_wrong_value_has_its_page_and_its_quote_and_a_right_one_has_not(place: Path) -> None:
    found = sources(report(place, extraction(place, "out", "TOTAL 60")))
    assert found["m", "r1", "total"] == "page 2, “TOTAL 60”"
    assert found["m", "r1", "shop"] == "nowhere in the document"
    assert found["m", "r2", "total"] is None


def test_predictions_that_have_changed_give_no_quotes(place: Path) -> None:
    page = report(place, extraction(place, "out", "TOTAL 60"))
    with (place / "out" / "predictions.jsonl").open("a") as file:
        file.write("\n")
    call("report", place / "run", "--out", page)
    assert not any(sources(page).values())


def test_value_of_a_pdf_has_its_page(place: Path) -> None:
    pages = [text(72, 100, "Corner Store"), text(72, 100, "Invoice 77") + text(72, 130, "Total 60.00")]
    (place / "docs").mkdir()
    (place / "docs" / "r1.pdf").write_bytes(make_pdf(pages))
    call(
        "extract", "--docs", place / "docs", "--spec", place / "spec.yaml", "--out", place / "out", "--quiet"
    )
    assert sources(report(place, place / "out"))["m", "r1", "total"] == "page 2, “60.00”"


@pytest.mark.slow
def test_quotes_are_text_whatever_they_hold(place: Path, browser: Browser) -> None:
    page = report(place, extraction(place, "out", HOSTILE))
    with OpenReport.opened(browser, page) as opened:
        opened.show("documents?doc=r1")
        shown = opened.text(".tree")
        assert "source: page 2, “<img src=x onerror=alert(1)>\\u202e“</script>”" in shown
        assert "source: nowhere in the document" in shown
