"""How one begins: `fieldassay demo`, `init` and `protocols`."""

from __future__ import annotations

from pathlib import Path

import click

from fieldassay.commands.cli.grouping import GroupedCommand, GroupedCommands, json_option
from fieldassay.commands.cli.report import VERBOSE

# `fieldassay demo`.


@click.command()
@click.option(
    "-o",
    "--out",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the run there, with an HTML report.",
)
@click.option("-v", "--verbose", "is_verbose", is_flag=True, help=VERBOSE)
def demo(out: Path | None, *, is_verbose: bool) -> int:
    """Score the shipped sample: 72 documents, three systems.

    Then extract 18 receipts by rules and by a recorded model. Nothing is sent.
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
        show_run(run, Shown(is_verbose))
        write_reports(run, [("html", None)] if out else [], options.evidence, is_quiet=True)
    _extract(out)
    write("\n" + "".join(f"{line}\n" for line in _suggestions(out)))
    return 0


def _extract(out: Path | None) -> None:
    """Extract the sample's printed receipts with both systems; print their quality, cost and speed."""
    import tempfile

    from fieldassay.commands.cli.output import screen, write
    from fieldassay.commands.cli.report import write_reports
    from fieldassay.commands.extract import ExtractOptions, SweepOptions, run
    from fieldassay.reports.content.run.parts import render_systems
    from fieldassay.reports.content.run.summary import summarize
    from fieldassay.scoring.score import printed_receipts

    receipts = printed_receipts()
    options = SweepOptions(ExtractOptions(jobs=0, reuse=(receipts.recorded,)))
    with tempfile.TemporaryDirectory(prefix="fieldassay-") as folder:
        place = Path(folder) if out is None else out / "receipts"
        sweep = run(receipts.documents, receipts.spec, receipts.gold, place, receipts.systems, options)
        assert sweep.run is not None
        write_reports(sweep.run, [("html", None)] if out else [], "all", is_quiet=True)
        head = "\nFrom documents to numbers: 18 receipts, read by rules and by a recorded model\n"
        write(head + render_systems(summarize(sweep.run.result), screen()))


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
            "where a model's answer is on the page, and what is wrong with it",
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


# `fieldassay init`.


@click.command(cls=GroupedCommand)
@click.option("-g", "--gold", metavar="PATH", help="Gold data, whose values decide the types.")
@click.option(
    "-p",
    "--pred",
    "preds",
    metavar="[NAME=]PATH",
    multiple=True,
    help="Predictions: fields get the names and types that make them agree with gold.",
)
@click.option(
    "--schema",
    metavar="FILE|MODULE:MODEL",
    help=(
        "Take the fields from a JSON Schema or Pydantic model. A spec with `data:` alone says how gold is "
        "read."
    ),
)
@click.option(
    "--docs",
    metavar="PATH",
    help="The documents: words printed beside values become `labels`.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file.  [default: standard output]",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
def init(
    gold: str | None,
    preds: tuple[str, ...],
    schema: str | None,
    docs: str | None,
    out: Path | None,
    force: bool,
) -> int:
    """Write a first spec from gold or from a schema.

    \b
    fieldassay init --gold gold.csv --pred answers --out spec.yaml
    fieldassay init --gold gold.jsonl --schema schema.json
    """
    from fieldassay.commands.cli.inputs import name_predictions
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.commands.init import Draft, spec_from_gold, spec_from_schema

    if gold is None and schema is None:
        raise click.UsageError(
            "Give --gold PATH, --schema FILE, or both: then the schema says the fields, and gold how "
            "values are written."
        )
    for flag, value in (("--docs", docs), ("--pred", preds)):
        if gold is None and value:
            raise click.UsageError(f"{flag} goes with --gold.")
    if out is not None and out.exists() and not force:
        raise click.UsageError(f"{out} is there already; give another name, or --force to overwrite it.")
    if gold is None:
        draft = Draft(spec_from_schema(str(schema)))
    else:
        draft = spec_from_gold(gold, schema, docs, name_predictions(preds) if preds else None)
    for remark in draft.remarks:
        complain(remark)
    if out is None:
        write(draft.text)
        return 0
    _save(out, draft.text, force)
    complain(
        f"written to {out}; read it through, then: fieldassay score --check --spec "
        f"{out}{f' --gold {gold}' if gold is not None else ''}"
    )
    return 0


def _save(out: Path, text: str, force: bool) -> None:
    from fieldassay.io.files.whole_files import check_plain

    try:
        check_plain(out)
        with out.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise click.UsageError(
            f"{out} is there already; give another name, or --force to overwrite it."
        ) from None
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror}.") from None


# `fieldassay protocols`.


@click.group(cls=GroupedCommands)
def protocols() -> None:
    """List and show the published protocols.

    \b
    fieldassay protocols list
    fieldassay protocols show prescription
    fieldassay protocols new prescription > my-spec.yaml
    """


@protocols.command("list")
@json_option
def list_protocols(is_json: bool) -> int:
    """List the protocols."""
    from fieldassay.commands.cli.output import write
    from fieldassay.io.json_value import json_text
    from fieldassay.spec.presets.catalogue import preset_heads

    heads = preset_heads()
    if is_json:
        write(json_text([head.to_dict() for head in heads]))
        return 0
    from fieldassay.commands.cli.output import screen
    from fieldassay.reports.writers.page import PageColumn, ScreenPage

    page = ScreenPage(screen())
    page.table(
        [PageColumn("name", is_name=True), PageColumn("kind"), PageColumn("what it judges")],
        [(head.name, head.kind, head.description) for head in heads],
    )
    write(page.text())
    return 0


@protocols.command()
@click.argument("name")
@json_option
def show(name: str, is_json: bool) -> int:
    """Print a protocol."""
    from fieldassay.commands.cli.output import write
    from fieldassay.io.json_value import json_line
    from fieldassay.spec.presets.catalogue import preset_head, preset_text

    text = preset_text(name, "protocols show")
    if not is_json:
        write(text)
        return 0
    from fieldassay.spec.language.parse import read_spec
    from fieldassay.spec.language.write import spec_data

    head = preset_head(name)
    data = head.data if head.kind == "decision" else spec_data(read_spec(text))
    write(json_line(data, indent=1) + "\n")
    return 0


@protocols.command()
@click.argument("name")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write to a new file instead.",
)
def new(name: str, out: Path | None) -> int:
    """Print a copy of a protocol, for you to edit."""
    from fieldassay.commands.cli.output import complain, write
    from fieldassay.spec.presets.catalogue import own_copy

    text = own_copy(name)
    if out is None:
        write(text)
        return 0
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(f"--out {out}: this file exists already; choose another name.") from None
    complain(f"written to {out}")
    return 0
