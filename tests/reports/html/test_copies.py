"""What a reader takes along: tables as Markdown, charts as pictures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

from fieldassay.io.text.shown import escape_markdown

if TYPE_CHECKING:
    from playwright.sync_api import Page

SYSTEMS = ("atlas", "birch", "cedar")


@pytest.fixture
def copying(demo: OpenReport) -> Iterator[OpenReport]:
    demo.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    yield demo
    demo.page.context.clear_permissions()
    assert demo.complaints == []
    assert demo.outside() == []


def copied(page: Page, title: str) -> list[list[str]]:
    """Return the cells of a table that is copied by its button."""
    button = page.get_by_role("button", name=f"Copy as Markdown: {title}", exact=True)
    button.click()
    page.locator("[role=status]", has_text="Copied").wait_for()
    text = page.evaluate("navigator.clipboard.readText()")
    assert text.endswith("|\n")
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in text.splitlines()]


def test_the_ranking_is_copied_as_markdown(copying: OpenReport) -> None:
    head, rule, *rows = copied(copying.page, "All systems, the best first")
    assert head[:4] == ["place", "system", "verdict", "accuracy (gate 90.0%)"]
    assert rule[:3] == ["---"] * 3
    assert rule[-1] == "---:"
    assert [row[:3] for row in rows] == [
        ["1", "atlas", "GO 3/3"],
        ["2", "birch", "NO-GO 0/3"],
        ["3", "cedar", "NO-GO 0/3"],
    ]
    numbers = copying.page.locator(".ranking b.number").all_inner_texts()
    beside = copying.page.locator(".ranking td.axis .interval").all_inner_texts()
    assert [row[3] for row in rows] == [
        f"{one} ({other})" for one, other in zip(numbers, beside, strict=True)
    ]
    assert "points" in rows[1][3]


def test_fields_are_copied_without_what_is_open_below_them(copying: OpenReport) -> None:
    copying.show("fields?field=total_amount")
    head, _, *rows = copied(copying.page, "Fields by systems")
    assert head == ["field", *SYSTEMS, "what is wrong"]
    assert len(rows) == copying.page.locator("#field-rows tr[data-row]").count()
    (total,) = (row for row in rows if row[0].startswith("total\\_amount"))
    assert "n 52)" in total[1]
    assert "separator 4" in total[-1]


@pytest.mark.parametrize(
    ("view", "title"),
    [
        ("systems", "All systems"),
        ("systems", "accuracy by type"),
        ("gates", "Gates of atlas"),
        ("fields?field=total_amount", "Kinds of wrong"),
        ("fields?field=total_amount", "Numbers of total_amount"),
        ("fields?field=document_type", "Gold against prediction"),
        ("systems", "accuracy against cost"),
    ],
)
def test_every_table_can_be_copied(copying: OpenReport, view: str, title: str) -> None:
    copying.show(view)
    copying.page.evaluate(
        "document.querySelectorAll('[data-view]:not([hidden]) details').forEach(d => { d.open = true })"
    )
    head, rule, *rows = copied(copying.page, title)
    assert rows
    assert {len(row) for row in (head, rule, *rows)} == {len(head)}


def test_names_stay_names_in_markdown(pages: Pages, hostile_report: Path) -> None:
    report = pages(hostile_report)
    report.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    text = "\n".join(" | ".join(row) for row in copied(report.page, "All systems, the best first"))
    assert "<" not in text
    assert escape_markdown("<img src=x onerror=window.hacked=3>") in text
    assert "\u202e" not in text


def save(page: Page, figure: str, kind: str, folder: Path) -> Path:
    """Return the picture that a chart's button saves."""
    with page.expect_download() as waiting:
        page.locator(f"{figure} button", has_text=kind).click()
    file = folder / waiting.value.suggested_filename
    assert file.suffix == f".{kind.lower()}"
    waiting.value.save_as(file)
    return file


CHARTS = {
    "ranking": ("summary", "#ranking-tools", "accuracy, with intervals"),
    "differences": ("systems", '[data-chart="forest"]', "accuracy: difference to atlas"),
    "slices": ("systems", '[data-chart="slices"]', "accuracy by type"),
    "cost": ("systems", '[data-chart="cost"]', "accuracy against cost"),
    "reliability": ("confidence", '[data-chart="reliability"]', "Confidence, and how often"),
}


@pytest.mark.parametrize(("view", "figure", "title"), CHARTS.values(), ids=CHARTS)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_is_saved_as_svg_with_its_title(
    pages: Pages, demo_report: Path, tmp_path: Path, view: str, figure: str, title: str, theme: str
) -> None:
    report = pages(demo_report, theme=theme)
    report.show(view)
    drawing = ElementTree.parse(save(report.page, figure, "SVG", tmp_path)).getroot()
    words = " ".join("".join(text.itertext()) for text in drawing.iter("{http://www.w3.org/2000/svg}text"))
    assert title in words
    assert set(SYSTEMS[1:]) <= set(words.split())
    fills = [rect.get("fill") for rect in drawing.iter("{http://www.w3.org/2000/svg}rect")]
    assert fills[0] == {"light": "#ffffff", "dark": "#1c1e20"}[theme]
    assert report.complaints == []
    assert report.outside() == []


@pytest.mark.parametrize(("view", "figure", "title"), CHARTS.values(), ids=CHARTS)
def test_a_chart_is_saved_as_png(
    demo: OpenReport, tmp_path: Path, view: str, figure: str, title: str
) -> None:
    demo.show(view)
    data = save(demo.page, figure, "PNG", tmp_path).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert width >= 1200
    assert height >= 200
    assert demo.complaints == []
    assert demo.outside() == []
