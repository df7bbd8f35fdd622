"""Keys and state: rows by arrows and by Tab, the search by Enter, Back to the row that was left."""

from __future__ import annotations

import pytest
from tests.reports.html.opened_report import OpenReport

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
    chosen = options.filter(has_text="separator")
    count = int(chosen.inner_text().rpartition("(")[2].rstrip(")"))
    demo.page.locator("#filter-diagnosis").select_option("separator")
    demo.page.locator("#documents-count", has_text=f"{count} of 72").wait_for()


def test_a_hint_says_that_there_are_keys(demo: OpenReport) -> None:
    assert demo.text(".tools #help") == "? keys"
