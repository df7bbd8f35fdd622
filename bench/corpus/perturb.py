"""A user's own documents made harder: degraded copies beside the clean ones, with their gold."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import msgspec
from bench.corpus.degrade import DEGRADATIONS, Chance, degrade
from bench.corpus.manifest import NAME, Corpus, Document, check_new, manifest_parts
from bench.corpus.pictures import render_pdf, save_pictures
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.commands.extract import name_documents
from fieldassay.documents.loaders.image import open_pictures
from fieldassay.documents.sources import DEFAULTS, DocumentFile, find_kind, list_documents
from fieldassay.documents.transcript import DocumentError
from fieldassay.errors import Problem, ProblemsError, nearest
from fieldassay.io.files.whole_files import place, stage, write_file
from fieldassay.records.keys import SourceOptions, find_id
from fieldassay.records.source import Source, open_source

if TYPE_CHECKING:
    from PIL.Image import Image

USUAL = ("scan", "fax", "rotation", "low_resolution")
"""The degradations where none are named."""

MOST_PAGES = 200
"""Documents with more pages are left out: their pictures are held in memory together."""

_TABLES = {".csv": ",", ".tsv": "\t"}


class Perturbed(Struct, frozen=True):
    """What was written: the clean documents, their degraded copies, and the documents left out, with why."""

    documents: int
    twins: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    gold: Path | None = None
    notes: tuple[str, ...] = ()


def perturb(  # noqa: PLR0913
    docs: str | Path,
    out: str | Path,
    kinds: Sequence[str] = (),
    gold: str | Path | None = None,
    id_key: str | None = None,
    seed: int = 0,
    watch: Callable[[int], None] = lambda done: None,
) -> Perturbed:
    """Return what was written to `out`: documents with gold, and degraded copies of them, with their gold.

    `fieldassay.run` on that folder then says how much each degradation costs. Raises `ProblemsError`.
    """
    chosen, files = check_kinds(kinds), list_documents(Path(docs)).files
    if gold is None:
        return perturb_files(files, Path(out), chosen, seed, watch)
    source = open_gold(Path(gold), id_key)
    named = name_documents(files, source.ids)
    files, notes = named.readings[""], named.notes
    made = perturb_files(files, Path(out), chosen, seed, watch)
    kept = [file.id for file in files if file.id not in made.left_out]
    target = Path(out) / gold_name(Path(gold))
    copy_gold(source, target, kept, chosen)
    return replace(made, gold=target, notes=notes)


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the names of degradations. Raises `ProblemsError` for unknown ones."""
    unknown = [
        Problem("--kind", f"no degradation {name!r}", nearest(name, DEGRADATIONS), "unknown_name")
        for name in kinds
        if name not in DEGRADATIONS
    ]
    if unknown:
        raise ProblemsError(unknown)
    return tuple(dict.fromkeys(kinds)) or USUAL


def perturb_files(
    files: Sequence[DocumentFile],
    folder: Path,
    kinds: Sequence[str],
    seed: int = 0,
    watch: Callable[[int], None] = lambda done: None,
) -> Perturbed:
    """Write documents and their degraded copies into a new folder, one after the other.

    Copies of a document with the id `a` are `documents/KIND/a`, with the id `KIND/a`. Raises `ProblemsError`
    if the folder is not empty, or if no document has pictures of its pages; then nothing is left behind.
    """
    check_new(folder)
    left_out: dict[str, str] = {}
    made = [0, 0]

    def written() -> Iterator[Document]:
        for file in files:
            try:
                copies = {how: degraded(file, how, seed) for how in kinds}
            except DocumentError as error:
                left_out[file.id] = str(error)
                continue
            finally:
                watch(1)
            made[0] += 1
            yield _write(new, file, file.id, file.read())
            for how, data in copies.items():
                made[1] += 1
                yield _write(new, file, f"{how}/{file.id}", data, how)

    with stage(folder.absolute().parent, folder.name) as new:
        write_file(new / NAME, manifest_parts(Corpus((), seed=seed), written()))
        if not made[0]:
            name, why = next(iter(left_out.items()))
            what = f"no document has pages to degrade; {name} {why}"
            raise ProblemsError([Problem("--docs", what, "name PDFs or images", "no_documents")])
        if folder.exists():
            folder.rmdir()
        place(new, folder)
    return Perturbed(made[0], made[1], left_out)


def _write(folder: Path, file: DocumentFile, name: str, data: bytes, how: str | None = None) -> Document:
    suffix = file.path.suffix
    place = f"documents/{name}" + ("" if PurePath(name).suffix == suffix else suffix)
    (folder / place).parent.mkdir(parents=True, exist_ok=True)
    (folder / place).write_bytes(data)
    digest, twin_of = hashlib.sha256(data).hexdigest(), None if how is None else file.id
    kind = suffix[1:].lower()
    return Document(name, place, digest, "", "", kind, "", how or "", twin_of=twin_of, degradation=how)


def degraded(file: DocumentFile, how: str, seed: int) -> bytes:
    """Return a PDF or an image as degraded pictures of its pages, in a file of the same kind.

    Raises `DocumentError` for a document that cannot be read, has no pictures of its pages, or too many.
    """
    chosen = DEGRADATIONS[how]
    pages = [
        degrade(picture, chosen, Chance(f"{file.id}/{how}/{number}", seed))[0]
        for number, picture in enumerate(_pictures(file, chosen.dpi), start=1)
    ]
    return save_pictures(pages, file.path.suffix.lower(), chosen.dpi, chosen.quality)


def _pictures(file: DocumentFile, dpi: float) -> list[Image]:
    """Return the pages in shades of gray, at a resolution, or their own if that is lower."""
    data = file.read()
    kind = find_kind(file.path.name, data)
    if kind == "pdf":
        return render_pdf(data, dpi, MOST_PAGES)
    if kind != "image":
        raise DocumentError("no_image", f"is of the kind {kind}, which has no pictures of its pages")
    found = []
    for picture, (width, height) in open_pictures(data, DEFAULTS):
        sides = max(1, round(width * dpi / 72)), max(1, round(height * dpi / 72))
        gray = picture.convert("L")
        found.append(gray.resize(sides) if sides[0] < gray.width else gray)
        if len(found) > MOST_PAGES:
            raise DocumentError("too_large", f"has more than {MOST_PAGES} pages")
    return found


def open_gold(gold: Path, key: str | None) -> Source:
    """Return gold whose rows can be copied, with the key of its ids.

    Raises `ProblemsError` for formats other than CSV, JSON lines and a JSON array.
    """
    suffix = "".join(gold.suffixes[-2:]).lower() if gold.suffix in (".gz", ".zst") else gold.suffix.lower()
    if suffix not in (*_TABLES, ".jsonl", ".ndjson", ".json", ".jsonl.gz", ".jsonl.zst"):
        remedy = "give gold as CSV, JSON lines or a JSON array"
        raise ProblemsError(
            [Problem(str(gold), "is of a format that is not copied", remedy, "unknown_format")]
        )
    return open_source(gold, SourceOptions(id_names=None if key is None else (key,), is_gold=True))


def copy_gold(source: Source, target: Path, ids: Sequence[str], kinds: Sequence[str]) -> None:
    """Write the rows of gold of some documents and, under new ids, of their copies.

    The rows of copies say so: `twin_of` and `degradation`.
    """
    rows = _with_twins(source, frozenset(ids), kinds)
    if target.suffix not in _TABLES:
        write_file(target, (msgspec.json.encode(row) + b"\n" for row in rows))
        return
    made = list(rows)
    stream = io.StringIO()
    heads = dict.fromkeys(name for row in made for name in row)
    writer = csv.DictWriter(stream, list(heads), delimiter=_TABLES[target.suffix], lineterminator="\n")
    writer.writeheader()
    writer.writerows(made)
    write_file(target, [stream.getvalue().encode()])


def gold_name(gold: Path) -> str:
    """Return the name of a copy of gold: CSV stays CSV, JSON lines and a JSON array become JSON lines."""
    suffix = gold.suffix.lower()
    return f"gold{suffix}" if suffix in _TABLES else "gold.jsonl"


def _with_twins(source: Source, ids: frozenset[str], kinds: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of documents, each followed by those of its copies."""
    names = source.options.names
    for one in source.rows.read(range(len(source))):
        row = one.value
        if not isinstance(row, dict) or (name := find_id(row, names)) not in ids:
            continue
        yield row
        held = next(key for key in names if key in row)
        for how in kinds:
            yield {**row, held: f"{how}/{name}", "twin_of": name, "degradation": how}
