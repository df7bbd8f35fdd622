"""Building a corpus: recipes to files, gold and `corpus.json`, one document after the other."""

from __future__ import annotations

import hashlib
import platform
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import BinaryIO

import msgspec
from bench.corpus.damage import DAMAGES
from bench.corpus.degrade import DEGRADATIONS, Chance, degrade, move
from bench.corpus.manifest import (
    NAME,
    Corpus,
    CorpusTask,
    Document,
    Value,
    check_new,
    gold_row,
    manifest_parts,
)
from bench.corpus.marks import build_gold
from bench.corpus.pictures import render_pdf, save_pictures
from bench.corpus.recipe import FOLDER, TASKS, Recipe, list_recipes, vary
from bench.corpus.write import write
from bench.corpus.written import Written
from msgspec.structs import replace

from fieldassay.errors import MissingExtraError
from fieldassay.io.files.whole_files import write_file

_PROGRAMS = ("reportlab", "xlsxwriter", "pillow", "pypdfium2", "numpy")
_KINDS = {"scan": "pdf", "fax": "png"}
"""The kind of file of a degradation; the others are JPEG, or PDF where there are several pages."""


def current_versions() -> dict[str, str]:
    """Return the versions that decide the bytes of the documents."""
    found = {"python": ".".join(platform.python_version_tuple()[:2]), "zlib": zlib.ZLIB_RUNTIME_VERSION}
    for name in _PROGRAMS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            what = f"a corpus needs the package {name} to be built"
            raise MissingExtraError(f"{what}; run `pip install -e '.[dev]'`") from None
    return found


def build_corpus(
    folder: str | Path,
    seed: int = 0,
    scale: int = 1,
    watch: Callable[[int], None] = lambda done: None,
) -> int:
    """Write a corpus into a new folder and return the number of its documents.

    With a scale, each recipe is given so many times with other digits; long documents and twins once. Memory
    does not grow with the scale. `watch` is called with the number of documents done since the last call.
    Raises `ProblemsError` if the folder is not empty.
    """
    folder = Path(folder)
    check_new(folder)
    corpus = Corpus((), {name: _task(name) for name in TASKS}, seed, scale, current_versions())
    written = 0

    def counted() -> Iterator[Document]:
        nonlocal written
        for document in _write_all(folder, seed, scale):
            written += 1
            watch(1)
            yield document

    for name, task in corpus.tasks.items():
        (folder / task.documents).mkdir(parents=True)
        shutil.copyfile(FOLDER / f"{name}.spec.yaml", folder / task.spec)
    (folder / "texts").mkdir()
    write_file(folder / NAME, manifest_parts(corpus, counted()))
    return written


def count_documents(scale: int) -> int:
    """Return the number of documents of a corpus of a scale."""
    recipes = list_recipes()
    once = sum(1 + len(recipe.twins) for recipe in recipes)
    return once + (scale - 1) * sum(not recipe.is_long for recipe in recipes)


def _task(name: str) -> CorpusTask:
    return CorpusTask(f"{name}/spec.yaml", f"{name}/gold.jsonl", f"{name}/documents")


def _write_all(folder: Path, seed: int, scale: int) -> Iterator[Document]:
    with ExitStack() as stack:
        golds = {name: stack.enter_context((folder / _task(name).gold).open("wb")) for name in TASKS}
        for copy in range(scale):
            for recipe in list_recipes():
                if not copy or not recipe.is_long:
                    yield from _write_one(folder, vary(recipe, seed, copy), golds[recipe.task], seed)


def _write_one(folder: Path, recipe: Recipe, gold: BinaryIO, seed: int) -> Iterator[Document]:
    """Write a document and its twins, with their rows of gold."""
    whole = write(recipe)
    clean = replace(whole, data=DAMAGES[recipe.damage](whole.data))
    values = [(one.mark.path, one.mark.gold) for one in clean.placed] + list(recipe.implied.items())
    record, accepted = build_gold(values), {path: list(held) for path, held in recipe.accepted.items()}
    text = None if recipe.refused else f"texts/{recipe.id}.txt"
    if text is not None:
        (folder / text).write_bytes("\f".join(clean.pages).encode())
    for how in (recipe.degraded, *recipe.twins):
        is_twin = how is not None and how != recipe.degraded
        name = f"{recipe.id}_{how}" if is_twin else recipe.id
        shown, kind = (
            (clean, recipe.suffix or recipe.kind) if how is None else _as_picture(clean, how, name, seed)
        )
        place = f"{recipe.task}/documents/{name}.{kind}"
        (folder / place).write_bytes(shown.data)
        document = Document(
            id=name,
            file=place,
            sha256=hashlib.sha256(shown.data).hexdigest(),
            task=recipe.task,
            spec=_task(recipe.task).spec,
            kind=kind,
            difficulty=recipe.difficulty,
            tests=recipe.tests,
            text=text,
            tags=(*recipe.tags, *(() if how is None else (how,))),
            twin_of=recipe.id if is_twin else None,
            degradation=how,
            refused=recipe.refused,
            values=() if recipe.refused else _values(recipe, shown),
        )
        gold.write(msgspec.json.encode(gold_row(document, record, accepted)) + b"\n")
        yield document


def _as_picture(clean: Written, how: str, name: str, seed: int) -> tuple[Written, str]:
    """Return a PDF as degraded pictures of its pages, its gold where it stands then, and the new kind."""
    chosen = DEGRADATIONS[how]
    made = [
        degrade(picture, chosen, Chance(f"{name}/{number}", seed))
        for number, picture in enumerate(render_pdf(clean.data, chosen.dpi), start=1)
    ]
    kind = _KINDS.get(how, "jpg") if len(made) == 1 else "pdf"
    data = save_pictures([picture for picture, _ in made], f".{kind}", chosen.dpi, chosen.quality)
    placed = tuple(
        one if one.box is None else replace(one, box=move(one.box, made[one.page - 1][1]))
        for one in clean.placed
    )
    return Written(data, clean.pages, placed), kind


def _values(recipe: Recipe, shown: Written) -> tuple[Value, ...]:
    found = [
        Value(
            one.mark.path,
            one.mark.text.replace("^", ""),
            one.page,
            None if one.box is None else (
                round(one.box[0], 4), round(one.box[1], 4), round(one.box[2], 4), round(one.box[3], 4)
            ),
            recipe.difficulty,
            recipe.tests,
            one.mark.is_critical,
        )
        for one in shown.placed
    ]  # fmt: skip
    blank = Value("", None, None, None, recipe.difficulty, recipe.tests)
    return (*found, *(replace(blank, path=path) for path in recipe.implied))
