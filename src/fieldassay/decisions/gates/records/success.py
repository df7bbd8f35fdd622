"""Success of one end-to-end run: no exception, the answer could be parsed, and it has at least one item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fieldassay.decisions.gates.records.entries import is_blank
from fieldassay.spec.language.cursor import kind_of

PARTS = ("error", "parse_success", "items")
"""The components of a run's success."""


def find_failure(run: Mapping[str, Any]) -> str:
    """Return why a run is no success, or the empty text if it is one.

    `error` must be absent, null, false or empty; `parse_success` must be true; `items` a whole number of at
    least 1, or a list with an item that is not empty. A missing entry is no success.

    >>> find_failure({"parse_success": True, "items": 3}), find_failure({"parse_success": True, "items": []})
    ('', 'no valid item came out')
    """
    error = run.get("error")
    if error is not None and error is not False and not _is_empty(error):
        return (
            f"it ended with an error ({str(error)[:80]})"
            if isinstance(error, str)
            else "it ended with an error"
        )
    parsed = run.get("parse_success")
    if parsed is not True:
        return "its parse failed" if parsed is False else _lacking("parse_success", parsed, "true or false")
    return _find_lack_of_items(run.get("items"))


def _is_empty(error: Any) -> bool:
    return isinstance(error, str | list | dict) and (
        not error or (isinstance(error, str) and not error.strip())
    )


def _find_lack_of_items(items: Any) -> str:
    if isinstance(items, list):
        return "" if any(not is_blank(item) for item in items) else "no valid item came out"
    if isinstance(items, bool) or not isinstance(items, int | float) or items != items:
        return _lacking("items", items, "a list, or how many there were")
    if isinstance(items, float) and not items.is_integer():
        return _lacking("items", items, "a list, or how many there were")
    return "" if items >= 1 else "no valid item came out"


def _lacking(name: str, value: Any, wanted: str) -> str:
    return (
        f"it does not say {name!r}" if value is None else f"{name!r} must be {wanted}, not {kind_of(value)}"
    )
