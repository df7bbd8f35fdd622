"""Running a system again on better texts: what it gets right then is what better reading is worth."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.attribution.damage import find_damage
from fieldassay.attribution.presence import UNCOPIED, SentText
from fieldassay.attribution.sent import text_lines
from fieldassay.documents.sources import DocumentFile
from fieldassay.documents.transcript import DocumentError, Transcript
from fieldassay.endpoints.driver import DriveOptions
from fieldassay.endpoints.journal import NAME as JOURNAL
from fieldassay.endpoints.journal import ReadJournal
from fieldassay.errors import Problem, ProblemsError
from fieldassay.extractors.evidence import surface_forms
from fieldassay.extractors.extract import Extraction, System, Work, extract_documents
from fieldassay.scoring.options import ScoreOptions
from fieldassay.scoring.score import score
from fieldassay.wording.numbers import format_count

if TYPE_CHECKING:
    from fieldassay.plan.nodes import Leaf
    from fieldassay.runs.run import Run

OpenSystem: TypeAlias = "Callable[[], AbstractContextManager[System]]"
"""Opens a system, which serves one extraction."""
AGAIN, PERFECT, PATCHED, FREE, PERFECT_FREE = "again", "perfect", "patched", "free", "perfect_free"
PASSES: Mapping[str, tuple[str, bool]] = {
    AGAIN: ("sent", False),
    PERFECT: ("perfect", False),
    PATCHED: ("patched", False),
    FREE: ("sent", True),
    PERFECT_FREE: ("perfect", True),
}
"""The passes in order: each with its text, and whether the schema is left out.

Every pass asks for the second repetition, so that where two passes send the same they share the answer.
"""


class Texts(Struct, frozen=True):
    """The texts of one document by name; those that are not known are missing."""

    sent: Transcript
    perfect: Transcript | None = None
    patched: Transcript | None = None
    """The sent text with the gold values in place of what is left of them; None where nothing was damaged."""

    def of(self, name: str) -> Transcript | None:
        """Return the text of a pass."""
        found: Transcript | None = getattr(self, name)
        return found


class RerunOptions(Struct, frozen=True):
    """How a system is run again."""

    out: Path
    """The folder of the extractions, one for each pass; they are continued there."""
    drive: DriveOptions = DriveOptions()
    tell: Callable[[str], None] = lambda text: None  # noqa: ARG005


def list_passes(system: System, texts: Mapping[str, Texts]) -> dict[str, tuple[str, ...]]:
    """Return the passes that say something, each with its documents.

    Without a perfect text of a document, reading cannot be made perfect; without a schema, it cannot be
    left out.
    """
    perfect = tuple(name for name, one in texts.items() if one.perfect is not None)
    every = perfect or tuple(texts)
    found = {AGAIN: every, PERFECT: perfect}
    found[PATCHED] = tuple(name for name in every if texts[name].patched is not None)
    if has_schema(system):
        found |= {FREE: every, PERFECT_FREE: perfect}
    return {name: found[name] for name in PASSES if found.get(name)}


def has_schema(system: System) -> bool:
    """Return whether the answers of a system are held to a schema."""
    decode = getattr(system.strategy, "decode", None)
    return decode is not None and getattr(decode, "format", "text") != "text"


def without_schema(system: System) -> System:
    """Return the system with free answers; the schema is then in the prompt."""
    strategy: Any = system.strategy
    free = dataclasses.replace(strategy, decode=dataclasses.replace(strategy.decode, format="text"))
    return replace(system, strategy=free, parts={**system.parts, "decode": "text"})


def run_passes(
    open_system: OpenSystem, texts: Mapping[str, Texts], options: RerunOptions
) -> dict[str, Extraction]:
    """Return the extraction of each pass, the system opened anew for each; ends with one that was stopped.

    Raises `ProblemsError` where the system sees pictures, not text.
    """
    with open_system() as system:
        _check_input(system)
        passes = list_passes(system, texts)
    made: dict[str, Extraction] = {}
    for name, documents in passes.items():
        text, is_free = PASSES[name]
        options.tell(f"{name.replace('_', ' ')}: {format_count(len(documents), 'document')}")
        with ExitStack() as stack:
            system = stack.enter_context(open_system())
            journals = [ReadJournal(one.folder / JOURNAL) for one in made.values()]
            for journal in journals:
                stack.callback(journal.close)
            drive = replace(options.drive, reuse=(*options.drive.reuse, *journals))
            work = Work(jobs=0, drive=drive, first_repeat=1, read=_reader(texts, text))
            files = [DocumentFile(one, Path(one)) for one in documents]
            chosen = without_schema(system) if is_free else system
            made[name] = extract_documents(chosen, files, options.out / name, work)
        if not made[name].is_complete:
            break
    return made


def _check_input(system: System) -> None:
    if getattr(getattr(system.strategy, "input", None), "form", "text") == "images":
        what, remedy = "is sent pictures, of which there is no perfect text", "run a system that is sent text"
        raise ProblemsError([Problem(system.name, what, remedy, "no_text_sent")])


def _reader(texts: Mapping[str, Texts], name: str) -> Callable[[DocumentFile], Transcript | DocumentError]:
    def read(file: DocumentFile) -> Transcript | DocumentError:
        found = texts[file.id].of(name)
        return DocumentError("no_text", "has no such text") if found is None else replace(found, id=file.id)

    return read


def patch(text: SentText, values: Sequence[tuple[Leaf, Any, Any]]) -> Transcript | None:
    """Return a text with the gold values in place of their damaged forms, all at once; None where none is.

    Values that left no damaged form behind stay lost: they have no place to be put.
    """
    pages = [page.text for page in text.search.pages]
    numbers = {page.number: at for at, page in enumerate(text.search.pages)}
    is_patched = False
    for leaf, gold, pred in values:
        if leaf.type in UNCOPIED or isinstance(gold, dict | list) or text.find(leaf, gold) is not None:
            continue
        damage = find_damage(text, leaf, gold, pred) or find_damage(text, leaf, gold, None)
        if damage is not None and damage.quote in pages[numbers[damage.page]]:
            at = numbers[damage.page]
            pages[at] = pages[at].replace(damage.quote, surface_forms(gold)[0], 1)
            is_patched = True
    if not is_patched or text.transcript is None:
        return None
    made = tuple(
        replace(page, lines=text_lines(pages[numbers[page.number]]), tables=())
        for page in text.transcript.pages
    )
    return replace(text.transcript, pages=made)


class Judged(Struct, frozen=True, dict=True):
    """The values that gold has, of each pass: whether right, and what was predicted."""

    right: Mapping[str, Mapping[tuple[str, str], bool]] = field(default_factory=dict)
    pred: Mapping[str, Mapping[tuple[str, str], str | None]] = field(default_factory=dict)


def judge_passes(run: Run, made: Mapping[str, Extraction]) -> Judged:
    """Return the values of all passes, judged as the run was. Raises `ProblemsError` if gold has changed."""
    run.check_inputs()
    right: dict[str, dict[tuple[str, str], bool]] = {}
    pred: dict[str, dict[tuple[str, str], str | None]] = {}
    for name, extraction in made.items():
        options = ScoreOptions(replicates=0, inputs=replace(run.input_options, systems_key=None))
        held = score(run.inputs.gold, {name: extraction.folder}, run.plan, options).evidence
        right[name], pred[name] = {}, {}
        documents = set(_documents(extraction))
        for row in rows_with_gold(held):
            if row["doc"] in documents:
                key = (row["doc"], row["gold_path"])
                right[name][key] = row["outcome"] == "match"
                pred[name][key] = row["pred_value"]
    return Judged(right, pred)


def _documents(extraction: Extraction) -> Iterator[str]:
    import msgspec

    for line in extraction.predictions.read_bytes().splitlines():
        yield msgspec.json.decode(line)["id"]


def rows_with_gold(table: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows about values that gold has and that were judged."""
    import polars as pl

    chosen = table.filter(
        (pl.col("kind") == "value")
        & pl.col("gold").is_not_null()
        & ~pl.col("outcome").is_in(["failed", "absent"])
    )
    yield from chosen.iter_rows(named=True)
