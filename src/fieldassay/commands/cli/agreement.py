"""`fieldassay review agreement`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, json_option
from fieldassay.commands.cli.inputs import keep_interruptible, read_spec_option, spec_options
from fieldassay.commands.cli.output import screen, write


@click.command(cls=GroupedCommand)
@spec_options
@click.option(
    "-l",
    "--labels",
    "labels",
    metavar="PATH",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="A labels file, or the records of one reviewer; repeat for more.",
)
@json_option
def agreement(**given: Any) -> int:
    """Measure how far the reviewers of the same documents agree.

    Values are compared by the spec in both directions: two answers agree if either would be right were the
    other one gold. Only labels that were made without seeing a prediction count.

    \b
    fieldassay review agreement --spec spec.yaml --labels ada.jsonl --labels bob.jsonl
    fieldassay review agreement --spec spec.yaml --labels double.jsonl --json
    """
    from fieldassay.commands.agreement import agreement as measure
    from fieldassay.io.json_value import json_text

    spec = read_spec_option(given)
    keep_interruptible()
    found = measure([str(path) for path in given["labels"]], spec)
    if given["is_json"]:
        write(json_text(found.to_dict()))
        return 0
    from fieldassay.reports.content.agreement import render_agreement

    write(render_agreement(found, screen()))
    return 0
