"""Records one level down in their rows: the key above them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from fieldassay.records.answers.answer import parse_answer

LONGEST = 100_000
"""Longer texts are not looked into."""


def find_misplaced(
    rows: Iterable[Any], declared: frozenset[str], passed_over: Collection[str] = ()
) -> str | None:
    """Return the key under which rows have most of the declared keys, and more than at their top, or None.

    The value under the key is an object or JSON text.

    >>> find_misplaced([{"total": 5, "result": {"shop": "Oak", "total": 5}}], frozenset({"shop", "total"}))
    'result'
    >>> find_misplaced([{"output": '{"shop": "Oak", "total": 5}'}], frozenset({"shop", "total"}))
    'output'
    """
    wanted = declared - {""}
    for row in rows:
        if not isinstance(row, dict):
            continue
        least = max(len(wanted) // 2, len(wanted & row.keys()))
        for key, value in row.items():
            if (
                key not in wanted
                and key not in passed_over
                and any(len(wanted & keys) > least for keys in _keys(value, wanted))
            ):
                return str(key)
    return None


def _keys(value: Any, wanted: frozenset[str]) -> Iterator[set[str]]:
    """Yield the keys of an object, or of the one that a text holds."""
    if isinstance(value, str) and "{" in value and len(value) <= LONGEST:
        value = parse_answer(value, declared=wanted).data
    if isinstance(value, dict):
        yield set(value)
