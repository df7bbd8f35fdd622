"""Systems stand in the order of the ranking on every page, each with its own numbers, whatever order they came in."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reports.html.opened_report import OpenReport

import fieldassay as fa
from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

WRONG = {"good": 2, "fair": 5, "poor": 8}
DOCUMENTS = 20
SPEC: dict[str, Any] = {
    "slices": ["type"],
    "document_type": {"field": "kind"},
    "fields": {"kind": "text", "n": "number"},
}


def _records(wrong: int) -> list[dict[str, Any]]:
    return [{"id": f"d{at}", "kind": "one", "n": at + 100 * (at < wrong)} for at in range(DOCUMENTS)]


@pytest.mark.parametrize("order", list(permutations(WRONG)), ids="-".join)
def test_a_system_has_its_own_numbers_in_every_table(
    browser: Browser, tmp_path: Path, order: tuple[str, ...]
) -> None:
    predictions = {name: _records(WRONG[name]) for name in order}
    file = tmp_path / "report.html"
    page = fa.report(score(_records(0), predictions, SPEC, ScoreOptions(replicates=100)))
    file.write_text(page, encoding="utf-8", newline="\n")
    values = {name: f"{100 * (1 - wrong / DOCUMENTS / 2):.1f}%" for name, wrong in WRONG.items()}
    with OpenReport.opened(browser, file) as report:
        ranking = report.page.locator(".ranking tbody tr")
        assert [row.split("\t")[1].strip() for row in ranking.all_inner_texts()] == list(WRONG)
        assert report.page.locator(".ranking b.number").all_inner_texts() == list(values.values())
        report.show("systems")
        table = report.page.get_by_role("region", name="All systems").locator("tbody tr")
        found = {
            row.locator("th").inner_text(): row.locator("td .number").first.inner_text()
            for row in table.all()
        }
        assert found == values
        report.page.locator("summary", has_text="Numbers").click()
        slices = report.page.get_by_role("region", name="accuracy by type")
        names = slices.locator("thead th bdi").all_inner_texts()
        assert dict(zip(names, slices.locator("tbody .number").all_inner_texts(), strict=True)) == values
