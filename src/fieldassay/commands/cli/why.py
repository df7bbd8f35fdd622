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
from fieldassay.commands.cli.report import find_stored, lookup_option

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
def explain(**params: Any) -> int:
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

    is_json = params["is_json"]
    if params["kind"] is not None or params["field"] is not None:
        steps = _explain_two(params)
        tell(
            lambda: [step.to_dict() for step in steps], lambda: render_steps(steps, screen()), is_json=is_json
        )
    else:
        explanation = _document(params)
        text = partial(render_document, explanation, screen(), params["has_all"])
        tell(explanation.to_dict, text, is_json=is_json)
    return 0


def _explain_two(params: Mapping[str, Any]) -> Any:
    """Return the steps of two values: of a type, or of a field of a spec."""
    from fieldassay.commands.cli.grouping import option_value
    from fieldassay.scoring.explain import explain_field, explain_values

    if len(params["what"]) != 2 or None not in (params["kind"], params["field"]):
        raise click.UsageError(
            "With --type or --field, give two values: the gold value, then the predicted one."
        )
    gold, pred = params["what"]
    if params["field"] is None:
        definition = option_value(params["kind"])
        if "list" in (definition, isinstance(definition, dict) and definition.get("type")):
            gold, pred = (
                option_value(text) if text.lstrip().startswith("[") else text for text in (gold, pred)
            )
        return explain_values(gold, pred, definition)
    plan = read_plan_option(params)
    holds_texts = any(
        child.name == params["field"] and not getattr(child, "is_list", True) for child in plan.root.children
    )
    is_tree = not any(plan.slots)  # its values are of the kind that they have in JSON
    gold, pred = (
        option_value(text) if is_tree or (not holds_texts and text.lstrip()[:1] in ("[", "{")) else text
        for text in (gold, pred)
    )
    return explain_field(plan, params["field"], gold, pred)


def _document(params: Mapping[str, Any]) -> DocumentExplanation:
    what: tuple[str, ...] = params["what"]
    if params["spec"] is None and params["protocol"] is None:
        if not 2 <= len(what) <= 3:
            raise click.UsageError(
                "Give a run and a document; or --spec, --gold, --pred and a document; or --type and two "
                "values. All wrong values of a run: `fieldassay report RUN --table errors`."
            )
        explanation = _from_run(
            find_stored(what[0], params["store"]), what[1], what[2] if len(what) == 3 else None
        )
    else:
        if not 1 <= len(what) <= 2:
            raise click.UsageError("Give the id of a document, and a field if you like.")
        explanation = _from_inputs(params, what[0], what[1] if len(what) == 2 else None)
    return _of_systems(explanation, params["systems"]) if params["systems"] else explanation


def _from_inputs(params: Mapping[str, Any], document: str, field: str | None) -> DocumentExplanation:
    from fieldassay.scoring.explain import choose_field, explain_document
    from fieldassay.scoring.inputs import drop_absent_fields, open_inputs

    inputs = read_inputs(params)
    plan = read_plan_option(params)
    matching = open_inputs(plan, inputs.gold, inputs.predictions)
    explanation = explain_document(drop_absent_fields(plan, matching.gold), matching, document)
    return choose_field(plan, explanation, field) if field is not None else explanation


def _from_run(folder: Path, document: str, field: str | None) -> DocumentExplanation:
    from fieldassay.runs.run import Run
    from fieldassay.runs.value_sources import document_of_run
    from fieldassay.scoring.explain import choose_field

    run = Run.open(folder)
    explanation = document_of_run(run, document)
    if field is None:
        return explanation
    return choose_field(run.plan, explanation, field)


def _of_systems(explanation: DocumentExplanation, systems: tuple[str, ...]) -> DocumentExplanation:
    from msgspec.structs import replace

    from fieldassay.errors import nearest

    for name in systems:
        if name not in explanation.systems:
            raise click.UsageError(f"--system: no system {name!r}; {nearest(name, explanation.systems)}")
    are_kept = [row["system"] in systems for row in explanation.rows]
    rows = tuple(row for row, is_kept in zip(explanation.rows, are_kept, strict=True) if is_kept)
    are_values = [
        is_kept for row, is_kept in zip(explanation.rows, are_kept, strict=True) if row["kind"] == "value"
    ]
    steps = (
        tuple(step for step, is_kept in zip(explanation.steps, are_values, strict=True) if is_kept)
        if explanation.steps
        else ()
    )
    return replace(explanation, rows=rows, steps=steps, systems=systems)


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
def attribute(**params: Any) -> int:
    """Tell reading errors from model errors.

    Every wrong value gets a label with its evidence, and every stage its share of the errors. RUN is a run's
    folder, or its id, name or `latest` in the store.

    \b
    fieldassay attribute run --system base --out attribution.md
    """
    from fieldassay.commands.cli.output import tell_page
    from fieldassay.commands.runs import attribute as attribute_run
    from fieldassay.reports.content.attribution import describe_attribution

    attribution = attribute_run(params["run"], store=params["store"], systems=params["systems"])
    report = describe_attribution(attribution, params["most"])
    tell_page(report, attribution.to_dict, params["out"], is_json=params["is_json"])
    return 0
