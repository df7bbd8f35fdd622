"""Reports of odd shapes: twenty systems with long names, and one document without intervals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.reports.html.opened_report import Pages

import fieldassay as fa
from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions

NAMES = [
    f"vendor/a-large-model-20250514-prompt-v{at}-few-shot-with-tables-{'abcdefghijklmnopqrst'[at]}"
    for at in range(20)
]
SPEC: dict[str, Any] = {"gates": ["accuracy >= 0.6"], "fields": {"total": "number"}}


def _records(documents: int, wrong: int) -> list[dict[str, Any]]:
    beside = {"usage": {"cost_usd": 0.002}, "timing": {"duration_ms": 800}}
    return [{"id": str(at), "total": at + (at < wrong), **beside} for at in range(documents)]


def _write(folder: Path, documents: int, systems: list[str]) -> Path:
    predictions = {name: _records(documents, at) for at, name in enumerate(systems)}
    options = ScoreOptions(replicates=50 if documents > 1 else 0)
    file = folder / "report.html"
    page = fa.report(score(_records(documents, 0), predictions, SPEC, options))
    file.write_text(page, encoding="utf-8", newline="\n")
    return file


@pytest.fixture(scope="module")
def twenty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("twenty"), 25, NAMES)


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _write(tmp_path_factory.mktemp("single"), 1, ["one"])


@pytest.mark.parametrize(("view", "table"), [("summary", ".ranking"), ("systems", "#systems table")])
def test_long_names_have_room_for_their_parts(pages: Pages, twenty: Path, view: str, table: str) -> None:
    report = pages(twenty)
    report.show(view)
    heads = report.page.locator(table).first.locator("tbody th")
    boxes = heads.evaluate_all("all => all.map(one => one.getBoundingClientRect())")
    assert len(boxes) == 20
    assert min(box["width"] for box in boxes) >= 180
    assert report.overflow() <= 0


def test_the_answer_counts_names_that_are_longer_than_it(pages: Pages, twenty: Path) -> None:
    report = pages(twenty)
    assert "or 10 others: all 11 pass all gates" in report.text("#recommendation p")


def test_systems_are_told_apart_in_the_list_of_errors(pages: Pages, twenty: Path) -> None:
    report = pages(twenty)
    report.show("errors")
    place = report.page.locator("#errors-grid .head .cell").all_inner_texts().index("system")
    cells = report.page.locator(f"#errors-grid .row .cell:nth-child({place + 1}) bdi")
    shown = cells.evaluate_all("all => all.map(one => [one.title, one.textContent])")
    assert len(shown) > 10
    assert len({text for _, text in shown}) == len({title for title, _ in shown})
    assert max(len(text) for _, text in shown) <= 16
    hidden = "all => all.filter(one => one.parentElement.scrollWidth > one.parentElement.clientWidth).length"
    assert cells.evaluate_all(hidden) == 0


@pytest.mark.parametrize("view", ["summary", "systems", "fields", "errors", "gates"])
def test_twenty_systems_fit_on_paper(pages: Pages, twenty: Path, view: str) -> None:
    report = pages(twenty)
    report.show(view)
    report.page.emulate_media(media="print")
    report.page.set_viewport_size({"width": 720, "height": 1000})
    assert report.overflow() <= 2


def test_names_do_not_lie_on_each_other_on_a_phone(pages: Pages, twenty: Path) -> None:
    report = pages(twenty, width=390)
    report.show("fields")
    sizes = report.page.locator("#field-rows tr[data-row] > td[data-label]").evaluate_all(
        "all => all.map(one => [one.scrollHeight, one.clientHeight])"
    )
    assert len(sizes) > 20
    assert all(inner <= outer + 1 for inner, outer in sizes)
    places = report.page.locator(".ranking td:first-child")
    report.show("summary")
    assert max(places.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")) < 40


@pytest.mark.parametrize("chart", ["cost", "latency"])
def test_no_axis_has_a_single_tick(pages: Pages, single: Path, chart: str) -> None:
    report = pages(single)
    report.show("systems")
    axes = report.page.locator(f'[data-chart="{chart}"] .plot svg .role-axis:has(.role-axis-tick)')
    axes.first.wait_for(state="attached")
    numbers = [
        [float(text.replace("−", "-")) for text in axis.locator(".role-axis-label text").all_text_contents()]
        for axis in axes.all()
    ]
    assert numbers
    assert all(len(labels) > 2 for labels in numbers)
    assert all(len({round(two - one, 6) for one, two in pairwise(labels)}) == 1 for labels in numbers)
    assert report.complaints == []
