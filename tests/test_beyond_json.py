"""Numbers that JSON has no text for, which Python writes all the same, go through every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fieldassay.commands.cli.main import main

SPEC = """
fields:
  total: number
  name: text
  lines: {type: list, align: assignment, items: {type: object, fields: {sku: text, amount: number}}}
"""
INFINITE, MINUS, NOTHING = float("inf"), float("-inf"), float("nan")
GOLD = [
    {"id": 1, "total": INFINITE, "name": "Oak", "lines": [{"sku": "a", "amount": INFINITE}]},
    {"id": 2, "total": 5, "name": NOTHING, "lines": [{"sku": "b", "amount": 2}]},
]
FIRST = [
    {"id": 1, "total": MINUS, "name": INFINITE, "lines": [{"sku": INFINITE, "amount": NOTHING}]},
    {"id": 2, "total": INFINITE, "name": "Elm", "lines": [{"sku": INFINITE, "amount": 2}]},
]
SECOND = [{"id": 1, "total": 5, "name": "oak"}, {"id": 2, "total": MINUS, "name": "Ash"}]
COMMANDS = {
    "attribute": ["attribute", "run", "--format", "markdown"],
    "export-pairs": ["export", "run", "--what", "pairs"],
    "export-values": ["export", "run", "-o", "values.csv"],
    "export-results": ["export", "run", "-o", "results.json"],
    "export-errors": ["export", "run", "-o", "errors.md"],
    "explain": ["explain", "run", "1"],
    "report": ["report", "run", "-o", "report.html"],
    "review": [
        "review",
        "new",
        "folder",
        "--spec",
        "spec.yaml",
        "--pred",
        "s=first.jsonl",
        "--gold",
        "gold.jsonl",
    ],
}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spec.yaml").write_text(SPEC)
    for name, rows in (("gold", GOLD), ("first", FIRST), ("second", SECOND)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return ["--spec", "spec.yaml", "--gold", "gold.jsonl", "--bootstrap", "0"]


@pytest.mark.parametrize("more", [[], ["--out", "run"]], ids=["in memory", "in files"])
def test_repeated_runs_may_hold_infinite_numbers(inputs: list[str], more: list[str]) -> None:
    assert main(["score", *inputs, "--pred", "s=first.jsonl,second.jsonl", *more]) == 0


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_run_with_infinite_numbers_can_be_used(inputs: list[str], command: list[str]) -> None:
    assert (
        main(["score", *inputs, "--pred", "s=first.jsonl", "--pred", "t=second.jsonl", "--out", "run"]) == 0
    )
    assert main(command) == 0


def test_a_review_may_ask_about_an_object_where_the_field_has_one_value(inputs: list[str]) -> None:
    Path("first.jsonl").write_text('{"id": 1, "total": 5, "name": {"first": "Ada"}}\n')
    command = ["review", "new", "folder", "--spec", "spec.yaml", "--pred", "s=first.jsonl"]
    assert main(command) == 0
