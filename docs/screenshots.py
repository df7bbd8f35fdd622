"""Renews the pictures of reports and reviews in docs/images: the sample in headless Chromium."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import fieldassay as fa
from fieldassay.commands.cli.main import main
from fieldassay.review.sheets.make import ReviewRequest, make_review
from fieldassay.scoring.score import printed_receipts, sample

IMAGES = Path(__file__).parent / "images"
PICTURES = {
    "report-summary": ("summary", 1280, 760, "light"),
    "report-errors": ("errors?system=birch&diagnosis=separator", 1280, 620, "light"),
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


REVIEWED = {"review-sheet": ("light", "supplier_name"), "review-list": ("dark", "lines[1].description")}
"""Name -> theme, and the value that is active."""
SHOWN = "rcp-007"


def take_review(browser: Browser, folder: Path) -> None:
    """Write the pictures of a review of the sample's printed receipts, as `review open` shows it."""
    receipts, files = printed_receipts(), sample()
    lines = files.predictions["atlas"].read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["id"] == SHOWN]
    request = ReviewRequest(receipts.spec, {"atlas": rows}, documents=receipts.documents)
    make_review(folder, request)
    command = [
        sys.executable,
        "-m",
        "fieldassay.commands.cli.main",
        "review",
        "open",
        str(folder),
        "--no-browser",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        link = server.stdout.readline().split()[-1]
        context = browser.new_context(viewport={"width": 1280, "height": 760})
        page = context.new_page()
        page.goto(link)
        page.wait_for_selector("body[data-screen=queue][data-ready='yes']")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-screen=sheet][data-ready='yes']")
        page.keyboard.press("Enter")
        for name, (theme, node) in REVIEWED.items():
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            page.evaluate("node => desk.go(desk.rows.find((row) => row.node === node))", node)
            page.wait_for_selector(".region.active")
            page.wait_for_timeout(800)
            page.screenshot(path=IMAGES / f"{name}.png")
        context.close()
        server.terminate()


def run() -> None:
    """Write all pictures."""
    found = next(
        (
            path
            for name in ("chromium", "chromium-browser", "chromium-headless-shell", "google-chrome")
            if (path := shutil.which(name))
        ),
        None,
    )
    if found is None:
        sys.exit("no Chromium: `make browser` installs it")
    with tempfile.TemporaryDirectory() as folder:
        with contextlib.redirect_stdout(io.StringIO()):
            main(["demo", "--out", f"{folder}/run"])
        report = Path(folder) / "report.html"
        fa.report(Path(folder) / "run", "html", report)
        with sync_playwright() as started:
            browser = started.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
            for name in PICTURES:
                take(browser, report, name)
            take_review(browser, Path(folder) / "review")
            browser.close()


if __name__ == "__main__":
    run()
