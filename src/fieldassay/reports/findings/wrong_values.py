"""Wrong values as reports for CI name them, and the documents that have most of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from fieldassay.reports.findings.mistakes import WRONG
from fieldassay.runs.run import ANSWERS

if TYPE_CHECKING:
    import polars as pl

SHOWN = ("gold_path", "pred_path", "kind", "gold", "pred", "outcome", "reason", "diagnoses", "critical")
"""The columns of evidence that a wrong value is made from, beside system, document and field."""

_LONGEST = 10_000
_CONTAINERS = {"list": "a list", "object": "an object", "item": "an object"}


class WrongValue(Struct, frozen=True):
    """A wrong value, or one that could not be judged: path, both sides as JSON text (None: none), reason."""

    path: str
    gold: str | None
    pred: str | None
    outcome: str
    reason: str
    diagnosis: str


class WorstDocument(Struct, frozen=True):
    """One document of one system: the numbers of wrong values and of critical ones among them.

    Its first wrong values have critical ones first.
    """

    system: str
    document: str
    wrong: int
    critical: int
    values: tuple[WrongValue, ...]


def is_case_row() -> pl.Expr:
    """Return whether rows of evidence count: values, and places with another kind of JSON predicted."""
    import polars as pl

    return (pl.col("kind") == "value") | is_wrong_row()


def is_wrong_row() -> pl.Expr:
    """Return whether rows of evidence are errors."""
    import polars as pl

    return pl.col("outcome").is_in(WRONG) & (
        (pl.col("kind") == "value") | pl.col("flags").list.contains("wrong_kind")
    )


def cut_values() -> list[pl.Expr]:
    """Return gold and prediction as columns of bounded text."""
    import polars as pl

    sides = [(name, pl.col(name)) for name in ("gold", "pred")]
    return [
        pl.when(side.str.len_chars() > _LONGEST)
        .then(side.str.head(_LONGEST) + "…")
        .otherwise(side)
        .alias(name)
        for name, side in sides
    ]


def read_wrong_value(row: dict[str, Any]) -> WrongValue:
    """Return the wrong value that a row of evidence is."""
    path = row["gold_path"] if row["gold_path"] is not None else row["pred_path"]
    gold = _CONTAINERS.get(row["kind"], row["gold"])
    return WrongValue(
        path or row["field"], gold, row["pred"], row["outcome"], row["reason"], (row["diagnoses"] or ("",))[0]
    )


def find_worst(evidence: pl.LazyFrame, most: int, values: int = 3) -> tuple[WorstDocument, ...]:
    """Return the documents with the most wrong values, those with wrong critical values first.

    Each has at most so many of its values. Documents whose answer failed are left out.
    """
    import polars as pl

    is_lost = pl.col("diagnoses").list.first().is_in(list(ANSWERS)).fill_null(False)
    wrong = evidence.filter(is_wrong_row() & ~is_lost)
    counted = wrong.group_by("system", "doc").agg(
        pl.len().alias("wrong"), pl.col("critical").sum().alias("severe")
    )
    order = ["severe", "wrong", "system", "doc"]
    worst = counted.sort(order, descending=[True, True, False, False]).head(most).collect()
    chosen = wrong.select("system", "doc", "field", *SHOWN).join(
        worst.lazy().select("system", "doc"), on=["system", "doc"], how="semi", maintain_order="left"
    )
    rows = chosen.with_columns(cut_values()).collect()
    found = []
    for system, document, count, severe in worst.select("system", "doc", "wrong", "severe").iter_rows():
        own = rows.filter((pl.col("system") == system) & (pl.col("doc") == document)).sort(
            "critical", descending=True, maintain_order=True
        )
        named = tuple(read_wrong_value(row) for row in own.head(values).iter_rows(named=True))
        found.append(WorstDocument(system, document, count, severe, named))
    return tuple(found)


def list_wrong(evidence: pl.LazyFrame, most: int) -> tuple[tuple[str, str, WrongValue], ...]:
    """Return at most so many wrong values in the order of the evidence, with their systems and documents."""
    rows = (
        evidence.filter(is_wrong_row())
        .select("system", "doc", "field", *SHOWN)
        .head(most)
        .with_columns(cut_values())
        .collect()
    )
    return tuple((row["system"], row["doc"], read_wrong_value(row)) for row in rows.iter_rows(named=True))


def count_wrong(evidence: pl.LazyFrame) -> int:
    """Return how many values of an evidence table are wrong."""
    import polars as pl

    return int(evidence.filter(is_wrong_row()).select(pl.len()).collect().item())
