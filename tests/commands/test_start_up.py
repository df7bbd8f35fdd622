"""What a short run imports: no library that it has no use for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from command_runs import write_tiny

from fieldassay.commands.cli.main import COMMANDS, commands

ALWAYS = {"fieldassay", "msgspec", "numpy", "typing_extensions"}
COMMAND_NEEDS = ALWAYS | {"ruamel", "click", "rich", "rapidfuzz", "polars"}
"""The command also reads a spec in YAML, diagnoses wrong values, and counts them in a table."""
TOLD = """
import importlib.metadata, sys
installed = importlib.metadata.packages_distributions()
names = {name.partition(".")[0] for name in sys.modules}
print(sum(name.startswith("fieldassay") for name in sys.modules), *sorted(names & set(installed)), file=sys.stderr)
"""
COMMAND = """
import sys
from fieldassay.commands.cli.main import main
sys.argv[0] = "fieldassay"
assert main(sys.argv[1:]) == 0
"""
PYTHON = """
from fieldassay import score
record = {"id": 1, "total": "5.00", "date": "3 March 2025", "name": "Oak"}
score([record], [record], {"fields": {"total": "money", "date": "date", "name": "text"}})
"""
DATED = (
    "fields: {total: {type: money, currency: AUD}, name: text, on: date, lines: {type: list, items: text}}"
)


def imported(code: str, *arguments: str) -> tuple[int, set[str]]:
    """Return how many modules of the package a program imports, and which libraries."""
    ran = subprocess.run(
        [sys.executable, "-c", code + TOLD, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    count, *names = ran.stderr.split()
    return int(count), {name for name in names if not name.startswith("_")}


@pytest.mark.slow
def test_a_record_is_scored_with_few_libraries() -> None:
    _, libraries = imported(PYTHON)
    assert libraries <= ALWAYS


@pytest.mark.slow
def test_a_small_score_imports_few_libraries(tmp_path: Path) -> None:
    files = write_tiny(tmp_path)
    (tmp_path / "spec.yaml").write_text(DATED, encoding="utf-8")
    dated = [{"id": at, "total": "5.00", "name": "Oak", "on": f"{at} March 2025"} for at in (1, 2, 3)]
    files.write("gold.jsonl", dated)
    files.write("llama.jsonl", [{**row, "name": "Ash", "total": "5.10"} for row in dated])
    _, libraries = imported(COMMAND, "score", *files.inputs)
    assert libraries <= COMMAND_NEEDS


@pytest.mark.slow
def test_the_help_imports_only_what_tells_of_options() -> None:
    count, libraries = imported(COMMAND, "--help")
    assert libraries <= {"click", "fieldassay"}
    assert count < 10


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_has_the_first_sentence_of_each_command(name: str) -> None:
    context = click.Context(commands)
    command = commands.get_command(context, name)
    assert command is not None
    assert commands.summary_of(context, name) == command.get_short_help_str(1000)
