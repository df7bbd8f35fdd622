"""The errors in an evidence table, one line each: unit, value, structure, missing, extra."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.paths import is_unit_key

if TYPE_CHECKING:
    import polars as pl

KINDS = ("unit", "value", "structure", "missing", "extra")
"""The kinds of an error: wrong unit, other wrong value, other kind of JSON, missing, unexpected."""

_COLUMNS = (
    "system",
    "doc",
    "gold_path",
    "pred_path",
    "kind",
    "type",
    "gold",
    "pred",
    "outcome",
    "diagnoses",
    "flags",
    "critical",
)
_CONTAINERS = {"list": "a list", "object": "an object", "item": "an object"}


class ErrorLine(Struct, frozen=True):
    """One error. `expected` and `actual` are JSON texts (None: nothing).

    For a container in gold, `expected` is its description in words.
    """

    system: str
    document: str
    kind: str
    path: str
    expected: str | None
    actual: str | None
    diagnosis: str = ""
    is_critical: bool = False


def list_errors(evidence: pl.LazyFrame) -> tuple[ErrorLine, ...]:
    """Return the errors of an evidence table in its order.

    A place of another kind of JSON is one error; gold values below it are none, but for critical values:
    those are lines of the kind `structure` too, with their paths, and without an actual value.
    """
    import polars as pl

    is_wrong = pl.col("outcome").is_in(["partial", "mismatch", "missing", "spurious"])
    is_leaf, is_structure = pl.col("kind") == "value", pl.col("flags").list.contains("wrong_kind")
    table = evidence.filter(is_wrong & (is_leaf | is_structure)).select(_COLUMNS).collect()
    beside = {
        (row["system"], row["doc"], row["pred_path"]): row["pred"]
        for row in table.filter(_is_beside(table)).iter_rows(named=True)
    }
    return tuple(_lines(table, beside))


def _is_beside(table: pl.DataFrame) -> Any:
    """Return whether rows only hold the prediction in place of a container, whose own row is the error."""
    return (table["outcome"] == "spurious") & table["flags"].list.contains("wrong_kind")


def _lines(table: pl.DataFrame, beside: Mapping[tuple[str, str, str], str | None]) -> Iterator[ErrorLine]:
    for row in table.iter_rows(named=True):
        kind = error_kind(row)
        if kind is None:
            continue
        expected, actual = row["gold"], row["pred"]
        if row["kind"] != "value":
            expected, actual = (
                _CONTAINERS[row["kind"]],
                beside.get((row["system"], row["doc"], row["pred_path"])),
            )
        path = row["pred_path"] if row["gold_path"] is None else row["gold_path"]
        main = row["diagnoses"][0] if row["diagnoses"] and kind in KINDS[:2] else ""
        yield ErrorLine(row["system"], row["doc"], kind, path, expected, actual, main, row["critical"])


def error_kind(row: Mapping[str, Any]) -> str | None:
    """Return the kind of error of a wrong row of evidence; None for rows counted with another row.

    >>> row = {"kind": "value", "type": "text", "outcome": "mismatch", "flags": [],
    ...     "gold_path": "flow.unit", "critical": False}
    >>> error_kind(row), error_kind({**row, "gold_path": "flow.name"})
    ('unit', 'value')
    """
    flags, outcome = row["flags"], row["outcome"]
    if outcome == "spurious":
        return None if "wrong_kind" in flags else "extra"
    if "wrong_kind" in flags:
        return "structure"
    if outcome == "missing":
        is_counted_above = "under_wrong_kind" in flags
        return "missing" if not is_counted_above else "structure" if row["critical"] else None
    if row["kind"] != "value":
        return None
    return (
        "unit"
        if row["type"] == "unit" or (row["type"] == "text" and is_unit_key(row["gold_path"] or ""))
        else "value"
    )
