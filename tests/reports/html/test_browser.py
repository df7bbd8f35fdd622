"""The report in a real browser: complete without the network, every page reachable, by keyboard too."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
from tests.effort import is_full
from tests.reports.html.hostile_records import IDS, SYSTEMS
from tests.reports.html.opened_report import OpenReport, Pages

VIEWS = (
    "summary",
    "systems",
    "fields?field=subtotal",
    "fields?field=currency",
    "documents",
    "documents?doc=rcp-018",
    "gates",
    "methods?metric=f1",
    "errors?system=birch&group=diagnosis",
)


def test_no_view_makes_a_request_or_a_complaint(demo: OpenReport) -> None:
    for view in VIEWS:
        demo.show(view)
    assert demo.outside() == []
    assert demo.complaints == []


@pytest.mark.parametrize(
    ("view", "selector", "words"),
    [
        ("summary", ".verdict", "Use atlas: only it passes all 3 gates"),
        ("summary", ".findings", "birch is worse than atlas by 15.0 points of accuracy (95% CI"),
        ("summary", ".fixes", "points of accuracy (95% CI"),
        ("systems", '[data-view="systems"] table', "94.9%"),
        ("systems", '[data-view="systems"] table', "4.0 s"),
        ("systems", '[data-view="systems"] table', "$7.81"),
        ("systems", '[data-chart="forest"]', "difference to atlas"),
        ("fields", "#field-rows", "total_amount"),
        ("fields?field=currency", "#field-detail", "Gold against prediction"),
        ("documents", "#documents-grid", "stm-013"),
        ("documents?doc=rcp-018", "#document-one", "two digits are swapped"),
        ("gates", '[data-view="gates"]', "critical_accuracy >= 0.93"),
        ("gates", '[data-view="gates"]', "accuracy, cautious value"),
        ("gates", '[data-view="gates"]', "75.1%, needs at least 90%"),
        ("methods", '[data-view="methods"]', "harmonic mean"),
    ],
)
def test_each_page_shows_the_run(demo: OpenReport, view: str, selector: str, words: str) -> None:
    demo.show(view)
    assert words in demo.text(selector)


@pytest.mark.parametrize(
    ("view", "chart"),
    [
        ("systems", "forest"),
        ("systems", "cost"),
        ("systems", "latency"),
        ("fields?field=subtotal", "residuals"),
    ],
)
def test_charts_are_drawn(demo: OpenReport, view: str, chart: str) -> None:
    demo.show(view)
    drawing = demo.page.locator(f'[data-chart="{chart}"] .plot svg')
    drawing.wait_for()
    assert drawing.locator("path").count() > 3


def test_a_mark_of_a_chart_says_its_numbers(demo: OpenReport) -> None:
    demo.show("systems")
    demo.page.locator('[data-chart="cost"] .plot svg path[aria-label]').first.wait_for()
    demo.page.locator('[data-chart="cost"] .mark-symbol path').first.hover()
    assert "cost of 1,000 documents" in demo.text(".tip")


def test_the_table_behind_a_chart_is_a_csv_file(demo: OpenReport, tmp_path: Path) -> None:
    demo.show("systems")
    with demo.page.expect_download() as waiting:
        demo.page.locator('[data-chart="forest"] .chart-tools > button', has_text="CSV").click()
    waiting.value.save_as(tmp_path / "rows.csv")
    lines = (tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("metric,slice,group,reference,system,difference,low,high,p_adjusted,")
    assert [line.split(",")[4] for line in lines[1:]] == ["birch", "cedar"]
    assert demo.outside() == []


@pytest.mark.parametrize("width", [390, 1280])
def test_no_page_scrolls_sideways(pages: Pages, demo_report: Path, width: int) -> None:
    report = pages(demo_report, width=width)
    for view in (*VIEWS, "confidence"):
        report.show(view)
        assert report.overflow() <= 0, view
    assert report.complaints == []


@pytest.mark.parametrize(
    ("width", "theme", "rules"),
    [
        pytest.param(1280, "light", (), id="light"),
        pytest.param(1280, "dark", ("color-contrast",), id="dark", marks=pytest.mark.full),
        pytest.param(390, "light", (), id="phone", marks=pytest.mark.full),
    ],
)
def test_axe_finds_nothing(
    pages: Pages, demo_report: Path, width: int, theme: str, rules: tuple[str, ...]
) -> None:
    report = pages(demo_report, width, theme)
    found = []
    for view in [*VIEWS][:: 1 if is_full() else 2]:
        report.show(view)
        found += [f"{view}: {line}" for line in report.check_access(rules)]
    assert found == []


def test_keys_lead_through_the_report(demo: OpenReport) -> None:
    page = demo.page
    page.keyboard.press("5")
    demo.wait("documents")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.evaluate("delete document.documentElement.dataset.painted")
    page.keyboard.press("Enter")
    demo.wait("documents")
    assert "#documents?doc=stm-013" in page.url
    page.keyboard.press("Escape")
    page.locator("#search").wait_for(state="visible")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    assert page.evaluate("document.activeElement.closest('#filters') !== null")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert "next row" in demo.text("#help-box")
    page.locator("#help-box button").click()
    assert page.locator("#help-box").is_hidden()
    assert demo.complaints == []


def test_the_search_and_the_filters_are_in_the_address(demo: OpenReport) -> None:
    demo.show("documents")
    demo.page.locator("#search").fill("inv-02")
    demo.page.locator("#filter-diagnosis").select_option("separator")
    demo.page.locator("#documents-count", has_text="of 72").wait_for()
    address = demo.page.url
    assert "q=inv-02" in address
    assert "diagnosis=separator" in address
    shown = demo.text("#documents-count")
    demo.page.reload()
    demo.wait("documents")
    assert demo.text("#documents-count") == shown
    assert demo.page.locator("#search").input_value() == "inv-02"


def test_documents_are_found_by_what_became_of_their_answers(demo: OpenReport) -> None:
    demo.show("documents?answer=is_timeout")
    demo.page.locator("#documents-count", has_text="2 of 72").wait_for()
    assert demo.page.locator("#filter-answer").input_value() == "is_timeout"
    demo.page.locator("#documents-grid [role=row] a").first.click()
    demo.page.locator("#document-one .failed-answer", has_text="timeout after 30 s").wait_for()


def test_a_failed_answer_in_the_list_says_whose_it_is(demo: OpenReport) -> None:
    demo.show("documents?q=stm-013")
    assert demo.text("#documents-grid .row .few") == "cedar: timeout"


def test_an_example_leads_to_its_value(demo: OpenReport) -> None:
    demo.show("summary")
    link = demo.page.locator('a[href^="#documents?doc="][href*="field="]').first
    (path,) = parse_qs((link.get_attribute("href") or "").partition("?")[2])["field"]
    link.click()
    marked = demo.page.locator("#document-one .at[data-row]").first
    marked.wait_for()
    assert marked.get_attribute("data-row") == path


def test_the_theme_is_kept(demo: OpenReport) -> None:
    demo.page.locator("#theme").click()
    demo.page.reload()
    demo.wait("summary")
    assert demo.page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_moved_items_are_drawn_to_their_partners(demo: OpenReport) -> None:
    demo.show("documents?doc=rcp-018")
    birch = demo.page.locator(".align figure", has_text="birch: 4 of 4 gold items paired").first
    titles = birch.locator("path title")
    assert titles.nth(0).text_content() == "gold item 1, predicted item 3: similarity 1.00"


HOSTILE = (
    "summary",
    "systems",
    "gates",
    "methods",
    *(f"fields?field={name}" for name in ("note", "__proto__", "constructor")),
)


def test_hostile_documents_and_names_are_text(pages: Pages, hostile_report: Path) -> None:
    report = pages(hostile_report)
    for view in (*HOSTILE, *(f"documents?{urlencode({'doc': doc})}" for doc in IDS)):
        report.show(view)
        if view.startswith("documents"):
            report.page.locator("#document-one .tree").first.wait_for()
        assert report.page.evaluate("window.hacked") is None, view
        assert report.page.locator("main img, main script").count() == 0, view
    assert report.complaints == []
    assert report.outside() == []


def test_no_cell_of_a_csv_file_is_a_formula(pages: Pages, hostile_report: Path, tmp_path: Path) -> None:
    report = pages(hostile_report)
    report.show("fields")
    with report.page.expect_download() as waiting:
        report.page.locator("#fields-csv").click()
    waiting.value.save_as(tmp_path / "fields.csv")
    text = (tmp_path / "fields.csv").read_text(encoding="utf-8-sig")
    assert f"'{SYSTEMS[2]}" in text
    assert f",{SYSTEMS[2]}" not in text


def test_what_cannot_be_seen_is_shown(pages: Pages, hostile_report: Path) -> None:
    report = pages(hostile_report)
    report.show(f"documents?{urlencode({'doc': '=cmd|calc'})}")
    assert report.page.locator("#document-one .tree").first.is_visible()
    assert report.page.locator('#document-one .hidden-char[title="U+202E"]').count() > 0
    assert "\u202e" not in report.text("#document-one")


@pytest.mark.parametrize(
    "view", ["summary", "systems", "fields?field=subtotal", "documents?doc=rcp-018", "gates"]
)
def test_nothing_is_cut_off_on_paper(demo: OpenReport, view: str) -> None:
    demo.show(view)
    demo.page.emulate_media(media="print")
    styles = demo.page.locator("main section:not([hidden]) .plot svg").evaluate_all(
        "all => all.map(one => getComputedStyle(one).maxWidth)"
    )
    assert set(styles) <= {"100%"}
    demo.page.set_viewport_size({"width": 700, "height": 900})
    demo.page.wait_for_timeout(300)
    cut = """boxes => boxes
        .map(box => [box.className.baseVal ?? box.className, box.getBoundingClientRect().right])
        .filter(([, right]) => right > 702)"""
    assert (
        demo.page.locator("main section:not([hidden]) :is(.plot svg, .tree table, .ranking td)").evaluate_all(
            cut
        )
        == []
    )
