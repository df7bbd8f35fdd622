"""Estimates read from a file, made sure of: a gate compares only what is a number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fieldassay.errors import Problem, ProblemsError
from fieldassay.result.compared import is_number
from fieldassay.result.result import Result

MOST_LISTED = 20


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_options(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, str | int | float) for item in value.values())


def _is_interval(value: Any) -> bool:
    return value is None or (all(map(is_number, value)) and value[0] <= value[1])


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "metric": (_is_text, "a text"),
    "system": (_is_text, "a text"),
    "unit": (_is_text, "a text"),
    "field": (lambda value: value is None or _is_text(value), "a text or null"),
    "slice": (lambda value: isinstance(value, Mapping) and all(map(_is_text, value.values())), "texts by name"),
    "parameters": (_is_options, "scalars by name"),
    "value": (lambda value: value is None or is_number(value), "a finite number or null"),
    "n": (_is_count, "a whole number of at least 0"),
    "documents": (_is_count, "a whole number of at least 0"),
    "failed": (_is_count, "a whole number of at least 0"),
    "interval": (_is_interval, "two finite numbers in order, or null"),
    "level": (lambda value: value is None or is_number(value), "a number or null"),
    "marks": (lambda value: all(map(_is_text, value)), "texts"),
}


def check_estimates(result: Result, where: str) -> Result:
    """Return the result if every part of its estimates is of the right kind; raises `ProblemsError` for those that are not."""
    problems = [
        Problem(
            f"{where}: $.estimates[{place}].{name}",
            f"must be {wanted}",
            "score again with `fieldassay score --out DIR`",
            "bad_metrics_file",
        )
        for place, estimate in enumerate(result.estimates)
        for name, (is_right, wanted) in _KINDS.items()
        if not is_right(getattr(estimate, name))
    ]
    if problems:
        raise ProblemsError(problems[:MOST_LISTED])
    return result
