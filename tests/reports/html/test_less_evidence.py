"""Reports of runs that kept errors only, and of a run without its table of documents: no unknowns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

import fieldassay as fa
from fieldassay.commands.cli.main import main
from fieldassay.errors import ProblemsError

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def _run(folder: Path, wrong: int) -> Path:
    """Return a run of a field that is always right and one that is not, with errors only."""
    gold = [{"id": f"d{at}", "n": at + 1, "name": "stone", "kind": "a"} for at in range(8)]
    pred = [{**one, "n": wrong, "kind": "b"} if at < 3 else one for at, one in enumerate(gold)]
    for name, records in {"gold": gold, "pred": pred}.items():
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in records), encoding="utf-8"
        )
    (folder / "spec.yaml").write_text(
        "fields: {name: text, n: number, kind: {type: enum, values: [a, b]}}\n", encoding="utf-8"
    )
    files = {"--spec": "spec.yaml", "--gold": "gold.jsonl", "--pred": "pred.jsonl", "--out": "run"}
    given = [part for name, file in files.items() for part in (name, str(folder / file))]
    assert main(["score", *given, "--evidence", "errors", "--quiet"]) == 0
    return folder / "run"


@pytest.fixture(scope="module")
def report_of_errors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("errors")
    fa.report([_run(folder, 77)], "html", folder / "report.html")
    return folder / "report.html"


def test_a_field_without_errors_is_listed(pages: Pages, report_of_errors: Path) -> None:
    report = pages(report_of_errors)
    report.show("fields")
    rows = report.page.locator("#field-rows > tbody > tr")
    names = rows.locator("th bdi").all_inner_texts()
    values = rows.locator("td > .number").all_inner_texts()
    assert list(zip(names, values, strict=True)) == [
        ("n", "62.5%"),
        ("kind", "62.5%"),
        ("name", "100.0%"),
    ]


@pytest.mark.parametrize(
    ("field", "selector", "said"),
    [
        ("n", '[data-chart="residuals"] figcaption', "How far off numbers are that differ"),
        ("kind", "#field-detail h2:has(+ .bar-of-tools)", "Gold against prediction, wrong values only"),
    ],
)
def test_what_is_made_of_errors_only_says_so(
    pages: Pages, report_of_errors: Path, field: str, selector: str, said: str
) -> None:
    report = pages(report_of_errors)
    report.show(f"fields?field={field}")
    assert report.text(selector) == said


def test_no_point_is_drawn_that_is_not_there(browser: Browser, tmp_path: Path) -> None:
    fa.report([_run(tmp_path, -5)], "html", tmp_path / "report.html")
    with OpenReport.opened(browser, tmp_path / "report.html") as report:
        report.show("fields?field=n")
        assert "3 not drawn" in report.text('[data-chart="residuals"] figcaption')
        assert report.page.locator('[data-chart="residuals"] .plot svg').count() == 0
        assert report.complaints == []


def test_a_run_without_its_documents_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    run = _run(tmp_path, 77)
    (run / "documents.parquet").unlink()
    with pytest.raises(ProblemsError, match="score again") as raised:
        fa.report([run], "html", tmp_path / "report.html")
    assert raised.value.problems[0].kind == "damaged_run"
    assert not (tmp_path / "report.html").exists()
