"""A report in a browser: opened, watched, and asked what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
HEIGHT = 900

NOTE_BOXES = """addEventListener("DOMContentLoaded", () => {
    window.boxesAtFirst = [...document.querySelectorAll("details:not(.facets)")].map((box) => [box, box.open]);
})"""
"""Which boxes are open when a page is loaded, for its reset; filters are opened later, when they are drawn."""

SHOW = """async (address) => {
    const root = document.documentElement;
    const before = location.hash;
    location.hash = address;
    if (location.hash !== before) delete root.dataset.painted;
    const view = address.split("?")[0];
    for (let tries = 0; root.dataset.painted !== view; tries += 1) {
        if (tries > 12_000) throw new Error(`${address} is not painted, but ${root.dataset.painted}`);
        await new Promise((go) => { setTimeout(go, 5); });
    }
}"""
"""The view is painted when the page hears of its new address; one that is shown already stays."""

RESET = f"""async () => {{
    const show = {SHOW};
    document.querySelectorAll("dialog[open]").forEach((box) => box.close());
    for (const [box, isOpen] of window.boxesAtFirst) box.open = isOpen;
    document.querySelectorAll("[role=status]").forEach((one) => {{ one.textContent = ""; }});
    delete document.documentElement.dataset.theme;
    localStorage.clear();
    document.activeElement?.blur();
    window.dispatchEvent(new Event("afterprint"));
    if (document.documentElement.dataset.painted === "summary") await show("methods");
    await show("summary");
}}"""
"""What is not in the address is undone first; a view is painted anew when another one was shown."""


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
        context = browser.new_context(
            viewport={"width": width, "height": HEIGHT}, color_scheme=theme, accept_downloads=True
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
        page.add_init_script(NOTE_BOXES)
        page.set_default_timeout(120_000)
        report.show("summary")
        yield report
        context.close()

    def show(self, address: str) -> None:
        """Go to a view by its address, and wait until it is painted."""
        if self.page.url.startswith(self.address):
            self.page.evaluate(SHOW, address)
        else:
            self.page.goto(f"{self.address}#{address}")
            self.wait(address.partition("?")[0])

    def reset(self, width: int) -> None:
        """Show the first page from its top as a reader finds it, with nothing chosen, open, kept or noted."""
        if self.page.viewport_size != {"width": width, "height": HEIGHT}:
            self.page.set_viewport_size({"width": width, "height": HEIGHT})
        self.page.emulate_media(media="null")
        self.page.mouse.move(0, 0)
        self.page.evaluate(RESET)
        self.complaints.clear()
        self.requests.clear()

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
            "options => axe.run({include: [['html']], exclude: [['main > [hidden]']]}, options)",
            {"resultTypes": ["violations"], **only},
        )
        return [
            f"{one['id']}: {node['target']} {node['failureSummary'][:300]}"
            for one in found["violations"]
            for node in one["nodes"]
        ]


class Pages:
    """Reports that the tests of a file share: opened once in a width and a theme, and reset for each test.

    A test that changes what a reset does not undo, such as a function of the page, opens one of its own.
    """

    def __init__(self, browser: Browser, closing: ExitStack) -> None:
        self._browser, self._closing = browser, closing
        self._opened: dict[tuple[Path, int, str], OpenReport] = {}

    def __call__(self, file: Path, width: int = 1280, theme: str = "light") -> OpenReport:
        """Return the report as it is when it has been loaded, which no test may find complaints of."""
        report = self._opened.get((file, width, theme))
        if report is not None:
            report.reset(width)
            return report
        report = self._closing.enter_context(OpenReport.opened(self._browser, file, width, theme))
        assert report.complaints == []
        assert report.outside() == []
        self._opened[file, width, theme] = report
        return report
