"""`fieldassay review verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fieldassay.commands.cli.grouping import json_option

if TYPE_CHECKING:
    from fieldassay.review.log.verify import Verification
    from fieldassay.review.promotion.check_history import HistoryCheck


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--head",
    "heads",
    metavar="COUNT:HASH",
    multiple=True,
    help="A head that was printed, committed or seen before; repeat for more.",
)
@click.option(
    "--history",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The history of a gold file, GOLD.history.jsonl: check its lines of this review too.",
)
@json_option
def verify(folder: Path, heads: tuple[str, ...], history: Path | None, *, is_json: bool) -> int:
    """Check that a review is as it was written: its events, its tables, and remembered heads.

    Exits with 1 if it is not. Without a remembered head, a log whose end was cut off looks whole. The history
    of gold holds heads, and the log of the review what its promotions wrote there.

    \b
    fieldassay review verify invoices-1 --head 48213:9f2c…
    fieldassay review verify invoices-1 --history gold.history.jsonl
    """
    import json

    from fieldassay.commands.cli.output import write
    from fieldassay.review.log.journal import Head
    from fieldassay.review.log.store import Store
    from fieldassay.review.log.verify import verify as verify_store
    from fieldassay.review.promotion.check_history import check_history

    store = Store(folder)
    found = verify_store(store, [Head.parse(text) for text in heads])
    held = None if history is None or not found.events else check_history(store, history)
    is_whole = found.is_whole and (held is None or not held.faults)
    if is_json:
        told = found.to_dict() | {"whole": is_whole}
        if held is not None:
            told["history"] = held.to_dict()
        write(json.dumps(told, indent=1) + "\n")
    else:
        told_lines = [*_describe_log(folder, found), *([] if held is None else _describe_history(held))]
        if is_whole:
            has_head = bool(heads) or (held is not None and held.checked > 0)
            told_lines.append(
                "whole" if has_head else "whole, as far as it goes: give --head to see a cut or rewritten log"
            )
        write("".join(f"{line}\n" for line in told_lines))
    return 0 if is_whole else 1


def _describe_log(folder: Path, found: Verification) -> Iterator[str]:
    from fieldassay.io.text.shown import format_count

    yield from (f"{folder}: {fault}" for fault in found.faults)
    redacted = f", {found.redacted:,} of them redacted" if found.redacted else ""
    if found.events:
        yield f"{format_count(found.events, 'event')}{redacted}, head {found.head}"


def _describe_history(found: HistoryCheck) -> Iterator[str]:
    """Yield what a check of the history of gold found: faults, then lines by what could be checked."""
    from fieldassay.io.text.shown import format_count, visible

    name = visible(str(found.path))
    yield from (f"{name}: {fault}" for fault in found.faults)
    if found.checked:
        yield f"{name}: {format_count(found.checked, 'line')} as the log of this review has them"
    if found.elsewhere:
        lines = format_count(found.elsewhere, "line")
        yield f"{name}: {lines} of other reviews or of labels files, not checked"
