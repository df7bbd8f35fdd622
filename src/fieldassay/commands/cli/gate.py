"""`fieldassay gate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from fieldassay.commands.cli.grouping import GroupedCommand, Shape, json_option
from fieldassay.commands.cli.runs import find_stored, lookup_option
from fieldassay.commands.cli.thresholds import DEFAULT, REGRESSION_HELP, default_baseline

if TYPE_CHECKING:
    from fieldassay.commands.cli.thresholds import BaselineChoice
    from fieldassay.decisions.baseline.baseline import Baseline
    from fieldassay.decisions.baseline.runs import ChangeLine
    from fieldassay.metrics.result.decision import Decision, DecisionPage

_PATH = click.Path(path_type=Path)


@click.command(cls=GroupedCommand)
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
@click.option(
    "--baseline",
    metavar="FILE",
    type=_PATH,
    help=f"Compare a run with this baseline, too.  [default for gates on regressions: {DEFAULT}]",
)
@click.option("--fail-on-regression", "regressions", metavar="METRIC", multiple=True, help=REGRESSION_HELP)
@click.option(
    "--metrics",
    metavar="LIST",
    multiple=True,
    help="Of --baseline: compare by these metrics.  [default: those that the baseline shows]",
)
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
    where that cannot be decided. With --baseline a run is compared document by document, and needs no gates.
    A run of another spec is refused with exit code 2; so is one of other gold if the baseline is frozen, else
    the documents with equal gold are compared.

    \b
    fieldassay gate runs/prescriptions runs/labs --protocol clinical-decision --records records.yaml
    fieldassay gate latest --baseline fieldassay-baseline.json --fail-on-regression accuracy=0.01
    """
    from fieldassay.commands.cli.output import complain, screen, write
    from fieldassay.decisions.baseline.runs import demand_basis
    from fieldassay.decisions.gate import GateRequest, decide
    from fieldassay.runs.run import Run

    shape = _shape(given)
    runs = tuple(find_stored(reference, given["store"]) for reference in given["runs"])
    _check_out(given, runs)
    baseline = given["baseline"] or default_baseline()
    if given["baseline"] is not None:
        demand_basis(given["baseline"], map(Run.open, runs))
    compared = _compare(given, runs)
    if compared is not None and not compared.has_gates:
        _print_change(compared, None, shape)
        return compared.find_exit_code("GO")
    page = decide(
        GateRequest(runs, given["gates"], given["protocol"], given["records"], given["system"], baseline)
    )
    if compared is None or shape == "markdown":
        write(_render(page, shape, screen()))
    else:
        _print_change(compared, page, shape)
    if given["out"] is not None:
        _write_page(
            given["out"],
            _render(page, "json" if given["out"].suffix.casefold() == ".json" else "markdown", screen()),
        )
        complain(f"written to {given['out']}")
    return _CODES[str(page.answer)] if compared is None else compared.find_exit_code(str(page.answer))


_CODES = {"GO": 0, "NO-GO": 1, "INCONCLUSIVE": 4}


class _Compared(NamedTuple):
    """A run beside a baseline: its changes, and the verdicts of `--fail-on-regression`."""

    baseline: Baseline
    lines: Sequence[ChangeLine]
    asked: BaselineChoice
    decisions: tuple[Decision, ...]
    has_gates: bool

    def find_exit_code(self, answer: str) -> int:
        """Return the exit code of these verdicts and of the answer of other gates."""
        from fieldassay.commands.cli.thresholds import FAILED, find_exit_code

        code = find_exit_code(self.decisions, (), is_strict=True)
        if FAILED in (code, _CODES[answer]):
            return FAILED
        return self.asked.find_exit_code(self.decisions) or code or _CODES[answer]


def _compare(given: Mapping[str, Any], runs: Sequence[Path]) -> _Compared | None:
    """Return a run beside its baseline; None without one, of several runs, or where only gates are asked."""
    from fieldassay.commands.cli.grouping import split_outside
    from fieldassay.commands.cli.thresholds import BaselineChoice, read_regressions
    from fieldassay.decisions.baseline.baseline import read_baseline
    from fieldassay.decisions.baseline.runs import check_run
    from fieldassay.decisions.gate import decide_regressions
    from fieldassay.runs.run import Run

    path, asks = given["baseline"], bool(given["regressions"] or given["metrics"])
    path = Path(DEFAULT) if path is None and asks else path
    if asks and len(runs) != 1:
        raise click.UsageError("--fail-on-regression and --metrics go with one RUN.")
    if path is None or len(runs) != 1:
        return None
    run = Run.open(runs[0])
    has_gates = bool(run.file.gates or given["gates"] or given["protocol"])
    if has_gates and not asks:
        return None
    held, asked = read_baseline(path), BaselineChoice(path, read_regressions(given["regressions"], run.plan))
    lines = check_run(run, held, tuple(part for text in given["metrics"] for part in split_outside(text)))
    return _Compared(held, lines, asked, decide_regressions(run, held, asked.gates), has_gates)


def _print_change(compared: _Compared, page: DecisionPage | None, shape: str) -> None:
    """Print the gates, if there are any, and then the comparison with the baseline."""
    from fieldassay.commands.cli.output import screen, write
    from fieldassay.io.json_value import json_text
    from fieldassay.reports.content.diff import check_data, render_check

    changes = compared.baseline, compared.lines, compared.decisions
    if shape == "json":
        write(json_text({**({} if page is None else page.to_dict()), "comparison": check_data(*changes)}))
        return
    gates = "" if page is None else _render(page, shape, screen()) + "\n"
    write(gates + render_check(*changes, screen()))


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
    from fieldassay.reports.content.run.sections import describe_page
    from fieldassay.reports.writers.tables import lay_out_markdown, lay_out_terminal

    told = describe_page(page)
    return lay_out_markdown(told) if shape == "markdown" else lay_out_terminal(told, screen)


def _write_page(path: Path, text: str) -> None:
    """Write the page whole or not at all."""
    from fieldassay.io.files.whole_files import write_file

    path.parent.mkdir(parents=True, exist_ok=True)
    write_file(path, [text.encode("utf-8", "backslashreplace")])
