"""`fieldassay demo`."""

from pathlib import Path

import click

from fieldassay.commands.cli.report import VERBOSE


@click.command()
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the run there too, with a report to open in a browser.",
)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help=VERBOSE)
def demo(out: Path | None, *, is_verbose: bool) -> int:
    """Score the shipped sample: 72 documents, three systems.

    Then 18 of its documents, printed receipts, go through two systems: rules, and a model whose answers were
    recorded. Nothing is sent.
    """
    import sys

    from fieldassay.commands.cli.output import write
    from fieldassay.commands.cli.report import write_reports
    from fieldassay.commands.cli.score import Shown, show_run
    from fieldassay.commands.score import ScoreRequest, run_scoring
    from fieldassay.scoring.inputs import ScoreOptions
    from fieldassay.scoring.score import sample

    files = sample()
    options = ScoreOptions(evidence="all" if out else "errors")
    command = ("fieldassay", *sys.argv[1:])
    with run_scoring(
        ScoreRequest(files.gold, files.predictions, files.spec, options, out, command=command)
    ) as run:
        show_run(run, "table", Shown(is_verbose))
        write_reports(run, [("html", None)] if out else [], options.evidence, is_quiet=True)
    _extract(out)
    write("\n" + "".join(f"{line}\n" for line in _suggestions(out)))
    return 0


def _extract(out: Path | None) -> None:
    """Extract the sample's printed receipts with both systems; print their quality, cost and speed."""
    import tempfile

    from fieldassay.commands.cli.output import write
    from fieldassay.commands.cli.report import write_reports
    from fieldassay.commands.extract import ExtractOptions
    from fieldassay.commands.run import SweepOptions, run
    from fieldassay.reports.content.runs import trade_offs
    from fieldassay.scoring.score import printed_receipts

    receipts = printed_receipts()
    options = SweepOptions(ExtractOptions(jobs=0, reuse=(receipts.recorded,)))
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as folder:
        place = Path(folder) if out is None else out / "receipts"
        made = run(receipts.documents, receipts.spec, receipts.gold, place, receipts.systems, options)
        assert made.run is not None
        write_reports(made.run, [("html", None)] if out else [], "all", is_quiet=True)
        head = "\nFrom documents to numbers: 18 receipts, read by rules and by a recorded model\n"
        write(head + "".join(f"{line}\n" for line in trade_offs(made)[2:]))


def _suggestions(out: Path | None) -> list[str]:
    """Return suggestions for further commands."""
    opened = (
        []
        if out is None
        else [
            (f"python3 -m webbrowser {out / 'report.html'}", "the report, in a browser; it needs no network")
        ]
    )
    tries = [
        *opened,
        (f"fieldassay explain {out} rcp-003 subtotal", "why a value was judged as it was")
        if out is not None
        else ("fieldassay explain --type money '$1,234.56' 1234.6", "why a value is judged as it is"),
        (
            f"fieldassay explain {out / 'receipts' / 'run'} rcp-010 gst_amount",
            "where a model's answer stands, and what is wrong with it",
        )
        if out is not None
        else (
            "fieldassay extract --docs YOURS --spec spec.yaml --out out",
            "predictions from your documents",
        ),
        ("fieldassay init --gold YOURS.jsonl --out spec.yaml", "a first spec for your own data"),
    ]
    head = "Try next:" if out is None else f"Written to {out}. Try next:"
    return [head, *(line for command, why in tries for line in (f"  {command}", f"      {why}"))]
