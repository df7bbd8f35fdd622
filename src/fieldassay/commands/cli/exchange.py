"""`fieldassay review export` and `fieldassay review import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fieldassay.records.labels_file import Sheet
    from fieldassay.review.log.store import Store

_PATH = click.Path(path_type=Path)
_FORMATS = ("labels", "label-studio", "csv")
_FORMAT = click.option(
    "-f", "--format", "form", type=click.Choice(_FORMATS), default="labels", show_default=True,
    help="A labels file, tasks of Label Studio, or a table.",
)  # fmt: skip


@click.command()
@click.argument("source", metavar="SOURCE", type=_PATH)
@click.option(
    "-o", "--out", "target", metavar="PATH", required=True, type=_PATH,
    help="The file that is written.",
)  # fmt: skip
@_FORMAT
@click.option("--reviewer", metavar="ALIAS", help="Only the sheets of this reviewer.")
@click.option(
    "--settled",
    "is_settled",
    is_flag=True,
    help="One sheet per document: what both reviewers say, or what was ruled.",
)
def export(source: Path, target: Path, form: str, reviewer: str | None, *, is_settled: bool) -> int:
    """Write labels in the form of another program, and say what the form cannot hold.

    SOURCE is the folder of a review, whose finished sheets are taken, or a labels file.

    \b
    fieldassay review export invoices-1 -o labels.jsonl
    fieldassay review export labels.jsonl -o tasks.json --format label-studio
    """
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.io.text.shown import format_count
    from fieldassay.review.exchange.formats import export_labels

    if is_settled and not source.is_dir():
        raise click.UsageError("--settled takes the folder of a review.")
    if source.is_dir():
        from fieldassay.review.export import finished_sheets, settled_sheets
        from fieldassay.review.log.store import Store

        store = Store(source)
        sheets = _chosen(settled_sheets(store) if is_settled else finished_sheets(store), reviewer)
    else:
        from fieldassay.records.labels_file import read_labels

        sheets = _chosen(read_labels(source), reviewer)
    lost = export_labels(sheets, form, target)
    write(f"{target}: {format_count(len(sheets), 'sheet')}\n")
    for what in lost:
        complain(f"not held by {form}: {what}")
    if not sheets and source.is_dir():
        complain(_why_empty(Store(source), is_settled=is_settled))
    return 0


def _why_empty(store: Store, *, is_settled: bool) -> str:
    """Return why an export of a review is empty, and what to do."""
    from fieldassay.io.text.shown import format_count
    from fieldassay.review.export import count_waiting

    finished, waiting = count_waiting(store)
    if is_settled and finished:
        wait = f"{format_count(waiting, 'document')} {'waits' if waiting == 1 else 'wait'} for a second sheet"
        return f"no document is settled: {wait}; finish it, or export without --settled"
    return f"no sheet is finished: label with `fieldassay review open {store.folder}`"


def _chosen(sheets: Sequence[Sheet], reviewer: str | None) -> list[Sheet]:
    """Return the sheets of a reviewer, or all. Raises `ProblemsError` for an unknown reviewer."""
    from fieldassay.errors import nearest, problem

    names = {sheet.reviewer for sheet in sheets}
    if reviewer is not None and reviewer not in names:
        what = f"no sheet of a reviewer {reviewer!r}"
        raise problem("--reviewer", what, nearest(reviewer, names), "unknown_name")
    return [sheet for sheet in sheets if reviewer in (None, sheet.reviewer)]


@click.command("import")
@click.argument("source", metavar="SOURCE", type=_PATH)
@click.option(
    "-o",
    "--out",
    "target",
    metavar="FILE",
    required=True,
    type=_PATH,
    help="The labels file that is written.",
)
@_FORMAT
def import_(source: Path, target: Path, form: str) -> int:
    """Read labels in the form of another program, and write a labels file.

    \b
    fieldassay review import tasks.json -o labels.jsonl --format label-studio
    """
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.io.text.shown import format_count
    from fieldassay.records.labels_file import write_labels
    from fieldassay.review.exchange.formats import import_labels

    found = import_labels(source, form)
    write_labels(target, found.sheets)
    labels = sum(len(sheet.labels) for sheet in found.sheets)
    counted = f"{format_count(len(found.sheets), 'sheet')} with {format_count(labels, 'label')}"
    write(f"{target}: {counted}\n")
    for note in found.notes:
        complain(f"{source}: {note}")
    return 0
