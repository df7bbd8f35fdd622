"""`fieldassay review promote`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fieldassay.commands.cli.exchange import read_sheets
from fieldassay.commands.cli.grouping import GroupedCommand, json_option
from fieldassay.commands.cli.inputs import read_plan_option, spec_options
from fieldassay.commands.cli.output import write
from fieldassay.commands.cli.regressions import default_baseline

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("folder", metavar="[DIR]", required=False, type=_PATH)
@click.option(
    "-l",
    "--labels",
    metavar="FILE",
    type=_PATH,
    multiple=True,
    help="Labels instead of a review: .jsonl, .json of Label Studio, or .csv; repeat for more.",
)
@click.option(
    "-g",
    "--gold",
    metavar="PATH",
    type=_PATH,
    required=True,
    help="The gold that the labels go into: JSON lines, JSON, a folder of JSON files, or CSV.",
)
@spec_options
@click.option("--add", "is_adding", is_flag=True, help="Add the documents that gold does not have.")
@click.option(
    "--unreadable", "takes_unreadable", is_flag=True, help="Take labels that the spec cannot read, too."
)
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would change; write nothing.")
@json_option
def promote(**given: Any) -> int:
    """Write reviewed values into gold.

    The labels are those of the finished sheets of the review in DIR, and its rulings, or of labels files.

    Where gold has changed since the review began, where two sheets differ, or where gold has no place for a
    value, everything is listed and nothing is written. What nobody was asked about is unreviewed in gold,
    which `score` leaves out. Gold as it was stays beside it until the next time, as `gold.jsonl.before`.

    \b
    fieldassay review promote invoices-1 --gold gold.jsonl
    fieldassay review promote --labels agreed.jsonl --gold gold.csv --spec spec.yaml
    fieldassay review promote --labels agreed.jsonl --gold gold.jsonl --dry-run
    """  # fmt: skip
    from fieldassay.io.json_value import json_text
    from fieldassay.review.log.store import Store
    from fieldassay.review.promotion.promote import PromoteOptions, promote_review, render_promotion
    from fieldassay.review.promotion.promote import promote as apply

    if (given["folder"] is None) == (not given["labels"]):
        raise click.UsageError("Give the folder of a review, or --labels.")
    has_spec = given["spec"] is not None or given["protocol"] is not None
    plan = read_plan_option(given) if has_spec else None
    options = PromoteOptions(
        plan,
        adds_documents=given["is_adding"],
        takes_unreadable=given["takes_unreadable"],
        is_dry=given["is_dry"],
    )
    if given["folder"] is None:
        waiting: tuple[str, ...] = ()
        found = apply(
            given["gold"], [sheet for path in given["labels"] for sheet in read_sheets(path)], options
        )
        if not options.is_dry and found.files:
            found.write()
    else:
        found, waiting = promote_review(Store(given["folder"]), given["gold"], options)
    if given["is_json"]:
        write(json_text({**found.to_dict(), "is_dry_run": options.is_dry, "waiting": waiting}))
    else:
        write(render_promotion(found, options, waiting, default_baseline()))
    return 0
