"""Runs the commands of a page's `console` blocks and returns the page with their output.

The commands run in order and in one folder.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def run_page(text: str, programs: Path = Path(sys.executable).parent) -> str:
    """Return the page with the real output of its commands; `programs` is the folder that has `fieldassay`.

    A block's lines that begin with `$ ` are commands, the lines below each its output. `$ cat FILE` of a file
    that is not there yet makes the file of the lines below it, so that a reader sees what the commands work
    on.
    """
    with tempfile.TemporaryDirectory() as folder:
        return _BLOCK.sub(lambda found: _run_block(found[0], Path(folder), programs), text)


def _run_block(block: str, folder: Path, programs: Path) -> str:
    parts = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)
    shown = []
    for command, output in zip(parts[1::2], parts[2::2], strict=True):
        name = command.removeprefix("cat ")
        if command != name and not (folder / name).exists():
            (folder / name).write_text(output, encoding="utf-8")
        shown.append(f"$ {command}\n{_run(command, folder, programs)}")
    return "".join(shown)


def _run(command: str, folder: Path, programs: Path) -> str:
    path = os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ["PATH"]))
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    env = {**kept, "PATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    text = done.stdout.decode("utf-8")
    return text if not text or text.endswith("\n") else f"{text}\n"


def main() -> None:
    """Write the pages that are named again, or all of them."""
    for page in [Path(name) for name in sys.argv[1:]] or (
        ROOT / "README.md",
        *sorted(ROOT.glob("docs/**/*.md")),
    ):
        shown = page.read_text(encoding="utf-8")
        found = run_page(shown)
        if "\ninternal error: " in found:
            sys.exit(f"{page}: a command ended with an internal error, so the page is left as it is")
        if found != shown:
            page.write_text(found, encoding="utf-8")


if __name__ == "__main__":
    main()
