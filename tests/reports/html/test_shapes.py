"""Results of odd shapes and sizes in the HTML report."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.reports.html.opened_report import OpenReport, Pages

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main

# Reports of odd shapes: twenty systems with long names, and one document without intervals

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
    options = {"bootstrap": 50 if documents > 1 else 0}
    file = folder / "report.html"
    page = fa.report(score(_records(documents, 0), predictions, SPEC, **options))
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


# Long and nested lists of one document: drawn in part, counted in full, each in its own place

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LENGTH = 700
_TEXTS = {"type": "list", "align": "assignment", "items": "text"}
_OBJECTS = {
    "type": "list",
    "align": "assignment",
    "items": {"type": "object", "fields": {"name": "text", "parts": _TEXTS}},
}
LONG_LISTS_SPEC: dict[str, Any] = {
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
        fa.report(score(gold, {"one": predicted}, LONG_LISTS_SPEC, bootstrap=0)),
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
        [{"id": "d", "t": "a" * 250}], {"one": [{"id": "d", "t": "a" * 249 + "b"}]}, spec, bootstrap=0
    )
    (tmp_path / "report.html").write_text(fa.report(result), encoding="utf-8", newline="\n")
    with OpenReport.opened(browser, tmp_path / "report.html") as report:
        report.show("documents?doc=d&only=all")
        assert "score 0.99…" in report.text("main")


# Keys and state: rows by arrows and by Tab, the search by Enter, Back to the row that was left

FOCUSED = "document.activeElement.textContent"


@pytest.mark.parametrize(("down", "up"), [("j", "k"), ("ArrowDown", "ArrowUp")])
def test_keys_go_from_row_to_row(demo: OpenReport, down: str, up: str) -> None:
    demo.show("documents")
    for key in (down, down, down, up):
        demo.page.keyboard.press(key)
    assert demo.page.locator("#documents-grid .row.at").get_attribute("aria-rowindex") == "3"
    assert demo.page.evaluate(FOCUSED) == "inv-019"


def test_rows_are_reached_by_tab(demo: OpenReport) -> None:
    demo.show("documents")
    demo.page.locator("#documents-grid .head button").last.focus()
    seen = []
    for _ in range(20):
        demo.page.keyboard.press("Tab")
        seen.append(demo.page.evaluate(FOCUSED))
    assert seen[0] == "stm-013"
    assert len(set(seen)) == 20


@pytest.mark.parametrize(
    ("view", "search", "query"), [("documents", "#search", "inv-012"), ("errors", "#error-search", "1,25774")]
)
def test_enter_in_the_search_opens_the_first_hit(
    demo: OpenReport, view: str, search: str, query: str
) -> None:
    demo.show(view)
    demo.page.locator(search).fill(query)
    demo.page.wait_for_url(lambda address: "q=" in address)
    demo.page.locator(search).press("Enter")
    demo.page.wait_for_url(lambda address: "doc=inv-012" in address)


@pytest.mark.parametrize("key", ["Escape", "Back"])
def test_back_from_a_document_leads_to_its_row(demo: OpenReport, key: str) -> None:
    demo.show("documents")
    demo.page.evaluate("window.scrollTo(0, 900)")
    row = demo.page.locator("#documents-grid .row", has_text="inv-006").first
    row.wait_for()
    before = demo.page.evaluate("window.scrollY")
    row.locator("a").click()
    demo.page.locator("#document-one h1", has_text="inv-006").wait_for()
    length = demo.page.evaluate("history.length")
    if key == "Back":
        demo.page.go_back()
    else:
        demo.page.keyboard.press("Escape")
    demo.page.locator("#documents-grid .row.at", has_text="inv-006").wait_for()
    assert abs(demo.page.evaluate("window.scrollY") - before) < 5
    assert demo.page.evaluate("history.length") == length


def test_an_empty_result_says_which_filter_to_clear(demo: OpenReport) -> None:
    demo.show("documents?field=total_amount&system=cedar&diagnosis=case_only")
    hint = demo.page.locator("#documents-count button", has_text="Clear “case only”")
    count = hint.inner_text().partition(": ")[2].split()[0]
    hint.click()
    demo.page.locator("#documents-count", has_text=f"{count} of 72").wait_for()


def test_filters_say_how_many_documents_they_leave(demo: OpenReport) -> None:
    demo.show("documents?system=birch")
    options = demo.page.locator("#filter-diagnosis option")
    chosen = options.filter(has_text="decimal point moved")
    count = int(chosen.inner_text().rpartition("(")[2].rstrip(")"))
    demo.page.locator("#filter-diagnosis").select_option("separator")
    demo.page.locator("#documents-count", has_text=f"{count} of 72").wait_for()


# The report of a run against an earlier one: what was fixed, what broke, what is still wrong

CHANGES_GOLD = [{"id": str(number), "total": number, "shop": f"Shop {number}"} for number in range(12)]
OLD = [{**row, "total": 99} if number < 6 else row for number, row in enumerate(CHANGES_GOLD)]
NEW = [{**row, "total": 98} if number < 2 else row for number, row in enumerate(CHANGES_GOLD)]
NEW[11] = {**CHANGES_GOLD[11], "shop": "Shop 1l"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return an earlier run and a later one that fixed four values, broke one, and left two wrong."""
    folder = tmp_path_factory.mktemp("runs")
    spec = "{name: bills, fields: {total: number, shop: text}}"
    for name, rows in (("old", OLD), ("new", NEW)):
        score(CHANGES_GOLD, {"model": rows}, spec, bootstrap=100).save(folder / name)
    return folder / "old", folder / "new"


@pytest.fixture(scope="module", params=["report", "diff"])
def page(
    request: pytest.FixtureRequest, runs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the page, as `report --against` and as `diff` write it."""
    old, new = map(str, runs)
    out = tmp_path_factory.mktemp("pages") / f"{request.param}.html"
    words = {"report": ["report", new, "--against", old], "diff": ["diff", old, new]}[request.param]
    assert main([*words, "--out", str(out)]) == 0
    return out


def test_the_first_page_says_whether_the_change_helped(pages: Pages, page: Path) -> None:
    report = pages(page)
    said = report.text("#summary .change")
    assert "4 values fixed, 1 broken, 2 wrong in both" in said
    assert "better" in said or "no clear difference" in said
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
