"""`fieldassay review export`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldassay.commands.cli.grouping import GroupedCommand
from fieldassay.commands.cli.output import complain, write
from fieldassay.errors import nearest, problem
from fieldassay.io.text.shown import format_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fieldassay.records.labels_file import Sheet
    from fieldassay.review.log.store import Store

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("source", metavar="SOURCE", type=_PATH)
@click.option(
    "-o", "--out", "target", metavar="FILE", required=True, type=_PATH,
    help="The file that is written: .jsonl a labels file, .json tasks of Label Studio, .csv a table.",
)  # fmt: skip
@click.option("--reviewer", metavar="ALIAS", help="Only the sheets of this reviewer.")
@click.option(
    "--settled",
    "is_settled",
    is_flag=True,
    help="One sheet per document: what both reviewers say, or what was ruled.",
)
@click.option(
    "--log",
    "is_log",
    is_flag=True,
    help="What happened in place of the labels, as CSV: who, when, which value, before and after.",
)
def export(source: Path, target: Path, reviewer: str | None, *, is_settled: bool, is_log: bool) -> int:
    """Write the labels of a review, or what happened in it.

    SOURCE is the folder of a review, whose finished sheets are taken, or a file of labels in one of the three
    forms. What a form cannot hold is said.

    \b
    fieldassay review export invoices-1 -o labels.jsonl
    fieldassay review export invoices-1 -o log.csv --log
    fieldassay review export tasks.json -o labels.jsonl
    """
    from fieldassay.review.exchange.formats import export_labels
    from fieldassay.review.export import finished_sheets, settled_sheets
    from fieldassay.review.log.store import Store

    if (is_settled or is_log) and not source.is_dir():
        raise click.UsageError(f"--{'log' if is_log else 'settled'} takes the folder of a review.")
    if is_log:
        _write_log(Store(source), target)
        return 0
    if source.is_dir():
        store = Store(source)
        sheets = _chosen(settled_sheets(store) if is_settled else finished_sheets(store), reviewer)
    else:
        sheets = _chosen(read_sheets(source), reviewer)
    for what in export_labels(sheets, target):
        complain(f"{target} does not hold {what}")
    labels = format_count(sum(len(sheet.labels) for sheet in sheets), "label")
    write(f"{target}: {format_count(len(sheets), 'sheet')} with {labels}\n")
    if not sheets and source.is_dir():
        complain(_why_empty(Store(source), is_settled=is_settled))
    return 0


def read_sheets(path: Path) -> Sequence[Sheet]:
    """Return the sheets of a file of labels; what its form could not tell is said."""
    from fieldassay.review.exchange.formats import import_labels

    imported = import_labels(path)
    for note in imported.notes:
        complain(f"{path}: {note}")
    return imported.sheets


def _write_log(store: Store, target: Path) -> None:
    from fieldassay.io.files.tables import csv_text, show_names
    from fieldassay.io.files.whole_files import write_whole
    from fieldassay.review.log.journal import COLUMNS, list_events

    if target.suffix.lower() != ".csv":
        raise click.UsageError("--log writes CSV: -o FILE.csv")
    with store.reading() as db:
        events = [show_names(event) for event in list_events(db)]
    write_whole(target, [csv_text([COLUMNS, *events])])
    write(f"{target}: {format_count(len(events), 'event')}\n")


def _why_empty(store: Store, *, is_settled: bool) -> str:
    """Return why an export of a review is empty, and what to do."""
    from fieldassay.review.export import finished_documents
    from fieldassay.review.sheets.form_of import read_form

    form, _ = read_form(store)
    with store.reading() as db:
        finished = finished_documents(db, form)
    waiting = sum(document.is_waiting for document in finished)
    if is_settled and finished:
        wait = f"{format_count(waiting, 'document')} {'waits' if waiting == 1 else 'wait'} for a second sheet"
        return f"no document is settled: {wait}; finish it, or export without --settled"
    return f"no sheet is finished: label with `fieldassay review open {store.folder}`"


def _chosen(sheets: Sequence[Sheet], reviewer: str | None) -> list[Sheet]:
    """Return the sheets of a reviewer, or all. Raises `ProblemsError` for an unknown reviewer."""

    names = {sheet.reviewer for sheet in sheets}
    if reviewer is not None and reviewer not in names:
        what = f"no sheet of a reviewer {reviewer!r}"
        raise problem("--reviewer", what, nearest(reviewer, names), "unknown_name")
    return [sheet for sheet in sheets if reviewer in (None, sheet.reviewer)]
