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
from fieldassay.metrics.catalogue.definitions import Definition
from fieldassay.options import option_names
from fieldassay.spec.language.model import DataOptions, StatisticsOptions
from fieldassay.spec.language.names import FIELD_KEYS, SPEC_KEYS
from fieldassay.spec.plan.compile import read_plan
from fieldassay.values.catalogue import ALIGNERS, CHECKS, COMPARATORS, NORMALIZERS, READERS
from fieldassay.values.comparators.numbers import Tolerance

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


KEY = re.compile(r"(?:^|[{,] ?)([a-z_]\w*): ")
OF_SYSTEMS = {
    "docs",
    "rules",
    "strategy",
    "key_env",
    "url",
    "decode",
    "format",
    "logprobs",
    "max_tokens",
    "temperature",
}
OF_EXAMPLES = {"fieldassay", "gate", "invoice", "receipt", "system", "meaning"}


def options_of_entries() -> Iterator[str]:
    """Yield the names of types, comparators, normalizers, aligners and checks, and of all their options."""
    for catalogue in (READERS, NORMALIZERS, COMPARATORS, ALIGNERS, CHECKS):
        for name in catalogue.names():
            yield from (name, *option_names(catalogue.load(name)))


def test_every_key_and_every_extra_that_a_text_names_exists() -> None:
    every = [text for path in SOURCES if path.suffix == ".py" for text in texts(path)]
    quoted = [piece for text in every for piece in re.findall(r"`([^`\n]+)`", text)]
    data = {key for piece in quoted for key in re.findall(r"^data: \{(\w+):", piece)} - {"X"}
    assert data <= {*option_names(DataOptions)} and data
    keys = {key for piece in quoted for key in KEY.findall(piece)} - OF_SYSTEMS - OF_EXAMPLES
    sections = {*SPEC_KEYS, *FIELD_KEYS, *option_names(DataOptions), *option_names(StatisticsOptions)}
    of_parts = {"field", "name", *Definition.__struct_fields__, *option_names(Tolerance)}
    assert keys <= {*sections, *of_parts, *options_of_entries()} and len(keys) > 20
    assert not [text for text in every if "'fieldassay[" in text]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    calls = {name for path in SOURCES for name in re.findall(r"install_line\(['\"](\w+)", path.read_text())}
    assert calls <= {*extras, "ocr"} and len(calls) > 4


@pytest.mark.parametrize("key", ["alias", "aliases", "source", "from", "key"])
def test_what_others_call_the_names_of_a_field_leads_to_names(key: str) -> None:
    with pytest.raises(ProblemsError, match="did you mean 'names'"):
        read_plan({"fields": {"total": {"type": "money", key: ["amount"]}}})
