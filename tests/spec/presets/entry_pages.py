"""Pages of index entries: random ones with ties, misread ones, hostile ones."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMES = (
    "Dupont",
    "dupond ",
    "Durand",
    "DURANT",
    "İstanbul",
    "straße",
    "STRASSE",
    "Ægir (d')",
    "a",
    "ab",
    "ba",
    "tide",
    "diet",
    "Le Brun",
    "le brun",
)
_NAMES = (*NAMES, "", "  ", None)
_PAGES: tuple[Any, ...] = (
    [],
    None,
    "voir Dupont",
    [3, 3, 3],
    [-1, 2],
    [None, 4],
    {"a": 1},
    7,
    ["12"],
    [12.0],
)


def random_page(generator: np.random.Generator) -> list[Any]:
    """Return up to 8 entries, now and then many more; few names and pages, so that ties are common."""
    many = generator.random() < 0.05
    return [
        _entry(generator)
        for _ in range(int(generator.integers(65, 90)) if many else int(generator.integers(0, 9)))
    ]


def misread_page(generator: np.random.Generator, page: list[Any]) -> list[Any]:
    """Return some of the entries in another order, some of them changed, and a few more."""
    if generator.random() < 0.3:
        return random_page(generator)
    kept = [page[at] for at in generator.permutation(len(page))[: int(generator.integers(0, len(page) + 1))]]
    changed = [
        {**entry, "name": f"{entry.get('name')}x"} if generator.random() < 0.3 else entry for entry in kept
    ]
    return [*changed, *(_entry(generator) for _ in range(int(generator.integers(0, 3))))]


def _entry(generator: np.random.Generator) -> dict[str, Any]:
    entry = {"name": _NAMES[generator.integers(len(_NAMES))], "pages": _pages(generator)}
    if generator.random() < 0.1:
        del entry["name" if generator.random() < 0.5 else "pages"]
    return {"name": None, **entry} if generator.random() < 0.5 else entry


def _pages(generator: np.random.Generator) -> Any:
    if generator.random() < 0.3:
        return _PAGES[generator.integers(len(_PAGES))]
    return [int(page) for page in generator.integers(1, 7, int(generator.integers(0, 5)))]


_SOME = {"name": "Dupont", "pages": [1, 2]}

HOSTILE: tuple[tuple[Any, Any], ...] = (
    ([{"name": None, "pages": [1]}], [{"name": "a", "pages": [1, 2]}]),
    ([{"name": 12, "pages": [1]}], [{"name": "12 ", "pages": [2]}]),
    ([{"name": 1.5, "pages": [1]}], [{"name": "1.5", "pages": [2]}]),
    ([{"pages": [1]}], [{"name": "b"}]),
    ([{}], [{}]),
    ([{}, {}], [{}]),
    ([{}], [_SOME]),
    ([_SOME, {}], [{}, {}, _SOME]),
    ([None, _SOME], [_SOME]),
    ([_SOME], [None, "Dupont", 7, True, [_SOME]]),
    (["Dupont", _SOME], ["Durand", _SOME]),
    (["Dupont"], [{"name": "Dupont", "pages": [3]}]),
    ([_SOME, "x", 5], [5, "y"]),
    (
        [{"name": "a", "pages": [1, 1, 2]}, {"name": "a", "pages": [1, 2]}],
        [{"name": "a", "pages": [2, 1]}] * 3,
    ),
    ([{"name": "a\0b", "pages": [1]}], [{"name": "a\x00c", "pages": [2]}]),
    ([{"name": "\ud800", "pages": [1]}], [{"name": "a", "pages": [2]}]),
    ([{"name": "\u202eabc", "pages": [1]}], [{"name": "abc", "pages": [2]}]),
    ([{"name": "a" * 600, "pages": [1]}], [{"name": "a" * 400 + "b", "pages": [2]}]),
    ([{"name": "İ" * 50, "pages": [1]}], [{"name": "i" * 50, "pages": [2]}]),
    ([{"name": "ẞ", "pages": [1]}], [{"name": "ss", "pages": [2]}]),
    ([{"name": "a", "pages": list(range(500))}], [{"name": "b", "pages": list(range(250, 750))}]),
    ([_SOME] * 70, [_SOME] * 66),
    (GOLD_ONLY := [_SOME], []),
    ([], GOLD_ONLY),
    ([], []),
    ([_SOME], None),
)
