"""A small data set for the command line, and runs of it in a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SPEC = """
fieldassay: 1
name: tiny
fields:
  total: {type: money, currency: AUD, critical: true}
  name: {type: text, case: exact}
  kind: {type: enum, values: [a, b]}
  lines: {type: list, items: {type: object, fields: {sku: id, amount: number}}}
"""
GOLD = [
    {
        "id": "d1",
        "total": "5.00",
        "name": "Ada",
        "kind": "a",
        "lines": [{"sku": "x", "amount": 1}, {"sku": "y", "amount": 2}],
    },
    {"id": "d2", "total": "1,234.50", "name": "Bo", "kind": "b", "lines": []},
    {"id": "d3", "total": "7", "name": "Cy", "kind": "a", "lines": [{"sku": "z", "amount": 3}]},
]
PRED = [
    {
        "id": "d1",
        "total": 5,
        "name": "Ada",
        "kind": "a",
        "lines": [{"sku": "y", "amount": 2}, {"sku": "x", "amount": 7}],
    },
    {"id": "d2", "total": "1234.5", "name": "bo", "kind": "b", "colour": "red"},
    {"id": "d3", "total": "seven", "name": "Cy", "lines": [{"sku": "z", "amount": 3}]},
]


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


def spawn(*arguments: Any, programs: Path | None = None, **options: Any) -> subprocess.Popen[bytes]:
    """Return a process that runs the command line, its streams piped.

    With `programs`, the fixture of that name, it is forked, which takes a tenth of the time.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **options.pop("environment", {})}
    start = (
        [sys.executable, "-m", "fieldassay.commands.cli.main"]
        if programs is None
        else [programs / "fieldassay"]
    )
    command = [*start, *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, **{**pipes, **options})


@dataclass(frozen=True)
class Files:
    """A small spec with gold and predictions on disk."""

    folder: Path

    @property
    def inputs(self) -> list[str]:
        return [
            "--spec",
            f"{self.folder / 'spec.yaml'}",
            "--gold",
            f"{self.folder / 'gold.jsonl'}",
            "--pred",
            f"{self.folder / 'llama.jsonl'}",
        ]

    def write(self, name: str, rows: list[Any]) -> Path:
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path


def write_tiny(folder: Path) -> Files:
    """Return the small data set, written into the folder."""
    made = Files(folder)
    (folder / "spec.yaml").write_text(SPEC, encoding="utf-8")
    made.write("gold.jsonl", GOLD)
    made.write("llama.jsonl", PRED)
    return made


def write_inputs(folder: Path, spec: str, gold: Sequence[Any], pred: Sequence[Any]) -> list[str]:
    """Return the options that name a spec, gold and the predictions of a system `m`, written to a folder."""
    (folder / "spec.yaml").write_text(spec)
    for name, rows in (("gold", gold), ("m", pred)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    names = {"--spec": "spec.yaml", "--gold": "gold.jsonl", "--pred": "m.jsonl"}
    return [word for option, name in names.items() for word in (option, str(folder / name))]
