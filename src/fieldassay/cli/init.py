"""`fieldassay init`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option("--gold", metavar="PATH", help="Gold data: what its values look like decides the types.")
@click.option("--gold-key", metavar="KEY", help="Where in a gold row the record is. Default: the row is the record.")
@click.option("--schema", metavar="FILE|MODULE:MODEL", help="A JSON Schema, or a Pydantic model by its dotted name.")
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), help="Where to write. Default: standard output.")
@click.option("--force", is_flag=True, help="Overwrite the file if there is one.")
def init(gold: str | None, gold_key: str | None, schema: str | None, out: Path | None, force: bool) -> int:
    """Write a first spec from gold data or from a schema, with comments.

    \b
    fieldassay init --gold gold.csv --out spec.yaml
    """
    from fieldassay.api.starting import spec_from_gold, spec_from_schema
    from fieldassay.cli.output import complain, write

    if (gold is None) == (schema is None):
        raise click.UsageError("Give either --gold PATH or --schema FILE.")
    if gold_key is not None and gold is None:
        raise click.UsageError("--gold-key goes with --gold.")
    if out is not None and out.exists() and not force:
        raise click.UsageError(f"{out} is there already; give another name, or --force to overwrite it.")
    text = spec_from_gold(gold, gold_key) if gold is not None else spec_from_schema(str(schema))
    if out is None:
        write(text)
        return 0
    _save(out, text, force)
    data = f" --gold {gold}" + (f" --gold-key {gold_key}" if gold_key else "") if gold is not None else ""
    complain(f"written to {out}; read it through, then: fieldassay validate --spec {out}{data}")
    return 0


def _save(out: Path, text: str, force: bool) -> None:
    try:
        with out.open("w" if force else "x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError:
        raise click.UsageError(f"{out} is there already; give another name, or --force to overwrite it.") from None
    except OSError as error:
        raise click.UsageError(f"{out} cannot be written: {error.strerror}.") from None
