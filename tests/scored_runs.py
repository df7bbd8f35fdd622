"""Runs that are scored once in a process, for tests of what comes after; each test has a folder of its own."""

import atexit
import json
import os
import shutil
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

from command_runs import write_tiny

from fieldassay import score
from fieldassay.commands.cli.main import main

ONE = ("--pred", "llama.jsonl")
TWO = (*ONE, "--pred", "qwen=llama.jsonl")
FAST = ("--bootstrap", "50")


_stamps: dict[Path, dict[Path, tuple[int, int]]] = {}
"""The size and time of every file of a folder that was scored here."""


def stamp(folder: Path) -> dict[Path, tuple[int, int]]:
    """Return the size and the time of every file of a folder."""
    found = ((path, path.stat()) for path in folder.rglob("*") if path.is_file())
    return {path: (stat.st_size, stat.st_mtime_ns) for path, stat in found}


def linked(source: Path, target: Path) -> Path:
    """Return a copy of a folder whose files are links: replace one to change it, by `replace_file`."""
    assert _stamps.get(source) in (None, stamp(source)), "a test wrote into a file that others share"
    return Path(shutil.copytree(source, target, copy_function=_link))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def replace_file(file: Path, data: bytes | str) -> None:
    """Put a new file in the place of one that other folders may share."""
    file.unlink(missing_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)


def kept_folder() -> Path:
    """Return a new folder that stays until the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="fieldassay-scored-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def scored_files(files: tuple[tuple[str, str], ...], arguments: tuple[str, ...], name: str) -> Path:
    """Return a folder with these files, name and text each, and a run of them in `name`.

    Its gates may fail. Nobody writes there: `linked` makes the folder of a test, or its run.
    """
    folder = kept_folder()
    for file, text in files:
        (folder / file).write_text(text, encoding="utf-8")
    with chdir(folder):
        assert main(["score", *arguments, "--out", name]) in (0, 1)
    for part in (folder, folder / name):
        _stamps[part] = stamp(part)
    return folder


@cache
def scored(systems: tuple[str, ...] = ONE, spec_end: str = "", *, code: int = 0, name: str = "run") -> Path:
    """Return a folder with the small data set and a run of it, scored there, so that all places are relative.

    Nobody writes there: `linked` makes the folder of a test.
    """
    folder = kept_folder()
    files = write_tiny(folder)
    spec = files.folder / "spec.yaml"
    spec.write_text(spec.read_text() + spec_end)
    with chdir(folder):
        data = ("--spec", "spec.yaml", "--gold", "gold.jsonl", *systems)
        assert main(["score", *data, "--out", name, "--quiet", *FAST]) == code
    _stamps[folder] = stamp(folder)
    return folder


def write_measured(folder: Path, number: int, change: dict[str, Any]) -> str:
    """Write what `run` writes of a system, with a change in what was measured, and return its name."""
    score(
        [{"id": 1, "total": 5}], {"m": [{"id": 1, "total": 5}]}, "{fields: {total: number}}", bootstrap=0
    ).save(folder / f"r{number}" / "run")
    times = {
        key: f"2026-03-01T09:{number + 10}:{second}+00:00"
        for key, second in (("started", "00"), ("ended", "30"))
    }
    counts = {"attempted": 1, "failed": change.pop("failed", 0), "reused": change.pop("reused", 0)}
    own = {
        "status": "complete",
        "documents": counts,
        "parts": {"strategy": "a"},
        "options": {"strategy": "rules"},
        "endpoints": {},
        "versions": {},
        **times,
        **change,
    }
    told = {
        "systems": {"m": own},
        "host": {"name": "box", "cpus": 8},
        "command": ["fieldassay", "run", "s.yaml"],
    }
    (folder / f"r{number}" / "sweep.json").write_text(json.dumps(told), encoding="utf-8")
    return f"r{number}"
