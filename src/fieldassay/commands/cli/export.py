"""`fieldassay export`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.storing import lookup_option

if TYPE_CHECKING:
    from fieldassay.reports.export.tables import Listing

LISTS: Mapping[str, tuple[str, ...]] = {
    "losses": ("system", "points", "said"),
    "suspicious-gold": ("doc", "path", "gold", "agreed", "systems", "of", "diagnosis"),
    "classification": ("system", "field", "precision", "recall", "f1-score", "support"),
    "pairs": ("system", "doc", "gold_path", "similarity", "gold", "pred"),
}
"""The tables that can also be printed, with their columns there."""
_NUMBERS = ("points", "systems", "of", "precision", "recall", "f1-score", "support", "similarity")


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--what",
    metavar="NAME",
    help=(
        "The content: values, results, executive, errors, curve, losses, suspicious-gold, "
        "classification, pairs."
        "  [default: by the name of the file]"
    ),
)
@click.option(
    "-o",
    "--out",
    "--to",
    "target",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The output file; its ending gives the format.  [default: standard output, for lists]",
)
@click.option(
    "--system",
    metavar="NAME",
    help="This system only; not for executive and suspicious-gold, which cover all.",
)
@lookup_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def export(
    run: str, what: str | None, target: Path | None, system: str | None, store: Path, *, quiet: bool
) -> int:
    """Write the judged values of a run, its comparison, or its next steps, to a file.

    RUN is a folder that `score --out` wrote, or a run of the store: its id, name, or `latest`.

    \b
    fieldassay export run -o details.csv         one row per value; .xlsx for Excel, .parquet with all columns
    fieldassay export run -o result.json         per system: fields, documents, best and worst
    fieldassay export run -o executive.md        the comparison of the systems
    fieldassay export run -o errors.md           every error of every document
    fieldassay export run -o curve.csv           the similarity of paired items, F(t); curve.svg draws it
    fieldassay export run --what losses          the costliest faults by system; -o FILE: .json, .csv, .md
    fieldassay export run --what suspicious-gold gold values systems contradict; -o FILE: .json, .csv, .md
    fieldassay export run --what classification  precision, recall, F1, support of each field, and averages
    fieldassay export run --what pairs           the paired items of lists that are least alike
    """
    from fieldassay.commands.cli.output import complain
    from fieldassay.reports.export.export import export_run
    from fieldassay.runs.store.locate import find_run

    if target is None:
        if what not in LISTS:
            raise click.UsageError(f"Give -o FILE; only {' and '.join(LISTS)} can be printed, with --what.")
        _print(find_run(run, store), str(what), system)
        return 0
    held = export_run(find_run(run, store), target, system, what)
    if not quiet:
        complain(f"written to {target}: {held}")
    return 0


def _print(folder: Path, what: str, system: str | None) -> None:
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.reports.export.detail import list_classification_of_run, list_pairs_of_run
    from fieldassay.reports.export.tables import list_losses_of_run, list_suspicious_gold_of_run
    from fieldassay.reports.writers.page import Column, Page
    from fieldassay.runs.run import Run, corrupt_run_errors

    run = Run.open(folder)
    with corrupt_run_errors(run):
        makers = (
            list_losses_of_run,
            list_suspicious_gold_of_run,
            list_classification_of_run,
            list_pairs_of_run,
        )
        listing: Listing = dict(zip(LISTS, makers, strict=True))[what](run, system)
    shown = LISTS[what]
    places = [listing.columns.index(name) for name in shown]
    page = Page(screen())
    page.title(f"{listing.title}: {len(listing.rows):,}" if listing.rows else f"{listing.title}: nothing")
    rows = []
    for row in listing.rows:
        cells = zip(shown, (row[at] for at in places), strict=True)
        rows.append([_cell(name, one) for name, one in cells])
    if rows:
        page.table(
            [Column(name, name in _NUMBERS, name in ("doc", "path", "system")) for name in shown], rows
        )
    if listing.extent:
        page.line(listing.extent, "dim")
    write(page.text())


def _cell(name: str, value: Any) -> str:
    from fieldassay.io.text.shown import clip, format_json
    from fieldassay.metrics.notation import NOTHING, format_number
    from fieldassay.reports.wording.terms import DIAGNOSES, describe

    if name in ("precision", "recall", "f1-score", "similarity"):
        return NOTHING if value is None else format_number(value)
    if name in ("gold", "agreed", "pred"):
        return format_json(value, 200)
    return (
        f"{100 * value:.1f}"
        if name == "points"
        else describe(DIAGNOSES, value)
        if name == "diagnosis"
        else clip(str(value), 300)
    )
