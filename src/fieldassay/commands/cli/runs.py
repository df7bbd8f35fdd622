"""`fieldassay runs`: the runs of a store, and its maintenance."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from fieldassay.commands.cli.grouping import GroupedCommands, json_option
from fieldassay.commands.cli.storing import find_stored, lookup_option

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group(cls=GroupedCommands)
def runs() -> None:
    """List, show and remove runs.

    ID is an id or its beginning, `latest`, a folder in the store, or the path of a run.

    \b
    fieldassay score --spec spec.yaml --gold gold.jsonl --pred llama.jsonl --runs runs
    fieldassay runs list
    fieldassay runs list --baseline fieldassay-baseline.json
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
@click.option(
    "--baseline",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Show the change of the headline against the baseline in this file.",
)
def list_runs(**given: Any) -> int:
    """List runs, the newest first, with their headline."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.decisions.baseline.runs import find_file_changes
    from fieldassay.io.files.whole_files import list_leftovers
    from fieldassay.reports.content.runs import Listed, listed_json, render_listed
    from fieldassay.runs.run import Query, list_stored

    store: Path = given["store"]
    listing = list_stored(store, Query(given["system"], given["spec"], given["limit"]))
    changes = {} if given["file"] is None else find_file_changes(given["file"], listing.runs)
    listed = Listed(store, listing, changes, tuple(list_leftovers(store)))
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
