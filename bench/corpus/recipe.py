"""Recipes: documents as data, in files of YAML, one for each task of the corpus."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.corpus.generated import expand
from bench.corpus.marks import Digits
from msgspec import Struct, field
from msgspec.structs import replace

from fieldassay.io.json_value import Json
from fieldassay.metrics.uncertainty.bootstrap import document_keys, draw_words

FOLDER = Path(__file__).parent / "recipes"
TASKS = (
    "engineering",
    "business",
    "order",
    "datasheet",
    "valve_list",
    "lab_report",
    "prescription",
    "entries",
    "wide",
    "german",
    "french",
    "damaged",
)
"""The tasks of the corpus: each has a spec, a file of recipes and a folder of documents."""

_PATH = re.compile(r"<<(!?)([^|<>]+)\|")

Block = Any
"""A part of a document: a text, or a mapping with one of the keys that `writers` know."""


class Recipe(Struct, frozen=True):
    """A document before it is written: what stands in it, with gold inside, and what it tests."""

    id: str
    task: str
    kind: str
    """The kind of file: the suffix, without the point."""
    difficulty: str
    tests: str
    """The challenge, in a few words."""
    blocks: tuple[Block, ...]
    tags: tuple[str, ...] = ()
    implied: Mapping[str, Json] = field(default_factory=dict)
    """Gold that stands nowhere on the page, by path."""
    accepted: Mapping[str, tuple[Json, ...]] = field(default_factory=dict)
    degraded: str | None = None
    """The degradation under which the document itself is given: a scan without a digital original."""
    twins: tuple[str, ...] = ()
    """The degradations under which it is given a second time."""
    is_long: bool = False
    """Whether it is written once, whatever the scale."""
    damage: str = ""
    """What is done to the bytes of the file."""
    suffix: str = ""
    """The suffix of a file that is named like another kind."""
    refused: str | None = None
    """Why no loader can read the file, as it says; None: it is read."""
    encoding: str = "utf-8"
    separator: str = ","


def list_recipes() -> tuple[Recipe, ...]:
    """Return the recipes of all tasks in their order."""
    return tuple(recipe for task in TASKS for recipe in read_recipes(task))


@lru_cache(maxsize=64)
def read_recipes(task: str) -> tuple[Recipe, ...]:
    """Return the recipes of one task."""
    from ruamel.yaml import YAML

    text = (FOLDER / f"{task}.yaml").read_text(encoding="utf-8")
    held = YAML(typ="safe", pure=True).load(text)
    return tuple(_recipe(task, row, held.get("short") or {}) for row in held["documents"])


def _recipe(task: str, row: Mapping[str, Any], short: Mapping[str, str]) -> Recipe:
    """Return a recipe; `short` are the abbreviations of the first steps of paths."""
    given = dict(row)
    like = given.pop("like", None)
    if like is not None:
        same = next(one for one in read_recipes(like.partition("_")[0]) if one.id == like)
        given |= {"blocks": same.blocks, "implied": same.implied}
    for name in ("tags", "twins", "blocks"):
        given[name] = tuple(given.get(name) or ())
    given["blocks"] = tuple(
        map_texts(expand(block), lambda text: _lengthen(text, short)) for block in given["blocks"]
    )
    for name in ("implied", "accepted"):
        given[name] = {_long(path, short): value for path, value in (given.get(name) or {}).items()}
    given["accepted"] = {path: tuple(values) for path, values in given["accepted"].items()}
    return Recipe(task=task, **given)


def _lengthen(text: str, short: Mapping[str, str]) -> str:
    return _PATH.sub(lambda found: f"<<{found[1]}{_long(found[2], short)}|", text)


def _long(path: str, short: Mapping[str, str]) -> str:
    """Return a path whose first step is not abbreviated.

    >>> _long("flow.value", {"flow": "process.flow_rate"}), _long("p[0].name", {"p": "pollutants"})
    ('process.flow_rate.value', 'pollutants[0].name')
    """
    first = re.split(r"[.\[]", path)[0]
    return short[first] + path[len(first) :] if first in short else path


def vary(recipe: Recipe, seed: int, copy: int) -> Recipe:
    """Return a copy of a recipe with other digits in its amounts; copy 0 of seed 0 is the recipe itself.

    Amounts of copies do not add up. A copy has no twins.
    """
    if not seed and not copy:
        return recipe
    name = recipe.id if not copy else f"{recipe.id}_{copy:05}"
    digits = Digits(_substitution(seed, f"{recipe.id}/{copy}"))
    twins = recipe.twins if not copy else ()
    return replace(
        recipe, id=name, blocks=tuple(map_texts(one, digits.text) for one in recipe.blocks), twins=twins
    )


def _substitution(seed: int, name: str) -> dict[int, str]:
    words = draw_words(document_keys([name], seed), 0, 9)[0]
    order = sorted(range(9), key=lambda at: int(words[at]))
    return {ord("1") + at: str(order[at] + 1) for at in range(9)}


def map_texts(block: Block, change: Callable[[str], str]) -> Block:
    """Return a block whose texts are changed."""
    if isinstance(block, str):
        return change(block)
    if isinstance(block, Mapping):
        return {name: map_texts(inner, change) for name, inner in block.items()}
    return [map_texts(inner, change) for inner in block] if isinstance(block, list) else block
