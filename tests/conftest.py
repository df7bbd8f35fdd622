"""What is dear and made once: a real browser for all tests of a process, a run of the demo for all processes."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

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


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the run of `fieldassay demo`, which prints to `demo.txt`: one for all processes of a test run."""
    from fieldassay.commands.cli.main import main

    base = tmp_path_factory.getbasetemp()
    printed = base / "demo.txt"
    with FileLock(base / "demo.lock"):
        if not printed.exists():
            with redirect_stdout(io.StringIO()) as out:
                assert main(["demo", "--out", str(base / "demo" / "run")]) == 0
            printed.write_text(out.getvalue(), encoding="utf-8")
    return base / "demo" / "run"


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw few samples for what more labels would bring: calibration/test_certify.py is about that number."""
    from fieldassay.decisions.calibration import certificate

    for name in ("DRAWS", "FEW_DRAWS"):
        monkeypatch.setattr(certificate, name, 8)
