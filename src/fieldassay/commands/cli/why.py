"""Why a value is wrong: `fieldassay explain` and `attribute`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import GroupedCommand, json_option, option
from fieldassay.commands.cli.inputs import data_options, read_inputs, read_plan_option, spec_options
from fieldassay.commands.cli.output import PAGE_ENDINGS
from fieldassay.commands.cli.runs import find_stored, lookup_option

if TYPE_CHECKING:
    from fieldassay.scoring.explain import DocumentExplanation


# `fieldassay explain`.


@click.command(cls=GroupedCommand)
@click.argument("what", nargs=-1, metavar="GOLD PREDICTION | DOC [FIELD] | RUN DOC [FIELD]")
@spec_options
@option(
    "--type",
    "kind",
    group="Inputs",
    metavar="TYPE|FIELD",
    help="The type of two values, or a field such as '{type: money, currency: AUD}'.",
)
@option(
    "--field",
    group="Inputs",
    metavar="NAME",
    help="The field of the spec that two values are of.",
)
@data_options
@click.option(
    "--system",
    "systems",
    metavar="NAME",
    multiple=True,
    help="This system only; repeat for more.",
)
@click.option("--all", "has_all", is_flag=True, help="Also show right values.")
@lookup_option
@json_option
def explain(**given: Any) -> int:
    """Explain the judgement of a value, step by step.

    Explains two values, or what is wrong in a document of your data or of a run. RUN is a run's folder, or
    its id, name or `latest` in the store.

    \b
    fieldassay explain --type money '$1,234.56' 1234.6
    fieldassay explain --protocol business-documents --field TOTAL_AMOUNT 100 101
    fieldassay explain --spec spec.yaml --gold gold.jsonl --pred llama.jsonl inv-001 total
    fieldassay explain run inv-001 'lines[3].amount'

    Write -- before a value that begins with a minus sign.
    """
    from fieldassay.commands.cli.output import screen, tell
    from fieldassay.reports.content.explanation import render_document, render_steps

    is_json = given["is_json"]
    if given["kind"] is not None or given["field"] is not None:
        steps = _explain_two(given)
        tell(
            lambda: [step.to_dict() for step in steps], lambda: render_steps(steps, screen()), is_json=is_json
        )
    else:
        found = _document(given)
        text = partial(render_document, found, screen(), given["has_all"])
        tell(found.to_dict, text, is_json=is_json)
    return 0


def _explain_two(given: Mapping[str, Any]) -> Any:
    """Return the steps of two values: of a type, or of a field of a spec."""
    from fieldassay.commands.cli.grouping import option_value
    from fieldassay.scoring.explain import explain_field, explain_values

    if len(given["what"]) != 2 or None not in (given["kind"], given["field"]):
        raise click.UsageError(
            "With --type or --field, give two values: the gold value, then the predicted one."
        )
    gold, pred = given["what"]
    if given["field"] is None:
        definition = option_value(given["kind"])
        if "list" in (definition, isinstance(definition, dict) and definition.get("type")):
            gold, pred = (
                option_value(text) if text.lstrip().startswith("[") else text for text in (gold, pred)
            )
        return explain_values(gold, pred, definition)
    plan = read_plan_option(given)
    holds_texts = any(
        child.name == given["field"] and not getattr(child, "is_list", True) for child in plan.root.children
    )
    is_tree = not any(plan.slots)  # its values are of the kind that they have in JSON
    gold, pred = (
        option_value(text) if is_tree or (not holds_texts and text.lstrip()[:1] in ("[", "{")) else text
        for text in (gold, pred)
    )
    return explain_field(plan, given["field"], gold, pred)


def _document(given: Mapping[str, Any]) -> DocumentExplanation:
    what: tuple[str, ...] = given["what"]
    if given["spec"] is None and given["protocol"] is None:
        if not 2 <= len(what) <= 3:
            raise click.UsageError(
                "Give a run and a document; or --spec, --gold, --pred and a document; or --type and two "
                "values. All wrong values of a run: `fieldassay report RUN --table errors`."
            )
        found = _from_run(find_stored(what[0], given["store"]), what[1], what[2] if len(what) == 3 else None)
    else:
        if not 1 <= len(what) <= 2:
            raise click.UsageError("Give the id of a document, and a field if you like.")
        found = _from_inputs(given, what[0], what[1] if len(what) == 2 else None)
    return _of_systems(found, given["systems"]) if given["systems"] else found


def _from_inputs(given: Mapping[str, Any], document: str, field: str | None) -> DocumentExplanation:
    from fieldassay.scoring.explain import choose_field, explain_document
    from fieldassay.scoring.inputs import drop_absent_fields, open_inputs

    inputs = read_inputs(given)
    plan = read_plan_option(given)
    matching = open_inputs(plan, inputs.gold, inputs.predictions)
    found = explain_document(drop_absent_fields(plan, matching.gold), matching, document)
    return choose_field(plan, found, field) if field is not None else found


def _from_run(folder: Path, document: str, field: str | None) -> DocumentExplanation:
    from fieldassay.runs.run import Run
    from fieldassay.runs.value_sources import document_of_run
    from fieldassay.scoring.explain import choose_field

    run = Run.open(folder)
    found = document_of_run(run, document)
    if field is None:
        return found
    return choose_field(run.plan, found, field)


def _of_systems(found: DocumentExplanation, systems: tuple[str, ...]) -> DocumentExplanation:
    from msgspec.structs import replace

    from fieldassay.errors import nearest

    for name in systems:
        if name not in found.systems:
            raise click.UsageError(f"--system: no system {name!r}; {nearest(name, found.systems)}")
    kept = [row["system"] in systems for row in found.rows]
    rows = tuple(row for row, is_kept in zip(found.rows, kept, strict=True) if is_kept)
    are_values = [is_kept for row, is_kept in zip(found.rows, kept, strict=True) if row["kind"] == "value"]
    steps = (
        tuple(step for step, is_kept in zip(found.steps, are_values, strict=True) if is_kept)
        if found.steps
        else ()
    )
    return replace(found, rows=rows, steps=steps, systems=systems)


# `fieldassay attribute`.

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
@click.argument("run", metavar="RUN")
@lookup_option
@click.option("--system", "systems", metavar="NAME", multiple=True, help="This system only; repeat for more.")
@click.option(
    "--most",
    metavar="N",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many wrong values to show per label; JSON has all.",
)
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=_PATH,
    help=f"Write {PAGE_ENDINGS}.",
)
def attribute(**given: Any) -> int:
    """Tell reading errors from model errors.

    Every wrong value gets a label with its evidence, and every stage its share of the errors. RUN is a run's
    folder, or its id, name or `latest` in the store.

    \b
    fieldassay attribute run --system base --out attribution.md
    """
    from fieldassay.commands.cli.output import tell_page
    from fieldassay.commands.runs import attribute as attribute_run
    from fieldassay.reports.content.attribution import describe_attribution

    found = attribute_run(given["run"], store=given["store"], systems=given["systems"])
    told = describe_attribution(found, given["most"])
    tell_page(told, found.to_dict, given["out"], is_json=given["is_json"])
    return 0
