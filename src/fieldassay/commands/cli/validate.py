"""`fieldassay validate`."""

from __future__ import annotations

from typing import Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, json_option
from fieldassay.commands.cli.inputs import data_options, read_inputs, read_spec_option, spec_options


@click.command(cls=GroupedCommand)
@spec_options
@data_options
@json_option
def validate(**given: Any) -> int:
    """Check a spec, and data against it, and describe the scoring.

    Every problem of the spec and of the data is reported at once. Exits with 2 if there is one, and
    else with 1 if predictions violate the checks of the spec. Predictions are checked without --gold,
    too.

    \b
    fieldassay validate --spec spec.yaml --gold gold.jsonl --pred llama.jsonl
    """
    from fieldassay.commands.cli.output import complain, screen, write
    from fieldassay.reports.content.validation import render_validation
    from fieldassay.scoring.validation.validate import validate as find

    inputs, spec = read_inputs(given, needs_data=False), read_spec_option(given)
    found = find(spec, inputs.gold, inputs.predictions, inputs.options, lists_violations=given["is_json"])
    if given["is_json"]:
        from fieldassay.io.json_value import json_text

        write(json_text(found.to_dict()))
    else:
        write(render_validation(found, screen()))
    if found.problems:
        complain("\n".join(map(str, found.problems)))
        return 2
    return 1 if any(count.violations for count in found.counts) else 0
