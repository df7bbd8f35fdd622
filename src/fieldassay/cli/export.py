"""`fieldassay export`."""

from __future__ import annotations

from pathlib import Path

import click

from fieldassay.cli.storing import lookup_option


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "--to",
    "target",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="Where it goes; the ending says what: .csv, .parquet, .json, .md, curve.csv, curve.svg.",
)
@click.option("--system", metavar="NAME", help="Of a .csv, .parquet, .json, curve or errors.md: this system only.")
@lookup_option
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
def export(run: str, target: Path, system: str | None, store: Path, *, quiet: bool) -> int:
    """Write the judged values of a run, or its comparison, to a file.

    RUN is a folder that `score --out` wrote, or a run of the store: its id, tag, or `latest`.

    \b
    fieldassay export run --to details.csv       one row per judged value
    fieldassay export run --to result.json       per system: fields, documents, best and worst
    fieldassay export run --to executive.md      the comparison of the systems
    fieldassay export run --to errors.md         every error of every document
    fieldassay export run --to curve.csv         how similar paired items are: F(t); curve.svg draws it
    """
    from fieldassay.api.exporting import export_run
    from fieldassay.cli.output import complain
    from fieldassay.store.locate import find_run

    what = export_run(find_run(run, store), target, system)
    if not quiet:
        complain(f"written to {target}: {what}")
    return 0
