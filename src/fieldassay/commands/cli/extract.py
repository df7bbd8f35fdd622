"""`fieldassay extract` and `fieldassay run`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from fieldassay.commands.cli.grouping import GroupedCommand, add_options, option, record_option
from fieldassay.commands.cli.inputs import gold_option, spec_options
from fieldassay.commands.cli.report import VERBOSE

if TYPE_CHECKING:
    from fieldassay.commands.extract import ExtractOptions, Watch
    from fieldassay.extraction.endpoints.exchange import CostEstimate, Progress
    from fieldassay.extraction.extract import Extraction


Command = TypeVar("Command", bound=Callable[..., Any])

_PATH = click.Path(path_type=Path)
INCOMPLETE, NOTHING, INTERRUPTED = 3, 5, 130
_RECORD = "fieldassay.commands.extract:ExtractOptions"

_WORK = (
    record_option(_RECORD, "limit", group="Inputs", metavar="N", help="The first N documents only."),
    record_option(
        _RECORD,
        "sample",
        group="Inputs",
        metavar="N",
        help="N random documents, by the spec's seed.",
    ),
    record_option(
        _RECORD,
        "ocr",
        group="Work",
        metavar="[auto|off|always]",
        help="Recognize pages without a text layer (auto), none, or all.  [default: auto]",
    ),
    record_option(
        _RECORD, "jobs", group="Work", metavar="N", help="Processes that load documents.  [default: 2]"
    ),
    record_option(
        _RECORD, "repeats", group="Work", metavar="N", help="Extract every document N times.  [default: 1]"
    ),
    record_option(
        _RECORD,
        "max_cost_usd",
        "--max-cost",
        group="Work",
        metavar="USD",
        help="Stop before the expected cost exceeds this.",
    ),
    record_option(
        _RECORD,
        "max_time_s",
        "--max-time",
        group="Work",
        metavar="SECONDS",
        help="Send nothing after this time.",
    ),
    option(
        "--retry",
        group="Work",
        metavar="KIND",
        multiple=True,
        help="Ask again where this failed, such as truncated; repeat for more.",
    ),
    option(
        "--reuse",
        group="Work",
        metavar="DIR",
        multiple=True,
        type=_PATH,
        help="Reuse the answers of this extraction; repeat for more.",
    ),
    option(
        "--dry-run",
        "is_dry",
        group="Work",
        is_flag=True,
        help="Print calls, tokens and cost; send nothing.",
    ),
)


def work_options(command: Command) -> Command:
    """Add the options of extracting to a command."""
    return add_options(command, _WORK)


def read_work_options(params: Mapping[str, Any]) -> ExtractOptions:
    """Return the options of extracting that the command line's mean."""
    from fieldassay.commands.extract import ExtractOptions

    named = ("limit", "sample", "repeats", "jobs", "ocr", "max_cost_usd", "max_time_s", "retry", "reuse")
    return ExtractOptions(**{name: params[name] for name in named if params[name] is not None})


@click.command(cls=GroupedCommand)
@option(
    "-d", "--docs", group="Inputs", metavar="PATH", type=_PATH, required=True, help="A folder of documents."
)
@spec_options
@option(
    "--system",
    group="Inputs",
    metavar="FILE[#NAME]",
    help="A file of systems, and the name of one.  [default: rules, offline]",
)
@work_options
@option("-o", "--out", group="Output", metavar="DIR", type=_PATH, help="The folder of the extraction.")
@option("--json", "is_json", group="Output", is_flag=True, help="Print the manifest.")
@option("-q", "--quiet", group="Output", is_flag=True, help="Print nothing but errors.")
def extract(**params: Any) -> int:
    """Make predictions from documents.

    The predictions go to a folder that `fieldassay score --pred` takes. After an interruption, give the same
    command again: it continues, and pays for no answer twice.

    \b
    fieldassay extract --docs scans --spec spec.yaml --out out/rules
    fieldassay score --spec spec.yaml --gold gold.jsonl --pred rules=out/rules
    """
    from fieldassay.commands.cli.inputs import read_spec_option
    from fieldassay.commands.cli.output import keep_output_clean
    from fieldassay.commands.extract import estimate_extraction
    from fieldassay.commands.extract import extract as run

    options, spec = read_work_options(params), read_spec_option(params)
    if params["is_dry"]:
        with keep_output_clean():
            estimate = estimate_extraction(params["docs"], spec, params["system"], options)
        show_estimates({params["system"] or "rules": estimate}, is_json=params["is_json"])
        return 0
    if params["out"] is None:
        raise click.UsageError("say where the predictions go: --out DIR.")
    from fieldassay.commands.cli.output import show_extraction

    with resumable(), keep_output_clean(), show_extraction(params["quiet"]) as progress:
        watch = make_watch(progress, is_quiet=params["quiet"])
        extraction = run(params["docs"], spec, params["out"], params["system"], options, watch)
    _show_extraction(extraction, params)
    return exit_code(extraction)


@contextmanager
def resumable() -> Iterator[None]:
    """Say how to go on where an interrupt comes before or after the requests; end with its exit code."""
    from fieldassay.commands.cli.output import complain

    try:
        yield
    except KeyboardInterrupt:
        complain("interrupted; run the same command again to continue")
        raise click.exceptions.Exit(INTERRUPTED) from None


def make_watch(progress: Callable[[Progress], None] | None, *, is_quiet: bool) -> Watch:
    """Return the callbacks of a running extraction: progress, and remarks on standard error."""
    from msgspec.structs import replace

    from fieldassay.commands.cli.output import complain
    from fieldassay.commands.extract import Watch

    watch = Watch() if is_quiet else Watch(tell=complain)
    return watch if progress is None else replace(watch, progress=progress)


def exit_code(extraction: Extraction) -> int:
    """Return the exit code of an extraction: 3 if it stopped before its end, 5 if it predicted nothing."""
    stop = extraction.manifest["stop"]
    if stop is not None and stop["kind"] == "interrupted":
        return INTERRUPTED
    if not extraction.is_complete:
        return INCOMPLETE
    return 0 if extraction.counts["predicted"] else NOTHING


def show_estimates(estimates: Mapping[str, CostEstimate], *, is_json: bool) -> None:
    """Print the requests and the cost of extractions in advance."""
    from fieldassay.commands.cli.output import write

    if is_json:
        import json

        from msgspec.structs import asdict

        write(json.dumps({name: asdict(estimate) for name, estimate in estimates.items()}, indent=1) + "\n")
        return
    from fieldassay.reports.content.runs import render_estimate

    write("".join(render_estimate(name, estimate) for name, estimate in estimates.items()))


def _show_extraction(extraction: Extraction, params: Mapping[str, Any]) -> None:
    from fieldassay.commands.cli.output import complain, write

    if params["is_json"]:
        import json

        write(json.dumps(extraction.manifest, indent=1) + "\n")
        return
    if params["quiet"]:
        return
    from fieldassay.reports.content.runs import render_extraction

    write(render_extraction(extraction))
    if extraction.is_complete and extraction.counts["predicted"]:
        from shlex import quote

        spec, protocol = params["spec"], params["protocol"]
        judging = f"--protocol {protocol}" if spec is None else f"--spec {quote(str(spec))}"
        name = extraction.manifest["system"].replace("=", "-")  # NAME=PATH is split at the first sign
        complain(
            f"next: fieldassay score {judging} --gold GOLD --pred {quote(f'{name}={extraction.folder}')}"
        )


@click.command(cls=GroupedCommand)
@click.argument("systems", metavar="[SYSTEMS]", required=False, type=_PATH)
@option("-d", "--docs", group="Inputs", metavar="PATH", type=_PATH, help="A folder of documents.")
@option(
    "--system",
    "names",
    group="Inputs",
    metavar="NAME",
    multiple=True,
    help="This system only; repeat for more.",
)
@option(
    "--match-docs",
    group="Inputs",
    metavar="DOC=GOLD",
    help="How the names of documents match those of gold, such as '{id}_scan.pdf={id}_expected' or "
    "'{reading}/{id}.txt'.  [default: one pattern that fits all]",
)
@spec_options
@gold_option
@work_options
@option(
    "-o",
    "--out",
    group="Output",
    metavar="DIR",
    type=_PATH,
    required=False,
    help="The folder of extractions and run.",
)
@option("--json", "is_json", group="Output", is_flag=True, help="Print sweep.json.")
@option("-q", "--quiet", group="Output", is_flag=True, help="Print nothing but errors.")
@option("-v", "--verbose", "is_verbose", group="Output", is_flag=True, help=VERBOSE)
def run(**params: Any) -> int:
    """Extract with several systems, score and compare them.

    SYSTEMS is a file of systems; without one, `rules` runs, offline. Documents without gold are left out.
    After an interruption, give the same command again.

    \b
    fieldassay run systems.yaml --docs scans --spec spec.yaml --gold gold.jsonl --out sweep
    """
    from fieldassay.commands.cli.inputs import read_spec_option
    from fieldassay.commands.cli.output import keep_output_clean, show_extraction
    from fieldassay.commands.cli.thresholds import report_outcomes
    from fieldassay.commands.extract import SweepOptions, estimate
    from fieldassay.commands.extract import run as run_systems
    from fieldassay.scoring.inputs import ScoreOptions

    for name in ("--docs", "--gold"):
        if params[name[2:]] is None:
            raise click.UsageError(f"Missing option '{name}'.")
    options = SweepOptions(
        read_work_options(params),
        ScoreOptions(),
        tuple(params["names"]),
        params["match_docs"],
        ("fieldassay", *sys.argv[1:]),
    )
    inputs = (params["docs"], read_spec_option(params), params["gold"])
    if params["is_dry"]:
        with keep_output_clean():
            estimates = estimate(*inputs, params["systems"], options)
        show_estimates(estimates, is_json=params["is_json"])
        return 0
    if params["out"] is None:
        raise click.UsageError("say where extractions and run go: --out DIR.")
    with resumable(), keep_output_clean(), show_extraction(params["quiet"]) as progress:
        watch = make_watch(progress, is_quiet=params["quiet"] or params["is_json"])
        sweep = run_systems(*inputs, params["out"], params["systems"], options, watch)
    _show_sweep(sweep, params)
    if sweep.is_interrupted:
        return INTERRUPTED
    if not sweep.is_complete:
        return INCOMPLETE
    if not any(extraction.counts["predicted"] for extraction in sweep.extractions.values()):
        return NOTHING
    decisions = sweep.run.decisions if sweep.run is not None else ()
    return report_outcomes(decisions, is_strict=False, is_quiet=params["quiet"] or params["is_json"])


def _show_sweep(sweep: Any, params: Any) -> None:
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.commands.cli.report import write_reports

    if sweep.run is not None:
        write_reports(sweep.run, [("html", None)], "all", is_quiet=True)
    if params["is_json"]:
        write(sweep.summary_text())
        return
    if params["quiet"]:
        return
    from fieldassay.reports.content.run.parts import render_answer, render_terminal
    from fieldassay.reports.content.run.summary import summarize
    from fieldassay.reports.content.runs import render_sweep

    if sweep.run is not None:
        summary = summarize(
            sweep.run.result, sweep.run.evidence, shows_all=False, decisions=sweep.run.decisions
        )
        render = render_terminal if params["is_verbose"] else render_answer
        write(render(summary, screen()))
    write(render_sweep(sweep))
