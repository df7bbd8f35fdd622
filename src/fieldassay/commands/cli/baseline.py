"""`fieldassay baseline`: sets and shows the baseline of regression gates."""

from pathlib import Path
from typing import Any

import click

from fieldassay.commands.cli.grouping import GroupedCommands, json_option
from fieldassay.commands.cli.runs import find_stored, lookup_option
from fieldassay.commands.cli.thresholds import DEFAULT

_FILE = click.argument(
    "file", metavar="[FILE]", required=False, default=DEFAULT, type=click.Path(path_type=Path)
)
_METRICS = click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="These metrics, separated by commas.  [default: all that the run kept]",
)


@click.group(cls=GroupedCommands)
def baseline() -> None:
    """Set and show what later runs are compared with.

    The baseline is a small file to commit. It holds the statistics of every document and no content, so that
    CI can say, document by document, whether a change made anything worse: `fieldassay gate RUN --baseline`.
    """


@baseline.command("set")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="Only this system; repeat for more.  [default: all]",
)
@_METRICS
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    help="The file to write.",
)
@click.option(
    "--hash-ids",
    "hashes_ids",
    is_flag=True,
    help="Write digests in place of ids and of the values of slices.",
)
@click.option(
    "--freeze",
    "freezes",
    is_flag=True,
    help="Refuse every run of another spec or gold: one changed label or document is named.",
)
@click.option(
    "--reason", metavar="TEXT", default="", help="Why it is set; the file keeps it, with those before."
)
@lookup_option
@json_option
def set_baseline(**given: Any) -> int:
    """Make a finished run the baseline, or several repeated runs of one system.

    RUN is a folder that `fieldassay score --out` wrote, or a run of the store: its id, name, or `latest`. The
    statistics of several runs are added up document by document, so that means over runs are compared. A
    frozen baseline is replaced with a reason only.

    \b
    fieldassay baseline set runs/main --reason "prompt 7"
    fieldassay baseline set run1 run2 run3
    fieldassay baseline set runs/main --freeze --reason "two labels were wrong"
    """
    from datetime import UTC, datetime

    from fieldassay.commands.cli.grouping import split_outside
    from fieldassay.commands.cli.output import write
    from fieldassay.decisions.baseline.baseline import write_baseline
    from fieldassay.decisions.baseline.runs import BaselineRequest, make_baseline, read_before
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.content.diff import baseline_data, render_set
    from fieldassay.runs.run import read_runs

    path = given["out"]
    runs = read_runs((find_stored(name, given["store"]) for name in given["runs"]), lambda run: run)
    metrics = tuple(part for text in given["metrics"] for part in split_outside(text))
    request = BaselineRequest(
        given["systems"], metrics, given["hashes_ids"], given["reason"], given["freezes"]
    )
    made = make_baseline(runs, request, datetime.now(UTC), read_before(path))
    write_baseline(path, made)
    write(
        json_text(baseline_data(made))
        if given["is_json"]
        else render_set(made, str(path), path.stat().st_size)
    )
    return 0


@baseline.command("show")
@_FILE
@json_option
def show_baseline(file: Path, *, is_json: bool) -> int:
    """Show the contents of a baseline, and the digests of its inputs."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.decisions.baseline.baseline import read_baseline
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.content.diff import baseline_data, render_baseline

    held = read_baseline(file)
    write(json_text(baseline_data(held)) if is_json else render_baseline(held, screen()))
    return 0
