"""Builds the challenge corpus, and degrades documents: `python bench/corpus build|perturb ...`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parents[2]))

from bench.corpus.build import build_corpus, count_documents
from bench.corpus.perturb import perturb

from fieldassay.commands.cli.output import complain, write
from fieldassay.errors import FieldassayError

_PATH = click.Path(path_type=Path)
_MOST_NAMED = 10
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")


def _seed(what: str) -> Any:
    """Return the option of a seed, whose help says what other seeds change."""
    return click.option(
        "--seed", metavar="N", type=click.IntRange(0), default=0, show_default=True, help=what
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
def corpus() -> None:
    """Challenge documents with exact gold, and degraded copies of your own documents.

    \b
    python bench/corpus build corpus --scale 100
    python bench/corpus perturb --docs scans --gold gold.jsonl --out harder
    """


@corpus.command("build")
@click.argument("folder", metavar="DIR", type=_PATH)
@_seed("Other digits in the amounts; 0 is samples/corpus.")
@click.option(
    "--scale",
    metavar="K",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Each document K times, with other digits; long documents and twins once.",
)
@_QUIET
def build_command(folder: Path, seed: int, scale: int, quiet: bool) -> int:
    """Build the challenge corpus in a new folder: documents, specs, gold, and corpus.json.

    samples/corpus is the same as that of seed 0 and scale 1.

    \b
    python bench/corpus build corpus --seed 7 --scale 1000
    fieldassay run --docs corpus/order/documents --spec corpus/order/spec.yaml --gold corpus/order/gold.jsonl --out out
    """
    with show_documents(count_documents(scale), is_quiet=quiet) as watch:
        written = build_corpus(folder, seed, scale, watch)
    if not quiet:
        write(f"written to {folder}: {written:,} documents\n")
    return 0


@corpus.command("perturb")
@click.option("-d", "--docs", metavar="PATH", type=_PATH, required=True, help="A folder of documents.")
@click.option(
    "-g",
    "--gold",
    metavar="FILE",
    type=_PATH,
    help="Their gold: CSV, JSONL, or a JSON array.",
)
@click.option("--id-key", metavar="KEY", help="The key of the id in gold.")
@click.option(
    "--kind",
    "kinds",
    metavar="KIND[,KIND…]",
    help="Degradations.  [default: scan,fax,rotation,low_resolution]",
)
@_seed("Other noise, other sides of the page.")
@click.option("-o", "--out", metavar="DIR", type=_PATH, required=True, help="A new folder.")
@_QUIET
def perturb_command(**given: Any) -> int:
    """Make degraded copies of PDFs and images beside the clean ones, and the gold that goes with both.

    `fieldassay run` on the new folder says how much each degradation costs a system, paired by document.
    Other kinds of documents have no pictures of their pages, and are left out.

    \b
    python bench/corpus perturb --docs scans --gold gold.jsonl --out harder
    fieldassay run --docs harder/documents --gold harder/gold.jsonl --spec spec.yaml --out out
    """
    kinds = tuple(name.strip() for name in (given["kinds"] or "").split(",") if name.strip())
    with show_documents(None, is_quiet=given["quiet"]) as watch:
        made = perturb(
            given["docs"], given["out"], kinds, given["gold"], given["id_key"], given["seed"], watch
        )
    if given["quiet"]:
        return 0
    for name, why in list(made.left_out.items())[:_MOST_NAMED]:
        complain(f"left out: {name} {why}")
    if len(made.left_out) > _MOST_NAMED:
        complain(f"left out: {len(made.left_out) - _MOST_NAMED:,} more documents")
    for note in made.notes:
        complain(note)
    place = given["out"]
    write(f"written to {place}: {made.documents:,} documents, and {made.twins:,} degraded copies\n")
    if made.gold is not None:
        inputs = f"--docs {place / 'documents'} --gold {made.gold}"
        write(f"next: fieldassay run {inputs} --spec SPEC --out OUT\n")
    return 0


@contextmanager
def show_documents(total: int | None, *, is_quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with each number of documents done; it draws a bar on a terminal."""
    if is_quiet or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task("documents", total=total)
        yield lambda done: shown.advance(task, done)


if __name__ == "__main__":
    try:
        code = corpus.main(prog_name="python bench/corpus", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = 2
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted")
        code = 130
    except FieldassayError as error:
        complain(str(error))
        code = error.exit_code
    sys.exit(code)
