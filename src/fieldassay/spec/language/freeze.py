"""Options as hashable values and back."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from fieldassay.spec.language.model import Options


def freeze(value: Any) -> Any:
    """Return the value with lists as tuples and mappings as sorted tuples of pairs.

    >>> freeze({"b": [1, 2], "a": {}})
    (('a', ()), ('b', (1, 2)))
    """
    if isinstance(value, Mapping):
        return tuple(sorted((str(key), freeze(inner)) for key, inner in value.items()))
    if isinstance(value, list | tuple):
        return tuple(freeze(inner) for inner in value)
    return value


def freeze_options(options: Mapping[str, Any]) -> Options:
    """Return options by name, sorted by name, hashable."""
    return tuple((name, freeze(options[name])) for name in sorted(options))


def thaw(value: Any) -> Any:
    """Return a frozen value as lists and mappings; sorted pairs with distinct text keys are a mapping.

    `freeze(thaw(x)) == x` for every frozen x.

    >>> thaw((("a", (1, 2)), ("b", ())))
    {'a': [1, 2], 'b': []}
    """
    if not isinstance(value, tuple):
        return value
    if value and all(
        isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in value
    ):
        keys = [key for key, _ in value]
        if all(left < right for left, right in pairwise(keys)):
            return {key: thaw(inner) for key, inner in value}
    return [thaw(inner) for inner in value]
