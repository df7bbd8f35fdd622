"""`fieldassay redact`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fieldassay.commands.cli.storing import lookup_option

_MOST_BYTES = 1 << 20


@click.command()
@click.argument("run", metavar="RUN")
@click.option(
    "-o",
    "--out",
    "target",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="Where the redacted run goes.",
)
@click.option(
    "--key-file",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help=(
        "A file with a secret: runs that are redacted with the same one can be compared.  [default: a "
        "secret that is forgotten]"
    ),
)
@click.option(
    "--shapes",
    "has_shapes",
    is_flag=True,
    help="Show the shape of a value, letters as x and digits as 9, instead of a token.",
)
@click.option("--ids", "has_ids", is_flag=True, help="Replace the ids of documents too.")
@lookup_option
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def redact(run: str, target: Path, store: Path, *, quiet: bool, **given: Any) -> int:
    """Write a run again without its values, to show it to others.

    Every number stays. Values, undeclared keys, raw answers, and the values that the spec names become
    tokens, the same for the same text. Names of fields and systems stay, and so do ids without --ids. What
    the run was made from, its command, notes and warnings are left out.

    \b
    fieldassay redact run --out shared
    fieldassay redact run --out shared --ids --key-file secret.txt
    """
    from fieldassay.commands.cli.output import complain
    from fieldassay.runs.redaction.redact import redact_run
    from fieldassay.runs.store.locate import find_run

    has_ids = given["has_ids"]
    redact_run(
        find_run(run, store), target, _key(given["key_file"]), has_shapes=given["has_shapes"], has_ids=has_ids
    )
    if not quiet:
        complain(
            f"written to {target}: a redacted run"
            + ("" if has_ids else "; ids of documents are as they were")
        )
    return 0


def _key(file: Path | None) -> bytes:
    """Return the secret in a file; raises UsageError where there is none."""
    from fieldassay.io.files.whole_files import open_file

    if file is None:
        return b""
    try:
        with open_file(file) as stream:
            key = stream.read(_MOST_BYTES).strip()
    except OSError as error:
        raise click.UsageError(f"--key-file: {file} cannot be read ({error.strerror or error}).") from None
    if not key:
        raise click.UsageError(f"--key-file: {file} is empty; write a secret into it.")
    return key
