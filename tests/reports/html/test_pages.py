"""The pages of the HTML report."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from tests.effort import is_full
from tests.reports.html.hostile_records import SPEC, gold_records, predictions
from tests.reports.html.opened_report import OpenReport, Pages
from tests.reports.html.unpacked_rows import read_blocks

import fieldassay as fa
from fieldassay import score
from fieldassay.commands.cli.main import main
from fieldassay.decisions.calibration.certificate import describe_certificate, describe_guarantee
from fieldassay.decisions.calibration.policy import CalibrationOptions, calibrate
from fieldassay.decisions.losses import WRONG
from fieldassay.errors import ProblemsError
from fieldassay.metrics.catalogue.catalogue import list_metrics
from fieldassay.metrics.result.result import Result
from fieldassay.reports.html.page import SCRIPTS, STYLES, hash_source, join_charts
from fieldassay.reports.wording import LETTERS, MEANINGS

# The page as text: nothing in it asks for anything, and nothing from a document is markup

ASSETS = Path(__file__).parents[3] / "src" / "fieldassay" / "reports" / "html" / "assets"


class Parts(HTMLParser):
    """Everything in a page that a browser would act upon."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.is_script = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.is_script = tag == "script" and "data-block" not in dict(attrs)
        if self.is_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.is_script = False

    def handle_data(self, data: str) -> None:
        if self.is_script:
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return fa.report(score(gold_records(), predictions(), SPEC, bootstrap=50))


def test_the_page_loads_nothing(hostile_page: str) -> None:
    for tag, attributes in Parts(hostile_page).tags:
        assert tag not in ("img", "iframe", "link", "object", "embed", "base")
        assert not {"src", "srcset", "action", "style", "background"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")


def test_its_policy_allows_its_own_script_and_no_other(hostile_page: str) -> None:
    parts = Parts(hostile_page)
    policy = next(
        str(attributes["content"])
        for tag, attributes in parts.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert allowed["default-src"] == allowed["connect-src"] == "'none'"
    assert len(parts.scripts) == 1
    assert allowed["script-src"].split() == [hash_source(parts.scripts[0]), hash_source(join_charts())]
    assert "unsafe" not in policy


def test_data_cannot_end_its_element(hostile_page: str) -> None:
    assert set(read_blocks(hostile_page)) >= {
        "core",
        "documents",
        "errors",
        "systems",
        "fields",
        "charts",
        "rows-0",
    }
    assert (
        hostile_page.count("<script")
        == hostile_page.count("</script>")
        == 1 + hostile_page.count('<script type="application/octet-stream"')
    )


def test_headings_are_in_order(hostile_page: str) -> None:
    levels = [int(tag[1]) for tag, _ in Parts(hostile_page).tags if re.fullmatch("h[1-6]", tag)]
    assert all(level - before <= 1 for before, level in pairwise(levels))


def test_the_same_run_makes_the_same_page(demo_report: Path, tmp_path: Path) -> None:
    fa.report(demo_report.parent / "run", "html", tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == demo_report.read_bytes()


@pytest.mark.parametrize("kept", ["errors", "none"])
def test_a_run_with_less_evidence_has_a_page_too(tmp_path: Path, kept: str) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": 1, "n": 5}\n{"id": 2, "n": 6}\n', encoding="utf-8")
    (tmp_path / "pred.jsonl").write_text('{"id": 1, "n": 5}\n{"id": 2, "n": 7}\n', encoding="utf-8")
    (tmp_path / "spec.yaml").write_text("fields: {n: number}\n", encoding="utf-8")
    files = {
        name: str(tmp_path / file)
        for name, file in {
            "--spec": "spec.yaml",
            "--gold": "gold.jsonl",
            "--pred": "pred.jsonl",
            "--out": "run",
        }.items()
    }
    given = [part for pair in files.items() for part in pair]
    assert main(["score", *given, "--evidence", kept, "--report", "html", "--quiet"]) == 0
    blocks = read_blocks((tmp_path / "run" / "report.html").read_text(encoding="utf-8"))
    assert blocks["core"]["kept"] == kept
    assert ("rows-0" in blocks) == (kept == "errors")


def test_what_is_not_a_run_has_no_page(tmp_path: Path) -> None:
    with pytest.raises(ProblemsError, match="is not a run"):
        fa.report(tmp_path, "html", tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_every_metric_has_a_meaning() -> None:
    assert set(MEANINGS) == set(list_metrics())


def test_formulas_use_the_letters_that_are_explained() -> None:
    for meaning, formula in MEANINGS.values():
        assert meaning.endswith(".")
        assert set(re.findall(r"\b2?([A-Z])\b", formula)) <= set(LETTERS)


def test_every_asset_is_used() -> None:
    assert {path.name for path in ASSETS.glob("*.js")} == set(SCRIPTS)
    assert {path.name for path in ASSETS.glob("*.css")} == set(STYLES)
    assert all(len(path.read_text(encoding="utf-8").splitlines()) < 300 for path in ASSETS.glob("*.*s"))


def test_vendored_libraries_come_with_their_licenses() -> None:
    libraries = {path.name.split(".")[0] for path in (ASSETS / "vendor").glob("*.js")}
    assert {path.name.removesuffix(".LICENSE") for path in (ASSETS / "vendor").glob("*.LICENSE")} == libraries


# The page of errors: every wrong value, filtered, searched, grouped, and reached from the other pages

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def wrong(demo_report: Path) -> pl.DataFrame:
    """Return the wrong values of the sample."""
    rows = pl.read_parquet(demo_report.parent / "run" / "evidence.parquet")
    return rows.filter((pl.col("kind") == "value") & pl.col("outcome").is_in(WRONG))


def said(report: OpenReport) -> str:
    return report.text("#errors-count")


def test_every_wrong_value_is_listed(demo: OpenReport, wrong: pl.DataFrame) -> None:
    demo.show("errors")
    assert said(demo).startswith(f"{len(wrong):,} wrong values.")


def test_a_kind_of_one_system_is_one_click_from_its_field(demo: OpenReport, wrong: pl.DataFrame) -> None:
    demo.show("fields?field=total_amount")
    demo.page.locator("#field-detail a[href*='errors'][href*='separator'][href*='birch']").first.click()
    demo.wait("errors")
    found = wrong.filter(
        (pl.col("system") == "birch")
        & (pl.col("field") == "total_amount")
        & (pl.col("diagnoses").list.first() == "separator")
    )
    assert said(demo).startswith(f"{len(found)} of {len(wrong):,} wrong values")
    shown = demo.page.eval_on_selector_all(
        "#errors-grid .row .cell:nth-child(4) .value", "cells => cells.map(cell => cell.textContent)"
    )
    assert set(shown) == {text.strip('"') for text in found["pred"]}


@pytest.mark.parametrize(
    ("view", "box"),
    [("summary", "#summary"), ("fields", "#fields"), ("fields?field=lines[].quantity", "#field-detail")],
)
def test_the_count_on_a_link_is_the_count_behind_it(demo: OpenReport, view: str, box: str) -> None:
    demo.show(view)
    found = demo.page.eval_on_selector_all(
        f"{box} :is(a[href*='#errors?'], a[href*='#documents?'][href*='answer='])",
        "links => links.map(link => [link.getAttribute('href'), link.textContent])",
    )
    counted = {
        href: int(number[0].replace(",", ""))
        for href, text in found
        if "%" not in text and (number := re.search(r"\d[\d,]*", text))
    }
    assert len(counted) > 5
    for href, count in [*counted.items()][:: 1 if is_full() else 4]:
        demo.show(href.partition("#")[2])
        name = href.partition("#")[2].partition("?")[0]
        assert demo.text(f"#{name}-count").startswith(f"{count:,} of "), href


def test_counts_of_facets_follow_the_other_filters(demo: OpenReport, wrong: pl.DataFrame) -> None:
    demo.show("errors?system=birch")
    separator = demo.page.locator("#errors-facets .facet", has_text="decimal point moved").locator(".count")
    own = wrong.filter((pl.col("system") == "birch") & (pl.col("diagnoses").list.first() == "separator"))
    assert separator.inner_text() == str(len(own))
    cedar = demo.page.locator("#errors-facets .facet", has_text="cedar").locator(".count")
    assert cedar.inner_text() == f"{len(wrong.filter(pl.col('system') == 'cedar')):,}"


@pytest.mark.parametrize(("query", "selector"), [("1,25774", "pred"), ("stm-013", "doc")])
def test_the_search_finds_values_and_ids(
    demo: OpenReport, wrong: pl.DataFrame, query: str, selector: str
) -> None:
    demo.show("errors")
    demo.page.locator("#error-search").fill(query)
    demo.page.locator("#errors-count", has_text=" of ").wait_for()
    found = wrong.filter(pl.col(selector).str.contains(query, literal=True).fill_null(False))
    assert said(demo).startswith(f"{len(found)} of ")


@pytest.mark.parametrize(
    ("only", "system"), [("single", "cedar"), ("failed", "cedar"), ("critical", "birch")]
)
def test_rows_are_found_by_what_the_other_systems_said(demo: OpenReport, only: str, system: str) -> None:
    demo.show(f"errors?only={only}&system={system}")
    assert " of " in said(demo)
    rows = demo.page.locator("#errors-grid .row")
    assert rows.count() > 0
    right = rows.first.locator(".cell:last-child .sign-match").count()
    assert right == {"single": 2}.get(only, right)


def test_gold_that_all_systems_contradict_alike_is_one_click_from_the_summary(
    browser: Browser, tmp_path: Path
) -> None:
    gold = [{"id": str(number), "total": number} for number in range(5)]
    pred = [{**row, "total": 7} if row["id"] == "3" else row for row in gold]
    page = fa.report(score(gold, {"a": pred, "b": pred}, "fields: {total: number}"))
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    with OpenReport.opened(browser, tmp_path / "report.html") as report:
        report.page.locator('a[href="#errors?only=agreed"]').click()
        report.wait("errors")
        assert said(report).startswith("2 wrong values")
        assert report.text("#errors-grid .row .cell:nth-child(4)") == "7"


def test_the_second_of_two_systems_says_how_many_values_it_breaks_and_fixes() -> None:
    gold, first, second = (
        [{"id": str(at), "total": at + (at in wrong)} for at in range(5)] for wrong in ((), (3, 4), (1, 2, 3))
    )
    page = fa.report(score(gold, {"a": first, "b": second}, "fields: {total: number}"))
    assert "<dt>broken / fixed by <bdi>b</bdi></dt><dd>2 / 1</dd>" in page


# The page of fields: the worst first, each with its values and kinds of wrong, its details below it

ROW = '#field-rows tr[data-row="total_amount"]'


def test_a_field_says_values_intervals_numbers_and_kinds_without_a_click(demo: OpenReport) -> None:
    demo.show("fields")
    cells = demo.page.locator(f"{ROW} td")
    assert cells.nth(1).inner_text().split() == ["76.9%", "63.9", "to", "87.1", "·", "n", "52"]
    assert cells.nth(1).locator(".whisker").count() == 1
    kinds = cells.nth(3).locator(".kind").all_inner_texts()
    assert kinds[:2] == ["decimal point moved 4", "two digits swapped 4"]


def test_details_open_below_their_field_and_lead_to_its_neighbors(demo: OpenReport) -> None:
    demo.show("fields?sort=order")
    demo.page.locator(f"{ROW} button").click()
    detail = demo.page.locator(f"{ROW} + tr.opened #field-detail")
    assert detail.locator("h2").first.inner_text() == "What is wrong"
    demo.page.get_by_role("button", name="next field").click()
    demo.page.locator('#field-rows tr.at[data-row="is_gst_included"]').wait_for()
    assert demo.page.locator("tr.opened").count() == 1


def test_scores_of_right_and_wrong_only_have_no_distribution(demo: OpenReport) -> None:
    demo.show("fields?field=total_amount")
    assert demo.page.locator('[data-chart="scores"]').count() == 0


@pytest.mark.parametrize("view", ["fields", "errors", "documents", "fields?field=total_amount"])
@pytest.mark.parametrize("width", [1280, pytest.param(1600, marks=pytest.mark.full)])
def test_no_box_of_a_page_scrolls_down(pages: Pages, demo_report: Path, view: str, width: int) -> None:
    report = pages(demo_report, width=width)
    report.show(view)
    boxes = report.page.evaluate(
        "[...document.querySelectorAll('main section:not([hidden]) *')]"
        ".filter(box => ['auto', 'scroll'].includes(getComputedStyle(box).overflowY)"
        " && box.scrollHeight > box.clientHeight + 1).map(box => box.className)"
    )
    assert boxes == []


# The page of confidences: the numbers and the guarantee of `calibrate`, and only where there are confidences

DOCUMENTS = 400
GOLD = [{"id": str(at), "total": at} for at in range(DOCUMENTS)]

pytestmark = pytest.mark.usefixtures("few_draws")


def _predict(wrong_from: int) -> list[dict[str, Any]]:
    return [
        {"id": str(at), "total": at + (at >= wrong_from), "confidence": 1 - at / 1000}
        for at in range(DOCUMENTS)
    ]


@pytest.fixture(scope="module")
def result() -> Result:
    predictions = {"sure": _predict(380), "wild": _predict(0)}
    return score(GOLD, predictions, "fields: {total: number}", bootstrap=0)


def test_the_page_has_the_numbers_and_the_guarantee_of_calibrate(result: Result) -> None:
    shown = {one["system"]: one for one in read_blocks(fa.report(result))["confidences"]}
    for system, one in shown.items():
        page = calibrate(result, CalibrationOptions(system=system)).page
        assert one["threshold"] == page.certificate.threshold
        assert [row[2] for row in one["bins"]] == [bin_.n for bin_ in page.pooled.calibration.bins]
        assert one["guarantee"] == describe_guarantee(page.guarantee)
        assert one["sentences"] == [describe_certificate(page.certificate, page.guarantee)]
    assert shown["sure"]["threshold"] is not None
    assert "at most 2% are wrong, averaged over documents" in shown["sure"]["sentences"][0]
    assert shown["wild"]["sentences"][0].startswith("not certified: ")


def test_the_page_never_says_that_labels_do_not_help_where_they_do() -> None:
    # 180 documents certify nothing of accepted values here, 900 of the same kind do
    generator = np.random.default_rng(3)
    confidence = generator.beta(8, 0.6, (900, 4))
    right = generator.random((900, 4)) < confidence
    said = []
    for n in (180, 900):
        gold = [{"id": str(at), **dict.fromkeys("abcd", 1)} for at in range(n)]
        pred = [
            {
                "id": str(at),
                **{name: 2 - int(right[at, place]) for place, name in enumerate("abcd")},
                "confidence": {name: confidence[at, place] for place, name in enumerate("abcd")},
            }
            for at in range(n)
        ]
        run = score(gold, pred, "fields: {a: number, b: number, c: number, d: number}")
        [one] = read_blocks(fa.report(run))["confidences"]
        assert "labels do not help" not in " ".join(one["sentences"])
        assert "labels will not help" not in " ".join(one["sentences"])
        said.append(one["threshold"] is not None)
    assert said == [False, True]


@pytest.fixture(scope="module")
def page(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("confidences") / "report.html"
    file.write_text(fa.report(result), encoding="utf-8")
    return file


FULL = [
    pytest.param(*case, marks=pytest.mark.full) for case in ((1280, "dark"), (390, "light"), (390, "dark"))
]


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), *FULL])
def test_both_charts_are_drawn_and_axe_finds_nothing(
    pages: Pages, page: Path, width: int, theme: str
) -> None:
    report = pages(page, width, theme)
    report.show("confidence")
    for chart in ("risk", "reliability"):
        report.page.locator(f'[data-chart="{chart}"] .plot svg path').first.wait_for(state="attached")
    assert "`" not in report.text("#confidence")
    assert report.check_access() == []
    assert report.overflow() <= 0
    assert report.complaints == []
