"""`fieldassay run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from fieldassay.commands.cli.extract import (
    INCOMPLETE,
    INTERRUPTED,
    NOTHING,
    make_watch,
    read_work_options,
    resumable,
    show_estimates,
    work_options,
)
from fieldassay.commands.cli.grouping import GroupedCommand, option
from fieldassay.commands.cli.inputs import gold_option, spec_options
from fieldassay.commands.cli.report import VERBOSE

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("systems", metavar="[SYSTEMS]", required=False, type=_PATH)
@option("-d", "--docs", group="Inputs", metavar="PATH", type=_PATH, help="A folder of documents.")
@option(
    "--system",
    "names",
    group="Inputs",
    metavar="NAME",
    multiple=True,
    help="This system only; repeat for more.",
)
@option(
    "--match-docs",
    group="Inputs",
    metavar="DOC=GOLD",
    help="How the names of documents match those of gold, such as '{id}_scan.pdf={id}_expected' or "
    "'{reading}/{id}.txt'.  [default: one pattern that fits all]",
)
@spec_options
@gold_option
@work_options
@option(
    "-o",
    "--out",
    group="Output",
    metavar="DIR",
    type=_PATH,
    required=False,
    help="The folder of extractions and run.",
)
@option("--json", "is_json", group="Output", is_flag=True, help="Print sweep.json.")
@option("-q", "--quiet", group="Output", is_flag=True, help="Print nothing but errors.")
@option("-v", "--verbose", "is_verbose", group="Output", is_flag=True, help=VERBOSE)
def run(**given: Any) -> int:
    """Extract with several systems, score and compare them.

    SYSTEMS is a file of systems; without one, `rules` runs, offline. Documents without gold are left out.
    After an interruption, give the same command again.

    \b
    fieldassay run systems.yaml --docs scans --spec spec.yaml --gold gold.jsonl --out sweep
    """
    from fieldassay.commands.cli.inputs import read_spec_option
    from fieldassay.commands.cli.output import keep_output_clean, show_extraction
    from fieldassay.commands.cli.thresholds import find_exit_code
    from fieldassay.commands.extract import SweepOptions, estimate
    from fieldassay.commands.extract import run as run_systems
    from fieldassay.scoring.inputs import ScoreOptions

    for name in ("--docs", "--gold"):
        if given[name[2:]] is None:
            raise click.UsageError(f"Missing option '{name}'.")
    options = SweepOptions(
        read_work_options(given),
        ScoreOptions(),
        tuple(given["names"]),
        given["match_docs"],
        ("fieldassay", *sys.argv[1:]),
    )
    inputs = (given["docs"], read_spec_option(given), given["gold"])
    if given["is_dry"]:
        with keep_output_clean():
            found = estimate(*inputs, given["systems"], options)
        show_estimates(found, is_json=given["is_json"])
        return 0
    if given["out"] is None:
        raise click.UsageError("say where extractions and run go: --out DIR.")
    with resumable(), keep_output_clean(), show_extraction(given["quiet"]) as progress:
        watch = make_watch(progress, is_quiet=given["quiet"] or given["is_json"])
        made = run_systems(*inputs, given["out"], given["systems"], options, watch)
    _show(made, given)
    if made.is_interrupted:
        return INTERRUPTED
    if not made.is_complete:
        return INCOMPLETE
    if not any(one.counts["predicted"] for one in made.extractions.values()):
        return NOTHING
    return find_exit_code(made.run.decisions if made.run is not None else (), (), is_strict=False)


def _show(made: Any, given: Any) -> None:
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.commands.cli.report import write_reports

    if made.run is not None:
        write_reports(made.run, [("html", None)], "all", is_quiet=True)
    if given["is_json"]:
        write(made.summary_text())
        return
    if given["quiet"]:
        return
    from fieldassay.reports.content.run.summary import summarize
    from fieldassay.reports.content.run.terminal import render_answer, render_terminal
    from fieldassay.reports.content.runs import render_sweep

    if made.run is not None:
        summary = summarize(made.run.result, made.run.evidence, shows_all=False, decisions=made.run.decisions)
        render = render_terminal if given["is_verbose"] else render_answer
        write(render(summary, screen()))
    write(render_sweep(made))
