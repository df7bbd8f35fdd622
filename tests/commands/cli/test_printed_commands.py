"""Every command that a message, a page or another command prints is one that can be run."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fieldassay.commands.cli.main import commands

ROOT = Path(__file__).parents[3]
SOURCES = sorted((ROOT / "src").rglob("*.py")) + sorted((ROOT / "src").rglob("*.js"))
PRINTED = re.compile(r"(?:[`:>$]|^|next:)\s*fieldassay (?=[a-z-])([^`\n;)]*)", re.M)
WORD = re.compile(r"'[^']*'|\"[^\"]*\"|\S+")


def texts(path: Path) -> Iterator[str]:
    """Yield the texts of a program, each value that is put into one as X."""
    if path.suffix == ".js":
        yield re.sub(r"\$\{[^}]*\}", "X", path.read_text())
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def printed() -> Iterator[tuple[str, str]]:
    """Yield the commands that programs print, with the program."""
    for path in SOURCES:
        found = {match[1].strip(" .") for text in texts(path) for match in PRINTED.finditer(text)}
        yield from ((f"{path.name}: {line}", line) for line in sorted(found))


def fault_of(line: str) -> str | None:
    """Return what is wrong with a command, None if nothing is: each word is a command, each option its own."""
    command: click.Command = commands
    context = click.Context(commands, info_name="fieldassay", **commands.context_settings)
    for word in WORD.findall(line):
        if isinstance(command, click.Group):
            inner = command.get_command(context, word)
            if inner is None:
                return f"{command.name} has no command {word}"
            command, context = inner, click.Context(inner, parent=context, info_name=word)
        elif word.startswith("-") and len(word) > 1:
            names = {name for one in command.get_params(context) for name in (*one.opts, *one.secondary_opts)}
            if word.partition("=")[0].rstrip(",:") not in names:
                return f"{command.name} has no option {word}"
    return None


@pytest.mark.parametrize("line", [pytest.param(line, id=name) for name, line in printed()])
def test_a_printed_command_exists_with_its_options(line: str) -> None:
    assert fault_of(line) is None
