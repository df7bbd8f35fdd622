"""`fieldassay protocols`."""

from pathlib import Path

import click

from fieldassay.commands.cli.grouping import GroupedCommands, json_option


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
    """List the protocols, a line each."""
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
    """Print a protocol as it ships: its fields, rules, metrics, gates and source."""
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
    help="Write to a file that is not there yet instead of printing.",
)
def new(name: str, out: Path | None) -> int:
    """Print a spec of your own that begins as the protocol: the same text under a new name, to be edited."""
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
        raise click.UsageError(f"--out {out}: there is a file of that name; choose another.") from None
    complain(f"written to {out}")
    return 0
