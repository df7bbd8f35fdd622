"""A browser at the desk of a reviewer, which notes every error and every violation of the policy."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import Error
from tests.reports.html.opened_report import AXE
from tests.review.receipts import NONE, SPEC, add
from tests.review.web.served import Served, served

from fieldassay.review.sheets.make import ReviewRequest, make_review

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

READY = "body[data-ready='yes']"


class Desk:
    """A page of a review."""

    def __init__(self, page: Page, site: Served) -> None:
        self.page, self.site = page, site
        self.errors: list[str] = []
        self.keys = 0
        page.set_default_timeout(120_000)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda told: self.errors.append(told.text) if told.type == "error" else None)

    def enter(self) -> None:
        self.page.goto(self.site.ticket_link())
        self.page.wait_for_selector(f"{READY}[data-screen=queue]")

    def start(self) -> None:
        self.press("Enter")
        self.on_sheet()

    def on_sheet(self, number: int | None = None) -> None:
        if number is not None:
            self.page.wait_for_url(f"**/sheet/{number}")
        self.page.wait_for_selector(f"{READY}[data-screen=sheet]")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.keys += 1
            self.page.keyboard.press(key)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    @property
    def at(self) -> str:
        """Return the node of the active row."""
        return str(self.page.evaluate("desk.at && desk.at.node"))

    def axe(self) -> list[str]:
        """Return what axe finds wrong with the page as it is shown."""
        if not self.page.evaluate("typeof window.axe !== 'undefined'"):
            self.page.evaluate(f"(() => {{ {AXE.read_text(encoding='utf-8')}\n window.axe = axe; }})()")
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{one['id']}: {node['target']} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]

    def until(self, claim: str, page: Page | None = None) -> None:
        """Wait until an expression is true; the policy forbids the evaluation that playwright waits with."""
        ends = time.monotonic() + 120
        while not self._holds(claim, page or self.page):
            assert time.monotonic() < ends, f"{claim}: {self.text('#told')}"
            self.page.wait_for_timeout(30)

    def _holds(self, claim: str, page: Page) -> bool:
        try:
            return bool(page.evaluate(claim))
        except Error:  # the page is being left
            return False

    def saved(self) -> None:
        self.until("saver.waiting.length === 0")

    def labels(self) -> dict[str, tuple[str, str | None]]:
        self.saved()
        rows = self.site.room.db.execute("SELECT node, state, text FROM label ORDER BY sheet, seq")
        return {node: (state, text) for node, state, text in rows}


@contextmanager
def at_desk(browser: Browser, site: Served, **options: object) -> Iterator[Desk]:
    """Yield a desk, closed at the end; no error and no violation may have been told."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, **options)  # type: ignore[arg-type]
    desk = Desk(context.new_page(), site)
    try:
        yield desk
        assert desk.errors == []
    finally:
        context.close()


@contextmanager
def opened(browser, folder, rows, spec=SPEC, **more):
    """Yield the desk of somebody who works alone, at the first sheet."""
    more.setdefault("shares", NONE)
    options = more.pop("options", {})
    made = make_review(folder / "review", ReviewRequest(spec, {"llama": rows}, **more))
    add(made.store)
    with served(made.store) as site, at_desk(browser, site, **options) as desk:
        desk.enter()
        desk.start()
        yield desk
