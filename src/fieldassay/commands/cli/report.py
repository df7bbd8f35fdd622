"""The commands `report` and `runs`: which runs there are, and what is written of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from fieldassay.commands.cli.grouping import GroupedCommand, GroupedCommands, json_option, option
from fieldassay.commands.cli.inputs import (
    Inputs,
    read_inputs,
    read_plan_option,
    read_section_options,
)
from fieldassay.reports.formats import FORMATS

if TYPE_CHECKING:
    from fieldassay.reports.report import Reported, ReportOptions
    from fieldassay.runs.run import Run
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


_PATH = click.Path(path_type=Path)
SUMMARY = "GITHUB_STEP_SUMMARY"
STDOUT = "-"
HTML = "html"
VERBOSE = "Print all metrics, fields, comparisons, gates and notes."


def report_options(command: Command) -> Command:
    """Add `--report` to a command that scores."""
    text = f"Write a report, into --out or to FILE; repeat for more: {', '.join(FORMATS)}."
    reports: Callable[[Command], Command] = option(
        "--report", "reports", group="Output", metavar="FORMAT[=FILE]", multiple=True, help=text
    )
    opens: Callable[[Command], Command] = option(
        "--open",
        "opens",
        group="Output",
        is_rare=True,
        is_flag=True,
        help="Open the HTML report.",
    )
    return reports(opens(command))


def read_report_options(params: Mapping[str, Any]) -> tuple[tuple[str, Path | None], ...]:
    """Return the formats and files (None: in the folder of the run) of `--report`.

    Raises UsageError for invalid ones.
    """
    texts = list(params["reports"])
    if params["opens"] and not any(text.partition("=")[0] == HTML for text in texts):
        texts.append(HTML)
    if not texts:
        return ()
    from fieldassay.errors import nearest

    files: list[tuple[str, Path | None]] = []
    for text in texts:
        name, equals, file = text.partition("=")
        if name not in FORMATS:
            raise click.UsageError(f"--report {text}: no report is called {name!r}; {nearest(name, FORMATS)}")
        if not file and (equals or (params["out"] is None and params["store"] is None)):
            flag = f"--report {text}" if text in params["reports"] else "--open"
            raise click.UsageError(
                f"{flag}: say where it goes: --report {name}=FILE, or give --out DIR or --runs DIR."
            )
        _check_file(text, file, params)
        files.append((name, Path(file) if file else None))
    if len({(name,) if path is None else path.resolve() for name, path in files}) < len(files):
        raise click.UsageError("--report: two reports would go to the same file.")
    return tuple(files)


def _check_file(text: str, file: str, params: Mapping[str, Any]) -> None:
    """Refuse a file that cannot be meant, before anything is scored."""
    if file == STDOUT:
        raise click.UsageError(
            f"--report {text}: name a file; `fieldassay report RUN` writes to standard output."
        )
    read = [params["gold"], params["spec"], *(pred.partition("=")[2] or pred for pred in params["preds"])]
    if file and Path(file).resolve() in {Path(path).resolve() for path in read if path}:
        raise click.UsageError(f"--report {text}: would overwrite an input; name another file.")
    if file and (not Path(file).parent.is_dir() or Path(file).is_dir()):
        raise click.UsageError(
            f"--report {text}: is a folder, or its folder is missing; name a file in a folder that exists."
        )


def write_reports(
    run: Run,
    reports: Sequence[tuple[str, Path | None]],
    extent: str | None,
    *,
    is_quiet: bool,
    opens: bool = False,
) -> None:
    """Write the reports of a finished run; with `opens` the HTML report is opened in the browser."""
    if not reports:
        return
    from fieldassay.commands.cli.output import complain, open_page
    from fieldassay.reports.report import report_scored, write_report

    reported = report_scored(run.result, run.evidence, run.decisions, extent)
    for name, file in reports:
        path = (run.folder if run.is_saved else Path()) / FORMATS[name].file if file is None else file
        write_report(reported, name, path)
        if not is_quiet:
            complain(f"written to {path}: {name} report")
        if opens and name == HTML:
            open_page(path)


@click.command(cls=GroupedCommand)
@click.argument("run")
@click.option(
    "-f",
    "--format",
    "shape",
    type=click.Choice(list(FORMATS)),
    help=(
        "github is a step summary, annotations are GitHub's, comment is for a pull request.  "
        "[default: by the ending of --out, else table]"
    ),
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=_PATH,
    help="Write to this file; its ending sets the format.",
)
@click.option(
    "--table",
    metavar="NAME",
    help=(
        "Print or write data: values (for .csv, .xlsx, .parquet), results (.json), metrics (.tex), "
        "estimates, fields, levels, errors, comparison, suspicious-gold, curve."
    ),
)
@click.option("--system", metavar="NAME", help="With --table: this system only.")
@click.option(
    "--open",
    "opens",
    is_flag=True,
    help="Open the HTML report.",
)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help=VERBOSE)
@lookup_option
@click.option(
    "--against",
    metavar="RUN",
    help="Show what was fixed and broken since this earlier run.",
)
@click.option(
    "--name",
    metavar="NAME",
    default="report",
    show_default=True,
    help="The name of a comment, where a pull request has several.",
)
@click.option(
    "--documents",
    metavar="PATH",
    type=_PATH,
    help=("Show pictures of these documents where wrong values were read."),
)
def report(**params: Any) -> int:
    """Write a report of a run, or its data.

    RUN is a run's folder, or its id, name or `latest` in the store. `--format github` without --out
    adds to GitHub's step summary.

    \b
    fieldassay report run --open
    fieldassay report run -o report.html --documents docs
    fieldassay report run --format comment --name invoices -o comment.md
    fieldassay report run -o values.xlsx
    fieldassay report run --table suspicious-gold
    """
    from fieldassay.commands.cli.output import complain, open_page
    from fieldassay.reports.export.export import BY_ENDING, check_system
    from fieldassay.reports.report import read_reported, write_report
    from fieldassay.runs.run import Run

    target = params["out"]
    is_table = params["shape"] is None and target is not None and target.suffix.lower() in BY_ENDING
    if params["table"] is not None or is_table:
        return _table(params)
    params = {**params, "shape": _shape(params)}
    folder = find_stored(params["run"], params["store"])
    if params["system"] is not None:
        check_system(Run.open(folder), params["system"])
        raise click.UsageError("--system limits a table: add --table.")
    params["out"] = params["out"] or (folder / FORMATS[HTML].file if params["opens"] else None)
    options = _options(params)
    reported = read_reported(folder)
    if params["against"] is not None:
        reported = _hold(reported, folder, params)
    if params["out"] is not None:
        write_report(reported, params["shape"], params["out"], options)
        complain(f"written to {params['out']}: {params['shape']} report")
        if params["opens"]:
            open_page(params["out"])
        return 0
    _print(reported, params["shape"], options)
    return 0


def _table(params: Mapping[str, Any]) -> int:
    """Write or print a table of one run."""
    from fieldassay.commands.cli.output import complain, screen, write
    from fieldassay.reports.export.export import export_run, print_table

    name, target = params["table"], params["out"]
    if params["shape"] is not None or params["opens"]:
        raise click.UsageError("--table goes without --format and --open.")
    folder = find_stored(params["run"], params["store"])
    if target is None:
        write(print_table(folder, name, params["system"], screen()))
    else:
        content = export_run(folder, target, params["system"], name)
        complain(f"written to {target}: {content}")
    return 0


ENDINGS = {".txt": "table", ".xml": "junit", ".md": "markdown", ".html": "html"}
"""The format for each ending of a file."""


def _shape(params: Mapping[str, Any]) -> str:
    """Return the format: the one given, else that of the file's ending; raise UsageError without either."""
    target, default = params["out"], HTML if params["opens"] else "table"
    shape = params["shape"] or (default if target is None else ENDINGS.get(target.suffix.lower()))
    if params["opens"] and shape is not None and shape != HTML:
        raise click.UsageError(f"--open shows the HTML report, and this one is {shape}; leave out --format.")
    if shape is None:
        from fieldassay.reports.export.export import BY_ENDING

        endings = ", ".join([*ENDINGS, *BY_ENDING])
        raise click.UsageError(
            f"--out {target}: the ending names no format; give --format, or one of: {endings}."
        )
    return str(shape)


def _options(params: Mapping[str, Any]) -> ReportOptions:
    from fieldassay.commands.cli.output import screen
    from fieldassay.reports.report import FILE_SCREEN, ReportOptions

    where = screen() if params["out"] is None else FILE_SCREEN
    is_whole = params["is_verbose"] or params["out"] is not None
    return ReportOptions(params["name"], screen=where, is_whole=is_whole, documents=params["documents"])


def _hold(reported: Reported, folder: Path, params: Mapping[str, Any]) -> Reported:
    """Return the run with its changes since an earlier one; raise UsageError where there can be none."""
    from msgspec.structs import replace

    from fieldassay.reports.report import read_diffs

    if params["shape"] not in ("html", "github", "comment"):
        raise click.UsageError("--against needs --format html, github or comment.")
    before = find_stored(params["against"], params["store"])
    if before.resolve() == folder.resolve():
        raise click.UsageError(f"--against {params['against']}: is the run itself; name an earlier one.")
    return replace(reported, diffs=read_diffs(before, folder, reported.result.systems))


def _print(reported: Reported, shape: str, options: ReportOptions) -> None:
    """Write a report to standard output; a step summary to the file that GitHub names for it."""
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.reports.report import append_report, render_report

    summary = os.environ.get(SUMMARY)
    if shape == "github" and summary:
        append_report(reported, shape, Path(summary), options)
        complain("appended to the step summary")
        return
    for text in render_report(reported, shape, options):
        write(text, has_commands=shape == "annotations")
