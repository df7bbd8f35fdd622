"""`fieldassay corpus`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from fieldassay.cli.grouping import GroupedCommands

_PATH = click.Path(path_type=Path)


@click.group(cls=GroupedCommands)
def corpus() -> None:
    """Challenge documents with exact gold, and harder copies of your own documents.

    \b
    fieldassay run --corpus --out out
    fieldassay corpus build corpus --scale 100
    fieldassay corpus perturb --docs scans --gold gold.jsonl --out harder
    """


@corpus.command("build")
@click.argument("folder", metavar="DIR", type=_PATH)
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Other digits in the amounts; 0 is the corpus that ships.",
)
@click.option(
    "--scale",
    metavar="K",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Each document K times, with other digits; long documents and twins once.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def build_command(folder: Path, seed: int, scale: int, quiet: bool) -> int:
    """Build the challenge corpus in a new folder: documents, specs, gold, and corpus.json.

    The corpus that ships is the same as that of seed 0 and scale 1.

    \b
    fieldassay corpus build corpus --seed 7 --scale 1000
    fieldassay run --corpus --docs corpus --out out
    """
    from fieldassay.cli.output import write
    from fieldassay.public.corpora import build_corpus, count_documents

    with _bar(count_documents(scale), quiet) as watch:
        written = build_corpus(folder, seed, scale, watch)
    if not quiet:
        write(f"written to {folder}: {written:,} documents\n")
    return 0


@contextmanager
def _bar(total: int, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of documents done; it draws a bar on a terminal."""
    import sys

    if is_quiet or not sys.stderr.isatty():
        yield lambda done: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("documents", total=total)
        yield lambda done: shown.advance(task, done)
