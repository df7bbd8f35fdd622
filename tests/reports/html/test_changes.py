"""The report of a run against an earlier one: what was fixed, what broke, what is still wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

from fieldassay import score
from fieldassay.commands.cli.main import main

GOLD = [{"id": str(number), "total": number, "shop": f"Shop {number}"} for number in range(12)]
OLD = [{**row, "total": 99} if number < 6 else row for number, row in enumerate(GOLD)]
NEW = [{**row, "total": 98} if number < 2 else row for number, row in enumerate(GOLD)]
NEW[11] = {**GOLD[11], "shop": "Shop 1l"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return an earlier run and a later one that fixed four values, broke one, and left two wrong."""
    folder = tmp_path_factory.mktemp("runs")
    spec = "{name: bills, fields: {total: number, shop: text}}"
    for name, rows in (("old", OLD), ("new", NEW)):
        score(GOLD, {"model": rows}, spec, replicates=100).save(folder / name)
    return folder / "old", folder / "new"


@pytest.fixture(scope="module", params=["report", "diff"])
def page(
    request: pytest.FixtureRequest, runs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the page, as `report --against` and as `diff` write it."""
    old, new = map(str, runs)
    out = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    words = {"report": ["report", new, "--against", old], "diff": ["diff", old, new]}[request.param]
    assert main([*words, "--format", "html", "--out", str(out)]) == 0
    return out


def test_the_first_page_says_whether_the_change_helped(pages: Pages, page: Path) -> None:
    report = pages(page)
    said = report.text("#summary .change")
    assert "4 values fixed, 1 broken, 2 wrong in both" in said
    assert "better" in said or "no difference" in said
    report.page.locator("#summary .change a").click()
    report.wait("changes")


def test_every_changed_value_is_listed_with_gold_before_and_after(pages: Pages, page: Path) -> None:
    report = pages(page)
    report.show("changes")
    assert report.text("#changes-count") == "7 values: 1 broken, 4 fixed, 2 still wrong."
    rows = [row.inner_text().split("\n") for row in report.page.locator("#changes-grid .row").all()]
    assert [cell.strip() for cell in rows[0]][:4] == ["broken", "11", "shop", "Shop 11"]
    assert [row[0].strip() for row in rows] == ["broken", *["fixed"] * 4, *["still wrong"] * 2]
    report.page.locator("#change-change").select_option("still wrong")
    report.page.locator("#changes-count", has_text="2 of 7").wait_for()
    report.page.locator("#changes-grid .row").first.click()
    report.page.locator("#document-one tr.at").wait_for()
    assert report.complaints == []


def test_a_report_without_an_earlier_run_has_no_page_of_changes(demo: OpenReport) -> None:
    assert demo.page.locator('[data-tab="changes"], #changes').count() == 0


def test_axe_finds_nothing_in_the_changes(pages: Pages, page: Path) -> None:
    report = pages(page)
    report.show("changes")
    assert report.check_access() == []


def test_fields_and_documents_say_what_changed(pages: Pages, page: Path) -> None:
    report = pages(page)
    report.show("fields?measure=field_accuracy_strict")
    row = report.page.locator('#field-rows tr[data-row="total"]')
    if row.locator("[class^=change-]").count() == 0:
        report.show("fields?measure=field_accuracy")
    assert "+33.3 points" in row.inner_text()
    report.show("documents")
    first = report.page.locator("#documents-grid .row", has_text="fixed").first
    assert "1 fixed" in first.inner_text()
    assert report.complaints == []
