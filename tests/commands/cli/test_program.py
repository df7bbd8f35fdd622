"""The program as a whole: fast help, exit codes, errors without tracebacks, hostile output."""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from command_runs import Files, Ran, spawn

from fieldassay.commands.cli.main import COMMANDS, commands

Run = Callable[..., Ran]
MOST_MODULES = 200
"""Modules that help may import, those of Python and of the command line itself included."""

HELPS = """
import sys
from fieldassay.commands.cli.main import main
heavy = {'numpy', 'polars', 'scipy', 'rich', 'pydantic', 'ruamel', 'babel', 'msgspec'}
for name in sys.argv[1:]:
    main([*name.split(), '--help'])
    print(name, len(sys.modules), *sorted(heavy & set(sys.modules)), sep='\t', file=sys.stderr)
"""


@pytest.mark.slow
def test_help_starts_fast_for_it_imports_little_and_nothing_heavy() -> None:
    """One process for all commands: none may leave anything heavy behind."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", HELPS, *COMMANDS], capture_output=True, text=True, check=True, env=environment
    )
    told = {
        name: (int(count), heavy)
        for name, count, *heavy in (line.split("\t") for line in ran.stderr.splitlines())
    }
    assert list(told) == list(COMMANDS)
    assert {name: heavy for name, (_, heavy) in told.items() if heavy} == {}
    assert told[next(iter(COMMANDS))][0] < MOST_MODULES


def test_version_is_told(run: Run) -> None:
    assert run("--version").out.startswith("fieldassay, version ")


def test_internal_error_is_one_line_without_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("boom\x1b[31m")

    monkeypatch.setattr("fieldassay.spec.presets.catalogue.preset_heads", fail)
    monkeypatch.delenv("FIELDASSAY_DEBUG", raising=False)
    ran = run("protocols", "list")
    assert ran.code == 70
    assert (
        ran.err
        == "internal error: RuntimeError: boom\\x1b[31m; run with FIELDASSAY_DEBUG=1 for the traceback\n"
    )
    monkeypatch.setenv("FIELDASSAY_DEBUG", "1")
    with pytest.raises(RuntimeError, match="boom"):
        run("protocols", "list")


@pytest.mark.parametrize("encoding", ["ascii"])
@pytest.mark.slow
def test_narrow_encodings_lose_nothing_but_shapes(files: Files, encoding: str) -> None:
    process = spawn(
        "explain", "--type", "text", "Zoë 東京", "Zoe", environment={"PYTHONIOENCODING": encoding}
    )
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0 and err == b""
    assert b"\\u6771\\u4eac" in out and b"accents only" not in err


@pytest.mark.parametrize("width", ["60", "80", "120", "200"])
def test_no_line_is_wider_than_the_terminal(
    run: Run, files: Files, monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    shown = (["score", "--bootstrap", "20"], ["score", "--check"], ["explain", "d1", "lines"])
    for arguments in (*([name, *files.inputs, *rest] for name, *rest in shown), ["protocols", "list"]):
        assert max(map(len, run(*arguments).out.splitlines())) <= int(width)


def test_command_reference_is_generated_from_the_help() -> None:
    import importlib.util

    path = Path(__file__).parents[3] / "docs" / "generate.py"
    spec = importlib.util.spec_from_file_location("generate_docs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (path.parent / "cli.md").read_text(encoding="utf-8") == module.render_reference()


@pytest.mark.parametrize("name", [*COMMANDS, "runs list", "baseline set"])
def test_help_shows_every_option_once_and_whole(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    command: click.Command = commands
    for part in name.split():
        assert isinstance(command, click.Group)
        found = command.get_command(click.Context(command), part)
        assert found is not None
        command = found
    is_long = any(getattr(one, "is_rare", False) for one in command.params)
    lines = run(*name.split(), "--help-all" if is_long else "--help").out
    said, whole = " ".join(lines.split()), "".join(lines.split())
    for option in (one for one in command.params if isinstance(one, click.Option)):
        assert option.help is not None and "".join(option.help.split()) in whole, option.opts
        assert re.search(rf"[ ,/]{re.escape(option.opts[-1])}[ ,/]", said), option.opts


@pytest.mark.parametrize("group", [[], ["runs"], ["baseline"], ["protocols"]], ids=" ".join)
def test_list_of_commands_cuts_no_description(
    run: Run, group: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = run(*group, "--help").out
    names = [inner.split("  ")[0] for inner in re.findall(r"\n  ([a-z]+  )", said)]
    assert (
        "..." not in said.replace("[ARGS]...", "") and len(names) > 1 and (group or names == list(COMMANDS))
    )


CLOSED = """
import sys
from fieldassay.commands.cli.main import run_program
for command in sys.argv[1:]:
    sys.argv = ["fieldassay", *command.split()]
    assert run_program() == 0
"""
"""Three commands in one process, which starts once with its streams closed."""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="descriptors that are closed from the start")
@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code_and_keep_no_file_from_being_written(
    files: Files, closed: str
) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PROGRAM": CLOSED}
    score = f"score {' '.join(files.inputs)} --bootstrap 9 --out run"
    ran = subprocess.run(
        f'{sys.executable} -c "$PROGRAM" "{score}" "report run -o page.md" "report run -o values.csv" {closed}',
        shell=True,
        timeout=100,
        env=environment,
        capture_output=True,
        cwd=files.folder,
    )
    assert ran.returncode == 0, ran.stderr
    assert all((files.folder / name).is_file() for name in ("run/run.json", "page.md", "values.csv"))


LOST = """
import signal, sys, threading, time, weakref
import click
from fieldassay.commands.cli import main
class Thing:
    def __del__(self):
        if place == "finalizer":
            signal.raise_signal(number)
@click.command()
def wait():
    thing = Thing()
    held = weakref.ref(thing, lambda _: signal.raise_signal(number) if place == "weakref" else None)
    del thing
    print("goes on", flush=True)
    threading.Event().wait(60)
place, number = sys.argv[1], getattr(signal, sys.argv[2])
sys.argv, main.wait = ["fieldassay", "demo"], wait
main.COMMANDS["demo"] = "fieldassay.commands.cli.main:wait"
sys.exit(main.run_program())
"""


@pytest.mark.parametrize(("place", "number"), [("weakref", "SIGINT"), ("finalizer", "SIGTERM")])
def test_an_interrupt_is_kept_where_python_drops_exceptions(place: str, number: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", LOST, place, number],
        capture_output=True,
        text=True,
        timeout=50,
        env=environment,
    )
    assert (ran.returncode, ran.stdout, ran.stderr.strip()) == (130, "goes on\n", "interrupted"), ran


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [150, 300, 590])
@pytest.mark.parametrize("command", ["score", "extract"])
def test_a_limit_of_memory_that_is_too_low_ends_in_a_sentence(
    files: Files, tmp_path: Path, command: str, megabytes: int
) -> None:
    arguments = {
        "score": files.inputs,
        "extract": ["--docs", files.folder, "-s", files.folder / "spec.yaml", "--out", tmp_path / "out"],
    }[command]
    limit = f"import resource, os, sys; resource.setrlimit(resource.RLIMIT_AS, ({megabytes * 10**6},) * 2); "
    code = f"{limit}os.execv(sys.executable, [sys.executable, '-P', '-m', 'fieldassay.commands.cli.main', *sys.argv[1:]])"
    done = subprocess.run(
        [sys.executable, "-c", code, command, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"not enough memory: the limit is {megabytes} MB; raise it to 600 MB (ulimit -v)\n"
