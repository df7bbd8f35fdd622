"""`fieldassay demo`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the run there too, with a report to open in a browser.",
)
def demo(out: Path | None) -> int:
    """Score the shipped sample: 72 invented documents, three invented systems."""
    import sys

    from fieldassay.cli.output import write
    from fieldassay.cli.report import write_reports
    from fieldassay.cli.score import show_run
    from fieldassay.public.running import Request, run_scoring
    from fieldassay.scoring.options import ScoreOptions
    from fieldassay.scoring.sampling import sample

    files = sample()
    options = ScoreOptions(inputs=files.inputs, evidence="all" if out else "errors")
    command = ("fieldassay", *sys.argv[1:])
    with run_scoring(
        Request(files.gold, files.predictions, files.spec, options, out, command=command)
    ) as run:
        show_run(run, "table", shows_all=False)
        write_reports(run, [("html", None)] if out else [], options.evidence, is_quiet=True)
    write("\n" + "".join(f"{line}\n" for line in _suggestions(out)))
    return 0


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
        ("fieldassay init --gold YOURS.jsonl --out spec.yaml", "a first spec for your own data"),
    ]
    head = "Try next:" if out is None else f"Written to {out}. Try next:"
    return [
        head,
        *(f"  {command:<{max(len(first) for first, _ in tries)}}   {why}" for command, why in tries),
    ]
