"""Random pairs of trees, near each other and odd in every way that JSON allows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.spec.presets.engineering_oracle import member

KEYS = ["a", "b", "unit", "flow_unit", "_unit", "units", "Unit", "value", "x.y", 'q"t', "br[0]", "sp ace", ""]
UNITS: list[Any] = ["m3/h", "M3 / h", "kg/h", "KG/H", "m³/h", "°C", "", 5, None, True]
LEAVES: list[Any] = [
    None, True, False, 0, 1, 1.0, -1, -0.0, "1", "true", "null", "", " ", "x", "X", " x", "[]", "{}", "m3/h",
    "M3 / h", "5.000", "NOT_FOUND",
    5000, 5000.5, 4950, 5050, 5050.01, 4949.99, -5000, "5000", 0.0001, 0.0099, 0.01, 1.01, 1.0101, 1e-5,
    1e300, 10**30, 10**30 + 1,
]  # fmt: skip

Case = tuple[dict[str, Any], dict[str, Any], list[str], dict[str, list[Any]]]
"""Expected and actual tree, critical paths, accepted values by path."""


def make_case(source: random.Random) -> Case:
    """Return one case; the actual tree is the expected one with more or less changed."""
    expected = {key: _tree(source, 4, key) for key in source.sample(KEYS, source.randint(0, 4))}
    actual = _changed(source, expected, source.choice([0.02, 0.1, 0.3]))
    leaves = list(_leaves(expected, ""))
    critical = [path for path in leaves if source.random() < 0.3]
    critical += [
        path.rpartition(".")[0]
        for path in leaves
        if "." in path and '"' not in path and source.random() < 0.05
    ]
    accepted = {
        path: source.choices(UNITS if path.endswith("unit") else LEAVES, k=source.randint(1, 2))
        for path in leaves
        if source.random() < 0.15
    }
    return expected, actual if isinstance(actual, dict) else {"a": actual}, critical, accepted


def _tree(source: random.Random, depth: int, key: str = "") -> Any:
    kind = source.random()
    if key.endswith("unit") and kind < 0.7:
        return source.choice(UNITS)
    if depth == 0 or kind < 0.45:
        return source.choice(LEAVES)
    if kind < 0.78:
        return {
            inner: _tree(source, depth - 1, inner)
            for inner in source.sample(KEYS, source.choice([0, 1, 1, 2, 3, 4]))
        }
    return [_tree(source, depth - 1) for _ in range(source.choice([0, 1, 1, 2, 3]))]


def _changed(source: random.Random, tree: Any, share: float) -> Any:
    if source.random() < share:
        return _tree(source, 3)
    if isinstance(tree, dict):
        kept = {
            key: _changed(source, value, share) for key, value in tree.items() if source.random() >= share
        }
        return kept | ({source.choice(KEYS): _tree(source, 2)} if source.random() < share else {})
    if isinstance(tree, list):
        kept_items = [_changed(source, item, share) for item in tree if source.random() >= share / 2]
        return kept_items + ([_tree(source, 2)] if source.random() < share else [])
    if (
        isinstance(tree, (int, float))
        and not isinstance(tree, bool)
        and abs(tree) < 1e12
        and source.random() < 0.3
    ):
        return tree * source.choice([1.01, 0.99, 1.0100001, 0.9899999])
    return tree


def _leaves(tree: Any, path: str) -> Iterator[str]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _leaves(value, member(path, key))
    elif isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _leaves(item, f"{path}[{index}]")
    else:
        yield path
