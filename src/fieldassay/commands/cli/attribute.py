"""`fieldassay attribute`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, json_option
from fieldassay.commands.cli.runs import lookup_option
from fieldassay.commands.cli.thresholds import FAILED, INCONCLUSIVE

if TYPE_CHECKING:
    from fieldassay.attribution.attribute import Attribution

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("run", metavar="RUN")
@lookup_option
@click.option("--system", "systems", metavar="NAME", multiple=True, help="This system only; repeat for more.")
@click.option(
    "--transcripts",
    metavar="DIR",
    type=_PATH,
    help="The text that was sent of each document, ID.txt or ID.json.  [default: as the predictions keep it]",
)
@click.option(
    "--twins",
    metavar="PATH",
    type=_PATH,
    help="Documents that are read perfectly: a corpus.json, a gold file with twin_of, or a folder of texts.  "
    "[default: twin_of in the gold of the run]",
)
@click.option(
    "--gate",
    "gates",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 unless this holds for every system, such as 'attributable(stage=reading) <= 0.3'; "
    "repeat for more.",
)
@click.option(
    "--most",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="Wrong values shown for each label; json has all.",
)
@click.option(
    "-f",
    "--format",
    "shape",
    type=click.Choice(["table", "json", "markdown", "html"]),
    default="table",
    show_default=True,
    help="The format.",
)
@json_option
@click.option("-o", "--out", metavar="FILE", type=_PATH, help="Write it there instead of to standard output.")
def attribute(**given: Any) -> int:
    """Tell reading errors from model errors.

    Every wrong value gets a label with its evidence. The share of each stage is corrected for values that are
    found by chance, with an interval over documents that allows for missed ones. RUN is a folder that
    `score --out` wrote with all its evidence, or the id or name of a run in a store. Nothing is sent.

    \b
    fieldassay attribute run
    fieldassay attribute run --system base --format html --out attribution.html
    fieldassay attribute run --transcripts texts --twins perfect
    fieldassay attribute run --gate 'attributable(stage=reading) <= 0.3'
    """
    from fieldassay.commands.runs import attribute as attribute_run

    chosen = {name: given[name] for name in ("store", "systems", "transcripts", "twins")}
    found = attribute_run(given["run"], **chosen)
    _write(_render(found, "json" if given["is_json"] else given["shape"], given), given["out"])
    return _judge(found, given["gates"])


def _judge(found: Attribution, gates: Sequence[str]) -> int:
    """Return the exit code of gates: 1 if one fails, 4 if one is about a share of no wrong values."""
    from msgspec.structs import replace

    from fieldassay.commands.cli.output import complain
    from fieldassay.commands.cli.thresholds import describe_outcomes, find_exit_code
    from fieldassay.commands.runs import has_no_wrong_value, judge_shares

    codes: set[int] = set()
    for one in judge_shares(found, gates):
        empty = [each.gate for each in one.outcomes if has_no_wrong_value(found, one.system, each.gate)]
        for gate in empty:
            complain(f"inconclusive: {one.system}: {gate}: no value is wrong (n = 0): undefined")
        rest = replace(one, outcomes=tuple(each for each in one.outcomes if each.gate not in empty))
        asked = [each.gate for each in rest.outcomes]
        for line in describe_outcomes([rest], asked):
            complain(line)
        codes |= {INCONCLUSIVE} if empty else set()
        codes |= {find_exit_code([rest], asked, is_strict=False)} if asked else set()
    return next((code for code in (FAILED, INCONCLUSIVE) if code in codes), 0)


def _render(found: Attribution, shape: str, given: Mapping[str, Any]) -> str:
    from fieldassay.commands.cli.output import screen
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.content.attribution import describe_attribution
    from fieldassay.reports.writers.page import Screen

    if shape == "json":
        return json_text(found.to_dict())
    told = describe_attribution(found, given["most"])
    if shape == "markdown":
        from fieldassay.reports.writers.tables import lay_out_markdown

        return lay_out_markdown(told)
    if shape == "html":
        from fieldassay.reports.content.attribution import render_attribution_html

        return render_attribution_html(found, told)
    from fieldassay.reports.writers.tables import lay_out_terminal

    return lay_out_terminal(told, screen() if given["out"] is None else Screen(120))


def _write(text: str, target: Path | None) -> None:
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.io.files.whole_files import write_whole

    if target is None:
        write(text)
        return
    write_whole(target, [text])
    complain(f"written to {target}")
