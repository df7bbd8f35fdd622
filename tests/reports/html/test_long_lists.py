"""Long and nested lists of one document: drawn in part, counted in full, each in its own place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

import fieldassay as fa
from fieldassay import score
from fieldassay.scoring.inputs.options import ScoreOptions

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LENGTH = 700
_TEXTS = {"type": "list", "align": "assignment", "items": "text"}
_OBJECTS = {
    "type": "list",
    "align": "assignment",
    "items": {"type": "object", "fields": {"name": "text", "parts": _TEXTS}},
}
SPEC: dict[str, Any] = {
    "fieldassay": 1,
    "name": "lists",
    "fields": {"objects": _OBJECTS, "long": {"type": "list", "items": "text"}},
}
GOLD = {"objects": [{"name": "first", "parts": ["aa", "bb"]}, {"name": "second", "parts": ["cc", "dd"]}]}
PREDICTED = {
    "objects": [{"name": "second", "parts": ["dd", "cc", "zz"]}, {"name": "first", "parts": ["aa", "bb"]}]
}


@pytest.fixture(scope="module")
def list_report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    gold = [{"id": "d", **GOLD, "long": [f"item {at}" for at in range(LENGTH)]}]
    predicted = [{"id": "d", **PREDICTED, "long": [f"item {at}" for at in range(LENGTH - 1)]}]
    file = tmp_path_factory.mktemp("lists") / "report.html"
    file.write_text(
        fa.report(score(gold, {"one": predicted}, SPEC, ScoreOptions(replicates=0))),
        encoding="utf-8",
        newline="\n",
    )
    return file


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("objects", "one: 2 of 2 gold items paired, 0 missing, 0 spurious"),
        ("objects[0].parts", "one: 2 of 2 gold items paired, 0 missing, 0 spurious"),
        ("objects[1].parts", "one: 2 of 2 gold items paired, 0 missing, 1 spurious"),
        (
            "long",
            f"one: {LENGTH - 1} of {LENGTH} gold items paired, 1 missing, 0 spurious; the first 60 of each "
            "side are drawn",
        ),
    ],
)
def test_each_list_is_counted_in_full(pages: Pages, list_report: Path, name: str, said: str) -> None:
    report = pages(list_report)
    report.show("documents?doc=d&only=all")
    box = (
        report.page.locator("#document-one details")
        .filter(has=report.page.get_by_text(f"How the items of {name} were paired", exact=True))
        .filter(has_text=said)
    )
    box.locator("summary").click()
    assert box.locator("figcaption").first.inner_text() == said


def test_items_of_a_list_that_moved_say_their_own_words(pages: Pages, list_report: Path) -> None:
    report = pages(list_report)
    report.show("documents?doc=d&only=all")
    drawing = report.page.locator("#document-one details", has_text="1 spurious").locator("svg").first
    words = [text.split()[-1] for text in drawing.locator("g text").all_text_contents()]
    assert words == ["cc", "dd", "dd", "cc", "zz"]


def test_a_long_document_is_shown_in_part_until_asked_for(pages: Pages, list_report: Path) -> None:
    report = pages(list_report)
    report.show("documents?doc=d&only=all")
    rows = report.page.locator("#document-one tbody tr")
    assert rows.count() == 500
    report.page.get_by_role("button", name="Show all").click()
    rows.nth(LENGTH).wait_for()
    assert "rows=all" in report.page.url


def test_a_score_reads_as_one_only_if_it_is(browser: Browser, tmp_path: Path) -> None:
    spec = {"fields": {"t": {"type": "text", "compare": "levenshtein", "accept": 1.0}}}
    result = score(
        [{"id": "d", "t": "a" * 250}],
        {"one": [{"id": "d", "t": "a" * 249 + "b"}]},
        spec,
        ScoreOptions(replicates=0),
    )
    (tmp_path / "report.html").write_text(fa.report(result), encoding="utf-8", newline="\n")
    with OpenReport.opened(browser, tmp_path / "report.html") as report:
        report.show("documents?doc=d&only=all")
        assert "score 0.99…" in report.text("main")
