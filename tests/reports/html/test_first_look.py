"""The HTML report at first look, printed, and with parts of pages."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest
from PIL import Image
from tests.documents.making import make_pdf, text
from tests.reports.html.large_run import make_source
from tests.reports.html.opened_report import OpenReport, Pages
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.documents.transcript import Box
from fieldassay.errors import ProblemsError
from fieldassay.reports.html.page import render_page
from fieldassay.reports.html.source import CropPlace, Crops, ReportSource
from fieldassay.runs.value_sources import ExtractedDocument

# The first questions of somebody who has never seen a report: each is answered within two clicks


def test_which_system_to_use_and_why_needs_no_click(demo: OpenReport) -> None:
    said = demo.text("#recommendation")
    assert said.startswith("Use atlas: only it passes all 3 gates")
    assert "atlas is best with 94.9%" in said and "ahead of birch by 15.0 points (p < .001)" in said


def test_all_misread_separators_of_a_system_need_two_clicks(demo: OpenReport, demo_report: Path) -> None:
    rows = pl.read_parquet(demo_report.parent / "run" / "evidence.parquet")
    wrong = rows.filter(
        (pl.col("kind") == "value")
        & (pl.col("system") == "birch")
        & (pl.col("diagnoses").list.first() == "separator")
    )
    demo.show("errors")
    demo.page.locator("#errors-facets .facet", has_text="birch").click()
    demo.page.locator("#errors-facets .facet", has_text="decimal point moved").click()
    demo.page.locator("#errors-count", has_text=f"{len(wrong)} of ").wait_for()


def test_why_an_answer_failed_needs_two_clicks(demo: OpenReport) -> None:
    demo.page.locator('.ranking a[href*="system=cedar"][href*="failed"]').click()
    demo.wait("documents")
    demo.page.locator("#documents-grid .row a", has_text="stm-013").first.click()
    demo.page.locator("#document-one .failed-answer", has_text="timeout after 30 s").wait_for()


# On paper: all rows or their number, the pages that a reader takes along, and no words that lead nowhere

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PRINT = (
    "void (window.print = () => { window.dispatchEvent(new Event('beforeprint'));"
    " document.documentElement.dataset.printed = true; })"
)
"""An expression whose value is a function would be called at once."""


def _print(report: OpenReport) -> None:
    report.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    report.page.emulate_media(media="print")


def test_documents_print_all_their_rows(demo: OpenReport) -> None:
    demo.show("documents")
    _print(demo)
    assert demo.page.locator("#documents-grid .row").count() == 72


def test_all_pages_are_printed_at_once(browser: Browser, demo_report: Path) -> None:
    with OpenReport.opened(browser, demo_report) as demo:
        demo.page.evaluate(PRINT)
        demo.page.locator("#print").click()
        demo.page.wait_for_selector("html[data-printed]")
        shown = "[...document.querySelectorAll('[data-view]')].filter(one => !one.hidden).map(one => one.id)"
        assert demo.page.evaluate(shown) == ["summary", "systems", "fields", "errors", "gates"]
        assert demo.page.locator("#errors-grid .row").count() == 20
        demo.page.emulate_media(media="print")
        demo.page.set_viewport_size({"width": 720, "height": 900})
        assert demo.page.locator(".fixes .example a, #print, .facets").locator("visible=true").count() == 0
        assert demo.overflow() <= 2
        demo.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        demo.page.wait_for_selector("[data-view=errors]", state="hidden")
        assert demo.page.evaluate(shown) == ["summary"]


# With the documents of its extractions, a page shows where wrong values were read

if TYPE_CHECKING:
    from playwright.sync_api import Browser

SPEC = "fieldassay: 1\nname: receipts\nfields: {total: {type: money, currency: EUR}}\n"


def call(*arguments: Any) -> None:
    assert main([str(argument) for argument in arguments]) == 0


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a folder with three documents, what `rules` extracted of them, and a run: two totals are wrong."""
    (tmp_path / "spec.yaml").write_text(SPEC)
    gold = [{"id": f"r{number}.pdf", "total": total} for number, total in ((1, 70), (2, 60), (3, 99))]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    docs = tmp_path / "docs & more"
    docs.mkdir()
    for number in (1, 2, 3):
        pages = [text(72, 100, "Corner Store"), text(72, 100, "Invoice") + text(72, 130, "Total 60.00")]
        (docs / f"r{number}.pdf").write_bytes(make_pdf(pages))
    call("extract", "--docs", docs, "--spec", tmp_path / "spec.yaml", "--out", tmp_path / "out", "--quiet")
    given = ("--spec", tmp_path / "spec.yaml", "--gold", tmp_path / "gold.jsonl")
    pred = f"rules={tmp_path / 'out'}"
    call("score", *given, "--pred", pred, "--bootstrap", 0, "--out", tmp_path / "run", "--quiet")
    return tmp_path


def crops_of(place: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the crops of a report with documents by document id, and its blocks."""
    page = place / "report.html"
    call("report", place / "run", "--out", page, "--documents", place / "docs & more")
    blocks = read_blocks(page.read_text(encoding="utf-8"))
    rows, ids = blocks["rows-0"], blocks["documents"]["ids"]
    column = rows["columns"].get("crop", -1)
    codes = column if isinstance(column, list) else [column] * rows["rows"]
    places = rows["columns"]["doc"]
    places = places if isinstance(places, list) else [places] * rows["rows"]
    held = blocks.get("crops-0", [])
    return {ids[at]: held[code] for at, code in zip(places, codes, strict=True) if code >= 0}, blocks


def test_a_wrong_value_has_a_picture_of_its_place_and_its_document_a_link_each_time(place: Path) -> None:
    crops_of(place)
    written = (place / "report.html").read_bytes()
    found, blocks = crops_of(place)
    assert (place / "report.html").read_bytes() == written
    assert sorted(found) == ["r1.pdf", "r3.pdf"]
    page, width, height, data = found["r1.pdf"]
    picture = Image.open(io.BytesIO(base64.b64decode(data)))
    assert page == 2 and picture.size == (width, height)
    assert 60 < width < 250 and picture.convert("L").getextrema()[0] < 100
    links = {blocks["documents"]["ids"][int(at)]: link for at, link in blocks["documents"]["links"].items()}
    assert links == {f"r{number}.pdf": f"./docs%20%26%20more/r{number}.pdf" for number in (1, 2, 3)}


def test_without_documents_the_page_has_neither_and_is_the_same_each_time(place: Path) -> None:
    pages = []
    for _ in range(2):
        call("report", place / "run", "--out", place / "report.html")
        pages.append((place / "report.html").read_bytes())
    blocks = read_blocks(pages[0].decode())
    assert pages[0] == pages[1]
    assert "links" not in blocks["documents"] and "crops-0" not in blocks
    assert "crop" not in blocks["rows-0"]["columns"]


def test_the_page_says_why_a_picture_is_missing(place: Path) -> None:
    docs = place / "docs & more"
    (docs / "r1.pdf").unlink()
    (docs / "r3.pdf").write_bytes(make_pdf([text(72, 100, "Another"), text(72, 130, "document")]))
    found, _ = crops_of(place)
    assert found["r1.pdf"] == f"the document is not in {docs}"
    assert found["r3.pdf"] == "the document has changed since it was extracted"


def test_documents_of_a_sweep_are_found_by_the_ids_of_gold(place: Path) -> None:
    (place / "nested" / "2025").mkdir(parents=True)
    for number in (1, 2, 3):
        data = (place / "docs & more" / f"r{number}.pdf").read_bytes()
        (place / "nested" / "2025" / f"r{number}.pdf").write_bytes(data + b"\n%% %d\n" % number)
        (place / "nested" / "2025" / f"r{number}.txt").write_text(f"another document {number}")
    gold = [{"id": f"2025/r{number}.pdf", "total": 70} for number in (1, 2, 3)]
    (place / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    given = ("--docs", place / "nested", "--spec", place / "spec.yaml", "--gold", place / "gold.jsonl")
    call("run", *given, "--out", place / "sweep", "--quiet", "--jobs", 0)
    found = ExtractedDocument("r2", place / "sweep" / "rules")
    with Crops(place / "nested", place) as pictures:
        [made] = pictures.make([CropPlace(found, 2, Box(72, 120, 130, 140))])
        assert isinstance(made, tuple), made
        assert pictures.link(["r2"]) is None  # two documents could be meant
        assert pictures.link(["r2.pdf"]) == "./nested/2025/r2.pdf"


def test_pictures_beyond_the_limit_of_bytes_are_left_out_and_said_to_be(place: Path) -> None:
    source = ExtractedDocument("r1.pdf", place / "out"), ExtractedDocument("r3.pdf", place / "out")
    places = [CropPlace(document, 2, Box(72, 120, 130, 140)) for document in source]
    with Crops(place / "docs & more", place) as whole:
        first, second = whole.make(places)
    assert isinstance(first, tuple) and isinstance(second, tuple)
    with Crops(place / "docs & more", place, len(base64.b64decode(first[3])) + 10) as bounded:
        kept, left_out = bounded.make(places)
        assert kept == first
        assert isinstance(left_out, str) and left_out.startswith(
            "left out: this file has reached its limit for pictures"
        )
        assert bounded.make(places) == [left_out, left_out]


def test_documents_go_with_a_page_only_and_are_there(place: Path) -> None:
    with pytest.raises(ProblemsError, match="choose the format html"):
        fa.report(place / "run", "markdown", documents=place / "docs & more")
    page = fa.report(place / "run", documents=place / "docs & more")
    assert "crops-0" in read_blocks(page)
    (place / "empty").mkdir()
    with pytest.raises(ProblemsError, match="holds no document"):
        fa.report(place / "run", documents=place / "empty")


def test_the_picture_is_seen_under_the_policy_of_the_page(place: Path, browser: Browser) -> None:
    crops_of(place)
    with OpenReport.opened(browser, place / "report.html") as opened:
        opened.show("documents?doc=r1.pdf")
        picture = opened.page.locator("img.crop")
        assert picture.evaluate("async image => { await image.decode(); return image.naturalWidth; }") > 40
        assert "page 2, “60.00”" in str(picture.get_attribute("alt"))
        link = opened.page.locator("a:has(img.crop)")
        assert link.get_attribute("href") == "./docs%20%26%20more/r1.pdf#page=2"
        assert opened.page.get_by_text("open the document").count() == 1
        assert opened.complaints == [] and opened.outside() == [] and opened.check_access() == []
        assert opened.overflow() <= 0


# The page of systems: labels that can be read, and no interval without a reason

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
    result = score(
        GOLD, predictions, "fields: {total: number}", bootstrap=100, metrics=("default", "latency")
    )
    file.write_text(fa.report(result), encoding="utf-8", newline="\n")
    return file


@pytest.mark.parametrize("name", ["demo_report", "eight"])
def test_a_phone_shows_the_whole_row_of_a_system(
    pages: Pages, request: pytest.FixtureRequest, name: str
) -> None:
    report = pages(request.getfixturevalue(name), width=390, theme="dark")
    bars = report.page.locator(".ranking .whisker")
    ends = bars.evaluate_all("all => all.map(bar => bar.getBoundingClientRect().right)")
    assert ends and max(ends) <= 390 and report.overflow() <= 0


@pytest.mark.full
def test_axe_finds_nothing_on_a_dark_phone(pages: Pages, demo_report: Path) -> None:
    assert pages(demo_report, width=390, theme="dark").check_access() == []


# A large run: the file stays small, opens at once, and shows only the rows in view

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIELDS = 20


class Size(NamedTuple):
    """A number of documents, the most bytes of their page, and the most loops that it may take for a view."""

    documents: int
    bytes: int
    loops: float


SIZES = [
    pytest.param(Size(1_000, 1_500_000, 4), id="1,000"),
    pytest.param(Size(10_000, 8_000_000, 20), id="10,000", marks=pytest.mark.full),
]


class Large(NamedTuple):
    """A report in a file, and how many values of `field_03` are wrong by `alder`."""

    file: Path
    size: Size
    wrong: int


@pytest.fixture(scope="module", params=SIZES)
def large(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Large:
    file = tmp_path_factory.mktemp("large") / "report.html"
    source = make_source(request.param.documents, FIELDS)
    _write(file, source)
    wrong = source.evidence.filter(field="field_03", system="alder", outcome="mismatch").collect()
    return Large(file, request.param, len(wrong))


def _write(file: Path, source: ReportSource) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as target:
        target.writelines(render_page(source))


def test_many_documents_stay_small(large: Large) -> None:
    assert large.file.stat().st_size < large.size.bytes


@pytest.mark.parametrize(
    "view", ["summary", "documents", "documents?doc=doc-000500", "fields?field=field_03"]
)
def test_many_documents_open_at_once(browser: Browser, large: Large, view: str) -> None:
    """In processor time of the page, as a multiple of that of a loop in it."""
    context = browser.new_context()
    try:
        page = context.new_page()
        metrics = context.new_cdp_session(page)
        metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{large.file.as_uri()}#{view}")
        page.wait_for_selector("html[data-painted]", state="attached")
        opened = _spent(metrics)
        page.evaluate(LOOP)
        assert opened < large.size.loops * (_spent(metrics) - opened)
    finally:
        context.close()


LOOP = (
    "() => { let total = 0; for (let at = 0; at < 5e6; at += 1) total = (total + at * at) % 1000003; "
    "return total; }"
)


def _spent(metrics: Any) -> float:
    return next(
        one["value"]
        for one in metrics.send("Performance.getMetrics")["metrics"]
        if one["name"] == "TaskDuration"
    )


def test_only_the_rows_in_view_are_in_the_page(pages: Pages, large: Large) -> None:
    report = pages(large.file)
    report.show("documents")
    assert f"{large.size.documents:,} documents" in report.text("#documents-count")
    assert 10 < report.page.locator("#documents-grid .row").count() < 100
    report.page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
    last = report.page.locator(f'#documents-grid .row[aria-rowindex="{large.size.documents + 1}"]')
    last.wait_for()
    assert report.page.locator("#documents-grid .row").count() < 100


def test_filters_find_documents_by_their_errors(pages: Pages, large: Large) -> None:
    report = pages(large.file)
    report.show("documents?field=field_03&system=alder")
    assert report.text("#documents-count").startswith(
        f"{large.wrong:,} of {large.size.documents:,} documents"
    )


MOSTLY_WRONG = (0.8, 0.84, 0.9)
WRONG_SIZES = [
    pytest.param(Size(200, 0, 1), id="10,000"),
    pytest.param(Size(2_000, 0, 10), id="100,000", marks=pytest.mark.full),
]


@pytest.fixture(scope="module", params=WRONG_SIZES)
def wrong(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Large:
    """Return a report in which five of six values are wrong, and their least number."""
    file = tmp_path_factory.mktemp("wrong") / "report.html"
    _write(file, make_source(request.param.documents, FIELDS, shares=MOSTLY_WRONG))
    return Large(file, request.param, 50 * request.param.documents)


@pytest.mark.parametrize(
    "params",
    ["field=field_03&system=beech", "only=single", "q=O0", "group=pair"],
)
def test_wrong_values_are_filtered_at_once(pages: Pages, wrong: Large, params: str) -> None:
    """In processor time of the page, as a multiple of that of a loop in it."""
    report = pages(wrong.file)
    metrics = report.page.context.new_cdp_session(report.page)
    metrics.send("Performance.enable", {"timeDomain": "threadTicks"})
    report.show("errors")
    assert int(report.text("#errors-count").split()[0].replace(",", "")) > wrong.wrong
    report.page.evaluate(LOOP)
    before = _spent(metrics)
    report.page.evaluate(LOOP)
    loop = _spent(metrics) - before
    report.show(f"errors?{params}")
    assert _spent(metrics) - before - loop < wrong.size.loops * loop
    metrics.detach()
