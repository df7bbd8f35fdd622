"""`fieldassay gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fieldassay.commands.cli.grouping import Shape, json_option
from fieldassay.commands.cli.regressions import BASELINE_HELP, default_baseline
from fieldassay.commands.cli.storing import lookup_option

if TYPE_CHECKING:
    from fieldassay.metrics.result.decision import DecisionPage

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "--gates",
    metavar="FILE",
    type=_PATH,
    help="The gates: a gates file, or a spec.  [default: those of the runs' own specs]",
)
@click.option(
    "--protocol",
    metavar="NAME",
    help="The gates of a published protocol, such as clinical-decision, instead.",
)
@click.option(
    "--records",
    metavar="FILE",
    type=_PATH,
    help="Records of events besides scoring: repeated runs, offline runs, proofs.",
)
@click.option("--system", metavar="NAME", help="The system to decide on.  [default: each]")
@click.option("--baseline", metavar="FILE", type=_PATH, help=BASELINE_HELP)
@lookup_option
@click.option(
    "-f",
    "--format",
    "shape",
    type=Shape(["table", "markdown"]),
    help="The format of standard output.  [default: table]",
)
@json_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=_PATH,
    help="Write the page there too: Markdown, or JSON if the name ends in .json.",
)
def gate(**given: Any) -> int:
    """Decide GO or NO-GO on finished runs.

    RUN is a folder that `fieldassay score --out` wrote, or a run of the store: its id, name, or `latest`.
    Prints each gate with its value, threshold, verdict and evidence. Exits with 0 for GO, 1 for NO-GO, 4
    where that cannot be decided.

    \b
    fieldassay gate runs/prescriptions runs/labs --protocol clinical-decision --records records.yaml
    """
    from fieldassay.commands.cli.output import complain, screen, write
    from fieldassay.decisions.baseline.runs import demand_basis
    from fieldassay.decisions.gate import GateRequest, decide
    from fieldassay.runs.run import Run
    from fieldassay.runs.store.locate import find_run

    shape = _shape(given)
    runs = tuple(find_run(reference, given["store"]) for reference in given["runs"])
    _check_out(given, runs)
    baseline = given["baseline"] or default_baseline()
    if given["baseline"] is not None:
        demand_basis(given["baseline"], map(Run.open, runs))
    page = decide(
        GateRequest(runs, given["gates"], given["protocol"], given["records"], given["system"], baseline)
    )
    write(_render(page, shape, screen()))
    if given["out"] is not None:
        _write_page(
            given["out"],
            _render(page, "json" if given["out"].suffix.casefold() == ".json" else "markdown", screen()),
        )
        complain(f"written to {given['out']}")
    return {"GO": 0, "NO-GO": 1, "INCONCLUSIVE": 4}[str(page.answer)]


def _shape(given: Mapping[str, Any]) -> str:
    if given["gates"] is not None and given["protocol"] is not None:
        raise click.UsageError("Give --gates or --protocol, not both.")
    if given["is_json"] and given["shape"] is not None:
        raise click.UsageError("Give --json or --format, not both.")
    return "json" if given["is_json"] else given["shape"] or "table"


def _check_out(given: Mapping[str, Any], runs: Sequence[Path]) -> None:
    """Refuse to overwrite input files."""
    out = given["out"]
    if out is None:
        return
    read = [*(given[name] for name in ("gates", "records", "baseline") if given[name] is not None), *runs]
    target = out.resolve()
    if out.is_dir() or any(target == path.resolve() or path.resolve() in target.parents for path in read):
        raise click.UsageError(f"--out {out}: is a folder, or would overwrite an input; name another file.")


def _render(page: DecisionPage, shape: str, screen: Any) -> str:
    if shape == "json":
        from fieldassay.io.json_value import json_text

        return json_text(page.to_dict())
    from fieldassay.reports.content.run.gates import render_page, render_page_markdown

    return render_page_markdown(page) if shape == "markdown" else render_page(page, screen)


def _write_page(path: Path, text: str) -> None:
    """Write the page whole or not at all."""
    from fieldassay.io.files.whole_files import write_file

    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, [text.encode("utf-8", "backslashreplace")])
