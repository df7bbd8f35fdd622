"""`fieldassay review verify`."""

from __future__ import annotations

from pathlib import Path

import click

from fieldassay.commands.cli.grouping import json_option


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
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

    \b
    fieldassay review verify invoices-1 --head 48213:9f2c…
    """
    from fieldassay.commands.cli.output import write
    from fieldassay.io.json_value import json_text
    from fieldassay.io.text.shown import format_count
    from fieldassay.review.log.journal import Head
    from fieldassay.review.log.store import Store
    from fieldassay.review.log.verify import verify as verify_store

    found = verify_store(Store(folder), [Head.parse(text) for text in heads])
    if is_json:
        write(json_text(found.to_dict()))
        return 0 if found.is_whole else 1
    lines = [f"{folder}: {fault}" for fault in found.faults]
    if found.events:
        lines.append(f"{format_count(found.events, 'event')}, head {found.head}")
    if found.is_whole:
        lines.append(
            "whole" if heads else "whole, as far as it goes: give --head to see a cut or rewritten log"
        )
    write("".join(f"{line}\n" for line in lines))
    return 0 if found.is_whole else 1
