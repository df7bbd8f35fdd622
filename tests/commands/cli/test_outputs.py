"""Outputs of commands, where they go, and models."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from command_runs import Files, Ran, write_inputs
from scored_runs import scored

from fieldassay.commands.cli.main import COMMANDS, commands
from fieldassay.errors import ProblemsError
from fieldassay.reports.export.export import TABLES
from fieldassay.spec.language.parse import read_spec
from fieldassay.spec.plan.compile import read_plan

# The place and format of output: the same option everywhere, and the format by the file's ending

Run = Callable[..., Ran]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("runs", "baseline", "protocols")])
def test_whatever_is_written_is_written_with_the_same_option(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    for option in (one for one in command.params if isinstance(one, click.Option)):
        assert ("--out" in option.opts) == ("-o" in option.opts)
        assert len([name for name in option.opts if name.startswith("--")]) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_is_a_range_that_takes_nan(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert not [one for one in _options_of(command) if isinstance(one.type, click.FloatRange)]


def _options_of(command: click.Command) -> list[click.Parameter]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return [*command.params, *(one for each in inner for one in _options_of(each))]


@pytest.fixture
def folder() -> str:
    return str(scored() / "run")


@pytest.mark.parametrize(
    ("ending", "begins"),
    [(".md", "# "), (".html", "<!doctype html>"), (".xml", "<?xml"), (".txt", "")],
)
def test_the_ending_of_a_report_says_its_format(
    run: Run, folder: str, tmp_path: Path, ending: str, begins: str
) -> None:
    target = tmp_path / f"report{ending}"
    assert run("report", folder, "-o", str(target)).code == 0
    assert target.read_text().casefold().startswith(begins)


@pytest.mark.parametrize(
    ("name", "ending"), [(name, ending) for name, table in TABLES.items() for ending in table.endings]
)
def test_a_table_of_a_run_is_written_in_each_format(
    run: Run, folder: str, tmp_path: Path, name: str, ending: str
) -> None:
    target = tmp_path / f"anything{ending}"
    ran = run("report", folder, "--table", name, "-o", str(target))
    refused = {"suspicious-gold": "one system", "fields": "--metrics default,f1"}.get(name)
    if refused is None:
        assert ran.code == 0 and target.stat().st_size
    else:
        assert ran.code == 2 and refused in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--gate", "regression(accuracy) > -0.02"],
        ["--fail-on-regression", "regression(accuracy) > -0.02"],
        ["--fail-on-regression", "accuracy=0.02"],
    ],
    ids=" ".join,
)
def test_a_regression_is_asked_for_in_one_grammar(
    run: Run, files: Files, folder: str, arguments: list[str]
) -> None:
    fast = (*files.inputs, "--bootstrap", "50")
    assert run("score", *fast, "-q", *arguments).code == 2  # there is no baseline
    baseline = str(files.folder / "baseline.json")
    assert run("baseline", "set", folder, "-o", baseline).code == 0
    ran = run("score", *fast, "--verbose", "--baseline", baseline, *arguments)
    assert ran.code == 0 and "regression(accuracy) > -0.02" in ran.out


# `--schema` and `--spec` with Pydantic models of the project in which the command is started

MODELS = """
from pydantic import BaseModel
from pkg_of_test.words import Total

class Invoice(BaseModel):
    total: Total
    note: str | None = None

NUMBER = 3
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "pkg_of_test"
    package.mkdir()
    (package / "words.py").write_text("Total = float\n")
    (package / "models.py").write_text(MODELS)
    (package / "broken.py").write_text("1 / 0\n")
    (package / "leaving.py").write_text("raise SystemExit(3)\n")
    (package / "odd-name.py").write_text(MODELS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] == "pkg_of_test"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    "name", ["pkg_of_test.models:Invoice", "pkg_of_test/models.py:Invoice", "./pkg_of_test/models.py:Invoice"]
)
def test_a_model_of_the_project_is_found_from_its_folder(run: Run, project: Path, name: str) -> None:
    before = list(sys.path)
    ran = run("init", "--schema", name)
    assert ran.code == 0, ran.err
    assert read_plan(ran.out).slots == ("total", "note")
    assert run("score", "--check", "--spec", name).code == 0
    assert sys.path == before


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("pkg_of_test.models:Bill", "has no attribute 'Bill'"),
        ("pkg_of_test.models:NUMBER", "is not a class"),
        ("pkg_of_test.nothing:Invoice", "cannot be imported"),
        ("pkg_of_test.broken:Invoice", "cannot be imported (ZeroDivisionError: division by zero)"),
        ("pkg_of_test.leaving:Invoice", "cannot be imported (SystemExit: 3)"),
        ("pkg_of_test/nothing.py:Invoice", "pkg_of_test/nothing.py: is not a file"),
        ("pkg_of_test/odd-name.py:Invoice", "go to the project's folder and write MODULE:Invoice"),
    ],
)
def test_a_model_that_cannot_be_found_is_a_problem(run: Run, project: Path, name: str, said: str) -> None:
    for command in (("init", "--schema", name), ("score", "--check", "--spec", name)):
        ran = run(*command)
        assert ran.code == 2 and said in ran.out + ran.err


def test_a_file_of_another_folder_is_refused_with_what_to_write(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = project / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    ran = run("init", "--schema", "../pkg_of_test/models.py:Invoice")
    assert ran.code == 2 and "write MODULE:Invoice" in ran.err


def test_only_the_command_line_looks_into_the_current_folder(project: Path) -> None:
    with pytest.raises(ProblemsError, match="cannot be imported"):
        read_spec("pkg_of_test.models:Invoice")
    with pytest.raises(ProblemsError, match="names a class in a file"):
        read_spec("pkg_of_test/models.py:Invoice")


# The digests of the inputs of a run, in `run.json`


# `--where` in every command that reads gold: the output, the record of the run, and reading it again

KINDS = {"a": "invoice", "b": "invoice", "c": "receipt", "d": "receipt"}
GOLD = [
    {"id": name, "kind": kind, "total": number}
    for number, (name, kind) in enumerate(
        zip("abcd", ["invoice", "invoice", "receipt", "receipt"], strict=True)
    )
]
PRED = [{**row, "total": 1} for row in GOLD]


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    return write_inputs(tmp_path, "name: r\nfields: {kind: text, total: money}\n", GOLD, PRED)


def test_the_run_says_which_documents_it_has_and_reads_the_same_again(
    run: Run, data: list[str], tmp_path: Path
) -> None:
    found = run(
        "score",
        *data,
        "--where",
        "kind=receipt",
        "--out",
        tmp_path / "part",
        "--evidence",
        "none",
        "--bootstrap",
        "0",
    )
    assert found.code == 0 and "2 of 4 documents: kind=receipt" in found.out
    facts = json.loads((tmp_path / "part" / "run.json").read_text())
    assert facts["where"] == ["kind=receipt"]
    assert facts["counts"]["systems"]["m"]["unmatched"] == 0
    assert run("explain", tmp_path / "part", "c").code == 0
    assert run("explain", tmp_path / "part", "a").code == 2


def test_a_run_of_some_documents_is_partial_everywhere(run: Run, data: list[str], tmp_path: Path) -> None:
    for name, more in (("whole", []), ("part", ["--where", "kind=receipt"])):
        assert run("score", *data, "--out", tmp_path / name, "--quiet", "--bootstrap", "50", *more).code == 0
    found = run("diff", tmp_path / "whole", tmp_path / "part")
    assert found.code == 2 and "has documents with kind=receipt only" in found.err
    found = run("baseline", "set", tmp_path / "part", "--out", tmp_path / "b.json")
    assert found.code == 2 and "score again without --where" in found.err
