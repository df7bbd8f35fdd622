"""`fieldassay init`."""

from pathlib import Path

import click

from fieldassay.commands.cli.grouping import GroupedCommand


@click.command(cls=GroupedCommand)
@click.option("-g", "--gold", metavar="PATH", help="Gold data: the form of its values decides the types.")
@click.option(
    "-p",
    "--pred",
    "preds",
    metavar="[NAME=]PATH",
    multiple=True,
    help="Predictions beside gold: fields get the names and types under which they agree with it.",
)
@click.option(
    "--schema",
    metavar="FILE|MODULE:MODEL",
    help="A JSON Schema or a Pydantic model: with --gold, the fields are those of the schema. Or a spec "
    "of `data:` alone, which says how gold is read.",
)
@click.option(
    "--docs",
    metavar="PATH",
    help="The documents of gold: the words that stand beside its values become `labels` of the fields.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write. Default: standard output.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
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
    fieldassay init --gold gold.csv --out spec.yaml
    fieldassay init --gold gold.csv --pred answers --out spec.yaml
    fieldassay init --gold gold.jsonl --schema schema.json
    fieldassay init --gold gold.csv --docs scans --out spec.yaml
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
