"""Draws what `fieldassay demo` prints as docs/images/demo.svg, and takes a picture of its HTML report as docs/images/report.png."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

IMAGES = Path(__file__).resolve().parent / "images"
WIDTH = 100
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PAGE = {"width": 1280, "height": 880}
_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Fonts that rich would load from the network; a reader's own will do."""


def draw(report: str) -> str:
    """Return the head of a report and the fields of its first system as SVG, after the command that prints it."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    head, first, *_ = report.split("Worst fields of ")
    lines = f"{head}Worst fields of {first}".rstrip().splitlines()
    console.print(Text("$ fieldassay demo", style="dim"))
    for number, line in enumerate(lines):
        is_title = number == 0 or line.startswith(("Worst fields", "Most frequent"))
        console.print(Text(line, style="bold" if is_title else "dim" if set(line) == {"─"} else ""), soft_wrap=True)
    picture = console.export_svg(title="fieldassay demo", theme=MONOKAI, unique_id="demo")
    return _FONT.sub("", picture).replace("Fira Code", "ui-monospace")


def photograph(page: Path, browser: str) -> bytes:
    """Return the top of an HTML page as PNG, in the light theme."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        opened = started.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        view = opened.new_page(viewport=PAGE, color_scheme="light", reduced_motion="reduce")
        view.goto(page.as_uri())
        view.wait_for_load_state("networkidle")
        picture = view.screenshot()
        opened.close()
    return picture


def run(*words: str) -> str:
    """Run a command of fieldassay and return what it prints."""
    program = "import sys; from fieldassay.cli.main import main; sys.exit(main(sys.argv[1:]))"
    env = {"PATH": "", "PYTHONUTF8": "1", "COLUMNS": str(WIDTH), "NO_COLOR": "1"}
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, check=True, env=env).stdout.decode("utf-8")


def main() -> None:
    """Run the demo, draw what it prints, and take a picture of its report where there is a browser."""
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / "demo.svg").write_text(draw(run("demo")), encoding="utf-8")
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        sys.stderr.write("no Chromium: docs/images/report.png is left as it is\n")
        return
    with tempfile.TemporaryDirectory() as folder:
        run("demo", "--out", f"{folder}/run")
        run("report", f"{folder}/run", "--format", "html", "--out", f"{folder}/report.html")
        (IMAGES / "report.png").write_bytes(photograph(Path(folder) / "report.html", browser))


if __name__ == "__main__":
    main()
