"""Renews the pictures of the HTML report in docs/images: the sample in headless Chromium."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import fieldassay as fa
from fieldassay.cli.main import main

IMAGES = Path(__file__).parent / "images"
PICTURES = {
    "report-summary": ("summary", 1120, 760, "light"),
    "report-fields": ("fields?sort=worst", 1120, 620, "light"),
    "report-document": ("documents?doc=rcp-018&only=wrong", 1120, 760, "dark"),
    "report-phone": ("summary", 390, 760, "dark"),
}
"""Name -> address in the report, width, height, theme."""


def take(browser: Browser, report: Path, name: str) -> None:
    """Write one picture."""
    address, width, height, theme = PICTURES[name]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if theme == "dark" else "light"
    )
    page = context.new_page()
    page.goto(f"{report.as_uri()}#{address}")
    page.wait_for_selector("html[data-painted]", state="attached")
    page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


def run() -> None:
    """Write all pictures."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))),
        None,
    )
    if found is None:
        sys.exit("no Chromium: `make browser` installs it")
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            main(["demo", "--out", f"{folder}/run"])
        report = Path(folder) / "report.html"
        fa.report([Path(folder) / "run"], "html", report)
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            for name in PICTURES:
                take(browser, report, name)
            browser.close()


if __name__ == "__main__":
    run()
