"""`fieldassay diff`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, Shape, json_option
from fieldassay.commands.cli.runs import lookup_option

if TYPE_CHECKING:
    from fieldassay.decisions.diff.diff import Diff, DiffOptions

_ENDINGS = {".json": "json", ".md": "markdown", ".html": "html", ".csv": "csv", ".txt": "table"}
_SHAPES = ("table", "markdown", "html", "csv")


@click.command(cls=GroupedCommand)
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="Compare by these metrics.  [default: those that the runs compared by]",
)
@click.option(
    "--slice",
    "slices",
    metavar="KEY",
    multiple=True,
    help="Compare by the values of this key; repeat for more.  [default: the runs']",
)
@click.option(
    "--common",
    "is_common",
    is_flag=True,
    help="Of runs on other documents, compare those with the same gold in all.",
)
@lookup_option
@click.option(
    "--most",
    type=click.IntRange(0),
    default=10,
    show_default=True,
    help="Fixed and broken values shown; csv and json have all.",
)
@click.option(
    "-f",
    "--format",
    "shape",
    type=Shape(_SHAPES),
    help="The format.  [default: by the ending of --out, else table]",
)
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write it there instead of to standard output.",
)
def diff(**given: Any) -> int:
    """Compare two runs, or two systems of one run.

    RUN is a run's folder, id, name or `latest`; RUN:SYSTEM is one of its systems. The first is before, the
    second after. More than two systems are ranked. Statistics are made as in the first run. Runs with another
    spec, other formulas, models or gold are refused.

    \b
    fieldassay diff runs/before runs/after
    fieldassay diff latest:llama latest:qwen
    fieldassay diff run --out diff.md
    """
    from fieldassay.decisions.diff.diff import diff_runs

    shape = _shape(given)
    found = diff_runs(*given["runs"], options=_options(given))
    _write(found, shape, given)
    return 0


def _shape(given: Mapping[str, Any]) -> str:
    """Return the format to write; raise UsageError where the ending of the file does not determine it."""
    target = given["out"]
    if given["is_json"] and given["shape"] is not None:
        raise click.UsageError("Give --json or --format, not both.")
    if given["is_json"]:
        return "json"
    if given["shape"] or target is None:
        return str(given["shape"] or "table")
    shape = _ENDINGS.get(target.suffix.lower())
    if shape is None:
        raise click.UsageError(
            f"--out {target}: the ending names no format; give --format, or one of: {', '.join(_ENDINGS)}."
        )
    return shape


def _options(given: Mapping[str, Any]) -> DiffOptions:
    from fieldassay.commands.cli.grouping import split_calls
    from fieldassay.decisions.diff.diff import DiffOptions

    return DiffOptions(
        metrics=split_calls(given["metrics"]) or None,
        slices=tuple(given["slices"]) or None,
        is_common=given["is_common"],
        runs=given["store"],
        target=given["out"],
    )


def _write(found: Diff, shape: str, given: Mapping[str, Any]) -> None:
    from fieldassay.commands.cli.output import complain, write_bytes
    from fieldassay.io.files.whole_files import write_whole

    portions = _render(found, shape, given)
    if given["out"] is None:
        write_bytes("".join(portions).encode("utf-8", "backslashreplace")) if shape != "table" else _print(
            portions
        )
        return
    write_whole(given["out"], portions)
    complain(f"written to {given['out']}: {shape}")


def _print(portions: list[str]) -> None:
    from fieldassay.commands.cli.output import write

    write("".join(portions))


def _render(found: Diff, shape: str, given: Mapping[str, Any]) -> list[str]:
    from fieldassay.decisions.diff.diff import changes_csv, diff_json
    from fieldassay.reports.content.diff import describe_diff

    if shape == "json":
        return [diff_json(found)]
    if shape == "csv":
        return list(changes_csv(found))
    if shape == "html":
        from fieldassay.reports.report import render_diff

        return list(render_diff(found, given["store"]))
    told = describe_diff(found, given["most"])
    if shape == "markdown":
        from fieldassay.reports.writers.tables import lay_out_markdown

        return [lay_out_markdown(told)]
    from fieldassay.commands.cli.output import screen
    from fieldassay.reports.writers.page import Screen
    from fieldassay.reports.writers.tables import lay_out_terminal

    return [lay_out_terminal(told, screen() if given["out"] is None else Screen(120))]
