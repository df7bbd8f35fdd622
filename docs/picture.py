"""Draws the report of `fieldassay demo` as docs/images/demo.svg."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

TARGET = Path(__file__).resolve().parent / "images" / "demo.svg"
WIDTH = 100
_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Fonts that rich would load from the network; a reader's own will do."""


def draw(report: str) -> str:
    """Return the answer of the demo, without its remarks, as SVG, below the command."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, legacy_windows=False)
    lines = report.partition("\nwarning: ")[0].rstrip().splitlines()
    console.print(Text("$ fieldassay demo", style="dim"))
    for number, line in enumerate(lines):
        is_title = number == 0 or line.startswith("What to fix first")
        console.print(
            Text(line, style="bold" if is_title else "dim" if set(line) == {"─"} else ""), soft_wrap=True
        )
    picture = console.export_svg(title="fieldassay demo", theme=MONOKAI, unique_id="demo")
    return _FONT.sub("", picture).replace("Fira Code", "ui-monospace")


def main() -> None:
    """Run the demo and draw what it prints."""
    command = [
        sys.executable,
        "-c",
        "import sys; from fieldassay.commands.cli.main import main; sys.exit(main(['demo']))",
    ]
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        env={"PATH": "", "PYTHONUTF8": "1", "COLUMNS": str(WIDTH), "NO_COLOR": "1"},
    )
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(draw(done.stdout.decode("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
