"""Every command that a message, a page or another command prints is one that can be run."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fieldassay.commands.cli.main import commands
from fieldassay.errors import ProblemsError
from fieldassay.options import option_names
from fieldassay.spec.language.model import DataOptions
from fieldassay.spec.plan.compile import read_plan

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


def test_every_key_of_data_and_every_extra_that_a_text_names_exists() -> None:
    every = [text for path in SOURCES for text in texts(path) if "fieldassay: 1" not in text]
    data = {key for text in every for key in re.findall(r"`data: \{(\w+):", text)} - {"X"}
    assert data <= {*option_names(DataOptions)} and data
    assert not [text for text in every if "'fieldassay[" in text]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    calls = {name for path in SOURCES for name in re.findall(r"install_line\(['\"](\w+)", path.read_text())}
    assert calls <= {*extras, "ocr"} and len(calls) > 4


@pytest.mark.parametrize("key", ["alias", "aliases", "source", "from", "key"])
def test_what_others_call_the_names_of_a_field_leads_to_names(key: str) -> None:
    with pytest.raises(ProblemsError, match="did you mean 'names'"):
        read_plan({"fields": {"total": {"type": "money", key: ["amount"]}}})
