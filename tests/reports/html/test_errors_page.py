"""The page of errors: every wrong value, filtered, searched, grouped, and reached from the other pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.reports.html.opened_report import OpenReport, Pages

import fieldassay as fa
from fieldassay import score
from fieldassay.reports.findings.mistakes import WRONG

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
    for href, count in counted.items():
        demo.show(href.partition("#")[2])
        name = href.partition("#")[2].partition("?")[0]
        assert demo.text(f"#{name}-count").startswith(f"{count:,} of "), href


def test_counts_of_facets_follow_the_other_filters(demo: OpenReport, wrong: pl.DataFrame) -> None:
    demo.show("errors?system=birch")
    separator = demo.page.locator("#errors-facets .facet", has_text="separator").locator(".count")
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


def test_the_same_pair_is_a_group(demo: OpenReport) -> None:
    demo.show("errors?group=pair")
    assert "×" in demo.text("#errors-grid .row")


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


def test_failed_answers_are_counted_as_such(demo: OpenReport, wrong: pl.DataFrame) -> None:
    demo.show("errors?system=cedar&only=failed")
    assert said(demo).startswith("232 of")


def test_an_impossible_filter_says_what_to_do(demo: OpenReport) -> None:
    demo.show("errors?field=total_amount&diagnosis=case_only")
    demo.page.locator("#errors-count button", has_text="Clear “case only”").click()
    demo.page.locator("#errors-count", has_text=" of ").wait_for()


def test_a_row_opens_its_document(demo: OpenReport) -> None:
    demo.show("errors?system=birch&field=total_amount&diagnosis=separator")
    demo.page.locator("#errors-grid .row").first.click()
    demo.page.locator("#document-one .at").first.wait_for()


MATRIX = [
    (1280, "light"),
    *(pytest.param(*case, marks=pytest.mark.full) for case in ((1280, "dark"), (390, "light"))),
]


@pytest.mark.parametrize(("width", "theme"), MATRIX)
def test_axe_finds_nothing_on_the_errors(pages: Pages, demo_report: Path, width: int, theme: str) -> None:
    report = pages(demo_report, width, theme)
    report.show("errors?system=birch&group=diagnosis")
    assert report.check_access() == []
    assert report.overflow() <= 0
    assert report.complaints == []
