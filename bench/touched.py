"""Runs the tests of the rooms that a change touches, and the fast ones of the rooms that import them.

`python bench/touched.py [BASE]`: the change is what differs from BASE, by default the last commit.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = sorted(path.parent.name for path in (ROOT / "src" / "fieldassay").glob("*/__init__.py"))


def importers(name: str) -> set[str]:
    """Return the rooms that import a room or a module of the ground."""
    uses = re.compile(rf"^ *from fieldassay\.{name}[. ]", re.MULTILINE)
    folders = {room: (ROOT / "src" / "fieldassay" / room).rglob("*.py") for room in ROOMS}
    return {
        room for room, files in folders.items() if any(uses.search(one.read_text("utf-8")) for one in files)
    }


def run(*arguments: str) -> bool:
    print("pytest", *arguments, flush=True)
    return (
        subprocess.run([sys.executable, "-m", "pytest", "--workers", "2", *arguments], cwd=ROOT).returncode
        == 0
    )


def main() -> int:
    git = ["git", "diff", "--name-only", *(sys.argv[1:] or ["HEAD~1"])]
    files = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    names = {found[1] for file in files if (found := re.match(r"(?:src/fieldassay|tests)/(\w+)[/.]", file))}
    own, above = names & {*ROOMS}, set[str]().union(*map(importers, names)) - names
    places = {room: (f"src/fieldassay/{room}", f"tests/{room}") for room in ROOMS}
    alone = [f"tests/{name}.py" for name in sorted(names - own) if name.startswith("test_")]
    near = [*(place for room in sorted(own) for place in places[room]), *alone]
    far = [place for room in sorted(above) for place in places[room]]
    return int(
        not all(
            [
                not near or run(*near),
                run("-m", "not slow", *far, "tests/test_docs.py", "tests/test_golden.py"),
            ]
        )
    )


if __name__ == "__main__":
    sys.exit(main())
