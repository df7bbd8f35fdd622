"""`comparisons.json`: the comparisons of a run's systems, written and read back."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from fieldassay.io.files.typed_json import SCHEMA_VERSION, Form, read_typed
from fieldassay.io.json_value import json_line
from fieldassay.metrics.result.comparison import Comparison, Ranking

_FORM = Form("a comparisons file", "bad_comparisons_file")


class Comparisons(Struct, frozen=True):
    """The content of a comparisons file."""

    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()


def comparisons_json(found: Comparisons) -> bytes:
    """Return comparisons and rankings as UTF-8 JSON, one a line, numbers in full precision.

    >>> print(comparisons_json(Comparisons()).decode(), end="")
    {"schema_version": 1, "comparisons": [], "rankings": []}
    """
    comparisons, rankings = (
        _list([one.to_dict() for one in part]) for part in (found.comparisons, found.rankings)
    )
    text = f'{{"schema_version": {SCHEMA_VERSION}, "comparisons": {comparisons}, "rankings": {rankings}}}\n'
    return text.encode("utf-8", "backslashreplace")


def read_comparisons(data: bytes, where: str = "comparisons.json") -> Comparisons:
    """Return the content written by `comparisons_json`. Raises `ProblemsError` for anything else."""
    return read_typed(data, Comparisons, _FORM, where)


def _list(items: list[dict[str, Any]]) -> str:
    lines = ",\n".join(json_line(item) for item in items)
    return f"[\n{lines}\n]" if lines else "[]"
