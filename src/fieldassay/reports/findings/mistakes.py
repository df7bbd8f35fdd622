"""The frequencies of kinds of wrong, with examples: counted over the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import polars as pl

WRONG = ("partial", "mismatch", "missing", "spurious")
"""The outcomes that are errors."""


class Mistake(Struct, frozen=True):
    """The count of a main diagnosis in a field of a system; `gold` and `pred` are the first example's.

    Both are JSON text.
    """

    system: str
    field: str
    diagnosis: str
    count: int
    gold: str | None
    pred: str | None


def is_due_to_gold() -> pl.Expr:
    """Return whether rows of evidence are of predictions that differ from gold that cannot be read."""
    import polars as pl

    return pl.col("flags").list.contains("unreadable_gold") & (pl.col("outcome") != "missing")


def count_mistakes(evidence: pl.LazyFrame) -> tuple[Mistake, ...]:
    """Return the mistakes in an evidence table, the most frequent first.

    Each value counts once, by its main diagnosis; those that differ from gold that cannot be read do not.
    """
    import polars as pl

    is_wrong = (
        (pl.col("kind") == "value")
        & pl.col("outcome").is_in(WRONG)
        & (pl.col("diagnoses").list.len() > 0)
        & ~is_due_to_gold()
    )
    rows = evidence.filter(is_wrong).select(
        "system", "field", "gold", "pred", diagnosis=pl.col("diagnoses").list.first()
    )
    counted = rows.group_by("system", "field", "diagnosis", maintain_order=True).agg(
        pl.len().alias("count"), pl.col("gold").first(), pl.col("pred").first()
    )
    table = counted.collect().sort(
        ["count", "system", "field", "diagnosis"], descending=[True, False, False, False]
    )
    return tuple(Mistake(**row) for row in table.iter_rows(named=True))
