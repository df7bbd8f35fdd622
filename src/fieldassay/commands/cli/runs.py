"""Runs of the store: how they are looked up, kept and listed; the commands of `fieldassay runs`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import GroupedCommands, json_option, option
from fieldassay.commands.cli.inputs import (
    Inputs,
    read_inputs,
    read_plan_option,
    read_section_options,
)

if TYPE_CHECKING:
    from fieldassay.spec.plan.nodes import Plan


# The sources of `fieldassay score`, and the store of its runs.

Command = TypeVar("Command", bound=Callable[..., Any])
STORE = Path("runs")
"""The default store of runs."""


store_option = option(
    "--runs",
    "store",
    group="Output",
    is_rare=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the run into this store of runs, under a name of its own.",
)
"""`--runs` of a command that scores."""


def lookup_option(command: Command) -> Command:
    """Add `--runs`, the store for looking up RUN, to a command on finished runs."""
    runs: Callable[[Command], Command] = click.option(
        "--runs",
        "store",
        metavar="DIR",
        type=click.Path(path_type=Path),
        default=STORE,
        show_default=True,
        help="The store of runs that RUN is looked up in.",
    )
    return runs(command)


def find_stored(reference: str, store: Path | None) -> Path:
    """Return the folder of the run that a command names; `store` is that of its `--runs`."""
    from fieldassay.runs.run_file import find_run

    return find_run(reference, store or STORE)


class Sources(NamedTuple):
    """The sources of a scoring run: inputs and plan, and how values are read where no spec says it."""

    inputs: Inputs
    plan: Plan
    guess: str = ""


def read_sources(given: Mapping[str, Any]) -> Sources:
    """Return the sources by the options of `score`."""
    if given["out"] is not None and given["store"] is not None:
        raise click.UsageError("--out names one run, --runs a store of runs; give one of them.")
    from fieldassay.spec.plan.compile import with_sections

    inputs = read_inputs(given)
    has_spec = given["spec"] is not None or given["protocol"] is not None
    guess, plan = ("", read_plan_option(given)) if has_spec else _guess(inputs, given)
    return Sources(inputs, with_sections(plan, **read_section_options(given)), guess)


_DECIDING = {
    "thresholds": "--gate",
    "baseline": "--baseline",
    "regressions": "--fail-on-regression",
    "strict": "--strict",
}


def _guess(inputs: Inputs, given: Mapping[str, Any]) -> tuple[str, Plan]:
    """Return how values are read, in words, and the plan of that."""
    from fieldassay.commands.init import keeping, spec_from_gold

    keeps = keeping(inputs.gold, inputs.predictions)
    named = next((flag for name, flag in _DECIDING.items() if given[name]), None)
    if named is not None:
        raise click.UsageError(
            f"{named} needs a written spec, since a guess may change with the data: {keeps}, then "
            "--spec spec.yaml."
        )
    if "-" in (inputs.gold, *inputs.predictions.values()):
        raise click.UsageError(
            "Standard input is read once, and a guess reads it before: give --spec, or a file."
        )
    draft = spec_from_gold(inputs.gold, predictions=inputs.predictions, sections=read_section_options(given))
    return f"{draft.guess}\nkeep it with: {keeps}", draft.plan


# `fieldassay runs`: the runs of a store, and its maintenance.


@click.group(cls=GroupedCommands)
def runs() -> None:
    """List, show and remove runs.

    ID is an id or its beginning, `latest`, a folder in the store, or the path of a run.

    \b
    fieldassay score --spec spec.yaml --gold gold.jsonl --pred llama.jsonl --runs runs
    fieldassay runs list
    """


@runs.command("list")
@lookup_option
@json_option
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="How many runs are listed, the newest first.",
)
@click.option("--system", metavar="NAME", help="Only runs with this system.")
@click.option("--spec", metavar="NAME", help="Only runs of the spec with this name.")
def list_runs(**given: Any) -> int:
    """List runs, the newest first, with their headline."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.io.files.whole_files import list_leftovers
    from fieldassay.reports.content.runs import Listed, listed_json, render_listed
    from fieldassay.runs.run import list_stored

    store: Path = given["store"]
    listing = list_stored(store, given["system"], given["spec"], given["limit"])
    listed = Listed(store, listing, list_leftovers(store))
    write(listed_json(listed) if given["is_json"] else render_listed(listed, screen()))
    return 0


@runs.command()
@click.argument("id")
@lookup_option
@json_option
def show(id: str, store: Path, is_json: bool) -> int:
    """Show one run: its inputs, its results, and its folder."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.reports.content.runs import render_run, run_json
    from fieldassay.runs.run import load_run

    run = load_run(find_stored(id, store))
    write(run_json(run) if is_json else render_run(run, screen()))
    return 0


@runs.command("rm")
@click.argument("ids", metavar="ID...", nargs=-1)
@lookup_option
@click.option("--leftovers", "has_leftovers", is_flag=True, help="Remove what killed runs left in the store.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
def remove(ids: Sequence[str], store: Path, has_leftovers: bool, is_sure: bool) -> int:
    """Remove runs for good. A run with files in its folder that are not its own is left alone."""
    from fieldassay.commands.cli.output import complain
    from fieldassay.errors import Problem, ProblemsError
    from fieldassay.io.files.whole_files import discard, list_foreign
    from fieldassay.runs.run import list_dead
    from fieldassay.runs.run_file import OWN_FILES

    if not ids and not has_leftovers:
        raise click.UsageError("name the runs to remove, or give --leftovers.")
    folders = _find_all(ids, store)
    if folders and not is_sure:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody can be asked here; give --yes to remove runs.")
        for folder in folders:
            complain(str(folder))
        click.confirm(f"Remove {len(folders)} for good?", abort=True, err=True)
    problems = []
    for path in (*folders, *(list_dead(store) if has_leftovers else ())):
        foreign = list_foreign(path, OWN_FILES) if path in folders else ()
        if foreign:
            what = f"has files that are not the run's: {', '.join(path.name for path in foreign[:5])}"
            problems.append(Problem(str(path), what, "move them elsewhere first", "foreign_files"))
            continue
        try:
            discard(path)
        except FileNotFoundError:  # another process was faster
            continue
        except OSError as error:
            what = f"cannot be removed ({error.strerror or error})"
            problems.append(Problem(str(path), what, "see who may write there", "run_folder"))
            continue
        complain(f"removed {path}")
    if problems:
        raise ProblemsError(problems)
    return 0


def _find_all(references: Sequence[str], store: Path) -> list[Path]:
    """Return the folders of all runs, each once; raise `ProblemsError` with every unknown reference."""
    from fieldassay.errors import Problem, ProblemsError

    problems: list[Problem] = []
    found: dict[Path, Path] = {}
    for reference in references:
        try:
            folder = find_stored(reference, store)
            found.setdefault(folder.resolve(), folder)
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return list(found.values())
