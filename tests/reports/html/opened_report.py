"""A report in a browser: opened, watched, and asked what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

MOST_KEPT = 2
"""Pages that stay open: most modules look at one or two reports."""

AXE = Path(__file__).parent / "vendor" / "axe.min.js"


@dataclass
class OpenReport:
    """A page with everything that went wrong on it, and every request that it made."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    @classmethod
    @contextmanager
    def opened(
        cls, browser: Browser, file: Path, width: int = 1280, theme: Any = "light"
    ) -> Iterator[OpenReport]:
        """Yield a report as it is when it is opened; the pages of a few reports are kept, and loaded again."""
        key = (id(browser), file, file.stat().st_mtime_ns, width, theme)
        report = _KEPT.pop(key, None)
        if report is None:
            report = cls._open(browser, file, width, theme)
        else:
            report._reset(width)
        try:
            yield report
        except BaseException:
            report.page.context.close()
            raise
        _KEPT[key] = report
        while len(_KEPT) > MOST_KEPT:
            _KEPT.pop(next(iter(_KEPT))).page.context.close()

    @classmethod
    def _open(cls, browser: Browser, file: Path, width: int, theme: Any) -> OpenReport:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, accept_downloads=True
        )
        page = context.new_page()
        report = cls(page, file.as_uri())
        page.on(
            "console",
            lambda message: (
                report.complaints.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        page.on("pageerror", lambda error: report.complaints.append(str(error)))
        page.on("request", lambda request: report.requests.append(request.url))
        page.set_default_timeout(120_000)
        report.show("summary")
        return report

    def _reset(self, width: int) -> None:
        page = self.page
        for other in page.context.pages:
            if other is not page:
                other.close()
        page.context.clear_permissions()
        page.emulate_media(media="null")
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); location.hash = 'summary' }")
        self.complaints.clear()
        self.requests.clear()
        page.reload()
        self.wait("summary")

    def show(self, address: str) -> None:
        """Go to a view by its address, and wait until it is painted."""
        view = address.partition("?")[0]
        if self.page.url.startswith(self.address):
            self.page.evaluate("delete document.documentElement.dataset.painted")
            before = self.page.evaluate("location.hash")
            self.page.evaluate("hash => { location.hash = hash }", address)
            if self.page.evaluate("location.hash") == before:
                self.page.reload()
        else:
            self.page.goto(f"{self.address}#{address}")
        self.wait(view)

    def wait(self, view: str) -> None:
        """Wait until a view is painted."""
        self.page.wait_for_selector(f'html[data-painted="{view}"]', state="attached")

    def text(self, selector: str) -> str:
        """Return the visible text of the first element that fits."""
        return self.page.locator(selector).first.inner_text()

    def outside(self) -> list[str]:
        """Return the requests for anything but the file itself."""
        return [url for url in self.requests if not url.startswith((self.address, "blob:"))]

    def overflow(self) -> int:
        """Return how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))

    def check_access(self, rules: tuple[str, ...] = ()) -> list[str]:
        """Return what axe finds wrong with the page as it is shown, by all rules or by some."""
        if not self.page.evaluate("typeof window.axe !== 'undefined'"):
            self.page.evaluate(f"(() => {{ {AXE.read_text(encoding='utf-8')}\n window.axe = axe; }})()")
        only = {"runOnly": list(rules)} if rules else {}
        found = self.page.evaluate(
            "options => axe.run(document, options)", {"resultTypes": ["violations"], **only}
        )
        return [
            f"{one['id']}: {node['target']} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]


_KEPT: dict[tuple[Any, ...], OpenReport] = {}
"""The open pages, the one used last at the end."""
