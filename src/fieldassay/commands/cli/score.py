"""`fieldassay score`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click

from fieldassay.commands.cli.grouping import GroupedCommand, option, record_option
from fieldassay.commands.cli.inputs import (
    data_options,
    read_section_options,
    section_options,
    spec_options,
    with_paths,
)
from fieldassay.commands.cli.report import (
    VERBOSE,
    read_report_options,
    read_sources,
    report_options,
    store_option,
    write_reports,
)
from fieldassay.commands.cli.thresholds import BaselineChoice, baseline_options, read_baseline_options

if TYPE_CHECKING:
    from fieldassay.metrics.catalogue.grammar import Gate
    from fieldassay.runs.run import Run
    from fieldassay.scoring.inputs import ScoreOptions


_PATH = click.Path(path_type=Path)
_RECORD = "fieldassay.scoring.inputs:ScoreOptions"


@click.command(cls=GroupedCommand)
@click.argument("paths", metavar="[GOLD PRED…]", nargs=-1)
@spec_options
@data_options
@section_options
@baseline_options
@store_option
@report_options
@option(
    "-o",
    "--out",
    group="Output",
    metavar="DIR",
    type=_PATH,
    help="Write the run there.",
)
@option(
    "--json",
    "is_json",
    group="Output",
    is_flag=True,
    help="Print estimates and recommendation as JSON.",
)
@option(
    "-q",
    "--quiet",
    group="Output",
    is_flag=True,
    help="Print errors and failed gates alone.",
)
@option("-v", "--verbose", "is_verbose", group="Output", is_flag=True, help=VERBOSE)
@record_option(
    _RECORD,
    "evidence",
    group="Output",
    is_rare=True,
    metavar="[all|errors|none]",
    help="Which judged values the run keeps.  [default: all with --out or --report]",
)
@option(
    "-m",
    "--metrics",
    group="Statistics",
    metavar="LIST",
    multiple=True,
    help="Metrics or groups, instead of the spec's.",
)
@option(
    "--slice",
    "slices",
    group="Statistics",
    metavar="KEY",
    multiple=True,
    help="Break results down by this key; repeat for more.",
)
@option(
    "--gate",
    "thresholds",
    group="Gates and baselines",
    metavar="GATE",
    multiple=True,
    help="Exit with 1 unless every system passes this, such as 'accuracy >= 0.9'; repeat for more.",
)
@option(
    "--strict",
    group="Gates and baselines",
    is_rare=True,
    is_flag=True,
    help="Exit with 4 if a gate cannot be decided.",
)
@option(
    "--exit-zero",
    group="Gates and baselines",
    is_rare=True,
    is_flag=True,
    help="Exit with 0 even if a gate fails.",
)
@option(
    "--where",
    group="Inputs",
    is_rare=True,
    metavar="KEY=VALUE",
    multiple=True,
    help=(
        "Score only documents with this value, by a key of --slice; repeat for more. Of one key "
        "either value counts; different keys must all hold."
    ),
)
@option(
    "--only",
    group="Inputs",
    is_rare=True,
    metavar="DOC",
    multiple=True,
    help="Score this document only; repeat for more.",
)
@record_option(
    _RECORD,
    "holdout",
    group="Inputs",
    is_rare=True,
    metavar="SHARE",
    help="Keep this share of documents for the verdict; score the others.",
)
@option(
    "--verdict",
    group="Inputs",
    is_rare=True,
    is_flag=True,
    help="With --holdout: score the documents that were kept.",
)
@option(
    "--fields",
    group="Inputs",
    is_rare=True,
    metavar="LIST",
    multiple=True,
    help="Score these top-level fields only.",
)
@record_option(
    _RECORD,
    "limit",
    group="Work",
    is_rare=True,
    metavar="N",
    help="The first N documents only.",
)
@record_option(
    _RECORD,
    "workers",
    "-w",
    "--workers",
    group="Work",
    is_rare=True,
    metavar="N",
    help="Processes that share the work.  [default: 1; all cores from 20,000 documents on]",
)
@record_option(
    _RECORD,
    "batch",
    group="Work",
    is_rare=True,
    metavar="N",
    help="Documents judged at a time.  [default: 1000; 500 where evidence of many is kept]",
)
@record_option(
    _RECORD,
    "engine",
    group="Work",
    is_rare=True,
    metavar="local|ray[=ADDRESS]",
    help="Work on this machine, by Ray, or on the Ray cluster at an address.  [default: local]",
)
@option(
    "--check",
    "checks",
    group="Inputs",
    is_flag=True,
    help="Check spec and data; score nothing.",
)
def score(**params: Any) -> int:
    """Score predictions against gold.

    Prints the best system, the verdict of the gates, and what to fix first. Without --spec, types are guessed
    from gold. Options of reading and of statistics default to the spec's `data:` and `statistics:`.

    \b
    fieldassay score gold.xlsx answers/
    fieldassay score --spec spec.yaml --gold gold.jsonl --pred llama=a.jsonl --pred qwen=b.jsonl --out run
    """
    import sys

    from fieldassay.commands.cli.output import complain, show_progress
    from fieldassay.commands.cli.thresholds import read_thresholds

    params = with_paths(params)
    _refuse_contradictions(params)
    if params["checks"]:
        return _check(params)
    sources = read_sources(params)
    inputs, plan = sources.inputs, sources.plan
    gates = read_thresholds(params["thresholds"], plan)
    thresholds = tuple(gate for gate in gates if gate.function != "regression")
    baseline = read_baseline_options(params, plan, [gate for gate in gates if gate.function == "regression"])
    options = score_options(params, (*thresholds, *baseline.gates))
    reports = read_report_options(params)
    keeps_rows = bool(reports) or not (params["is_json"] or params["quiet"])
    is_quiet = params["quiet"]
    from msgspec.structs import replace

    from fieldassay.commands.score import ScoreRequest, run_scoring  # heavy, so after the options

    request = ScoreRequest(
        inputs.gold,
        inputs.predictions,
        plan,
        options,
        out=params["out"],
        store=params["store"],
        keeps_rows=keeps_rows,
        baseline=baseline.path,
        command=("fieldassay", *sys.argv[1:]),
        watch=partial(show_progress, is_quiet),
    )
    if not is_quiet and sources.guess:
        complain(sources.guess)
    with run_scoring(request if is_quiet else replace(request, tell=complain)) as run:
        if params["is_json"]:
            _write_json(run)
        elif not params["quiet"]:
            show_run(run, Shown(params["is_verbose"], bool(params["metrics"]), bool(params["slices"])))
        write_reports(run, reports, options.evidence, is_quiet=params["quiet"], opens=params["opens"])
        return _verdict(run, thresholds, baseline, params)


def _check(params: Mapping[str, Any]) -> int:
    """Print what is wrong with a spec and with data, and how each field is judged; return the exit code."""
    from fieldassay.commands.cli.inputs import read_inputs, read_spec_option
    from fieldassay.commands.cli.output import complain, screen, write
    from fieldassay.reports.content.explanation import render_validation
    from fieldassay.scoring.explain import validate

    inputs, spec = read_inputs(params, needs_data=False), read_spec_option(params)
    checked = validate(
        spec,
        inputs.gold,
        inputs.predictions,
        lists_violations=params["is_json"],
        where=params["where"],
        **read_section_options(params),
    )
    if params["is_json"]:
        from fieldassay.io.json_value import json_text

        write(json_text(checked.to_dict()))
    elif not params["quiet"]:
        write(render_validation(checked, screen()))
    if checked.problems:
        complain("\n".join(map(str, checked.problems)))
        return 2
    return 1 if any(count.violations for count in checked.counts) else 0


def _refuse_contradictions(params: Mapping[str, Any]) -> None:
    if params["quiet"] and params["is_verbose"]:
        raise click.UsageError("--quiet and --verbose contradict each other; give one of them.")
    if params["strict"] and params["exit_zero"]:
        raise click.UsageError("--strict and --exit-zero contradict each other; give one of them.")


def score_options(params: Mapping[str, Any], thresholds: tuple[Gate, ...]) -> ScoreOptions:
    """Return the options of scoring that the command line's mean."""
    from fieldassay.commands.cli.grouping import split_calls
    from fieldassay.scoring.inputs import ScoreOptions

    evidence: Literal["all", "errors", "none"] = params["evidence"] or (
        "all" if params["out"] or params["store"] or params["reports"] or params["opens"] else "errors"
    )
    return ScoreOptions(
        metrics=split_calls(params["metrics"]) or None,
        slices=tuple(params["slices"]) or None,
        gates=tuple(map(str, thresholds)),
        evidence=evidence,
        workers=params["workers"],
        **{
            name: params[name]
            for name in ("engine", "batch", "limit", "holdout", "verdict")
            if params[name] is not None
        },
        only=tuple(params["only"]) or None,
        fields=split_list(params["fields"]) or None,
        where=tuple(params["where"]),
    )


def split_list(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names in texts that separate them by commas, each once."""
    return tuple(dict.fromkeys(name.strip() for text in texts for name in text.split(",") if name.strip()))


class Shown(NamedTuple):
    """The extent of a report: the whole of it, all of its metrics, the tables of its slices."""

    is_whole: bool = False
    has_all_metrics: bool = False
    has_slices: bool = False


def _write_json(run: Run) -> None:
    """Print the estimates of a run and its recommendation; warnings, which have no place there, are told."""
    from msgspec.structs import asdict

    from fieldassay.commands.cli.output import complain, write_bytes
    from fieldassay.io.json_value import json_line
    from fieldassay.metrics.result.result import metrics_json
    from fieldassay.reports.findings.recommendation import advise

    for warning in run.result.warnings:
        complain(f"warning: {warning}")
    recommendation = json_line(asdict(advise(run.result, run.decisions)))
    write_bytes(
        metrics_json(run.result).removesuffix(b"}\n") + f', "recommendation": {recommendation}}}\n'.encode()
    )


def show_run(run: Run, shown: Shown) -> None:
    """Print a finished run for a terminal."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.reports.content.run.parts import render_answer, render_terminal
    from fieldassay.reports.content.run.summary import summarize

    summary = summarize(run.result, run.evidence, shows_all=shown.has_all_metrics, decisions=run.decisions)
    has_numbers = shown.has_all_metrics or shown.has_slices
    write(
        render_terminal(summary, screen())
        if shown.is_whole
        else render_answer(summary, screen(), has_numbers=has_numbers)
    )


def _verdict(
    run: Run, thresholds: tuple[Gate, ...], baseline: BaselineChoice, params: Mapping[str, Any]
) -> int:
    from fieldassay.commands.cli.output import complain
    from fieldassay.commands.cli.thresholds import report_outcomes

    if run.is_saved and not params["quiet"]:
        tables = [
            "metrics.json",
            "documents.parquet",
            *(["evidence.parquet"] if run.evidence is not None else []),
        ]
        tables += ["violations.jsonl"] if run.result.checks else []
        tables += ["gates.json"] if run.decisions else []
        tables += ["comparisons.json"] if run.result.comparisons else []
        tables += ["statistics.parquet"] if run.result.paired is not None else []
        complain(f"written to {run.folder}: {', '.join(tables)}, run.json")
    code = report_outcomes(
        run.decisions, thresholds, baseline.gates, is_strict=params["strict"], is_quiet=params["quiet"]
    )
    return 0 if params["exit_zero"] else code
