"""Runs of the store: how they are looked up, kept and listed; the commands of `fieldassay runs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
    help="Write the run into this store.",
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
        help="The store of runs.",
    )
    return runs(command)


def find_stored(reference: str, store: Path | None) -> Path:
    """Return the folder of the run that a command names; `store` is that of its `--runs`."""
    from fieldassay.runs.files import find_run

    return find_run(reference, store or STORE)


class Sources(NamedTuple):
    """The sources of a scoring run: inputs and plan, and how values are read where no spec says it."""

    inputs: Inputs
    plan: Plan
    guess: str = ""


def read_sources(params: Mapping[str, Any]) -> Sources:
    """Return the sources by the options of `score`."""
    if params["out"] is not None and params["store"] is not None:
        raise click.UsageError("--out names one run, --runs a store of runs; give one of them.")
    from fieldassay.spec.plan.compile import with_sections

    inputs = read_inputs(params)
    has_spec = params["spec"] is not None or params["protocol"] is not None
    guess, plan = ("", read_plan_option(params)) if has_spec else _guess(inputs, params)
    return Sources(inputs, with_sections(plan, **read_section_options(params)), guess)


_DECIDING = {
    "thresholds": "--gate",
    "baseline": "--baseline",
    "regressions": "--fail-on-regression",
    "strict": "--strict",
}


def _guess(inputs: Inputs, params: Mapping[str, Any]) -> tuple[str, Plan]:
    """Return how values are read, in words, and the plan of that."""
    from fieldassay.commands.init import keeping, spec_from_gold

    keeps = keeping(inputs.gold, inputs.predictions)
    named = next((flag for name, flag in _DECIDING.items() if params[name]), None)
    if named is not None:
        raise click.UsageError(
            f"{named} needs a written spec, since a guess may change with the data: {keeps}, then "
            "--spec spec.yaml."
        )
    if "-" in (inputs.gold, *inputs.predictions.values()):
        raise click.UsageError(
            "A guessed spec reads the data twice, standard input only once: give --spec, or a file."
        )
    draft = spec_from_gold(inputs.gold, predictions=inputs.predictions, sections=read_section_options(params))
    return f"{draft.guess}\nkeep it with: {keeps}", draft.plan


# `fieldassay runs`: the runs of a store.


@click.group(cls=GroupedCommands)
def runs() -> None:
    """List and show runs.

    ID is an id or its beginning, a name, `latest`, or a run's folder.

    \b
    fieldassay runs list
    """


@runs.command("list")
@lookup_option
@json_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="How many runs are listed.",
)
@click.option("--field", metavar="NAME", help="Show the accuracy of this field instead.")
@click.option("--slice", "slice_", metavar="KEY=VALUE", help="Show the main metric of this slice instead.")
def list_runs(store: Path, is_json: bool, limit: int, field: str | None, slice_: str | None) -> int:
    """List runs, the newest first, with their main metric.

    \b
    fieldassay runs list --slice type=invoice
    """
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.reports.content.runs import HistoryOf, listed_json, render_listed
    from fieldassay.runs.run import list_stored

    key, is_slice, value = (slice_ or "").partition("=")
    if slice_ is not None and not is_slice:
        raise click.UsageError("--slice takes KEY=VALUE, such as type=invoice.")
    shown = HistoryOf(field, {key: value} if is_slice else {})
    listing = list_stored(store, limit)
    write(listed_json(store, listing, shown) if is_json else render_listed(store, listing, shown, screen()))
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
