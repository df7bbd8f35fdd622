"""The place and format of output: the same option everywhere, and the format by the file's ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from command_runs import Files, Ran
from scored_runs import scored

from fieldassay.commands.cli.grouping import FiniteRange
from fieldassay.commands.cli.main import COMMANDS, commands
from fieldassay.reports.export.export import EXPORTS

Run = Callable[..., Ran]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("runs", "baseline", "protocols")])
def test_whatever_is_written_is_written_with_the_same_option(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    for option in command.params:
        assert ("--out" in option.opts) == ("-o" in option.opts) and ("--json" in option.opts) == (
            "-j" in option.opts
        )


@pytest.mark.parametrize("name", COMMANDS)
def test_no_range_of_numbers_takes_nan(name: str) -> None:
    command = commands.get_command(click.Context(commands), name)
    assert command is not None
    ranges = [one.type for one in _options_of(command) if isinstance(one.type, click.FloatRange)]
    assert all(isinstance(one, FiniteRange) for one in ranges)


def _options_of(command: click.Command) -> list[click.Parameter]:
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    return [*command.params, *(one for each in inner for one in _options_of(each))]


@pytest.fixture
def folder() -> str:
    return str(scored() / "run")


@pytest.mark.parametrize(
    ("ending", "begins"),
    [(".md", "# "), (".html", "<!doctype html>"), (".xml", "<?xml"), (".tex", "%"), (".txt", "")],
)
def test_the_ending_of_a_report_says_its_format(
    run: Run, folder: str, tmp_path: Path, ending: str, begins: str
) -> None:
    target = tmp_path / f"report{ending}"
    assert run("report", folder, "-o", str(target)).code == 0
    assert target.read_text().casefold().startswith(begins)


def test_a_report_without_a_format_is_for_the_terminal(run: Run, folder: str) -> None:
    ran = run("report", folder)
    assert ran.code == 0 and "What to fix first" in ran.out and "--verbose shows" in ran.out


@pytest.mark.parametrize(
    ("what", "ending"), [(name, ending) for name, export in EXPORTS.items() for ending in export.writers]
)
def test_an_export_can_be_named(run: Run, folder: str, tmp_path: Path, what: str, ending: str) -> None:
    target = tmp_path / f"anything{ending}"
    ran = run("export", folder, "--what", what, "-o", str(target))
    refused = {"suspicious-gold": "one system", "classification": "--metrics f1,report"}.get(what)
    if refused is None:
        assert ran.code == 0 and target.stat().st_size
    else:
        assert ran.code == 2 and refused in ran.err


@pytest.mark.parametrize("option", ["--to", "--out", "-o"])
def test_the_old_names_of_exports_still_work(run: Run, folder: str, tmp_path: Path, option: str) -> None:
    target = tmp_path / "errors.md"
    assert run("export", folder, option, str(target)).code == 0 and target.exists()


def test_what_to_fix_first_can_be_printed(run: Run, folder: str) -> None:
    ran = run("export", folder, "--what", "losses")
    assert ran.code == 0 and "It costs" in ran.out


@pytest.mark.parametrize("option", ["--gate", "--fail-under"])
@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("accuracy=0.01", 0, ""),
        ("accuracy >= 0.01", 0, ""),
        ("accuracy>=0.999", 1, "at least 99.9% is asked for"),
        ("accuracy=0.999", 1, "at least 99.9% is asked for"),
        ("lower(accuracy) >= 0.999", 1, "at least 99.9% is asked for"),
        ("accuracy >> 0.9", 2, "at column 11; write a gate, such as accuracy >= 0.9"),
        ("accuracy", 2, "expected a comparison"),
        ("accuracy = many", 2, "at column 12"),
        ("acuracy >= 0.9", 2, "did you mean 'accuracy'?"),
    ],
)
def test_a_threshold_is_a_gate_under_either_name(
    run: Run, files: Files, option: str, text: str, code: int, said: str
) -> None:
    ran = run("score", *files.inputs, "-q", "--bootstrap", "100", option, text)
    assert ran.code == code and said in ran.err, ran.err


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
