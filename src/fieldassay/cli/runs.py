"""`fieldassay runs`: the runs of a store, and its maintenance."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fieldassay.cli.grouping import GroupedCommands, json_option
from fieldassay.cli.storing import lookup_option

if TYPE_CHECKING:
    from fieldassay.diffs.run_changes import Changes
    from fieldassay.runs.pruning import Pruning
    from fieldassay.runs.run import Run

Command = TypeVar("Command", bound=Callable[..., Any])


@click.group(cls=GroupedCommands)
def runs() -> None:
    """The runs that `fieldassay score --runs DIR` wrote: list, look, tag, remove.

    ID is an id or its beginning, a tag, `latest`, a folder in the store, or the path of a run.

    \b
    fieldassay score --spec spec.yaml --gold gold.jsonl --pred llama.jsonl --runs runs
    fieldassay runs list
    fieldassay runs tag latest baseline
    fieldassay runs history invoice-17 total
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
@click.option("--tag", metavar="TAG", help="Only the run with this tag.")
@click.option(
    "--baseline",
    "file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Show the change against the baseline in this file instead.",
)
def list_runs(**given: Any) -> int:
    """List runs, the newest first, with their headline and its change against the run tagged `baseline`."""
    from datetime import UTC, datetime

    from fieldassay.atomic.staging import list_leftovers
    from fieldassay.cli.output import screen, write
    from fieldassay.cli.show.runs import Listed, listed_json, render_listed
    from fieldassay.runs.listing import Query, list_stored

    store: Path = given["store"]
    listing = list_stored(store, Query(given["system"], given["spec"], given["tag"], given["limit"]))
    changes = _changes(store, given["file"], listing.runs)
    listed = Listed(store, listing, changes, tuple(list_leftovers(store, datetime.now(UTC))))
    write(listed_json(listed) if given["is_json"] else render_listed(listed, screen()))
    return 0


def _changes(store: Path, file: Path | None, listed: Sequence[Run]) -> Mapping[Path, Changes]:
    """Return the changes of runs against the baseline: that of a file, else the run tagged so, else none."""
    from fieldassay.diffs.run_changes import find_baseline, find_changes

    if file is not None:
        from fieldassay.gates.baseline.file_changes import find_file_changes

        return find_file_changes(file, listed)
    baseline = find_baseline(store)
    return {} if baseline is None else find_changes(baseline, listed)


@runs.command()
@click.argument("id")
@lookup_option
@json_option
def show(id: str, store: Path, is_json: bool) -> int:
    """Show one run: its inputs, its results, and its folder."""
    from fieldassay.cli.output import screen, write
    from fieldassay.cli.show.runs import render_run, run_json
    from fieldassay.runs.listing import load_run

    folder = _find(id, store)
    run = load_run(folder, _tags(folder))
    changes = _changes(folder.parent, None, [run]).get(run.folder, {})
    write(run_json(run, changes) if is_json else render_run(run, changes, screen()))
    return 0


@runs.command()
@click.argument("id")
@click.argument("tag")
@lookup_option
@click.option("--remove", "is_removal", is_flag=True, help="Take the tag off.")
def tag(id: str, tag: str, store: Path, is_removal: bool) -> int:
    """Give a run a tag; a run that had the tag loses it.

    Tagged runs are kept by `runs prune`. The run tagged `baseline` is the reference of
    `runs list`.
    """
    from datetime import UTC, datetime

    from fieldassay.cli.output import complain
    from fieldassay.runs.tagging import tag_run, untag_run

    folder = _find(id, store)
    if is_removal:
        untag_run(folder, tag)
        complain(f"{tag} is no tag of {folder.name} any more")
        return 0
    before = tag_run(folder, tag, datetime.now(UTC))
    complain(
        f"{folder.name} is tagged {tag}" + (f", which was {before.name} before" if before is not None else "")
    )
    return 0


@runs.command("rm")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@lookup_option
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
def remove(ids: Sequence[str], store: Path, is_sure: bool) -> int:
    """Remove runs for good. A run with files in its folder that are not its own is left alone."""
    from fieldassay.atomic.staging import discard, list_foreign
    from fieldassay.cli.output import complain
    from fieldassay.errors import Problem, ProblemsError
    from fieldassay.runs.run_file import OWN_FILES

    folders = _find_all(ids, store)
    if not is_sure:
        if not sys.stdin.isatty():
            raise click.UsageError("nobody can be asked here; give --yes to remove runs.")
        for folder in folders:
            complain(f"{folder}{_named(_tags(folder))}")
        click.confirm(f"Remove {len(folders)} for good?", abort=True, err=True)
    problems = []
    for folder in folders:
        foreign = list_foreign(folder, OWN_FILES)
        if foreign:
            what = f"has files that are not the run's: {', '.join(path.name for path in foreign[:5])}"
            problems.append(Problem(str(folder), what, "move them elsewhere first", "foreign_files"))
            continue
        try:
            discard(folder)
        except OSError as error:
            problems.append(
                Problem(
                    str(folder),
                    f"cannot be removed ({error.strerror or error})",
                    "see who may write there",
                    "run_folder",
                )
            )
            continue
        complain(f"removed {folder}")
    if problems:
        raise ProblemsError(problems)
    return 0


@runs.command()
@lookup_option
@click.option("--keep", metavar="N", type=click.IntRange(0), help="Keep the newest N runs.")
@click.option("--older-than", metavar="AGE", help="Remove runs older than this: 30d, 12h, 4w.")
@click.option("--dry-run", "is_dry", is_flag=True, help="Only list the runs to remove.")
@json_option
def prune(store: Path, keep: int | None, older_than: str | None, is_dry: bool, is_json: bool) -> int:
    """Remove old runs, and the leftovers of killed ones.

    Tagged runs are kept, and so are damaged ones, which `runs rm` removes, and those with files that are not
    their own. Without --keep and --older-than no run is removed.
    """
    from datetime import UTC, datetime

    from fieldassay.cli.output import complain
    from fieldassay.runs.pruning import parse_age, plan_pruning
    from fieldassay.runs.pruning import prune as remove_planned

    if keep is not None and older_than is not None:
        raise click.UsageError("Give --keep N or --older-than AGE, not both.")
    try:
        age = None if older_than is None else parse_age(older_than)
    except ValueError as error:
        raise click.UsageError(f"--older-than: {error}.") from None
    plan = plan_pruning(store, datetime.now(UTC), keep, age)
    if not is_dry:
        remove_planned(plan)
    if is_json:
        from fieldassay.cli.output import json_text, write

        write(json_text(plan.to_dict()))
        return 0
    for line in _describe_pruning(plan, "would be removed" if is_dry else "removed"):
        complain(line)
    return 0


@runs.command()
@click.argument("document", metavar="[DOC", required=False)
@click.argument("field", metavar="FIELD]", required=False)
@lookup_option
@json_option
@click.option(
    "-f",
    "--format",
    "shape",
    type=click.Choice(["html", "svg"]),
    help="Without DOC and FIELD: the headline of every run as a drawing, or a page with it.",
)
@click.option("--system", metavar="NAME", help="Only this system.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="How many runs are looked at, the newest.",
)
def history(document: str | None, field: str | None, store: Path, **given: Any) -> int:
    """Show how one value of one document was judged, run after run; or draw the history of the runs.

    FIELD is a path or a pattern of paths: `total`, `lines[2].amount`, `lines[].amount`, `**.unit`.

    \b
    fieldassay runs history invoice-17 total
    fieldassay runs history --format svg > history.svg
    """
    from fieldassay.cli.output import screen, write
    from fieldassay.cli.show.history import history_json, render_history
    from fieldassay.runs.listing import Query, list_stored
    from fieldassay.runs.value_history import trace_value

    is_drawn, system = given["shape"] is not None, given["system"]
    if is_drawn and (document is not None or given["is_json"]):
        raise click.UsageError("--format draws the history of runs; leave out DOC, FIELD and --json.")
    if not is_drawn and (document is None or field is None):
        raise click.UsageError(
            "name DOC and FIELD, or draw the history of the runs with --format svg or html."
        )
    listing = list_stored(store, Query(system=system, limit=given["limit"]))
    if document is None or field is None:
        write(_draw_history(listing.runs, given["shape"]))
        return 0
    found = trace_value(listing.runs, document, field, system)
    write(
        history_json(document, field, found)
        if given["is_json"]
        else render_history(document, field, found, screen())
    )
    return 0


def _draw_history(listed: Sequence[Run], shape: str) -> str:
    from fieldassay.reports.run_history import draw_history, gather_history, render_history_page

    found = gather_history(listed)
    return draw_history(found) if shape == "svg" else render_history_page(found)


def _find(reference: str, store: Path) -> Path:
    from fieldassay.runs.locate import find_run

    return find_run(reference, store)


def _find_all(references: Sequence[str], store: Path) -> list[Path]:
    """Return the folders of all runs, each once; raise `ProblemsError` with every unknown reference."""
    from fieldassay.errors import Problem, ProblemsError

    problems: list[Problem] = []
    found: dict[Path, Path] = {}
    for reference in references:
        try:
            folder = _find(reference, store)
            found.setdefault(folder.resolve(), folder)
        except ProblemsError as error:
            problems += error.problems
    if problems:
        raise ProblemsError(problems)
    return list(found.values())


def _tags(folder: Path) -> tuple[str, ...]:
    from fieldassay.runs.locate import list_places, own_tags

    return own_tags(list_places(folder.parent)).get(folder, ())


def _named(tags: Sequence[str]) -> str:
    return f" (tagged {', '.join(tags)})" if tags else ""


def _describe_pruning(plan: Pruning, done: str) -> list[str]:
    from fieldassay.wording.numbers import format_count

    lines = [f"{done}: {run.folder}" for run in plan.runs]
    lines += [f"{done}: {leftover.path} (left by a run that was killed)" for leftover in plan.leftovers]
    lines += [f"kept: {run.folder}{_named(run.tags)}" for run in plan.tagged]
    lines += [f"kept: {run.folder} (damaged: {run.damage}; see `fieldassay runs rm`)" for run in plan.damaged]
    lines += [f"kept: {run.folder} (has files that are not the run's)" for run in plan.foreign]
    return [*lines, f"{format_count(len(plan.runs), 'run')} {done}"]
