"""A real browser, one for all tests of a process: the library that drives it runs once only."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync", "--disable-dev-shm-usage", "--in-process-gpu",
)  # fmt: skip
WITHOUT = "FIELDASSAY_TEST_WITHOUT_BROWSER"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return headless Chromium. Without one the tests fail: a report that nobody opened is not tested."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get(WITHOUT) == "1":
            pytest.skip(f"no Chromium, and {WITHOUT} is 1")
        pytest.fail(f"no Chromium: `make browser` installs it; {WITHOUT}=1 skips these tests")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=found, args=list(QUIET))
        yield opened
        opened.close()


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few samples for what more labels would bring: calibration/test_certify.py is about that number."""
    from fieldassay.decisions.calibration import planning

    for name in ("DRAWS", "FEW_DRAWS"):
        monkeypatch.setattr(planning, name, 8)
    monkeypatch.setattr(planning, "plan_labels", partial(planning.plan_labels, draws=8))
