"""`fieldassay review`: people make and correct gold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fieldassay.cli.grouping import GroupedCommands, json_option

_FOLDER = click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))


@click.group(cls=GroupedCommands)
def review() -> None:
    """Reviews of extracted values by people: blind audits, planted errors, a log that shows tampering.

    DIR is the folder of a review.

    \b
    fieldassay review verify invoices-1
    fieldassay review log invoices-1 --csv > log.csv
    """


@review.command()
@_FOLDER
@click.option(
    "--head",
    "heads",
    metavar="COUNT:HASH",
    multiple=True,
    help="A head that was printed, committed or seen before; repeat for more.",
)
@json_option
def verify(folder: Path, heads: tuple[str, ...], *, is_json: bool) -> int:
    """Check that a review is as it was written: its events, its tables, and remembered heads.

    Exits with 1 if it is not. Without a remembered head, a log whose end was cut off looks whole.
    """
    import json

    from fieldassay.cli.output import write
    from fieldassay.review.journal import Head
    from fieldassay.review.store import Store
    from fieldassay.review.verify import verify as verify_store

    found = verify_store(Store(folder), [Head.parse(text) for text in heads])
    if is_json:
        write(json.dumps(found.to_dict(), indent=1) + "\n")
        return 0 if found.is_whole else 1
    redacted = f", {found.redacted:,} of them redacted" if found.redacted else ""
    told = [f"{folder}: {fault}" for fault in found.faults]
    told += [f"{found.events:,} events{redacted}, head {found.head}"]
    if found.is_whole:
        told.append(
            "whole" if heads else "whole, as far as it goes: give --head to see a cut or rewritten log"
        )
    write("".join(f"{line}\n" for line in told))
    return 0 if found.is_whole else 1


@review.command()
@_FOLDER
@click.option("--document", metavar="ID", help="Only the events of this document.")
@click.option("--csv", "is_csv", is_flag=True, help="Print CSV, every column whole.")
def log(folder: Path, document: str | None, *, is_csv: bool) -> int:
    """List what happened in a review: who, when, which value, before and after."""
    from fieldassay.atomic.spreadsheets import csv_text, show_names
    from fieldassay.cli.output import write
    from fieldassay.review.log_table import COLUMNS, list_events
    from fieldassay.review.store import Store
    from fieldassay.wording.shown import clip

    with Store(folder).reading() as db:
        for number, row in enumerate(list_events(db, document)):
            if is_csv:
                write(csv_text([*([COLUMNS] if number == 0 else []), show_names(row)]))
                continue
            seq, at, actor, kind, name, _, node, before, after, note, _ = row
            told = [clip(one) for one in (name, node) if one]
            told += [f"{clip(before)} -> {clip(after)}"] if after is not None else []
            told += [clip(note, 60)] if note else []
            write(f"{seq:>6}  {at[:19]}  {clip(actor, 12):<12}  {kind:<8}  {'  '.join(told)}".rstrip() + "\n")
    return 0


@review.command()
@_FOLDER
@click.option("--document", metavar="ID", required=True, help="The document.")
@click.option("--reason", metavar="TEXT", required=True, help="Why, and who asked for it; the log keeps it.")
def redact(folder: Path, **given: Any) -> int:
    """Remove a document from a review: its values, its labels, and their log.

    The events stay, without their content, so that the log still verifies and says how many were redacted.
    """
    from fieldassay.cli.output import write
    from fieldassay.review.redact import redact_document
    from fieldassay.review.store import Store

    count = redact_document(Store(folder), given["document"], given["reason"])
    write(f"{count:,} events redacted; copies and exports made before still hold the document\n")
    return 0
