"""The page of systems: a reference of one's choice, labels that can be read, and no interval without a reason."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from tests.reports.html.opened_report import Pages
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions

NAMES = (
    "gpt-4.1-mini", "claude-sonnet-4-20250514", "claude-haiku", "gemini-2.5-flash-lite",
    "llama-3.3-70b-instruct", "qwen2.5-vl-72b", "mistral-ocr-latest", "nova-pro",
)  # fmt: skip
DOCUMENTS = 30
GOLD = [{"id": str(at), "total": at} for at in range(DOCUMENTS)]


def _predict(number: int) -> list[dict[str, Any]]:
    cost = {"usage": {"cost_usd": 0.001 + 0.0002 * number}, "timing": {"duration_ms": 100 + number}}
    return [{"id": str(at), "total": at + (at < number), **cost} for at in range(DOCUMENTS)]


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("eight") / "report.html"
    predictions = {name: _predict(at) for at, name in enumerate(NAMES)}
    result = score(GOLD, predictions, "fields: {total: number}", ScoreOptions(replicates=100))
    file.write_text(fa.report(result), encoding="utf-8", newline="\n")
    return file


def test_differences_to_every_system_are_those_of_the_ranking(eight: Path) -> None:
    rows = read_blocks(eight.read_text(encoding="utf-8"))["systems"]["differences"]
    found = {(row["reference"], row["system"]): row for row in rows if row["metric"] == "accuracy"}
    assert len(found) == len(NAMES) * (len(NAMES) - 1)
    for one, other in combinations(NAMES, 2):
        there, back = found[one, other], found[other, one]
        assert there["difference"] == -back["difference"]
        assert there["p"] == back["p"]
        wrong = (NAMES.index(other) - NAMES.index(one)) / DOCUMENTS
        assert there["difference"] == pytest.approx(-wrong)


def test_the_reference_can_be_chosen(pages: Pages, eight: Path) -> None:
    report = pages(eight)
    report.show("systems")
    assert not report.page.locator("#forest-bare").is_visible()
    report.page.locator("#forest-reference").select_option("nova-pro")
    report.page.locator('[data-chart="forest"] figcaption', has_text="difference to nova-pro").wait_for()
    assert report.page.locator("#forest-bare").is_visible()
    marks = report.page.locator('[data-chart="forest"] .plot .mark-symbol path')
    marks.nth(len(NAMES) - 2).wait_for(state="attached")
    assert report.complaints == []


def test_labels_of_costs_do_not_overlap(pages: Pages, eight: Path) -> None:
    report = pages(eight)
    report.show("systems")
    labels = report.page.locator('[data-chart="cost"] .plot .mark-text.role-mark text')
    labels.nth(len(NAMES) - 1).wait_for(state="attached")
    boxes = labels.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(b => [b.left, b.right, b.top, b.bottom])"
    )
    over = [
        (one, other)
        for one, other in combinations(boxes, 2)
        if one[0] < other[1] - 1 and other[0] < one[1] - 1 and one[2] < other[3] - 4 and other[2] < one[3] - 4
    ]
    assert over == []


def test_a_percentile_without_an_interval_says_why(eight: Path) -> None:
    assert "too few documents for an interval" in eight.read_text(encoding="utf-8")


def test_a_phone_shows_the_whole_row_of_a_system(pages: Pages, demo_report: Path) -> None:
    report = pages(demo_report, width=390, theme="dark")
    bars = report.page.locator(".ranking .whisker")
    ends = bars.evaluate_all("all => all.map(bar => bar.getBoundingClientRect().right)")
    assert ends
    assert max(ends) <= 390
    assert report.overflow() <= 0


@pytest.mark.full
def test_axe_finds_nothing_on_a_dark_phone(pages: Pages, demo_report: Path) -> None:
    assert pages(demo_report, width=390, theme="dark").check_access() == []
