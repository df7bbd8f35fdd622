"""Answers that failed as a whole: missing, timed out, ended in an error, or not readable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

ANSWERS = {
    "answer_missing": ("has_prediction", False),
    "answer_timeout": ("is_timeout", True),
    "answer_error": ("has_error", True),
    "answer_unreadable": ("is_invalid", True),
}
"""The problems of whole answers: column of the documents and its value; the first that holds counts."""

_BETWEEN = "\x1f"


def unusable_answers(columns: Sequence[str]) -> pl.Expr:
    """Return the problem of a document's answer as a whole; null for an answer that could be judged."""
    import polars as pl

    found = pl.lit(None, dtype=pl.String)
    for name, (column, wanted) in reversed(ANSWERS.items()):
        if column in columns:
            found = (
                pl.when((pl.col(column).cast(pl.Float64) > 0) == wanted).then(pl.lit(name)).otherwise(found)
            )
    return found


def mark_failed_answers(evidence: pl.LazyFrame | None, documents: pl.DataFrame | None) -> pl.LazyFrame | None:
    """Return evidence whose values missing from a failed answer have its problem as their diagnosis.

    What is still `missing` was left out by an answer that could be read. Marking twice changes nothing.
    """
    import polars as pl

    if evidence is None or documents is None:
        return evidence
    failed = (
        documents.with_columns(problem=unusable_answers(documents.columns))
        .filter(pl.col("problem").is_not_null())
        .select(key=pl.concat_str("system", "doc", separator=_BETWEEN), problem="problem")
    )
    if failed.is_empty():
        return evidence
    key = pl.concat_str(pl.col("system").cast(pl.String), pl.col("doc").cast(pl.String), separator=_BETWEEN)
    problem = key.replace_strict(failed["key"], failed["problem"], default=None, return_dtype=pl.String)
    is_lost = problem.is_not_null() & (pl.col("outcome") == "missing")
    return evidence.with_columns(
        diagnoses=pl.when(is_lost).then(pl.concat_list(problem)).otherwise("diagnoses")
    )
