"""Makes one virtual environment per peer under bench/work/, each with the peer's pinned release from PyPI.

Run by hand, once: `python bench/setup_peers.py`. What could not be installed is written down with the reason,
not left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

WORK = Path(__file__).parent / "work"
PEERS = {
    "stickler": "stickler-eval==1.0.0",
    "anls_star": "anls_star==1.0.1",
    "autoevals": "autoevals==0.4.1",
    "deepdiff": "deepdiff==9.1.0",
    "nervaluate": "nervaluate==1.2.1",
    "omni": "omni-extract-bench==0.1.7",
}
"""Requirement by the peer's name in `peers.py`. None of them pulls in torch."""


def python_of(peer: str) -> Path:
    """Return the interpreter of a peer's environment, made or not."""
    return WORK / "venvs" / peer / "bin" / "python"


def install(peer: str, requirement: str) -> dict[str, object]:
    """Return what is installed for a peer: `{"requirement", "packages"}`, or `{"requirement", "error"}`."""
    if not python_of(peer).exists():
        subprocess.run(
            [sys.executable, "-m", "venv", "--without-pip", str(WORK / "venvs" / peer)], check=True
        )
    pip = [sys.executable, "-m", "pip", "--python", str(python_of(peer)), "--disable-pip-version-check"]
    installed = subprocess.run([*pip, "install", "--quiet", requirement], capture_output=True, text=True)
    if installed.returncode != 0:
        return {"requirement": requirement, "error": installed.stderr.strip().splitlines()[-1]}
    listing = subprocess.run([*pip, "list", "--format", "json"], capture_output=True, text=True, check=True)
    return {
        "requirement": requirement,
        "packages": {row["name"]: row["version"] for row in json.loads(listing.stdout)},
    }


def main() -> None:
    """Install every peer and write bench/work/peers.json."""
    WORK.mkdir(exist_ok=True)
    state = {}
    for peer, requirement in PEERS.items():
        state[peer] = install(peer, requirement)
        print(f"{peer}: {state[peer].get('error', 'installed ' + requirement)}")
    (WORK / "peers.json").write_text(json.dumps(state, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
